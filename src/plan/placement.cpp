#include "plan/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "plan/settle.hpp"

namespace uringbench::plan {

namespace {

using base::ExitCode;
using base::format_cpu_list;

bool contains(const std::vector<int>& cpus, int cpu) {
  return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
}

std::vector<int> common(const std::vector<int>& cpus, const std::vector<int>& others) {
  std::vector<int> both;
  std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(both),
               [&](int cpu) { return contains(others, cpu); });
  return both;
}

/// All of them may be used as far as is known.
std::vector<int> allowed_of(const std::vector<int>& cpus, const Limits& limits) {
  return limits.allowed_cpus.empty() ? cpus : common(cpus, limits.allowed_cpus);
}

/// The SMT siblings of the first core that has one of these CPUs; the first CPU where cores are
/// not known.
std::vector<int> first_core(const std::vector<int>& cpus, const Limits& limits) {
  for (const std::vector<int>& core : limits.cores) {
    if (!common(core, cpus).empty()) return allowed_of(core, limits);
  }
  return {cpus.front()};
}

/// local-core and local-node: near the first target.
std::vector<int> choose_cpus(const Options& options, const std::vector<TargetShape>& targets,
                             const Limits& limits, Placement& placement,
                             rules::Problems& problems) {
  const bool one_core = options.cpu_place == CpuPlace::local_core;
  const std::string flag = one_core ? "--cpus local-core" : "--cpus local-node";
  const std::vector<int> near = targets.empty() ? std::vector<int>{} : targets[0].local_cpus;
  std::vector<int> cpus = near.empty() ? limits.allowed_cpus : allowed_of(near, limits);
  if (cpus.empty()) {
    const std::string cure = "give the numbers of CPUs, or leave out --cpus";
    problems.push_back(
        near.empty()
            ? base::Problem{ExitCode::cannot, flag + ": which CPUs there are is not known", cure}
            : base::Problem{ExitCode::cannot,
                            fmt::format("{}: this process may run on no CPU near {}: near are {}, "
                                        "allowed are {}",
                                        flag, targets[0].path, format_cpu_list(near),
                                        format_cpu_list(limits.allowed_cpus)),
                            cure + ", or widen the process's CPU set (taskset, cgroup cpuset)"});
    return {};
  }
  if (near.empty()) {
    placement.notes.push_back(
        targets.empty() ? flag + ": there is no device to be near: any allowed CPU will do"
                        : fmt::format("{}: the CPUs near {} are not known: any allowed CPU will do",
                                      flag, targets[0].path));
  }
  if (one_core) cpus = first_core(cpus, limits);
  placement.notes.push_back(
      fmt::format("{}: CPU{} {}", flag, cpus.size() == 1 ? "" : "s", format_cpu_list(cpus)));
  return cpus;
}

std::size_t count_threads(const std::vector<TargetShape>& targets, Placement& placement) {
  const std::size_t cpus = placement.cpus.size();
  const std::size_t wanted = std::max({targets.size(), cpus, std::size_t{1}});
  const std::size_t count = std::min<std::size_t>(wanted, kMaxThreads);
  const char* why = count < wanted           ? ", the most there can be"
                    : count == 1             ? ""
                    : cpus >= targets.size() ? ", one per CPU"
                                             : ", one per target";
  placement.notes.push_back(
      fmt::format("-n auto: {} thread{}{}", count, count == 1 ? "" : "s", why));
  return count;
}

}  // namespace

Placement place(const Options& options, const std::vector<TargetShape>& targets,
                const Limits& limits, rules::Problems& problems) {
  Placement placement;
  placement.cpus = options.cpu_place == CpuPlace::listed
                       ? options.cpus
                       : choose_cpus(options, targets, limits, placement, problems);
  placement.threads = options.threads_auto ? count_threads(targets, placement)
                                           : into_range(options.threads, 1, kMaxThreads);
  return placement;
}

void settle_nodes(const Options& options, const std::vector<TargetShape>& targets, RunPlan& plan) {
  if (!options.numa) return;
  if (targets.empty()) {
    plan.notes.push_back(
        "--numa 1 has no effect with -N1 without a FILE: there is no device to be near");
  }
  for (ThreadPlan& thread : plan.threads) {
    if (!thread.targets.empty()) thread.node = targets[thread.targets.front()].node;
  }
}

void rules::check_nodes(const RunPlan& plan, const Limits& limits, Problems& problems) {
  if (limits.allowed_cpus.empty()) return;
  std::set<int> seen;
  for (const ThreadPlan& thread : plan.threads) {
    const auto node = limits.node_cpus.find(thread.node);
    if (thread.cpu >= 0 || node == limits.node_cpus.end()) continue;
    const bool may_run = !common(node->second, limits.allowed_cpus).empty();
    if (may_run || !seen.insert(thread.node).second) continue;
    problems.push_back(
        {ExitCode::cannot,
         fmt::format("-P1: this process may run on no CPU of node {}, where {} is: it has {}, "
                     "allowed are {}",
                     thread.node, plan.targets[thread.targets.front()].path,
                     node->second.empty() ? "none" : format_cpu_list(node->second),
                     format_cpu_list(limits.allowed_cpus)),
         "use -P0, pin the threads by --cpus, or widen the process's CPU set (taskset, cgroup "
         "cpuset)"});
  }
}

}  // namespace uringbench::plan
