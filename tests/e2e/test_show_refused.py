"""show: what it cannot draw is refused with the right code: 1 unreadable, 5 not ours, 2 usage."""

import contextlib
import json
import os
import re

import pytest

from helpers import execute
from test_arguments import refused

pytestmark = pytest.mark.single


@pytest.fixture(scope="module")
def stored(binary, f1, tmp_path_factory):
    """The text of a good document."""
    path = tmp_path_factory.mktemp("stored") / "result.json"
    assert execute([binary, "-p0", "-t1", "-r100ms", "--json", path, f1]).rc == 0
    return path.read_text()


def cannot(run, path, *codes, seconds=5.0):
    result = run("show", path, timeout=20)
    assert result.rc in codes, result
    assert result.out == "" and str(path) in result.err, result
    assert result.err.startswith("uringbench: ") and len(result.err.splitlines()) < 8, result
    assert not re.search(r"json\.exception|std::|terminate|\x1b", result.err), result
    assert len(result.err) < 2000 and result.seconds < seconds, result
    return result


def test_no_file(run, tmp_path):
    assert "ENOENT" in cannot(run, tmp_path / "gone.json", 1).err
    cannot(run, tmp_path, 1)
    (tmp_path / "file").write_text("{}")
    cannot(run, tmp_path / "file" / "below", 1)


def test_no_permission(as_nobody, public):
    path = public / "private.json"
    path.write_text("{}")
    path.chmod(0)
    if os.geteuid() == 0:
        result = as_nobody("show", path)
        assert result.rc == 1 and result.out == "" and "EACCES" in result.err, result
    path.unlink()


BROKEN = {
    "empty": b"", "blank": b" \n", "half a word": b"tru", "text": b"IOPS=1\n", "nul": b"\0" * 100,
    "binary": bytes(range(256)) * 64, "two documents": b"{}{}", "comment": b"// x\n{}",
    "single quotes": b"{'schema': 1}", "deep lists": b"[" * 200_000,
    "deep objects": b'{"a":' * 200_000, "deep and closed": b"[" * 200_000 + b"]" * 200_000,
    "escape": b'{"\x1b[31m": 1}', "bare surrogate": b'{"a": "\\ud800"}', "no utf-8": b'{"\xff": 1}',
    "nan": b'{"schema": NaN}', "utf-16": '{"schema": 1}'.encode("utf-16"),
    "long number": b"1" * 100_000 + b"x", "too large a number": b'{"schema": 1e999}',
}


# By its grammar JSON all the same, or nearly so: then it is somebody else's.
WHOLE = ("deep and closed", "too large a number", "long number", "nan")


@pytest.mark.parametrize("name", BROKEN)
def test_no_json(run, tmp_path, name):
    path = tmp_path / "broken.json"
    path.write_bytes(BROKEN[name])
    cannot(run, path, *((1, 5) if name in WHOLE else (1,)))


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_cut_short(run, stored, tmp_path, share):
    path = tmp_path / "cut.json"
    path.write_text(stored.rstrip()[:int(len(stored.rstrip()) * share)])
    cannot(run, path, 1)


def test_something_follows(run, stored, tmp_path):
    path = tmp_path / "longer.json"
    path.write_text(stored + "x")
    cannot(run, path, 1)


@pytest.mark.parametrize("text", ["{}", "[]", "1", "null", '"uringbench.result"', "true",
                                  '{"schema": null}', '{"schema": {}}', '{"schema": []}',
                                  '{"fio version": "fio-3.42", "jobs": []}'])
def test_another_document(run, tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    cannot(run, path, *((5,) if text.startswith("{") else (1, 5)))


@pytest.mark.parametrize("schema", [
    {"name": "other", "version": 1}, {"name": "uringbench.result", "version": 999},
    {"name": "uringbench.result", "version": 2}, {"name": "uringbench.result", "version": 0},
    {"name": "uringbench.result", "version": -1}, {"name": "uringbench.result", "version": "1"},
    {"name": "uringbench.result", "version": 1.5}, {"name": "uringbench.result"},
    {"name": "uringbench.result", "version": 1 << 64}, {"version": 1},
    {"name": "uringbench.doctor", "version": 1}, {"name": 1, "version": 1},
    {"name": "uringbench.result", "version": None}])
def test_another_schema(run, stored, tmp_path, schema):
    path = tmp_path / "other.json"
    path.write_text(json.dumps({**json.loads(stored), "schema": schema}))
    result = cannot(run, path, 5)
    if schema.get("version") == 999:
        assert "999" in result.err and "1" in result.err.replace("999", ""), result
    if schema.get("name") == "other":
        assert "other" in result.err.replace(str(path), ""), result


def test_a_document_of_doctor(run, tmp_path):
    path = tmp_path / "checkup.json"
    path.write_text(run("doctor", "--format", "json").out)
    cannot(run, path, 5)


SPOIL = {
    "no cells": lambda d: d.pop("cells"), "no session": lambda d: d.pop("session"),
    "cells no list": lambda d: d.update(cells={}), "cell no object": lambda d: d["cells"].append(1),
    "runs no list": lambda d: d["cells"][0].update(runs="x"),
    "negative count": lambda d: d["cells"][0]["runs"][0].update(ios=-1),
    "text for a rate": lambda d: d["cells"][0]["runs"][0].update(iops="fast"),
    "huge": lambda d: d["cells"][0]["runs"][0].update(ios=1 << 70),
    "null": lambda d: d["cells"][0]["runs"][0].update(iops=None),
    "odd bucket": lambda d: d["cells"][0]["runs"][0]["latency_ns"].update(buckets=[[1]]),
    "list for text": lambda d: d["session"].update(verb=["run"]),
    "nested setting": lambda d: d["cells"][0]["granted"].update(depth={"a": 1}),
    "zero time": lambda d: d["cells"][0]["runs"][0].update(elapsed_ns=0),
    "bad target": lambda d: d["cells"][0]["runs"][0]["errors"].update(
        count=1, by_errno={"EIO": 1}, first={"errno": "EIO", "target": 99, "offset_bytes": 0}),
    "no targets": lambda d: d.update(targets=[]), "no cell": lambda d: d.update(cells=[]),
    "no runs": lambda d: d["cells"][0].update(runs=[]),
    "no summary": lambda d: d["cells"][0].update(summary={}),
    "text for a depth": lambda d: d["cells"][0]["asked"].update(depth="128"),
    "escape": lambda d: d["environment"]["identity"].update(cpu_model="\x1b[31mred\r\n"),
    "nul": lambda d: d["session"].update(label="a\0b"),
}


@pytest.mark.parametrize("name", SPOIL)
def test_impossible_values(run, stored, tmp_path, name):
    """Refused with a message or drawn as far as it goes; never a crash, never an infinity."""
    document = json.loads(stored)
    SPOIL[name](document)
    path = tmp_path / "spoilt.json"
    path.write_text(json.dumps(document))
    for form in ("text", "md", "csv"):
        result = run("show", "--format", form, path)
        if result.rc == 0:
            assert "\x1b" not in result.out and "\0" not in result.out, result
            assert not re.search(r"\b(nan|inf)\b", result.out), result
        else:
            cannot(run, path, 1, 5)


@pytest.mark.parametrize("words", [
    (), ("{0}", "{0}"), ("-d4", "{0}"), ("{0}", "-r1"), ("--sqpoll", "{0}"), ("--json", "x", "{0}"),
    ("--format=xml", "{0}"), ("--format=", "{0}"), ("--format",), ("--frobnicate", "{0}"),
    ("--dry-run", "{0}"), ("-x", "{0}")])
def test_usage(run, stored, tmp_path, words):
    path = tmp_path / "result.json"
    path.write_text(stored)
    refused(run("show", *[word.format(path) for word in words]))
    assert os.listdir(tmp_path) == ["result.json"]


def test_help(run):
    result = run("show", "--help")
    assert result.rc == 0 and result.err == "" and "show" in result.out, result


def test_full_output(run, stored, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(stored)
    with open("/dev/full", "wb") as full:
        assert run("show", path, stdout=full).rc == 1


def test_odd_places(run, stored, tmp_path, work):
    (tmp_path / "link").symlink_to("real.json")
    (tmp_path / "real.json").write_text(stored)
    shown = run("show", tmp_path / "real.json").out
    assert shown and run("show", tmp_path / "link").out == shown
    with open(tmp_path / "real.json", "rb") as file:
        assert run("show", "/dev/stdin", stdin=file).out == shown
    for name in ("-d4.json", "show"):
        with contextlib.ExitStack() as stack:
            (work / name).write_text(stored)
            stack.callback((work / name).unlink)
            assert run("show", "--", name).out == shown
