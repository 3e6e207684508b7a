"""docs/comparing.md against the program: its scripts run, its output is the program's output."""

import json
import math
import os
import re
import shlex
import shutil
import subprocess

import pytest

from helpers import ROOT, execute, find_binary
from test_docs import flags_named

COMPARING = ROOT / "docs/comparing.md"
README = ROOT / "README.md"
PAGE = COMPARING.read_text()
E3 = sorted((ROOT / "tests/fixtures/e3").glob("*.json"))
QUICK = "-N1 -r100ms --warmup 10ms"
# Named on the page, and not ours: sh's, fio's.
FOREIGN = {"-eu", "-o", "--output-format"}

pytestmark = pytest.mark.plain


def snippet(name):
    """The block below <!-- tested: name -->."""
    found = re.findall(rf"^<!-- tested: {re.escape(name)} -->\n```\w+\n(.*?)^```", PAGE,
                       re.M | re.S)
    assert len(found) == 1, name
    return found[0]


def quoted():
    """(page, stream, command, lines) of each block below <!-- output: stream -->. A line "…" stands
    for any lines."""
    pattern = r"^<!-- output: (\w+) -->\n```console\n\$ (uringbench .*?)\n(.*?)^```"
    return [pytest.param(page, *block, id=f"{page.name}: {block[1]}")
            for page in (COMPARING, README)
            for block in re.findall(pattern, page.read_text(), re.M | re.S)]


@pytest.fixture
def desk(tmp_path, binary):
    """A folder with the documents of the example, and a PATH on which uringbench is found."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/uringbench").symlink_to(binary)
    for path in E3:
        shutil.copy(path, tmp_path)
    return tmp_path


def at(desk, words, **environment):
    path = f"{desk / 'bin'}:{os.environ['PATH']}"
    return execute(words, cwd=desk, env={"PATH": path, "COLUMNS": "80", **environment})


def measure(desk, name, *words):
    done = at(desk, ["uringbench", "run", *QUICK.split(), *words, "--json", name])
    assert done.rc == 0, done
    return json.loads((desk / name).read_text())


def scaled(desk, name, document, factors):
    """A copy whose runs are so many times as fast, to be a baseline."""
    for cell in document["cells"]:
        for run, factor in zip(cell["runs"], factors, strict=True):
            run["iops"] *= factor
    (desk / name).write_text(json.dumps(document))


# --- what is quoted is what is printed ---------------------------------------------------------

@pytest.mark.parametrize("page, stream, command, text", quoted())
def test_quoted_output_is_what_the_program_prints(desk, page, stream, command, text):
    """URINGBENCH_UPDATE_GOLDEN=1 puts what it prints into the page."""
    done = at(desk, shlex.split(command))
    assert done.rc in (0, 3, 4), done
    printed = {"stdout": done.out, "stderr": done.err}[stream]
    if os.environ.get("URINGBENCH_UPDATE_GOLDEN") and "…\n" not in text:
        block = f"$ {command}\n"
        page.write_text(page.read_text().replace(block + text, block + printed, 1))
    elif "…\n" not in text:
        assert printed == text
    else:
        assert re.fullmatch("(?:.*\n)*".join(map(re.escape, text.split("…\n"))), printed), done


def test_the_example_is_quoted_as_text_and_as_markdown():
    commands = [block.values[2] for block in quoted() if block.values[0] == COMPARING]
    assert any("--format md" in command for command in commands)
    assert any("compare" in command and "--format" not in command for command in commands)


@pytest.mark.parametrize("path", E3, ids=lambda path: path.name)
def test_example_documents_are_valid(path, validated):
    document = validated(path.read_text())
    assert [len(cell["runs"]) for cell in document["cells"]] == [12, 12, 12]


# --- scripts -----------------------------------------------------------------------------------

def test_the_interleaving_script_measures_in_turns(desk):
    (desk / "interleave.sh").write_text(snippet("interleave.sh"))
    done = at(desk, ["sh", "interleave.sh"], BENCH=QUICK)
    assert done.rc == 0, done
    assert re.search(r" (IMPROVED|REGRESSED|SAME|UNKNOWN|<1%)$", done.out, re.M), done
    assert "not interleaved" not in done.out, done
    starts = sorted(
        (json.loads(path.read_text())["cells"][0]["runs"][0]["started_at"], path.name[:4])
        for arm in ("defer", "coop") for path in desk.glob(f"{arm}-*.json"))
    assert [arm[0] for _, arm in starts] == list("dccd" * 5)


OUTCOMES = {
    "passed": (0, lambda desk, new: scaled(desk, "baseline.json", new, [.1] * 6)),
    "slower": (3, lambda desk, new: scaled(desk, "baseline.json", new, [9.] * 6)),
    "noisy": (4, lambda desk, new: scaled(desk, "baseline.json", new, [.2, .5, .8, 1.5, 3, 9])),
    "not comparable": (5, lambda desk, new: measure(desk, "baseline.json", "-b512", "-d64")),
    "no baseline": (6, lambda desk, new: None),
}


@pytest.mark.parametrize("word", OUTCOMES)
def test_the_gate_script_ends_with_the_gates_code(desk, word):
    code, prepare = OUTCOMES[word]
    prepare(desk, measure(desk, "first.json"))
    (desk / "gate.sh").write_text(snippet("gate.sh"))
    done = at(desk, ["sh", "gate.sh"], BENCH=QUICK)
    assert done.rc == code, done
    assert done.out.splitlines()[-1].startswith("gate: ") and word in done.out.splitlines()[-1]
    assert re.search(rf"^uringbench-gate: .*\bcode={code}\b", done.err, re.M), done


def test_the_gate_script_is_sound_shell():
    for name in ("gate.sh", "interleave.sh"):
        assert snippet(name).startswith("#!/bin/sh\n")
        subprocess.run(["sh", "-n"], input=snippet(name), text=True, check=True)


def workflow_steps():
    """Name → key → text of each step. Not a reader of YAML, but of this one's shape."""
    text = snippet("workflow.yml")
    assert "\t" not in text
    assert all((len(line) - len(line.lstrip())) % 2 == 0 for line in text.splitlines())
    assert re.findall(r"^(\w+):", text, re.M) == ["name", "on", "jobs"]
    steps = {}
    for part in re.split(r"^      - ", text.split("    steps:\n")[1], flags=re.M)[1:]:
        lines = part.splitlines()
        step = steps.setdefault(lines[0].removeprefix("name: "), {})
        for line in lines[1:]:
            if key := re.fullmatch(r" {8}([\w-]+):(?: (.*))?", line):
                step[key[1]] = (key[2] or "").removeprefix("|")
                last = key[1]
            else:
                assert line.startswith(" " * 10), line
                step[last] += line[10:] + "\n"
    return steps


def test_the_workflow_measures_reports_and_gates(desk):
    text, steps = snippet("workflow.yml"), workflow_steps()
    assert all(("run" in step) != ("uses" in step) for step in steps.values())
    # What was measured is kept, and shown, when the gate fails: above all then.
    assert list(steps)[-1] == "Keep the evidence" and steps["Keep the evidence"]["if"] == "always()"
    assert "upload-artifact" in steps["Keep the evidence"]["uses"]
    names = dict(re.findall(r"^      ([A-Z]+): (.+)$", text, re.M))
    assert set(names) == {"BENCH", "BASELINE", "MARGIN"}
    scaled(desk, "baseline.json", measure(desk, "first.json"), [9.] * 6)
    environment = dict(names, BENCH=QUICK, BASELINE=str(desk / "baseline.json"),
                       GITHUB_SHA="0123456789", GITHUB_STEP_SUMMARY=str(desk / "summary.md"))
    codes = [at(desk, ["bash", "-e", "-c", step["run"]], **environment).rc
             for step in steps.values() if "run" in step]
    assert codes == [0, 0, 3]
    assert "|" in (desk / "summary.md").read_text()
    assert "<failure" in (desk / "gate.xml").read_text()
    for name in re.findall(r"^ {12}(\S+)$", text, re.M):
        if "." in name and name in steps["Keep the evidence"]["with"]:
            assert (desk / name).exists(), name


def test_the_gate_file_is_one(desk):
    text = snippet("gate.json")
    (desk / "gate.json").write_text(text)
    done = at(desk, ["uringbench", "gate", "base.json", "patches1-11.json", "--gate-file",
                     "gate.json"])
    assert done.rc == 0, done
    rules = json.loads(text)
    explained = [key for cell in rows("### The gate file", 2)[1:]
                 for key in re.findall(r"`(\w+)`", cell[0])]
    assert explained == [key for key in rules if key != "schema"]
    (desk / "gate.json").write_text(json.dumps(rules | {"expect": ["randread bs=512 qd=99"]}))
    done = at(desk, ["uringbench", "gate", "base.json", "patches1-11.json", "--gate-file",
                     "gate.json"])
    assert done.rc == 6, done


# --- words, flags and codes --------------------------------------------------------------------

def help_of(verb):
    """The flags that its help page lists."""
    done = subprocess.run([find_binary(), verb, "--help"], capture_output=True, text=True,
                          check=True, timeout=30)
    entries = re.findall(r"^  (?:(-\w),)?(--[\w-]+)", done.stdout, re.M)
    return {flag for entry in entries for flag in entry if flag}


def commands():
    """Verb and words of each command that is not part of a script, continued lines joined."""
    blocks = re.findall(r"^```sh\n(?!#!)(.*?)^```", PAGE, re.M | re.S)
    joined = "".join(blocks).replace("\\\n", " ")
    return re.findall(r"^uringbench (compare|gate|show) (.*)", joined, re.M)


LOG = """submitter=0, tid=4242, file=/dev/nvme0n1, nfiles=1, node=-1
polled=1, fixedbufs=1, register_files=1, buffered=0, QD=128
Engine=io_uring, sq_ring=128, cq_ring=256
IOPS=148.51K, BW=580MiB/s, IOS/call=32/32
IOPS=147.14K, BW=574MiB/s, IOS/call=32/31
Exiting on timeout
Maximum IOPS=148.51K
"""


@pytest.mark.parametrize("verb, rest", commands())
def test_every_command_on_the_page_is_understood(desk, verb, rest):
    words = shlex.split(rest, comments=True)
    for name in re.findall(r"[\w-]+\.(?:json|log)", " ".join(words)):
        content = LOG if name.endswith(".log") else (desk / "base.json").read_text()
        (desk / name).write_text(content)
    done = at(desk, ["uringbench", verb, *words])
    assert done.rc in (0, 3, 4, 6), done


def test_every_flag_on_the_page_exists():
    everywhere = set().union(*(help_of(verb) for verb in ("run", "compare", "gate")))
    assert set(flags_named(PAGE)) - everywhere - FOREIGN == set()


@pytest.mark.parametrize("verb", ["compare", "gate"])
def test_every_flag_of_the_verb_is_on_the_page(verb):
    general = help_of("run")
    assert help_of(verb) - general - set(flags_named(PAGE)) == set()


def least(tests, least_p):
    return next(n for n in range(1, 99) if tests * least_p(n) <= .05)


def test_the_table_of_least_runs_is_right():
    tests, runs, blocks = rows("### How many runs", 9)
    for column in range(1, 9):
        for number in tests[column].split("–"):
            assert least(int(number), lambda n: 2 / math.comb(2 * n, n)) == int(runs[column])
            assert least(int(number), lambda n: 2 / 2 ** n) == int(blocks[column])


def rows(heading, columns):
    """Rows of the tables with so many columns, the head first."""
    section = PAGE.split(f"\n{heading}\n")[1].split("\n#")[0]
    found = re.findall(r"^\| (.+) \|$", section, re.M)
    cells = [re.split(r" (?<!\\)\| ", row) for row in found]
    return [cell for cell in cells if len(cell) == columns and not set(cell[0]) <= set("-|")]


def test_verdicts_are_those_of_the_program():
    source = "\n".join(path.read_text() for path in (ROOT / "src/compare").glob("*.cpp"))
    body = re.search(r"std::string verdict_word\(.*?\n}\n", source, re.S)[0]
    program = set(re.findall(r'return "([A-Z-]+)"', body)) | {"<1%"}
    assert {re.sub("`", "", word) for cell in rows("### Verdicts", 3)[1:]
            for word in cell[0].split("`, `")} == program


def test_exit_codes_are_those_of_the_program():
    header = (ROOT / "src/base/error.hpp").read_text()
    codes = dict(re.findall(r"(\w+) = (\d+),", header))
    gate = {codes[name] for name in ("done", "internal", "usage", "regression", "inconclusive",
                                     "not_comparable", "missing")}
    assert {cell[0] for cell in rows("### Exit codes", 3)[1:]} == gate


PATTERNS = {"qd=32": 1, "qd32": 1, "depth=32": 1, "qd=(1|4|32)": 3, "randread bs=4096": 3,
            "randread/bs=4k": 3, "engine=io*": 3, "*/qd1": 1}


def test_patterns_on_the_page_are_tried():
    named = [pattern.replace("\\|", "|").strip("'") for cell in rows("### Cells", 2)[1:]
             for pattern in re.findall(r"`([^`]+)`", cell[0])]
    assert named == list(PATTERNS)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_fit_as_the_page_says(desk, pattern):
    for name in ("base.json", "patches1-10.json"):  # the page speaks of 4 KiB
        text = (desk / name).read_text()
        assert "bs=512 " in text and '"block_size_bytes": 512' in text
        (desk / name).write_text(text.replace("bs=512 ", "bs=4096 ").replace(
            '"block_size_bytes": 512', '"block_size_bytes": 4096'))
    done = at(desk, ["uringbench", "compare", "base.json", "patches1-10.json", "--filter", pattern,
                     "--format", "csv"])
    assert done.rc == 0, done
    depths = set(re.findall(r"\bqd=(\d+)", done.out))
    assert len(depths) == PATTERNS[pattern], done
