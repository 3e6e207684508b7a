"""--no-sqthread-stats: never called off because set-up succeeded, never run silently without.

What is right depends on the kernel; rings.stats_off() finds out by other means what it does."""

import errno
import re

import pytest

import rings
import seccomp
from helpers import complaint_lines, finding_codes, only_run, read_document
from test_arguments import names, refused

pytestmark = pytest.mark.single

# Bits no flag of Linux 6.18 has; a newer kernel may have given them a meaning.
FREE_BITS = [19, 20, 21, 25, 31]


def said_why(result, bit, state):
    assert result.rc == 7, result
    assert result.out == "" and len(complaint_lines(result)) == 1, result
    assert re.search(rf"\bbit {bit}\b", result.err), result
    assert re.search("IORING_SETUP_NO_SQTHREAD_STATS|stats", result.err), result
    assert "patch" in result.err and "hint" in result.err, result
    assert len(result.err.splitlines()) < 15, result
    if state == "refused":
        assert "EINVAL" in result.err and "out-of-tree" in result.err, result
    else:
        assert "fdinfo" in result.err or "SqTotalTime" in result.err, result
        assert "--force" in result.err, result
        assert "SQE_MIXED" in result.err or bit != 19, result


def went_well(document, state, sqpoll):
    granted = document["cells"][0]["granted"]
    assert granted["sqthread_stats"] == state
    assert document["cells"][0]["asked"]["no_sqthread_stats"] is True
    run = only_run(document)
    assert run["ios"] > 0 and ("sqpoll" in run) == sqpoll
    if state == "off-verified" and sqpoll:
        assert "utilisation" not in run["sqpoll"] and "total_us" not in run["sqpoll"]
    if state == "accepted-but-not-off":
        assert any("stats" in code for code in finding_codes(document)) or run["warnings"]


@pytest.mark.parametrize("sqpoll", [(), ("--sqpoll",)])
@pytest.mark.parametrize("flags", [
    (), ("--force",), ("-n2",), ("-t1", "-d1"), ("-F0", "-B0"), ("--sqthread-stats-bit", "19")])
def test_bit_nineteen(run, f1, tmp_json, sqpoll, flags):
    state = rings.stats_off(19)
    result = run(*sqpoll, "--no-sqthread-stats", "-p0", "-r120ms", *flags, "--json", tmp_json, f1)
    if state == "off-verified" or state == "accepted-but-not-off" and "--force" in flags:
        assert result.rc == 0, result
        went_well(read_document(tmp_json), state, bool(sqpoll))
    else:
        said_why(result, 19, state)
        assert not tmp_json.exists(), "nothing was measured, nothing is written"


@pytest.mark.parametrize("bit", FREE_BITS)
@pytest.mark.parametrize("flags", [(), ("--sqpoll",), ("--force",)])
def test_other_bits(run, f1, bit, flags):
    state = rings.stats_off(bit)
    result = run("--no-sqthread-stats", "--sqthread-stats-bit", str(bit), "-p0", "-r120ms",
                 *flags, f1)
    if state == "off-verified" or state == "accepted-but-not-off" and "--force" in flags:
        assert result.rc == 0, result
    else:
        said_why(result, bit, state)


@pytest.mark.parametrize("door", [(), ("run",)])
def test_streams(run, f1, door):
    """Nothing began: standard output is empty, also where a document was to go there."""
    if rings.stats_off(19) == "off-verified":
        door = (*door, "--sqthread-stats-bit", next(
            str(bit) for bit in FREE_BITS if rings.stats_off(bit) != "off-verified"))
    result = run(*door, "--sqpoll", "--no-sqthread-stats", "-p0", "-r5", "--json", "-", f1)
    assert result.rc == 7 and result.out == "" and result.seconds < 4, result


def test_an_older_document_is_kept(run, f1, tmp_json):
    bit = next(bit for bit in FREE_BITS if rings.stats_off(bit) != "off-verified")
    tmp_json.write_text("{}\n")
    result = run("--no-sqthread-stats", f"--sqthread-stats-bit={bit}", "-p0", "-r120ms",
                 "--json", tmp_json, f1)
    assert result.rc == 7, result
    assert tmp_json.read_text() == "{}\n"
    assert [path.name for path in tmp_json.parent.iterdir()] == [tmp_json.name]


@pytest.mark.parametrize("bit", range(len(rings.SETUP_FLAGS)))
def test_bits_that_mean_something_else(run, f1, bit):
    """Believing such a bit would turn on another feature and call it stats-off."""
    result = run("--no-sqthread-stats", f"--sqthread-stats-bit={bit}", "-p0", "-r120ms", f1)
    refused(result)
    names(result, "--sqthread-stats-bit", str(bit))
    assert rings.SETUP_FLAGS[bit] in result.err, f"which flag that bit is:\n{result}"


@pytest.mark.parametrize("value", ["32", "-1", "foo", "", "19.0", "0x13", "64", "1,2",
                                   "4294967315", "18446744073709551635"])
def test_no_bit_at_all(run, f1, value):
    result = run("--no-sqthread-stats", f"--sqthread-stats-bit={value}", "-p0", "-r120ms", f1)
    refused(result)
    names(result, "--sqthread-stats-bit", value)


@pytest.mark.parametrize("engine", ["-S1", "-a1"])
def test_engines_without_a_ring_have_no_such_flag(run, f1, engine):
    result = run("--no-sqthread-stats", engine, "-r120ms", f1)
    assert result.rc in (2, 7) and "--no-sqthread-stats" in result.err, result


def test_other_refusals_are_not_blamed_on_the_patch(run, f1):
    result = run("--sqpoll", "--no-sqthread-stats", "-p0", "-r1", f1,
                 preexec=seccomp.forbid([seccomp.IO_URING_SETUP], errno.EPERM))
    assert result.rc == 7 and "EPERM" in result.err, result
    assert "seccomp" in result.err and "patch" not in result.err, result


@pytest.mark.parametrize("flags", [(), ("--sqpoll",)])
def test_not_asked_for(measured, f1, flags):
    cell = measured("-p0", "-r120ms", *flags, f1)["cells"][0]
    assert cell["asked"]["no_sqthread_stats"] is False
    assert cell["granted"]["sqthread_stats"] == "on"


@pytest.mark.parametrize("value", ["0", "1", "yes", ""])
def test_it_takes_no_value(run, f1, value):
    result = run(f"--no-sqthread-stats={value}", "-p0", "-r200ms", f1)
    refused(result)
    names(result, "--no-sqthread-stats")
