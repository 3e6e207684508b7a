"""What can be read and what cannot, each with its own words, at once."""

import os
import pathlib
import re
import socket

import pytest

from helpers import MIB, complaint_lines, finding_codes, only_run, read_document, unavailable

pytestmark = pytest.mark.single


def refused_at_once(result, path, codes=(7,)):
    assert result.rc in codes, result
    assert result.seconds < 1.0 or os.environ.get("URINGBENCH_SANITIZE"), result
    assert str(path) in result.err, f"the target is not named:\n{result}"
    assert complaint_lines(result) and len(result.err.splitlines()) < 12, result
    assert "IOPS" not in result.out, result


def test_missing(run, area):
    result = run("-p0", "-r5", area / "not-there")
    refused_at_once(result, area / "not-there", (1, 7))
    assert "ENOENT" in result.err or "No such file" in result.err, result


def test_empty_file(run, empty):
    result = run("-p0", "-r5", empty)
    refused_at_once(result, empty)
    assert "empty" in result.err, result


def test_folder(run, area):
    result = run("-p0", "-r5", area)
    refused_at_once(result, area)
    assert re.search("director|folder", result.err), result


@pytest.mark.parametrize("direct", ["0", "1"])
def test_fifo_does_not_block(run, tmp_path, direct):
    os.mkfifo(tmp_path / "fifo")
    result = run("-p0", "-r5", f"-O{direct}", tmp_path / "fifo")
    refused_at_once(result, tmp_path / "fifo")
    assert re.search("fifo|pipe", result.err, re.I), result


def test_socket(run, tmp_path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        result = run("-p0", "-r5", tmp_path / "socket")
    refused_at_once(result, tmp_path / "socket")


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_character_device(run, path):
    result = run("-p0", "-r5", path)
    refused_at_once(result, path)
    assert "character device" in result.err, result


@pytest.mark.parametrize("size, block", [(4095, "4096"), (512, "4096"), (8192, "64k"), (1, "4k")])
@pytest.mark.parametrize("direct", ["0", "1"])
def test_smaller_than_a_block(run, area, size, block, direct):
    path = area / "small"
    path.write_bytes(b"x" * size)
    result = run("-p0", "-r5", f"-O{direct}", f"-b{block}", path)
    refused_at_once(result, path)
    assert str(size) in result.err or "small" in result.err.replace(str(path), ""), result


def test_one_good_one_bad(run, f1, area):
    result = run("-p0", "-r5", f1, area / "gone")
    refused_at_once(result, area / "gone", (1, 7))


def test_both_bad_are_both_named(run, empty, area):
    result = run("-p0", "-r5", empty, area / "gone")
    assert result.rc in (1, 7) and (str(empty) in result.err or str(area / "gone") in result.err)


@pytest.mark.parametrize("door", [(), ("run", "--repeats", "1", "--warmup", "0")])
def test_exactly_one_block(measured, one, door):
    run = only_run(measured(*door, "-p0", "-r300ms", one))
    assert run["ios"] > 0 and run["errors"]["count"] == 0


def test_block_of_the_whole_file(measured, f1):
    run = only_run(measured("-p0", "-r500ms", "-d2", "-b67108864", f1))
    assert run["ios"] > 0 and run["short_reads"] == 0


def test_partial_tail_is_said(run, odd, tmp_json):
    result = run("-p0", "-r300ms", "--json", tmp_json, odd)
    assert result.rc == 0, result
    document = read_document(tmp_json)
    assert only_run(document)["short_reads"] == 0, "the tail is never read"
    assert "partial-tail" in finding_codes(document) or "tail" in result.err, result
    assert document["targets"][0]["size_bytes"] == 10000


def test_sparse_file(run, sparse, tmp_json):
    result = run("-p0", "-r300ms", "--json", tmp_json, sparse)
    assert result.rc == 0 and re.search("sparse|hole", result.err), result
    document = read_document(tmp_json)
    assert document["targets"][0]["sparse"] is True
    assert "sparse-target" in finding_codes(document)


def test_partly_sparse_file(run, area, tmp_json):
    path = area / "half"
    with open(path, "wb") as file:
        file.write(os.urandom(4 * MIB))
        file.truncate(8 * MIB)
    assert run("-p0", "-r200ms", "--json", tmp_json, path).rc == 0
    assert read_document(tmp_json)["targets"][0]["sparse"] is True


def test_unwritten_extents(run, area, tmp_json):
    path = area / "unwritten"
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 8 * MIB)
    if os.stat(path).st_blocks * 512 < 8 * MIB:
        pytest.fail("this file system does not allocate")
    assert run("-p0", "-r200ms", "--json", tmp_json, path).rc == 0
    assert read_document(tmp_json)["targets"][0]["sparse"] is True
    path.unlink()


def test_dense_file_is_not_called_sparse(measured, f1):
    document = measured("-p0", "-r200ms", f1)
    assert document["targets"][0]["sparse"] is False
    assert "sparse-target" not in finding_codes(document)


def test_buffered_reads_are_flagged(run, f1, tmp_json):
    result = run("-p0", "-O0", "-r200ms", "--json", tmp_json, f1)
    assert result.rc == 0 and "cache" in result.err, result
    assert "page-cache" in finding_codes(read_document(tmp_json))


def test_symbolic_link(measured, f1, tmp_path):
    (tmp_path / "link").symlink_to(f1)
    (tmp_path / "second").symlink_to(tmp_path / "link")
    target = measured("-p0", "-r200ms", tmp_path / "second")["targets"][0]
    assert target["path"] == str(tmp_path / "second")
    assert target["resolved_path"] == str(f1.resolve())


def test_link_to_nowhere(run, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    refused_at_once(run("-p0", "-r5", tmp_path / "link"), tmp_path / "link", (1, 7))


@pytest.mark.parametrize("name", ["with blank", "ünï", "-d8", "a,b", "new\nline", "100%d{}"])
def test_awkward_names(measured, area, name):
    path = area / name
    path.write_bytes(os.urandom(65536))
    document = measured("-p0", "-r200ms", "--", str(path))
    assert document["targets"][0]["path"] == str(path)


def test_name_that_is_no_text(run, area, tmp_json, validated):
    path = os.fsencode(area) + b"/b\xff\xfe"
    with open(path, "wb") as file:
        file.write(os.urandom(65536))
    result = run("-p0", "-r200ms", "--json", tmp_json, os.fsdecode(path))
    assert result.rc == 0, result
    validated(tmp_json.read_text())


def test_many_targets(measured, area):
    paths = []
    for number in range(40):
        paths.append(area / f"many{number}")
        paths[-1].write_bytes(os.urandom(65536))
    document = measured("-p0", "-r300ms", "-n3", *paths)
    assert len(document["targets"]) == 40
    seen = {index for thread in only_run(document)["threads"] for index in thread["targets"]}
    assert seen == set(range(40))


def test_same_target_twice(measured, f1):
    assert only_run(measured("-p0", "-r200ms", f1, f1))["ios"] > 0


# --- block devices ---------------------------------------------------------------------------

def test_healthy_loop(measured, loop):
    document = measured("-p0", "-r300ms", loop)
    target = document["targets"][0]
    assert target["kind"] == "block" and target["size_bytes"] == 32 * MIB
    assert target["logical_block_bytes"] == 512
    assert target["device"]["name"] == pathlib.Path(loop).name
    assert "scheduler" in target["queue"] and "iostats" in target["queue"]
    assert only_run(document)["errors"]["count"] == 0


def test_read_only_loop(measured, f2, attach_loop):
    assert only_run(measured("-p0", "-r300ms", attach_loop(f2, "-r")))["ios"] > 0


def test_link_to_a_device(measured, loop, tmp_path):
    (tmp_path / "by-id").symlink_to(loop)
    target = measured("-p0", "-r200ms", tmp_path / "by-id")["targets"][0]
    assert target["kind"] == "block" and target["resolved_path"] == loop


def test_empty_loop(run, area, attach_loop):
    path = area / "nothing"
    path.write_bytes(b"")
    device = attach_loop(path)
    refused_at_once(run("-p0", "-r5", device), device)


@pytest.mark.parametrize("block, need", [("1000", "512"), ("5000", "512"), ("4097", "512")])
def test_block_size_of_a_loop(run, loop, block, need):
    result = run("-p0", "-r5", f"-b{block}", loop)
    assert result.rc in (2, 7) and need in result.err and "multiple" in result.err, result


def test_block_size_is_free_when_buffered(measured, f1):
    run = only_run(measured("-p0", "-O0", "-r200ms", "-b3000", f1))
    assert run["bytes_per_second"] == pytest.approx(run["iops"] * 3000, rel=1e-3)


@pytest.mark.parametrize("block", ["5000", "100", "4095"])
def test_block_size_of_a_file(run, f1, block):
    result = run("-p0", "-r5", f"-b{block}", f1)
    assert result.rc in (2, 7) and "multiple" in result.err, result


@pytest.mark.parametrize("door", [(), ("run",)])
def test_polled_on_what_cannot_poll(run, loop, f1, door):
    for target in (loop, f1):
        queue = pathlib.Path(f"/sys/class/block/{pathlib.Path(loop).name}/queue/io_poll")
        if target == loop and queue.read_text().strip() != "0":
            unavailable("device-refused", "this loop device polls")
        result = run(*door, "-p1", "-r2", target)
        if target == f1 and result.rc == 0:
            continue  # a file on a drive with poll queues
        refused_at_once(result, target)
        assert "-p0" in result.err and "poll_queues" in result.err, result
        assert len(result.err.splitlines()) < 10, result


def test_polled_needs_direct(run, f1):
    result = run("-p1", "-O0", "-r2", f1)
    assert result.rc in (2, 7) and result.seconds < 2, result
    assert "-O" in result.err or "direct" in result.err, result


def test_memory_file_system(run, tmp_path, tiny_file_system):
    path = tiny_file_system / "file"
    path.write_bytes(os.urandom(16384))
    result = run("-p0", "-r300ms", "-O0", path)
    assert result.rc == 0, result
    result = run("-p0", "-r300ms", path)
    assert result.rc in (0, 7), result
    if result.rc == 7:
        assert "-O0" in result.err, f"the cure is named:\n{result}"
