"""Simulated sessions through the real comparison: few false alarms, and true losses found."""

import os
import re
import subprocess

import pytest

from helpers import SANITIZE, find_binary

BENCH = os.environ.get("URINGBENCH_GATE_BENCH") or os.path.join(
    os.path.dirname(find_binary()), "tests", "gate_operating_characteristics")
SESSIONS = 200 if SANITIZE else 2000


def shares(scenario):
    """Per cent of sessions: any difference, REGRESSED, gate 3, gate 0; of changed cells: found."""
    done = subprocess.run([BENCH, str(SESSIONS), "7", scenario], capture_output=True, text=True,
                          timeout=300, check=True)
    rows = [line for line in done.stdout.splitlines() if line.startswith(f"| {scenario} ")]
    assert len(rows) == 1, done.stdout
    found = re.findall(r"([\d.]+) %", rows[0].split("|", 4)[4])
    return [float(share) for share in found]


@pytest.mark.parametrize("scenario", [
    "no change, noise 1 %", "no change, noise 5 %", "no change, 5 % of runs slow by 20 %",
    "no change, drift -2 %, pairs", "no change, neighbours alike (.8), pairs"])
def test_false_alarms_of_a_family_of_24_are_rare(scenario):
    any_difference, regressed, red, _ = shares(scenario)
    assert any_difference <= 6.0
    assert regressed <= 6.0
    assert red <= 6.0


def test_drift_is_no_regression_in_pairs_and_is_one_in_blocks():
    """The simulation can fail: without interleaving it must."""
    assert shares("no change, drift -2 %, base first")[0] > 50


@pytest.mark.parametrize("scenario", ["-3.4 % in one of one cell", "-3.4 % in one of 24 cells",
                                      "-3.4 % in all 24 cells"])
def test_a_true_loss_is_found(scenario):
    _, regressed, red, green, found = shares(scenario)
    assert found >= 95 and red >= 95 and regressed >= 95
    assert green == 0
