// The parts of make_plan that fill in the plan. Inside the room only: other rooms see plan.hpp.
//
// What is wrong is for the rules to say (rules.hpp). Values out of range are pulled into range, so
// that all rules can be checked in the same go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace uringbench::plan {

/// As base::parse_cpu_list has it.
inline constexpr std::int64_t kMaxCpu = 65535;

inline std::uint32_t into_range(std::int64_t value, std::int64_t least, std::int64_t most) {
  return static_cast<std::uint32_t>(std::clamp(value, least, most));
}

/// The engine, its depth and batches, what it registers, and how its rings are set up. Needs the
/// plan's threads.
void settle_engine(const Options& options, const std::vector<TargetShape>& targets, RunPlan& plan);
/// Buffers and huge pages. Needs the engine.
void settle_memory(const Options& options, const Limits& limits, RunPlan& plan);
void settle_queue(const Options& options, const std::vector<TargetShape>& targets, RunPlan& plan);

}  // namespace uringbench::plan
