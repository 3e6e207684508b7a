"""compare: what is said of two and more results, and with which exit code."""

import re

import pytest

import documents
from documents import (
    MIDDLE, ab, compared, make, noisy, notes, pair, runs, set_latency, verdicts)


@pytest.fixture
def two(save):
    """two(base, new) → paths."""
    return lambda base, new: (save(base, "base.json"), save(new, "new.json"))


def contrasts(comparison, metric="iops"):
    return [row["contrasts"][0] for cell in comparison["cells"] for row in cell["metrics"]
            if row["metric"] == metric]


# --- verdicts ----------------------------------------------------------------------------------

@pytest.mark.parametrize("change, word, code", [
    (0.05, "IMPROVED", 0), (-0.05, "REGRESSED", 3), (0.0, "SAME", 0)])
def test_clear_cases(run, template, two, change, word, code):
    files = two(*pair(template, change))
    comparison = compared(run, *files)
    assert verdicts(comparison) == {128: word}
    assert contrasts(comparison)[0]["estimate"]["change"] == pytest.approx(change, abs=0.01)
    assert run("compare", *files, "--exit-verdict").rc == code


def test_real_but_small(run, template, two):
    files = two(*pair(template, -0.005, share=0.001))
    text = run("compare", *files)
    assert "<1%" in text.out and text.rc == 0
    assert run("compare", *files, "--exit-verdict").rc == 0
    assert verdicts(compared(run, *files, "--min-effect", "iops=0.2%")) == {128: "REGRESSED"}
    assert verdicts(compared(run, *files, "--min-effect", "qd=1:iops=0.2%"))[128] != "REGRESSED"
    assert verdicts(compared(run, *files, "--min-effect", "iops=300%"))[128] != "REGRESSED"


def test_noise_is_unknown_and_says_what_it_takes(run, template, two):
    files = two(*pair(template, -0.01, share=0.02, count=6))
    comparison = compared(run, *files)
    assert verdicts(comparison) == {128: "UNKNOWN"}
    assert contrasts(comparison)[0]["runs_needed"] > 6
    assert re.search(r"about \d+ runs a side", run("compare", *files).out)
    assert run("compare", *files, "--exit-verdict").rc == 4


def test_single_runs_give_a_change_and_no_verdict(run, template, two):
    files = two(*pair(template, -0.5, count=1))
    result = run("compare", *files)
    assert result.rc == 0 and "INSUFFICIENT" in result.out, result
    comparison = compared(run, *files)
    assert contrasts(comparison)[0]["estimate"]["change"] == pytest.approx(-0.5, abs=0.05)
    assert "4 runs a side" in contrasts(comparison)[0]["reason"]
    assert run("compare", *files, "--exit-verdict").rc == 6


def test_intervals_of_a_run_are_no_runs(run, template, two):
    """Two runs of sixty quiet seconds, 2 % apart: nobody knows how far a third would lie off."""
    base, new = pair(template, -0.02, share=0, count=1)
    for document in (base, new):
        for one in runs(document):
            one["elapsed_ns"] = 60 * 10**9
            documents.set_iops(one, one["iops"])
            one["intervals"] = [dict(one["intervals"][0], elapsed_ns=10**9, iops=value,
                                     ios=round(value))
                                for value in noisy(one["iops"], 0.001, 60)]
    files = two(base, new)
    assert verdicts(compared(run, *files)) == {128: "INSUFFICIENT"}
    result = run("compare", *files)
    assert "within one run" in result.out, result


@pytest.mark.plain
def test_false_alarms_are_rare(run, template, save):
    """The same twice, 5 × 5 runs that vary by 5 %, and 4 × 4 by 3 %."""
    for share, count in ((0.05, 5), (0.03, 4)):
        wrong = 0
        for seed in range(100):
            base, new = pair(template, 0, share=share, count=count, seed=1000 * seed)
            files = save(base, "base.json"), save(new, "new.json")
            wrong += verdicts(compared(run, *files, "--metrics", "iops"))[128] in (
                "REGRESSED", "IMPROVED")
        assert wrong <= 10, f"{wrong} of 100"


def test_an_outlier_is_shown_and_changes_nothing(run, template, two):
    base, new = pair(template, share=0.001)
    documents.set_iops(runs(new)[3], MIDDLE * 128 * 0.6)
    files = two(base, new)
    comparison = compared(run, *files)
    assert verdicts(comparison) == {128: "SAME"}
    figures = comparison["cells"][0]["metrics"][0]["figures"]
    assert [figure["outliers"] for figure in figures] == [0, 1]
    assert [figure["n"] for figure in figures] == [10, 10]
    assert "outlier" in run("compare", *files).out


def test_failed_runs_do_not_count_and_are_said(run, template, two):
    base, new = pair(template)
    runs(new)[0]["errors"] = {"count": 13, "by_errno": {"EIO": 13}}
    runs(new)[1]["interrupted"] = True
    comparison = compared(run, *two(base, new))
    side = comparison["cells"][0]["sides"][1]
    assert (side["runs"], side["counted"]) == (10, 8)
    assert "EIO 13" in " ".join(side["left_out"]) and "interrupted" in " ".join(side["left_out"])


# --- metrics -----------------------------------------------------------------------------------

def test_direction_belongs_to_the_metric(run, template, two):
    base, new = pair(template, 0.5)
    set_latency(base, "p99", noisy(1e6, 0.01, seed=3))
    set_latency(new, "p99", noisy(1.5e6, 0.01, seed=4))
    comparison = compared(run, *two(base, new), "--gate-metrics", "iops,p99")
    assert verdicts(comparison, "iops") == {128: "IMPROVED"}
    assert verdicts(comparison, "p99") == {128: "REGRESSED"}


def test_an_absent_figure_is_skipped_and_said(run, template, two):
    base, new = pair(template)
    for one in runs(new):
        del one["latency_ns"]["p99"]
    comparison = compared(run, *two(base, new))
    assert verdicts(comparison, "iops") == {128: "SAME"}
    contrast = contrasts(comparison, "p99")[0]
    assert contrast["verdict"] == "MISSING" and "estimate" not in contrast
    for one in runs(new):
        del one["latency_ns"]
    assert verdicts(compared(run, *two(base, new), "--metrics", "p99"), "p99") == {128: "MISSING"}


def test_metrics_are_chosen(run, template, two):
    files = two(*pair(template))
    comparison = compared(run, *files, "--metrics", "cpu,p99.9")
    assert [metric["name"] for metric in comparison["metrics"]] == ["iops", "cpu", "p99.9"]
    assert comparison["family"] == 1
    both = compared(run, *files, "--gate-metrics", "iops,p50", "--metrics", "cpu")
    assert [metric["gated"] for metric in both["metrics"]] == [True, True, False]
    assert both["family"] == 2


# --- cells -------------------------------------------------------------------------------------

def test_missing_and_extra_cells(run, template, two):
    base, new = pair(template, 0.02, depths=(1, 4, 32))
    del new["cells"][0]
    del base["cells"][2]
    comparison = compared(run, *two(base, new))
    assert verdicts(comparison) == {1: "MISSING", 4: "IMPROVED"}
    assert len(comparison["extra_cells"]) == 1 and "qd=32" in comparison["extra_cells"][0]
    mean = comparison["geomeans"][0]
    assert (mean["cells"], mean["of"]) == (1, 2)
    assert "geomean (1 of 2 cells)" in run("compare", *two(base, new)).out


def test_nothing_in_common(run, template, two):
    base, new = pair(template, depths=(1, 32))
    base["cells"], new["cells"] = base["cells"][:1], new["cells"][1:]
    result = run("compare", *two(base, new))
    assert result.rc == 5 and "qd" in result.out.lower(), result
    base["cells"] = []
    assert run("compare", *two(base, new)).rc == 5


def test_cells_are_in_natural_order_and_filtered(run, template, two):
    files = two(*pair(template, depths=(32, 4, 128, 1)))
    assert list(verdicts(compared(run, *files))) == [1, 4, 32, 128]
    for words, left in ((("--filter", "qd=(1|32)"), [1, 32]), (("--filter", "depth=4"), [4]),
                        (("--filter", "nop qd=*2*"), [32, 128]), (("--filter", "*/qd1"), [1]),
                        (("--filter", "qd=(1|32)", "--filter", "qd=(32|4)"), [32])):
        assert list(verdicts(compared(run, *files, *words))) == left
    assert run("compare", *files, "--filter", "randread").rc == 5


def test_a_setting_under_test(run, template, two):
    base, new = pair(template, 0.1)
    for cell in new["cells"]:
        documents.set_word(cell, "sqpoll", 1, sqpoll=True)
    files = two(base, new)
    result = run("compare", *files)
    assert result.rc == 5 and "NOT-COMPARABLE" in result.out and "sqpoll" in result.out
    assert verdicts(compared(run, *files, "--varies", "sqpoll")) == {128: "IMPROVED"}


def test_kernels_may_differ_and_are_shown(run, template, two):
    base, new = pair(template, 0.1)
    new["environment"]["identity"]["kernel_release"] = "6.99.0-new"
    files = two(base, new)
    result = run("compare", *files)
    assert result.rc == 0 and "6.99.0-new" in result.out and "IMPROVED" in result.out
    assert "varies" in run("compare", *files, "--varies", "kernel").out


def test_an_old_baseline_is_said(run, template, two):
    base, new = make(template, days=-400), make(template, seconds=100)
    comparison = compared(run, *two(base, new))
    assert "400 days" in notes(comparison)["old-baseline"]
    assert "old-baseline" not in notes(compared(run, *two(make(template), new)))


# --- text --------------------------------------------------------------------------------------

def test_the_table_explains_itself(run, template, two):
    files = two(*pair(template, -0.05, depths=(1, 32)))
    text = run("compare", *files).out
    for words in ("95% CI", "REGRESSED", "Mann-Whitney", "Hodges", "Legend", "change", "CV"):
        assert words in text
    longer = run("compare", *files, "--explain").out
    assert len(longer) > len(text) and longer.startswith(text[:200])


@pytest.mark.parametrize("columns, most", [("", 80), ("80", 80), ("100", 100), ("300", 100),
                                           ("20", 80), ("x", 80), ("-5", 80)])
def test_pages_are_as_wide_as_they_may(run, template, save, columns, most):
    documents_of = [make(template, depths=(1, 32), label=f"kernel-{i}", seconds=100 * i)
                    for i in range(5)]
    files = [save(document, f"{i}") for i, document in enumerate(documents_of)]
    options = {"cwd": files[0].parent, "env": {"COLUMNS": columns} if columns else {}}
    lines = run("compare", *[path.name for path in files], **options).out.splitlines()
    assert max(map(len, lines)) <= most


def test_the_false_alarm_chance_of_a_margin_is_printed(run, template, two):
    files = two(*pair(template, share=0.027, count=5))
    result = run("gate", *files)
    assert re.search(r"false alarm|alarm", result.out), result


# --- several labels ----------------------------------------------------------------------------

def test_a_series_and_its_steps(run, template, save):
    files = [save(make(template, noisy(MIDDLE * (1 - 0.01 * i), 0.001, seed=i), seconds=100 * i),
                  f"v{i}.json") for i in range(10)]
    comparison = compared(run, *files, "--baseline-of", "prev")
    row = comparison["cells"][0]["metrics"][0]
    assert [one["verdict"] for one in row["contrasts"]][1:] == ["REGRESSED"] * 8, "creep is seen"
    assert len(row["steps"]) == 8 and row["steps"][0]["from"] == "v1"
    assert not compared(run, *files)["cells"][0]["metrics"][0]["steps"]
    assert not compared(run, *files, "--baseline-of=first")["cells"][0]["metrics"][0]["steps"]
    assert comparison["family"] == 9 and comparison["step_family"] == 8


def test_a_second_opinion_has_a_seed(run, template, two):
    files = two(*pair(template, count=16))
    result = run("compare", *files, "--bootstrap")
    seed = re.search(r"--bootstrap: seed (\d+)", result.err)
    assert result.rc == 0 and seed, result
    again = compared(run, *files, "--bootstrap=7")
    assert again == compared(run, *files, "--bootstrap=7")
    assert again["options"]["bootstrap_seed"] == 7
    assert again != compared(run, *files)
    other = compared(run, *files, f"--bootstrap={seed[1]}")
    assert other["options"]["bootstrap_seed"] == int(seed[1])


# --- arms --------------------------------------------------------------------------------------

def drifting(count=10, effect=0.0, drift=0.02):
    """Pairs on a machine that slows down: B is so much better than A, beside the drift."""
    dice = noisy(1.0, 0.0005, 2 * count, seed=5)
    return [[MIDDLE * (1 - drift * i / count) * dice[2 * i + place] * (1 + effect * place)
             for place in range(2)] for i in range(count)]


def test_pairs_see_through_a_drift(run, template, save):
    same = compared(run, save(ab(template, drifting()), "same.json"))
    assert same["paired"] and verdicts(same) == {128: "SAME"}
    assert [label["name"] for label in same["labels"]] == ["A", "B"]
    better = compared(run, save(ab(template, drifting(effect=0.015)), "better.json"))
    assert verdicts(better) == {128: "IMPROVED"}


def test_an_ab_document_may_come_in_parts(run, template, save):
    pairs = drifting(effect=0.015)
    whole = compared(run, save(ab(template, pairs), "whole.json"))
    parts = [save(ab(template, pairs[:5]), "part1.json"),
             save(ab(template, pairs[5:], first_block=5), "part2.json")]
    for words in ((f"{parts[0]},{parts[1]}",), tuple(parts), (parts[0], "--", parts[1])):
        joined = compared(run, *words)
        assert joined["paired"] and verdicts(joined) == verdicts(whole)
        assert contrasts(joined)[0]["estimate"] == contrasts(whole)[0]["estimate"]


def test_arms_in_files_of_their_own_are_paired(run, template, save):
    pairs = drifting()
    files = []
    for place, arm in enumerate("AB"):
        document = ab(template, pairs)
        document["cells"] = [cell for cell in document["cells"] if cell["arm"] == arm]
        files.append(save(document, f"kernel-{place}.json"))
    comparison = compared(run, *files)
    assert comparison["paired"] and verdicts(comparison) == {128: "SAME"}
    assert compared(run, f"{files[0]},{files[1]}")["paired"]


def test_a_gate_takes_two_arms(run, template, save):
    worse = save(ab(template, drifting(effect=-0.1)), "worse.json")
    documents.gate(run, worse, rc=3)
    documents.gate(run, save(ab(template, drifting()), "same.json"), rc=0)
    three = [[value, value, value] for value in noisy()]
    three = save(ab(template, three, arms="ABC"), "three.json")
    result = documents.gate(run, three, rc=2)
    assert "takes two arms, got A, B and C" in result.err.replace("three.json: ", "")
    assert len(compared(run, three)["labels"]) == 3


def test_one_result_without_arms_is_refused(run, template, save):
    path = save(make(template), "one.json")
    for verb in ("compare", "gate"):
        result = run(verb, path)
        assert result.rc == 2 and "nothing to be compared with" in result.err, result
        assert f"uringbench {verb} {path} NEW.json" in result.err
    arms = save(ab(template, drifting()), "ab.json")
    result = run("compare", path, arms)
    assert result.rc == 2 and "holds the arms A and B" in result.err, result
    other = save(ab(template, drifting(), plan="plan-2"), "other.json")
    assert run("compare", arms, other).rc == 2
