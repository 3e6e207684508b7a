// What a run changes or verifies outside itself before it begins: the stats-off flag, and the block
// queues.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "plan/plan.hpp"
#include "result/result.hpp"

namespace uringbench::command {

struct StatsOff {
  std::string granted;  ///< "off-verified" | "accepted-but-not-off"
  result::Finding finding;
};
/// Tries the stats-off flag of the plan on rings of its own. Throws UserError(cannot) when it is
/// refused, and when it is accepted without being in force, unless the plan says --force.
StatsOff settle_sqthread_stats(const plan::RunPlan& plan);

/// Writes into the document what is in force once --queue has set it.
void note_changed(const machine::QueueSettings& queues, result::Document& document);

/// Writes into the document what was there before --queue and is there again.
void note_restored(const machine::QueueSettings& queues, result::Document& document);

}  // namespace uringbench::command
