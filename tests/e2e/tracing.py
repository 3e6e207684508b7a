"""Runs the program under strace: what it asked of the kernel, and how it takes bad answers."""

import shutil

from helpers import execute, unavailable


def trace(argv, folder, calls, inject=(), **options):
    """The Result and the trace. `inject`: "io_uring_setup:error=EINVAL:when=1" and the like."""
    if shutil.which("strace") is None:
        unavailable("strace", "no strace")
    log = folder / "trace"
    words = [word for rule in inject for word in ("-e", f"inject={rule}")]
    result = execute(["strace", "-f", "-qq", "-s", "4096", "-o", log, "-e",
                      f"trace={','.join(calls)}", *words, *argv],
                     **{"cwd": folder, "timeout": 60, **options})
    return result, log.read_text(errors="replace")
