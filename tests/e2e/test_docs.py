"""The pages agree with the program: flags, exit codes, findings, function names, links."""

import pathlib
import re
import subprocess

import pytest

from helpers import ROOT, find_binary

README = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [README, ROOT / "CHANGELOG.md", *DOCS]
# Named in commands that are not ours: cmake, scripts/test, cp, docker, losetup, …
FOREIGN = {"--build", "--install", "--prefix", "--preset", "--sparse"}
LATER = "(not available in this version)"

pytestmark = pytest.mark.plain


def name_of(page):
    return str(page.relative_to(ROOT))


def help_entries():
    """(letter or "", long name, explanation) of each flag, as `uringbench --help` lists them."""
    done = subprocess.run([find_binary(), "--help"], capture_output=True, text=True, check=True,
                          timeout=30)
    entries = re.findall(r"^  (?:-(\w),)?--([\w-]+)(.*)", done.stdout, re.M)
    assert len(entries) > 40, done.stdout
    return entries


def all_help_flags():
    return {flag for letter, name, _ in help_entries()
            for flag in (["-" + letter] if letter else []) + ["--" + name]}


def later_flags():
    return {"--" + name for _, name, text in help_entries() if LATER in text}


def code_spans(text):
    """What is set as code: blocks of our own commands, and spans. Program output is no flag."""
    for block in re.findall(r"^```(?:sh|console)\n(.*?)^```", text, re.M | re.S):
        for line in block.splitlines():
            command = re.match(r"(?:\$ )?((?:sudo )?(?:t/io_)?uring(?:bench)?\s.*)", line)
            if command:
                yield command[1].split("  #")[0]
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def flags_named(text):
    for span in code_spans(text):
        for word in span.split():
            if long := re.match(r"--[a-z][a-z-]+", word):
                yield long[0]
            elif short := re.match(r"-([A-Za-z])(?:\d.*)?$", word):
                yield "-" + short[1]


def spans_of_others(text):
    """Commands in running text that start with somebody else's name."""
    return re.sub(r"`(?:cmake|scripts/|ulimit|cp|dd|top|vmstat|…? ?head)[^`\n]*`", "", text)


@pytest.mark.parametrize("page", [README, ROOT / "docs/compat-t-io_uring.md"], ids=name_of)
def test_flags_on_the_page_exist(page):
    named = set(flags_named(spans_of_others(page.read_text()))) - FOREIGN
    assert len(named) > 20
    unknown = named - all_help_flags()
    assert not unknown, f"{name_of(page)} names {sorted(unknown)}"


def test_every_flag_is_explained_somewhere():
    named = set()
    for page in [README, *DOCS]:
        named |= set(flags_named(page.read_text()))
    missing = all_help_flags() - named
    assert not missing, f"on no page: {sorted(missing)}"


def test_flags_that_are_missing_are_listed_as_missing():
    section = README.read_text().split("## What is not there yet")[1].split("\n## ")[0]
    assert {flag for flag in flags_named(section) if flag.startswith("--")} == later_flags()


def compat_rows():
    """(letter, long name, verdict) of each row of the table of flags."""
    page = (ROOT / "docs/compat-t-io_uring.md").read_text()
    section = page.split("## Flags")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `-")]
    read = [re.match(r"\| `-(\w)(?: [^`]+)?` `--([\w-]+)` \| ([^|]+?) \|", row) for row in rows]
    assert all(read), [row for row, match in zip(rows, read) if not match]
    return [match.groups() for match in read]


def test_every_letter_of_the_original_is_compared():
    """The letters of t/io_uring's usage page, each with our long name and a verdict."""
    rows = compat_rows()
    ours = {letter: name for letter, name, _ in help_entries() if letter}
    assert sorted(letter for letter, _, _ in rows) == sorted("dscbpBFnONtTrRaSXPVeuH" + "h")
    assert {letter: name for letter, name, _ in rows} == ours
    assert {verdict for _, _, verdict in rows} == {"same", "differs"}


def test_help_groups_are_those_of_the_readme():
    done = subprocess.run([find_binary(), "--help"], capture_output=True, text=True, check=True,
                          timeout=30)
    groups, group = {}, None
    for line in done.stdout.splitlines():
        if heading := re.fullmatch(r"(\w[\w -]*):", line):
            group = heading[1]
        elif (entry := re.match(r"  (?:-(\w),)?--([\w-]+)", line)) and LATER not in line:
            groups.setdefault(group, []).extend(
                (["-" + entry[1]] if entry[1] else []) + ["--" + entry[2]])
    section = README.read_text().split("## Flags")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([A-Z][\w -]+) \| (`.+) \|$", section, re.M)
    assert {name: flags_in for name, flags_in in groups.items()} == {
        name: re.findall(r"`(--?[\w-]+)`", cell) for name, cell in rows}


def links(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.findall(r"\]\(([^)\s]+)\)", text)


def anchors(page):
    for title in re.findall(r"^#+ (.+)$", page.read_text(), re.M):
        yield re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for link in links(page.read_text()):
        if re.match(r"https?://", link):
            continue
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), f"{name_of(page)}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{name_of(page)}: no heading for {link}"


def test_exit_codes_are_those_of_the_code():
    header = (ROOT / "src/base/error.hpp").read_text()
    enum = re.search(r"enum class ExitCode : int \{(.*?)\};", header, re.S)[1]
    code = {int(number): comment or name for name, number, comment in
            re.findall(r"(\w+) = (\d+),[ ]*(?:///< (.*))?", enum)}
    section = README.read_text().split("## Exit codes")[1].split("\n## ")[0]
    page = dict(re.findall(r"^\| (\d+|128\+N) \| (.+?) \|$", section, re.M))
    assert "128+N" in page
    del page["128+N"]
    assert {int(number): words for number, words in page.items()} == code


@pytest.mark.parametrize("place", ["help", "man page"])
def test_exit_codes_are_all_there(place):
    if place == "help":
        text = subprocess.run([find_binary(), "--help"], capture_output=True, text=True,
                              check=True, timeout=30).stdout.split("Exit codes:")[1]
        found = re.findall(r"^  (\d[\d+N]*) +\w", text, re.M)
    else:
        text = (ROOT / "docs/uringbench.1").read_text().split(".SH EXIT STATUS")[1]
        found = re.findall(r"^\.TP\n\\fB([\d+N]+)\\fR$", text.split(".SH")[0], re.M)
    assert found == [str(code) for code in range(9)] + ["128+N"]


def test_every_finding_is_explained():
    source = "\n".join(path.read_text() for path in (ROOT / "src/machine").glob("*.cpp"))
    codes = set(re.findall(r'Severity::\w+,\s*"([\w-]+)"', source))
    verbs = "\n".join(path.read_text() for path in (ROOT / "src/command").glob("*.cpp"))
    codes |= set(re.findall(r'\{"(?:warning|info)",\s*"([\w-]+)"', verbs))
    section = (ROOT / "docs/measurement.md").read_text().split("## Findings")[1]
    rows = re.findall(r"^\| (`[^|]+) \| (warning|info) \|", section, re.M)
    explained = {code for cell, _ in rows for code in re.findall(r"`([\w-]+)`", cell)}
    assert len(codes) > 10
    assert explained == codes


def test_architecture_names_what_exists():
    text = (ROOT / "docs/architecture.md").read_text()
    sources = [path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*")
               if path.suffix in (".cpp", ".hpp")]
    code = "\n".join(path.read_text() for path in sources)
    functions = set(re.findall(r"`(?:\w+::)*(\w+)\(\)`", text))
    assert len(functions) > 30
    gone = {name for name in functions if not re.search(rf"\b{name}\(", code)}
    assert not gone, f"docs/architecture.md names {sorted(gone)}"
    files = set(re.findall(r"`(?:\w+/)*(\w+\.[ch]pp)`", text))
    assert files <= {path.name for path in sources}, files - {path.name for path in sources}
    for path in re.findall(r"`(tests/[\w./]+)`", text):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "result-schema.md"], ids=name_of)
def test_lines_fit(page):
    in_code = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        in_code ^= line.startswith("```")
        if in_code or line.startswith("|"):
            continue
        assert len(line) <= 100, f"{name_of(page)}:{number}: {len(line)} columns"


def test_pages_are_listed_in_the_readme():
    linked = {pathlib.PurePath(link.partition("#")[0]) for link in links(README.read_text())}
    for page in DOCS:
        assert page.relative_to(ROOT) in linked, name_of(page)
