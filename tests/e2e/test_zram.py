"""A zram device: fast, 4096-byte sectors, no poll queues. One module, as its fixture is costly."""

import re

import pytest

from helpers import MIB, finding_codes, only_run, read_document
from test_invariants import kernel_agrees, littles_law


def test_target_facts(measured, zram):
    target = measured("-p0", "-r200ms", zram)["targets"][0]
    assert target["kind"] == "block" and target["size_bytes"] == 256 * MIB
    assert target["logical_block_bytes"] == 4096 and target["sparse"] is False
    assert target["queue"]["io_poll"] == "0"


@pytest.mark.parametrize("flags", [(), ("-n4",), ("-R0", "-n2"), ("-d5", "-n4"), ("-t1",)])
def test_kernel_counts_the_same(measured, zram, flags):
    kernel_agrees(measured, zram, flags)


@pytest.mark.parametrize("block", ["512", "1024", "5000", "6144"])
@pytest.mark.parametrize("door", [(), ("run",)])
def test_block_size(run, zram, block, door):
    result = run(*door, "-p0", "-r5", f"-b{block}", zram)
    assert result.rc in (2, 7) and result.seconds < 2, result
    assert "multiple of 4096" in result.err, result


@pytest.mark.parametrize("door", [(), ("run",)])
@pytest.mark.parametrize("flags", [(), ("-n2",), ("-d1",)])
def test_polled_is_refused(run, zram, door, flags):
    result = run(*door, "-p1", "-r2", *flags, zram)
    assert result.rc == 7 and result.seconds < 2, result
    assert zram in result.err and "-p0" in result.err and "poll_queues" in result.err, result
    assert "io_poll" in result.err and len(result.err.splitlines()) < 10, result
    assert "IOPS=" not in result.out, result


def test_polled_is_refused_with_an_empty_stdout(run, zram):
    result = run("-p1", "-r2", "--json", "-", zram)
    assert result.rc == 7 and result.out == "", result


def test_default_says_that_it_does_not_poll(run, zram, tmp_json):
    result = run("-r300ms", "--json", tmp_json, zram)
    assert result.rc == 0 and re.search("poll", result.err), result
    document = read_document(tmp_json)
    assert document["cells"][0]["granted"]["polled"] is False
    assert "not-polled" in finding_codes(document)


def test_same_size_however_written(measured, zram):
    assert (measured("-p0", "-r200ms", "-b4k", zram)["cells"][0]["id"]
            == measured("-p0", "-r200ms", "-b4096", zram)["cells"][0]["id"])


def test_deep_and_many(measured, zram):
    for flags in (("-d32768", "-B0"), ("-d1000", "-n4"), ("-d100", "-n3", "-s99", "-c77")):
        run = only_run(measured("-p0", "-r600ms", *flags, zram))
        assert run["ios"] > 0 and run["errors"]["count"] == 0


def test_little_on_a_fast_device(measured, zram):
    for flags in (("-d1",), ("-d16", "-s16", "-c1"), ("-d128",)):
        run = only_run(measured("-p0", "-t1", "-r400ms", *flags, zram))
        littles_law(run, int(flags[0][2:]))


def test_a_device_in_use_is_not_taken_away(start, zram):
    """A reset while running is refused by the kernel as busy, and the run goes on."""
    import pathlib
    base = pathlib.Path("/sys/block") / pathlib.Path(zram).name
    with start("-p0", "-r1", zram) as running:
        assert running.wait_until(lambda: "Engine=" in running.output())
        with pytest.raises(OSError):
            (base / "reset").write_text("1")
        assert running.finish(10).rc == 0


def test_blank_device_is_called_sparse(run, blank_zram, tmp_json):
    result = run("-p0", "-r200ms", "--json", tmp_json, blank_zram)
    assert result.rc == 0, result
    assert read_document(tmp_json)["targets"][0]["sparse"] is True
    assert "sparse-target" in finding_codes(read_document(tmp_json))
