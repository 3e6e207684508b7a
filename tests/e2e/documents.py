"""Result documents for compare and gate: a real run's, with the figures that a test needs."""

import copy
import datetime
import itertools
import json
import random
import re

import pytest

import helpers

IDS = itertools.count(1)
DAY = datetime.datetime(2026, 11, 30, 10, 0, 0)
# What most tests say of a cell; ten runs that vary by half a per cent tell changes of 1 % apart.
MIDDLE = 100_000.0


@pytest.fixture(scope="session")
def template(binary, tmp_path_factory):
    """The document of a real run: no-ops, timed, six short repeats."""
    path = tmp_path_factory.mktemp("template") / "real.json"
    result = helpers.execute([binary, "run", "-N1", "--latency=1", "-r100ms", "--warmup", "0",
                              "--repeats", "6", "--json", path])
    assert result.rc == 0, result
    return helpers.read_document(path)


@pytest.fixture
def save(tmp_path):
    """save(document, name) → path of the file."""
    def write(document, name):
        path = tmp_path / name
        path.write_text(json.dumps(document, indent=1 if len(document.get("cells", [])) < 100
                                   else None))
        return path
    return write


def noisy(middle=MIDDLE, share=0.005, count=10, seed=1):
    """`count` values that vary about `middle` by `share` (standard deviation)."""
    dice = random.Random(seed)
    return [dice.gauss(middle, middle * share) for _ in range(count)]


def spread(middle=MIDDLE, share=0.005, count=10):
    """The same without any luck: evenly over `middle` ± twice the share."""
    return [middle * (1 + 2 * share * (2 * i / (count - 1) - 1)) for i in range(count)]


def time_after(seconds, days=0):
    moment = DAY + datetime.timedelta(days=days, seconds=seconds)
    return moment.isoformat(timespec="milliseconds") + "Z"


def set_iops(run, iops):
    """One rate for the run, its intervals and its threads."""
    run["iops"] = iops
    run["ios"] = round(iops * run["elapsed_ns"] / 1e9)
    for part in run["intervals"] + run["threads"]:
        part["ios"] = round(iops * part["elapsed_ns"] / 1e9)
        if "iops" in part:
            part["iops"] = iops


def set_word(cell, word, value, **settings):
    """The word of the cell's identity, and what asked and granted say of it."""
    cell["id"] = re.sub(rf"\b{word}=\S+", f"{word}={value}", cell["id"])
    for part in ("asked", "granted"):
        cell[part].update({key: new for key, new in settings.items() if key in cell[part]})


def set_depth(cell, depth):
    set_word(cell, "qd", depth, depth=depth)
    set_word(cell, "submit", min(32, depth), batch_submit=min(32, depth))
    set_word(cell, "complete", min(32, depth), batch_complete=min(32, depth))


def cell_like(cell, depth, values, seconds, days=0):
    """A cell of this depth, with a run for each of the values, one a second."""
    made = copy.deepcopy({**cell, "runs": []})
    for index, value in enumerate(values):
        # What decides nothing shall not vary, unless a test makes it: all are like the first run.
        # Of all that tests change there are copies; copies of histograms would take minutes.
        run = dict(cell["runs"][0], index=index, started_at=time_after(seconds + index, days))
        for part in ("latency_ns", "cpu", "errors"):
            run[part] = dict(run[part])
        for part in ("intervals", "threads"):
            run[part] = [dict(one) for one in run[part]]
        set_iops(run, value)
        made["runs"].append(run)
    set_depth(made, depth)
    return made


def make(template, values=None, depths=(128,), label="", seconds=0, days=0):
    """A document of the same machine with these depths: `values` are IOPS of the runs, for all
    depths or, as {depth: values}, for each."""
    document = copy.deepcopy(template)
    document["session"].update(id=f"session-{next(IDS)}", started_at=time_after(seconds, days))
    document["session"].pop("label", None)
    if label:
        document["session"]["label"] = label
    values = noisy() if values is None else values
    document["cells"] = [
        cell_like(template["cells"][0], depth,
                  values[depth] if isinstance(values, dict) else values, seconds, days)
        for depth in depths]
    return document


def pair(template, change=0.0, depths=(128,), share=0.005, count=10, seed=1):
    """Two documents; the second has so much more IOPS (a fraction) in every cell."""
    base = make(template, {d: noisy(MIDDLE * d, share, count, seed + d) for d in depths}, depths)
    new = make(template, {d: noisy(MIDDLE * d * (1 + change), share, count, seed + 500 + d)
                          for d in depths}, depths, seconds=100)
    return base, new


def runs(document, depth=None):
    return [run for cell in document["cells"]
            if depth is None or f" qd={depth} " in cell["id"] for run in cell["runs"]]


def set_latency(document, name, values):
    for cell in document["cells"]:
        for run, value in zip(cell["runs"], values):
            run["latency_ns"][name] = round(value)


def with_target(document, size_bytes=1 << 30, model="DISK A"):
    """As if the runs had read a drive."""
    document["targets"] = [{
        "path": "/dev/nvme9n1", "kind": "block", "size_bytes": size_bytes,
        "logical_block_bytes": 4096, "sparse": False,
        "device": {"name": "nvme9n1", "model": model, "firmware": "1.0", "driver": "nvme"},
        "queue": {"scheduler": "none"}}]
    for cell in document["cells"]:
        set_word(cell, "targets", 1)
        for run in cell["runs"]:
            for thread in run["threads"]:
                thread["targets"] = [0]
    return document


def ab(template, pairs, depths=(128,), plan="plan-1", arms=("A", "B"), first_block=0):
    """A document of an A/B session: per block one run of every arm, in changing order."""
    document = make(template, [MIDDLE])
    document["session"].update(verb="ab", plan_id=plan)
    document["cells"] = []
    for depth in depths:
        for place, arm in enumerate(arms):
            cell = cell_like(template["cells"][0], depth, [block[place] for block in pairs], 0)
            cell["arm"] = arm
            for number, run in enumerate(cell["runs"], first_block):
                position = (place + number) % len(arms)
                run.update(block=number, position=position,
                           started_at=time_after(len(arms) * number + position))
            document["cells"].append(cell)
    return document


# --- what is asked of the program --------------------------------------------------------------

LINE = re.compile(r"uringbench-gate: (?P<word>PASS|FAIL|WARN) code=(?P<code>\d) "
                  r"cells=(?P<bad>\d+)/(?P<all>\d+)(?P<rest>.*)")


def decision(result):
    """The gate's one line, taken apart. It has the exit code, and only PASS and WARN have 0."""
    lines = [line for line in result.err.splitlines() if line.startswith("uringbench-gate:")]
    assert len(lines) == 1, f"not exactly one line:\n{result}"
    found = LINE.fullmatch(lines[0])
    assert found, f"{lines[0]}\n{result}"
    assert int(found["code"]) == result.rc, result
    assert (found["word"] != "FAIL") == (result.rc == 0), result
    return found


def gate(run, *words, rc, **options):
    """Runs the gate, which must end so; the Result."""
    result = run("gate", *words, **options)
    assert result.rc == rc, f"wanted {rc}\n{result}"
    decision(result)
    return result


def compared(run, *words, rc=0):
    """The document of a comparison."""
    result = run("compare", *words, "--format", "json")
    assert result.rc == rc, f"wanted {rc}\n{result}"
    return helpers.parse_document(result.out)


def verdicts(comparison, metric="iops", to=0):
    """Depth → verdict of the contrast with the base, for one label."""
    return {int(cell["words"]["qd"]): row["contrasts"][to]["verdict"]
            for cell in comparison["cells"] for row in cell["metrics"] if row["metric"] == metric}


def notes(comparison):
    return {note["code"]: note["message"] for note in comparison["notes"]}
