"""It only ever reads its targets, leaves no trace, and is small."""

import os
import re
import shutil

import pytest

from helpers import MIB, execute, unavailable

pytestmark = pytest.mark.single


@pytest.fixture
def traced(binary, tmp_path):
    if shutil.which("strace") is None:
        unavailable("strace", "no strace")
    folder = tmp_path / "cwd"
    folder.mkdir()

    def go(*words):
        log = tmp_path / "trace"
        result = execute(["strace", "-f", "-qq", "-s", "4096", "-o", str(log), "-e",
                          "trace=open,openat,openat2,creat,unlink,rename,renameat2,mkdir,"
                          "write,pwrite64,ioctl,ftruncate,fallocate", binary, *words],
                         cwd=folder, timeout=60)
        assert not list(folder.iterdir()), "nothing is written into the current folder"
        return result, log.read_text(errors="replace")
    return go


def opens_of(trace, path):
    pattern = rf'(?:open|openat|openat2)\([^"]*"{re.escape(str(path))}", ([^)]*)'
    return re.findall(pattern, trace)


@pytest.mark.plain
@pytest.mark.parametrize("flags", [(), ("-n3",), ("-S1",), ("-O0",), ("-t1", "-B0", "-F0")])
def test_targets_are_opened_for_reading_only(traced, f1, flags):
    result, trace = traced("-p0", "-r300ms", *flags, f1)
    assert result.rc == 0, result
    found = opens_of(trace, f1)
    assert found, "the target is opened by its name at least once"
    for flag_text in found + re.findall(r'"/proc/self/fd/\d+", ([^)]*)', trace):
        assert "O_RDONLY" in flag_text or "O_PATH" in flag_text, flag_text
        assert not re.search("O_RDWR|O_WRONLY|O_CREAT|O_TRUNC", flag_text)


@pytest.mark.plain
def test_devices_are_opened_for_reading_only(traced, loop):
    result, trace = traced("-p0", "-r300ms", loop)
    assert result.rc == 0, result
    for flag_text in opens_of(trace, loop):
        assert "O_RDONLY" in flag_text and "O_CREAT" not in flag_text
    assert not re.search("BLKDISCARD|BLKZEROOUT|BLKROSET|BLKSECDISCARD|BLKFLSBUF", trace)


@pytest.mark.plain
def test_only_its_own_files_are_opened_for_writing(traced, f1, tmp_path):
    result, trace = traced("-p0", "-r300ms", "-T1", f1)
    assert result.rc in (2, 7)
    result, trace = traced("run", "-p0", "-r300ms", "--repeats", "1", "--json",
                           tmp_path / "x.json", f1)
    assert result.rc == 0, result
    for line in trace.splitlines():
        if re.search(r"open(at2?)?\(", line) and re.search("O_RDWR|O_WRONLY|O_CREAT", line):
            name = re.search(r'"([^"]*)"', line)[1]
            assert name.startswith((str(tmp_path), "/dev/null", "/dev/tty")) or name == ".", line


@pytest.mark.plain
def test_scratch_is_anonymous_or_gone(traced, area):
    result, trace = traced("-p0", "-r300ms", "--scratch", f"8M@{area}")
    assert result.rc == 0, result
    made = [line for line in trace.splitlines() if "O_CREAT" in line and str(area) in line]
    assert "O_TMPFILE" in trace or made and "unlink" in trace


def test_content_is_untouched(run, area):
    import hashlib
    path = area / "content"
    path.write_bytes(os.urandom(4 * MIB))
    before = hashlib.sha256(path.read_bytes()).digest(), os.stat(path).st_mtime_ns
    assert run("-p0", "-r300ms", path).rc == 0
    assert (hashlib.sha256(path.read_bytes()).digest(), os.stat(path).st_mtime_ns) == before


def test_current_folder_stays_empty(run, work, f1):
    assert run("-p0", "-t1", "-r200ms", f1).rc == 0
    assert not list(work.iterdir())


@pytest.mark.memory
def test_memory_is_small(run, f1):
    result = run("-p0", "-r1", "-d128", f1, memory=True)
    assert result.rc == 0, result
    assert 0 < result.peak_kib <= 16 * 1024, f"{result.peak_kib} KiB"


@pytest.mark.memory
def test_memory_does_not_grow_with_time(run, f1):
    short, long = (run("-p0", "-t1", f"-r{seconds}", "-d128", f1, memory=True).peak_kib
                   for seconds in ("500ms", "3"))
    assert long <= short + 512, f"{short} → {long} KiB"


@pytest.mark.speed
def test_starts_and_ends_at_once(run, f1):
    """Generous: start, 100 ms of measuring and the end within 1.5 s on a busy machine."""
    assert min(run("-p0", "-r200ms", f1).seconds for _ in range(3)) < 1.5


@pytest.mark.speed
@pytest.mark.parametrize("seconds", ["0.5", "1", "2"])
def test_runtime_is_kept(run, f1, seconds):
    result = run("-p0", f"-r{seconds}", f1)
    assert float(seconds) <= result.seconds < float(seconds) + 0.8, result


def test_processor_time_is_that_of_one_thread(run, f1):
    import resource
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run("-p0", "-r1", "-d1", "-s1", "-c1", f1).rc == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used < 1.6, f"{used:.2f} s of processor time for one second of one thread"
