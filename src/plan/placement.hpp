// Where threads run and how many there are. Inside the room only: other rooms see plan.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/rules.hpp"

namespace uringbench::plan {

struct Placement {
  std::vector<int> cpus;  ///< to pin to, round-robin; empty: not pinned
  std::size_t threads = 1;
  std::vector<std::string> notes;  ///< what was chosen
};

/// The CPUs of --cpus, chosen near the first target for local-core and local-node, and the threads
/// of -n, counted for auto. Says when no CPU can be chosen (cannot).
Placement place(const Options& options, const std::vector<TargetShape>& targets,
                const Limits& limits, rules::Problems& problems);

/// -P: which node each thread and its buffers belong to, that of its first target. Needs the
/// plan's threads.
void settle_nodes(const Options& options, const std::vector<TargetShape>& targets, RunPlan& plan);

namespace rules {
/// A thread that is not pinned may run on the CPUs of its node (cannot).
void check_nodes(const RunPlan& plan, const Limits& limits, Problems& problems);
}  // namespace rules

}  // namespace uringbench::plan
