"""Man page and completion: they are installed, the page is good roff, and bash completes."""

import pathlib
import shutil
import subprocess

import pytest

from helpers import ROOT, find_binary, unavailable

PAGE = ROOT / "docs/uringbench.1"
SCRIPT = ROOT / "docs/completion/uringbench.bash"

pytestmark = pytest.mark.plain


def complete(*words, cwd=None):
    """What bash offers for the last of the words."""
    script = ('source "$1"; shift; COMP_WORDS=(uringbench "$@"); COMP_CWORD=$#; _uringbench; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-uc", script, "bash", SCRIPT, *words], capture_output=True,
                          text=True, check=True, timeout=30, cwd=cwd)
    assert done.stderr == "", done.stderr
    return done.stdout.split("\n")[:-1] if done.stdout.strip() else []


@pytest.fixture
def folder(tmp_path):
    for name in ("data", "result.json", "two words"):
        (tmp_path / name).touch()
    (tmp_path / "sub").mkdir()
    return tmp_path


def test_verbs_and_files_come_first(folder):
    assert complete("", cwd=folder) == ["run", "show", "doctor", "compare", "gate",
                                        *sorted_names(folder)]
    assert complete("sh", cwd=folder) == ["show"]
    assert complete("d", cwd=folder) == ["doctor", "data"]


def sorted_names(folder):
    """In the order of bash's own compgen."""
    done = subprocess.run(["bash", "-c", "compgen -f"], capture_output=True, text=True,
                          check=True, cwd=folder)
    return done.stdout.splitlines()


def test_a_verb_is_one_only_in_the_first_place(folder):
    assert complete("-d8", "sh", cwd=folder) == []
    assert complete("run", "do", cwd=folder) == []


@pytest.mark.parametrize("verb", [(), ("run",)])
def test_flags_of_measuring(verb):
    offered = set(complete(*verb, "-"))
    assert {"-d", "--depth", "-H", "--hugetlb", "--sqpoll", "--queue", "--help"} <= offered
    assert not {"--format", "--profile"} & offered
    assert complete(*verb, "--sqpoll-") == ["--sqpoll-cpu", "--sqpoll-idle", "--sqpoll-share"]


def test_flags_of_other_verbs():
    assert complete("show", "-") == ["--format", "--log-level", "--quiet", "-h", "--help",
                                     "--version"]
    assert complete("doctor", "--f") == ["--format"]
    assert complete("gate", "--m") == ["--metrics", "--margin"]
    assert complete("compare", "--m") == ["--metrics", "--min-effect"]


@pytest.mark.parametrize("words, offered", [
    (("--taskrun", ""), ["defer", "coop", "plain"]),
    (("run", "--taskrun", "c"), ["coop"]),
    (("--taskrun", "="), ["defer", "coop", "plain"]),
    (("--taskrun", "=", "p"), ["plain"]),
    (("--taskrun=",), ["--taskrun=defer", "--taskrun=coop", "--taskrun=plain"]),
    (("--taskrun=co",), ["--taskrun=coop"]),
    (("-t", ""), ["0", "1"]),
    (("--sqpoll", "="), ["0", "1"]),
    (("--sqpoll=",), ["--sqpoll=0", "--sqpoll=1"]),
    (("-n", ""), ["auto"]),
    (("--cpus", "local"), ["local-core", "local-node"]),
    (("--queue", "io"), ["iostats=0"]),
    (("show", "--format", ""), ["text", "md", "csv"]),
    (("doctor", "--format", ""), ["text", "json"]),
    (("gate", "--format", "j"), ["json", "junit"]),
    (("compare", "--baseline-of", ""), ["first", "prev"]),
    (("compare", "--varies", "ker"), ["kernel"]),
    (("--log-level", "w"), ["warn"]),
    (("--depth", ""), []),
    (("--label", ""), []),
])
def test_values(folder, words, offered):
    assert complete(*words, cwd=folder) == offered


def test_files_everywhere_else(folder):
    names = sorted_names(folder)
    for words in (("-d8", ""), ("run", ""), ("--json", ""), ("show", ""), ("--sqpoll", ""),
                  ("--dry-run", ""), ("show", "--format", "md", ""), ("--", ""),
                  ("--taskrun", "--", "")):
        assert complete(*words, cwd=folder) == names, words
    assert complete("-H", "", cwd=folder) == ["anon", *names]
    assert complete("run", "tw", cwd=folder) == ["two words"]
    assert complete("--json=res", cwd=folder) == ["--json=result.json"]
    assert complete("--", "--dep", cwd=folder) == []


def test_completion_leaves_no_variables_behind():
    names = "cur before verb flag attached words files only_files word i"
    done = subprocess.run(
        ["bash", "-c", 'source "$1"; COMP_WORDS=(uringbench run --taskrun c); COMP_CWORD=3; '
         '_uringbench; for name in $2; do declare -p "$name"; done; complete -p uringbench',
         "bash", SCRIPT, names], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout == "complete -F _uringbench uringbench\n"


def test_page_is_good_roff():
    if shutil.which("groff") is None:
        unavailable("groff", "nothing reads man pages here")
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", PAGE], capture_output=True, text=True,
                          check=True, timeout=60)
    assert done.stderr == ""
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "VERBS", "OPTIONS", "EXIT STATUS", "OUTPUT",
                    "ENVIRONMENT", "GATE FILE", "FILES", "EXAMPLES", "SEE ALSO"):
        assert heading in done.stdout


def test_install(tmp_path):
    build = pathlib.Path(find_binary()).parent
    done = subprocess.run(["cmake", "--install", build, "--prefix", tmp_path],
                          capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    installed = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")
                 if path.is_file()}
    page = tmp_path / "share/man/man1/uringbench.1"
    completion = tmp_path / "share/bash-completion/completions/uringbench"
    assert page.read_text() == PAGE.read_text()
    assert completion.read_text() == SCRIPT.read_text()
    assert len([name for name in installed if name.endswith((".1", ".bash"))]) == 1, installed
    version = subprocess.run([tmp_path / "bin/uringbench", "--version"], capture_output=True,
                             text=True, check=True, timeout=30)
    assert version.stdout.startswith("uringbench ")
