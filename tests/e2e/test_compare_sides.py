"""compare: which files make which side and what it is called; other programs' results."""

import json

import pytest

import documents
from documents import MIDDLE, compared, gate, make, noisy, pair, verdicts


def labels(comparison):
    return [label["name"] for label in comparison["labels"]]


@pytest.fixture
def in_folder(run, template, save):
    """in_folder(name: document…) saves them; then run and compare by bare names."""
    def go(*words, verb="compare", **options):
        folder = save(make(template), "unused").parent
        return run(verb, *words, cwd=folder, **options)
    return go


def test_labels(in_folder, template, save):
    for name, label in (("a.json", ""), ("b.json", ""), ("c.json", "stored"),
                        ("d.json", "stored")):
        save(make(template, label=label, seconds=100 * ord(name[0])), name)
    sub = save(make(template), "e.json").parent / "sub"
    sub.mkdir()
    (sub / "a.json").write_text((sub.parent / "b.json").read_text())

    def names(*words):
        result = in_folder(*words, "--format", "json")
        assert result.rc == 0, result
        return labels(json.loads(result.out))

    assert names("a.json", "b.json") == ["a", "b"]
    assert names("a.json", "c.json") == ["a", "stored"]
    assert names("x=a.json", "c.json") == ["x", "stored"]
    assert names("c.json", "d.json") == ["stored c.json", "stored d.json"]
    assert names("stored=a.json", "d.json") == ["stored", "stored d.json"]
    assert names("a.json", "sub/a.json") == ["a a.json", "a sub/a.json"]
    assert names("a.json", "a.json") == ["a #1", "a #2"]
    assert names("a=a.json", "b=a.json") == ["a", "b"]
    assert names("x=a.json", "y=b.json", "x=c.json") == ["x", "y"], "equal labels join"


def test_sides_of_several_files(in_folder, template, save):
    """Ten runs a side whichever way they are spread over files."""
    base, new = noisy(), noisy(MIDDLE * 0.9, seed=2)
    for i in range(5):
        save(make(template, base[2 * i:2 * i + 2], seconds=10 * i), f"base-{i}.json")
        save(make(template, new[2 * i:2 * i + 2], seconds=10 * i + 5), f"new-{i}.json")
    bases, news = ([f"{side}-{i}.json" for i in range(5)] for side in ("base", "new"))
    for words in ((",".join(bases), ",".join(news)), (*bases, "--", *news),
                  ("base=" + ",".join(bases), "new=" + ",".join(news)),
                  ("base=" + bases[0], *bases[1:], "--", *news),
                  (*bases, "--", *news, "--metrics", "iops")):
        result = in_folder(*words, "--format", "json")
        assert result.rc == 0, result
        comparison = json.loads(result.out)
        assert verdicts(comparison) == {128: "REGRESSED"}
        assert labels(comparison) == ["base", "new"]
        figures = comparison["cells"][0]["metrics"][0]["figures"]
        assert [figure["n"] for figure in figures] == [10, 10]
        gate(in_folder_gate(in_folder), *words, rc=3)
    result = in_folder(*bases, "--", *news)
    assert "not interleaved" not in result.out, "they were measured in turns"


def in_folder_gate(in_folder):
    return lambda verb, *words, **options: in_folder(*words, verb=verb, **options)


def test_the_same_file_twice_counts_once(in_folder, template, save):
    save(make(template), "a.json")
    save(make(template, seconds=100), "b.json")
    result = in_folder("a.json,a.json", "b.json", "--format", "json")
    figures = json.loads(result.out)["cells"][0]["metrics"][0]["figures"]
    assert figures[0]["n"] == 10, "a copy is no second measurement"
    assert "same-session" in result.out or "twice" in result.out
    result = in_folder("a.json", "a.json", "--format", "json")
    assert "same-session" in documents.notes(json.loads(result.out))


def test_files_of_one_side_that_do_not_belong_together(in_folder, template, save):
    other = make(template, seconds=50)
    other["cells"][0]["asked"]["runtime_ns"] = 5 * 10**9
    save(make(template), "a.json")
    save(other, "a2.json")
    save(make(template, seconds=100), "b.json")
    result = in_folder("a.json,a2.json", "b.json")
    assert result.rc == 5 and "runtime" in result.out, result


def test_names_with_signs_in_them(in_folder, template, save):
    for name in ("qd=1,4.json", "a,b", "x=y", "with blank.json", "-dash.json"):
        save(make(template), name)
    save(make(template, seconds=100), "new.json")
    for words in (("qd=1,4.json", "new.json"), ("a,b", "new.json"), ("x=y", "new.json"),
                  ("base=qd=1,4.json", "new.json"), ("base=a,b", "new.json"),
                  ("with blank.json", "new.json"), ("--", "-dash.json", "new.json"),
                  ("./-dash.json", "new.json")):
        assert in_folder(*words).rc == 0, words
    for words in (("[x].json", "new.json"),):
        save(make(template), words[0])
        assert in_folder(*words).rc == 0, words


@pytest.mark.parametrize("word, says", [
    ("base=none.json", "none.json: "), ("new.json,none.json", "none.json: "),
    ("a=b=none.json", "b=none.json: ")])
def test_a_piece_that_is_not_there_is_named(in_folder, template, save, word, says):
    save(make(template), "new.json")
    result = in_folder(word, "new.json")
    assert result.rc == 1 and f"uringbench: {says}" in result.err, result
    assert in_folder(word, "new.json", verb="gate").rc == 6


@pytest.mark.parametrize("words", [
    (), ("a.json,", "b.json"), ("=a.json", "b.json"), ("a.json", "--"), ("a.json", "--", "--", "b"),
    ("x=a.json", "y=b.json", "--", "b.json")])
def test_sides_that_make_no_sense(in_folder, template, save, words):
    save(make(template), "a.json")
    save(make(template), "b.json")
    result = in_folder(*words)
    assert result.rc == 2 and result.out == "" and "hint: " in result.err, result


def test_all_that_is_wrong_with_files_is_said_at_once(in_folder, template, save):
    save(make(template), "good.json")
    save({}, "bad.json")
    result = in_folder("none1.json", "good.json,none2.json", "bad.json", "none3.json")
    assert result.rc == 1
    for name in ("none1", "none2", "bad", "none3"):
        assert f"uringbench: {name}.json: " in result.err, result


# --- results of other programs -----------------------------------------------------------------

def log(rates):
    """What t/io_uring prints, as somebody saved it."""
    head = ("submitter=0, tid=4242, file=/dev/nvme0n1, nfiles=1, node=-1\n"
            "polled=1, fixedbufs=1, register_files=1, buffered=0, QD=128\n"
            "Engine=io_uring, sq_ring=128, cq_ring=128\n")
    lines = [f"IOPS={rate / 1e6:.2f}M, BW={rate * 4096 / 2**30:.2f}GiB/s, IOS/call=32/31\n"
             for rate in rates]
    return head + "".join(lines) + f"Exiting on timeout\nMaximum IOPS={max(rates) / 1e6:.2f}M\n"


def test_logs_with_their_command_line(run, tmp_path):
    sides = []
    for side, middle in (("old", 2.5e6), ("new", 2.0e6)):
        for i, rate in enumerate(noisy(middle, 0.01, 6)):
            (tmp_path / f"{side}{i}.log").write_text(log([rate] * 5))
        sides.append(",".join(str(tmp_path / f"{side}{i}.log") for i in range(6)))
    bare = compared(run, *sides)
    assert bare["labels"][0]["imported_from"] == "t/io_uring"
    told = compared(run, *sides, "--import-argv", "t/io_uring -d128 -s32 -c32 -p1 /dev/nvme0n1")
    assert told["cells"][0]["words"]["submit"] == "32"
    assert "submit" not in bare["cells"][0]["words"]
    assert verdicts(told) == {128: "REGRESSED"}
    gate(run, *sides, "--import-argv", "-d128", rc=3)
    gate(run, *sides, "--import-argv", "-d0", rc=2)


def test_a_log_against_a_document_is_not_taken_for_equal(run, template, save, tmp_path):
    path = tmp_path / "old.log"
    path.write_text(log([2e6] * 5))
    result = run("gate", path, save(make(template), "new.json"))
    assert result.rc in (5, 6), result


def test_the_words_of_a_command_line_are_those_of_the_same_run(binary, run, f1, save, tmp_path):
    """What --import-argv makes of our own flags is what our own document says of them."""
    words = ["-p0", "-d16", "-s4", "-c2", "-b8k", "-R0", "-n2", "-B0", "-F0"]
    ours = tmp_path / "ours.json"
    text = run("-r200ms", *words, f1, "--json", ours)
    assert text.rc == 0, text
    saved = tmp_path / "saved.log"
    saved.write_text(text.out)
    argv = " ".join([binary, "-r200ms", *words, str(f1)])
    imported = compared(run, saved, ours, "--import-argv", argv, rc=0)["cells"][0]["words"]
    own = json.loads(ours.read_text())["cells"][0]["id"].split()
    assert imported["rw"] == own[0] == "seqread"
    stated = dict(word.split("=") for word in own[1:])
    for key, value in imported.items():
        assert key == "rw" or stated[key] == value, key
    assert {"bs", "qd", "submit", "complete", "threads", "direct", "polled", "fixedbufs",
            "regfiles", "regring", "engine", "vectored", "latency"} <= imported.keys()


def test_one_label_for_all_is_one_side(run, template, save):
    files = [save(document, name) for document, name in zip(pair(template), ("a.json", "b.json"))]
    result = run("compare", f"x={files[0]}", f"x={files[1]}")
    assert result.rc == 2, result
    assert "all files are one side, x" in result.err and "different labels" in result.err


def test_standard_input_is_a_side(run, template, save):
    base, new = pair(template, -0.5)
    with open(save(new, "new.json"), encoding="utf-8") as stdin:
        result = run("compare", save(base, "base.json"), "new=-", stdin=stdin)
    assert result.rc == 0, result
    assert "REGRESSED" in result.out and "/dev/stdin" in result.out


def test_what_cannot_be_read_says_what_to_do(run, template, save, tmp_path):
    base = save(pair(template)[0], "base.json")
    result = run("compare", base, tmp_path / "nothing.json")
    assert result.rc == 1, result
    assert "ENOENT" in result.err and "is the name right" in result.err
    result = run("compare", base, tmp_path)
    assert result.rc == 1, result
    assert "EISDIR" in result.err and "name the file in it" in result.err


def test_a_comparison_is_no_result(run, template, save, tmp_path):
    base, new = (save(document, name) for document, name in
                 zip(pair(template), ("a.json", "b.json")))
    assert run("compare", base, new, "--json", tmp_path / "comparison.json").rc == 0
    result = run("compare", base, tmp_path / "comparison.json")
    assert result.rc == 5, result
    assert "a document of the kind uringbench.comparison, not a result" in result.err
