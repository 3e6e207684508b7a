// The words of a cell's identity.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace uringbench::plan {

namespace {

const char* engine_word(Engine engine) {
  return engine == Engine::sync ? "sync" : engine == Engine::aio ? "aio" : "io_uring";
}

const char* huge_pages_word(HugePages kind) {
  return kind == HugePages::none ? "none" : kind == HugePages::anonymous ? "anon" : "file";
}

std::string cpus_word(const RunPlan& plan) {
  std::vector<int> cpus;
  for (const ThreadPlan& thread : plan.threads) {
    if (thread.cpu >= 0) cpus.push_back(thread.cpu);
  }
  return cpus.empty() ? "any" : base::format_cpu_list(cpus);
}

std::string queue_word(const RunPlan& plan) {
  std::vector<std::string> settings;
  for (const QueueSetting& setting : plan.queue) {
    settings.push_back(setting.key + ":" + setting.value);
  }
  std::sort(settings.begin(), settings.end());
  return settings.empty() ? "-" : fmt::format("{}", fmt::join(settings, ","));
}

}  // namespace

const char* taskrun_name(TaskRun taskrun) noexcept {
  switch (taskrun) {
    case TaskRun::defer:
      return "defer";
    case TaskRun::coop:
      return "coop";
    case TaskRun::plain:
      break;
  }
  return "plain";
}

std::string cell_id(const RunPlan& plan) {
  // Node numbers differ between machines that are alike.
  const bool numa = std::any_of(plan.threads.begin(), plan.threads.end(),
                                [](const ThreadPlan& thread) { return thread.node >= 0; });
  // New settings are appended, never inserted: old documents are compared by these words.
  return fmt::format(
      "{} bs={} qd={} submit={} complete={} threads={} direct={:d} polled={:d} fixedbufs={:d} "
      "regfiles={:d} engine={} regring={:d} vectored={:d} latency={:d} targets={} cpus={} "
      "passthrough={:d} restrict={:d} hugepages={} numa={:d} taskrun={} hybrid={:d} sqpoll={:d} "
      "sqpoll_cpu={} sqpoll_idle={} sqpoll_share={:d} sqstats={} queue={}",
      plan.nop      ? "nop"
      : plan.random ? "randread"
                    : "seqread",
      plan.block_size_bytes, plan.depth, plan.batch_submit, plan.batch_complete,
      plan.threads.size(), plan.direct, plan.polled, plan.fixed_buffers, plan.register_files,
      engine_word(plan.engine), plan.register_ring, plan.vectored, plan.latency,
      plan.targets.size(), cpus_word(plan), plan.passthrough, plan.restricted,
      huge_pages_word(plan.huge_pages), numa,
      plan.taskrun_asked ? taskrun_name(plan.taskrun) : "auto", plan.hybrid_iopoll, plan.sqpoll,
      plan.sqpoll_cpu < 0 ? "any" : std::to_string(plan.sqpoll_cpu), plan.sqpoll_idle_ms,
      plan.sqpoll_share, plan.sqthread_stats_bit < 0 ? "on" : "off", queue_word(plan));
}

}  // namespace uringbench::plan
