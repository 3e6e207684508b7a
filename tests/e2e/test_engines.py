"""The other letters: -a (kernel AIO), -e (restrictions), -u (passthrough, refused here)."""

import errno
import hashlib
import os
import pathlib
import platform
import re
import time

import pytest

import rings
import seccomp
from fusefile import STALL
from helpers import (
    MIB, SANITIZE, complaint_lines, errno_name, only_run, read_document)
from test_arguments import refused
from test_document import consistent
from test_faults import faulty
from test_invariants import kernel_agrees, littles_law, served
from tracing import trace

# Legacy AIO is older than the common system call table: setup, destroy, getevents, submit.
IO_SETUP, IO_GETEVENTS, IO_SUBMIT = {"x86_64": (206, 208, 209), "aarch64": (0, 4, 2)}.get(
    platform.machine(), (0, 4, 2))
PATIENCE = 2.0 if not SANITIZE else 5.0

LETTERS = {"--aio": "a", "--nop": "N", "--passthrough": "u", "--polled": "p", "--sync": "S"}


def mentions(result, *flags):
    """Each flag by its long name or, as it was typed, by its letter and value."""
    for flag in flags:
        short = rf"(?<![\w-])-{LETTERS[flag]}[01]?\b" if flag in LETTERS else "(?!)"
        assert flag in result.err or re.search(short, result.err), f"no {flag}:\n{result}"


# --- -a1: kernel AIO -------------------------------------------------------------------------

AIO_MODES = {
    "default": (), "one deep": ("-d1",), "two threads": ("-n2",), "odd": ("-d5", "-n3", "-s3"),
    "timed": ("-t1",), "vectored": ("-V1",), "vectored, timed": ("-V1", "-t1", "-d7"),
    "buffered": ("-O0",), "sequential": ("-R0",), "single steps": ("-s1", "-c1"),
    "small completions": ("-d16", "-s16", "-c1"), "deep": ("-d4096",),
    "large blocks": ("-d4", "-b1M"), "placed": ("--cpus", str(min(os.sched_getaffinity(0)))),
    "as it can": ("-B0", "-F0", "-X0"),
}


@pytest.mark.parametrize("name", AIO_MODES)
def test_aio(measured, f1, name):
    document = measured("-a1", "-p0", "-r120ms", *AIO_MODES[name], f1)
    consistent(document)
    cell = document["cells"][0]
    run = only_run(document)
    assert cell["asked"]["engine"] == "aio" and "engine=aio" in cell["id"]
    assert run["ios"] > 0 and run["errors"]["count"] == 0 and run["short_reads"] == 0
    assert ("latency_ns" in run) == ("-t1" in AIO_MODES[name])
    assert "sqpoll" not in run and not cell["granted"].get("setup_flags")
    assert cell["granted"]["polled"] is False


@pytest.mark.single
def test_aio_in_the_header(run, f1):
    result = run("-a1", "-p0", "-r150ms", f1)
    assert result.rc == 0, result
    assert re.search(r"^Engine=aio$", result.out, re.M), result
    assert re.search(r"^polled=0, fixedbufs=0, register_files=0, buffered=0, QD=128$",
                     result.out, re.M), result
    assert re.search(r"^Maximum IOPS=[1-9]", result.out, re.M), result


@pytest.mark.parametrize("flags", [(), ("-n2",), ("-R0",), ("-d3", "-n3"), ("-s1", "-c1"),
                                   ("-V1",)])
def test_aio_kernel_counts_the_same(measured, loop, flags):
    kernel_agrees(measured, loop, ("-a1", *flags))


@pytest.mark.single
@pytest.mark.parametrize("depth, flags", [("16", ()), ("1", ()), ("128", ("-c1",)),
                                          ("5", ("-s3", "-c2"))])
def test_aio_littles_law(measured, f1, depth, flags):
    littles_law(only_run(measured("-a1", "-p0", "-t1", "-r250ms", f"-d{depth}", *flags, f1)),
                int(depth))


@pytest.mark.single
def test_aio_every_block(measured, fuse_file):
    reads, _ = served(measured, fuse_file, 10000, "-a1", "-d4")
    assert {offset for offset, _ in reads} == {0, 4096}


@pytest.mark.single
@pytest.mark.parametrize("flags, other", [
    (("-p1",), "--polled"), (("-N1",), "--nop"), (("--sqpoll",), "--sqpoll"), (("-S1",), "--sync"),
    (("-u1",), "--passthrough")])
def test_aio_contradictions(run, f1, flags, other):
    result = run("-a1", "-r120ms", *flags, f1)
    refused(result)
    mentions(result, "--aio", other)


@pytest.mark.parametrize("flags", [(), ("-n2", "-d5"), ("-V1",)])
def test_aio_errors_are_counted(run, img, tmp_json, flags):
    measured, _ = faulty(run, tmp_json, "-a1", "-r250ms", *flags, img)
    errors = measured["errors"]
    assert errors["count"] > 0 and errors["by_errno"] == {"EIO": errors["count"]}
    assert 0.3 < errors["count"] / (errors["count"] + measured["ios"]) < 0.7
    assert 16 * MIB <= errors["first"]["offset_bytes"] < 32 * MIB


def test_aio_short_reads(start, area, tmp_json):
    path = area / "aio-shrinking"
    path.write_bytes(os.urandom(8 * MIB))
    with start("-a1", "-p0", "-r1", "--json", tmp_json, path) as running:
        assert running.wait_until(lambda: "Engine=" in running.output())
        time.sleep(0.2)
        os.truncate(path, 2 * MIB)
        result = running.finish(10)
    assert result.rc == 8, result
    assert only_run(read_document(tmp_json))["short_reads"] > 0


def test_aio_stall(start, fuse_file, tmp_json):
    """The kernel keeps a process until its AIO reads are home: the result must be out before."""
    target = fuse_file(16 * MIB)
    with start("-a1", "-d4", "-p0", "-r30", "--stall-timeout", "1s", "--json", tmp_json,
               target.path) as running:
        assert running.wait_until(lambda: target.count > 50)
        target.mode = STALL
        said = running.wait_until(lambda: "Exiting on stall" in running.output(), 8)
        written = running.wait_until(tmp_json.exists, 3)
        target.mode = 0
        result = running.finish(20)
    assert said and written and result.rc == 8, result
    assert only_run(read_document(tmp_json))["stalled"] is True


@pytest.mark.parametrize("name, code", [("SIGINT", 130), ("SIGTERM", 143)])
def test_aio_ended_early(start, f1, tmp_json, validated, name, code):
    with start("-a1", "-n2", "-p0", "-r60", "--json", tmp_json, f1) as running:
        assert running.wait_until(lambda: "Engine=" in running.output())
        time.sleep(0.3)
        stopped = time.monotonic()
        running.signal(code - 128)
        result = running.finish(10)
        assert time.monotonic() - stopped < PATIENCE, result
    assert result.rc == code, result
    document = validated(tmp_json.read_text())
    assert document["session"]["signal"] == name and only_run(document)["ios"] > 0


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOSYS, errno.EAGAIN, errno.ENOMEM,
                                    errno.EINVAL], ids=errno_name)
def test_aio_is_refused(run, f1, number):
    result = run("-a1", "-p0", "-r2", "--json", "-", f1, preexec=seccomp.forbid([IO_SETUP], number))
    assert result.rc == 7 and result.out == "", result
    assert errno_name(number) in result.err and "hint" in result.err, result
    assert "io_setup" in result.err and len(result.err.splitlines()) < 15, result


@pytest.mark.parametrize("call", [IO_SUBMIT, IO_GETEVENTS])
def test_aio_is_refused_later(run, f1, call):
    result = run("-a1", "-p0", "-r2", "--stall-timeout", "1s", f1,
                 preexec=seccomp.forbid([call], errno.EPERM))
    assert result.rc in (7, 8) and "EPERM" in result.err, result


def test_aio_needs_no_ring(run, f1):
    result = run("-a1", "-p0", "-r150ms", f1,
                 preexec=seccomp.forbid([seccomp.IO_URING_SETUP], errno.EPERM))
    assert result.rc == 0, result


def test_aio_more_requests_than_the_system_has(run, f1):
    """fs.aio-max-nr: met beforehand, with what is needed and what there is."""
    limit = int(pathlib.Path("/proc/sys/fs/aio-max-nr").read_text())
    threads = min(limit // 32768 + 1, 64)
    result = run("-a1", "-p0", "-O0", "-r150ms", "-d32768", "-b512", f"-n{threads}", f1)
    if threads * 32768 <= limit:
        assert result.rc == 0, result
        return
    assert result.rc == 7 and "IOPS=" not in result.out, result
    assert "aio-max-nr" in result.err and str(threads * 32768) in result.err, result


@pytest.mark.plain
def test_aio_by_its_system_calls(binary, tmp_path, f1):
    result, log = trace([binary, "-a1", "-p0", "-r150ms", "-d8", f1], tmp_path,
                        ["io_setup", "io_submit", "io_getevents", "io_pgetevents", "io_destroy",
                         "io_uring_setup", "preadv2"])
    assert result.rc == 0, result
    assert "io_submit(" in log and re.search(r"io_p?getevents\(", log)
    assert "io_uring_setup(" not in log and "preadv2(" not in log
    assert log.count("io_setup(") == log.count("io_destroy(") >= 1


# --- -e1: restrictions -----------------------------------------------------------------------

@pytest.mark.parametrize("flags", [
    (), ("-F1",), ("-F0",), ("-B0",), ("-X0",), ("-F0", "-B0", "-X0"), ("-n2", "-d5"), ("-t1",),
    ("-V1",), ("-V1", "-B0", "-F0"), ("-O0",), ("-R0",), ("-d1",), ("--taskrun", "plain"),
    ("--taskrun", "coop", "-X0"), ("-s1", "-c1")])
def test_restricted(measured, f1, flags):
    document = measured("-e1", "-p0", "-r120ms", *flags, f1)
    consistent(document)
    granted = document["cells"][0]["granted"]
    run = only_run(document)
    assert run["ios"] > 0 and run["errors"]["count"] == 0
    assert "op " + granted["opcode"] in granted["restrictions"]
    files = "flag FIXED_FILE required" if granted["register_files"] else "flags none"
    assert files in granted["restrictions"]


@pytest.mark.parametrize("flags", [("-N1",), ("-N1", "-n2", "-t1"), ("-N1", "-X0")])
def test_restricted_nop(measured, flags):
    document = measured("-e1", "-r120ms", *flags)
    consistent(document)
    assert document["cells"][0]["granted"]["restrictions"] and only_run(document)["ios"] > 0


@pytest.mark.single
def test_restrictions_are_another_experiment(measured, f1):
    free, restricted = (measured("-p0", "-r150ms", *flags, f1)["cells"][0]
                        for flags in ((), ("-e1",)))
    assert free["id"] != restricted["id"] and not free["granted"].get("restrictions")


@pytest.mark.plain
@pytest.mark.parametrize("flags", [("-F1",), ("-F0", "-B0", "-X0")])
def test_restricted_by_its_system_calls(binary, tmp_path, f1, flags):
    result, log = trace([binary, "-e1", "-p0", "-r120ms", *flags, f1], tmp_path,
                        ["io_uring_register", "io_uring_setup"])
    assert result.rc == 0, result
    restrict = re.search("IORING_REGISTER_RESTRICTIONS|, 0xb", log)
    enable = re.search("IORING_REGISTER_ENABLE_RINGS|, 0xc", log)
    assert restrict and enable and restrict.start() < enable.start(), log


def test_restrictions_are_in_force(start, f1):
    """Another process, holding the same ring, is refused what this run does not need."""
    answers = {}
    for flags in ((), ("-e1",)):
        with start(*flags, "--taskrun", "plain", "-p0", "-r500ms", f1) as running:
            assert running.wait_until(lambda: "Engine=" in running.output())
            answers[flags] = rings.probe_from_outside(running.pid)
            assert running.finish(10).rc == 0
    assert answers[()] and answers[("-e1",)], "the rings were found"
    if answers[()] == [errno.EEXIST]:
        assert answers[("-e1",)] == [errno.EEXIST]  # SINGLE_ISSUER: nobody else may ask
        return
    assert answers[()] == [0] and answers[("-e1",)] == [errno.EACCES]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EPERM], ids=errno_name)
def test_restrictions_are_refused(run, f1, number):
    result = run("-e1", "-p0", "-r2", f1, preexec=seccomp.forbid(
        [seccomp.IO_URING_REGISTER], number, first_argument=(1, rings.REGISTER_RESTRICTIONS)))
    assert result.rc == 7 and errno_name(number) in result.err and "hint" in result.err, result
    assert "restrict" in result.err.lower() and "IOPS=" not in result.out, result


# --- -u1: refused everywhere but on NVMe's generic devices -----------------------------------

def not_passthrough(result, path):
    assert result.rc == 7 and result.out == "", result
    assert str(path) in result.err and "/dev/ng" in result.err, result
    assert str(path) in complaint_lines(result)[0] and len(complaint_lines(result)) <= 2, result


@pytest.mark.single
@pytest.mark.parametrize("flags", [(), ("-p1",), ("-O0",), ("-n2",), ("--dry-run",)])
def test_passthrough_of_a_file(run, f1, flags):
    before = hashlib.sha256(f1.read_bytes()).digest()
    not_passthrough(run("-u1", "-r120ms", "--json", "-", *flags, f1), f1)
    assert hashlib.sha256(f1.read_bytes()).digest() == before


def test_passthrough_of_a_block_device(run, loop):
    not_passthrough(run("-u1", "-r120ms", loop), loop)


@pytest.mark.single
@pytest.mark.parametrize("path", ["/dev/null", "/dev", "/dev/ng99n99"])
def test_passthrough_of_other_things(run, path):
    result = run("-u1", "-r120ms", path)
    assert result.rc == 7 and result.out == "" and path in result.err, result


@pytest.mark.single
@pytest.mark.parametrize("flags, other", [(("-N1",), "--nop"), (("-S1",), "--sync"),
                                          (("-a1",), "--aio")])
def test_passthrough_contradictions(run, f1, flags, other):
    result = run("-u1", "-r120ms", *flags, f1)
    refused(result)
    mentions(result, "--passthrough", other)


@pytest.mark.single
@pytest.mark.parametrize("flag", ["-a", "-e", "-u", "-P"])
@pytest.mark.parametrize("value", ["2", "-1", "yes", ""])
def test_switches_take_zero_or_one(run, f1, flag, value):
    long = {"-a": "--aio", "-e": "--restrict", "-u": "--passthrough", "-P": "--numa"}[flag]
    result = run("-p0", "-r120ms", f"{long}={value}", f1)
    refused(result)
    assert long in result.err, result


@pytest.mark.single
def test_switched_off_is_as_not_given(measured, f1):
    plain, off = (measured("-p0", "-r150ms", *flags, f1)["cells"][0]
                  for flags in ((), ("-a0", "-e0", "-u0", "-P0")))
    assert plain["id"] == off["id"] and plain["granted"] == off["granted"]
