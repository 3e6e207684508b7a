// What was asked and what was granted, as the document has it.
#include "command/translate.hpp"

#include <set>

namespace uringbench::command {

const char* engine_name(plan::Engine engine) {
  switch (engine) {
    case plan::Engine::sync:
      return "preadv2";
    case plan::Engine::aio:
      return "aio";
    case plan::Engine::io_uring:
      break;
  }
  return "io_uring";
}

namespace {

std::vector<std::int64_t> widen(const std::vector<int>& numbers) {
  return {numbers.begin(), numbers.end()};
}

void ask_for_placement(const plan::Options& options, result::Settings& asked) {
  if (options.threads_auto) {
    asked.set("threads", "auto");
  } else {
    asked.set("threads", options.threads);
  }
  if (options.cpu_place == plan::CpuPlace::local_core) {
    asked.set("cpus", "local-core");
  } else if (options.cpu_place == plan::CpuPlace::local_node) {
    asked.set("cpus", "local-node");
  } else if (!options.cpus.empty()) {
    asked.set("cpus", widen(options.cpus));
  }
  asked.set("numa", options.numa);
  if (!options.hugetlb.empty()) asked.set("hugetlb", options.hugetlb);
}

void ask_for_ring(const plan::Options& options, result::Settings& asked) {
  asked.set("passthrough", options.passthrough)
      .set("restrict", options.restrict_ring)
      .set("taskrun", options.taskrun ? plan::taskrun_name(*options.taskrun) : "auto")
      .set("hybrid_iopoll", options.hybrid_iopoll)
      .set("sqpoll", options.sqpoll);
  if (options.sqpoll_cpu) asked.set("sqpoll_cpu", *options.sqpoll_cpu);
  if (options.sqpoll) {
    asked.set("sqpoll_idle_ms", options.sqpoll_idle_ms).set("sqpoll_share", options.sqpoll_share);
  }
  asked.set("no_sqthread_stats", options.no_sqthread_stats);
  if (options.no_sqthread_stats) {
    asked.set("sqthread_stats_bit", options.sqthread_stats_bit).set("force", options.force);
  }
  std::vector<std::string> queue;
  for (const auto& setting : options.queue) queue.push_back(setting.key + "=" + setting.value);
  if (!queue.empty()) asked.set("queue", queue);
}

/// CPUs and nodes that some thread has, each once; nothing where none has any.
void grant_placement(const plan::RunPlan& plan, result::Settings& granted) {
  std::set<std::int64_t> cpus;
  std::set<std::int64_t> nodes;
  for (const auto& thread : plan.threads) {
    if (thread.cpu >= 0) cpus.insert(thread.cpu);
    if (thread.node >= 0) nodes.insert(thread.node);
  }
  const auto list = [](const std::set<std::int64_t>& numbers) {
    return std::vector<std::int64_t>(numbers.begin(), numbers.end());
  };
  if (!cpus.empty()) granted.set("cpus", list(cpus));
  if (!nodes.empty()) granted.set("nodes", list(nodes));
}

}  // namespace

result::Settings asked_settings(const plan::Options& options) {
  result::Settings asked;
  asked.set("engine", options.sync  ? "preadv2"
                      : options.aio ? "aio"
                                    : "io_uring")
      .set("nop", options.nop)
      .set("depth", options.depth)
      .set("batch_submit", options.batch_submit)
      .set("batch_complete", options.batch_complete)
      .set("block_size_bytes", options.block_size_bytes);
  if (options.polled == plan::PolledWish::automatic) {
    asked.set("polled", "auto");
  } else {
    asked.set("polled", options.polled == plan::PolledWish::on);
  }
  asked.set("fixed_buffers", options.fixed_buffers)
      .set("register_files", options.register_files)
      .set("register_ring", options.register_ring)
      .set("direct", options.direct)
      .set("random", options.random)
      .set("vectored", options.vectored)
      .set("latency", options.latency);
  ask_for_placement(options, asked);
  ask_for_ring(options, asked);
  if (options.runtime_ns && *options.runtime_ns != 0) asked.set("runtime_ns", *options.runtime_ns);
  asked.set("warmup_ns", options.warmup_ns)
      .set("repeats", options.repeats)
      .set("stall_timeout_ns", options.stall_timeout_ns)
      .set("allow_errors", options.allow_errors);
  if (options.seed) asked.set("seed", *options.seed);
  if (options.scratch) {
    asked.set("scratch_bytes", options.scratch->size_bytes)
        .set("scratch_directory", options.scratch->directory);
  }
  return asked;
}

result::Settings planned_settings(const plan::RunPlan& plan) {
  result::Settings planned;
  planned.set("engine", engine_name(plan.engine))
      .set("nop", plan.nop)
      .set("depth", std::int64_t{plan.depth})
      .set("batch_submit", std::int64_t{plan.batch_submit})
      .set("batch_complete", std::int64_t{plan.batch_complete})
      .set("block_size_bytes", plan.block_size_bytes)
      .set("polled", plan.polled)
      .set("fixed_buffers", plan.fixed_buffers)
      .set("register_files", plan.register_files)
      .set("register_ring", plan.register_ring)
      .set("threads", static_cast<std::int64_t>(plan.threads.size()))
      .set("direct", plan.direct)
      .set("random", plan.random)
      .set("vectored", plan.vectored)
      .set("latency", plan.latency)
      .set("passthrough", plan.passthrough)
      .set("restrict", plan.restricted)
      .set("sqpoll", plan.sqpoll);
  grant_placement(plan, planned);
  return planned;
}

result::Settings granted_settings(const plan::RunPlan& plan, const engine::Granted& granted) {
  result::Settings settings;
  settings.set("engine", engine_name(plan.engine))
      .set("opcode", granted.opcode)
      .set("nop_looks_up_file", plan.nop_with_file)
      .set("depth", std::int64_t{granted.depth})
      .set("batch_submit", std::int64_t{granted.batch_submit})
      .set("batch_complete", std::int64_t{granted.batch_complete})
      .set("block_size_bytes", plan.block_size_bytes)
      .set("polled", granted.polled)
      .set("fixed_buffers", granted.fixed_buffers)
      .set("registered_regions", std::int64_t{granted.registered_regions})
      .set("register_files", granted.registered_files)
      .set("register_ring", granted.registered_ring)
      .set("threads", static_cast<std::int64_t>(plan.threads.size()))
      .set("direct", plan.direct)
      .set("random", plan.random)
      .set("vectored", plan.vectored);
  if (plan.engine == plan::Engine::io_uring) {
    settings.set("sq_entries", std::int64_t{granted.sq_entries})
        .set("cq_entries", std::int64_t{granted.cq_entries})
        .set("setup_flags", granted.setup_flags)
        .set("features", granted.features)
        .set("fallbacks", granted.fallbacks)
        .set("passthrough", plan.passthrough)
        .set("sqpoll", granted.sqpoll)
        .set("sqthread_stats", granted.sqthread_stats);
    if (plan.restricted) settings.set("restrictions", granted.restrictions);
  }
  if (granted.buffer_page_bytes != 0) {
    settings.set("buffer_page_bytes", granted.buffer_page_bytes);
  }
  grant_placement(plan, settings);
  if (!granted.latency_clock.empty()) settings.set("latency_clock", granted.latency_clock);
  return settings;
}

}  // namespace uringbench::command
