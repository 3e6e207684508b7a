"""Flags: every number is read whole or refused with the flag, the range and what was given."""

import re

import pytest

from helpers import complaint_lines

pytestmark = pytest.mark.single

LONG = {"-d": "--depth", "-s": "--batch-submit", "-c": "--batch-complete", "-b": "--block-size",
        "-p": "--polled", "-B": "--fixed-buffers", "-F": "--register-files", "-n": "--threads",
        "-O": "--direct", "-N": "--nop", "-t": "--latency", "-T": "--tsc-rate",
        "-r": "--runtime", "-R": "--random", "-S": "--sync", "-X": "--register-ring",
        "-V": "--vectored", "-a": "--aio", "-P": "--numa", "-e": "--restrict",
        "-u": "--passthrough", "-H": "--hugetlb"}


def refused(result, rc=2, seconds=3.0):
    """A usage error: in time, nothing on stdout, a few lines on stderr that name the program."""
    assert result.rc == rc, result
    assert result.out == "", result
    assert complaint_lines(result), result
    assert len(result.err.splitlines()) < 12, result
    assert result.seconds < seconds, result


def names(result, flag, given=None):
    long = LONG.get(flag, flag)
    assert long in result.err or re.search(rf"(^|\W){flag}\b", result.err), result
    if given is not None and given.strip():
        assert given in result.err, f"what was given is not repeated:\n{result}"


INTEGERS = ("-d", "-s", "-c", "-n")
NONSENSE = ("x", "12x", "1.5", "-5", "0x", "1e3", "9223372036854775808",
            "99999999999999999999999", "4k4", "--", "1,2", "٣")


@pytest.mark.parametrize("flag", INTEGERS)
@pytest.mark.parametrize("value", NONSENSE)
def test_integer_nonsense(run, f1, flag, value):
    result = run("-p0", "-r200ms", flag + value, f1)
    refused(result)
    names(result, flag, value)


@pytest.mark.parametrize("flag, value", [
    ("-d", "0"), ("-d", "-3"), ("-d", "32769"), ("-d", "65536"), ("-d", "4294967297"),
    ("-s", "0"), ("-s", "-1"), ("-s", "32769"), ("-c", "-1"), ("-c", "32769"),
    ("-n", "0"), ("-n", "-1"), ("-n", "100000"), ("-n", "4294967296"),
    ("-b", "0"), ("-b", "-1"), ("-b", "12x"), ("-b", "4kk"), ("-b", "k"), ("-b", "4 k"),
    ("-b", "1.5k"), ("-b", "4kB"), ("-b", "4MB"), ("-b", "99999999999999999999"),
    ("-b", "16777216T"), ("-b", "0x1000"), ("-b", "nan"),
    ("-r", "foo"), ("-r", "-1"), ("-r", "1x"), ("-r", "5sec"), ("-r", "inf"), ("-r", "nan"),
    ("-r", "1e9"), ("-r", "99999999999999"), ("-r", "1.2.3"), ("-r", "ms"), ("-r", "5 s"),
    ("-T", "x"), ("-T", "-1"), ("-T", "0"), ("-T", "99999999999999999999999"),
])
def test_number_out_of_range(run, f1, flag, value):
    result = run("-p0", "-d8", flag + value, f1)
    refused(result)
    names(result, flag, value)


@pytest.mark.parametrize("flag", ["-p", "-B", "-F", "-O", "-N", "-t", "-R", "-S", "-X", "-V", "-a",
                                  "-P", "-e", "-u"])
@pytest.mark.parametrize("value", ["2", "-1", "yes", "x", "1x", "10"])
def test_switch_takes_zero_or_one(run, f1, flag, value):
    result = run("-r200ms", flag + value, f1)
    refused(result)
    names(result, flag, value)


@pytest.mark.parametrize("flag", ["--depth", "--block-size", "--runtime", "--polled", "--seed",
                                  "--json", "--cpus", "--hugetlb", "--sqpoll", "--sqpoll-cpu",
                                  "--taskrun", "--queue"])
def test_empty_value(run, f1, flag):
    result = run("-p0", "-r200ms", f"{flag}=", f1)
    refused(result)
    names(result, flag)


@pytest.mark.parametrize("flag", ["-d", "-b", "-r", "--json", "--seed", "--scratch", "-H",
                                  "--sqpoll-idle", "--taskrun", "--queue"])
def test_missing_value(run, flag):
    result = run("-p0", flag)
    refused(result)
    names(result, flag)


@pytest.mark.parametrize("flag, value", [
    ("--seed", "x"), ("--seed", "-1"), ("--seed", "18446744073709551616"),
    ("--warmup", "-1s"), ("--warmup", "x"), ("--repeats", "0"), ("--repeats", "-2"),
    ("--repeats", "x"), ("--cpus", "x"), ("--cpus", "3-1"), ("--cpus", "0,"), ("--cpus", "-1"),
    ("--cpus", "0-99999999"), ("--cpus", "0;1"), ("--stall-timeout", "0"),
    ("--stall-timeout", "x"), ("--scratch", "0"), ("--scratch", "x"), ("--scratch", "-1M"),
    ("--scratch", "64X@/tmp"), ("--log-level", "loud"),
    ("--sqpoll", "2"), ("--sqpoll-cpu", "-1"), ("--sqpoll-cpu", "65536"), ("--sqpoll-cpu", "x"),
    ("--sqpoll-idle", "-1"), ("--sqpoll-idle", "4294967296"), ("--sqpoll-idle", "1s"),
    ("--sqthread-stats-bit", "-1"), ("--sqthread-stats-bit", "32"), ("--taskrun", "fast"),
    ("--queue", "iostats"), ("--queue", "=0"), ("--queue", "iostats="), ("--threads", "many"),
    ("--queue", "../ro=1"),
])
def test_other_values(run, f1, flag, value):
    files = () if flag == "--scratch" else (f1,)
    result = run("-p0", "-r200ms", f"{flag}={value}", *files)
    refused(result)
    names(result, flag, re.split("[-@;]", value)[-1] if flag == "--cpus" else
          value.split("@")[0].removesuffix("=1"))


@pytest.mark.parametrize("value", ["9999", "4096"])
def test_cpu_that_is_not_there(run, f1, value):
    result = run("-p0", "-r200ms", "--cpus", value, f1)
    assert result.rc in (2, 7), result
    assert value in result.err and re.search(r"\b0\b", result.err), \
        f"the allowed CPUs are named:\n{result}"


@pytest.mark.parametrize("typed, meant", [
    ("--deph", "--depth"), ("--dept=8", "--depth"), ("--jsn", "--json"),
    ("--runtim", "--runtime"), ("--block-sise", "--block-size"), ("--warm-up", "--warmup"),
    ("--repeat", "--repeats"), ("--latancy", "--latency"), ("--dryrun", "--dry-run"),
])
def test_unknown_flag_names_the_nearest(run, f1, typed, meant):
    result = run("-p0", "-r200ms", typed, "8", f1)
    refused(result)
    assert typed.split("=")[0] in result.err and meant in result.err, result


@pytest.mark.parametrize("flag", ["-x", "-z1", "-Q", "--frobnicate", "---depth", "-"])
def test_unknown_flag(run, f1, flag):
    result = run("-p0", "-r200ms", flag, f1)
    assert result.rc in (2, 7) if flag == "-" else result.rc == 2, result
    assert result.out == "" and flag.rstrip("1") in result.err, result


@pytest.mark.parametrize("words", [("--profile", "x"), ("--profile=x",), ("sweep",), ("ab",),
                                   ("regbench",)])
def test_what_is_not_there_yet_is_refused(run, f1, words):
    result = run(*words, f1)
    refused(result)
    assert f"{words[0].split('=')[0]}: " in result.err, result
    assert "not available in this version" in result.err, result


@pytest.mark.parametrize("flag, words, near", [
    ("--taskrun=defr", "defer, coop or plain", "defer"),
    ("--log-level=wran", "trace, debug, info, warn, error or off", "warn"),
    ("--threads=atuo", "between 1 and 1024", "auto"),
    ("--cpus=local-nod", "list of CPUs", "local-node"),
])
def test_unknown_choice_lists_all_and_names_the_nearest(run, f1, flag, words, near):
    result = run("-p0", "-r200ms", flag, f1)
    refused(result)
    assert words in result.err and f"did you mean {near}?" in result.err, result


@pytest.mark.parametrize("verb, words", [
    ("show", ("--depth", "8")), ("show", ("-t1",)), ("show", ("--dry-run",)),
    ("show", ("--json", "x")), ("doctor", ("--depth=8",)), ("doctor", ("--json=x",)),
    ("doctor", ("--queue", "iostats=0")),
])
def test_flag_of_another_verb(run, f1, verb, words):
    result = run(verb, *words, f1)
    refused(result)
    flag = {"-t1": "--latency"}.get(words[0], words[0].split("=")[0])
    assert f"{flag}: not a flag of {verb}" in result.err, result
    assert "--format" in result.err, f"what {verb} takes is listed:\n{result}"


@pytest.mark.parametrize("verb", [(), ("run",)])
def test_format_belongs_to_show(run, f1, verb):
    result = run(*verb, "-p0", "--format", "md", f1)
    refused(result)
    assert "--format: not a flag of" in result.err, result
    assert "uringbench show RESULT.json --format md" in result.err, result


@pytest.mark.parametrize("words, said", [
    ((), "RESULT.json"), (("a.json", "b.json"), "2 files"),
    (("a.json", "--format", "json"), "itself is the JSON"),
    (("a.json", "--format", "html"), "text, md or csv"),
])
def test_show_is_refused(run, words, said):
    result = run("show", *words)
    refused(result)
    assert said in result.err, result


@pytest.mark.parametrize("words", [(), ("-p0",), ("run",), ("-d8", "-r1")])
def test_nothing_to_do(run, words):
    refused(run(*words))


@pytest.mark.parametrize("verb", ["run", None])
def test_all_errors_at_once(run, f1, verb):
    words = ("-d0", "-b12x", "-rfoo", f1)
    result = run(*((verb,) if verb else ()), *words)
    refused(result)
    assert len(complaint_lines(result)) == 3, result
    for flag in ("--depth", "--block-size", "--runtime"):
        assert flag in result.err, result


def test_all_contradictions_at_once(run, f1):
    """Rules between flags and the target, found after parsing, come together as well."""
    result = run("-p0", "-b5000", "--cpus", "9999", "-r1", f1)
    assert result.rc in (2, 7) and len(complaint_lines(result)) == 2, result
    assert "multiple" in result.err and "--cpus" in result.err, result


# --- help and version ------------------------------------------------------------------------

@pytest.mark.parametrize("words", [("-h",), ("--help",), ("run", "--help"), ("run", "-h"),
                                   ("show", "--help"), ("doctor", "-h")])
def test_help_on_stdout(run, words):
    result = run(*words)
    assert result.rc == 0 and result.err == "", result
    for flag in ("--depth", "--batch-submit", "--json", "--runtime", "-d", "-b"):
        assert flag in result.out, f"{flag} is not in the help"


def test_help_is_one_page_of_lines_that_fit(run):
    lines = run("-h").out.splitlines()
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("words", [
    ("-p0", "-h"), ("-d7", "-s3", "-c2", "-h"), ("-n9", "-B0", "-F0", "-h"),
    ("-b512", "--runtime=77s", "--help"), ("--repeats=9", "--help")])
def test_help_shows_compiled_defaults(run, words):
    assert run(*words).out == run("-h").out


def test_help_names_the_defaults_of_the_contract(run):
    text = run("-h").out
    for flag, default in (("--depth", "128"), ("--batch-submit", "32"),
                          ("--batch-complete", "32"), ("--block-size", "4096"),
                          ("--fixed-buffers", "1"), ("--stall-timeout", "10")):
        place = text.index(flag)
        assert default in text[place:place + 300], f"{flag}: no default {default}"


@pytest.mark.parametrize("flag", ["-d", "-s", "-c", "-b", "-p", "-B", "-F", "-n", "-O", "-N",
                                  "-t", "-T", "-r", "-R", "-S", "-X", "-V", "--seed",
                                  "--warmup", "--repeats", "--cpus", "--json", "--label",
                                  "--scratch", "--stall-timeout", "--allow-errors", "--dry-run",
                                  "--log-level", "--quiet", "--version", "-a", "-P", "-e", "-u",
                                  "-H", "--sqpoll", "--sqpoll-cpu", "--sqpoll-idle",
                                  "--no-sqthread-stats", "--sqthread-stats-bit", "--queue",
                                  "--taskrun", "--hybrid-iopoll", "--format"])
def test_help_has_every_flag(run, flag):
    assert re.search(rf"(^|[\s,]){flag}\b", run("-h").out, re.M)


def test_version(run):
    result = run("--version")
    assert result.rc == 0 and result.err == "", result
    assert re.search(r"\d+\.\d+\.\d+", result.out)
    assert "liburing" in result.out and re.search(r"GNU|Clang|g\+\+|GCC", result.out, re.I)


# --- what is accepted ------------------------------------------------------------------------

@pytest.mark.parametrize("text, size", [
    ("4096", 4096), ("4k", 4096), ("4K", 4096), ("4KiB", 4096), ("1M", 1 << 20),
    ("1MiB", 1 << 20), ("4096B", 4096), ("8k", 8192)])
def test_sizes(measured, f1, text, size):
    document = measured("-p0", "-d4", "-r200ms", f"-b{text}", f1)
    assert document["cells"][0]["asked"]["block_size_bytes"] == size


@pytest.mark.parametrize("text, seconds", [("1", 1.0), ("0.3", 0.3), ("400ms", 0.4),
                                           ("300000us", 0.3), ("0.01m", 0.6)])
def test_runtimes(measured, f1, text, seconds):
    document = measured("-p0", f"-r{text}", f1)
    elapsed = document["cells"][0]["runs"][0]["elapsed_ns"] / 1e9
    assert seconds * 0.98 <= elapsed < seconds + 0.5


def test_last_flag_wins(measured, f1):
    asked = measured("-p0", "-r200ms", "-d4", "-d16", f1)["cells"][0]["asked"]
    assert asked["depth"] == 16


def test_zero_complete_means_one(measured, f1):
    granted = measured("-p0", "-r200ms", "-c0", f1)["cells"][0]["granted"]
    assert granted["batch_complete"] == 1


@pytest.mark.parametrize("flags", [("-d8", "-s64", "-c64"), ("-d5", "-s6", "-c5"), ("-d1",)])
def test_batches_are_clamped_and_it_is_said_once(run, f1, tmp_json, flags):
    from helpers import read_document
    result = run("-p0", "-r200ms", "-n2", *flags, "--json", tmp_json, f1)
    assert result.rc == 0, result
    cell = read_document(tmp_json)["cells"][0]
    depth = int(flags[0][2:])
    assert cell["granted"]["batch_submit"] <= depth
    assert cell["granted"].get("batch_complete", 1) <= depth
    assert cell["runs"][0]["inflight_max"] <= depth * 2
    if len(flags) > 1:
        said = [line for line in result.err.splitlines()
                if "--batch-submit" in line or "batch" in line]
        assert 1 <= len(said) <= 2, result
