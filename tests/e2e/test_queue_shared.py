"""--queue: what other runs and other people do to the same disk, and what cannot be put back."""

import contextlib
import fcntl
import os
import signal
import subprocess

import pytest

from helpers import MIB, complaint_lines, unavailable
from targets import fill, need_root
from test_queue import Queue, eventually, guardians, queue  # noqa: F401 (a fixture)

pytestmark = pytest.mark.single

LOOP_CTL_ADD, LOOP_CTL_REMOVE = 0x4C80, 0x4C81
#: The kernel's answers to these are the same for every disk of a loop driver.
VALUES = ["0", "1", "2", "64", "-1", "write through", "mq-deadline"]


def removed(control, number):
    """Whoever looks at a new device keeps it for a moment."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(control, LOOP_CTL_REMOVE, number)
    return not os.path.exists(f"/sys/block/loop{number}")


@pytest.fixture
def throw_away(area):
    """The queue of a loop device that is removed afterwards, whatever has become of it."""
    need_root()
    path = fill(area / "throw-away", 16 * MIB)
    with contextlib.ExitStack() as stack:
        try:
            control = os.open("/dev/loop-control", os.O_RDWR)
            stack.callback(os.close, control)
            number = next(n for n in range(500, 600) if not os.path.exists(f"/sys/block/loop{n}"))
            fcntl.ioctl(control, LOOP_CTL_ADD, number)
        except OSError as problem:
            unavailable("device-refused", f"a loop device: {problem}")
        stack.callback(lambda: eventually(lambda: removed(control, number)))
        device = f"/dev/loop{number}"
        if not os.path.exists(device):
            unavailable("device-refused", f"{device} did not appear")
        subprocess.run(["losetup", device, path], check=True, timeout=20)
        stack.callback(subprocess.run, ["losetup", "-d", device], check=True, timeout=20)
        yield Queue(device)
    path.unlink()


def refuses(run, queue, *words):  # noqa: F811
    result = run("-p0", "-r60", "--queue", "nomerges=2", *words, queue.device)
    assert result.rc == 7 and result.seconds < 5 and not result.out, result
    assert complaint_lines(result) and "another run has changed this disk's queue" in result.err
    assert queue.disk in result.err and "queue-guardian" in result.err, result


def test_second_run_on_the_same_disk_is_refused(start, run, queue, tmp_json):  # noqa: F811
    with start("-p0", "-r60", "--queue", "iostats=0", queue.device) as running:
        assert running.wait_until(lambda: queue["iostats"] == "0"), running.output(1)
        refuses(run, queue)
        assert queue["iostats"] == "0" and queue["nomerges"] == "0"
        looked = run("-p0", "-r1", "--queue", "nomerges=2", "--dry-run", queue.device)
        assert looked.rc == 0, "a look needs no lock"
        running.signal(signal.SIGINT)
        assert running.finish(20).rc == 130
    assert queue["iostats"] == "1"
    assert run("-p0", "-r200ms", "--queue", "nomerges=2", queue.device).rc == 0


def test_disk_stays_locked_until_the_guardian_has_restored(start, run, queue):  # noqa: F811
    with start("-p0", "-r60", "--queue", "iostats=0", queue.device) as running:
        assert running.wait_until(lambda: queue["iostats"] == "0"), running.output(1)
        found = guardians(running.pid)
        assert len(found) == 1
        os.kill(found[0], signal.SIGSTOP)
        try:
            running.kill()
            assert eventually(lambda: found[0] not in guardians(running.pid))
            refuses(run, queue)
        finally:
            os.kill(found[0], signal.SIGCONT)
    assert queue.becomes("iostats", "1") and eventually(lambda: found[0] not in guardians())
    assert run("-p0", "-r200ms", "--queue", "nomerges=2", queue.device).rc == 0


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_what_cannot_be_put_back_is_barred(run, queue, words):  # noqa: F811
    if not (queue.folder / "discard_max_bytes").exists():
        unavailable("device-refused", "no discard_max_bytes in this kernel")
    before = queue.all()
    result = run("-p0", "-r60", "--queue", "discard_max_bytes=0", *words, queue.device)
    assert result.rc == 7 and "cannot be put back" in result.err, result
    assert result.err.count("discard_max_bytes") == 1, "not offered either"
    assert queue.all() == before


def test_whatever_is_set_is_as_before_afterwards(run, throw_away):
    """Every attribute that may be set, with values that hit some: refused, or restored to the
    last attribute, among them those that only change as a side effect."""
    names = sorted(path.name for path in throw_away.folder.iterdir()
                   if path.is_file() and path.stat().st_mode & 0o222)
    assert "iostats" in names and "nomerges" in names
    for key, value in (("read_ahead_kb", "60"), ("nr_requests", "48"), ("nomerges", "1")):
        throw_away[key] = value
    before = throw_away.all()
    taken = set()
    for name in names:
        for value in VALUES:
            result = run("-p0", "-r10ms", "--queue", f"{name}={value}", throw_away.device)
            assert result.rc in (0, 7), result
            assert throw_away.all() == before, (name, value, result)
            if result.rc == 0:
                taken.add(name)
    assert {"iostats", "nomerges", "nr_requests", "read_ahead_kb"} <= taken, taken
