#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "plan/rules.hpp"

namespace uringbench::plan {

namespace {

/// Values out of range are a Problem by now. They are pulled into range so that the other rules
/// can be checked in the same go.
std::uint32_t into_range(std::int64_t value, std::int64_t least, std::int64_t most) {
  return static_cast<std::uint32_t>(std::clamp(value, least, most));
}

/// "--depth 128 has no effect with -S1: …", only where the user (or a profile) asked for it.
void note_without_effect(const Options& options, const char* long_name, std::int64_t value,
                         const char* reason, RunPlan& plan) {
  if (!options.was_given(long_name)) return;
  plan.notes.push_back(fmt::format("--{} {} has no effect with {}", long_name, value, reason));
}

std::uint32_t settle_batch(const Options& options, const char* long_name, std::int64_t asked,
                           RunPlan& plan) {
  const std::uint32_t wanted = into_range(asked, 1, kMaxDepth);
  const bool given = options.was_given(long_name);
  if (given && asked == 0) plan.notes.push_back(fmt::format("--{} 0 means 1", long_name));
  if (wanted <= plan.depth) return wanted;
  // The default of 32 is silently cut down to a small depth: nobody asked for 32.
  if (given) {
    plan.notes.push_back(fmt::format("--{} {} is more than --depth {}: using {}", long_name, asked,
                                     plan.depth, plan.depth));
  }
  return plan.depth;
}

void settle_sync(const Options& options, RunPlan& plan) {
  const char* reason = "-S1: the sync engine has one request at a time and no ring";
  plan.engine = Engine::sync;
  plan.depth = plan.batch_submit = plan.batch_complete = 1;
  plan.fixed_buffers = plan.register_files = plan.register_ring = plan.vectored = false;
  const std::pair<const char*, std::int64_t> counts[] = {
      {"depth", options.depth},
      {"batch-submit", options.batch_submit},
      {"batch-complete", options.batch_complete}};
  for (const auto& [name, value] : counts) {
    if (value != 1) note_without_effect(options, name, value, reason, plan);
  }
  const std::pair<const char*, bool> switches[] = {{"fixed-buffers", options.fixed_buffers},
                                                   {"register-files", options.register_files},
                                                   {"register-ring", options.register_ring},
                                                   {"vectored", options.vectored}};
  for (const auto& [name, value] : switches) {
    if (value) note_without_effect(options, name, 1, reason, plan);
  }
}

void settle_uring(const Options& options, bool has_targets, RunPlan& plan) {
  plan.depth = into_range(options.depth, 1, kMaxDepth);
  plan.batch_submit = settle_batch(options, "batch-submit", options.batch_submit, plan);
  plan.batch_complete = settle_batch(options, "batch-complete", options.batch_complete, plan);
  plan.fixed_buffers = options.fixed_buffers;
  plan.register_files = options.register_files;
  plan.register_ring = options.register_ring;
  plan.vectored = options.vectored;
  if (options.nop) {
    const char* reason = "-N1: a no-op transfers nothing";
    plan.nop = true;
    plan.nop_with_file = has_targets;
    plan.vectored = false;
    if (options.vectored) note_without_effect(options, "vectored", 1, reason, plan);
    if (has_targets) return;
    // A bare no-op has neither a file nor a buffer that could be looked up.
    plan.fixed_buffers = plan.register_files = false;
    const char* no_file = "-N1 without a FILE: there is nothing to register";
    if (options.fixed_buffers) note_without_effect(options, "fixed-buffers", 1, no_file, plan);
    if (options.register_files) note_without_effect(options, "register-files", 1, no_file, plan);
  } else if (options.vectored && options.fixed_buffers && !options.was_given("fixed-buffers")) {
    plan.fixed_buffers = false;
    plan.notes.push_back("--vectored 1 reads into plain buffers: --fixed-buffers is 0");
  }
}

/// Whether to poll when nobody said. What cannot be told is not tried: polling where it is not
/// supported may never end. Why not is a finding, with its cure, and said there.
bool settle_polled(const Options& options, const std::vector<TargetShape>& targets) {
  if (options.polled != PolledWish::automatic) return options.polled == PolledWish::on;
  if (options.nop || options.sync || !options.direct) return false;
  return !targets.empty() &&
         std::all_of(targets.begin(), targets.end(),
                     [](const TargetShape& target) { return target.can_poll == true; });
}

void settle_buffers(RunPlan& plan) {
  const std::uint64_t bytes = rules::slot_bytes(plan.block_size_bytes, plan.direct);
  plan.slot_stride_bytes = bytes;
  const std::uint64_t fitting = std::max<std::uint64_t>(1, kMaxRegisteredRegionBytes / bytes);
  plan.slots_per_region = static_cast<std::uint32_t>(std::min<std::uint64_t>(plan.depth, fitting));
  const bool bare_nop = plan.nop && !plan.nop_with_file;
  plan.buffer_bytes_per_thread = bare_nop ? 0 : plan.depth * bytes;
}

void settle_targets(const std::vector<TargetShape>& targets, RunPlan& plan) {
  for (const TargetShape& target : targets) {
    const std::uint64_t blocks = target.size_bytes / plan.block_size_bytes;
    // A no-op does not care where it does not read, but a range of offsets is never empty.
    plan.targets.push_back(
        {.path = target.path, .blocks = plan.nop ? std::max<std::uint64_t>(1, blocks) : blocks});
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

void settle_threads(const Options& options, RunPlan& plan) {
  const std::size_t count = into_range(options.threads, 1, kMaxThreads);
  for (std::size_t thread = 0; thread < count; thread++) {
    const int cpu = options.cpus.empty() ? -1 : options.cpus[thread % options.cpus.size()];
    plan.threads.push_back(
        {.cpu = cpu, .targets = targets_of_thread(thread, count, plan.targets.size())});
  }
}

/// The plan as far as it can be made; whether it may be carried out is for the rules to say.
RunPlan settle(const Options& options, const std::vector<TargetShape>& targets,
               const Limits& limits, std::uint64_t seed) {
  RunPlan plan;
  plan.block_size_bytes =
      std::clamp<std::uint64_t>(options.block_size_bytes, 1, rules::max_block_bytes(limits));
  plan.direct = options.direct;
  plan.random = options.random;
  plan.latency = options.latency;
  plan.runtime_ns = options.runtime_ns.value_or(0);
  plan.warmup_ns = options.warmup_ns;
  plan.repeats = into_range(options.repeats, 1, UINT32_MAX);
  plan.stall_timeout_ns = options.stall_timeout_ns;
  plan.seed = options.seed.value_or(seed);
  if (options.sync) {
    settle_sync(options, plan);
  } else {
    settle_uring(options, !targets.empty(), plan);
  }
  plan.polled = settle_polled(options, targets);
  settle_buffers(plan);
  settle_targets(targets, plan);
  settle_threads(options, plan);
  return plan;
}

}  // namespace

RunPlan make_plan(const Options& options, const std::vector<TargetShape>& targets,
                  const Limits& limits, std::uint64_t seed) {
  rules::Problems problems;
  rules::check_ranges(options, limits, problems);
  const bool in_range = problems.empty();
  rules::check_combinations(options, targets.size(), problems);
  RunPlan plan = settle(options, targets, limits, seed);
  // Sizes computed from values that nobody gave would only mislead.
  if (in_range) {
    rules::check_targets(plan, options.polled, targets, problems);
    rules::check_capacity(plan, limits, problems);
  }
  rules::check_cpus(options.cpus, limits, problems);
  if (!problems.empty()) throw base::UserError(std::move(problems));
  return plan;
}

std::string cell_id(const RunPlan& plan) {
  const char* workload = plan.nop ? "nop" : plan.random ? "randread" : "seqread";
  std::vector<int> cpus;
  for (const ThreadPlan& thread : plan.threads) {
    if (thread.cpu >= 0) cpus.push_back(thread.cpu);
  }
  // New settings are appended, never inserted: old documents are compared by these words.
  return fmt::format(
      "{} bs={} qd={} submit={} complete={} threads={} direct={:d} polled={:d} fixedbufs={:d} "
      "regfiles={:d} engine={} regring={:d} vectored={:d} latency={:d} targets={} cpus={}",
      workload, plan.block_size_bytes, plan.depth, plan.batch_submit, plan.batch_complete,
      plan.threads.size(), plan.direct, plan.polled, plan.fixed_buffers, plan.register_files,
      plan.engine == Engine::sync ? "sync" : "io_uring", plan.register_ring, plan.vectored,
      plan.latency, plan.targets.size(), cpus.empty() ? "any" : base::format_cpu_list(cpus));
}

}  // namespace uringbench::plan
