"""The classic door: what a script that parses fio's t/io_uring relies on."""

import re
import signal
import subprocess
import time

import pytest

from helpers import IOPS_LINE, bandwidth_number, execute, iops_number, only_run, read_document

pytestmark = pytest.mark.single

SUBMITTER = re.compile(r"submitter=(\d+), tid=(\d+), file=(.+), nfiles=(\d+), node=(-?\d+)")
SETTINGS = re.compile(r"polled=([01]), fixedbufs=([01]), register_files=([01]), "
                      r"buffered=([01]), QD=(\d+)")
ENGINE = re.compile(r"Engine=(\S+), sq_ring=(\d+), cq_ring=(\d+)")
ENDING = re.compile(r"Exiting on (timeout|signal)( \d+)?")
MAXIMUM = re.compile(r"Maximum IOPS=(\d+(?:\.\d\d[KM])?)")


def kinds(text):
    """One letter per stdout line; our own summary, which is free text, is left out."""
    letters = []
    for line in text.splitlines():
        for letter, shape in (("s", SUBMITTER), ("p", SETTINGS), ("e", ENGINE),
                              ("i", IOPS_LINE), ("x", ENDING), ("m", MAXIMUM)):
            if shape.fullmatch(line):
                letters.append(letter)
                break
        else:
            letters.append("?")
    return "".join(letters)


def test_lines_and_order(run, f1):
    result = run("-p0", "-r2", f1)
    assert result.rc == 0, result
    assert re.fullmatch(r"spei{1,2}xm\?*", kinds(result.out)), result
    found = SUBMITTER.search(result.out)
    assert found[1] == "0" and int(found[2]) > 0 and found[3] == str(f1) and found[4] == "1"
    assert SETTINGS.search(result.out).groups() == ("0", "1", "1", "0", "128")
    engine = ENGINE.search(result.out)
    assert engine[1] == "io_uring" and int(engine[2]) >= 128 and int(engine[3]) >= 128
    assert ENDING.search(result.out)[1] == "timeout"
    assert iops_number(MAXIMUM.search(result.out)[1]) > 0


def test_threads_have_a_line_each(run, f1, f2):
    result = run("-p0", "-r1", "-n3", f1, f2)
    assert result.rc == 0, result
    assert re.fullmatch(r"sssp?e?.*xm\?*", kinds(result.out)), result
    found = SUBMITTER.findall(result.out)
    assert [line[0] for line in found] == ["0", "1", "2"]
    assert len({line[1] for line in found}) == 3, "thread ids differ"


@pytest.mark.parametrize("flags, expected", [
    (("-B0", "-F0", "-d5"), ("0", "0", "0", "0", "5")),
    (("-O0",), ("0", "1", "1", "1", "128")),
    (("-B0", "-O0", "-d1"), ("0", "0", "1", "1", "1")),
])
def test_settings_line_is_as_granted(run, f1, flags, expected):
    result = run("-p0", "-r300ms", *flags, f1)
    assert result.rc == 0, result
    assert SETTINGS.search(result.out).groups() == expected


def test_sync_engine_says_depth_one(run, f1):
    result = run("-S1", "-d128", "-r300ms", f1)
    assert result.rc == 0, result
    assert SETTINGS.search(result.out)[5] == "1", "QD=1"
    assert "io_uring" not in ENGINE.search(result.out + "Engine=?, sq_ring=0, cq_ring=0")[1]


def test_nop_has_no_bandwidth(run):
    result = run("-N1", "-r2")
    assert result.rc == 0, result
    lines = [line for line in result.out.splitlines() if line.startswith("IOPS=")]
    assert lines and all("BW=" not in line for line in lines), result
    assert all(IOPS_LINE.fullmatch(line) for line in lines), result


def test_numbers_on_the_lines_agree(run, f1, tmp_json):
    result = run("-p0", "-r2", "-s16", "-c8", "--json", tmp_json, f1)
    assert result.rc == 0, result
    for match in IOPS_LINE.finditer(result.out):
        assert bandwidth_number(match) == pytest.approx(
            iops_number(match["iops"]) * 4096, rel=0.02, abs=1 << 20)
        assert 1 <= int(match["submit"]) <= 16
        assert 1 <= int(match["reap"]) <= 128
    lines = [iops_number(match["iops"]) for match in IOPS_LINE.finditer(result.out)]
    maximum = iops_number(MAXIMUM.search(result.out)[1])
    assert maximum >= max(lines) * 0.99
    document = read_document(tmp_json)
    assert only_run(document)["iops"] <= maximum * 1.01
    for line, interval in zip(lines, only_run(document)["intervals"]):
        assert line == pytest.approx(interval["iops"], rel=0.01), "a line is its interval"


@pytest.mark.parametrize("size, name", [("786432", "odd"), ("1572864", "MiB and a half")])
def test_bandwidth_arithmetic(run, f1, size, name):
    result = run("-p0", "-r1.2", "-d8", f"-b{size}", f1)
    assert result.rc == 0, result
    match = IOPS_LINE.search(result.out)
    assert match, f"{name}: {result}"
    assert bandwidth_number(match) == pytest.approx(
        iops_number(match["iops"]) * int(size), rel=0.02)


def test_lines_come_through_a_pipe_each_second(binary, f1, work):
    process = subprocess.Popen([binary, "-p0", "-r4", str(f1)], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, cwd=work)
    try:
        begin, stamps = time.monotonic(), []
        for line in process.stdout:
            if line.startswith(b"IOPS="):
                stamps.append(time.monotonic() - begin)
        assert process.wait(timeout=10) == 0
        assert len(stamps) >= 3
        for second, stamp in enumerate(stamps[:3], 1):
            assert second - 0.3 < stamp < second + 0.8, f"line {second} at {stamp:.2f} s"
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def test_header_is_there_before_the_first_second(start, f1):
    with start("-p0", "-r5", f1) as running:
        assert running.wait_until(lambda: "Engine=" in running.output(), 3)
        assert "IOPS=" not in running.output()


def test_until_interrupted(start, f1):
    with start("-p0", f1) as running:
        assert running.wait_until(lambda: "IOPS=" in running.output(), 5)
        running.signal(signal.SIGINT)
        result = running.finish(5)
    assert result.rc == 0, result
    assert "Exiting on signal" in result.out and MAXIMUM.search(result.out), result


def test_one_second_gives_a_real_number(run, f1):
    result = run("-p0", "-r1", f1)
    assert result.rc == 0, result
    assert iops_number(MAXIMUM.search(result.out)[1]) > 0


def test_half_a_second_gives_a_real_number(run, f1):
    result = run("-p0", "-r500ms", f1)
    assert result.rc == 0, result
    assert iops_number(MAXIMUM.search(result.out)[1]) > 0


@pytest.mark.parametrize("words", [
    ("-d16", "-s4", "-c4", "-b8192"), ("-d", "16", "-s", "4", "-c", "4", "-b", "8k"),
    ("--depth=16", "--batch-submit=4", "--batch-complete=4", "--block-size=8KiB"),
    ("--depth", "16", "--batch-submit", "4", "--batch-complete", "4", "--block-size", "8K"),
])
def test_forms_of_a_flag(measured, f1, words):
    document = measured("-p0", "-r200ms", *words, f1)
    asked = document["cells"][0]["asked"]
    assert (asked["depth"], asked["batch_submit"], asked["batch_complete"],
            asked["block_size_bytes"]) == (16, 4, 4, 8192)


@pytest.mark.parametrize("short, long, value", [
    ("-p", "--polled", "0"), ("-B", "--fixed-buffers", "0"), ("-F", "--register-files", "0"),
    ("-n", "--threads", "2"), ("-O", "--direct", "0"), ("-t", "--latency", "1"),
    ("-R", "--random", "0"), ("-S", "--sync", "1"), ("-X", "--register-ring", "0"),
    ("-V", "--vectored", "1"),
])
def test_every_letter_and_its_long_name(measured, f1, short, long, value):
    ids = set()
    for words in ((short + value,), (f"{long}={value}",)):
        base = () if short == "-p" else ("-p0",)
        ids.add(measured(*base, "-r200ms", *words, f1)["cells"][0]["id"])
    assert len(ids) == 1


def test_verb_names_can_be_files(run, work, area):
    import shutil
    shutil.copy(area / "one" if (area / "one").exists() else "/dev/null", work / "run")
    try:
        (work / "run").write_bytes(b"x" * 8192)
        for words in (("./run",), ("--", "run")):
            result = run("-O0", "-p0", "-r200ms", *words)
            assert result.rc == 0, result
    finally:
        (work / "run").unlink()


def test_default_polling_falls_back_and_says_so(run, f1, tmp_json):
    result = run("-r300ms", "--json", tmp_json, f1)
    assert result.rc == 0, result
    document = read_document(tmp_json)
    cell = document["cells"][0]
    assert cell["asked"]["polled"] == "auto"
    if not cell["granted"]["polled"]:
        said = [line for line in result.err.splitlines() if "poll" in line.lower()]
        assert said, f"the fallback must be said once:\n{result}"


def test_output_without_reader_of_stderr(binary, f1, work):
    result = execute([binary, "-p0", "-r300ms", f1], stderr=subprocess.DEVNULL, cwd=work)
    assert result.rc == 0 and "Maximum IOPS=" in result.out
