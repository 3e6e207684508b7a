#include "plan/plan.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "plan/placement.hpp"
#include "plan/rules.hpp"
#include "plan/settle.hpp"

namespace uringbench::plan {

namespace {

/// Passthrough has no page cache to go through or around.
void settle_access(const Options& options, RunPlan& plan) {
  plan.passthrough = options.passthrough;
  plan.direct = options.direct || options.passthrough;
  if (options.direct || !options.passthrough) return;
  plan.notes.push_back("--direct 0 has no effect with -u1: passthrough has no page cache");
}

void settle_targets(const std::vector<TargetShape>& targets, bool nop, RunPlan& plan) {
  for (const TargetShape& shape : targets) {
    const std::uint64_t blocks = shape.size_bytes / plan.block_size_bytes;
    TargetPlan target;
    target.path = shape.path;
    // A no-op does not care where it does not read, but a range of offsets is never empty.
    target.blocks = nop ? std::max<std::uint64_t>(1, blocks) : blocks;
    if (plan.passthrough && shape.lba_bytes > 0) {
      target.namespace_id = shape.namespace_id;
      target.lba_shift = static_cast<std::uint32_t>(std::countr_zero(shape.lba_bytes));
    }
    plan.targets.push_back(std::move(target));
  }
}

std::vector<std::uint32_t> targets_of_thread(std::size_t thread, std::size_t threads,
                                             std::size_t targets) {
  std::vector<std::uint32_t> indices;
  if (targets == 0) return indices;
  if (threads % targets == 0) return {static_cast<std::uint32_t>(thread % targets)};
  const bool partitioned = targets % threads == 0;
  for (std::size_t index = 0; index < targets; index++) {
    if (!partitioned || index % threads == thread) {
      indices.push_back(static_cast<std::uint32_t>(index));
    }
  }
  // Threads that read all targets begin with different ones.
  if (!partitioned) {
    std::rotate(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(thread % targets),
                indices.end());
  }
  return indices;
}

void settle_threads(const Placement& placement, RunPlan& plan) {
  const std::vector<int>& cpus = placement.cpus;
  for (std::size_t thread = 0; thread < placement.threads; thread++) {
    plan.threads.push_back(
        {.cpu = cpus.empty() ? -1 : cpus[thread % cpus.size()],
         .targets = targets_of_thread(thread, placement.threads, plan.targets.size())});
  }
}

/// The plan as far as it can be made; whether it may be carried out is for the rules to say.
RunPlan settle(const Options& options, const std::vector<TargetShape>& targets,
               const Limits& limits, const Placement& placement, std::uint64_t seed) {
  RunPlan plan;
  plan.notes = placement.notes;
  plan.block_size_bytes =
      std::clamp<std::uint64_t>(options.block_size_bytes, 1, rules::max_block_bytes(limits));
  settle_access(options, plan);
  plan.random = options.random;
  plan.latency = options.latency;
  plan.runtime_ns = options.runtime_ns.value_or(0);
  plan.warmup_ns = options.warmup_ns;
  plan.repeats = into_range(options.repeats, 1, UINT32_MAX);
  plan.stall_timeout_ns = options.stall_timeout_ns;
  plan.seed = options.seed.value_or(seed);
  settle_targets(targets, options.nop, plan);
  settle_threads(placement, plan);
  settle_nodes(options, targets, plan);
  settle_engine(options, targets, plan);
  settle_memory(options, limits, plan);
  settle_queue(options, targets, plan);
  return plan;
}

}  // namespace

void check_usage(const Options& options, const Limits& limits) {
  rules::Problems problems;
  rules::check_ranges(options, limits, problems);
  rules::check_combinations(options, options.files.size() + (options.scratch ? 1 : 0), problems);
  rules::check_ring(options, problems);
  if (!problems.empty()) throw base::UserError(std::move(problems));
}

RunPlan make_plan(const Options& options, const std::vector<TargetShape>& targets,
                  const Limits& limits, std::uint64_t seed) {
  rules::Problems problems;
  rules::check_ranges(options, limits, problems);
  const bool in_range = problems.empty();
  rules::check_combinations(options, targets.size(), problems);
  rules::check_ring(options, problems);
  const Placement placement = place(options, targets, limits, problems);
  RunPlan plan = settle(options, targets, limits, placement, seed);
  rules::check_hybrid(plan, options, targets, problems);
  // Sizes computed from values that nobody gave would only mislead.
  if (in_range) {
    rules::check_targets(plan, options.polled, targets, problems);
    rules::check_capacity(plan, limits, problems);
  }
  rules::check_queue(plan, targets, problems);
  rules::check_cpus("--cpus", placement.cpus, limits, problems);
  rules::check_nodes(plan, limits, problems);
  if (plan.sqpoll) rules::check_cpus("--sqpoll-cpu", {plan.sqpoll_cpu}, limits, problems);
  if (!problems.empty()) throw base::UserError(std::move(problems));
  return plan;
}

}  // namespace uringbench::plan
