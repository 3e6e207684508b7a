// The rules of make_plan, by kind. Inside the room only: other rooms see plan.hpp.
//
// Every rule adds what is wrong to a list, so that a user hears of all mistakes in one go.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace uringbench::plan::rules {

using Problems = std::vector<base::Problem>;

/// Each value by itself is in its range (usage).
void check_ranges(const Options& options, const Limits& limits, Problems& problems);
/// The flags do not contradict each other, and there is something to do (usage).
void check_combinations(const Options& options, std::size_t target_count, Problems& problems);
/// The engine can honour the flags, and a ring can have them together (usage).
void check_ring(const Options& options, Problems& problems);
/// --hybrid-iopoll has something to do: the plan is polled (usage where options say otherwise,
/// cannot where targets do).
void check_hybrid(const RunPlan& plan, const Options& options,
                  const std::vector<TargetShape>& targets, Problems& problems);
/// Every target can be read in such blocks, and polled if that was demanded (cannot).
void check_targets(const RunPlan& plan, PolledWish polled, const std::vector<TargetShape>& targets,
                   Problems& problems);
/// NVMe generic devices are read by passthrough, and nothing else is (cannot).
void check_kind(const RunPlan& plan, const std::vector<TargetShape>& targets, Problems& problems);
/// Passthrough reads whole LBAs, no more than one command can have (cannot).
void check_lbas(const RunPlan& plan, const std::vector<TargetShape>& targets, Problems& problems);
/// An attribute has one value (usage), and there is a disk that has it (cannot).
void check_queue(const RunPlan& plan, const std::vector<TargetShape>& targets, Problems& problems);
/// Registered regions, memory of either kind, locked memory, file descriptors and the kernel's AIO
/// requests suffice (cannot).
void check_capacity(const RunPlan& plan, const Limits& limits, Problems& problems);
/// The CPUs to pin to are ones this process may use (cannot). Negative ones are nobody's.
void check_cpus(const char* flag, const std::vector<int>& cpus, const Limits& limits,
                Problems& problems);

/// Two flags that make no sense together, on any machine (usage).
void contradict(std::string_view one, std::string_view other, std::string_view reason,
                Problems& problems);
/// "a", "a and b", "a, b and 17 more": twenty devices of one kind have one problem, not twenty.
std::string name_paths(const std::vector<std::string>& paths);
/// The largest block one read can fill: INT_MAX rounded down to a page, as the kernel has it.
std::uint64_t max_block_bytes(const Limits& limits);
std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple);
/// What one request's buffer occupies: RunPlan::slot_stride_bytes.
std::uint64_t slot_bytes(std::uint64_t block_size_bytes, bool direct);
/// Registered regions one thread's ring needs.
std::uint64_t region_count(const RunPlan& plan);

}  // namespace uringbench::plan::rules
