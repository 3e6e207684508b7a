"""--taskrun and --hybrid-iopoll, and set-up flags in general: what is asked for is in force or
refused by name; only what nobody asked for may be left out, and then it is recorded."""

import os
import re

import pytest

import rings
from helpers import only_run, read_document
from test_arguments import names, refused
from test_document import consistent
from test_engines import mentions
from tracing import trace

CPU = str(min(os.sched_getaffinity(0)))
TASKRUN_FLAGS = {"DEFER_TASKRUN", "COOP_TASKRUN", "TASKRUN_FLAG"}
WANTED = {"defer": {"DEFER_TASKRUN"}, "coop": {"COOP_TASKRUN"}, "plain": set()}


def setup_flags(document):
    flags = document["cells"][0]["granted"]["setup_flags"]
    assert len(set(flags)) == len(flags)
    return set(flags)


@pytest.mark.parametrize("mode", WANTED)
@pytest.mark.parametrize("flags", [(), ("-n2", "-d5"), ("-t1",), ("-B0", "-F0", "-X0"), ("-e1",),
                                   ("-N1",)])
def test_taskrun_is_as_asked(measured, f1, mode, flags):
    files = () if "-N1" in flags else (f1,)
    document = measured("--taskrun", mode, "-p0", "-r120ms", *flags, *files)
    consistent(document)
    assert only_run(document)["ios"] > 0
    assert setup_flags(document) & TASKRUN_FLAGS == WANTED[mode], "as asked, and only those"
    if mode == "defer":
        assert "SINGLE_ISSUER" in setup_flags(document)
    assert document["cells"][0]["asked"]["taskrun"] == mode
    assert not TASKRUN_FLAGS & set(document["cells"][0]["granted"].get("fallbacks", []))


@pytest.mark.single
def test_default_is_the_best_there_is(measured, f1):
    document = measured("-p0", "-r150ms", f1)
    if rings.accepts("SINGLE_ISSUER", "DEFER_TASKRUN"):
        assert {"SINGLE_ISSUER", "DEFER_TASKRUN"} <= setup_flags(document)
    assert not document["cells"][0]["granted"].get("fallbacks")


@pytest.mark.single
def test_taskruns_are_told_apart(measured, f1):
    ids = {measured("--taskrun", mode, "-p0", "-r120ms", f1)["cells"][0]["id"] for mode in WANTED}
    assert len(ids) == 3


@pytest.mark.single
@pytest.mark.parametrize("value", ["foo", "", "Defer", "coop,defer", "0", "1", "deferr", " coop"])
def test_taskrun_of_another_name(run, f1, value):
    result = run("-p0", "-r120ms", f"--taskrun={value}", f1)
    refused(result)
    names(result, "--taskrun", value)
    assert all(mode in result.err for mode in WANTED), f"the possible ones are named:\n{result}"


@pytest.mark.plain
@pytest.mark.parametrize("flag, word", [
    (("--taskrun", "coop"), "COOP_TASKRUN"), (("--taskrun", "defer"), "DEFER_TASKRUN"),
    (("--sqpoll",), "SQPOLL"), (("--sqpoll", "--sqpoll-cpu", CPU), "SQPOLL|SQ_AFF|--sqpoll-cpu"),
    (("-N1", "-p1"), "IOPOLL|--polled"), (("-N1", "-p1", "--hybrid-iopoll"), "HYBRID_IOPOLL")])
def test_refused_by_the_kernel_is_refused_by_name(binary, tmp_path, f1, flag, word):
    files = () if "-N1" in flag else (f1,)
    polled = () if "-p1" in flag else ("-p0",)
    result, _ = trace([binary, *flag, *polled, "-r150ms", *files], tmp_path, ["io_uring_setup"],
                      ["io_uring_setup:error=EINVAL"])
    assert result.rc == 7 and "IOPS=" not in result.out, result
    assert "EINVAL" in result.err and "hint" in result.err, result
    assert re.search(word, result.err), f"which flag was refused:\n{result}"
    assert len(result.err.splitlines()) < 15, result


@pytest.mark.plain
@pytest.mark.parametrize("flag, word", [
    (("--taskrun", "coop"), "COOP_TASKRUN"), (("--taskrun", "defer"), "DEFER_TASKRUN"),
    (("--sqpoll",), "SQPOLL"), (("--sqpoll", "--sqpoll-cpu", CPU), "SQ_AFF"),
    (("-e1",), "R_DISABLED")])
@pytest.mark.parametrize("calls", ["1", "1..2", "2..4"])
def test_what_was_asked_for_is_never_left_out(binary, tmp_path, f1, flag, word, calls):
    """Some attempts are refused: then one with the flag succeeds, or the run is refused."""
    out = tmp_path / "result.json"
    result, _ = trace([binary, *flag, "-p0", "-r120ms", "--json", out, f1], tmp_path,
                      ["io_uring_setup"], [f"io_uring_setup:error=EINVAL:when={calls}"])
    if result.rc == 7:
        assert not out.exists() and "EINVAL" in result.err, result
        return
    assert result.rc == 0, result
    granted = read_document(out)["cells"][0]["granted"]
    assert word in granted["setup_flags"] or word == "R_DISABLED" and granted["restrictions"]
    assert word not in granted.get("fallbacks", [])


@pytest.mark.plain
@pytest.mark.parametrize("calls", ["1", "1..2", "1..3"])
def test_what_we_chose_ourselves_is_left_out_and_recorded(binary, tmp_path, f1, calls):
    out = tmp_path / "result.json"
    result, log = trace([binary, "-p0", "-r120ms", "--json", out, f1], tmp_path,
                        ["io_uring_setup"], [f"io_uring_setup:error=EINVAL:when={calls}"])
    refusals = log.count("(INJECTED)")
    if result.rc == 7:
        assert refusals > 1 and "EINVAL" in result.err, result
        return
    assert result.rc == 0, result
    granted = read_document(out)["cells"][0]["granted"]
    fallbacks = granted["fallbacks"]
    assert fallbacks and len(set(fallbacks)) == len(fallbacks), "each once"
    assert not set(fallbacks) & set(granted["setup_flags"]), "what is in force was not left out"


@pytest.mark.single
@pytest.mark.parametrize("flags", [(), ("-p1",), ("-n2",)])
def test_hybrid_polling_needs_poll_queues(run, f1, flags):
    result = run("--hybrid-iopoll", "-r2", *flags, f1)
    assert result.rc == 7 and "IOPS=" not in result.out, result
    assert str(f1) in result.err and "hint" in result.err, result
    assert re.search("--hybrid-iopoll|--polled|-p1", result.err), result


def test_hybrid_polling_of_a_device_without_poll_queues(run, loop):
    result = run("--hybrid-iopoll", "-r2", "--json", "-", loop)
    assert result.rc == 7 and result.out == "" and loop in result.err, result


@pytest.mark.single
@pytest.mark.parametrize("flags, other", [(("-p0",), "--polled"), (("-S1",), "--sync"),
                                          (("-a1",), "--aio")])
def test_hybrid_polling_contradictions(run, f1, flags, other):
    result = run("--hybrid-iopoll", "-r120ms", *flags, f1)
    refused(result)
    mentions(result, "--hybrid-iopoll", other)


def test_hybrid_polling_of_nothing(run, tmp_json, validated):
    """A no-op is polled on demand, so the flag can be seen in force without a drive."""
    result = run("-N1", "-p1", "--hybrid-iopoll", "-r120ms", "--json", tmp_json)
    if not rings.accepts("IOPOLL", "HYBRID_IOPOLL"):
        assert result.rc == 7 and "HYBRID_IOPOLL" in result.err, result
        return
    assert result.rc == 0, result
    document = validated(tmp_json.read_text())
    assert {"IOPOLL", "HYBRID_IOPOLL"} <= setup_flags(document) and only_run(document)["ios"] > 0


@pytest.mark.single
@pytest.mark.parametrize("value", ["2", "yes", "-1", ""])
def test_hybrid_polling_takes_zero_or_one(run, f1, value):
    result = run("-p1", "-r120ms", f"--hybrid-iopoll={value}", f1)
    refused(result)
    names(result, "--hybrid-iopoll", value)


@pytest.mark.single
def test_every_flag_in_force_has_a_name(measured, f1):
    """By name, as the kernel's header has it, and nothing the kernel would not accept."""
    for flags in ((), ("--sqpoll",), ("--taskrun", "coop"), ("-e1",)):
        for name in setup_flags(measured("-p0", "-r120ms", *flags, f1)):
            assert name in rings.SETUP_FLAGS, name
