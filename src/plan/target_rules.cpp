// What a target cannot do.
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "plan/rules.hpp"

namespace uringbench::plan::rules {

namespace {

using base::ExitCode;

void check_alignment(const RunPlan& plan, const std::vector<TargetShape>& targets,
                     Problems& problems) {
  if (!plan.direct) return;
  std::map<std::uint64_t, std::vector<std::string>> by_alignment;
  for (const TargetShape& target : targets) {
    if (target.alignment_bytes > 1 && plan.block_size_bytes % target.alignment_bytes != 0) {
      by_alignment[target.alignment_bytes].push_back(target.path);
    }
  }
  for (const auto& [alignment, paths] : by_alignment) {
    problems.push_back(
        {ExitCode::cannot,
         fmt::format("{}: --block-size {} must be a multiple of {} for direct I/O",
                     name_paths(paths), plan.block_size_bytes, alignment),
         fmt::format("use e.g. -b{}, or -O0 to read through the page cache",
                     base::format_size(round_up(plan.block_size_bytes, alignment)))});
  }
}

void check_size(const RunPlan& plan, const TargetShape& target, Problems& problems) {
  if (target.size_bytes >= plan.block_size_bytes) return;
  if (target.size_bytes == 0) {
    problems.push_back({ExitCode::cannot, fmt::format("{}: is empty", target.path),
                        "name a file or block device with data in it"});
    return;
  }
  const std::uint64_t alignment = plan.direct ? std::max(1U, target.alignment_bytes) : 1;
  const std::uint64_t largest = target.size_bytes / alignment * alignment;
  problems.push_back(
      {ExitCode::cannot,
       fmt::format("{}: is smaller than one block: it has {} bytes, --block-size is {}",
                   target.path, target.size_bytes, plan.block_size_bytes),
       largest > 0 ? fmt::format("use -b{} or less, or a larger target", base::format_size(largest))
       : plan.passthrough ? "use a larger target"
                          : fmt::format("use a larger target, or -O0 -b{}", target.size_bytes)});
}

/// `flag` demands polling; `instead` goes before the cure where that is not all there is to do.
void check_polling(const char* flag, const std::string& instead,
                   const std::vector<TargetShape>& targets, Problems& problems) {
  // The same reason on many devices is said once; the cure goes with the reason.
  std::map<std::string, std::pair<std::vector<std::string>, std::string>> by_reason;
  for (const TargetShape& target : targets) {
    if (target.can_poll.value_or(true)) continue;
    auto& [paths, hint] = by_reason[target.cannot_poll_reason];
    paths.push_back(target.path);
    if (hint.empty()) hint = target.cannot_poll_hint;
  }
  for (const auto& [reason, where] : by_reason) {
    problems.push_back({ExitCode::cannot,
                        fmt::format("{}: polled I/O ({}) {}", name_paths(where.first), flag,
                                    reason.empty() ? "is not supported by this target" : reason),
                        instead + (where.second.empty() ? "use -p0" : where.second)});
  }
}

/// Automatic polling was not tried on these, since it could not be told whether it would end.
void check_hybrid_of_unknown(const std::vector<TargetShape>& targets, Problems& problems) {
  std::vector<std::string> unknown;
  for (const TargetShape& target : targets) {
    if (!target.can_poll) unknown.push_back(target.path);
  }
  if (unknown.empty()) return;
  problems.push_back({ExitCode::cannot,
                      fmt::format("{}: whether polled I/O (--hybrid-iopoll) is supported cannot be "
                                  "told",
                                  name_paths(unknown)),
                      "try it with -p1, or leave out --hybrid-iopoll"});
}

}  // namespace

std::string name_paths(const std::vector<std::string>& paths) {
  if (paths.size() == 1) return paths[0];
  if (paths.size() == 2) return paths[0] + " and " + paths[1];
  if (paths.size() == 3) return fmt::format("{}, {} and {}", paths[0], paths[1], paths[2]);
  return fmt::format("{}, {} and {} more", paths[0], paths[1], paths.size() - 2);
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void check_targets(const RunPlan& plan, PolledWish polled, const std::vector<TargetShape>& targets,
                   Problems& problems) {
  // A no-op looks the file up and reads nothing of it.
  if (plan.nop) return;
  check_kind(plan, targets, problems);
  if (plan.passthrough) {
    check_lbas(plan, targets, problems);
  } else {
    check_alignment(plan, targets, problems);
  }
  for (const TargetShape& target : targets) check_size(plan, target, problems);
  if (polled == PolledWish::on) check_polling("-p1", "", targets, problems);
}

void check_hybrid(const RunPlan& plan, const Options& options,
                  const std::vector<TargetShape>& targets, Problems& problems) {
  // With other engines it is a contradiction by itself, and not in the plan.
  if (!plan.hybrid_iopoll || plan.polled) return;
  if (options.polled == PolledWish::off) {
    contradict("--hybrid-iopoll", "-p0", "it sleeps before it polls", problems);
  } else if (plan.nop) {
    problems.push_back({ExitCode::usage,
                        "--hybrid-iopoll needs -p1 with -N1: no-ops are polled on demand only",
                        "add -p1, or leave out --hybrid-iopoll"});
  } else if (!plan.direct) {
    contradict("--hybrid-iopoll", "-O0", "buffered I/O cannot be polled", problems);
  } else {
    check_polling("--hybrid-iopoll", "leave out --hybrid-iopoll, and ", targets, problems);
    check_hybrid_of_unknown(targets, problems);
  }
}

}  // namespace uringbench::plan::rules
