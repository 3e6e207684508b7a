"""Runs the program as a user would and reads what it printed. Nothing here knows the code."""

import contextlib
import dataclasses
import errno
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SANITIZE = os.environ.get("URINGBENCH_SANITIZE", "")
MIB = 1 << 20


def find_binary():
    given = os.environ.get("URINGBENCH")
    if given:
        return os.path.abspath(given)
    for preset in ("dev", "release"):
        path = ROOT / "build" / preset / "uringbench"
        if path.exists():
            return str(path)
    raise pytest.UsageError("no uringbench: build one (scripts/test) or set URINGBENCH")


def unavailable(reason, text):
    """Skips under a reason that conftest.py counts; see `ALLOWANCES` there."""
    pytest.skip(f"[{reason}] {text}")


@dataclasses.dataclass
class Result:
    argv: list
    rc: int  # as a shell shows it: 128+N for a death by signal N
    out: str
    err: str
    seconds: float
    died_by: int = 0  # the signal that ended the process, 0 for a regular exit
    peak_kib: int = 0

    def __str__(self):
        return (f"$ {' '.join(self.argv)}\nrc={self.rc} after {self.seconds:.2f} s\n"
                f"--- stdout\n{self.out[-3000:]}\n--- stderr\n{self.err[-3000:]}")

    @property
    def crashed(self):
        sanitizer = re.search(r"(ERROR|WARNING): \w*Sanitizer|runtime error:", self.err)
        return bool(sanitizer) or self.died_by in (
            signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)


def in_environment(extra=None):
    environment = dict(os.environ, LC_ALL="C.UTF-8")
    environment.pop("NO_COLOR", None)
    environment.update(extra or {})
    return environment


class Running:
    """A started program whose output goes to files, so that it never waits for a reader."""

    def __init__(self, argv, cwd=None, env=None, stdin=subprocess.DEVNULL, stdout=None,
                 stderr=None, preexec=None):
        self.argv = [str(word) for word in argv]
        self.files = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]
        self.begin = time.monotonic()
        self.process = subprocess.Popen(
            self.argv, cwd=cwd, env=in_environment(env), stdin=stdin,
            stdout=self.files[0] if stdout is None else stdout,
            stderr=self.files[1] if stderr is None else stderr, preexec_fn=preexec)
        self.pid = self.process.pid
        self.peak_kib = 0

    def sample_memory(self):
        with contextlib.suppress(OSError):
            status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
            found = re.search(r"VmHWM:\s+(\d+) kB", status)
            # Only once it is the program: before exec it is a copy of this interpreter.
            name = re.search(r"Name:\s+(\S+)", status)
            if found and name and name[1].startswith("uringbench"):
                self.peak_kib = max(self.peak_kib, int(found[1]))

    def output(self, which=0):
        """What was written so far to stdout (0) or stderr (1)."""
        self.files[which].seek(0)
        return self.files[which].read().decode("utf-8", "replace")

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def wait_until(self, condition, timeout=10.0):
        """Waits until `condition()` or the program's end; true when the condition came."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if condition():
                return True
            if self.process.poll() is not None:
                return condition()
            time.sleep(0.01)
        return False

    def finish(self, timeout=30.0, memory=False):
        """Waits for the end and returns the Result; kills and fails when it does not come."""
        end = self.begin + timeout
        while self.process.poll() is None:
            if memory:
                self.sample_memory()
            if time.monotonic() > end:
                self.kill()
                late = Result(self.argv, -1, self.output(0), self.output(1),
                              time.monotonic() - self.begin)
                raise AssertionError(f"still running after {timeout} s, killed:\n{late}")
            time.sleep(0.005)
        code = self.process.returncode
        return Result(self.argv, code if code >= 0 else 128 - code, self.output(0),
                      self.output(1), time.monotonic() - self.begin, max(0, -code),
                      self.peak_kib)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=10)


@contextlib.contextmanager
def started(argv, **options):
    running = Running(argv, **options)
    try:
        yield running
    finally:
        running.kill()


def execute(argv, timeout=30.0, memory=False, **options):
    with started(argv, **options) as running:
        result = running.finish(timeout, memory)
    assert not result.crashed, f"crashed:\n{result}"
    return result


def refuse_duplicates(pairs):
    keys = [key for key, _ in pairs]
    twice = {key for key in keys if keys.count(key) > 1}
    assert not twice, f"duplicate keys: {twice}"
    return dict(pairs)


def refuse_constant(name):
    raise AssertionError(f"{name} in the document")


def parse_document(text):
    """Exactly one JSON document, unique keys, no NaN or infinity, no null."""
    document = json.loads(text, object_pairs_hook=refuse_duplicates,
                          parse_constant=refuse_constant)
    assert isinstance(document, dict)
    for path, value in walk(document):
        assert value is not None, f"{path} is null; what was not measured is left out"
    return document


def read_document(path):
    return parse_document(pathlib.Path(path).read_text())


def walk(value, path="$"):
    yield path, value
    if isinstance(value, dict):
        for key, member in value.items():
            yield from walk(member, f"{path}.{key}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from walk(member, f"{path}[{index}]")


def runs_of(document):
    return [run for cell in document["cells"] for run in cell["runs"]]


def only_run(document):
    runs = runs_of(document)
    assert len(runs) == 1, f"{len(runs)} runs"
    return runs[0]


def finding_codes(document):
    return {finding["code"] for finding in document["findings"]}


IOPS_LINE = re.compile(
    r"IOPS=(?P<iops>\d+(?:\.\d\d[KM])?)"
    r"(?:, BW=(?P<bw>\d+(?:\.\d\d)?)(?P<unit>MiB/s|GiB/s))?"
    r", IOS/call=(?P<submit>-?\d+)/(?P<reap>-?\d+)")


def iops_number(text):
    factor = {"K": 1e3, "M": 1e6}.get(text[-1], 1)
    return float(text.rstrip("KM")) * factor


def bandwidth_number(match):
    return float(match["bw"]) * (1 << (30 if match["unit"] == "GiB/s" else 20))


def complaint_lines(result):
    """The lines that say why it ended; warnings and notes are not among them."""
    return [line for line in result.err.splitlines()
            if re.match(r"uringbench: (?!(warning|info|note|debug): )", line)]


def errno_name(number):
    """As the kernel's manual names it; Python prefers ENOTSUP, the C library's alias."""
    return {errno.EOPNOTSUPP: "EOPNOTSUPP"}.get(number) or errno.errorcode[number]
