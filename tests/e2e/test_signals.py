"""Ended early: at any moment, a whole document or none, at once, and with the right code."""

import os
import signal
import time

import pytest

from helpers import MIB, SANITIZE, read_document, runs_of

NUMBERS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}
PATIENCE = 1.0 if not SANITIZE else 3.0


def whole_or_none(path, name):
    if not path.exists():
        return None
    document = read_document(path)
    assert document["session"]["interrupted"] is True
    assert document["session"]["signal"] == name
    assert not [other for other in path.parent.iterdir() if other != path]
    return document


@pytest.mark.parametrize("name", NUMBERS)
def test_one_wish_may_arrive_twice(start, f1, tmp_json, name):
    """timeout(1) signals the process, then its group: microseconds apart."""
    with start("-p0", "-r60", "--json", tmp_json, f1) as running:
        assert running.wait_until(lambda: "IOPS=" in running.output(), 10)
        for _ in range(3):
            running.signal(NUMBERS[name])
        result = running.finish(10)
    assert result.rc == 128 + NUMBERS[name], result
    assert whole_or_none(tmp_json, name), "the result was thrown away"


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("door", [(), ("run",)])
def test_in_the_middle(start, f1, tmp_json, name, door, validated):
    with start(*door, "-p0", "-r60", "--warmup", "0", "--json", tmp_json, f1) as running:
        assert running.wait_until(lambda: running.output() or door, 5)
        time.sleep(1.3)
        stopped = time.monotonic()
        running.signal(NUMBERS[name])
        result = running.finish(10)
        assert time.monotonic() - stopped < PATIENCE, result
    assert result.rc == 128 + NUMBERS[name], result
    document = whole_or_none(tmp_json, name)
    assert document, "a run that was measured for a second leaves its result"
    validated(tmp_json.read_text())
    run = runs_of(document)[-1]
    assert run["ios"] > 0 and 0.5e9 < run["elapsed_ns"] < 4e9
    assert run["iops"] == pytest.approx(run["ios"] / (run["elapsed_ns"] / 1e9), rel=1e-3)
    assert sum(part["ios"] for part in run["intervals"]) == run["ios"]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("delay", [0.0, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2,
                                   0.35])
def test_at_any_moment(start, f1, tmp_json, name, delay):
    with start("-p0", "-r20", "-n2", "--json", tmp_json, f1) as running:
        time.sleep(delay)
        stopped = time.monotonic()
        running.signal(NUMBERS[name])
        result = running.finish(10)
        assert time.monotonic() - stopped < PATIENCE + 1, result
    assert result.rc == 128 + NUMBERS[name], result
    whole_or_none(tmp_json, name)


@pytest.mark.parametrize("delay", [0.15, 0.6])
def test_during_the_warm_up(start, f1, tmp_json, delay):
    with start("-p0", "-r20", "--warmup", "20s", "--json", tmp_json, f1) as running:
        time.sleep(delay)
        stopped = time.monotonic()
        running.signal(signal.SIGTERM)
        result = running.finish(10)
        assert time.monotonic() - stopped < PATIENCE, result
    assert result.rc == 143, result
    document = whole_or_none(tmp_json, "SIGTERM")
    if document:
        for run in runs_of(document):
            assert run["ios"] == 0 or run["elapsed_ns"] > 0
        assert "summary" not in document["cells"][0] or not document["cells"][0]["summary"]


@pytest.mark.parametrize("name", NUMBERS)
def test_while_the_scratch_is_made(start, area, tmp_json, name):
    folder = area / f"scratch-{name}"
    folder.mkdir()
    with start("run", "-p0", "--scratch", f"3G@{folder}", "--json", tmp_json) as running:
        time.sleep(0.25)
        stopped = time.monotonic()
        running.signal(NUMBERS[name])
        result = running.finish(20)
        assert time.monotonic() - stopped < PATIENCE + 2, result
    assert result.rc == 128 + NUMBERS[name], result
    assert not list(folder.iterdir()), "nothing is left behind"
    whole_or_none(tmp_json, name)


def test_between_repeats(start, f1, tmp_json):
    """The runs that were finished before the signal are kept."""
    with start("run", "-p0", "-r200ms", "--warmup", "0", "--repeats", "100", "--json", tmp_json,
               f1) as running:
        time.sleep(1.2)
        running.signal(signal.SIGINT)
        result = running.finish(10)
    assert result.rc == 130, result
    document = whole_or_none(tmp_json, "SIGINT")
    runs = runs_of(document)
    assert 2 <= len(runs) < 100
    assert all(run["elapsed_ns"] >= 0.19e9 for run in runs[:-1])


def test_document_is_whole_after_each_repeat(start, f1, tmp_json):
    """SIGKILL costs at most the run in progress."""
    with start("run", "-p0", "-r200ms", "--warmup", "0", "--repeats", "100", "--json", tmp_json,
               f1) as running:
        assert running.wait_until(tmp_json.exists, 5), "written after the first run"
        time.sleep(0.5)
        running.signal(signal.SIGKILL)
        running.finish(10)
    assert len(runs_of(read_document(tmp_json))) >= 2


def test_json_on_stdout_when_interrupted(start, f1, validated):
    with start("-p0", "-r60", "--json", "-", f1) as running:
        time.sleep(1.0)
        running.signal(signal.SIGINT)
        result = running.finish(10)
    assert result.rc == 130, result
    assert validated(result.out)["session"]["signal"] == "SIGINT"


@pytest.mark.parametrize("name, code", [("SIGINT", 0), ("SIGTERM", 143)])
def test_without_a_runtime(start, f1, tmp_json, name, code):
    with start("-p0", "--json", tmp_json, f1) as running:
        assert running.wait_until(lambda: "IOPS=" in running.output(), 5)
        running.signal(NUMBERS[name])
        result = running.finish(10)
    assert result.rc == code, result
    assert "Exiting on signal" in result.out and "Maximum IOPS=" in result.out
    assert runs_of(read_document(tmp_json))[0]["ios"] > 0


def test_zero_runtime_is_until_interrupted(start, f1):
    with start("-p0", "-r0", f1) as running:
        assert running.wait_until(lambda: "IOPS=" in running.output(), 5)
        running.signal(signal.SIGINT)
        assert running.finish(10).rc == 0


def test_second_signal_ends_at_once(start, fuse_file, tmp_json):
    target = fuse_file(16 * MIB)
    with start("-p0", "-r60", "-d4", "--json", tmp_json, target.path) as running:
        assert running.wait_until(lambda: target.count > 50, 10)
        target.mode = 1  # stall: the first signal cannot drain
        time.sleep(0.2)
        running.signal(signal.SIGINT)
        time.sleep(0.15)
        running.signal(signal.SIGINT)
        result = running.finish(15)
        target.mode = 0
    assert result.rc == 130, result
    if tmp_json.exists():
        read_document(tmp_json)


def test_signals_pile_up(start, f1, tmp_json):
    with start("-p0", "-r60", "--json", tmp_json, f1) as running:
        time.sleep(0.7)
        for _ in range(20):
            running.signal(signal.SIGTERM)
        result = running.finish(10)
    assert result.rc == 143, result
    whole_or_none(tmp_json, "SIGTERM")


def test_stopped_and_continued(start, f1):
    with start("-p0", "-r1", f1) as running:
        time.sleep(0.3)
        running.signal(signal.SIGSTOP)
        time.sleep(0.5)
        running.signal(signal.SIGCONT)
        assert running.finish(10).rc == 0


def test_ignored_interrupt_stays_ignored_or_ends_well(start, f1, tmp_json):
    """Under nohup-like parents SIGINT may come in ignored; nothing breaks."""
    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with start("-p0", "-r1", "--json", tmp_json, f1, preexec=ignore) as running:
        time.sleep(0.4)
        running.signal(signal.SIGINT)
        result = running.finish(10)
    assert result.rc in (0, 130), result
    read_document(tmp_json)


def test_hang_up(start, f1, tmp_json):
    """The terminal went away: no half-written document."""
    with start("-p0", "-r30", "--json", tmp_json, f1) as running:
        time.sleep(0.6)
        running.signal(signal.SIGHUP)
        result = running.finish(10)
    assert result.rc == 129, result
    assert not tmp_json.exists() or read_document(tmp_json)
    assert set(os.listdir(tmp_json.parent)) <= {tmp_json.name}
