"""show: a stored document drawn again is, byte for byte, what the run printed as its summary."""

import csv
import io
import json
import os
import re
import signal
import time

import pytest

from fusefile import SHORT, STALL
from helpers import MIB, ROOT, read_document

pytestmark = pytest.mark.single

# The last line before our own summary: a maximum, the end of the latency block, or a repeat.
BEFORE = re.compile(rb"(Maximum IOPS=|run \d+/\d+: |  min\s+[\d.]+\s+mean\s)")


@pytest.fixture
def printed(start):
    """printed(word…) → (exit code, bytes of stdout, bytes of stderr)."""
    def go(*words, after=lambda running: None, **options):
        with start(*words, **options) as running:
            after(running)
            result = running.finish(30)
            for file in running.files:
                file.seek(0)
            assert not result.crashed, result
            return result.rc, running.files[0].read(), running.files[1].read()
    return go


def summary_of(out):
    lines = out.splitlines(keepends=True)
    last = max((index for index, line in enumerate(lines) if BEFORE.match(line)), default=-1)
    return b"".join(lines[last + 1:])


def shows_the_same(printed, path, out):
    code, shown, err = printed("show", path)
    assert code == 0 and err == b"", err
    assert shown == summary_of(out) and shown.strip()
    assert printed("show", "--format", "text", path)[1] == shown, "text is the default"
    return shown


KINDS = {
    "plain": (), "timed": ("-t1",), "two threads": ("-n2", "-d5"), "sync": ("-S1",),
    "buffered": ("-O0",), "clamped": ("-d8", "-s64", "-c64"), "vectored": ("-V1",),
    "label": ("--label", "bäse | \"1\", `x`"), "all plain": ("-B0", "-F0", "-X0"),
    "sequential, small": ("-R0", "-b512", "-O0"), "large": ("-d2", "-b1M"),
    "sqpoll": ("--sqpoll",), "sqpoll, threads": ("--sqpoll", "-n2", "-t1"),
    "sqpoll, shared": ("--sqpoll", "--sqpoll-share", "-n2", "--sqpoll-idle=1"),
    "aio": ("-a1", "-t1"), "restricted": ("-e1",), "coop": ("--taskrun", "coop"),
    "numa": ("-P1",), "placed": ("--cpus", "local-core"), "auto": ("-nauto",),
    "serials": ("--with-serials",), "polling not asked": (),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("door", ["classic", "run"])
def test_same_as_printed(printed, f1, tmp_json, kind, door):
    verb = ("run", "--warmup", "0", "--repeats", "2") if door == "run" else ()
    polled = () if kind == "polling not asked" else ("-p0",)
    code, out, _ = printed(*verb, *polled, "-r80ms", *KINDS[kind], "--json", tmp_json, f1)
    assert code == 0
    shows_the_same(printed, tmp_json, out)


@pytest.mark.parametrize("repeats, flags", [("6", ()), ("7", ("-t1",)), ("1", ("-n3",))])
def test_repeats(printed, f1, tmp_json, repeats, flags):
    code, out, _ = printed("run", "-p0", "-r100ms", "--warmup", "50ms", "--repeats", repeats,
                           *flags, "--json", tmp_json, f1)
    assert code == 0
    shows_the_same(printed, tmp_json, out)


@pytest.mark.parametrize("flags", [(), ("-t1",), ("-n2",), ("--sqpoll",)])
def test_nop(printed, tmp_json, flags):
    code, out, _ = printed("-N1", "-r80ms", *flags, "--json", tmp_json)
    assert code == 0
    shows_the_same(printed, tmp_json, out)


def test_several_targets(printed, f1, f2, one, tmp_json):
    code, out, _ = printed("-p0", "-r80ms", "--json", tmp_json, f1, f2, one)
    assert code == 0
    shows_the_same(printed, tmp_json, out)


def test_device_and_scratch(printed, loop, area, tmp_json):
    for words in ((loop,), ("--scratch", f"8M@{area}")):
        code, out, _ = printed("-p0", "-r80ms", "--json", tmp_json, *words)
        assert code == 0
        shows_the_same(printed, tmp_json, out)


@pytest.mark.parametrize("flags, expected", [((), 8), (("-t1",), 8), (("--allow-errors",), 0),
                                             (("-a1",), 8), (("--sqpoll",), 8)])
@pytest.mark.parametrize("verb", [(), ("run", "--warmup", "0", "--repeats", "2")])
def test_errors(printed, img, tmp_json, flags, expected, verb):
    code, out, _ = printed(*verb, "-p0", "-r100ms", *flags, "--json", tmp_json, img)
    assert code == expected
    assert b"EIO" in shows_the_same(printed, tmp_json, out)


@pytest.mark.parametrize("mode", [SHORT, STALL])
def test_short_and_stalled(printed, fuse_file, tmp_json, mode):
    target = fuse_file(16 * MIB)

    def after(running):
        assert running.wait_until(lambda: target.count > 50)
        target.mode = mode
    code, out, _ = printed("-p0", "-r3" if mode == STALL else "-r500ms", "-d4", "--stall-timeout",
                           "500ms", "--json", tmp_json, target.path, after=after)
    target.mode = 0
    assert code == 8
    shows_the_same(printed, tmp_json, out)


@pytest.mark.parametrize("verb", [(), ("run", "--warmup", "0", "--repeats", "50")])
@pytest.mark.parametrize("flags", [("-r60",), ("-r200ms", "-t1"), ("-r60", "--sqpoll")])
def test_interrupted(printed, f1, tmp_json, verb, flags):
    if not verb and "-r200ms" in flags:
        flags = ("-t1",)  # until Ctrl-C

    def after(running):
        time.sleep(0.7)
        running.signal(signal.SIGINT)
    code, out, _ = printed(*verb, "-p0", *flags, "--json", tmp_json, f1, after=after)
    assert code in (0, 130)
    shows_the_same(printed, tmp_json, out)


def test_document_on_standard_output(printed, f1, tmp_json):
    code, out, err = printed("-p0", "-r80ms", "--json", "-", f1)
    assert code == 0
    tmp_json.write_bytes(out)
    assert err.endswith(printed("show", tmp_json)[1])


NAMES = ["we\x1b[31mird", "two\nlines", "größe → ✓ 漢字", "bad\udcff\udcfe",
         "cut\udce2\udc82", "n" * 200, "tab\there", "a|b `c` *d*", "comma, \"quotes\"", " ",
         "-p0", "x\x7fy", "rtl\u202eoverride", "e\u0301", "per%cent {0}", "wide\u3000blank",
         "cr\rhere", "\u0085next"]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_names(printed, area, tmp_json, name):
    folder = area / "names"
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(os.urandom(8192))
    try:
        label = "l" + name.encode("utf-8", "replace").decode()
        code, out, _ = printed("-p0", "-r80ms", "--label", label, "--json", tmp_json, "--", name,
                               cwd=folder)
        assert code == 0
        shown = shows_the_same(printed, tmp_json, out)
        assert b"\x1b" not in shown and b"\r" not in shown and shown.decode("utf-8")
        for form in ("md", "csv"):
            code, drawn, _ = printed("show", "--format", form, tmp_json)
            assert code == 0 and b"\x1b" not in drawn
            table(form, drawn.decode())
    finally:
        path.unlink()


# --- other formats ---------------------------------------------------------------------------

def table(form, text):
    """Header and rows of Markdown or CSV, checked to be well formed."""
    assert text.endswith("\n") and text.strip()
    if form == "csv":
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    else:
        lines = [line for line in text.splitlines() if line.startswith("|")]
        assert re.fullmatch(r"\|( ?:?-+:? ?\|)+", lines[1]), text
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                for line in lines[:1] + lines[2:]]
    assert len(rows) >= 2 and {len(row) for row in rows} == {len(rows[0])}, text
    if form == "csv":
        assert len(set(rows[0])) == len(rows[0]) > 3 and all(rows[0]), "each column has a name"
        assert len(rows) == 2, "one line per cell"
    return rows


def numbers(row):
    for cell in row:
        match = re.match(r"([\d.]+) ?([kKM]?)", cell)
        if match and match[1].count(".") <= 1:
            yield float(match[1]) * {"": 1, "k": 1e3, "K": 1e3, "M": 1e6}[match[2]]


@pytest.mark.parametrize("form", ["md", "csv"])
@pytest.mark.parametrize("words", [("-p0",), ("-p0", "-t1", "-n2"), ("--sqpoll", "-p0"),
                                   ("run", "-p0", "--warmup", "0", "--repeats", "6")])
def test_tables(printed, f1, tmp_json, form, words):
    verb = words[:1] if words[0] == "run" else ()
    assert printed(*verb, "-r100ms", *words[len(verb):], "--label", "base", "--json", tmp_json,
                   f1)[0] == 0
    code, out, err = printed("show", f"--format={form}", tmp_json)
    assert code == 0 and err == b"", err
    rows = table(form, out.decode())
    cell = read_document(tmp_json)["cells"][0]
    rate = cell["summary"]["iops"]["median"]
    shown = [number for row in rows for number in numbers(row)]
    assert any(number == pytest.approx(rate, rel=0.01) for number in shown), out
    assert b"iops" in out.lower()
    if form == "csv":
        assert out.count(b"\r\n") in (0, 2), "one kind of line end"


@pytest.mark.parametrize("form", ["md", "csv"])
def test_table_of_a_run_with_errors(printed, img, tmp_json, form):
    assert printed("-p0", "-r80ms", "--json", tmp_json, img)[0] == 8
    code, out, _ = printed("show", "--format", form, tmp_json)
    assert code == 0 and str(read_document(tmp_json)["cells"][0]["runs"][0]["errors"][
        "count"]).encode() in out, "a table of a faulty run does not look healthy"


@pytest.mark.parametrize("name", ["result-v1-full.json", "result-v1-minimal.json"])
@pytest.mark.parametrize("form", ["text", "md", "csv"])
def test_documents_of_the_past(printed, name, form):
    code, out, err = printed("show", "--format", form, ROOT / "tests/golden" / name)
    assert code == 0 and err == b"", err
    assert out.endswith(b"\n") or "minimal" in name, "there are no cells in that one"


def test_drawing_changes_nothing(printed, f1, tmp_json):
    assert printed("-p0", "-r100ms", "--json", tmp_json, f1)[0] == 0
    before = tmp_json.read_bytes(), os.stat(tmp_json).st_mtime_ns
    shown = [printed("show", tmp_json, env={"COLUMNS": width, "TZ": "Asia/Tokyo"})[1]
             for width in ("40", "200")]
    assert shown[0] == shown[1] and b"\x1b" not in shown[0]
    assert (tmp_json.read_bytes(), os.stat(tmp_json).st_mtime_ns) == before
    assert os.listdir(tmp_json.parent) == [tmp_json.name]


def test_unknown_keys_change_nothing(printed, f1, tmp_json):
    """Adding a field keeps the version: a document of next year's tool is drawn as well."""
    assert printed("-p0", "-t1", "-r100ms", "--json", tmp_json, f1)[0] == 0
    shown = printed("show", tmp_json)[1]
    document = json.loads(tmp_json.read_text())
    for part in (document, document["session"], document["cells"][0],
                 document["cells"][0]["runs"][0], document["targets"][0],
                 document["cells"][0]["granted"]):
        part["of_next_year"] = {"a": [1, None, {"b": "c"}]} if part is not document["cells"][
            0]["granted"] else "x"
    tmp_json.write_text(json.dumps(document))
    assert printed("show", tmp_json) == (0, shown, b"")
