"""-H with huge pages: the pool is the whole machine's, so no other test runs meanwhile."""

import contextlib
import os
import pathlib
import re
import subprocess
import time

import pytest

from helpers import only_run, unavailable
from test_document import consistent
from test_placement import huge_pages

POOL = pathlib.Path("/proc/sys/vm/nr_hugepages")


@contextlib.contextmanager
def pool(pages):
    """Sets the number of pages in the pool, puts it back afterwards; the size of a page."""
    if os.geteuid() != 0 or not os.access(POOL, os.W_OK):
        unavailable("hugetlb", f"{POOL} cannot be changed")
    old = POOL.read_text()
    try:
        POOL.write_text(str(pages))
        size, free = huge_pages()
        if free < pages:
            unavailable("device-refused", f"the kernel gave {free} of {pages} huge pages")
        yield size
    finally:
        POOL.write_text(old)


@pytest.fixture
def four_pages():
    with pool(4) as size:
        yield size


@pytest.fixture
def no_pages():
    with pool(0) as size:
        if huge_pages()[1]:
            unavailable("device-refused", "the pool could not be emptied")
        yield size


@pytest.fixture
def huge_folder(tmp_path):
    """A hugetlbfs of our own."""
    folder = tmp_path / "huge"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "hugetlbfs", "none", str(folder)], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        unavailable("root" if os.geteuid() != 0 else "device-refused", f"mount: {done.stderr}")
    yield folder
    for path in folder.iterdir():
        path.unlink()
    subprocess.run(["umount", "-l", str(folder)], check=True)


def huge_file(folder, size, name="buffers"):
    path = folder / name
    path.touch()
    os.truncate(path, size)
    return path


def huge_mappings(pid):
    """Bytes of the process's memory in huge pages, by the kernel's account."""
    text = pathlib.Path(f"/proc/{pid}/smaps").read_text()
    found = re.findall(r"^Size:\s+(\d+) kB\nKernelPageSize:\s+(\d+) kB", text, re.M)
    return sum(int(size) << 10 for size, page in found if int(page) > 1024)


MODES = [(), ("-n2",), ("-t1",), ("-B0", "-F0"), ("-V1", "-B0"), ("-S1",), ("-a1",), ("-e1",),
         ("--sqpoll",), ("-O0",), ("-d100", "-s7", "-c33")]


@pytest.mark.parametrize("flags", MODES)
def test_anonymous(measured, f1, four_pages, flags):
    document = measured("-H", "anon", "-p0", "-r200ms", *flags, f1)
    if "--sqpoll" in flags:
        only_run(document).pop("ios_per_submit_call", None)
    consistent(document)
    run = only_run(document)
    assert run["ios"] > 0 and run["errors"]["count"] == 0
    assert document["cells"][0]["granted"]["buffer_page_bytes"] == four_pages


@pytest.mark.parametrize("flags", MODES)
def test_file(measured, f1, four_pages, huge_folder, flags):
    path = huge_file(huge_folder, 2 * four_pages)
    document = measured("-H", path, "-p0", "-r200ms", *flags, f1)
    run = only_run(document)
    assert run["ios"] > 0 and run["errors"]["count"] == 0
    assert document["cells"][0]["granted"]["buffer_page_bytes"] == four_pages
    assert os.stat(path).st_size == 2 * four_pages


@pytest.mark.parametrize("kind", ["anon", "file"])
def test_the_kernel_agrees(start, f1, four_pages, huge_folder, kind):
    where = "anon" if kind == "anon" else huge_file(huge_folder, four_pages)
    with start("-H", where, "-p0", "-r700ms", f1) as running:
        assert running.wait_until(lambda: "Engine=" in running.output()), running.output(1)
        time.sleep(0.1)
        mapped = huge_mappings(running.pid)
        assert running.finish(10).rc == 0
    assert mapped == four_pages, "half a mebibyte of buffers is one page"
    if kind == "anon":
        assert huge_pages()[1] == 4, "all pages are given back"


def test_all_of_the_pool(run, f1, four_pages):
    depth = 4 * four_pages // 4096
    assert run("-H", "anon", "-p0", "-r200ms", f"-d{depth}", f1).rc == 0
    result = run("-H", "anon", "-p0", "-r200ms", f"-d{depth + 1}", f1)
    assert result.rc == 7 and re.search(r"\b5\b", result.err), result
    assert re.search(r"\b4\b", result.err), result


def test_repeats_give_pages_back(run, f1, four_pages):
    depth = 3 * four_pages // 4096
    result = run("run", "-H", "anon", "-p0", "-r120ms", "--warmup", "0", "--repeats", "4",
                 f"-d{depth}", f1)
    assert result.rc == 0, result


def test_pages_a_file_holds_already_are_not_missing(run, f1, four_pages, huge_folder):
    """After the first run the file owns its pages, and the pool is nearly empty."""
    path = huge_file(huge_folder, 3 * four_pages)
    for _ in range(3):
        result = run("-H", path, "-p0", "-r120ms", f"-d{3 * four_pages // 4096}", f1)
        assert result.rc == 0, result


def either(size):
    """A number of bytes, plain or in mebibytes."""
    return rf"\b{size}\b|\b{size >> 20}(\.0)? ?Mi?B\b"


@pytest.mark.parametrize("flags", [("-d1024",), ("-n2",), ("-d1024", "-B0")])
def test_file_is_too_small(run, f1, four_pages, huge_folder, flags):
    """Have and need in bytes; the file is not made larger behind its owner's back."""
    depth = 2 * four_pages // 4096 if "-n2" not in flags else 128
    path = huge_file(huge_folder, four_pages)
    words = [word if not word.startswith("-d") else f"-d{depth}" for word in flags]
    result = run("-H", path, "-p0", "-r200ms", *words, f1)
    assert result.rc == 7 and result.out == "" and str(path) in result.err, result
    text = result.err.replace(str(path), "")
    assert re.search(either(four_pages), text), f"what there is:\n{result}"
    assert re.search(either(2 * four_pages), text), f"what is needed:\n{result}"
    assert os.stat(path).st_size == four_pages


def test_file_is_empty(run, f1, four_pages, huge_folder):
    path = huge_file(huge_folder, 0)
    result = run("-H", path, "-p0", "-r200ms", f1)
    assert result.rc == 7 and str(path) in result.err, result


@pytest.mark.parametrize("flags", [(), ("-B0",), ("-n2",)])
def test_file_without_pages(run, f1, no_pages, huge_folder, flags):
    """Mapping it works and touching it is a SIGBUS; so the pool is looked at before."""
    path = huge_file(huge_folder, 8 * no_pages)
    result = run("-H", path, "-p0", "-r200ms", *flags, f1)
    assert result.rc == 7 and "IOPS=" not in result.out, result
    assert "page" in result.err and "hint" in result.err, result


def test_folder_is_no_file(run, f1, four_pages, huge_folder):
    result = run("-H", huge_folder, "-p0", "-r200ms", f1)
    assert four_pages and result.rc == 7 and str(huge_folder) in result.err, result


def test_pages_of_the_pool_are_another_experiment(measured, f1, four_pages):
    assert four_pages
    plain, huge = (measured("-p0", "-r120ms", *flags, f1)["cells"][0]["id"]
                   for flags in ((), ("-H", "anon")))
    assert plain != huge
