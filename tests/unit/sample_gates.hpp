// What a gate could have decided about the sample comparisons.
#pragma once

#include "sample_comparisons.hpp"

namespace uringbench::testing {

using compare::GateResult;
using compare::GateRow;
using compare::Outcome;

/// Of broken_pair(): one of each kind, and a cell that only was expected.
inline GateResult failed_gate() {
  GateResult gate;
  gate.code = gate.strict_code = base::ExitCode::not_comparable;
  gate.rows = {{"QD1", 0, 0, Outcome::regression, 0.02,
                "-9.6 % [-11.0 %, -8.0 %]: worse than 2 %, p 0.0022", 0.004},
               {"QD2", 1, 0, Outcome::missing, 0.02, "v1.1 has no such cell", std::nullopt},
               {"QD4", 2, 0, Outcome::missing, 0.02, "none of 3 runs of v1.1 counts", std::nullopt},
               {"QD8", 3, 0, Outcome::not_comparable, 0.02, "device model differs", std::nullopt},
               {"QD512", std::nullopt, 0, Outcome::missing, 0.02,
                "the baseline does not have this cell", std::nullopt}};
  gate.line = "uringbench-gate: FAIL code=5 cells=4/5";
  return gate;
}

/// Of task_work_series() without its last label.
inline GateResult passed_gate() {
  GateResult gate;
  gate.code = gate.strict_code = base::ExitCode::done;
  gate.rows = {{"QD1", 0, 0, Outcome::passed, 0.02, "", 0.001},
               {"QD4", 1, 0, Outcome::passed, 0.02, "", 0.001},
               {"QD32", 2, 0, Outcome::passed, 0.02, "", 0.03}};
  gate.notes = {{"stale-baseline", "QD1: better than the baseline by 14.4 %"}};
  gate.line = "uringbench-gate: PASS code=0 cells=3/3";
  return gate;
}

/// As passed_gate(), but what failed was allowed to.
inline GateResult forgiven_gate() {
  GateResult gate = passed_gate();
  gate.strict_code = base::ExitCode::regression;
  gate.rows[0].outcome = Outcome::regression;
  gate.rows[0].reason = "-3.1 % [-4.0 %, -2.2 %]: worse than 2 %, p 0.0022";
  gate.rows[1].outcome = Outcome::inconclusive;
  gate.rows[1].reason = "-1.1 % [-2.4 %, +0.1 %]: more than 2 % worse is not excluded";
  gate.notes = {{"lenient", "--warn-only: this would have been exit code 3"}};
  return gate;
}

inline Comparison two_labels() {
  Comparison out = task_work_series();
  out.labels.pop_back();
  out.family = 3;
  out.step_family = 0;
  out.geomeans.pop_back();
  for (Difference& difference : out.differences) difference.values.pop_back();
  for (CellRow& row : out.cells) {
    row.sides.pop_back();
    for (MetricRow& metric : row.metrics) {
      metric.figures.pop_back();
      metric.contrasts.pop_back();
      metric.steps.clear();
    }
  }
  return out;
}

}  // namespace uringbench::testing
