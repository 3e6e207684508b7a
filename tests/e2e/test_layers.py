"""The rooms of src/ include downwards only, through doors only, and each library has one home."""

import re

import pytest

from helpers import ROOT

SOURCES = ROOT / "src"

# Which rooms a room may include, besides itself.
ARROWS = {
    "base": set(),
    "stats": {"base"},
    "plan": {"base"},
    "machine": {"base", "plan"},
    "engine": {"base", "plan", "machine", "stats"},
    "result": {"base", "stats"},
    "compare": {"base", "result", "stats"},
    "report": {"base", "result", "compare", "stats"},
    "command": {"base", "stats", "plan", "machine", "engine", "result", "compare", "report"},
    "": {"command", "base"},  # main.cpp: argv in, exit code out
}

# Library header → the only rooms that may know it.
HOMES = {
    r"CLI/": {"command"},
    r"nlohmann/": {"result", "compare"},
    r"pugi": {"report"},
    r"liburing": {"engine"},
    r"linux/io_uring\.h": {"engine"},
    r"linux/aio_abi\.h": {"engine"},
    r"numa(if)?\.h": {"engine"},
    r"spdlog/": {"command"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def source_files():
    return sorted(path for path in SOURCES.rglob("*") if path.suffix in (".cpp", ".hpp", ".h"))


def includes():
    for path in source_files():
        place = path.relative_to(SOURCES)
        room = place.parts[0] if len(place.parts) > 1 else ""
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if found:
                yield f"src/{place}:{number}", room, found[1], found[2]


def layer_faults(lines):
    faults = []
    for where, room, quote, header in lines:
        if room not in ARROWS:
            faults.append(f"{where}: room '{room}' is not in the house")
            continue
        for pattern, homes in HOMES.items():
            if re.match(pattern, header) and room not in homes:
                faults.append(f"{where}: <{header}> belongs to {', '.join(sorted(homes))}")
        parts = header.split("/")
        if quote != '"' or parts[0] not in ARROWS:
            if quote == '"' and len(parts) == 1 and not header.endswith(".inc"):
                faults.append(f"{where}: write \"{header}\" with its room")
            continue
        target = parts[0]
        if target == room:
            continue
        if target not in ARROWS[room]:
            faults.append(f"{where}: {room or 'main'} must not know {target}")
        elif header != f"{target}/{target}.hpp":
            faults.append(f"{where}: {header} is not the door of {target}/")
    return faults


def test_includes_go_downwards_through_doors():
    faults = layer_faults(includes())
    assert not faults, "\n".join(faults)


def test_something_was_read():
    assert len(list(includes())) > 50
    assert {room for _, room, _, _ in includes()} >= {"base", "plan", "engine", "command"}


@pytest.mark.parametrize("line, word", [
    (("x", "base", '"', "plan/plan.hpp"), "must not know"),
    (("x", "result", '"', "engine/engine.hpp"), "must not know"),
    (("x", "report", '"', "machine/machine.hpp"), "must not know"),
    (("x", "engine", '"', "machine/sysfs.hpp"), "not the door"),
    (("x", "plan", "<", "CLI/CLI.hpp"), "belongs to"),
    (("x", "machine", "<", "liburing.h"), "belongs to"),
    (("x", "command", "<", "nlohmann/json.hpp"), "belongs to"),
    (("x", "report", "<", "nlohmann/json.hpp"), "belongs to compare, result"),
    (("x", "compare", "<", "pugixml.hpp"), "belongs to report"),
    (("x", "machine", "<", "numa.h"), "belongs to"),
    (("x", "garage", '"', "base/base.hpp"), "not in the house"),
])
def test_the_rule_can_fail(line, word):
    assert word in "\n".join(layer_faults([line]))


def test_engine_writes_no_text():
    for path in (SOURCES / "engine").rglob("*.[ch]pp"):
        text = re.sub(r"//.*", "", path.read_text())
        assert not re.search(r"\b(std::cout|std::cerr|printf\(|puts\()", text), path


def test_rooms_below_command_print_nothing():
    for path in source_files():
        if path.relative_to(SOURCES).parts[0] in ("command", "main.cpp"):
            continue
        text = re.sub(r"//.*", "", path.read_text())
        assert not re.search(r"std::(cout|cerr)|\b(f?printf|f?puts)\(", text), path


@pytest.mark.parametrize("limit", ["lines", "columns"])
def test_files_fit(limit):
    for path in source_files():
        text = path.read_text().splitlines()
        if limit == "lines":
            assert len(text) <= 400, f"{path}: {len(text)} lines"
        else:
            for number, line in enumerate(text, 1):
                assert len(line) <= 100, f"{path}:{number}: {len(line)} columns"


def test_targets_are_never_opened_for_writing():
    """O_RDWR and O_WRONLY may stand only where our own files are made, where --queue sets, and
    where read buffers lie in a file on hugetlbfs that the user named."""
    allowed = {"src/result/storage.cpp", "src/machine/guardian.cpp", "src/engine/slots.cpp"}
    for path in source_files():
        text = re.sub(r"//.*", "", path.read_text())
        if re.search(r"\bO_(RDWR|WRONLY)\b", text) and "scratch" not in path.name:
            assert str(path.relative_to(ROOT)) in allowed, path
