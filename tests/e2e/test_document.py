"""The result document: valid against the schema and consistent with itself in every mode."""

import pathlib
import re

import pytest

from helpers import ROOT, only_run, read_document, runs_of, walk

MODES = {
    "default": (),
    "two threads": ("-n2",),
    "odd depth, four threads": ("-d100", "-n4"),
    "three deep, three threads": ("-d3", "-n3"),
    "one deep": ("-d1",),
    "timed": ("-t1",),
    "timed, threads": ("-t1", "-n3", "-d7"),
    "sequential": ("-R0",),
    "sequential, threads": ("-R0", "-n2", "-d5"),
    "plain buffers": ("-B0",),
    "plain files": ("-F0",),
    "all plain": ("-B0", "-F0", "-X0"),
    "vectored": ("-V1", "-B0"),
    "vectored, plain files": ("-V1", "-B0", "-F0", "-d9"),
    "buffered": ("-O0",),
    "sync": ("-S1",),
    "sync, timed, threads": ("-S1", "-t1", "-n2"),
    "sync, buffered": ("-S1", "-O0"),
    "single steps": ("-s1", "-c1"),
    "submit more than complete": ("-d16", "-s16", "-c1"),
    "complete more than submit": ("-d16", "-s1", "-c16"),
    "uneven batches": ("-d100", "-s7", "-c33"),
    "deep": ("-d4096", "-B0"),
    "large blocks": ("-d4", "-b1M"),
    "small blocks": ("-b512",),
}


def consistent(document):
    """What must hold in any document whatever was asked."""
    for cell in document["cells"]:
        asked, granted = cell["asked"], cell["granted"]
        block = asked["block_size_bytes"]
        nop = bool(asked.get("nop"))
        for run in cell["runs"]:
            seconds = run["elapsed_ns"] / 1e9
            assert run["iops"] == pytest.approx(run["ios"] / seconds, rel=1e-3)
            if not nop:
                assert run["bytes_per_second"] == pytest.approx(run["iops"] * block, rel=1e-3)
            else:
                assert "bytes_per_second" not in run
            assert sum(thread["ios"] for thread in run["threads"]) == run["ios"]
            assert sum(part["ios"] for part in run["intervals"]) == run["ios"]
            for part in run["intervals"]:
                assert part["iops"] == pytest.approx(
                    part["ios"] / (part["elapsed_ns"] / 1e9), rel=1e-3)
            assert sum(part["elapsed_ns"] for part in run["intervals"]) == pytest.approx(
                run["elapsed_ns"], rel=0.02, abs=20e6)
            threads = len(run["threads"])
            assert [thread["index"] for thread in run["threads"]] == list(range(threads))
            depth = 1 if granted.get("engine", asked["engine"]) == "sync" or asked.get(
                "sync") else asked["depth"]
            assert 0 < run["inflight_max"] <= depth * threads
            if "inflight_mean" in run:
                assert run["inflight_mean"] <= depth * threads
            assert run["errors"]["count"] == sum(run["errors"]["by_errno"].values())
            assert ("first" in run["errors"]) == (run["errors"]["count"] > 0)
            if "ios_per_submit_call" in run:
                assert run["ios_per_submit_call"] <= granted["batch_submit"] + 1e-9
            if "latency_ns" in run:
                latency_is_ordered(run)
            used = {index for thread in run["threads"] for index in thread["targets"]}
            assert nop or used == set(range(len(document["targets"])))
            assert run["cpu"]["user_ns"] + run["cpu"]["system_ns"] > 0
            if run["ios"] and "per_io_ns" in run["cpu"]:
                total = run["cpu"]["user_ns"] + run["cpu"]["system_ns"]
                assert run["cpu"]["per_io_ns"] == pytest.approx(total / run["ios"], rel=0.01)


def latency_is_ordered(run):
    latency = run["latency_ns"]
    assert latency["count"] == sum(count for _, count in latency["buckets"])
    assert latency["count"] == run["ios"], "every good I/O has its own latency"
    bounds = [bound for bound, _ in latency["buckets"]]
    assert bounds == sorted(set(bounds)) and all(count > 0 for _, count in latency["buckets"])
    names = sorted((name for name in latency if re.fullmatch(r"p[\d.]+", name)),
                   key=lambda name: float(name[1:]))
    values = [latency[name] for name in names]
    assert values == sorted(values)
    assert latency["min"] <= values[0] and values[-1] <= latency["max"] * 1.02
    assert latency["min"] <= latency["mean"] <= latency["max"]
    assert 100 <= latency["min"] and latency["max"] < 10e9, "nanoseconds"


@pytest.mark.parametrize("name", MODES)
def test_document_of_a_mode(measured, f1, name):
    flags = MODES[name]
    if "-b512" in flags and "-O0" not in flags and sector_of(f1) > 512:
        flags = (*flags, "-O0")
    document = measured("-p0", "-r200ms", *flags, f1)
    consistent(document)
    run = only_run(document)
    assert run["ios"] > 0 and run["errors"]["count"] == 0 and run["short_reads"] == 0
    assert ("latency_ns" in run) == ("-t1" in flags)


def test_vectored_reads_and_registered_buffers(run, measured, f1, tmp_json):
    """There -V1 is silently dropped when -B1 is in force. Here both are granted where the kernel
    can (READV_FIXED, 6.15), or it is refused; -V1 is never dropped."""
    result = run("-p0", "-r200ms", "-V1", "-B1", "--json", tmp_json, f1)
    if result.rc != 0:
        assert result.rc in (2, 7) and "-B0" in result.err, result
    else:
        granted = read_document(tmp_json)["cells"][0]["granted"]
        assert granted["vectored"] is True and granted["fixed_buffers"] is True
        assert granted["opcode"] == "READV_FIXED"
    granted = measured("-p0", "-r200ms", "-V1", f1)["cells"][0]["granted"]
    assert granted["vectored"] is True
    assert granted["opcode"] == ("READV_FIXED" if granted["fixed_buffers"] else "READV")


def sector_of(path):
    import os
    device = os.stat(path).st_dev
    base = pathlib.Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve()
    for folder in (base, base.parent):
        if (folder / "queue/logical_block_size").exists():
            return int((folder / "queue/logical_block_size").read_text())
    return 512


@pytest.mark.parametrize("flags", [("-N1",), ("-N1", "-t1"), ("-N1", "-n2", "-d5"),
                                   ("-N1", "-B0", "-F0", "-X0"), ("-N1", "-s1", "-c1", "-d1")])
def test_document_of_nop(measured, flags):
    document = measured("-r200ms", *flags)
    consistent(document)
    run = only_run(document)
    assert run["ios"] > 0
    assert ("latency_ns" in run) == ("-t1" in flags)
    assert all(target["kind"] == "none" for target in document["targets"])


def test_nop_with_a_file(measured, f1):
    consistent(measured("-N1", "-r200ms", f1))


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("depth", [1, 3, 5, 100])
def test_two_files_any_depth_any_threads(measured, f1, f2, threads, depth):
    document = measured("-p0", "-r150ms", f"-d{depth}", f"-n{threads}", f1, f2)
    consistent(document)
    assert only_run(document)["ios"] > 0


@pytest.mark.parametrize("depth", [2, 6, 7, 33, 127, 129, 1000, 32768])
def test_depths(measured, f1, depth):
    block = "-b512" if depth > 9000 and sector_of(f1) == 512 else "-b4096"
    runtime = "-r200ms" if depth < 9000 else "-r1"  # so many take their time to come back
    document = measured("-p0", runtime, f"-d{depth}", block, "-B0", f1)
    consistent(document)
    cell = document["cells"][0]
    assert cell["asked"]["depth"] == depth and cell["granted"]["sq_entries"] >= 1
    assert only_run(document)["ios"] > 0


def test_frame(measured, f1):
    document = measured("-p0", "-r200ms", "--label", "bäse \"1\"", "--seed", "42", f1)
    assert document["schema"] == {"name": "uringbench.result", "version": 1}
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", document["tool"]["version"])
    session = document["session"]
    assert session["label"] == "bäse \"1\"" and session["seed"] == 42
    assert session["argv"][-1] == str(f1) and "--seed" in " ".join(session["argv"])
    assert session["interrupted"] is False and "signal" not in session
    assert session["boot_id"] == boot_id()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", session["started_at"])
    assert session["elapsed_ns"] >= only_run(document)["elapsed_ns"]


def boot_id():
    return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def test_environment_is_this_machine(measured, f1):
    import os
    environment = measured("-p0", "-r200ms", f1)["environment"]
    identity = environment["identity"]
    assert identity["kernel_release"] == os.uname().release
    assert identity["architecture"] == os.uname().machine
    assert identity["cpus_online"] == os.sysconf("SC_NPROCESSORS_ONLN")
    assert identity["kernel_cmdline"] == pathlib.Path("/proc/cmdline").read_text().strip()
    memory = int(re.search(r"MemTotal:\s+(\d+)",
                           pathlib.Path("/proc/meminfo").read_text())[1]) * 1024
    assert identity["memory_bytes"] == pytest.approx(memory, rel=0.1)
    disabled = pathlib.Path("/proc/sys/kernel/io_uring_disabled")
    if disabled.exists():
        assert identity["io_uring_disabled"] == int(disabled.read_text())
    assert environment["weather"]["load_average_1m"] >= 0


def test_no_serial_number_unless_asked(measured, f1):
    document = measured("-p0", "-r200ms", f1)
    assert not [path for path, _ in walk(document) if path.endswith(".serial")]


def test_file_target(measured, f1):
    target = measured("-p0", "-r200ms", f1)["targets"][0]
    assert target["path"] == str(f1) and target["kind"] == "file"
    assert target["size_bytes"] == 64 << 20 and target["sparse"] is False
    assert target["filesystem"]


def test_session_ids_differ_and_seeds_are_random(measured, f1):
    documents = [measured("-p0", "-r200ms", f1) for _ in range(2)]
    assert documents[0]["session"]["id"] != documents[1]["session"]["id"]
    assert documents[0]["session"]["seed"] != documents[1]["session"]["seed"]
    assert documents[0]["cells"][0]["id"] == documents[1]["cells"][0]["id"]


def test_cell_id_tells_settings_apart(measured, f1):
    seen = {}
    for flags in ((), ("-d64",), ("-s16",), ("-c16",), ("-B0",), ("-F0",), ("-n2",), ("-R0",),
                  ("-V1",), ("-O0",), ("-t1",), ("-S1",), ("-X0",), ("-b8k",)):
        cell_id = measured("-p0", "-r150ms", *flags, f1)["cells"][0]["id"]
        assert cell_id not in seen, f"{flags} and {seen[cell_id]} share {cell_id}"
        seen[cell_id] = flags


def test_no_intervals_without_a_second_but_one(measured, f1):
    run = only_run(measured("-p0", "-r2.4", f1))
    assert 2 <= len(run["intervals"]) <= 3
    assert run["intervals"][0]["elapsed_ns"] == pytest.approx(1e9, rel=0.2)
    assert 2.4e9 * 0.99 <= run["elapsed_ns"] < 2.7e9


def test_seed_forms(measured, f1):
    assert measured("-p0", "-r150ms", "--seed", "0", f1)["session"]["seed"] == 0
    largest = (1 << 64) - 1
    assert measured("-p0", "-r150ms", f"--seed={largest}", f1)["session"]["seed"] == largest


# --- the run verb ----------------------------------------------------------------------------

def test_run_repeats_and_sums_up(measured, f1):
    document = measured("run", "-p0", "-r200ms", "--warmup", "100ms", "--repeats", "6", f1)
    consistent(document)
    assert document["session"]["verb"] == "run"
    runs = runs_of(document)
    assert [run["index"] for run in runs] == list(range(6))
    assert all(90e6 <= run["warmup_ns"] <= 200e6 for run in runs)
    figures = document["cells"][0]["summary"]["iops"]
    rates = sorted(run["iops"] for run in runs)
    assert figures["n"] == 6 and figures["min"] == rates[0] and figures["max"] == rates[5]
    assert figures["median"] == pytest.approx((rates[2] + rates[3]) / 2)
    assert figures["mean"] == pytest.approx(sum(rates) / 6)
    assert figures["ci95"] == [rates[0], rates[5]]
    assert figures["ci95_coverage"] == pytest.approx(0.96875)


def test_run_with_few_repeats_has_no_interval(measured, f1):
    document = measured("run", "-p0", "-r200ms", "--warmup", "0", "--repeats", "3", f1)
    figures = document["cells"][0]["summary"]["iops"]
    assert figures["n"] == 3 and "ci95" not in figures


def test_run_defaults(run, f1):
    result = run("run", "-p0", "--dry-run", f1)
    assert result.rc == 0, result
    assert re.search(r"6", result.out) and re.search(r"5 ?s|5000", result.out), result


def test_warm_up_is_not_counted_and_takes_time(run, f1, tmp_json):
    from helpers import read_document
    result = run("-p0", "-r500ms", "--warmup", "700ms", "--json", tmp_json, f1)
    assert result.rc == 0 and result.seconds > 1.2, result
    measured_run = only_run(read_document(tmp_json))
    assert measured_run["elapsed_ns"] == pytest.approx(0.5e9, rel=0.2)
    assert measured_run["warmup_ns"] == pytest.approx(0.7e9, rel=0.2)


def test_same_settings_same_identity_in_both_doors(measured, f1):
    classic = measured("-p0", "-r150ms", f1)
    verb = measured("run", "-p0", "-r150ms", "--warmup", "0", "--repeats", "1", f1)
    assert classic["cells"][0]["id"] == verb["cells"][0]["id"]


def test_pinned_threads(measured, f1):
    import os
    cpus = sorted(os.sched_getaffinity(0))[:2]
    text = ",".join(map(str, cpus))
    run = only_run(measured("-p0", "-r200ms", "-n3", "--cpus", text, f1))
    assert [thread["cpu"] for thread in run["threads"]] == [
        cpus[index % len(cpus)] for index in range(3)]


def test_schema_refuses_nonsense(measured, f1):
    """The schema itself can fail: it is not an empty object that likes everything."""
    import json

    import jsonschema
    document = measured("-p0", "-r150ms", f1)
    schema = json.loads((ROOT / "docs/schema/result-v1.schema.json").read_text())
    check = jsonschema.Draft202012Validator(schema)
    for spoil in (lambda d: d["schema"].update(version="1"), lambda d: d.pop("cells"),
                  lambda d: d["cells"][0]["runs"][0].update(ios=-1),
                  lambda d: d["cells"][0]["runs"][0].pop("iops"),
                  lambda d: d["session"].update(seed="42")):
        copy = json.loads(json.dumps(document))
        spoil(copy)
        assert not check.is_valid(copy)
