// What each engine makes of the options, and what a ring is set up with.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "plan/settle.hpp"

namespace uringbench::plan {

namespace {

/// "--depth 128 has no effect with -S1: …", only where the user (or a profile) asked for it.
void note_without_effect(const Options& options, const char* long_name, std::int64_t value,
                         const char* reason, RunPlan& plan) {
  if (!options.was_given(long_name)) return;
  plan.notes.push_back(fmt::format("--{} {} has no effect with {}", long_name, value, reason));
}

/// The same for switches, where they are on.
void note_switches(const Options& options,
                   std::initializer_list<std::pair<const char*, bool>> switches, const char* reason,
                   RunPlan& plan) {
  for (const auto& [name, is_on] : switches) {
    if (is_on) note_without_effect(options, name, 1, reason, plan);
  }
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

void settle_depth(const Options& options, RunPlan& plan) {
  plan.depth = into_range(options.depth, 1, kMaxDepth);
  plan.batch_submit = settle_batch(options, "batch-submit", options.batch_submit, plan);
  plan.batch_complete = settle_batch(options, "batch-complete", options.batch_complete, plan);
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
  note_switches(options,
                {{"fixed-buffers", options.fixed_buffers},
                 {"register-files", options.register_files},
                 {"register-ring", options.register_ring},
                 {"vectored", options.vectored}},
                reason, plan);
}

void settle_aio(const Options& options, RunPlan& plan) {
  plan.engine = Engine::aio;
  settle_depth(options, plan);
  plan.fixed_buffers = plan.register_files = plan.register_ring = false;
  plan.vectored = options.vectored;
  note_switches(options,
                {{"fixed-buffers", options.fixed_buffers},
                 {"register-files", options.register_files},
                 {"register-ring", options.register_ring}},
                "-a1: legacy AIO registers nothing", plan);
}

void settle_requests(const Options& options, bool has_targets, RunPlan& plan) {
  settle_depth(options, plan);
  plan.fixed_buffers = options.fixed_buffers;
  plan.register_files = options.register_files;
  plan.register_ring = options.register_ring;
  plan.vectored = options.vectored;
  if (options.nop) {
    plan.nop = true;
    plan.nop_with_file = has_targets;
    plan.vectored = false;
    note_switches(options, {{"vectored", options.vectored}}, "-N1: a no-op transfers nothing",
                  plan);
    if (has_targets) return;
    // A bare no-op has neither a file nor a buffer that could be looked up.
    plan.fixed_buffers = plan.register_files = false;
    note_switches(
        options,
        {{"fixed-buffers", options.fixed_buffers}, {"register-files", options.register_files}},
        "-N1 without a FILE: there is nothing to register", plan);
  } else if (options.vectored && options.fixed_buffers && !options.was_given("fixed-buffers")) {
    plan.fixed_buffers = false;
    plan.notes.push_back("--vectored 1 reads into plain buffers: --fixed-buffers is 0");
  }
}

void settle_ring(const Options& options, RunPlan& plan) {
  plan.restricted = options.restrict_ring;
  plan.hybrid_iopoll = options.hybrid_iopoll;
  plan.taskrun_asked = options.taskrun.has_value();
  // The kernel thread of SQPOLL runs the completions: there is no task to be interrupted or not.
  plan.taskrun = options.sqpoll ? TaskRun::plain : options.taskrun.value_or(TaskRun::defer);
  if (options.sqpoll) {
    plan.sqpoll = true;
    const std::int64_t cpu = options.sqpoll_cpu.value_or(-1);
    plan.sqpoll_cpu = cpu >= 0 && cpu <= kMaxCpu ? static_cast<int>(cpu) : -1;
    plan.sqpoll_idle_ms = into_range(options.sqpoll_idle_ms, 0, UINT32_MAX);
    plan.sqpoll_share = options.sqpoll_share && plan.threads.size() > 1;
    if (options.sqpoll_share && !plan.sqpoll_share) {
      plan.notes.push_back("--sqpoll-share has no effect with one thread: there is one ring");
    }
  }
  if (!options.no_sqthread_stats) return;
  plan.sqthread_stats_bit = static_cast<int>(into_range(options.sqthread_stats_bit, 0, 31));
  plan.force = options.force;
  if (!options.sqpoll) {
    plan.notes.push_back("--no-sqthread-stats has an effect only on the thread of --sqpoll");
  }
}

void note_lonely_stats_flags(const Options& options, RunPlan& plan) {
  if (options.no_sqthread_stats) return;
  const char* reason = "has no effect without --no-sqthread-stats";
  if (options.was_given("sqthread-stats-bit")) {
    plan.notes.push_back(
        fmt::format("--sqthread-stats-bit {} {}", options.sqthread_stats_bit, reason));
  }
  if (options.force) plan.notes.push_back(fmt::format("--force {}", reason));
}

/// Whether to poll when nobody said. What cannot be told is not tried: polling where it is not
/// supported may never end. Why not is a finding, with its cure, and said there.
bool settle_polled(const Options& options, const std::vector<TargetShape>& targets,
                   const RunPlan& plan) {
  if (options.polled != PolledWish::automatic) return options.polled == PolledWish::on;
  if (plan.engine != Engine::io_uring || plan.nop || !plan.direct) return false;
  return !targets.empty() &&
         std::all_of(targets.begin(), targets.end(),
                     [](const TargetShape& target) { return target.can_poll == true; });
}

}  // namespace

void settle_engine(const Options& options, const std::vector<TargetShape>& targets, RunPlan& plan) {
  if (options.sync) {
    settle_sync(options, plan);
  } else if (options.aio) {
    settle_aio(options, plan);
  } else {
    settle_requests(options, !targets.empty(), plan);
    settle_ring(options, plan);
  }
  note_lonely_stats_flags(options, plan);
  plan.polled = settle_polled(options, targets, plan);
}

}  // namespace uringbench::plan
