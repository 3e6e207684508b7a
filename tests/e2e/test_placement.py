"""Where threads and memory go: --cpus local-core and local-node, -n auto, -P, and -H refused."""

import hashlib
import os
import pathlib
import re

import pytest

from helpers import MIB, only_run, read_document, unavailable
from test_arguments import names, refused
from test_document import consistent
from test_sqpoll import CPUS, on_cpus


def placed(document):
    """The CPU of each thread, in order."""
    consistent(document)
    return [thread.get("cpu") for thread in only_run(document)["threads"]]


def cpu_list(text):
    cpus = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus |= set(range(int(first), int(last or first) + 1))
    return cpus


def local_to(document):
    """The CPUs near the first target by its own account; empty when that is not known."""
    device = document["targets"][0].get("device", {})
    return cpu_list(device["local_cpus"]) if device.get("local_cpus") else set()


def siblings_of(cpu):
    path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
    try:
        return cpu_list(pathlib.Path(path).read_text())
    except OSError:
        return {cpu}


# --- --cpus ----------------------------------------------------------------------------------

@pytest.mark.parametrize("place", ["local-core", "local-node"])
@pytest.mark.parametrize("flags", [(), ("-n3", "-d5"), ("--sqpoll",), ("-S1",), ("-t1",)])
def test_places(run, f1, tmp_json, place, flags):
    result = run("--cpus", place, "-p0", "-r120ms", *flags, "--json", tmp_json, f1)
    assert result.rc == 0, result
    document = read_document(tmp_json)
    if "--sqpoll" in flags:
        only_run(document).pop("ios_per_submit_call", None)
    cpus = placed(document)
    near = (local_to(document) & set(CPUS)) or set(CPUS)
    assert set(document["cells"][0]["granted"]["cpus"]) == set(cpus)
    assert set(cpus) <= near, f"pinned to {cpus}, near and allowed are {near}"
    if place == "local-core":
        core = siblings_of(min(near)) & set(CPUS)
        assert set(cpus) <= core, "siblings of the first core"
        assert cpus == [sorted(core)[index % len(core)] for index in range(len(cpus))]
    if not local_to(document):
        said = [line for line in result.err.splitlines() if place in line or "--cpus" in line]
        assert said, f"where the device is is not known, and that is said:\n{result}"


@pytest.mark.single
@pytest.mark.parametrize("place", ["local-core", "local-node"])
def test_the_kernel_agrees(start, f1, tmp_json, place):
    with start("--cpus", place, "-p0", "-r1", "--json", tmp_json, f1) as running:
        assert running.wait_until(lambda: "Engine=" in running.output())
        tid = re.search(r"tid=(\d+)", running.output())[1]
        status = pathlib.Path(f"/proc/{running.pid}/task/{tid}/status").read_text()
        assert running.finish(10).rc == 0
    assert re.search(r"Cpus_allowed_list:\s+(\S+)", status)[1] == str(
        placed(read_document(tmp_json))[0])


@pytest.mark.parametrize("place", ["local-core", "local-node"])
@pytest.mark.parametrize("cpu", CPUS[-2:])
@pytest.mark.parametrize("flags", [(), ("-n", "auto")])
def test_inside_the_mask(measured, f1, place, cpu, flags):
    """The process's own affinity is the outer limit, wherever the device is."""
    document = measured("--cpus", place, "-p0", "-r150ms", *flags, f1, preexec=on_cpus(cpu))
    assert placed(document) == [cpu]


@pytest.mark.single
def test_places_are_told_apart(measured, f1):
    anywhere, pinned = (measured("-p0", "-r120ms", *flags, f1)["cells"][0]["id"]
                        for flags in ((), ("--cpus", "local-core")))
    assert anywhere != pinned


def test_place_of_a_device(measured, loop):
    assert set(placed(measured("--cpus", "local-node", "-p0", "-r150ms", loop))) <= set(CPUS)


@pytest.mark.single
@pytest.mark.parametrize("value", ["local", "local-cores", "local-core,1", "local_core", "node",
                                   "LOCAL-CORE", "local-core,local-node", "0,local-core"])
def test_other_places(run, f1, value):
    result = run("-p0", "-r120ms", f"--cpus={value}", f1)
    refused(result)
    names(result, "--cpus")


# --- -n auto ---------------------------------------------------------------------------------

def threads_of(document):
    return len(only_run(document)["threads"])


@pytest.mark.parametrize("form", [("-n", "auto"), ("-nauto",), ("--threads=auto",),
                                  ("--threads", "auto")])
def test_a_thread_for_each_target(measured, f1, f2, form):
    document = measured(*form, "-p0", "-r120ms", "-d8", f1, f2)
    consistent(document)
    assert [thread["targets"] for thread in only_run(document)["threads"]] == [[0], [1]]


@pytest.mark.parametrize("flags, files, threads", [
    ((), 1, 1), ((), 3, 3), (("--cpus", str(CPUS[0])), 1, 1), (("--cpus", str(CPUS[0])), 3, 3),
    (("-S1",), 2, 2), (("-a1",), 2, 2), (("--sqpoll",), 2, 2)])
def test_as_many_as_targets(measured, f1, f2, one, flags, files, threads):
    document = measured("-n", "auto", "-p0", "-r120ms", *flags, *[f1, f2, one][:files])
    assert threads_of(document) == threads


@pytest.mark.parametrize("files", [1, 2, 3])
def test_as_many_as_cpus(measured, f1, f2, one, files):
    cpus = CPUS[:2]
    if len(cpus) < 2:
        unavailable("cpus", "needs two CPUs")
    document = measured("-n", "auto", "--cpus", ",".join(map(str, cpus)), "-p0", "-r120ms",
                        *[f1, f2, one][:files])
    assert threads_of(document) == max(2, files), "whichever is more"
    assert placed(document) == [cpus[index % 2] for index in range(max(2, files))]


def test_as_many_as_near_cpus(measured, f1):
    document = measured("-n", "auto", "--cpus", "local-node", "-p0", "-r120ms", f1)
    near = sorted(local_to(document) & set(CPUS)) or CPUS
    assert placed(document) == near


def test_auto_without_a_target(measured):
    assert threads_of(measured("-n", "auto", "-N1", "-r150ms")) == 1


def test_auto_is_the_same_experiment_as_the_number(measured, f1, f2):
    auto, number = (measured(flag, "-p0", "-r120ms", f1, f2)["cells"][0]["id"]
                    for flag in ("-nauto", "-n2"))
    assert auto == number


@pytest.mark.single
@pytest.mark.parametrize("value", ["autox", "Auto", "auto,2", "aut", "auto1"])
def test_nearly_auto(run, f1, value):
    result = run("-p0", "-r120ms", f"-n{value}", f1)
    refused(result)
    names(result, "-n", value)


# --- -P --------------------------------------------------------------------------------------

@pytest.mark.parametrize("flags", [(), ("-n2",), ("-B0", "-F0"), ("-S1",), ("-a1",), ("-t1",),
                                   ("--sqpoll",), ("--cpus", str(CPUS[0]))])
def test_home_node(run, f1, tmp_json, flags):
    """Threads and memory on the device's node; where that is not known it is said, and it runs."""
    result = run("-P1", "-p0", "-r120ms", *flags, "--json", tmp_json, f1)
    assert result.rc == 0, result
    document = read_document(tmp_json)
    run_made = only_run(document)
    assert run_made["ios"] > 0 and run_made["errors"]["count"] == 0
    node = document["targets"][0].get("device", {}).get("numa_node")
    if node is None:
        assert re.search(r"\b(NUMA|node)\b", result.err), f"-P1 does nothing, silently:\n{result}"
        assert all("node" not in thread for thread in run_made["threads"])
    else:
        assert {thread["node"] for thread in run_made["threads"]} == {node}
        assert f"node={node}" in result.out, result


def test_home_node_of_a_device(run, loop):
    result = run("-P1", "-p0", "-r120ms", loop)
    assert result.rc == 0, result
    assert re.search(r"\b(NUMA|node)\b", result.err) or "node=-1" not in result.out, result


@pytest.mark.single
def test_home_node_inside_the_mask(measured, f1):
    document = measured("-P1", "-p0", "-r150ms", f1, preexec=on_cpus(CPUS[-1]))
    assert only_run(document)["ios"] > 0


# --- -H without huge pages; with them: test_hugepages.py -------------------------------------

def huge_pages():
    """Size in bytes and number of free pages of the default size, or a skip."""
    text = pathlib.Path("/proc/meminfo").read_text()
    size, free = (re.search(rf"{name}:\s+(\d+)", text) for name in ("Hugepagesize",
                                                                  "HugePages_Free"))
    if not size:
        unavailable("hugetlb", "a kernel without huge pages")
    return int(size[1]) << 10, int(free[1])


@pytest.mark.single
@pytest.mark.parametrize("threads", [1, 2])
def test_too_few_huge_pages(run, f1, threads):
    """How many are needed and how many there are."""
    size, free = huge_pages()
    per_thread = free // threads + 4
    depth = per_thread * size // MIB
    result = run("-H", "anon", "-p0", "-r150ms", "-b1M", f"-d{depth}", f"-n{threads}", f1)
    assert result.rc == 7 and result.out == "", result
    text = result.err.replace(str(f1), "")
    assert re.search(rf"\b{per_thread * threads}\b", text), f"how many are needed:\n{result}"
    assert re.search(rf"\b{free}\b|\bno\b|\bnone\b", text), f"how many there are:\n{result}"
    assert "nr_hugepages" in text and "hint" in text, result


@pytest.mark.single
@pytest.mark.parametrize("flags", [("-H", "/nonexist"), ("-H/nonexist",), ("--hugetlb=/nonexist",),
                                   ("-H", "nonexist/a b"), ("-H", "/dev/null"), ("-H", "/tmp"),
                                   ("-H", "/proc/self/mem"), ("-H", "Anon")])
def test_no_such_huge_file(run, f1, flags):
    result = run(*flags, "-p0", "-r150ms", "--json", "-", f1)
    assert result.rc == 7 and result.out == "", result
    path = flags[-1].replace("-H", "").replace("--hugetlb=", "")
    assert path in result.err and len(result.err.splitlines()) < 8, result


@pytest.mark.single
def test_an_ordinary_file_is_no_huge_memory(run, area):
    """Buffers are written to: a file elsewhere must not be touched."""
    path = area / "not-huge"
    path.write_bytes(os.urandom(4 * MIB))
    before = hashlib.sha256(path.read_bytes()).digest(), os.stat(path).st_mtime_ns
    for target in (path, area / "f1"):
        if not target.exists():
            continue
        result = run("-H", path, "-p0", "-r150ms", target)
        assert result.rc == 7 and result.out == "" and str(path) in result.err, result
        assert "hugetlbfs" in result.err, result
    assert (hashlib.sha256(path.read_bytes()).digest(), os.stat(path).st_mtime_ns) == before


@pytest.mark.single
def test_a_fifo_is_no_huge_memory(start, f1, tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    with start("-H", path, "-p0", "-r150ms", f1) as running:
        result = running.finish(5)
    assert result.rc == 7 and str(path) in result.err, result


@pytest.mark.single
def test_empty_name(run, f1):
    result = run("-p0", "-r120ms", "--hugetlb=", f1)
    refused(result)
    names(result, "--hugetlb")
