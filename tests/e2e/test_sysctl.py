"""kernel.io_uring_disabled holds for the whole machine: this file runs while no other test does."""

import contextlib
import errno
import os
import pathlib

from helpers import unavailable
from test_limits import said_no


@contextlib.contextmanager
def sysctl(path, value):
    place = pathlib.Path(path)
    old = place.read_text()
    try:
        place.write_text(value)
    except OSError as problem:
        unavailable("sysctl", f"{path}: {problem}")
    try:
        yield
    finally:
        place.write_text(old)


def test_disabled_by_sysctl(run, as_nobody, public, f1):
    """Needs a kernel with the sysctl; put back at once, as it holds for the whole machine."""
    path = "/proc/sys/kernel/io_uring_disabled"
    if os.geteuid() != 0 or not os.access(path, os.W_OK):
        unavailable("sysctl", "kernel.io_uring_disabled cannot be changed")
    with sysctl(path, "2"):
        everybody = run("-p0", "-r1", f1)
    with sysctl(path, "1"):
        others = as_nobody("-O0", "-p0", "-r1", public / "data")
    for result, value in ((everybody, "2"), (others, "1")):
        said_no(result, errno.EPERM)
        assert "io_uring_disabled" in result.err and value in result.err, result
        assert "sysctl" in result.err, f"the command that changes it:\n{result}"
