"""User instructions per I/O, counted by single-stepping: exact, so that it can be a limit in CI."""

import os
import pathlib
import platform
import re
import subprocess
import time

import pytest

from helpers import find_binary

pytestmark = [pytest.mark.speed,
              pytest.mark.skipif(platform.machine() != "x86_64", reason="[x86_64] steps x86-64")]

TOOL = pathlib.Path(find_binary()).parent / "tests" / "instructions_per_io"


def submitter_of(pid):
    """The measuring thread: the one that is not the main thread."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        threads = sorted(int(name) for name in os.listdir(f"/proc/{pid}/task"))
        if len(threads) > 1:
            return threads[1]
        time.sleep(0.01)
    raise AssertionError("no measuring thread appeared")


def per_io(start, *words):
    with start("-d128", "-s32", "-c32", "-r60", *words) as running:
        running.wait_until(lambda: "IOPS=" in running.output(), timeout=15)
        done = subprocess.run([TOOL, str(submitter_of(running.pid)), "200000"],
                              capture_output=True, text=True, timeout=60, check=False)
    found = re.search(r"per_io=([\d.]+)", done.stdout)
    assert found, done.stdout + done.stderr
    return float(found[1])


@pytest.mark.parametrize("words, limit", [
    (["-N1"], 35),
    (["-N1", "-t1"], 70),
    (["-p0", "-O0", "F1"], 55),
    (["-p0", "F1"], 55),
    (["-p0", "-t1", "F1"], 95),
])
def test_instructions_per_io_stay_within_the_limit(start, f1, words, limit):
    seen = per_io(start, *[f1 if word == "F1" else word for word in words])
    assert seen <= limit
