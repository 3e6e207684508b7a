// Judging where threads run: too few CPUs, shared ones, far ones.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "machine/findings.hpp"

namespace uringbench::machine {

namespace {

const char* plural(std::size_t count) { return count == 1 ? "" : "s"; }

bool is_pinned(const plan::ThreadPlan& thread) { return thread.cpu >= 0; }

/// The CPUs this process may use; as many as are online where that is not known.
std::set<int> usable_cpus(const Identity& identity, const plan::Limits& limits) {
  std::set<int> cpus(limits.allowed_cpus.begin(), limits.allowed_cpus.end());
  if (!cpus.empty()) return cpus;
  for (int cpu = 0; cpu < identity.cpus_online; ++cpu) cpus.insert(cpu);
  return cpus;
}

/// The CPUs all threads have together: those they are pinned to, those of their nodes, or all.
/// Empty when not known.
std::set<int> cpus_of_threads(const plan::RunPlan& plan, const Identity& identity,
                              const plan::Limits& limits) {
  const std::set<int> usable = usable_cpus(identity, limits);
  std::set<int> cpus;
  for (const plan::ThreadPlan& thread : plan.threads) {
    const auto node = limits.node_cpus.find(thread.node);
    if (is_pinned(thread)) {
      cpus.insert(thread.cpu);
    } else if (node == limits.node_cpus.end()) {
      return usable;
    } else {
      for (const int cpu : node->second) {
        if (usable.count(cpu) != 0) cpus.insert(cpu);
      }
    }
  }
  return cpus;
}

void judge_few_cpus(Findings& findings, const plan::RunPlan& plan, std::size_t cpus) {
  if (cpus == 0 || plan.threads.size() <= cpus) return;
  const bool pinned = std::any_of(plan.threads.begin(), plan.threads.end(), is_pinned);
  add(findings, Severity::warning, "few-cpus",
      fmt::format("{} threads share {} CPU{}: they wait for each other, not for the device",
                  plan.threads.size(), cpus, plural(cpus)),
      fmt::format("use --threads {} or fewer{}", cpus, pinned ? ", or more --cpus" : ""));
}

/// Why SQPOLL threads do not have a CPU of their own.
struct Sharing {
  std::vector<std::string> reasons;  ///< empty when they may have one
  bool crowded = false;              ///< more threads of both kinds than CPUs
};

Sharing find_sharing(const plan::RunPlan& plan, std::size_t cpus) {
  const std::size_t threads = plan.threads.size();
  const std::size_t pollers = plan.sqpoll_share ? 1 : threads;
  Sharing sharing;
  std::vector<std::string>& reasons = sharing.reasons;
  const auto beside =
      std::find_if(plan.threads.begin(), plan.threads.end(), [&](const plan::ThreadPlan& thread) {
        return is_pinned(thread) && thread.cpu == plan.sqpoll_cpu;
      });
  if (beside != plan.threads.end()) {
    reasons.push_back(fmt::format("thread {} is pinned to the CPU of the SQPOLL thread, {}",
                                  beside - plan.threads.begin(), plan.sqpoll_cpu));
  }
  if (plan.sqpoll_cpu >= 0 && pollers > 1) {
    reasons.push_back(fmt::format("{} SQPOLL threads share CPU {}", pollers, plan.sqpoll_cpu));
  }
  if (reasons.empty() && cpus > 0 && threads + pollers > cpus) {
    sharing.crowded = true;
    reasons.push_back(fmt::format("{} thread{} and {} SQPOLL thread{} share {} CPU{}", threads,
                                  plural(threads), pollers, plural(pollers), cpus, plural(cpus)));
  }
  return sharing;
}

std::string cure_for_sharing(const plan::RunPlan& plan, std::size_t cpus, bool crowded) {
  if (!crowded) {
    return plan.threads.size() > 1 && !plan.sqpoll_share
               ? "--sqpoll-share with a --sqpoll-cpu that no thread is pinned to"
               : "a --sqpoll-cpu that no thread is pinned to";
  }
  const std::size_t most = plan.sqpoll_share ? cpus - 1 : cpus / 2;
  if (most == 0) return "more CPUs for this process (taskset), or no --sqpoll";
  const bool shared_fits = !plan.sqpoll_share && plan.threads.size() < cpus;
  return fmt::format("use --threads {} or fewer{}", most, shared_fits ? ", or --sqpoll-share" : "");
}

/// What is known of a target's place is known of its device.
std::string why_homeless(const TargetFacts& facts) {
  if (!facts.device) {
    return facts.kind == TargetKind::file
               ? fmt::format("{} has no device below it",
                             facts.filesystem.value_or("its file system"))
               : std::string("sysfs does not know its device");
  }
  const DeviceFacts& device = *facts.device;
  if (device.pci_address) {
    return fmt::format("the firmware does not tell where {} ({}) is", device.name,
                       *device.pci_address);
  }
  const std::string driver = device.driver.value_or("");
  if (driver == "dm" || driver == "md") {
    return fmt::format("what {} is made of is not known to be all on one node", device.name);
  }
  return fmt::format("{} is a virtual device, which is on none", device.name);
}

void judge_unknown_nodes(Findings& findings, const plan::RunPlan& plan,
                         const std::vector<TargetFacts>& targets, const Identity& identity) {
  const auto is_homeless = [](const TargetFacts& facts) {
    return !facts.device || !facts.device->numa_node;
  };
  const auto first = std::find_if(targets.begin(), targets.end(), is_homeless);
  if (first == targets.end()) return;
  const auto unplaced = static_cast<std::size_t>(
      std::count_if(plan.threads.begin(), plan.threads.end(),
                    [](const plan::ThreadPlan& thread) { return thread.node < 0; }));
  std::string outcome = "nothing is placed";
  if (unplaced == 0) {
    outcome = "it has no part in the placing";
  } else if (unplaced < plan.threads.size()) {
    outcome = fmt::format("{} of {} threads are not placed", unplaced, plan.threads.size());
  }
  add(findings, Severity::warning, "numa-unknown",
      fmt::format("{}{}: its NUMA node is not known ({}): {} (-P1)", first->path,
                  and_more(std::count_if(first + 1, targets.end(), is_homeless)),
                  why_homeless(*first), outcome),
      identity.numa_nodes > 1 ? "place the threads with --cpus"
                              : "this machine has one NUMA node, so nothing is lost");
}

/// With both, -P places memory only; threads may be far from it.
void judge_far_cpus(Findings& findings, const plan::RunPlan& plan, const plan::Limits& limits) {
  const auto is_far = [&](const plan::ThreadPlan& thread) {
    const auto node = limits.node_cpus.find(thread.node);
    return is_pinned(thread) && node != limits.node_cpus.end() &&
           std::find(node->second.begin(), node->second.end(), thread.cpu) == node->second.end();
  };
  const auto first = std::find_if(plan.threads.begin(), plan.threads.end(), is_far);
  if (first == plan.threads.end()) return;
  add(findings, Severity::info, "numa-and-cpus",
      fmt::format("thread {}{} is pinned to CPU {} (--cpus), which is not on node {}, where its "
                  "target and its memory are (-P1)",
                  first - plan.threads.begin(),
                  and_more(std::count_if(first + 1, plan.threads.end(), is_far)), first->cpu,
                  first->node),
      "--cpus local-node, or leave out one of --cpus and -P");
}

}  // namespace

std::string and_more(std::ptrdiff_t count) {
  return count == 0 ? std::string() : fmt::format(" (and {} more)", count);
}

void judge_cpus(Findings& findings, const plan::RunPlan& plan, const Identity& identity,
                const plan::Limits& limits) {
  std::set<int> cpus = cpus_of_threads(plan, identity, limits);
  const std::size_t cpus_without_pollers = cpus.size();
  Sharing sharing;
  if (plan.sqpoll) {
    // A pinned thread's poller is not pinned with it: it may be anywhere.
    const bool all_pinned = std::all_of(plan.threads.begin(), plan.threads.end(), is_pinned);
    if (plan.sqpoll_cpu >= 0 && !cpus.empty())
      cpus.insert(plan.sqpoll_cpu);
    else if (all_pinned)
      cpus = usable_cpus(identity, limits);
    sharing = find_sharing(plan, cpus.size());
  }
  if (!sharing.reasons.empty()) {
    add(findings, Severity::warning, "sqpoll-shares-cpu",
        fmt::format("{}: they take turns instead of working side by side",
                    fmt::join(sharing.reasons, "; ")),
        cure_for_sharing(plan, cpus.size(), sharing.crowded));
  }
  // Where pollers and threads do not fit, that the threads alone do not is no further news.
  if (!sharing.crowded) judge_few_cpus(findings, plan, cpus_without_pollers);
}

void judge_numa(Findings& findings, const plan::Options& options, const plan::RunPlan& plan,
                const std::vector<TargetFacts>& targets, const Identity& identity,
                const plan::Limits& limits) {
  if (!options.numa || plan.nop) return;
  judge_unknown_nodes(findings, plan, targets, identity);
  judge_far_cpus(findings, plan, limits);
}

}  // namespace uringbench::machine
