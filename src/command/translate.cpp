#include "command/translate.hpp"

#include <algorithm>
#include <cmath>

namespace uringbench::command {
namespace {

std::optional<double> ratio(std::uint64_t amount, std::uint64_t per) {
  if (per == 0) return std::nullopt;
  return static_cast<double>(amount) / static_cast<double>(per);
}

/// Sentences about one run that a reader of its figures must know.
std::vector<std::string> warnings_of(const engine::Measurement& m, const plan::RunPlan& plan,
                                     const result::Run& run) {
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
                       (m.never_completed == 1 ? " request" : " requests") +
                       " had not come back when the run was given up");
  }
  for (const auto& thread : m.threads) {
    if (thread.stuck) {
      warnings.push_back("thread " + std::to_string(thread.index) + " hangs in the kernel");
    }
  }
  if (m.poller_left) {
    warnings.push_back("the SQPOLL thread was still there after the rings were closed");
  }
  if (plan.sqpoll && m.pollers.empty() && m.began) {
    warnings.push_back("nothing is known of the SQPOLL thread: its fdinfo could not be read");
  }
  for (const auto& poller : m.pollers) {
    for (const auto& thread : m.threads) {
      if (thread.cpu >= 0 && poller.cpu == thread.cpu) {
        warnings.push_back("the SQPOLL thread shared CPU " + std::to_string(thread.cpu) +
                           " with thread " + std::to_string(thread.index));
      }
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
  if (facts.kind == machine::TargetKind::nvme_generic) target.namespace_id = facts.namespace_id;
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

namespace {

/// Adds up what is known of every poller; what is unknown of one is unknown of all.
template <class Member>
std::optional<std::int64_t> total_of(const std::vector<engine::Poller>& pollers, Member member) {
  std::int64_t total = 0;
  for (const auto& poller : pollers) {
    if (!(poller.*member)) return std::nullopt;
    total += *(poller.*member);
  }
  return total;
}

std::optional<result::Sqpoll> sqpoll_of(const engine::Measurement& m) {
  if (m.pollers.empty()) return std::nullopt;
  result::Sqpoll sqpoll;
  sqpoll.thread_id = m.pollers.front().thread_id;
  sqpoll.cpu = m.pollers.front().cpu;
  sqpoll.total_us = total_of(m.pollers, &engine::Poller::total_us);
  sqpoll.work_us = total_of(m.pollers, &engine::Poller::work_us);
  if (sqpoll.work_us && sqpoll.total_us.value_or(0) > 0) {
    // The kernel takes both times in ticks, at different moments: work can come out a hair above.
    sqpoll.utilisation =
        std::min(1.0, static_cast<double>(*sqpoll.work_us) / static_cast<double>(*sqpoll.total_us));
  }
  sqpoll.cpu_ns = total_of(m.pollers, &engine::Poller::cpu_ns);
  if (sqpoll.cpu_ns) {
    sqpoll.cpu_per_io_ns = ratio(static_cast<std::uint64_t>(*sqpoll.cpu_ns), m.ios);
  }
  sqpoll.wakeups = m.wakeups;
  for (const auto& poller : m.pollers) {
    sqpoll.pollers.push_back({.thread_id = poller.thread_id,
                              .cpu = poller.cpu,
                              .total_us = poller.total_us,
                              .work_us = poller.work_us,
                              .cpu_ns = poller.cpu_ns});
  }
  return sqpoll;
}

}  // namespace

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
    run.errors.by_errno[engine::error_name(number)] = count;
  }
  if (const auto& first = m.errors.first) {
    run.errors.first = {.errno_name = engine::error_name(first->error_number),
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
    if (thread.node >= 0) to.node = thread.node;
    to.user_ns = thread.user_ns;
    to.system_ns = thread.system_ns;
    run.threads.push_back(std::move(to));
  }
  run.sqpoll = sqpoll_of(m);
  if (const auto steadiness = stats::steadiness(rates)) run.steady = steadiness->steady;
  run.interrupted = m.interrupted;
  run.warnings = warnings_of(m, plan, run);
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
