"""What users' machines do to a running program: streams that vanish, stops that come too early, more
threads than CPUs, small stacks, a folder that is unmounted right afterwards."""

import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time

import pytest

from helpers import MIB, only_run, parse_document, read_document, unavailable


def test_document_survives_a_full_stderr(run, f1):
    with open("/dev/full", "wb") as full:
        result = run("-p0", "-r100ms", "--json", "-", f1, stderr=full)
    assert result.rc == 0, result
    assert only_run(parse_document(result.out))["ios"] > 0


@pytest.mark.parametrize("words, rc", [(("--bogus",), 2), (("-p0", "no-such-file"), 7),
                                       (("--help",), 0)])
def test_exit_code_survives_a_full_stderr(run, words, rc):
    with open("/dev/full", "wb") as full:
        assert run(*words, stderr=full).rc == rc


def test_closed_streams_are_no_crash(binary, f1, work):
    def close_both():
        os.close(1)
        os.close(2)
    done = subprocess.run([binary, "-p0", "-r50ms", str(f1)], cwd=work, preexec_fn=close_both,
                          timeout=20, check=False)
    assert done.returncode == 1, "the lines could not be printed"


@pytest.mark.parametrize("word", ["--dry-run=0", "--dry-run=2", "--quiet=1", "--help=0",
                                  "--version=0", "--allow-errors=-1"])
def test_plain_flags_take_no_value(run, f1, word):
    result = run("-p0", "-r100ms", word, f1)
    assert result.rc == 2 and result.out == "", result
    assert word.split("=")[0] in result.err, result


@pytest.mark.parametrize("words", [("-r1us",), ("-r1ms", "-n16"), ("-r1us", "-S1")])
def test_stop_before_the_first_read_is_seen(run, f1, tmp_json, words):
    result = run("-p0", *words, "--json", tmp_json, f1)
    assert result.seconds < 0.9, f"it waited to be given up:\n{result}"
    assert only_run(read_document(tmp_json))["never_completed"] == 0


def test_threads_that_hardly_overlap_do_not_inflate_the_rate(run, tmp_json):
    run("-N1", "-n48", "-r30ms", "--json", tmp_json)
    measured = only_run(read_document(tmp_json))
    assert measured["elapsed_ns"] >= max(part["elapsed_ns"] for part in measured["threads"])
    assert sum(part["elapsed_ns"] for part in measured["intervals"]) == pytest.approx(
        measured["elapsed_ns"], abs=1000)
    assert measured["iops"] == pytest.approx(measured["ios"] * 1e9 / measured["elapsed_ns"])


@pytest.mark.plain
def test_refused_enter_in_the_warm_up_is_no_signal(run, binary, f1, tmp_json):
    if shutil.which("strace") is None:
        unavailable("strace", "strace is not installed")
    done = subprocess.run(
        ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=io_uring_enter",
         "-e", "inject=io_uring_enter:error=ENOMEM:when=20+", binary, "run", "-p0", "-r200ms",
         "--warmup", "5s", "--repeats", "2", "--json", str(tmp_json), str(f1)],
        capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 8, done.stdout + done.stderr
    document = read_document(tmp_json)
    assert document["session"]["interrupted"] is False
    assert "ENOMEM" in done.stdout + done.stderr


@pytest.mark.memory
def test_small_stack(run, f1):
    def shrink():
        resource.setrlimit(resource.RLIMIT_STACK, (64 << 10, 64 << 10))
    assert run("-p0", "-t1", "-r100ms", f1, preexec=shrink).rc == 0


@pytest.mark.parametrize("name", ["\x1b[31mred", "line\rback", "bell\x07"])
def test_control_characters_do_not_reach_the_terminal(run, area, name):
    path = area / name
    path.write_bytes(os.urandom(MIB))
    result = run("-p0", "-r100ms", path)
    assert result.rc == 0, result
    assert not set(name) & {"\x1b", "\r", "\x07"} & set(result.out + result.err), result


def test_failing_save_still_shows_what_was_measured(run, f1, tiny_file_system):
    (tiny_file_system / "filler").write_bytes(bytes(60 << 10))
    target = tiny_file_system / "too-large.json"
    result = run("run", "-p0", "-r100ms", "--warmup", "0", "--repeats", "2", "--json", target, f1)
    assert result.rc == 1, result
    assert "run 2/2" in result.out and "IOPS " in result.out, result
    assert result.err.count("ENOSPC") == 1, result
    assert not target.exists()


def test_file_system_can_be_unmounted_right_afterwards(run, tmp_path):
    """Registered files must be let go before the end: closing a ring lets them go a while later."""
    if os.geteuid() != 0:
        unavailable("root", "mounting needs root")
    folder = tmp_path / "mounted"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], check=True)
    try:
        for _ in range(3):
            result = run("-p0", "-O0", "-r50ms", "--scratch", f"3M@{folder}")
            assert result.rc == 0, result
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.memory
def test_later_run_that_cannot_begin_keeps_the_earlier_ones(start, f1, tmp_json, validated):
    """Its buffers are no longer to be had; all else still is."""
    with start("run", "-p0", "-b1M", "-r400ms", "--warmup", "0", "--repeats", "4", "--json",
               tmp_json, f1) as running:
        assert running.wait_until(lambda: "run 1/4" in running.output())
        time.sleep(0.2)
        status = pathlib.Path(f"/proc/{running.pid}/status").read_text()
        size = int(re.search(r"VmSize:\s+(\d+) kB", status)[1]) << 10
        resource.prlimit(running.pid, resource.RLIMIT_AS, (size - 64 * MIB, size - 64 * MIB))
        result = running.finish(15)
    assert result.rc == 8, result
    assert "ENOMEM" in result.err, result
    validated(tmp_json.read_text())
    document = read_document(tmp_json)
    assert 1 <= len(document["cells"][0]["runs"]) < 4
    assert "run-failed" in [finding["code"] for finding in document["findings"]]
    assert document["cells"][0]["summary"]["iops"]["n"] >= 1


@pytest.mark.plain
def test_measuring_threads_leave_signals_to_the_main_thread(start, f1):
    with start("-p0", "-r20", "-n2", f1) as running:
        assert running.wait_until(lambda: "Engine=" in running.output())
        time.sleep(0.1)
        for tid in os.listdir(f"/proc/{running.pid}/task"):
            status = pathlib.Path(f"/proc/{running.pid}/task/{tid}/status").read_text()
            if "iou-wrk" in status:
                continue
            blocked = int(re.search(r"SigBlk:\s+(\w+)", status)[1], 16)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                assert bool(blocked >> (number - 1) & 1) == (int(tid) != running.pid)
        running.signal(signal.SIGTERM)
        assert running.finish(5).rc == 143
