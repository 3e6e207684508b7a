"""Data on stdout, everything else on stderr; documents are whole or not there at all."""

import json
import os
import subprocess

import pytest

from helpers import execute, in_environment, only_run

pytestmark = pytest.mark.single


@pytest.mark.parametrize("door", [(), ("run", "--repeats", "2", "--warmup", "0")])
def test_json_on_stdout_is_one_document(run, f1, validated, door):
    result = run(*door, "-p0", "-r300ms", "--json", "-", f1)
    assert result.rc == 0, result
    validated(result.out)
    assert result.out.endswith("}\n") and not result.out.endswith("\n\n")
    assert "IOPS" in result.err, "the human text went to stderr"


@pytest.mark.parametrize("flags", [("-n2", "-t1"), ("-N1",), ("-S1",), ("-R0", "-d3"),
                                   ("--log-level=debug",), ("--quiet",), ("-d8", "-s64")])
def test_json_on_stdout_in_many_modes(run, f1, validated, flags):
    files = () if "-N1" in flags else (f1,)
    validated(run("-p0", "-r200ms", "--json=-", *flags, *files).out)


@pytest.mark.parametrize("words", [("-rfoo",), ("-d0",), ("-b5000",), ("--frobnicate",)])
def test_stdout_is_empty_when_nothing_began(run, f1, words):
    result = run("-p0", *words, "--json", "-", f1)
    assert result.rc in (2, 7) and result.out == "", result


@pytest.mark.parametrize("name", ["missing", "folder", "empty"])
def test_stdout_is_empty_without_a_target(run, area, empty, name):
    path = {"missing": area / "gone", "folder": area, "empty": empty}[name]
    result = run("-p0", "-r1", "--json", "-", path)
    assert result.rc in (1, 7) and result.out == "", result


def test_errors_leave_one_document_on_stdout(run, img, validated):
    result = run("-p0", "-r300ms", "--json", "-", img)
    assert result.rc == 8, result
    assert only_run(validated(result.out))["errors"]["count"] > 0


@pytest.mark.parametrize("where", ["no/such/folder/x.json", "."])
def test_place_of_the_document_is_checked_first(run, f1, tmp_path, where):
    path = tmp_path / where
    result = run("-p0", "-r20", "--json", path, f1)
    assert result.rc == 1 and result.seconds < 3, result
    assert str(path) in result.err and "IOPS" not in result.out, result


def test_place_through_a_file(run, f1, tmp_path):
    (tmp_path / "file").write_text("x")
    result = run("-p0", "-r20", "--json", tmp_path / "file/x.json", f1)
    assert result.rc == 1 and result.seconds < 3, result
    assert (tmp_path / "file").read_text() == "x"


@pytest.fixture
def precious(area):
    path = area / "precious"
    path.write_bytes(os.urandom(1 << 20))
    before = path.read_bytes()
    yield path
    assert path.read_bytes() == before, "the target was overwritten by the document"
    path.unlink()


@pytest.mark.parametrize("spelling", ["same", "dotted", "link", "hard link"])
def test_the_document_must_not_replace_a_target(run, precious, area, spelling):
    """It only ever reads from its targets."""
    other = area / f"precious-{spelling.replace(' ', '-')}"
    if spelling == "same":
        other = precious
    elif spelling == "dotted":
        other = f"{area}/./../{area.name}/precious"
    elif spelling == "link":
        other.symlink_to(precious)
    else:
        os.link(precious, other)
    result = run("-p0", "-r200ms", "--json", other, precious)
    if spelling == "hard link" and result.rc == 0:
        return  # replaced by rename: the target itself keeps its bytes, as checked above
    assert result.rc in (1, 2) and "--json" in result.err, result


@pytest.mark.parametrize("flag", ["--json=", "--label=", "--scratch=", "--seed="])
def test_an_empty_value_swallows_no_file(run, precious, f1, flag):
    """--json=$RESULT with RESULT unset must not take the next word, a target, for its value."""
    result = run("-p0", "-r200ms", flag, precious, f1)
    assert result.rc == 2 or flag == "--label=" and result.rc == 0, result
    assert flag.rstrip("=") in result.err or result.rc == 0, result


def test_the_document_is_not_written_onto_a_device(run, f1, precious, attach_loop):
    device = attach_loop(precious)
    result = run("-p0", "-r200ms", "--json", device, f1)
    assert result.rc in (1, 2) and device in result.err, result


def test_no_permission_for_the_document(as_nobody, public):
    folder = public / "closed"
    folder.mkdir(mode=0o500)
    result = as_nobody("-N1", "-r20", "--json", folder / "x.json")
    assert result.rc == 1 and result.seconds < 3, result
    assert "EACCES" in result.err or "ermission" in result.err, result


def test_full_device(run, f1):
    result = run("-p0", "-r200ms", "--json", "/dev/full", f1)
    assert result.rc == 1 and "ENOSPC" in result.err, result


def test_full_disk(run, f1, tiny_file_system):
    (tiny_file_system / "ballast").write_bytes(b"x" * 61440)
    old = tiny_file_system / "x.json"
    result = run("-p0", "-t1", "-n4", "-r300ms", "--json", old, f1)
    assert result.rc == 1 and "ENOSPC" in result.err, result
    assert not old.exists(), "a broken document is worse than none"
    assert [path.name for path in tiny_file_system.iterdir()] == ["ballast"]


def test_an_older_document_survives_a_full_disk(run, f1, tiny_file_system):
    old = tiny_file_system / "x.json"
    old.write_text("{}\n")
    (tiny_file_system / "ballast").write_bytes(b"x" * 57344)
    result = run("-p0", "-t1", "-n4", "-r300ms", "--json", old, f1)
    assert result.rc == 1, result
    assert old.read_text() == "{}\n"


def test_a_document_replaces_the_older_one(measured, f1, tmp_json):
    tmp_json.write_text("x" * 100_000)
    tmp_json.chmod(0o640)
    measured("-p0", "-r200ms", f1)
    assert [path.name for path in tmp_json.parent.iterdir()] == [tmp_json.name]


def test_document_through_a_link(run, f1, tmp_path, validated):
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "link.json").symlink_to("real.json")
    assert run("-p0", "-r200ms", "--json", tmp_path / "link.json", f1).rc == 0
    assert (tmp_path / "link.json").is_symlink()
    validated((tmp_path / "real.json").read_text())


def test_document_into_dev_stdout(run, f1):
    result = run("-p0", "-r200ms", "--quiet", "--json", "/dev/stdout", f1)
    assert result.rc == 0 and '"uringbench.result"' in result.out, result


@pytest.mark.parametrize("words", [("-p0", "-r3"), ("-p0", "-r3", "--json", "-"),
                                   ("-h",), ("run", "-p0", "-r500ms", "--repeats", "3")])
def test_broken_pipe_is_quiet(binary, f1, work, words):
    """head -1 and the like: no message, no crash, and no endless run."""
    read, write = os.pipe()
    process = subprocess.Popen([binary, *words, str(f1)], stdout=write, cwd=work,
                               stderr=subprocess.PIPE, env=in_environment())
    try:
        os.close(write)
        os.close(read)
        _, err = process.communicate(timeout=20)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    assert b"EPIPE" not in err and b"roken pipe" not in err and b"terminate" not in err, err
    assert process.returncode in (-13, 141), process.returncode


def test_closed_stdout(binary, f1, work):
    result = execute(["bash", "-c", 'exec "$0" "$@" >&-', binary, "-p0", "-r300ms", f1],
                     cwd=work)
    assert result.rc in (0, 1) and result.seconds < 5, result


@pytest.mark.parametrize("descriptor", ["0", "1", "2"])
def test_closed_descriptor_is_not_mistaken_for_a_ring(binary, f1, tmp_json, work, descriptor):
    """With 0, 1 or 2 closed, the next open gets that number; text must not go into it."""
    result = execute(["bash", "-c", f'exec "$0" "$@" {descriptor}>&-', binary, "-p0",
                      "-r300ms", "--json", tmp_json, f1], cwd=work)
    assert result.rc in (0, 1), result
    if tmp_json.exists():
        json.loads(tmp_json.read_text())


def test_full_stdout(binary, f1, work):
    with open("/dev/full", "wb") as full:
        result = execute([binary, "-p0", "-r300ms", "--json", "-", f1], stdout=full, cwd=work)
    assert result.rc == 1, result


def test_quiet(run, f1):
    loud, quiet = (run("-r300ms", *words, f1) for words in ((), ("--quiet",)))
    assert quiet.rc == 0 and len(quiet.err) <= len(loud.err), quiet
    assert quiet.err == "", "nothing to warn of but notes and findings"


def test_notes_are_kept_for_those_who_ask(run, f1):
    """Each level holds what the graver ones hold, and no more than it says."""
    errors, warnings, notes = (run("-r200ms", f"--log-level={level}", f1).err
                               for level in ("error", "warn", "info"))
    assert errors == "" and ": info:" not in warnings
    assert len(warnings.splitlines()) <= len(notes.splitlines())


def test_no_colour_in_a_pipe(run, f1):
    for result in (run("-r200ms", f1), run("-rfoo", f1), run("-h")):
        assert "\x1b" not in result.out + result.err


def test_debug_goes_to_stderr(run, f1):
    loud, plain = (run("-p0", "-r200ms", f"--log-level={level}", f1)
                   for level in ("debug", "warn"))
    assert loud.rc == 0 and len(loud.out.splitlines()) == len(plain.out.splitlines())
    assert len(loud.err) >= len(plain.err)


def test_dry_run_touches_nothing(run, f1, tmp_json):
    import pathlib
    result = run("-p0", "--dry-run", "-r60", "--json", tmp_json, "-d8", "-s64", f1)
    assert result.rc == 0 and result.seconds < 3, result
    assert "IOPS=" not in result.out and "8" in result.out
    assert not pathlib.Path(tmp_json).exists()


@pytest.mark.parametrize("words, code", [(("-d0",), 2), (("-b5000",), 7)])
def test_dry_run_refuses_the_same(run, f1, words, code):
    assert run("-p0", "--dry-run", *words, f1).rc in (2, code)


def test_dry_run_of_a_scratch_makes_no_file(run, area):
    folder = area / "dry"
    folder.mkdir()
    result = run("run", "-p0", "--dry-run", "--scratch", f"16M@{folder}")
    assert result.rc == 0 and not list(folder.iterdir()), result
