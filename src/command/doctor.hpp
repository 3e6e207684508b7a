// doctor: what this machine, its kernel and the targets allow, and what to change.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command/console.hpp"
#include "engine/engine.hpp"
#include "machine/machine.hpp"
#include "plan/plan.hpp"
#include "result/result.hpp"

namespace uringbench::command {

/// One target as doctor saw it: opened and inspected, or why not.
struct TargetLook {
  std::string path;
  std::optional<machine::TargetFacts> facts;
  std::vector<base::Problem> problems;
  /// Why this process may not set attributes of its queue; absent: it may.
  std::optional<std::string> queue_is_closed;
};

/// All that doctor judges by.
struct DoctorFacts {
  machine::Identity identity;
  machine::Weather weather;
  plan::Limits limits;
  engine::KernelAbilities kernel;
  std::string setup_hint;               ///< what to do where io_uring cannot be had
  std::vector<base::Problem> problems;  ///< of a run that reads nothing (NOP)
  std::vector<TargetLook> targets;
};

/// Pure. The findings are those of a run with default options, by the same code.
result::Checkup examine(const DoctorFacts& facts);

/// The verb: looks, and tries twenty milliseconds of a default run on each target. Returns 0 when a
/// default run would work, 7 when not.
int doctor(const plan::Options& options, Console& console);

}  // namespace uringbench::command
