#include "command/translate.hpp"

#include <cmath>

namespace uringbench::command {
namespace {

std::optional<double> ratio(std::uint64_t amount, std::uint64_t per) {
  if (per == 0) return std::nullopt;
  return static_cast<double>(amount) / static_cast<double>(per);
}

const char* engine_name(plan::Engine engine) {
  return engine == plan::Engine::sync ? "preadv2" : "io_uring";
}

std::vector<std::int64_t> widen(const std::vector<int>& numbers) {
  return {numbers.begin(), numbers.end()};
}

/// Sentences about one run that a reader of its figures must know.
std::vector<std::string> warnings_of(const engine::Measurement& m, const result::Run& run) {
  std::vector<std::string> warnings;
  if (m.ios == 0 && m.began) {
    warnings.push_back(m.errors.count + m.short_reads != 0
                           ? "no read came back whole"
                           : "no read came back within the measured time");
  }
  if (m.fatal_errno) {
    warnings.push_back("io_uring_enter failed with " + base::errno_name(*m.fatal_errno));
  }
  if (m.warmup_errors != 0) {
    warnings.push_back(std::to_string(m.warmup_errors) + " errors or short reads in the warm-up");
  }
  if (m.never_completed != 0) {
    warnings.push_back(std::to_string(m.never_completed) +
                       " requests had not come back when the run was given up");
  }
  for (const auto& thread : m.threads) {
    if (thread.stuck) {
      warnings.push_back("thread " + std::to_string(thread.index) + " hangs in the kernel");
    }
  }
  // Little's law is the check that latency and throughput speak of the same requests. Too few
  // requests prove nothing: those in flight at both ends count for one side only.
  if (run.latency && m.inflight_mean && m.inflight_time_weighted &&
      m.errors.count + m.short_reads == 0 && m.ios > 100 * std::uint64_t{m.inflight_max}) {
    const double expected = run.latency->mean * run.iops / 1e9;
    if (std::abs(expected - *m.inflight_mean) > 0.1 * *m.inflight_mean) {
      warnings.push_back("mean latency x IOPS does not equal the mean number in flight");
    }
  }
  return warnings;
}

}  // namespace

result::Identity to_result(const machine::Identity& identity) {
  return {.kernel_release = identity.kernel_release,
          .kernel_version = identity.kernel_version,
          .kernel_cmdline = identity.kernel_cmdline,
          .architecture = identity.architecture,
          .cpu_model = identity.cpu_model,
          .cpus_online = identity.cpus_online,
          .numa_nodes = identity.numa_nodes,
          .memory_bytes = identity.memory_bytes,
          .virtualization = identity.virtualization,
          .mitigations = identity.mitigations,
          .smt = identity.smt,
          .io_uring_disabled = identity.io_uring_disabled};
}

result::Weather to_result(const machine::Weather& weather) {
  return {.load_average_1m = weather.load_average_1m,
          .governor = weather.governor,
          .turbo = weather.turbo,
          .cpu_mhz_min = weather.cpu_mhz_min,
          .cpu_mhz_max = weather.cpu_mhz_max,
          .temperature_celsius = weather.temperature_celsius};
}

result::Target to_result(const machine::TargetFacts& facts, bool with_serials) {
  result::Target target;
  target.path = facts.path;
  if (facts.resolved_path != facts.path) target.resolved_path = facts.resolved_path;
  target.kind = machine::kind_name(facts.kind);
  target.size_bytes = facts.size_bytes;
  target.logical_block_bytes = facts.logical_block_bytes;
  target.filesystem = facts.filesystem;
  target.mounted_at = facts.mounted_at;
  target.sparse = facts.sparse;
  if (facts.sparse) target.unwritten_bytes = facts.unwritten_bytes;
  if (!facts.device) return target;
  const machine::DeviceFacts& from = *facts.device;
  result::Device device;
  device.name = from.name;
  if (!from.partition.empty()) device.partition = from.partition;
  device.model = from.model;
  device.firmware = from.firmware;
  device.driver = from.driver;
  if (with_serials) device.serial = from.serial;
  device.local_cpus = from.local_cpus;
  device.backing_file = from.backing_file;
  device.numa_node = from.numa_node;
  device.poll_queues = from.poll_queues;
  device.temperature_celsius = from.temperature_celsius;
  if (from.pci_address) {
    device.pci = result::Pci{.address = from.pci_address,
                             .link_speed = from.pci_link_speed,
                             .link_speed_max = from.pci_link_speed_max,
                             .link_width = from.pci_link_width,
                             .link_width_max = from.pci_link_width_max};
  }
  target.device = std::move(device);
  target.queue = from.queue;
  return target;
}

result::Finding to_result(const machine::Finding& finding) {
  return {.severity = machine::severity_name(finding.severity),
          .code = finding.code,
          .message = finding.message,
          .hint = finding.hint};
}

result::Settings asked_settings(const plan::Options& options) {
  result::Settings asked;
  asked.set("engine", options.sync ? "preadv2" : "io_uring")
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
      .set("threads", options.threads)
      .set("direct", options.direct)
      .set("random", options.random)
      .set("vectored", options.vectored)
      .set("latency", options.latency)
      .set("sqpoll", false)
      .set("no_sqthread_stats", false);
  if (!options.cpus.empty()) asked.set("cpus", widen(options.cpus));
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
      .set("latency", plan.latency);
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
        .set("fallbacks", granted.fallbacks);
  }
  if (!granted.latency_clock.empty()) settings.set("latency_clock", granted.latency_clock);
  return settings;
}

result::Run to_result(const engine::Measurement& m, const plan::RunPlan& plan,
                      std::uint32_t index) {
  result::Run run;
  run.index = index;
  run.started_at = m.started_at;
  run.warmup_ns = m.warmup_ns;
  run.elapsed_ns = m.elapsed_ns;
  run.ios = m.ios;
  run.iops = m.iops();
  if (!plan.nop) run.bytes_per_second = run.iops * static_cast<double>(plan.block_size_bytes);
  run.errors.count = m.errors.count;
  for (const auto& [number, count] : m.errors.by_errno) {
    run.errors.by_errno[base::errno_name(number)] = count;
  }
  if (const auto& first = m.errors.first) {
    run.errors.first = {.errno_name = base::errno_name(first->error_number),
                        .target = first->target,
                        .offset_bytes = first->offset_bytes};
  }
  if (const auto& first = m.errors.first_short_read) {
    run.first_short_read = {.target = first->target, .offset_bytes = first->offset_bytes};
  }
  run.short_reads = m.short_reads;
  run.retries_eagain = m.retries_eagain;
  run.stalled = m.stalled;
  run.ios_per_submit_call = ratio(m.submitted, m.submit_calls);
  run.ios_per_reap = ratio(m.completions, m.submit_calls);
  run.syscalls = m.submit_calls;
  run.inflight_mean = m.inflight_mean;
  if (m.inflight_mean) {
    run.inflight_mean_method = m.inflight_time_weighted ? "time-weighted" : "per-call";
  }
  run.inflight_max = m.inflight_max;
  run.never_completed = static_cast<std::uint32_t>(m.never_completed);
  run.io_workers = m.io_workers;
  std::vector<double> rates;
  for (const auto& interval : m.intervals) {
    run.intervals.push_back(
        {.elapsed_ns = interval.elapsed_ns, .ios = interval.ios, .iops = interval.iops()});
    rates.push_back(interval.iops());
  }
  if (m.latency_ns) run.latency = result::latency_of(*m.latency_ns);
  run.cpu = {.user_ns = m.user_ns,
             .system_ns = m.system_ns,
             .per_io_ns = ratio(static_cast<std::uint64_t>(m.user_ns + m.system_ns), m.ios),
             .voluntary_switches = m.voluntary_switches,
             .involuntary_switches = m.involuntary_switches};
  for (const auto& thread : m.threads) {
    result::ThreadRun to;
    to.index = thread.index;
    if (thread.cpu >= 0) to.cpu = thread.cpu;
    to.tid = thread.tid;
    to.elapsed_ns = thread.elapsed_ns;
    to.ios = thread.ios;
    to.targets = thread.targets;
    to.user_ns = thread.user_ns;
    to.system_ns = thread.system_ns;
    run.threads.push_back(std::move(to));
  }
  if (const auto steadiness = stats::steadiness(rates)) run.steady = steadiness->steady;
  run.interrupted = m.interrupted;
  run.warnings = warnings_of(m, run);
  return run;
}

report::Header to_header(const plan::RunPlan& plan, const engine::Granted& granted,
                         const std::vector<std::int64_t>& thread_ids,
                         const std::vector<machine::TargetFacts>& targets) {
  report::Header header;
  for (std::size_t t = 0; t < plan.threads.size(); ++t) {
    const auto& indices = plan.threads[t].targets;
    report::HeaderThread thread;
    thread.index = static_cast<std::uint32_t>(t);
    thread.tid = thread_ids.at(t);
    thread.nfiles = static_cast<std::uint32_t>(indices.size());
    thread.file = indices.empty() ? "(none)" : targets.at(indices[0]).path;
    if (!indices.empty() && targets[indices[0]].device) {
      thread.node = targets[indices[0]].device->numa_node.value_or(-1);
    }
    header.threads.push_back(std::move(thread));
  }
  header.polled = granted.polled;
  header.fixed_buffers = granted.fixed_buffers;
  header.register_files = granted.registered_files;
  header.buffered = !plan.direct;
  header.depth = granted.depth;
  header.engine = engine_name(plan.engine);
  if (plan.engine == plan::Engine::io_uring) {
    header.sq_ring = granted.sq_entries;
    header.cq_ring = granted.cq_entries;
  }
  return header;
}

report::Rate to_rate(const engine::Interval& interval, const plan::RunPlan& plan) {
  report::Rate rate;
  rate.iops = interval.iops();
  if (!plan.nop) rate.bytes_per_second = rate.iops * static_cast<double>(plan.block_size_bytes);
  rate.ios_per_submit_call = ratio(interval.submitted, interval.submit_calls);
  rate.ios_per_reap = ratio(interval.completions, interval.submit_calls);
  return rate;
}

}  // namespace uringbench::command
