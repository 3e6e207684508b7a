"""A seccomp filter that answers chosen system calls with an errno, as containers do."""

import ctypes
import struct

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
RET_ALLOW, RET_ERRNO = 0x7FFF0000, 0x00050000
LOAD_WORD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06

# The same numbers on every architecture (added after the tables were unified).
IO_URING_SETUP, IO_URING_ENTER, IO_URING_REGISTER = 425, 426, 427


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def statement(code, value, jump_true=0, jump_false=0):
    return struct.pack("HBBI", code, jump_true, jump_false, value)


def forbid(calls, errno_number, first_argument=None):
    """A preexec function: `calls` fail with the errno; `first_argument` narrows the first one.

    With `first_argument` = (index, value) only calls whose argument has that value fail, e.g.
    io_uring_register with one opcode.
    """
    lines = [statement(LOAD_WORD, 0)]
    for number in calls:
        if first_argument is None:
            lines.append(statement(JUMP_EQUAL, number, 0, 1))
        else:
            index, value = first_argument
            lines.append(statement(JUMP_EQUAL, number, 0, 4))
            lines.append(statement(LOAD_WORD, 16 + 8 * index))
            lines.append(statement(JUMP_EQUAL, value, 0, 1))
            lines.append(statement(RETURN, RET_ERRNO | errno_number))
            lines.append(statement(RETURN, RET_ALLOW))
            continue
        lines.append(statement(RETURN, RET_ERRNO | errno_number))
    lines.append(statement(RETURN, RET_ALLOW))
    code = b"".join(lines)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    buffer = ctypes.create_string_buffer(code, len(code))
    program = Program(len(lines), ctypes.cast(buffer, ctypes.c_char_p))
    keep = (buffer, program)

    def install():
        assert keep
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "PR_SET_NO_NEW_PRIVS")
        if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(program), 0, 0):
            raise OSError(ctypes.get_errno(), "PR_SET_SECCOMP")

    return install
