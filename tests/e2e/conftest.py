"""Fixtures: targets of every kind, all made here and all put back afterwards.

Skips are counted: a test may only be skipped for a reason listed in `excused`, and only where
this machine really lacks the thing. Anything else fails the session.
"""

import contextlib
import errno
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import pytest

import helpers
from fusefile import FuseFile
from helpers import MIB, ROOT, SANITIZE, execute, parse_document, started, unavailable

ZRAM_LOCK = "/tmp/uringbench-zram.lock"


# --- counting skips and deselected tests -----------------------------------------------------

def io_uring_allowed():
    with contextlib.suppress(OSError):
        return pathlib.Path("/proc/sys/kernel/io_uring_disabled").read_text().strip() == "0"
    return True


def excused():
    """Reason → does this machine really lack it? The only skips that do not fail the session."""
    root = os.geteuid() == 0
    return {
        "root": not root,
        "loop": not root or not os.path.exists("/dev/loop-control"),
        "zram": not root or not os.path.exists("/sys/class/zram-control/hot_add"),
        "fuse": not root or not os.path.exists("/dev/fuse"),
        "tmpfs": not root,
        "strace": shutil.which("strace") is None,
        "io_uring": not io_uring_allowed(),
        "direct": True,   # no folder with O_DIRECT anywhere: said loudly, cannot be helped
        "sysctl": not root or not os.access("/proc/sys/kernel/io_uring_disabled", os.W_OK),
        "schema": False,
        "device-refused": True,  # the kernel has the interface but the sandbox forbids its use
    }


def pytest_configure(config):
    config.addinivalue_line("markers", "speed: compares rates or times; not under sanitizers")
    config.addinivalue_line("markers", "memory: measures memory; not under sanitizers")
    config.addinivalue_line("markers", "plain: the sanitizers would not see more here")
    config.skip_reasons = []
    config.left_out = 0


def pytest_collection_modifyitems(config, items):
    if not SANITIZE:
        return
    names = ["speed", "memory", "plain"]
    left_out = [item for item in items if any(item.get_closest_marker(name) for name in names)]
    config.left_out = len(left_out)
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.skipped and not hasattr(report, "wasxfail"):
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        item.config.skip_reasons.append((item.nodeid, text))


def unexcused(config):
    allowed = excused()
    bad = []
    for node, text in config.skip_reasons:
        key = re.search(r"\[([\w-]+)\]", text)
        if not key or not allowed.get(key[1], False):
            bad.append(f"{node}: {text}")
    return bad


def pytest_sessionfinish(session, exitstatus):
    if unexcused(session.config) and exitstatus == 0:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter, config):
    if config.left_out:
        terminalreporter.write_line(
            f"{config.left_out} tests left out under {SANITIZE}: marked speed, memory or plain")
    for line in unexcused(config):
        terminalreporter.write_line(f"SKIPPED WITHOUT EXCUSE (fails the session): {line}")
    for node, text in config.skip_reasons:
        terminalreporter.write_line(f"skipped: {node}: {text}")


# --- the program -----------------------------------------------------------------------------

@pytest.fixture(scope="session")
def binary():
    return helpers.find_binary()


@pytest.fixture(scope="session")
def run(binary, work):
    """run(*words, …) → Result. Every run gets -p0 only when the test says so."""
    def go(*words, **options):
        options.setdefault("cwd", work)
        return execute([binary, *words], **options)
    return go


@pytest.fixture(scope="session")
def start(binary, work):
    """The same, not waited for: `with start(…) as running:`."""
    def go(*words, **options):
        options.setdefault("cwd", work)
        return started([binary, *words], **options)
    return go


@pytest.fixture
def measured(run, tmp_json):
    """measured(*words) → the document of a run that must end well."""
    def go(*words, rc=0, **options):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(tmp_json)
        result = run("--json", tmp_json, *words, **options)
        assert result.rc == rc, result
        document = helpers.read_document(tmp_json)
        validate(document)
        return document
    return go


@pytest.fixture
def validated():
    """validated(text) → the one document in `text`, checked against the schema."""
    def go(text):
        document = parse_document(text)
        validate(document)
        return document
    return go


def validate(document):
    import jsonschema  # late: tests of refusals do not need it
    path = ROOT / "docs/schema/result-v1.schema.json"
    if not path.exists():
        unavailable("schema", "docs/schema/result-v1.schema.json does not exist")
    schema = parse_document(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)


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


@pytest.fixture(scope="session")
def work(tmp_path_factory):
    """The current folder of every run: it must stay empty but for what a test asks for."""
    return tmp_path_factory.mktemp("cwd")


@pytest.fixture
def tmp_json(tmp_path):
    return tmp_path / "result.json"


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
    with open(ZRAM_LOCK, "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        number, added = 0, False
        try:
            number = int(pathlib.Path("/sys/class/zram-control/hot_add").read_text())
            added = True
        except OSError:
            if not os.path.exists("/sys/block/zram0"):
                unavailable("zram", "no zram here")
        base, device = pathlib.Path(f"/sys/block/zram{number}"), f"/dev/zram{number}"
        if not added and (base / "initstate").read_text().strip() != "0":
            unavailable("device-refused", "/dev/zram0 is in use by somebody")
        try:
            wait_for(device)
            (base / "disksize").write_text(str(size))
            yield device, base
        finally:
            reset(base)
            if added:
                pathlib.Path("/sys/class/zram-control/hot_remove").write_text(str(number))


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
