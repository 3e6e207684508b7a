// The verb gate: two sides, one decision.
#pragma once

#include <string>

#include "base/base.hpp"
#include "command/console.hpp"
#include "plan/plan.hpp"

namespace uringbench::command {

/// Draws the comparison and the decision, and prints the line. Returns the exit code. Throws, as
/// compare does, before there is a decision: failed_gate_line() is then what is left to print.
int gate(const plan::Options& options, Console& console);

/// The gate's line where there is no decision: "uringbench-gate: FAIL code=6 cells=0/0 reason=...",
/// with the first problem of that code.
std::string failed_gate_line(const base::UserError& error);

}  // namespace uringbench::command
