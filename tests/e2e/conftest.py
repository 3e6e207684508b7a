"""How the program is run, and how skipped tests are counted. Targets: targets.py.

Skips are counted: a test may only be skipped for a reason listed in `excused`, and only where
this machine really lacks the thing. Anything else fails the session.
"""

import contextlib
import os
import pathlib
import platform
import re
import shutil
import tempfile

import pytest

import helpers
from documents import save, template  # noqa: F401  (fixtures)
from helpers import ROOT, SANITIZE, execute, parse_document, started, unavailable
from targets import (  # noqa: F401  (fixtures)
    area, attach_loop, blank_zram, empty, f1, f2, fuse_file, img, loop, odd, one, sparse,
    tiny_file_system, two, zram)


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
        "groff": shutil.which("groff") is None,
        "io_uring": not io_uring_allowed(),
        "x86_64": platform.machine() != "x86_64",
        "cpus": len(os.sched_getaffinity(0)) < 2,
        "hugetlb": not root or not os.access("/proc/sys/vm/nr_hugepages", os.W_OK),
        "direct": True,   # no folder with O_DIRECT anywhere: said loudly, cannot be helped
        "sysctl": not root or not os.access("/proc/sys/kernel/io_uring_disabled", os.W_OK),
        "device-refused": True,  # the kernel has the interface but the sandbox forbids its use
    }


def pytest_configure(config):
    config.addinivalue_line("markers", "speed: compares rates or times; not under sanitizers")
    config.addinivalue_line("markers", "memory: measures memory; not under sanitizers")
    config.addinivalue_line("markers", "plain: the sanitizers would not see more here")
    config.addinivalue_line("markers", "single: about one thread; not under the thread sanitizer")
    config.skip_reasons = []
    config.left_out = 0


def pytest_collection_modifyitems(config, items):
    if not SANITIZE:
        return
    names = ["speed", "memory", "plain"] + ["single"] * (SANITIZE == "thread")
    left_out = [item for item in items  # the second: it does not even start the program
                if any(item.get_closest_marker(name) for name in names)
                or "binary" not in item.fixturenames]
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
            f"{config.left_out} tests left out under {SANITIZE}: they would not see more there")
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
        verb = words[:1] if words[:1] == ("run",) else ()
        result = run(*verb, "--json", tmp_json, *words[len(verb):], **options)
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
    schema = parse_document(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)


@pytest.fixture(scope="session")
def work(tmp_path_factory):
    """The current folder of every run: it must stay empty but for what a test asks for."""
    return tmp_path_factory.mktemp("cwd")


@pytest.fixture
def tmp_json(tmp_path):
    return tmp_path / "result.json"


@pytest.fixture(scope="session")
def public(binary):
    """A folder that anybody may enter, with a copy of the program and a dense file."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="uringbench-", dir="/var/tmp"))
    folder.chmod(0o755)
    shutil.copy(binary, folder / "uringbench")
    (folder / "uringbench").chmod(0o755)
    (folder / "data").write_bytes(os.urandom(8 << 20))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def as_nobody(public):
    """as_nobody(word…, ulimit=…) runs as uid 65534 when we are root, else as ourselves."""
    def go(*words, ulimit="true", **options):
        rights = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        if os.geteuid() != 0:
            rights = []
        return execute([*rights, "bash", "-c", f'{ulimit} && exec "$0" "$@"',
                        public / "uringbench", *words], cwd="/", **options)
    return go
