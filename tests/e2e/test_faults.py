"""Targets that misbehave while they are measured: counted, flagged, ended, never called healthy."""

import errno
import os
import subprocess
import time

import pytest

from fusefile import FAIL, SERVE, SHORT, STALL
from helpers import MIB, SANITIZE, errno_name, only_run, read_document


def faulty(run, tmp_json, *words, rc=8, **options):
    result = run("-p0", "--json", tmp_json, *words, **options)
    assert result.rc == rc, result
    assert len(result.err.splitlines()) < 20, f"one line per kind, no flood:\n{result}"
    return only_run(read_document(tmp_json)), result


@pytest.mark.parametrize("flags", [(), ("-n3",), ("-d1",), ("-d5", "-n2", "-t1"), ("-R0",),
                                   ("-B0", "-F0"), ("-V1", "-B0"), ("-S1",)])
def test_upper_half_fails(run, img, tmp_json, flags, validated):
    measured, result = faulty(run, tmp_json, "-r500ms", *flags, img)
    validated(tmp_json.read_text())
    errors = measured["errors"]
    assert errors["count"] > 0 and errors["by_errno"] == {"EIO": errors["count"]}
    assert errors["first"]["errno"] == "EIO" and errors["first"]["target"] == 0
    assert 16 * MIB <= errors["first"]["offset_bytes"] < 32 * MIB
    assert "EIO" in result.err + result.out, result
    if "-R0" not in flags:
        assert measured["ios"] > 0, "the lower half is fine"
        share = errors["count"] / (errors["count"] + measured["ios"])
        assert 0.3 < share < 0.7, "half of the blocks fail"
    if "latency_ns" in measured:
        assert measured["latency_ns"]["count"] == measured["ios"], "errors are no latencies"


def test_errors_are_not_in_the_rate(run, img, tmp_json):
    measured, _ = faulty(run, tmp_json, "-r500ms", img)
    assert measured["iops"] == pytest.approx(
        measured["ios"] / (measured["elapsed_ns"] / 1e9), rel=1e-3)
    assert sum(part["ios"] for part in measured["intervals"]) == measured["ios"]


@pytest.mark.parametrize("mode", [FAIL, SHORT])
def test_failing_reads_are_completions_not_a_stall(run, fuse_file, tmp_json, mode):
    """--stall-timeout is about completions that do not come; these come, and are counted."""
    target = fuse_file(16 * MIB)
    target.error, target.mode = errno.EIO, mode
    measured, _ = faulty(run, tmp_json, "-r1.2", "-d4", "--stall-timeout", "500ms", target.path)
    assert measured["stalled"] is False and measured["elapsed_ns"] >= 1.19e9


def test_allowed_errors_are_still_recorded(run, img, tmp_json):
    measured, result = faulty(run, tmp_json, "-r500ms", "--allow-errors", img, rc=0)
    assert measured["errors"]["count"] > 0 and measured["errors"]["by_errno"]["EIO"] > 0
    assert "EIO" in result.err + result.out, "still said"


def test_second_target_fails(run, f1, img, tmp_json):
    measured, _ = faulty(run, tmp_json, "-r500ms", f1, img)
    assert measured["errors"]["first"]["target"] == 1


def test_run_verb_with_errors(run, img, tmp_json):
    result = run("run", "-p0", "-r200ms", "--warmup", "0", "--repeats", "3", "--json", tmp_json,
                 img)
    assert result.rc == 8, result


@pytest.mark.parametrize("flags", [(), ("-n2",), ("-S1",), ("-V1", "-B0")])
def test_file_shrinks(start, area, tmp_json, flags):
    path = area / "shrinking"
    path.write_bytes(os.urandom(16 * MIB))
    with start("-p0", "-r2", "--json", tmp_json, *flags, path) as running:
        assert running.wait_until(lambda: "Engine=" in running.output())
        time.sleep(0.4)
        os.truncate(path, 4 * MIB)
        result = running.finish(10)
    assert result.rc == 8, result
    measured = only_run(read_document(tmp_json))
    assert measured["short_reads"] > 0 and measured["errors"]["count"] == 0
    assert "short" in (result.err + result.out).lower(), result


def test_short_reads_are_not_counted_as_done(run, fuse_file, tmp_json):
    target = fuse_file(16 * MIB)
    target.mode = SHORT
    measured, _ = faulty(run, tmp_json, "-r400ms", "-d4", target.path)
    assert measured["ios"] == 0 and measured["short_reads"] > 0
    assert measured["iops"] == 0
    assert "latency_ns" not in measured


ERRNOS = [errno.EIO, errno.ENODATA, errno.ENXIO, errno.EREMOTEIO, errno.EBADMSG, errno.ENODEV,
          errno.ETIMEDOUT, errno.EINVAL, errno.ENOSPC, errno.EPERM]


@pytest.mark.single
@pytest.mark.parametrize("number", ERRNOS, ids=errno_name)
def test_every_errno_has_its_name(start, fuse_file, tmp_json, number):
    target = fuse_file(16 * MIB)
    target.error = number
    with start("-p0", "-r600ms", "-d4", "--json", tmp_json, target.path) as running:
        assert running.wait_until(lambda: target.count > 50)
        target.mode = FAIL
        result = running.finish(10)
    assert result.rc == 8, result
    errors = only_run(read_document(tmp_json))["errors"]
    assert set(errors["by_errno"]) == {errno_name(number)}
    assert errno_name(number) in result.err + result.out, result
    assert len(result.err.splitlines()) < 20, result


@pytest.mark.single
@pytest.mark.parametrize("number", ERRNOS, ids=errno_name)
def test_failing_from_the_first_read_on(run, fuse_file, tmp_json, number):
    """Either measured as a failing target, or refused because measuring is pointless."""
    target = fuse_file(16 * MIB)
    target.error, target.mode = number, FAIL
    result = run("-p0", "-r300ms", "-d4", "--json", tmp_json, target.path)
    assert result.rc in (7, 8) and result.seconds < 3, result
    assert errno_name(number) in result.err + result.out, result
    assert tmp_json.exists() == (result.rc == 8), "8 means: the result is written and flagged"


def test_no_good_read_at_all_is_no_division_by_zero(run, fuse_file, tmp_json):
    target = fuse_file(16 * MIB)
    target.error, target.mode = errno.EIO, FAIL
    measured, result = faulty(run, tmp_json, "-r1.2", "-t1", "-d4", target.path)
    assert measured["ios"] == 0 and "latency_ns" not in measured
    assert "nan" not in result.out.lower() and "inf" not in result.out.lower().split("info")[0]


def test_try_again_for_ever_is_a_stall(start, fuse_file, tmp_json):
    """The kernel's workers try such reads again by themselves: none ever comes back."""
    target = fuse_file(16 * MIB)
    target.error = errno.EAGAIN
    with start("-p0", "-r20", "-d4", "--stall-timeout", "1s", "--json", tmp_json,
               target.path) as running:
        assert running.wait_until(lambda: target.count > 50)
        target.mode = FAIL
        result = running.finish(15)
    assert result.rc == 8 and result.seconds < 8, result
    measured = only_run(read_document(tmp_json))
    assert measured["stalled"] is True and measured["errors"]["count"] == 0


@pytest.mark.parametrize("flags", [("-d4",), ("-d1",), ("-d3", "-n2"), ("-t1", "-s1")])
def test_stall(start, fuse_file, tmp_json, flags):
    target = fuse_file(16 * MIB)
    begin = time.monotonic()
    with start("-p0", "-r30", "--stall-timeout", "1s", *flags, "--json", tmp_json,
               target.path) as running:
        assert running.wait_until(lambda: target.count > 50)
        target.mode = STALL
        result = running.finish(15)
    assert result.rc == 8, result
    assert time.monotonic() - begin < (6 if not SANITIZE else 12), result
    assert "stall" in (result.err + result.out).lower(), result
    measured = only_run(read_document(tmp_json))
    assert measured["stalled"] is True
    assert measured["elapsed_ns"] < 10e9


@pytest.mark.parametrize("from_the_first", [False, True])
def test_sync_stall(start, fuse_file, tmp_json, from_the_first):
    """A thread inside preadv2 keeps its process from ending, whatever it does: the result must be
    said and on disk before that, and the end must come when the read does."""
    target = fuse_file(16 * MIB)
    target.mode = STALL if from_the_first else SERVE
    with start("-p0", "-r30", "--stall-timeout", "1s", "-S1", "--json", tmp_json,
               target.path) as running:
        if not from_the_first:
            assert running.wait_until(lambda: target.count > 50)
            target.mode = STALL
        said = running.wait_until(lambda: "Exiting on stall" in running.output(), 8)
        written = tmp_json.exists()
        target.mode = SERVE
        result = running.finish(20)
    assert said and written, result
    assert result.rc == 8, result
    assert only_run(read_document(tmp_json))["stalled"] is True


def test_hanging_from_the_first_read_on(run, fuse_file, tmp_json):
    target = fuse_file(16 * MIB)
    target.mode = STALL
    result = run("-p0", "-r30", "--stall-timeout", "1s", "-d4", "--json", tmp_json, target.path)
    assert result.rc in (7, 8) and result.seconds < 6, result
    assert target.path in result.err + result.out, f"the target is not named:\n{result}"
    assert tmp_json.exists() == (result.rc == 8), "8 means: the result is written and flagged"


def test_short_pause_is_no_stall(start, fuse_file, tmp_json):
    """A controller reset of 300 ms: no error, but seen in the largest latency."""
    target = fuse_file(16 * MIB)
    with start("-p0", "-r1.2", "-d4", "-t1", "--stall-timeout", "2s", "--json", tmp_json,
               target.path) as running:
        assert running.wait_until(lambda: target.count > 50)
        target.mode = STALL
        time.sleep(0.3)
        target.mode = SERVE
        result = running.finish(10)
    assert result.rc == 0, result
    measured = only_run(read_document(tmp_json))
    assert measured["stalled"] is False and measured["errors"]["count"] == 0
    assert measured["latency_ns"]["max"] > 0.25e9


def test_runtime_ends_while_reads_hang(start, fuse_file, tmp_json):
    """The time is up and some reads never come back: the drain is watched too."""
    target = fuse_file(16 * MIB)
    with start("-p0", "-r1", "-d4", "--stall-timeout", "1500ms", "--json", tmp_json,
               target.path) as running:
        assert running.wait_until(lambda: target.count > 50)
        time.sleep(0.4)
        target.mode = STALL
        result = running.finish(15)
    assert result.rc == 8 and result.seconds < 8, result
    measured = only_run(read_document(tmp_json))
    assert measured["stalled"] is True and 1 <= measured["never_completed"] <= 4


@pytest.mark.parametrize("name, code", [("SIGINT", 130), ("SIGTERM", 143)])
def test_signal_while_reads_hang(start, fuse_file, tmp_json, name, code):
    import signal
    target = fuse_file(16 * MIB)
    with start("-p0", "-r60", "-d4", "--stall-timeout", "30s", "--json", tmp_json,
               target.path) as running:
        assert running.wait_until(lambda: target.count > 50)
        target.mode = STALL
        time.sleep(0.2)
        running.signal(getattr(signal, name))
        result = running.finish(15)
    assert result.rc == code and result.seconds < 8, result
    if tmp_json.exists():
        assert read_document(tmp_json)["session"]["interrupted"] is True


def test_stalled_block_device(start, fuse_file, attach_loop, tmp_json):
    """A block device whose reads hang cannot be left by a process: the result must be on disk
    before the end, and the end must come when the device wakes up."""
    target = fuse_file(16 * MIB)
    device = attach_loop(target.path, "-r")
    try:
        with start("-p0", "-r30", "-d4", "--stall-timeout", "1s", "--json", tmp_json,
                   device) as running:
            assert running.wait_until(lambda: target.count > 50)
            time.sleep(0.3)
            target.mode = STALL
            written = running.wait_until(tmp_json.exists, 8)
            target.mode = SERVE
            result = running.finish(20)
    finally:
        target.mode = SERVE
    assert result.rc == 8, result
    assert written, f"no document while the device hung:\n{result}"
    assert only_run(read_document(tmp_json))["stalled"] is True


def test_loop_detached_while_running(start, area, tmp_json, attach_loop):
    """Detaching a loop device in use is put off by the kernel until it is closed."""
    path = area / "detached"
    path.write_bytes(os.urandom(8 * MIB))
    device = attach_loop(path)
    with start("-p0", "-r1", "--json", tmp_json, device) as running:
        assert running.wait_until(lambda: "Engine=" in running.output())
        subprocess.run(["losetup", "-d", device], check=False, capture_output=True)
        result = running.finish(10)
    assert result.rc in (0, 8), result
    read_document(tmp_json)


def test_file_system_taken_away(start, fuse_file, tmp_json):
    """The server of the file dies: ENOTCONN or the like for every read, no hang."""
    target = fuse_file(16 * MIB)
    with start("-p0", "-r2", "-d4", "--stall-timeout", "1s", "--json", tmp_json,
               target.path) as running:
        assert running.wait_until(lambda: target.count > 50)
        target.abandon()
        result = running.finish(15)
    assert result.rc == 8, result
    measured = only_run(read_document(tmp_json))
    assert measured["errors"]["count"] > 0 or measured["stalled"]


def test_deleted_file_goes_on(start, area, tmp_json):
    path = area / "deleted"
    path.write_bytes(os.urandom(8 * MIB))
    with start("-p0", "-r600ms", "-n2", "--json", tmp_json, path) as running:
        time.sleep(0.1)
        path.unlink()
        result = running.finish(10)
    assert result.rc in (0, 1, 7), result
    if result.rc == 0:
        assert only_run(read_document(tmp_json))["errors"]["count"] == 0


def test_growing_file_is_fine(start, area, tmp_json):
    path = area / "growing"
    path.write_bytes(os.urandom(4 * MIB))
    with start("-p0", "-r500ms", "--json", tmp_json, path) as running:
        time.sleep(0.2)
        with open(path, "ab") as file:
            file.write(os.urandom(MIB))
        assert running.finish(10).rc == 0
    assert only_run(read_document(tmp_json))["short_reads"] == 0
