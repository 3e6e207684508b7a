"""--scratch: a dense file that the program makes, measures and always takes away."""

import os
import re

import pytest

from helpers import MIB, complaint_lines, finding_codes, read_document, unavailable

pytestmark = pytest.mark.single


@pytest.fixture
def folder(area, request):
    path = area / re.sub(r"\W", "_", request.node.name)
    path.mkdir()
    return path


@pytest.mark.parametrize("door", [(), ("run", "--repeats", "2", "--warmup", "0")])
@pytest.mark.parametrize("size", ["16M", "4096", "64k", "16777216", "1MiB"])
def test_made_measured_removed(measured, folder, door, size):
    document = measured(*door, "-p0", "-r200ms", "--scratch", f"{size}@{folder}")
    assert not list(folder.iterdir())
    target = document["targets"][0]
    assert target["kind"] == "file" and target["sparse"] is False
    assert document["cells"][0]["runs"][0]["ios"] > 0
    assert "sparse-target" not in finding_codes(document)


def test_current_folder_is_the_default(run, folder, tmp_json):
    result = run("-p0", "-r200ms", "--scratch", "8M", "--json", tmp_json, cwd=folder)
    assert result.rc == 0 and not list(folder.iterdir()), result
    assert read_document(tmp_json)["targets"][0]["size_bytes"] == 8 * MIB


def test_with_threads(measured, folder):
    run = measured("-p0", "-r300ms", "-n3", "--scratch", f"8M@{folder}")["cells"][0]["runs"][0]
    assert all(thread["ios"] > 0 for thread in run["threads"])


def test_no_such_folder(run, area):
    result = run("-p0", "-r1", "--scratch", f"8M@{area}/nowhere")
    assert result.rc in (1, 7) and f"{area}/nowhere" in result.err, result
    assert complaint_lines(result)


def test_not_a_folder(run, f1):
    result = run("-p0", "-r1", "--scratch", f"8M@{f1}")
    assert result.rc in (1, 7) and str(f1) in result.err, result


def test_no_room(run, area):
    result = run("-p0", "-r1", "--scratch", f"900T@{area}")
    assert result.rc in (1, 2, 7) and result.seconds < 2, result
    assert re.search("space|room|free", result.err), result


def test_no_room_on_a_tiny_disk(run, tiny_file_system):
    result = run("-p0", "-O0", "-r1", "--scratch", f"8M@{tiny_file_system}")
    assert result.rc in (1, 7) and not list(tiny_file_system.iterdir()), result


def test_smaller_than_a_block(run, folder):
    result = run("-p0", "-r1", "--scratch", f"4096@{folder}", "-b8k")
    assert result.rc in (2, 7) and not list(folder.iterdir()), result


def test_scratch_and_a_file(run, f1, folder, tmp_json):
    """Both together: either refused or both measured, never one of them silently dropped."""
    result = run("-p0", "-r200ms", "--scratch", f"8M@{folder}", "--json", tmp_json, f1)
    if result.rc == 0:
        assert len(read_document(tmp_json)["targets"]) == 2
    else:
        assert result.rc == 2 and "--scratch" in result.err, result
    assert not list(folder.iterdir())


def test_no_permission(as_nobody, public):
    if os.geteuid() != 0:
        unavailable("root", "needs another user")
    result = as_nobody("-p0", "-r1", "--scratch", f"8M@{public}")
    assert result.rc in (1, 7) and "EACCES" in result.err, result


def test_memory_file_system(run, tiny_file_system):
    result = run("-p0", "-O0", "-r200ms", "--scratch", f"16k@{tiny_file_system}")
    assert result.rc == 0 and not list(tiny_file_system.iterdir()), result


def test_folder_name_with_an_at_sign(measured, area):
    path = area / "a@b"
    path.mkdir()
    assert measured("-p0", "-r200ms", "--scratch", f"1M@{path}")["cells"][0]["runs"][0]["ios"] > 0
