"""The repository itself: no tabs, no trailing blanks, nobody's home folder, one set of presets."""

import json
import re
import subprocess

import pytest

from helpers import ROOT

TEXT = {".cpp", ".hpp", ".h", ".py", ".md", ".json", ".txt", ".cmake", ".sh", ".yml", ".1", ".c",
        ""}
FOLDERS = ("src", "tests", "scripts", "docs", "profiles", ".ci")
# Recorded inputs keep the bytes they were recorded with.
RECORDED = ("tests/golden/", "tests/fixtures/")


def text_files():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            place = str(path.relative_to(ROOT))
            if path.is_file() and path.suffix in TEXT and "__pycache__" not in place:
                if not place.startswith(RECORDED):
                    yield place, path.read_text(errors="replace")
    for name in ("CMakeLists.txt", "CMakePresets.json", "README.md", "CHANGELOG.md"):
        if (ROOT / name).exists():
            yield name, (ROOT / name).read_text()


def faults(pattern, but_not=()):
    return [f"{place}:{number}: {line.strip()[:80]}"
            for place, text in text_files() if place not in but_not
            for number, line in enumerate(text.splitlines(), 1) if re.search(pattern, line)]


def test_no_tabs():
    assert not faults("\t")


def test_no_trailing_blanks():
    assert not faults(r"[ \t]+$")


def test_every_file_ends_in_one_newline():
    for place, text in text_files():
        if text:
            assert text.endswith("\n") and not text.endswith("\n\n"), place


def test_no_path_of_a_developer_machine():
    assert not faults(r"(?<![\w.])/(home|Users|work|root|workspace)/\w",
                      but_not=("tests/e2e/test_tidy.py",))


def test_no_unresolved_conflict():
    assert not faults(r"^(<{7}|>{7}) ")


@pytest.mark.parametrize("preset", ["release", "dev", "asan", "tsan"])
def test_scripts_and_presets_agree(preset):
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    variables = next(item for item in presets if item["name"] == preset)["cacheVariables"]
    done = subprocess.run(
        ["bash", "-c", 'source "$0"/scripts/lib.sh; preset_options "$1"', str(ROOT), preset],
        capture_output=True, text=True, check=True)
    assert sorted(done.stdout.splitlines()) == sorted(f"{k}={v}" for k, v in variables.items())


@pytest.mark.parametrize("script", ["quickstart", "test", "install-packages"])
def test_scripts_can_be_started(script):
    path = ROOT / "scripts" / script
    assert path.stat().st_mode & 0o111, f"{script} is not executable"
    assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0
