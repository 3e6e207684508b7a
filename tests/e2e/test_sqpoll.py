"""SQPOLL: a kernel thread submits. It is named, accounted for, woken up, and gone afterwards."""

import os
import pathlib
import re
import time

import pytest

import rings
from helpers import MIB, finding_codes, only_run, read_document, runs_of, unavailable
from test_document import consistent
from test_invariants import kernel_agrees, littles_law, served

CPUS = sorted(os.sched_getaffinity(0))
NOT_WITH_SQPOLL = {"COOP_TASKRUN", "DEFER_TASKRUN", "TASKRUN_FLAG"}


def on_cpus(*cpus):
    """A preexec function, like taskset."""
    return lambda: os.sched_setaffinity(0, cpus)


def need_two_cpus():
    if len(CPUS) < 2:
        unavailable("cpus", "needs two CPUs")


def pollers_of(pid):
    """Thread id → the CPUs it may run on, of each SQPOLL thread of the process right now."""
    found = {}
    try:
        for name in os.listdir(f"/proc/{pid}/task"):
            status = pathlib.Path(f"/proc/{pid}/task/{name}/status").read_text()
            if re.search(r"^Name:\s+iou-sqp-", status, re.M):
                found[int(name)] = re.search(r"Cpus_allowed_list:\s+(\S+)", status)[1]
    except OSError:  # the thread or the process ended meanwhile
        pass
    return found


def watch(running):
    """A list of samples of `pollers_of`, taken until the program ends."""
    samples = []
    while running.process.poll() is None:
        samples.append(pollers_of(running.pid))
        time.sleep(0.01)
    return samples


def named_for(thread_ids):
    """Kernel threads anywhere that were made by one of these threads: "iou-sqp-<its id>"."""
    wanted = {f"iou-sqp-{number}" for number in thread_ids}
    found = []
    for place in pathlib.Path("/proc").glob("[0-9]*/task/[0-9]*/comm"):
        try:
            if place.read_text().strip() in wanted:
                found.append(place)
        except OSError:
            continue
    return found


def leaves_nothing(pid, document):
    threads = {thread["tid"] for run in runs_of(document) for thread in run["threads"]}
    end = time.monotonic() + 5
    while named_for(threads | {pid}) and time.monotonic() < end:
        time.sleep(0.05)
    assert not named_for(threads | {pid})


def sane(document, pollers=1, busy=True):
    """What must hold in the document of any SQPOLL run."""
    for run in runs_of(document):  # several batches may go without a system call
        run.pop("ios_per_submit_call", None)
    consistent(document)
    cell = document["cells"][0]
    granted = cell["granted"]
    assert cell["asked"]["sqpoll"] is True
    assert "SQPOLL" in granted["setup_flags"]
    assert not NOT_WITH_SQPOLL & set(granted["setup_flags"])
    assert granted["sqthread_stats"] == "on"
    for run in cell["runs"]:
        assert run["ios"] > 0 and run["iops"] > 0 and run["errors"]["count"] == 0
        assert run["short_reads"] == 0 and run["stalled"] is False
        figures_are_sane(run, pollers, busy)
    return only_run(document) if len(runs_of(document)) == 1 else None


def figures_are_sane(run, pollers, busy):
    figures = run["sqpoll"]
    each = figures.get("pollers", [figures])
    ids = [poller["thread_id"] for poller in each]
    assert len(set(ids)) == len(ids) == pollers and ids[0] == figures["thread_id"]
    assert min(ids) > 0 and not set(ids) & {thread["tid"] for thread in run["threads"]}
    assert all(0 <= poller["cpu"] <= max(CPUS) for poller in each if "cpu" in poller)
    assert 0 <= figures["wakeups"] <= run["syscalls"]
    assert figures.get("cpu_per_io_ns", 0 if busy else 1) > 0
    if "cpu_ns" in figures:
        assert figures["cpu_per_io_ns"] == pytest.approx(figures["cpu_ns"] / run["ios"], rel=0.01)
        assert figures["cpu_ns"] <= pollers * run["elapsed_ns"] * 1.2 + 50e6
    if rings.shows_thread_times():
        assert 0 <= figures["work_us"] <= figures["total_us"] * 1.02 + 1000
        assert figures["total_us"] <= pollers * run["elapsed_ns"] / 1000 * 1.2 + 50e3
        assert "utilisation" in figures or figures["total_us"] == 0 and not busy
    assert 0 <= figures.get("utilisation", 0) <= 1
    if figures.get("total_us"):
        assert figures["utilisation"] == pytest.approx(
            min(1, figures["work_us"] / figures["total_us"]), rel=0.01, abs=0.01)


MODES = {
    "default": (), "one deep": ("-d1",), "idle": ("-d1", "--sqpoll-idle", "1"),
    "kernel's idle time": ("--sqpoll-idle", "0"), "very idle": ("--sqpoll-idle=600000", "-d3"),
    "plain": ("-B0", "-F0"), "all plain": ("-B0", "-F0", "-X0"), "plain files": ("-F0",),
    "timed": ("-t1",), "placed": ("--sqpoll-cpu", str(CPUS[0])), "buffered": ("-O0",),
    "sequential": ("-R0",), "vectored": ("-V1", "-B0"), "restricted": ("-e1",),
    "restricted, plain": ("-e1", "-B0", "-F0"), "odd depth": ("-d5", "-s3", "-c2"),
    "single steps": ("-s1", "-c1"), "small completions": ("-d16", "-s16", "-c1"),
    "no completions waited for": ("-c0",), "more than a batch": ("-d100", "-s7", "-c33"),
    "deep": ("-d4096", "-B0"), "large blocks": ("-d4", "-b1M"), "in so many words": ("-n1",),
    "plain task-run": ("--taskrun", "plain"), "shared with nobody": ("--sqpoll-share",),
}


@pytest.mark.single
@pytest.mark.parametrize("name", MODES)
def test_modes(measured, f1, name):
    flags = MODES[name]
    document = measured("--sqpoll", "-p0", "-r150ms", *flags, f1)
    run = sane(document, busy="-d1" not in flags)
    assert ("latency_ns" in run) == ("-t1" in flags)
    flags_in_force = document["cells"][0]["granted"]["setup_flags"]
    assert ("SQ_AFF" in flags_in_force) == ("--sqpoll-cpu" in flags)
    if "--sqpoll-cpu" in flags:
        assert run["sqpoll"]["cpu"] == CPUS[0]


@pytest.mark.parametrize("flags, threads, pollers", [
    (("-n2",), 2, 2), (("-n2", "--sqpoll-share"), 2, 1), (("-n3", "-d5", "-t1"), 3, 3),
    (("-n3", "-d7", "--sqpoll-share", "-t1"), 3, 1), (("-n2", "-d1", "--sqpoll-idle=1"), 2, 2),
    (("-n2", "-d1", "--sqpoll-idle=1", "--sqpoll-share"), 2, 1),
    (("-n2", "-e1", "--sqpoll-share", "-B0"), 2, 1)])
def test_several_threads(measured, f1, f2, flags, threads, pollers):
    run = sane(measured("--sqpoll", "-p0", "-r250ms", *flags, f1, f2), pollers,
               busy="-d1" not in flags)
    assert len(run["threads"]) == threads
    assert all(thread["ios"] > 0 for thread in run["threads"]), "nobody's requests were lost"


@pytest.mark.parametrize("flags", [(), ("-t1",), ("-n2", "-d5"), ("-B0", "-F0", "-X0"),
                                   ("-d1", "--sqpoll-idle", "1"), ("-s1", "-c1")])
def test_nop(measured, flags):
    sane(measured("--sqpoll", "-N1", "-r150ms", *flags), 2 if "-n2" in flags else 1,
         busy="-d1" not in flags)


def test_repeats_have_a_thread_each(start, f1, tmp_json, validated):
    with start("run", "--sqpoll", "-p0", "-r200ms", "--warmup", "50ms", "--repeats", "3",
               "--json", tmp_json, f1) as running:
        samples = watch(running)
        result = running.finish(20)
    assert result.rc == 0, result
    document = validated(tmp_json.read_text())
    sane(document)
    ids = [run["sqpoll"]["thread_id"] for run in runs_of(document)]
    assert len(set(ids)) == 3
    for earlier, later in zip(ids, ids[1:]):  # it may still be ending when the next one begins
        together = sum(earlier in sample and later in sample for sample in samples)
        assert together <= 5, "the thread of one run is gone before the next is measured"
    leaves_nothing(running.pid, document)


@pytest.mark.parametrize("flags, pollers", [
    ((), 1), (("-n2",), 2), (("-n2", "--sqpoll-share"), 1), (("-N1",), 1)])
def test_thread_is_there_and_then_gone(start, f1, tmp_json, flags, pollers):
    files = () if "-N1" in flags else (f1,)
    cpu = CPUS[-1]
    with start("--sqpoll", "--sqpoll-cpu", str(cpu), "-p0", "-r700ms", *flags, "--json",
               tmp_json, *files) as running:
        samples = watch(running)
        result = running.finish(20)
    assert result.rc == 0, result
    document = read_document(tmp_json)
    figures = only_run(document)["sqpoll"]
    reported = {poller["thread_id"] for poller in figures.get("pollers", [figures])}
    most = max(samples, key=lambda sample: len(reported & set(sample)))
    assert reported == set(most), f"reported {reported}, seen {most}"
    assert len(reported) == pollers
    assert {most[number] for number in reported} == {str(cpu)}, "pinned where it was asked"
    assert figures["cpu"] == cpu
    leaves_nothing(running.pid, document)


@pytest.mark.parametrize("depth, flags", [("16", ()), ("1", ()), ("128", ("-c1",)),
                                          ("5", ("-s3", "-c2")), ("1", ("--sqpoll-idle=1",))])
def test_littles_law(measured, f1, depth, flags):
    # On a starved machine a window may end while all that is out waits for a CPU. Three in a row
    # do not.
    for last in (False, False, True):
        run = only_run(measured("--sqpoll", "-p0", "-t1", "-r400ms", f"-d{depth}", *flags, f1))
        try:
            return littles_law(run, int(depth))
        except AssertionError:
            if last:
                raise


@pytest.mark.parametrize("flags", [(), ("-n2",), ("-n2", "--sqpoll-share"), ("-R0",),
                                   ("-d1", "--sqpoll-idle", "1"), ("-V1", "-B0"),
                                   ("-B0", "-F0", "-s1", "-c1")])
def test_kernel_counts_the_same(measured, loop, flags):
    """Submitted and done are counted without system calls to count by."""
    kernel_agrees(measured, loop, ("--sqpoll", *flags))


@pytest.mark.parametrize("flags", [(), ("-n2",), ("-n2", "--sqpoll-share"), ("-e1",)])
def test_nothing_is_lost_when_the_thread_sleeps(measured, fuse_file, flags):
    """It sleeps after a tick or two, an answer takes 40 ms. (The answer itself wakes it, so that
    the next request may find it awake.)"""
    target = fuse_file(16 * MIB)
    target.delay_us = 40_000
    document = measured("--sqpoll", "--sqpoll-idle", "1", "-d1", "-p0", "-r800ms",
                        "--stall-timeout", "3s", *flags, target.path)
    pollers = 2 if flags == ("-n2",) else 1
    run = sane(document, pollers, busy=False)
    assert run["sqpoll"]["wakeups"] <= run["syscalls"]
    assert run["ios"] <= target.count <= run["ios"] + 20
    assert run["never_completed"] == 0


@pytest.mark.single
def test_a_busy_thread_needs_no_waking(measured, f1):
    run = only_run(measured("--sqpoll", "--sqpoll-idle", "20000", "-p0", "-r300ms", f1))
    assert run["sqpoll"]["wakeups"] <= 2


@pytest.mark.single
def test_every_block_is_asked_for(measured, fuse_file):
    reads, run = served(measured, fuse_file, 5 * 4096, "--sqpoll", "-R0", "-d3")
    assert {offset for offset, _ in reads} == {index * 4096 for index in range(5)}
    assert "sqpoll" in run


@pytest.mark.single
def test_switched_off_is_as_not_given(measured, f1):
    plain, off = (measured("-p0", "-r150ms", *flags, f1) for flags in ((), ("--sqpoll=0",)))
    for document in (plain, off):
        assert document["cells"][0]["asked"]["sqpoll"] is False
        assert "sqpoll" not in only_run(document)
        assert "SQPOLL" not in document["cells"][0]["granted"]["setup_flags"]
    assert plain["cells"][0]["id"] == off["cells"][0]["id"]
    assert plain["cells"][0]["granted"] == off["cells"][0]["granted"]


@pytest.mark.single
def test_it_takes_no_word_for_its_value(measured, f1):
    for words in (("--sqpoll", f1), ("--sqpoll=1", f1), (f1, "--sqpoll")):
        assert "sqpoll" in only_run(measured("-p0", "-r150ms", *words))


@pytest.mark.single
def test_settings_are_told_apart(measured, f1):
    """Another idle time or another CPU is another experiment."""
    seen = {}
    for flags in ((), ("--sqpoll",), ("--sqpoll", "--sqpoll-idle=1"),
                  ("--sqpoll", "--sqpoll-idle=1000"), ("--sqpoll", "-n2"),
                  ("--sqpoll", "-n2", "--sqpoll-share"),
                  *[("--sqpoll", f"--sqpoll-cpu={cpu}") for cpu in CPUS[:2]]):
        cell_id = measured("-p0", "-r120ms", *flags, f1)["cells"][0]["id"]
        assert cell_id not in seen, f"{flags} and {seen[cell_id]} share {cell_id}"
        seen[cell_id] = flags


def rows_of(summary):
    """Rows of our summary, continuation lines joined."""
    return re.sub(r"\n {14,}", " ", summary).splitlines()


@pytest.mark.single
@pytest.mark.parametrize("door", [(), ("run", "--repeats", "2", "--warmup", "0")])
def test_summary_tells_of_the_thread(run, f1, door):
    result = run(*door, "--sqpoll", "-p0", "-r300ms", f1)
    assert result.rc == 0, result
    rows = [row for row in rows_of(result.out) if re.search("SQPOLL|poller", row)]
    assert any("/IO" in row for row in rows), f"its CPU time per I/O:\n{result}"
    if rings.shows_thread_times():
        assert any(re.search(r"\d ?%", row) for row in rows), f"its utilisation:\n{result}"


# --- where it runs ---------------------------------------------------------------------------

def names_the_allowed(text, cpus):
    lists = {", ".join(map(str, cpus)), ",".join(map(str, cpus)), " and ".join(map(str, cpus)),
             f"{cpus[0]}-{cpus[-1]}"}
    return any(re.search(rf"(?<![\d-]){re.escape(one)}(?![\d-])", text) for one in lists)


@pytest.mark.single
@pytest.mark.parametrize("cpu", ["9999", "1024", "65536", "2147483648"])
def test_cpu_that_is_not_there(run, f1, cpu):
    result = run("--sqpoll", "-p0", "-r200ms", "--sqpoll-cpu", cpu, f1)
    assert result.rc in (2, 7) and result.out == "", result
    assert "--sqpoll-cpu" in result.err and cpu in result.err, result
    assert result.rc == 2 or names_the_allowed(result.err.replace(cpu, ""), CPUS), result
    assert "EINVAL" not in result.err, f"found before the kernel was asked:\n{result}"


@pytest.mark.single
@pytest.mark.parametrize("flags", [(), ("-n2",), ("--dry-run",), ("-N1",)])
def test_cpu_outside_the_mask(run, f1, flags):
    other = CPUS[-1] if len(CPUS) > 1 else CPUS[0] + 1
    files = () if "-N1" in flags else (f1,)
    result = run("--sqpoll", "-p0", "-r200ms", "--sqpoll-cpu", str(other), *flags, *files,
                 preexec=on_cpus(CPUS[0]))
    assert result.rc == 7 and "IOPS=" not in result.out, result
    assert "--sqpoll-cpu" in result.err and str(other) in result.err, result
    assert re.search(rf"\b{CPUS[0]}\b", result.err), f"the allowed CPU is named:\n{result}"


@pytest.mark.single
@pytest.mark.parametrize("flags, mask", [
    ((), CPUS[:1]), (("--cpus", str(CPUS[0]), "--sqpoll-cpu", str(CPUS[0])), CPUS),
    (("--sqpoll-cpu", str(CPUS[0])), CPUS[:1])])
def test_sharing_a_cpu_is_warned_of(run, f1, tmp_json, flags, mask):
    result = run("--sqpoll", "-p0", "-r300ms", *flags, "--json", tmp_json, f1,
                 preexec=on_cpus(*mask))
    assert result.rc == 0, result
    assert re.search("warning:.*(SQPOLL|sqpoll|poller)", result.err), result
    document = read_document(tmp_json)
    assert "sqpoll-shares-cpu" in finding_codes(document)
    assert only_run(document)["ios"] > 0


def test_a_poller_confined_with_its_submitter_is_warned_of(start, f1, tmp_json):
    """It inherits the CPUs of the thread that makes the ring: pinning one may pin both."""
    with start("--sqpoll", "-p0", "-r500ms", "--cpus", str(CPUS[0]), "--json", tmp_json,
               f1) as running:
        samples = watch(running)
        assert running.finish(20).rc == 0
    document = read_document(tmp_json)
    places = {place for sample in samples for place in sample.values()}
    assert places, "the thread was seen"
    if str(CPUS[0]) in places:
        assert "sqpoll-shares-cpu" in finding_codes(document)


@pytest.mark.single
def test_a_cpu_each_is_not_warned_of(measured, f1):
    need_two_cpus()
    document = measured("--sqpoll", "-p0", "-r200ms", "--cpus", str(CPUS[0]), "--sqpoll-cpu",
                        str(CPUS[1]), f1)
    assert "sqpoll-shares-cpu" not in finding_codes(document)
    assert only_run(document)["sqpoll"]["cpu"] == CPUS[1]
    assert only_run(document)["threads"][0]["cpu"] == CPUS[0]
