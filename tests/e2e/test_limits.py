"""Machines that say no: filters, sysctls, limits, missing rights. A message, a code, no crash."""

import errno
import os
import pathlib
import re
import resource

import pytest

import seccomp
from helpers import complaint_lines, errno_name, only_run, read_document, unavailable

ERRNOS = [errno.EPERM, errno.ENOSYS, errno.EINVAL, errno.ENOMEM, errno.EMFILE, errno.ENFILE,
          errno.EFAULT, errno.EACCES, errno.EOPNOTSUPP, errno.EBUSY, errno.EAGAIN, errno.EIO,
          errno.ENXIO, errno.EBADF]


def said_no(result, number):
    assert result.rc == 7, result
    assert result.seconds < 3, result
    assert errno_name(number) in result.err, f"the errno is named:\n{result}"
    assert complaint_lines(result) and "hint" in result.err, result
    assert len(result.err.splitlines()) < 15, result
    assert "IOPS=" not in result.out, result


@pytest.mark.parametrize("number", ERRNOS, ids=errno_name)
def test_setup_is_refused(run, f1, number):
    said_no(run("-p0", "-r2", f1, preexec=seccomp.forbid([seccomp.IO_URING_SETUP], number)),
            number)


def test_setup_eperm_says_who(run, f1):
    result = run("-p0", "-r2", f1,
                 preexec=seccomp.forbid([seccomp.IO_URING_SETUP], errno.EPERM))
    assert "seccomp" in result.err, result
    result = run("-p0", "-r2", f1,
                 preexec=seccomp.forbid([seccomp.IO_URING_SETUP], errno.ENOSYS))
    assert re.search("kernel|seccomp", result.err), result


def test_setup_is_refused_before_stdout(run, f1):
    result = run("-p0", "-r2", "--json", "-", f1,
                 preexec=seccomp.forbid([seccomp.IO_URING_SETUP], errno.EPERM))
    assert result.rc == 7 and result.out == "", result


@pytest.mark.parametrize("flags", [("-n4",), ("-N1",), ("-t1", "-n2")])
def test_setup_is_refused_once_per_run(run, f1, flags):
    files = () if "-N1" in flags else (f1,)
    result = run("-p0", "-r2", *flags, *files,
                 preexec=seccomp.forbid([seccomp.IO_URING_SETUP], errno.EPERM))
    said_no(result, errno.EPERM)
    assert len(complaint_lines(result)) == 1, f"once, not once per thread:\n{result}"


def test_sync_engine_needs_no_ring(run, f1):
    result = run("-S1", "-r300ms", f1,
                 preexec=seccomp.forbid([seccomp.IO_URING_SETUP], errno.EPERM))
    assert result.rc == 0, result


@pytest.mark.single
@pytest.mark.parametrize("number", ERRNOS, ids=errno_name)
@pytest.mark.parametrize("opcode, what", [(0, "buffers"), (2, "files")])
def test_registration_is_refused(run, f1, number, opcode, what):
    """IORING_REGISTER_BUFFERS and IORING_REGISTER_FILES, each by itself."""
    result = run("-p0", "-r500ms", f1, preexec=seccomp.forbid(
        [seccomp.IO_URING_REGISTER], number, first_argument=(1, opcode)))
    if result.rc == 0:  # registered by another opcode of the same kind (…2, …_SPARSE)
        assert "IOPS=" in result.out, what
        return
    said_no(result, number)


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOSYS, errno.EINVAL, errno.EACCES],
                         ids=errno_name)
def test_every_registration_is_refused(run, f1, number):
    result = run("-p0", "-r500ms", f1,
                 preexec=seccomp.forbid([seccomp.IO_URING_REGISTER], number))
    said_no(result, number)


def test_without_registrations_none_is_needed(run, f1):
    result = run("-p0", "-r300ms", "-B0", "-F0", "-X0", f1,
                 preexec=seccomp.forbid([seccomp.IO_URING_REGISTER], errno.EPERM))
    assert result.rc == 0, result


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOSYS, errno.EINVAL, errno.EBADF,
                                    errno.ENOMEM, errno.EFAULT, errno.EOPNOTSUPP,
                                    errno.EBADR, errno.EBADFD], ids=errno_name)
@pytest.mark.parametrize("threads", ["-n1", "-n3"])
def test_enter_is_refused(run, f1, number, threads):
    result = run("-p0", "-r2", threads, "--stall-timeout", "1s", f1,
                 preexec=seccomp.forbid([seccomp.IO_URING_ENTER], number))
    assert result.rc in (7, 8) and result.seconds < 4, result
    assert errno_name(number) in result.err, result
    assert len(result.err.splitlines()) < 15, result


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.EBUSY, errno.EINTR],
                         ids=errno_name)
def test_enter_says_try_again_for_ever(run, f1, number):
    result = run("-p0", "-r1", "--stall-timeout", "500ms", f1, timeout=15,
                 preexec=seccomp.forbid([seccomp.IO_URING_ENTER], number))
    assert result.rc in (7, 8) and result.seconds < 5, result


def test_unreadable_file(as_nobody, public):
    if os.geteuid() != 0:
        unavailable("root", "needs another user")
    path = public / "secret"
    path.write_bytes(os.urandom(1 << 20))
    path.chmod(0o600)
    result = as_nobody("-O0", "-p0", "-r1", path)
    assert result.rc in (1, 7) and "EACCES" in result.err and str(path) in result.err, result


def test_unreadable_device(as_nobody, loop):
    result = as_nobody("-p0", "-r1", loop)
    assert result.rc in (1, 7) and "EACCES" in result.err and loop in result.err, result
    assert re.search("root|sudo|group|disk", result.err), f"the cure:\n{result}"


def test_anybody_can_measure_a_file(as_nobody, public):
    result = as_nobody("-O0", "-p0", "-r300ms", "-B0", public / "data")
    assert result.rc == 0, result


@pytest.mark.parametrize("depth", ["128", "512"])
def test_locked_memory(as_nobody, public, depth):
    result = as_nobody("-O0", "-p0", "-r300ms", f"-d{depth}", public / "data",
                       ulimit="ulimit -l 64")
    said_no_memlock(result, int(depth))


def said_no_memlock(result, depth):
    assert result.rc == 7, result
    assert "-B0" in result.err or "--fixed-buffers" in result.err, result
    assert "ulimit -l" in result.err or "RLIMIT_MEMLOCK" in result.err, result
    assert "64" in result.err and str(depth * 4 // 1024 or depth * 4) in result.err, \
        f"needed and allowed:\n{result}"


def test_locked_memory_suffices_without_registration(as_nobody, public):
    result = as_nobody("-O0", "-p0", "-r300ms", "-B0", public / "data", ulimit="ulimit -l 64")
    assert result.rc == 0, result


def test_small_runs_fit_into_little_locked_memory(as_nobody, public):
    result = as_nobody("-O0", "-p0", "-r300ms", "-d4", "-s4", "-c4", public / "data",
                       ulimit="ulimit -l 64")
    assert result.rc == 0, result


def limit(which, value):
    def install():
        resource.setrlimit(which, (value, value))
    return install


@pytest.mark.plain  # the sanitizers need descriptors and threads of their own
@pytest.mark.parametrize("count, flags", [(8, ("-n16",)), (16, ("-n64",)), (5, ()), (4, ())])
def test_few_descriptors(run, f1, count, flags):
    result = run("-p0", "-r300ms", *flags, f1,
                 preexec=limit(resource.RLIMIT_NOFILE, count))
    if result.rc == 0:
        assert not flags and "IOPS" in result.out, result
        return
    assert result.rc in (1, 7) and result.seconds < 3, result
    assert re.search("EMFILE|RLIMIT_NOFILE|ulimit -n|open files|descriptor", result.err), result


@pytest.mark.plain
def test_few_descriptors_many_targets(run, area):
    paths = []
    for number in range(40):
        paths.append(area / f"few{number}")
        paths[-1].write_bytes(b"x" * 4096)
    result = run("-p0", "-r300ms", *paths, preexec=limit(resource.RLIMIT_NOFILE, 24))
    assert result.rc in (1, 7) and result.seconds < 3, result


@pytest.mark.plain
def test_few_threads(public, as_nobody):
    if os.geteuid() != 0:
        unavailable("root", "needs a user whose processes can be counted")
    result = as_nobody("-O0", "-p0", "-r300ms", "-n64", "-B0", public / "data",
                       ulimit="ulimit -u 12")
    assert result.rc in (0, 7), result
    if result.rc == 7:
        assert re.search("EAGAIN|thread", result.err), result


@pytest.mark.plain  # the sanitizers reserve terabytes of address space themselves
def test_little_address_space(run, f1):
    result = run("-p0", "-r300ms", "-d2048", "-b1M", "-B0", f1,
                 preexec=limit(resource.RLIMIT_AS, 512 << 20))
    assert result.rc == 7 and result.seconds < 5, result
    assert re.search("ENOMEM|memory", result.err), result


@pytest.mark.single
@pytest.mark.parametrize("flags", [("-d32768", "-b1G", "-B0"), ("-d32768", "-b64M", "-n64")])
def test_more_memory_than_there_is(run, area, flags):
    path = area / "big"
    with open(path, "wb") as file:
        file.truncate(2 << 30)
    result = run("-p0", "-r300ms", *flags, path)
    path.unlink()
    assert result.rc == 7 and result.seconds < 3, result
    assert "memory" in result.err, result


@pytest.mark.single
def test_more_than_a_gigabyte_of_buffers(run, f1, tmp_json):
    """Region sizes in 64 bits; the kernel takes at most 1 GiB in one registered buffer."""
    available = int(re.search(r"MemAvailable:\s+(\d+)",
                              pathlib.Path("/proc/meminfo").read_text())[1]) << 10
    for flags in (("-d1088", "-B1"), ("-d4096", "-B0")):
        need = int(flags[0][2:]) << 20
        result = run("-p0", "-r2", "-b1048576", *flags, "--json", tmp_json, f1, timeout=60)
        if result.rc == 7 and need * 1.2 > available:
            assert "memory" in result.err, result
            continue
        assert result.rc == 0, result
        assert only_run(read_document(tmp_json))["errors"]["count"] == 0
