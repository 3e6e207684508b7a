"""--queue: block-queue attributes for the time of a run, and as they were after every end of it."""

import contextlib
import ctypes
import errno
import fcntl
import os
import pathlib
import re
import select
import shutil
import signal
import stat
import struct
import time

import pytest

import seccomp
from fusefile import SERVE, STALL
from helpers import MIB, complaint_lines, execute, finding_codes, read_document, unavailable
from targets import fill, need_root

pytestmark = pytest.mark.single

BLKPG, BLKPG_ADD_PARTITION, BLKPG_DEL_PARTITION = 0x1269, 1, 2


class Queue:
    """The queue attributes of a disk, as sysfs shows them."""

    def __init__(self, device):
        self.device = device
        self.disk = pathlib.Path(device).name
        self.folder = pathlib.Path(f"/sys/block/{self.disk}/queue")

    def __getitem__(self, key):
        text = (self.folder / key).read_text().strip()
        active = re.search(r"\[(.*)\]", text)
        return active[1] if active else text

    def __setitem__(self, key, value):
        (self.folder / key).write_text(value)

    def all(self):
        found = {}
        for path in sorted(self.folder.glob("**/*")):
            with contextlib.suppress(OSError):
                found[str(path.relative_to(self.folder))] = path.read_text().strip()
        return found

    def becomes(self, key, value):
        return eventually(lambda: self[key] == value)


def need_scheduler(queue, name):
    if name not in (queue.folder / "scheduler").read_text():
        unavailable("device-refused", f"no {name} in this kernel")


def eventually(condition, seconds=5):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def guardians(parent=None):
    """Processes that wait to restore something: those of `parent`, or all."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            text = path.read_text()
            if "Name:\tqueue-guardian\n" in text and "State:\tZ" not in text:
                if parent is None or f"PPid:\t{parent}\n" in text:
                    found.append(int(path.parent.name))
    return found


@contextlib.contextmanager
def watched(device):
    """The queue of a device: known values before, and the very same ones afterwards."""
    queue = Queue(device)
    for key, value in (("scheduler", "none"), ("iostats", "1"), ("nomerges", "0")):
        queue[key] = value
    before = queue.all()
    try:
        yield queue
        assert queue.all() == before, "everything is as it was"
    finally:
        for key, value in before.items():
            if "/" not in key and key in ("iostats", "nomerges", "nr_requests"):
                with contextlib.suppress(OSError):
                    queue[key] = value


@pytest.fixture
def queue(area, attach_loop, request):
    """A loop device of its own, 16 MiB, healthy."""
    path = fill(area / re.sub(r"\W", "_", request.node.name), 16 * MIB)
    with watched(attach_loop(path)) as found:
        yield found
    path.unlink()


@pytest.fixture
def stalling(fuse_file, attach_loop):
    """A loop device on a file that can be told to stall, and that file."""
    target = fuse_file(16 * MIB)
    with watched(attach_loop(target.path, "-r")) as found:
        try:
            yield found, target
        finally:
            target.mode = SERVE


@pytest.fixture
def partitions(queue):
    """Two partitions of the loop device, made by hand: no partition table has to be understood."""
    def ask(operation, number, begin=0, size=0):
        data = ctypes.create_string_buffer(struct.pack("qqi128x4x", begin, size, number))
        order = struct.pack("iiiP", operation, 0, len(data) - 1, ctypes.addressof(data))
        descriptor = os.open(queue.device, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, BLKPG, order)
        finally:
            os.close(descriptor)
    names = [f"{queue.device}p{number}" for number in (1, 2)]
    try:
        for number in (1, 2):
            ask(BLKPG_ADD_PARTITION, number, number * 4 * MIB, 4 * MIB)
    except OSError as problem:
        unavailable("device-refused", f"partitions of a loop device: {problem}")
    end = time.monotonic() + 5
    while not all(map(os.path.exists, names)):
        if time.monotonic() > end:
            unavailable("device-refused", f"{names[0]} did not appear")
        time.sleep(0.02)
    yield names
    for number in (1, 2):
        ask(BLKPG_DEL_PARTITION, number)


def changed_then(start, queue, action, *words, **options):
    """Starts a long run with iostats=0, does `action` once it is in force; the Result."""
    with start("-p0", "-r60", "--queue", "iostats=0", *words, queue.device, **options) as running:
        assert running.wait_until(lambda: queue["iostats"] == "0"), running.output(1)
        assert running.wait_until(lambda: "IOPS=" in running.output()), running.output(1)
        action(running)
        return running.finish(20)


# --- set and restored ------------------------------------------------------------------------

@pytest.mark.parametrize("door", [(), ("run", "--repeats", "2", "--warmup", "0")])
def test_set_during_the_run_and_restored(start, queue, tmp_json, validated, door):
    with start(*door, "-p0", "-r1", "--queue", "iostats=0", "--json", tmp_json,
               queue.device) as running:
        assert running.wait_until(lambda: queue["iostats"] == "0"), running.output(1)
        result = running.finish()
    assert result.rc == 0 and queue["iostats"] == "1", result
    document = validated(tmp_json.read_text())
    assert document["targets"][0]["queue"]["iostats"] == "0", "as during the runs"
    assert document["targets"][0]["queue_restored"] == {"iostats": "1"}
    assert "iostats" not in finding_codes(document), "they were off"
    assert not guardians(running.pid)


def test_several_attributes(measured, queue):
    target = measured("-p0", "-r300ms", "--queue", "nomerges=2,iostats=0,rq_affinity=2",
                      queue.device)["targets"][0]
    assert {key: target["queue"][key] for key in ("nomerges", "iostats", "rq_affinity")} == {
        "nomerges": "2", "iostats": "0", "rq_affinity": "2"}
    assert target["queue_restored"]["nomerges"] == "0"
    assert target["queue_restored"]["iostats"] == "1"


def test_scheduler_and_what_it_resets(measured, queue):
    need_scheduler(queue, "mq-deadline")
    before = queue["nr_requests"]
    target = measured("-p0", "-r300ms", "--queue", "nr_requests=48,scheduler=mq-deadline",
                      queue.device)["targets"][0]
    assert target["queue"]["scheduler"] == "mq-deadline"
    assert target["queue"]["nr_requests"] == "48"
    assert target["queue_restored"]["scheduler"] == "none"
    assert target["queue_restored"]["nr_requests"] == before


def test_without_the_flag_nothing_was_restored(measured, queue):
    assert "queue_restored" not in measured("-p0", "-r200ms", queue.device)["targets"][0]


def test_a_value_that_is_there_already(measured, queue):
    target = measured("-p0", "-r200ms", "--queue", "iostats=1", queue.device)["targets"][0]
    assert target["queue"]["iostats"] == "1"


def test_partition_means_the_whole_disk(start, queue, partitions, tmp_json):
    with start("-p0", "-r1", "--queue", "iostats=0", "--json", tmp_json,
               partitions[0]) as running:
        assert running.wait_until(lambda: queue["iostats"] == "0"), running.output(1)
        result = running.finish()
    assert result.rc == 0 and queue["iostats"] == "1", result
    assert read_document(tmp_json)["targets"][0]["queue_restored"] == {"iostats": "1"}


def test_two_targets_on_one_disk(measured, queue, partitions):
    document = measured("-p0", "-r300ms", "--queue", "iostats=0", *partitions)
    for target in document["targets"]:
        assert target["queue"]["iostats"] == "0"
        assert target["queue_restored"] == {"iostats": "1"}, "not set twice: the second was 0"


def test_two_disks(measured, queue, area, attach_loop):
    path = fill(area / "second-disk", 16 * MIB)
    with watched(attach_loop(path)) as second:
        document = measured("-p0", "-r300ms", "--queue", "iostats=0", queue.device,
                            second.device)
    assert [target["queue_restored"] for target in document["targets"]] == [{"iostats": "1"}] * 2


# --- restored whatever happens ---------------------------------------------------------------

def test_restored_after_errors(run, area, attach_loop, tmp_json):
    path = fill(area / "queue-errors", 32 * MIB)
    with watched(attach_loop(path)) as queue:
        os.truncate(path, 16 * MIB)
        result = run("-p0", "-r500ms", "--queue", "iostats=0", "--json", tmp_json, queue.device)
        assert result.rc == 8 and queue["iostats"] == "1", result
    assert read_document(tmp_json)["targets"][0]["queue_restored"] == {"iostats": "1"}


def test_restored_when_the_run_is_refused_at_set_up(run, queue):
    result = run("-p0", "-r1", "--queue", "iostats=0", queue.device,
                 preexec=seccomp.forbid([seccomp.IO_URING_SETUP], errno.EPERM))
    assert result.rc == 7 and queue["iostats"] == "1", result


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_restored_after_a_signal(start, queue, tmp_json, name):
    number = getattr(signal, name)
    result = changed_then(start, queue, lambda running: running.signal(number), "--json",
                          tmp_json)
    assert queue["iostats"] == "1", "when the program has ended, not later"
    assert result.rc == 128 + number, result
    assert read_document(tmp_json)["targets"][0]["queue_restored"] == {"iostats": "1"}


def test_restored_after_ctrl_c_in_a_terminal(start, queue):
    """It goes to the whole process group."""
    result = changed_then(start, queue, lambda running: os.killpg(running.pid, signal.SIGINT),
                          preexec=os.setpgrp)
    assert result.rc == 130 and queue["iostats"] == "1", result


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT])
@pytest.mark.parametrize("group", [False, True])
def test_restored_after_a_violent_end(start, queue, number, group):
    def kill(running):
        (os.killpg if group else os.kill)(running.pid, number)
    changed_then(start, queue, kill, preexec=os.setpgrp)
    assert queue.becomes("iostats", "1")


def test_restored_when_the_guardian_is_killed(start, queue):
    def kill_both_in_turn(running):
        for pid in guardians(running.pid):
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
        running.signal(signal.SIGTERM)
    result = changed_then(start, queue, kill_both_in_turn)
    assert result.rc == 143 and queue["iostats"] == "1", result


def test_second_signal(start, stalling):
    """The first one cannot end a run whose device hangs; the second does, and the attributes are
    restored as soon as the device answers again."""
    queue, target = stalling

    def stall_and_insist(running):
        target.mode = STALL
        time.sleep(0.2)
        running.signal(signal.SIGINT)
        time.sleep(0.15)
        running.signal(signal.SIGINT)
        time.sleep(0.5)
        target.mode = SERVE
    result = changed_then(start, queue, stall_and_insist, "-d4")
    assert result.rc == 130, result
    assert queue.becomes("iostats", "1")


def test_stalled_device(start, stalling, tmp_json):
    """A scheduler can only be changed while no request is in flight, so restoring has to wait for
    the device; the document and the message that says so have not."""
    queue, target = stalling
    need_scheduler(queue, "mq-deadline")
    with start("-p0", "-r60", "-d4", "--stall-timeout", "1s", "--queue", "scheduler=mq-deadline",
               "--json", tmp_json, queue.device) as running:
        assert running.wait_until(lambda: "IOPS=" in running.output()), running.output(1)
        assert queue["scheduler"] == "mq-deadline"
        target.mode = STALL  # from here on sysfs may not answer either
        said = running.wait_until(lambda: "not restored in time" in running.output(1), 20)
        written = tmp_json.exists()
        target.mode = SERVE
        result = running.finish(20)
    assert said and written, result
    assert result.rc == 8 and "queue-guardian" in result.err, result
    assert queue.becomes("scheduler", "none")


def test_guardian_holds_neither_the_pipe_nor_the_folder(start, queue, tmp_path):
    """A reader of stdout sees its end as soon as the benchmark is gone."""
    reader, writer = os.pipe()
    with start("-p0", "-r60", "--queue", "iostats=0", queue.device, stdout=writer, stderr=writer,
               cwd=tmp_path) as running:
        os.close(writer)
        assert running.wait_until(lambda: queue["iostats"] == "0")
        found = guardians(running.pid)
        assert len(found) == 1
        os.kill(found[0], signal.SIGSTOP)  # or it would be gone before anybody could look
        try:
            assert os.readlink(f"/proc/{found[0]}/cwd") == "/"
            running.kill()
            end = time.monotonic() + 5
            data = b"-"
            while data and time.monotonic() < end:
                if select.select([reader], [], [], 0.5)[0]:
                    data = os.read(reader, 65536)
            assert data == b"", "the end of the pipe did not come"
        finally:
            os.kill(found[0], signal.SIGCONT)
    os.close(reader)
    assert queue.becomes("iostats", "1")
    assert eventually(lambda: found[0] not in guardians())


# --- refused ---------------------------------------------------------------------------------

def refused(run, queue, setting, *words, rc=7):
    before = queue.all()
    result = run("-p0", "-r60", "--queue", setting, *words, queue.device)
    assert result.rc == rc and result.seconds < 5, result
    assert queue.all() == before, result
    assert complaint_lines(result) and "--queue" in result.err, result
    assert not result.out, result
    return result.err


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_unknown_attribute(run, queue, words):
    text = refused(run, queue, "iostatz=0", *words)
    assert "iostatz" in text and "did you mean iostats?" in text and queue.disk in text


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_read_only_attribute(run, queue, words):
    text = refused(run, queue, "logical_block_size=4096", *words)
    assert "logical_block_size" in text and "read-only" in text


def test_all_that_is_wrong_is_said_at_once(run, queue):
    text = refused(run, queue, "iostatz=0,logical_block_size=4096,nomergez=1")
    assert all(word in text for word in ("iostatz", "logical_block_size", "nomergez"))


@pytest.mark.parametrize("setting, words", [
    ("nomerges=2,iostats=abc", ["iostats", "abc", "EINVAL"]),
    ("iostats=0,scheduler=nonsense", ["scheduler", "nonsense", "none"]),
    ("iostats=0,nomerges=7", ["nomerges", "7", "reads back"]),
])
def test_value_that_the_kernel_does_not_take(run, queue, setting, words):
    text = refused(run, queue, setting)
    assert all(word in text for word in words), text


@pytest.mark.parametrize("setting", ["", "iostats", "=1", "iostats=", "IOSTATS=0", "a/b=1",
                                     "../ro=1", "iostats=0,", ",", "iostats=0,iostats=1"])
def test_malformed(run, queue, setting):
    refused(run, queue, setting, rc=2)


def test_file_alone(run, f1):
    """The disk below a file system serves others too: it is not changed on behalf of a file."""
    result = run("-p0", "-r60", "--queue", "iostats=0", f1)
    assert result.rc == 7 and result.seconds < 5 and "--queue" in result.err, result
    assert complaint_lines(result)


def test_no_operation(run):
    result = run("-N1", "-r60", "--queue", "iostats=0")
    assert result.rc in (2, 7) and result.seconds < 5 and "--queue" in result.err, result


def test_not_root(as_nobody, public, queue):
    need_root()
    node = public / "queue-node"
    try:
        # Another node of the device, which nobody may read: permission for the queue is what lacks.
        os.mknod(node, stat.S_IFBLK | 0o644, os.stat(queue.device).st_rdev)
        with open(node, "rb"):
            pass
    except OSError as problem:
        unavailable("device-refused", f"mknod: {problem}")
    try:
        node.chmod(0o644)
        for words in ((), ("--dry-run",)):
            result = as_nobody("-p0", "-r60", "--queue", "iostats=0,nomerges=2", *words, node)
            assert result.rc == 7 and result.seconds < 5, result
            assert "root" in result.err and "sudo" in result.err, result
            assert len(complaint_lines(result)) == 1, "one reason, however many attributes"
    finally:
        node.unlink()


@pytest.mark.plain
def test_dry_run_touches_nothing(binary, queue, tmp_path):
    if shutil.which("strace") is None:
        unavailable("strace", "no strace")
    log = tmp_path / "trace"
    result = execute(["strace", "-f", "-qq", "-o", str(log), "-e", "trace=openat,fork,vfork,clone",
                      binary, "-p0", "-r1", "--queue", "iostats=0", "--dry-run", queue.device],
                     timeout=60)
    assert result.rc == 0 and "iostats" in result.out, result
    trace = log.read_text(errors="replace")
    assert queue["iostats"] == "1"
    assert not re.search(r'"/sys/[^"]*", [^)]*(O_WRONLY|O_RDWR)', trace)
    assert not re.search(r"^\d+ +(v?fork|clone)\(", trace, re.M), "no guardian: nothing to guard"
