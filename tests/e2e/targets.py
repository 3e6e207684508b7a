"""Targets of every kind, all made here and all put back afterwards."""

import contextlib
import errno
import fcntl
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import pytest

from fusefile import FuseFile
from helpers import MIB, ROOT, unavailable

ZRAM_LOCK = "/tmp/uringbench-zram.lock"

# --- files -----------------------------------------------------------------------------------

def supports_direct(folder):
    probe = os.path.join(folder, "direct-probe")
    try:
        os.close(os.open(probe, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600))
        return True
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            os.unlink(probe)


@pytest.fixture(scope="session")
def area(binary):
    """A folder on a file system with direct I/O; URINGBENCH_TEST_DIR names another one."""
    candidates = [os.environ.get("URINGBENCH_TEST_DIR"), os.path.dirname(binary),
                  str(ROOT / "build"), "/var/tmp", os.path.expanduser("~"), "/tmp"]
    for parent in filter(None, candidates):
        with contextlib.suppress(OSError):
            folder = tempfile.mkdtemp(prefix="e2e-", dir=parent)
            os.chmod(folder, 0o755)
            if supports_direct(folder) and magic_of(folder) not in ("tmpfs", "ramfs"):
                yield pathlib.Path(folder)
                shutil.rmtree(folder, ignore_errors=True)
                return
            shutil.rmtree(folder, ignore_errors=True)
    unavailable("direct", "no folder on a file system with O_DIRECT")


def magic_of(folder):
    done = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip()


def fill(path, size):
    with open(path, "wb") as file:
        left = size
        while left > 0:
            file.write(os.urandom(min(left, MIB)))
            left -= MIB
        file.flush()
        os.fsync(file.fileno())
    return path


def make_file(name, size):
    @pytest.fixture(scope="session", name=name)
    def fixture(area):
        return fill(area / name, size)
    return fixture


f1 = make_file("f1", 64 * MIB)
f2 = make_file("f2", 64 * MIB)
one = make_file("one", 4096)
two = make_file("two", 8192)
empty = make_file("empty", 0)
odd = make_file("odd", 10000)


@pytest.fixture(scope="session")
def sparse(area):
    path = area / "sparse"
    with open(path, "wb") as file:
        file.truncate(64 * MIB)
    return path


# --- devices ---------------------------------------------------------------------------------

def need_root():
    if os.geteuid() != 0:
        unavailable("root", "needs root")


@contextlib.contextmanager
def loop_device(path, *options):
    need_root()
    done = subprocess.run(["losetup", "-f", "--show", *options, str(path)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = "device-refused" if os.path.exists("/dev/loop-control") else "loop"
        unavailable(reason, f"losetup: {done.stderr.strip()}")
    device = done.stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "-d", device], check=False, capture_output=True)


@pytest.fixture
def attach_loop():
    """attach_loop(path, option…) → /dev/loopN, detached at the end of the test."""
    with contextlib.ExitStack() as stack:
        yield lambda path, *options: stack.enter_context(loop_device(path, *options))


@pytest.fixture(scope="session")
def loop(area):
    """A healthy loop device of 32 MiB."""
    with loop_device(fill(area / "loop-img", 32 * MIB)) as device:
        yield device


@pytest.fixture(scope="session")
def img(area):
    """A loop device of 32 MiB whose upper half answers EIO: its file was cut afterwards."""
    path = fill(area / "img", 32 * MIB)
    with loop_device(path) as device:
        os.truncate(path, 16 * MIB)
        yield device


@contextlib.contextmanager
def zram_device(size):
    """A zram device of our own; /dev/zram0, under a lock, where none can be added."""
    need_root()
    with contextlib.ExitStack() as stack:
        number, added = 0, False
        try:
            number = int(pathlib.Path("/sys/class/zram-control/hot_add").read_text())
            added = True
        except OSError:
            claim_zram0(stack)
        base, device = pathlib.Path(f"/sys/block/zram{number}"), f"/dev/zram{number}"
        try:
            wait_for(device)
            (base / "disksize").write_text(str(size))
            yield device, base
        finally:
            reset(base)
            if added:
                pathlib.Path("/sys/class/zram-control/hot_remove").write_text(str(number))


def claim_zram0(stack):
    """Holds the lock that all users of /dev/zram0 take; skips when the device stays in use."""
    if not os.path.exists("/sys/block/zram0"):
        unavailable("zram", "no zram here")
    lock = stack.enter_context(open(ZRAM_LOCK, "w", encoding="ascii"))
    end = time.monotonic() + 60
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError:
            if time.monotonic() > end:
                unavailable("device-refused", "/dev/zram0 is locked by another test run")
            time.sleep(0.2)
    if pathlib.Path("/sys/block/zram0/initstate").read_text().strip() != "0":
        unavailable("device-refused", "/dev/zram0 is in use by somebody")


def wait_for(device):
    end = time.monotonic() + 5
    while not os.path.exists(device):
        if time.monotonic() > end:
            unavailable("device-refused", f"{device} did not appear")
        time.sleep(0.02)


def reset(base):
    for _ in range(50):
        try:
            (base / "reset").write_text("1")
            return
        except OSError as problem:
            if problem.errno != errno.EBUSY:
                return
        time.sleep(0.1)


@pytest.fixture(scope="module")
def zram():
    """A zram device of 256 MiB with random data in every page; 4096-byte sectors."""
    with zram_device(256 * MIB) as (device, _):
        block = os.urandom(MIB)
        with open(device, "wb", buffering=0) as file:
            for _ in range(256):
                file.write(block)
            os.fsync(file.fileno())
        yield device


@pytest.fixture(scope="module")
def blank_zram():
    """A zram device nothing was written to: reads of it cost no I/O."""
    with zram_device(64 * MIB) as (device, _):
        yield device


@pytest.fixture
def fuse_file(tmp_path):
    """fuse_file(size) → a FuseFile: a target that can be told to misbehave."""
    need_root()
    opened = []

    def go(size):
        try:
            opened.append(FuseFile(tmp_path / f"served{len(opened)}", size))
        except OSError as problem:
            reason = "device-refused" if os.path.exists("/dev/fuse") else "fuse"
            unavailable(reason, f"FUSE: {problem}")
        return opened[-1]

    yield go
    for file in opened:
        file.close()


@pytest.fixture
def tiny_file_system(tmp_path):
    """A tmpfs of 64 KiB: a disk that is full at once."""
    need_root()
    folder = tmp_path / "tiny"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable("device-refused", f"mount: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)
