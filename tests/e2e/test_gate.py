"""gate: which exit code which pair of results gives, and that nothing measured is never green."""

import pytest

import documents
from documents import MIDDLE, decision, gate, make, noisy, pair, runs, set_latency, spread


@pytest.fixture
def two(save):
    """two(base, new) → paths."""
    return lambda base, new: (save(base, "base.json"), save(new, "new.json"))


# --- the codes ---------------------------------------------------------------------------------

@pytest.mark.parametrize("change, rc, outcome", [
    (0.0, 0, "PASS"), (-0.005, 0, "PASS"), (-0.5, 3, "REGRESSION"), (-0.05, 3, "REGRESSION"),
    (0.5, 0, "PASS")])
def test_clear_cases(run, template, two, change, rc, outcome):
    result = gate(run, *two(*pair(template, change)), rc=rc)
    assert outcome in result.out, result
    line = decision(result)
    assert line["bad"] == str(int(rc != 0)) and line["all"] == "1"
    assert "worst=" in line["rest"]


def test_noise_is_neither_passed_nor_a_regression(run, template, two):
    result = gate(run, *two(*pair(template, -0.01, share=0.05, count=6)), rc=4)
    assert "INCONCLUSIVE" in result.out and "not excluded" in result.out, result


def test_a_wider_margin_lets_it_pass(run, template, two):
    base, new = two(*pair(template, -0.05))
    gate(run, base, new, "--margin", "iops=10%", rc=0)
    gate(run, base, new, "--margin=iops=5.2%", rc=4)
    gate(run, base, new, "--margin=iops=200%", rc=0)
    gate(run, base, new, "--margin", "iops=10%", "--margin", "iops=1%", rc=3)


@pytest.mark.parametrize("metric, change, rc", [
    ("p99", 1.5, 3), ("p99", 0.5, 0), ("p50", 1.5, 3), ("p50", 0.5, 0)])
def test_of_latency_more_is_worse(run, template, two, metric, change, rc):
    base, new = pair(template)
    set_latency(base, metric, noisy(1e6, 0.01, seed=3))
    set_latency(new, metric, noisy(1e6 * change, 0.01, seed=4))
    result = gate(run, *two(base, new), "--margin", f"{metric}=10%", rc=rc)
    assert f"latency {metric}" in result.out


def test_a_fixed_baseline_notices_what_creeps(run, template, save):
    """Ten versions, each 1 % slower than the one before: every step passes, the sum does not."""
    files = [save(make(template, noisy(MIDDLE * 0.99**i, 0.001, seed=i)), f"v{i}.json")
             for i in range(10)]
    for before, after in zip(files, files[1:]):
        gate(run, before, after, rc=0)
    gate(run, files[0], files[9], rc=3)


def test_every_gated_metric_counts(run, template, two):
    base, new = pair(template)
    set_latency(base, "p99", noisy(1e6, 0.01, seed=3))
    set_latency(new, "p99", noisy(1.5e6, 0.01, seed=4))
    files = two(base, new)
    gate(run, *files, rc=0)
    line = decision(gate(run, *files, "--margin", "iops=2%,p99=10%", rc=3))
    assert (line["bad"], line["all"]) == ("1", "2")
    gate(run, *files, "--margin", "iops=2%,p99=10%", "--gate-metrics", "iops", rc=0)
    result = gate(run, *files, "--gate-metrics", "p99", rc=2)
    assert "p99 has no margin" in result.err and "--margin p99=5%" in result.err


def test_one_bad_cell_among_many(run, template, two):
    base, new = pair(template, depths=(1, 4, 32))
    for one in runs(new, depth=4):
        documents.set_iops(one, one["iops"] * 0.9)
    result = gate(run, *two(base, new), rc=3)
    line = decision(result)
    assert (line["bad"], line["all"]) == ("1", "3") and "regression=1" in line["rest"]
    assert "worst=QD4:iops:-" in line["rest"], line[0]


# --- what is missing ---------------------------------------------------------------------------

def test_a_cell_that_vanished_is_no_success(run, template, two):
    base, new = pair(template, depths=(1, 32))
    del new["cells"][0]
    result = gate(run, *two(base, new), rc=6)
    assert "MISSING" in result.out and "missing=1" in decision(result)["rest"]


def test_a_new_cell_is_said_and_does_no_harm(run, template, two):
    base, new = pair(template, depths=(1, 32))
    del base["cells"][0]
    result = gate(run, *two(base, new), rc=0)
    assert decision(result)["all"] == "1" and "not compared" in result.out, result


def test_an_absent_figure_is_not_zero(run, template, two):
    base, new = pair(template)
    for one in runs(new):
        del one["latency_ns"]["p99"]
    result = gate(run, *two(base, new), "--margin", "p99=5%", rc=6)
    assert "-100" not in result.out, result
    gate(run, *two(base, new), rc=0)


def bad_errors(document):
    for one in runs(document):
        one["errors"] = {"count": 7, "by_errno": {"EIO": 7},
                         "first": {"errno": "EIO", "target": 0, "offset_bytes": 0}}


def bad_zero(document):
    for one in runs(document):
        documents.set_iops(one, 0)


def bad_flag(name, value):
    def spoil(document):
        for one in runs(document):
            one[name] = value
    return spoil


def bad_session(document):
    document["session"].update(interrupted=True, signal="SIGINT")


SPOILERS = {
    "errors": bad_errors, "zero": bad_zero, "stalled": bad_flag("stalled", True),
    "interrupted": bad_flag("interrupted", True), "short": bad_flag("short_reads", 3),
    "no runs": lambda document: document["cells"][0].update(runs=[]),
    "no cells": lambda document: document.update(cells=[]),
    "one run": lambda document: document["cells"][0].update(runs=runs(document)[:1])}


@pytest.mark.parametrize("which", ["base", "new", "both"])
@pytest.mark.parametrize("how", SPOILERS)
def test_nothing_measured_is_never_green(run, template, two, how, which):
    base, new = pair(template, change=0.1)
    for document in {"base": [base], "new": [new], "both": [base, new]}[which]:
        SPOILERS[how](document)
    result = gate(run, *two(base, new), rc=6)
    lenient = gate(run, *two(base, new), "--warn-only", "--allow-inconclusive", rc=6)
    assert decision(result)["bad"] == decision(result)["all"], (result, lenient)


def test_too_few_runs_are_no_answer(run, template, two):
    for count, rc in ((1, 6), (2, 6), (3, 6), (4, 0)):
        gate(run, *two(*pair(template, 0.1, count=count)), rc=rc)


@pytest.mark.parametrize("how", ["errors", "interrupted", "stalled", "short"])
def test_one_failed_run_among_good_ones_spoils_its_cell(run, template, two, how):
    base, new = pair(template)
    kept = new["cells"][0]["runs"]
    new["cells"][0]["runs"] = kept[:1]
    SPOILERS[how](new)
    new["cells"][0]["runs"] = kept
    gate(run, *two(base, new), rc=6)


def test_an_interrupted_session_is_not_whole(run, template, two):
    base, new = pair(template)
    bad_session(new)
    gate(run, *two(base, new), rc=6)


def test_a_filter_that_leaves_nothing_is_no_success(run, template, two):
    files = two(*pair(template, depths=(1, 32)))
    gate(run, *files, "--filter", "qd=32", rc=0)
    result = gate(run, *files, "--filter", "qd=7", rc=6)
    assert decision(result)["all"] == "0"


# --- not comparable ----------------------------------------------------------------------------

@pytest.mark.parametrize("word, value, key, setting, names", [
    ("bs", 512, "block_size_bytes", 512, "block-size"), ("qd", 64, "depth", 64, "depth"),
    ("polled", 1, "polled", True, "polled"), ("direct", 0, "direct", False, "direct"),
    ("threads", 2, "threads", 2, "threads"), ("sqpoll_idle", 1000, "sqpoll_idle_ms", 1000, "idle"),
    ("engine", "aio", "engine", "aio", "engine")])
def test_other_settings_are_named(run, template, two, word, value, key, setting, names):
    base, new = pair(template, 0.5)
    for cell in new["cells"]:
        documents.set_word(cell, word, value, **{key: setting})
    files = two(base, new)
    result = gate(run, *files, rc=5)
    assert "NOT-COMPARABLE" in result.out and names in result.out + result.err, result
    assert gate(run, *files, "--varies", word, rc=0)


@pytest.mark.parametrize("change, names, varies", [
    (lambda d: documents.with_target(d, size_bytes=1 << 31), "size", "device"),
    (lambda d: documents.with_target(d, model="DISK B"), "DISK B", "device"),
    (lambda d: [cell["asked"].update(runtime_ns=9) for cell in documents.with_target(d)["cells"]],
     "runtime", "runtime")])
def test_other_devices_and_times_are_named(run, template, two, change, names, varies):
    base, new = pair(template)
    documents.with_target(base)
    change(new)
    files = two(base, new)
    result = gate(run, *files, rc=5)
    assert names in result.out, result
    gate(run, *files, "--varies", varies, rc=0)


def other_kernel(document):
    document["environment"]["identity"]["kernel_release"] = "6.99.0-other"


def other_binary(document):
    document["tool"]["commit"] = "0123456789ab"


def other_machine(document):
    document["environment"]["identity"]["cpu_model"] = "Other CPU"


@pytest.mark.parametrize("change, varies", [
    (other_kernel, "kernel"), (other_binary, "binary"), (other_machine, "machine")])
def test_strict_env_wants_the_difference_declared(run, template, two, change, varies):
    base, new = pair(template)
    change(new)
    files = two(base, new)
    gate(run, *files, rc=0)
    gate(run, *files, "--strict-env", rc=5)
    gate(run, *files, "--strict-env", "--varies", varies, rc=0)
    same = two(*pair(template))
    gate(run, *same, "--strict-env", rc=0)


# --- precedence and leniency -------------------------------------------------------------------

def spoiled(template, *faults):
    """A pair of four cells, each spoilt in its own way."""
    base, new = pair(template, depths=(1, 4, 32, 128))
    cells = {int(cell["granted"]["depth"]): cell for cell in new["cells"]}
    if "regression" in faults:
        for one in cells[4]["runs"]:
            documents.set_iops(one, one["iops"] * 0.5)
    if "inconclusive" in faults:
        for one, value in zip(cells[32]["runs"], spread(32 * MIDDLE, 0.05)):
            documents.set_iops(one, value)
    if "missing" in faults:
        new["cells"].remove(cells[1])
    if "unlike" in faults:
        cells[128]["granted"].update(polled=True)
        cells[128]["asked"].update(polled=True)
    return base, new


@pytest.mark.parametrize("faults, rc", [
    ((), 0), (("inconclusive",), 4), (("inconclusive", "regression"), 3),
    (("inconclusive", "regression", "missing"), 6), (("missing", "inconclusive"), 6),
    (("unlike", "missing", "regression", "inconclusive"), 5), (("unlike",), 5),
    (("unlike", "regression"), 5)])
def test_the_gravest_counts(run, template, two, faults, rc):
    gate(run, *two(*spoiled(template, *faults)), rc=rc)


@pytest.mark.parametrize("flag, faults, rc", [
    ("--allow-inconclusive", ("inconclusive",), 0),
    ("--allow-inconclusive", ("inconclusive", "regression"), 3),
    ("--allow-inconclusive", ("missing",), 6), ("--allow-inconclusive", ("unlike",), 5),
    ("--warn-only", ("inconclusive",), 0), ("--warn-only", ("regression",), 0),
    ("--warn-only", ("missing", "regression"), 6), ("--warn-only", ("unlike",), 5)])
def test_leniency_is_loud_and_knows_its_bounds(run, template, two, flag, faults, rc):
    files = two(*spoiled(template, *faults))
    result = gate(run, *files, flag, rc=rc)
    if rc == 0:
        line = decision(result)
        assert line["word"] == "WARN" and "without-leniency=" in line["rest"], line[0]
        assert f"warning: {flag}: " in result.err, result
        assert "without-leniency=" in gate(run, *files, flag, "--quiet", rc=0).err
    gate(run, *two(*pair(template)), flag, rc=0)


# --- margins of cells, gate files, expected cells ----------------------------------------------

def test_margins_of_cells(run, template, two):
    base, new = pair(template, depths=(1, 32))
    for one in runs(new, depth=1):
        documents.set_iops(one, one["iops"] * 0.96)
    files = two(base, new)
    gate(run, *files, rc=3)
    gate(run, *files, "--margin", "qd=1:iops=8%", rc=0)
    gate(run, *files, "--margin", "iops=2%", "--margin", "*/qd1:iops=8%,p99=90%", rc=0)
    gate(run, *files, "--margin", "*/qd1:iops=8%", "--margin", "iops=2%", rc=3)
    gate(run, *files, "--margin", "qd=32:iops=8%", rc=3)


def gate_file(tmp_path, text):
    path = tmp_path / "rules.json"
    path.write_text('{"schema": {"name": "uringbench.gate", "version": 1}' + text + "}")
    return path


def test_a_gate_file_has_the_rules_and_the_command_line_wins(run, template, two, tmp_path):
    base, new = pair(template, -0.04, depths=(1, 32))
    files = two(base, new)
    rules = gate_file(tmp_path, """, "margins": {"iops": "8%"},  // for now
        "cells": [{"match": "qd=1", "margins": {"iops": "1%"}}]""")
    line = decision(gate(run, *files, "--gate-file", rules, rc=3))
    assert (line["bad"], line["all"]) == ("1", "2")
    gate(run, *files, "--gate-file", rules, "--margin", "iops=8%", rc=0)
    lenient = gate_file(tmp_path, ', "warn_only": true, "varies": ["kernel"], "strict_env": true')
    gate(run, *files, "--gate-file", lenient, rc=0)
    other_kernel(new)
    files = two(base, new)
    gate(run, *files, "--gate-file", lenient, rc=0)
    gate(run, *files, "--strict-env", rc=5)
    gate(run, *files, "--gate-file", gate_file(tmp_path, ', "strict_env": true'), rc=5)
    only = gate_file(tmp_path, ', "filters": ["qd=32"], "metrics": ["iops"]')
    assert decision(gate(run, *files, "--gate-file", only, rc=3))["all"] == "1"


@pytest.mark.parametrize("text, says", [
    (', "margin": {"iops": "2%"}', "did you mean margins?"), (', "margins": {"iops": 2}', "2%"),
    (", nonsense", "is no JSON"), (', "expect": "nowhere.json"', "nowhere.json")])
def test_a_gate_file_that_is_wrong(run, template, two, tmp_path, text, says):
    rules = gate_file(tmp_path, text)
    rc = 1 if "nowhere" in text else 2
    assert says in gate(run, *two(*pair(template)), "--gate-file", rules, rc=rc).err
    assert "EISDIR" in gate(run, *two(*pair(template)), "--gate-file", tmp_path, rc=1).err
    gate(run, *two(*pair(template)), "--gate-file", tmp_path / "none", rc=1)


def test_expected_cells(run, template, two, save, tmp_path):
    base, new = pair(template, depths=(1, 4, 32))
    for one in runs(new, depth=4):
        documents.set_iops(one, one["iops"] * 0.5)
    files = two(base, new)
    expect = save(make(template, depths=(1, 32)), "expect.json")
    gate(run, *files, rc=3)
    assert decision(gate(run, *files, "--expect", expect, rc=0))["all"] == "2"
    more = save(make(template, depths=(1, 32, 256)), "more.json")
    assert "missing=1" in gate(run, *files, "--expect", more, rc=6).err
    gate(run, *files, "--expect", tmp_path / "none.json", rc=1)
    none = save(dict(base, cells=[]), "empty.json")
    gate(run, *files, "--expect", none, rc=6)
    rules = gate_file(tmp_path, ', "expect": ["qd=1", "qd=32"]')
    gate(run, *files, "--gate-file", rules, rc=0)
    rules = gate_file(tmp_path, ', "expect": ["qd=1", "qd=256"]')
    assert "qd=256" in gate(run, *files, "--gate-file", rules, rc=6).out
    rules = gate_file(tmp_path, ', "expect": "expect.json"')
    gate(run, *files, "--gate-file", rules, rc=0)
    gate(run, *files, "--gate-file", rules, "--expect", more, rc=6)
    kept = expect.read_text()
    result = gate(run, *files, "--gate-file", rules, "--json", expect, rc=2)
    assert "is one of the files to read" in result.err and expect.read_text() == kept
