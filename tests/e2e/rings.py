"""Bare rings by system calls alone: what this kernel knows, whatever the program says of it."""

import contextlib
import ctypes
import errno
import os
import pathlib
import struct

import seccomp

# io_uring_setup's flags by bit, as far as Linux 6.18 has them.
SETUP_FLAGS = ["IOPOLL", "SQPOLL", "SQ_AFF", "CQSIZE", "CLAMP", "ATTACH_WQ", "R_DISABLED",
               "SUBMIT_ALL", "COOP_TASKRUN", "TASKRUN_FLAG", "SQE128", "CQE32", "SINGLE_ISSUER",
               "DEFER_TASKRUN", "NO_MMAP", "REGISTERED_FD_ONLY", "NO_SQARRAY", "HYBRID_IOPOLL",
               "CQE_MIXED"]
REGISTER_PROBE, REGISTER_RESTRICTIONS = 8, 11
PIDFD_GETFD = 438

libc = ctypes.CDLL(None, use_errno=True)


def system_call(number, *words):
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    result = libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"system call {number}")
    return result


@contextlib.contextmanager
def ring(bits=0):
    """The descriptor of a ring of eight entries with these set-up flags."""
    parameters = ctypes.create_string_buffer(120)  # struct io_uring_params
    struct.pack_into("=I", parameters, 8, bits)
    descriptor = system_call(seccomp.IO_URING_SETUP, 8, parameters)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def accepts(*names, bits=0):
    """Does set-up succeed with these flags?"""
    for name in names:
        bits |= 1 << SETUP_FLAGS.index(name)
    try:
        with ring(bits):
            return True
    except OSError as problem:
        if problem.errno != errno.EINVAL:
            raise
        return False


def shows_thread_times(bits=0):
    """Does fdinfo of such a ring show the times of an SQPOLL thread? (6.1 does not.)"""
    with ring(bits) as descriptor:
        text = pathlib.Path(f"/proc/self/fdinfo/{descriptor}").read_text()
    return "SqTotalTime" in text and "SqWorkTime" in text


def stats_off(bit):
    """What becomes of a ring with this bit: refused, accepted-but-not-off or off-verified."""
    if not accepts(bits=1 << bit):
        return "refused"
    proof = shows_thread_times() and not shows_thread_times(1 << bit)
    return "off-verified" if proof else "accepted-but-not-off"


def probe_from_outside(pid):
    """Asks each ring of another process for its opcodes; the errno of each answer, 0 for none.

    A ring with restrictions answers EACCES, one with SINGLE_ISSUER EEXIST."""
    answers = []
    process = os.pidfd_open(pid)
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                if os.readlink(f"/proc/{pid}/fd/{name}") == "anon_inode:[io_uring]":
                    answers.append(probe_ring(system_call(PIDFD_GETFD, process, int(name), 0)))
    finally:
        os.close(process)
    return answers


def probe_ring(descriptor):
    try:
        system_call(seccomp.IO_URING_REGISTER, descriptor, REGISTER_PROBE,
                    ctypes.create_string_buffer(16 + 256 * 8), 256)
        return 0
    except OSError as problem:
        return problem.errno
    finally:
        os.close(descriptor)
