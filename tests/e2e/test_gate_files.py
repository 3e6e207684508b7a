"""gate and compare: files that are not there, not whole, not ours, or too much; and the streams."""

import contextlib
import csv
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import termios
import xml.etree.ElementTree

import jsonschema
import pytest

import documents
import helpers
from documents import decision, gate, make, noisy, pair
from helpers import ROOT, complaint_lines, parse_document


@pytest.fixture
def good(template, save):
    base, new = pair(template)
    return save(base, "base.json"), save(new, "new.json")


@pytest.fixture
def worse(template, save):
    base, new = pair(template, -0.5)
    return save(base, "base.json"), save(new, "worse.json")


# --- files -------------------------------------------------------------------------------------

def test_without_a_baseline_it_is_6_and_says_how_to_make_one(run, good, tmp_path):
    result = gate(run, tmp_path / "none.json", good[1], rc=6)
    assert "missing baseline" in result.err and "uringbench run --json" in result.err
    assert result.out == "" and not (tmp_path / "none.json").exists()
    gate(run, tmp_path / "none.json", good[1], "--warn-only", "--allow-inconclusive", rc=6)
    gate(run, f"{good[0]},{tmp_path / 'none.json'}", good[1], rc=6)


def test_without_a_new_result_it_is_1(run, good, tmp_path):
    result = gate(run, good[0], tmp_path / "none.json", rc=1)
    assert "none.json: open: ENOENT" in result.err
    result = gate(run, tmp_path / "nobase.json", tmp_path / "none.json", rc=1)
    assert "nobase.json" in result.err and "none.json" in result.err, "all at once"


def spoil_version(document):
    document["schema"]["version"] = 999


def spoil_no_version(document):
    del document["schema"]["version"]


def spoil_no_schema(document):
    del document["schema"]


def spoil_name(document):
    document["schema"]["name"] = "somebody.else"


@pytest.mark.parametrize("spoil", [spoil_version, spoil_no_version, spoil_name])
@pytest.mark.parametrize("which", [0, 1])
def test_unknown_schemas_are_not_comparable(run, template, good, save, spoil, which):
    document = make(template)
    spoil(document)
    files = list(good)
    files[which] = save(document, "spoilt.json")
    result = gate(run, *files, rc=5)
    assert "spoilt.json" in result.err and result.out == ""
    assert run("compare", *files).rc == 5


def test_graver_problems_win_over_lesser_ones(run, template, good, save, tmp_path):
    newer = make(template)
    spoil_version(newer)
    newer = save(newer, "newer.json")
    gate(run, tmp_path / "none.json", newer, rc=5)
    empty = tmp_path / "empty.json"
    empty.touch()
    gate(run, newer, empty, rc=1)
    gate(run, tmp_path / "none.json", f"{newer},{empty}", rc=1)
    gate(run, newer, empty, "--margin", "iops=x", rc=2)


@pytest.mark.parametrize("text", [
    "", "\n", "null", "[]", "7", '"x"', "{", "}", "hello\n", "\x00\x01\x02", "[" * 100_000,
    '{"a":' * 50_000, "{}"], ids=range(13))
@pytest.mark.parametrize("which", [0, 1])
def test_what_is_no_result(run, good, tmp_path, text, which):
    path = tmp_path / "spoilt.json"
    path.write_text(text)
    files = list(good)
    files[which] = path
    result = run("gate", *files)
    assert result.rc in (1, 5) and result.out == "" and "spoilt.json" in result.err, result
    assert int(decision(result)["code"]) == result.rc
    assert run("compare", *files).rc == result.rc


@pytest.mark.plain
def test_truncated_results_are_never_read(run, good, tmp_path):
    text = good[1].read_text().rstrip()
    path = tmp_path / "cut.json"
    for length in sorted({1, 2, 10, 100, len(text) - 1, len(text) - 2,
                          *range(0, len(text), len(text) // 40)}):
        path.write_text(text[:length])
        assert gate(run, good[0], path, rc=1).out == ""
        assert gate(run, path, good[1], rc=1).out == ""


def test_nan_duplicates_and_impossible_values(run, good, tmp_path):
    text = good[1].read_text()
    path = tmp_path / "odd.json"
    iops = re.search(r'"iops": [\d.]+', text)[0]
    for other in ('"iops": NaN', '"iops": -1', '"iops": "fast"', '"iops": 1e999',
                  '"iops": null', '"iops": 1, "iops": 2'):
        path.write_text(text.replace(iops, other))
        result = run("gate", good[0], path)
        assert result.rc in (1, 5) and "odd.json" in result.err, (other, result)
        decision(result)


@pytest.mark.memory
def test_folders_devices_and_too_much(run, good, tmp_path):
    gate(run, good[0], tmp_path, rc=1)
    gate(run, tmp_path, good[1], rc=1)
    gate(run, good[0], "/dev/null", rc=1)
    huge = tmp_path / "huge.json"
    with huge.open("w") as file:
        file.write("{")
        file.truncate(700 << 20)
    result = run("gate", good[0], huge, memory=True)
    assert result.rc == 1, result
    assert result.peak_kib < 200 << 10, result


def test_what_may_not_be_read(as_nobody, public, good):
    for path in good:
        (public / path.name).write_bytes(path.read_bytes())
        (public / path.name).chmod(0o600 if path is good[1] else 0o644)
    result = as_nobody("gate", public / good[0].name, public / good[1].name)
    if os.geteuid() == 0:
        assert result.rc == 1 and "EACCES" in result.err, result
        decision(result)


# --- streams -----------------------------------------------------------------------------------

def through_head(binary, *words):
    """`uringbench … | head -1`: exit code and what went to stderr."""
    done = subprocess.run(["bash", "-c", '"$@" | head -1; exit "${PIPESTATUS[0]}"', "bash", binary,
                           *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=60)
    assert len(done.stdout.splitlines()) <= 1
    return done


@pytest.mark.plain
@pytest.mark.parametrize("format_", ["text", "md", "csv", "json", "junit"])
def test_a_reader_that_leaves_changes_no_verdict(binary, template, save, good, worse, format_):
    many = tuple(range(1, 200))
    base, new = (save(document, name) for document, name in
                 zip(pair(template, depths=many, count=6, share=1e-4), ("many.json", "more.json")))
    for words, rc in (((*good,), 0), ((*worse,), 3), ((base, new), 0), ((base, good[0]), 6)):
        done = through_head(binary, "gate", *words, "--format", format_)
        assert done.returncode == rc, (words, done.stderr[-2000:])
        assert done.stderr.count("uringbench-gate: ") == 1 and f"code={rc} " in done.stderr
        assert "EPIPE" not in done.stderr
    # What is longer than a pipe holds meets the closed end; that is a signal, as elsewhere.
    done = through_head(binary, "compare", base, new, "--format", format_)
    assert done.returncode in ((141,) if format_ == "json" else (0, 141)) and not done.stderr
    assert through_head(binary, "compare", *worse, "--exit-verdict").returncode == 3


def test_a_full_or_closed_stdout_is_no_success(run, good):
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = run("gate", *good, stdout=full)
    assert result.rc == 1 and "ENOSPC" in result.err and "code=1 " in result.err, result
    result = run("gate", *good, preexec=lambda: os.close(1))
    assert result.rc == 1 and "code=1 " in result.err, result
    with open("/dev/full", "w", encoding="utf-8") as full:
        assert run("compare", *good, stdout=full).rc == 1


def test_stderr_has_one_line_and_stdout_the_table(run, good, worse):
    for files, rc in ((good, 0), (worse, 3)):
        for words in ((), ("--quiet",), ("--log-level", "off"), ("--log-level", "error")):
            result = gate(run, *files, *words, rc=rc)
            assert result.err.count("\n") == 1 and "uringbench-gate" not in result.out, result
            assert "95% CI" in result.out
    result = gate(run, "nothing", good[1], "--quiet", rc=6)
    assert len(complaint_lines(result)) == 1, result
    for words in (("--margin", "2%"), ("--depth", "8"), ("--frobnicate",)):
        gate(run, *good, *words, rc=2)
    assert "uringbench-gate" not in run("gate", "--help").err


# --- formats -----------------------------------------------------------------------------------

def test_json_goes_where_it_is_told(run, worse, tmp_path):
    out = tmp_path / "out.json"
    result = gate(run, *worse, "--json", out, rc=3)
    assert "REGRESS" in result.out
    document = parse_document(out.read_text())
    assert document["schema"] == {"name": "uringbench.comparison", "version": 1}
    assert document["gate"]["code"] == 3
    result = gate(run, *worse, "--json", "-", rc=3)
    assert parse_document(result.out) == document and "REGRESS" in result.err
    result = gate(run, *worse, "--json", "-", "--quiet", rc=3)
    assert parse_document(result.out) == document and "REGRESSED" not in result.err
    result = gate(run, *worse, "--format", "json", rc=3)
    assert parse_document(result.out) == document
    result = gate(run, *worse, "--format", "json", "--json=-", rc=3)
    assert parse_document(result.out) == document and result.err.count("\n") == 1, "once"
    assert "gate" not in parse_document(run("compare", *worse, "--format=json").out)


def test_json_never_replaces_what_is_read(run, good, tmp_path):
    before = good[0].read_bytes()
    (tmp_path / "link.json").symlink_to(good[1])
    for path in (good[0], tmp_path / "link.json"):
        result = gate(run, *good, "--json", path, rc=2)
        assert "is one of the files to read" in result.err
        assert run("compare", *good, "--json", path).rc == 2
    assert good[0].read_bytes() == before
    gate(run, *good, "--json", tmp_path / "no" / "such" / "folder.json", rc=1)
    assert gate(run, *good, "--json", tmp_path / "new-one.json", rc=0)


def test_documents_keep_to_their_schema(run, good, worse, template, save, tmp_path):
    schema = json.loads((ROOT / "docs/schema/comparison-v1.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    unlike = make(template)
    documents.set_word(unlike["cells"][0], "polled", 1, polled=True)
    empty = save(dict(unlike, cells=[]), "empty.json")
    unlike = save(unlike, "unlike.json")
    one = save(make(template, [1e6]), "one.json")
    for files in (good, worse, (good[0], unlike), (good[0], empty), (empty, good[0]), (one, one)):
        for verb in ("compare", "gate"):
            validator.validate(parse_document(run(verb, *files, "--format", "json").out))
    text = run("compare", *good, worse[1], "--baseline-of=prev", "--bootstrap=3", "--format=json")
    validator.validate(parse_document(text.out))


def test_colour_and_width_are_for_terminals(binary, good, worse):
    def on_terminal(**environment):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 100, 0, 0))
        process = subprocess.Popen([binary, "compare", *worse], stdout=slave, stderr=slave,
                                   env=helpers.in_environment(environment))
        os.close(slave)
        text = b""
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while part := os.read(master, 65536):
                text += part
        os.close(master)
        assert process.wait(timeout=30) == 0
        return text.decode()

    coloured = on_terminal()
    assert "\x1b[" in coloured
    assert "\x1b[" not in on_terminal(NO_COLOR="1")
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == on_terminal(NO_COLOR="1"), "only colour"
    assert max(map(len, on_terminal(NO_COLOR="1").splitlines())) > 80


def test_csv(run, good):
    rows = list(csv.DictReader(io.StringIO(gate(run, *good, "--format", "csv", rc=0).out)))
    assert len(rows) >= 1 and all(None not in row for row in rows)
    assert len({tuple(row) for row in rows}) == 1


def test_junit(run, good, worse):
    for files, rc in ((good, 0), (worse, 3)):
        root = xml.etree.ElementTree.fromstring(gate(run, *files, "--format", "junit", rc=rc).out)
        cases = root.findall(".//testcase")
        assert len(cases) == 1
        assert (cases[0].find("failure") is not None) == (rc == 3)


def test_markdown(run, good):
    text = gate(run, *good, "--format", "md", rc=0).out
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) >= 3 and len({row.count("|") for row in rows}) == 1, text


def test_hostile_names_stay_data(run, template, save, tmp_path):
    label = 'x"|,<b>&\x1b[31m\'\u202e%s{}'
    base, new = pair(template)
    base["session"]["label"], new["session"]["label"] = label, "new"
    base["cells"][0]["id"] = base["cells"][0]["id"].replace("queue=-", "queue=<&\"'\x1b>")
    new["cells"][0]["id"] = base["cells"][0]["id"]
    files = save(base, 'a"b&<.json'), save(new, "new.json")
    for format_ in ("text", "md", "csv", "json", "junit"):
        result = gate(run, *files, "--format", format_, rc=0)
        assert "\x1b" not in result.out + result.err, format_
        if format_ == "junit":
            xml.etree.ElementTree.fromstring(result.out)
        if format_ == "json":
            assert json.loads(result.out)["labels"][0]["name"]


# --- size --------------------------------------------------------------------------------------

@pytest.mark.memory
def test_a_thousand_cells_of_twenty_runs(run, template, save):
    depths = range(1, 1001)
    documents_of = [make(template, {d: noisy(1e5 * d, 1e-4, 20, seed + d) for d in depths}, depths,
                         seconds=seed) for seed in (0, 5000)]
    files = [save(document, f"{i}.json") for i, document in enumerate(documents_of)]
    for verb in ("compare", "gate"):
        result = run(verb, *files, memory=True, timeout=120)
        assert result.rc == 0, result
        assert result.peak_kib <= 500 << 10, f"{result.peak_kib} KiB"
