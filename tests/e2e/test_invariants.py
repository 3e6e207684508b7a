"""Truths that need no other tool: Little's law, the kernel's own counters, offsets as served."""

import pathlib

import pytest

from helpers import MIB, only_run

pytestmark = pytest.mark.single

BATCHES = [("16", "16", "1"), ("16", "16", "16"), ("16", "1", "1"), ("16", "1", "16"),
           ("128", "32", "1"), ("128", "32", "32"), ("1", "1", "1"), ("5", "3", "2"),
           ("100", "7", "33"), ("64", "64", "64"), ("33", "32", "1")]


@pytest.mark.parametrize("depth, submit, complete", BATCHES)
def test_littles_law(measured, f1, depth, submit, complete):
    run = only_run(measured("-p0", "-t1", "-r400ms", f"-d{depth}", f"-s{submit}",
                            f"-c{complete}", f1))
    littles_law(run, int(depth))


def mean_in_flight(run):
    """Little's law: what the latencies say was in flight, and how far it may be off because the
    window cuts through requests: at most `depth` of a thread, each by at most its own latency."""
    law = run["latency_ns"]["mean"] * 1e-9 * run["iops"]
    cut = len(run["threads"]) * run["inflight_max"] * run["latency_ns"]["max"] / run["elapsed_ns"]
    return law, cut


def littles_law(run, depth):
    law, cut = mean_in_flight(run)
    assert law == pytest.approx(run["inflight_mean"], abs=0.1 * run["inflight_mean"] + 0.1 + cut)
    assert run["inflight_mean"] <= depth + 1e-6
    assert run["inflight_max"] <= depth
    assert law <= depth * 1.02 + cut


def test_latency_keeps_up_with_small_completion_batches(measured, f1):
    """Depth 16 in flight all the time: the mean must follow, whatever the batches are."""
    for complete in ("1", "16"):
        run = only_run(measured("-p0", "-t1", "-r500ms", "-d16", "-s16", f"-c{complete}", f1))
        law, cut = mean_in_flight(run)
        assert 8 - cut < law <= 16.4 + cut


def test_littles_law_of_a_slow_target(measured, fuse_file):
    """The clock is right in absolute terms: the server takes 2 ms for each read."""
    target = fuse_file(16 * MIB)
    target.delay_us = 2000
    run = only_run(measured("-p0", "-t1", "-r1", "-d1", target.path))
    littles_law(run, 1)
    assert 2.0e6 <= run["latency_ns"]["min"] < 4.0e6
    assert run["iops"] < 500


@pytest.mark.parametrize("flags", [("-S1",), ("-d1",), ("-n2", "-d4")])
def test_littles_law_elsewhere(measured, f1, flags):
    run = only_run(measured("-p0", "-t1", "-r400ms", *flags, f1))
    threads = len(run["threads"])
    law, cut = mean_in_flight(run)
    assert law == pytest.approx(run["inflight_mean"], abs=0.12 * run["inflight_mean"] + 0.1 + cut)
    assert law <= {1: 1, 2: 4}[threads] * threads * 1.02 + cut


def counters(device):
    fields = pathlib.Path(f"/sys/block/{pathlib.Path(device).name}/stat").read_text().split()
    return int(fields[0]) + int(fields[1]), int(fields[2])  # reads incl. merged, sectors


def kernel_agrees(measured, device, flags, block=4096):
    before = counters(device)
    document = measured("-p0", "-r500ms", "--warmup", "0", *flags, device)
    after = counters(device)
    run = only_run(document)
    asked = document["cells"][0]["asked"]
    allowance = asked["depth"] * len(run["threads"]) * 2 + 200
    reads, sectors = after[0] - before[0], after[1] - before[1]
    assert abs(reads - run["ios"]) <= 0.02 * run["ios"] + allowance
    expected = run["ios"] * block / 512
    assert abs(sectors - expected) <= 0.02 * expected + allowance * block / 512


@pytest.mark.parametrize("flags", [(), ("-n4",), ("-R0",), ("-d3", "-n3"), ("-S1",),
                                   ("-V1", "-B0"), ("-s1", "-c1")])
def test_kernel_counts_the_same_on_a_loop(measured, loop, flags):
    kernel_agrees(measured, loop, flags)


def test_kernel_counts_the_same_sectors(measured, loop):
    kernel_agrees(measured, loop, ("-b16k", "-d8"), 16384)


def test_warm_up_is_what_the_kernel_saw_besides(measured, loop):
    before = counters(loop)
    run = only_run(measured("-p0", "-r400ms", "--warmup", "400ms", "-d16", loop))
    reads = counters(loop)[0] - before[0]
    assert reads > run["ios"] * 1.2, "the warm-up reads too"


# --- offsets, seen by the file system that serves them ---------------------------------------

def served(measured, fuse_file, size, *flags, seconds="300ms"):
    target = fuse_file(size)
    run = only_run(measured("-p0", f"-r{seconds}", *flags, target.path))
    reads = target.reads
    assert reads and run["errors"]["count"] == 0
    if target.count == len(reads):
        depth = 128
        assert run["ios"] <= target.count <= run["ios"] + 2 * depth + 16
    return reads, run


@pytest.mark.parametrize("size, expected", [
    (4096, {0}), (8192, {0, 4096}), (10000, {0, 4096}), (3 * 4096, {0, 4096, 8192}),
    (4096 * 5 + 4095, {0, 4096, 8192, 12288, 16384})])
@pytest.mark.parametrize("order", ["-R0", "-R1"])
def test_every_whole_block_and_no_other(measured, fuse_file, size, expected, order):
    reads, _ = served(measured, fuse_file, size, order, "-d4")
    assert {offset for offset, _ in reads} == expected
    assert {length for _, length in reads} == {4096}


def test_random_offsets_cover_the_target_evenly(measured, fuse_file):
    blocks = 64
    reads, _ = served(measured, fuse_file, blocks * 4096, "-d8", seconds="700ms")
    counts = [0] * blocks
    for offset, _ in reads:
        assert offset % 4096 == 0
        counts[offset // 4096] += 1
    mean = len(reads) / blocks
    # Chi-square over 63 degrees of freedom: 125 has a probability of about 5e-6.
    assert sum((count - mean) ** 2 / mean for count in counts) < 125
    neighbours = sum(b[0] - a[0] == 4096 for a, b in zip(reads, reads[1:]))
    assert neighbours < len(reads) * 0.1, "random is not sequential"


def test_sequential_offsets_in_order(measured, fuse_file):
    reads, _ = served(measured, fuse_file, 32 * 4096, "-R0", "-d1")
    offsets = [offset for offset, _ in reads]
    if offsets[:2] == [0, 0]:
        del offsets[0]  # the program's own trial read, before the run
    assert offsets[:64] == [index % 32 * 4096 for index in range(64)]


def test_same_seed_same_offsets(measured, fuse_file):
    series = []
    for seed in ("7", "7", "8"):
        reads, _ = served(measured, fuse_file, 64 * MIB, "-d1", "--seed", seed)
        series.append([offset for offset, _ in reads[:500]])
    length = min(map(len, series))
    assert length > 100
    assert series[0][:length] == series[1][:length]
    assert series[0][:length] != series[2][:length]


def test_threads_do_not_read_the_same_series(measured, fuse_file):
    reads, run = served(measured, fuse_file, 64 * MIB, "-d1", "-n2", "--seed", "7")
    offsets = [offset for offset, _ in reads[:2000]]
    assert len(run["threads"]) == 2 and len(offsets) == 2000
    # 2000 draws out of 16384 blocks: about 1883 differ; two equal series give at most 1000.
    assert len(set(offsets)) > 1600


def test_large_block_stays_inside(measured, fuse_file):
    size = 10 * 65536 + 4096
    reads, _ = served(measured, fuse_file, size, "-b64k", "-d2")
    # The kernel may cut a read into pieces; none may reach past the last whole block.
    assert max(offset + length for offset, length in reads) == 10 * 65536


# --- the tool's own ceiling ------------------------------------------------------------------

@pytest.mark.speed
def test_timing_costs_little(measured):
    def best(*flags):
        return max(only_run(measured("-N1", "-r400ms", *flags))["iops"] for _ in range(3))
    assert best("-t1") > best() * 0.5  # a generous bound: the machine may be shared


@pytest.mark.parametrize("wrong", ["1", "1000000", "99999999999"])
def test_tsc_rate_must_agree(run, f1, wrong):
    result = run("-p0", "-t1", "-r200ms", "-T", wrong, f1)
    assert result.rc in (2, 7) and "--tsc-rate" in result.err, result


def test_tsc_rate_near_the_calibration(run, f1):
    import re
    told = run("-p0", "-t1", "-r200ms", "-T1", f1)
    assert told.rc in (2, 7), told
    rates = [int(text) for text in re.findall(r"\b(\d{8,11})\b", told.err)]
    assert rates, f"the refusal names the calibrated rate:\n{told}"
    good = run("-p0", "-t1", "-r200ms", f"-T{rates[-1]}", f1)
    assert good.rc == 0, good
    near = run("-p0", "-t1", "-r200ms", f"-T{int(rates[-1] * 1.003)}", f1)
    assert near.rc == 0, near
    far = run("-p0", "-t1", "-r200ms", f"-T{int(rates[-1] * 1.03)}", f1)
    assert far.rc in (2, 7), far
