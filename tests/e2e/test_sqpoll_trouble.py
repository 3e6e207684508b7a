"""SQPOLL that is refused, interrupted, or meets trouble: said, counted, ended, nothing left."""

import errno
import os
import re
import signal
import time

import pytest

import seccomp
from fusefile import STALL
from helpers import MIB, SANITIZE, errno_name, only_run, read_document
from test_arguments import names, refused
from test_engines import mentions
from test_faults import faulty
from test_sqpoll import CPUS, leaves_nothing, named_for, pollers_of

PATIENCE = 2.0 if not SANITIZE else 5.0


# --- what is refused -------------------------------------------------------------------------

@pytest.mark.single
@pytest.mark.parametrize("flag, value", [
    ("--sqpoll-idle", "-1"), ("--sqpoll-idle", "foo"), ("--sqpoll-idle", ""),
    ("--sqpoll-idle", "1.5"), ("--sqpoll-idle", "4294967296"), ("--sqpoll-idle", "0x10"),
    ("--sqpoll-cpu", "-2"), ("--sqpoll-cpu", "-1"), ("--sqpoll-cpu", "foo"),
    ("--sqpoll-cpu", ""), ("--sqpoll-cpu", "0,1"), ("--sqpoll-cpu", "0-1"),
    ("--sqpoll-cpu", "99999999999999999999"), ("--sqpoll", "2"), ("--sqpoll", "yes"),
    ("--sqpoll", ""), ("--sqpoll", "-1")])
def test_values(run, f1, flag, value):
    also = () if flag == "--sqpoll" else ("--sqpoll",)
    result = run(*also, "-p0", "-r200ms", f"{flag}={value}", f1)
    refused(result)
    names(result, flag, value)


@pytest.mark.single
@pytest.mark.parametrize("cpu", ["-2", "65536", "9999"])
def test_no_such_cpu_names_those_there_are(run, f1, cpu):
    allowed = sorted(os.sched_getaffinity(0))
    result = run("--sqpoll", "-p0", "--sqpoll-cpu", cpu, f1)
    assert result.rc in (2, 7) and "--sqpoll-cpu" in result.err, result
    hint = result.err.split("hint:")[1]
    assert str(allowed[0]) in hint and str(allowed[-1]) in hint, result


@pytest.mark.parametrize("flag", ["--sqpoll-cpu=0", "--sqpoll-idle=5", "--sqpoll-share"])
@pytest.mark.parametrize("off", [(), ("--sqpoll=0",)])
def test_parts_without_the_whole(run, f1, flag, off):
    result = run(*off, "-p0", "-r200ms", flag, f1)
    refused(result)
    names(result, flag.split("=")[0])
    assert re.search(r"--sqpoll(?![\w-])", result.err), f"the cure:\n{result}"


@pytest.mark.single
@pytest.mark.parametrize("flags", [("--taskrun", "coop"), ("--taskrun", "defer"), ("-S1",),
                                   ("-a1",)])
def test_contradictions(run, f1, flags):
    result = run("--sqpoll", "-p0", "-r200ms", *flags, f1)
    refused(result)
    assert re.search(r"--sqpoll(?![\w-])", result.err), result
    mentions(result, {"-S1": "--sync", "-a1": "--aio"}.get(flags[0], flags[0]))


@pytest.mark.single
def test_all_that_is_wrong_comes_at_once(run, f1):
    result = run("--sqpoll", "-p0", "-d0", "--sqpoll-idle=x", "--sqpoll-cpu=-3", f1)
    refused(result)
    for flag in ("--depth", "--sqpoll-idle", "--sqpoll-cpu"):
        assert flag in result.err, result


def test_anybody_may(as_nobody, public):
    """No privilege is needed from Linux 5.13 on."""
    for flags in ((), ("-n2", "--sqpoll-share"), (f"--sqpoll-cpu={CPUS[0]}",)):
        result = as_nobody("--sqpoll", "-O0", "-p0", "-B0", "-r200ms", *flags, public / "data",
                           ulimit="ulimit -l 64")
        assert result.rc == 0, result


# --- when it goes wrong ----------------------------------------------------------------------

@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("flags", [(), ("-n2", "--sqpoll-share"),
                                   ("-d1", "--sqpoll-idle", "600000"), ("-d1", "-t1")])
def test_ended_early(start, f1, tmp_json, validated, name, flags):
    number = getattr(signal, name)
    with start("--sqpoll", "-p0", "-r60", *flags, "--json", tmp_json, f1) as running:
        assert running.wait_until(lambda: "Engine=" in running.output())
        time.sleep(0.3)
        stopped = time.monotonic()
        running.signal(number)
        result = running.finish(15)
        assert time.monotonic() - stopped < PATIENCE, result
    assert result.rc == 128 + number, result
    document = validated(tmp_json.read_text())
    assert document["session"]["interrupted"] is True
    assert document["session"]["signal"] == name
    run = only_run(document)
    assert run["ios"] > 0 and run["sqpoll"]["thread_id"] > 0
    leaves_nothing(running.pid, document)


@pytest.mark.parametrize("delay", [0.0, 0.005, 0.01, 0.02, 0.04, 0.08])
def test_ended_while_it_is_set_up(start, f1, tmp_json, delay):
    with start("--sqpoll", "-n2", "-p0", "-r60", "--json", tmp_json, f1) as running:
        time.sleep(delay)
        running.signal(signal.SIGTERM)
        result = running.finish(10)
    assert result.rc == 143, result
    if tmp_json.exists():
        assert read_document(tmp_json)["session"]["interrupted"] is True
    assert not named_for({running.pid})


def test_killed(start, f1):
    with start("--sqpoll", "-p0", "-r60", f1) as running:
        assert running.wait_until(lambda: pollers_of(running.pid))
        threads = set(map(int, os.listdir(f"/proc/{running.pid}/task")))
        running.signal(signal.SIGKILL)
        running.finish(10)
    leaves_nothing(running.pid, {"cells": [{"runs": [
        {"threads": [{"tid": number} for number in threads]}]}]})


def test_stopped_and_continued(start, f1, tmp_json):
    with start("--sqpoll", "-p0", "-r1", "--json", tmp_json, f1) as running:
        assert running.wait_until(lambda: "Engine=" in running.output())
        running.signal(signal.SIGSTOP)
        time.sleep(0.3)
        running.signal(signal.SIGCONT)
        result = running.finish(15)
    assert result.rc == 0, result
    assert only_run(read_document(tmp_json))["ios"] > 0


@pytest.mark.parametrize("flags", [(), ("-n2", "--sqpoll-share"), ("-F0", "-B0", "-d5")])
def test_errors_are_counted(run, img, tmp_json, flags):
    measured, _ = faulty(run, tmp_json, "--sqpoll", "-r400ms", *flags, img)
    errors = measured["errors"]
    assert errors["count"] > 0 and errors["by_errno"] == {"EIO": errors["count"]}
    assert 0.3 < errors["count"] / (errors["count"] + measured["ios"]) < 0.7
    assert 16 * MIB <= errors["first"]["offset_bytes"] < 32 * MIB


def test_stall(start, fuse_file, tmp_json):
    target = fuse_file(16 * MIB)
    with start("--sqpoll", "-d4", "-p0", "-r30", "--stall-timeout", "1s", "--json", tmp_json,
               target.path) as running:
        assert running.wait_until(lambda: target.count > 50)
        target.mode = STALL
        assert running.wait_until(lambda: "never completed" in running.output(), timeout=20)
        # The result is out. The kernel thread of SQPOLL, and with it the process, ends only when
        # its requests have come back.
        target.abandon()
        result = running.finish(20)
    assert result.rc == 8, result
    measured = only_run(read_document(tmp_json))
    assert measured["stalled"] is True and 1 <= measured["never_completed"] <= 4


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOMEM, errno.EINVAL], ids=errno_name)
def test_ring_is_refused(run, f1, number):
    """An error with its name and a hint; never a run without SQPOLL."""
    result = run("--sqpoll", "-p0", "-r2", f1,
                 preexec=seccomp.forbid([seccomp.IO_URING_SETUP], number))
    assert result.rc == 7 and errno_name(number) in result.err and "hint" in result.err, result
    assert "IOPS=" not in result.out, result


@pytest.mark.parametrize("flags", [(), ("-n2",), ("-d1", "--sqpoll-idle", "1")])
def test_system_call_is_refused(run, f1, flags):
    """While the thread is awake no call may be needed at all; else the refusal is named."""
    result = run("--sqpoll", "-p0", "-r1", "--stall-timeout", "1s", *flags, f1,
                 preexec=seccomp.forbid([seccomp.IO_URING_ENTER], errno.EPERM))
    assert result.rc in (0, 7, 8) and len(result.err.splitlines()) < 15, result
    assert result.rc == 0 or "EPERM" in result.err or "stall" in result.err.lower(), result
