"""doctor: what this machine, kernel and target allow. It looks, tells the cure, touches nothing."""

import errno
import os
import re

import pytest

import rings
import seccomp
from helpers import ROOT, finding_codes, parse_document, read_document, unavailable, walk
from test_arguments import names, refused
from tracing import trace

pytestmark = pytest.mark.single

KERNEL = os.uname().release


@pytest.fixture
def examined(run):
    """examined(word…) → (exit code, the JSON document, checked against its schema)."""
    def go(*words, **options):
        result = run("doctor", "--format", "json", *words, **options)
        assert result.rc in (0, 7), result
        document = parse_document(result.out)
        follows_the_schema(document)
        assert document["healthy"] is (result.rc == 0), result
        return result.rc, document
    return go


def follows_the_schema(document):
    import jsonschema  # late, as in conftest.py
    schema = parse_document((ROOT / "docs/schema/doctor-v1.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["schema"] == {"name": "uringbench.doctor", "version": 1}


def reads_well(result):
    """Plain text for a terminal of 100 columns that a log can hold as well."""
    assert KERNEL in result.out, result
    assert all(len(line) <= 100 for line in result.out.splitlines()), result
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", result.out), f"control characters:\n{result}"
    assert not re.search(r"[ \t]+$", result.out, re.M) and "\n\n\n" not in result.out
    assert not re.search(r"(?<!/)\b(nan|null|std::|optional)\b", result.out), result


def code_of(run, *words, **options):
    """7 when a short run of the same target is refused or its reads fail, else 0."""
    result = run("-r100ms", "--quiet", *words, **options)
    assert result.rc in (0, 1, 7, 8), result
    return 7 if result.rc else 0


# --- what it says ----------------------------------------------------------------------------

def test_machine(run):
    result = run("doctor")
    assert result.rc == (0 if rings.accepts() else 7), result
    reads_well(result)
    for word in ("io_uring", "SQPOLL", "memlock|locked memory", "nofile|open files|descriptors"):
        assert re.search(word, result.out), f"no {word}:\n{result}"


def test_file(run, f1):
    result = run("doctor", f1)
    assert result.rc == 0, result
    reads_well(result)
    assert str(f1) in result.out and "64" in result.out, result
    assert re.search(r"-p1|poll", result.out), f"what modes work:\n{result}"
    assert len(result.out.splitlines()) <= 80, "one screen"


def test_device(run, loop):
    result = run("doctor", loop)
    assert result.rc == 0, result
    reads_well(result)
    for word in (loop, "scheduler", "iostats"):
        assert word in result.out, f"no {word}:\n{result}"


def test_several_targets(run, f1, f2, one):
    result = run("doctor", f1, f2, one)
    assert result.rc == 0, result
    reads_well(result)
    places = [result.out.index(str(path)) for path in (f1, f2, one)]
    assert places == sorted(places), "in the order given"


def test_known_flags_are_those_the_kernel_takes(examined):
    _, document = examined()
    told = {flag["name"]: flag["works"] for flag in document["setup_flags"]}
    for words in (("SQPOLL",), ("SINGLE_ISSUER",), ("COOP_TASKRUN",), ("IOPOLL",),
                  ("SINGLE_ISSUER", "DEFER_TASKRUN"), ("IOPOLL", "HYBRID_IOPOLL")):
        assert told[words[-1]] == rings.accepts(*words), words
    for name in set(told) & {"CQE32", "SQE128", "NO_SQARRAY", "R_DISABLED", "SUBMIT_ALL"}:
        assert told[name] == rings.accepts(name), name


def test_the_document(examined, f1, loop):
    code, document = examined(f1, loop)
    assert code == 0
    assert [target["path"] for target in document["targets"]] == [str(f1), loop]
    text = str(document)
    assert KERNEL in text and "READ_FIXED" in text


def test_document_and_text_agree(run, examined, f1):
    _, document = examined(f1)
    text = re.sub(r"\s+", " ", run("doctor", f1).out)
    for path, value in walk(document):
        if path.endswith(".hint") and isinstance(value, str):
            assert re.sub(r"\s+", " ", value) in text, f"the cure at {path} is in the text too"


SAME = {"scheduler", "iostats", "governor", "rotational", "virtual-machine", "sparse-target",
        "symlink", "mounted-target", "null-device"}


@pytest.mark.parametrize("name", ["f1", "sparse", "loop", "link"])
def test_findings_are_those_of_a_run(examined, run, request, tmp_path, tmp_json, name):
    if name == "link":
        target = tmp_path / "link"
        target.symlink_to(request.getfixturevalue("f1"))
    else:
        target = request.getfixturevalue(name)
    assert run("-r100ms", "--json", tmp_json, target).rc == 0
    _, document = examined(target)
    found = {value["code"] for _, value in walk(document)
             if isinstance(value, dict) and "severity" in value}
    assert found & SAME == finding_codes(read_document(tmp_json)) & SAME


# --- exit code: 0 exactly when a default run would work --------------------------------------

TARGETS = ["f1", "one", "two", "odd", "sparse", "empty", "loop", "img", "folder", "missing",
           "fifo", "null", "link", "dangling", "below a file", "socket"]


def target_called(name, request, tmp_path):
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    elif name == "fifo":
        os.mkfifo(path)
    elif name == "null":
        path = "/dev/null"
    elif name == "link":
        path.symlink_to(request.getfixturevalue("f1"))
    elif name == "dangling":
        path.symlink_to(tmp_path / "nowhere")
    elif name == "below a file":
        path = request.getfixturevalue("f1") / "below"
    elif name == "socket":
        import socket
        os.chdir(tmp_path)  # the name of a socket must be short
        with socket.socket(socket.AF_UNIX) as one_end:
            one_end.bind("socket")
    elif name != "missing":
        path = request.getfixturevalue(name)
    return path


@pytest.mark.parametrize("name", TARGETS)
def test_exit_code(run, examined, request, tmp_path, monkeypatch, name):
    monkeypatch.chdir(os.getcwd())
    path = target_called(name, request, tmp_path)
    result = run("doctor", path, timeout=10)
    assert result.rc == code_of(run, path), result
    reads_well(result)
    assert str(path) in result.out, result
    if result.rc == 7:
        assert result.err == "" or "uringbench: " in result.err, result
    assert examined(path)[0] == result.rc, "in any format"


def test_one_bad_target_does_not_hide_the_good(run, f1, tmp_path):
    result = run("doctor", tmp_path / "missing", f1)
    assert result.rc == 7, result
    assert str(tmp_path / "missing") in result.out and str(f1) in result.out, result
    reads_well(result)


def test_empty_name(run):
    assert run("doctor", "").rc in (2, 7)


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOSYS])
@pytest.mark.parametrize("files", [0, 1])
def test_io_uring_is_forbidden(run, examined, f1, number, files):
    forbid = seccomp.forbid([seccomp.IO_URING_SETUP], number)
    targets = [f1][:files]
    result = run("doctor", *targets, preexec=forbid)
    assert result.rc == 7, result
    reads_well(result)
    assert errno.errorcode[number] in result.out, result
    assert re.search("seccomp" if number == errno.EPERM else "seccomp|kernel", result.out), result
    code, document = examined(*targets, preexec=forbid)
    assert code == 7 and any(path.endswith(".hint") for path, _ in walk(document)), "the cure"


def test_as_anybody(as_nobody, public, loop):
    result = as_nobody("doctor", public / "data")
    assert result.rc == code_of(as_nobody, public / "data"), result
    reads_well(result)
    if os.geteuid() != 0:
        unavailable("root", "needs another user")
    result = as_nobody("doctor", loop)
    assert result.rc == 7 and "EACCES" in result.out and loop in result.out, result


def test_locked_memory(as_nobody, public):
    """A default run registers its buffers; where that does not fit, doctor says so beforehand."""
    options = {"ulimit": "ulimit -l 64"}
    result = as_nobody("doctor", public / "data", **options)
    assert result.rc == code_of(as_nobody, public / "data", **options), result
    if result.rc == 7:
        assert re.search("ulimit -l|-B0|memlock", result.out), result


# --- how it behaves --------------------------------------------------------------------------

@pytest.mark.plain
@pytest.mark.parametrize("kind", ["nothing", "file", "device"])
def test_it_touches_nothing(binary, tmp_path, request, kind):
    folder = tmp_path / "cwd"
    folder.mkdir()
    targets = {"nothing": [], "file": ["f1"], "device": ["loop"]}[kind]
    paths = [request.getfixturevalue(name) for name in targets]
    result, log = trace(
        [binary, "doctor", *paths], tmp_path,
        ["open", "openat", "openat2", "creat", "write", "pwrite64", "writev", "unlink",
         "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "ftruncate",
         "truncate", "fallocate", "utimensat", "chmod", "fchmod", "fchmodat", "link", "symlink",
         "mount", "kill", "sched_setscheduler"], cwd=folder)
    assert result.rc == 0, result
    assert not list(folder.iterdir())
    for line in log.splitlines():
        if re.search(r"\bopen(at2?)?\(", line):
            writing = re.search("O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", line)
            assert not writing or "/dev/null" in line, line
        elif not re.search(r"resumed>|exited with|\bwrite(v)?\([12],|SIG[A-Z]+ \{", line):
            raise AssertionError(line)


def test_it_is_quick_and_makes_no_load(run, f1):
    """It looks; it does not measure: no lines of figures."""
    result = run("doctor", f1)
    assert "IOPS=" not in result.out + result.err


@pytest.mark.parametrize("words", [
    ("-d4",), ("-r1",), ("--sqpoll",), ("--json", "x.json"), ("--repeats=3",), ("-p1",),
    ("--frobnicate",), ("--format=xml",), ("--format=",), ("-x",)])
def test_flags_of_others(run, f1, words):
    """The flags of a measuring verb would be believed to have an effect."""
    result = run("doctor", *words, f1)
    refused(result)
    names(result, words[0].split("=")[0] if words[0].startswith("--") else words[0][:2])


def test_help(run):
    result = run("doctor", "--help")
    assert result.rc == 0 and result.err == "" and "doctor" in result.out, result


def test_doctor_can_be_a_file(run, work):
    path = work / "doctor"
    path.write_bytes(b"x" * 8192)
    try:
        assert "Maximum IOPS=" in run("-O0", "-p0", "-r100ms", "./doctor").out
        assert run("doctor", "doctor").rc == run("doctor", "./doctor").rc
    finally:
        path.unlink()


@pytest.mark.parametrize("name", ["we\x1b[31mird", "two\nlines", "größe→✓", "bad\udcff\udcfe",
                                  "x" * 30, "tab\there", "a'b\"c", "per%cent{0}%s"], ids=ascii)
def test_names(run, examined, area, name):
    path = area / name
    path.write_bytes(os.urandom(8192))
    try:
        result = run("doctor", path)
        assert result.rc == 0, result
        reads_well(result)
        assert examined(path)[0] == 0
    finally:
        path.unlink()


def test_full_output(run, f1):
    with open("/dev/full", "wb") as full:
        for words in ((), ("--format", "json")):
            assert run("doctor", *words, f1, stdout=full).rc == 1


@pytest.mark.parametrize("number", [seccomp.IO_URING_ENTER, seccomp.IO_URING_REGISTER])
def test_it_tries(run, f1, number):
    """The ring can be had, and a run could not begin all the same."""
    result = run("doctor", f1, preexec=seccomp.forbid([number], errno.EPERM))
    assert result.rc == 7 and "EPERM" in result.out and "seccomp" in result.out, result
