// The document as JSON: what was measured. The machine and the targets are in environment.cpp;
// docs/schema/result-v1.schema.json is the same thing for machines.
#include <cassert>
#include <cmath>

#include "result/json_text.hpp"
#include "result/writing.hpp"

namespace uringbench::result {
namespace {

Json to_value(const Settings& settings) {
  Json object = Json::object();
  for (const auto& [key, value] : settings.entries()) {
    std::visit(
        [&, name = key.c_str()](const auto& held) {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, double>) {
            put(object, name, held);
          } else {
            object[name] = held;
          }
        },
        value);
  }
  return object;
}

Json to_value(const SessionInfo& session) {
  Json object;
  object["id"] = session.id;
  put(object, "plan_id", session.plan_id);
  put_text(object, "boot_id", session.boot_id);
  object["verb"] = session.verb;
  put_text(object, "label", session.label);
  object["argv"] = session.argv;
  object["seed"] = session.seed;
  object["started_at"] = session.started_at;
  object["elapsed_ns"] = session.elapsed_ns;
  object["interrupted"] = session.interrupted;
  put(object, "signal", session.signal);
  return object;
}

Json to_value(const ErrorTally& errors) {
  Json object;
  object["count"] = errors.count;
  object["by_errno"] = Json::object();
  for (const auto& [name, count] : errors.by_errno) object["by_errno"][name] = count;
  if (errors.first) {
    Json first;
    first["errno"] = errors.first->errno_name;
    first["target"] = errors.first->target;
    first["offset_bytes"] = errors.first->offset_bytes;
    object["first"] = std::move(first);
  }
  return object;
}

Json to_value(const Latency& latency) {
  Json object;
  object["count"] = latency.count;
  object["min"] = latency.min;
  put(object, "mean", latency.mean);
  object["max"] = latency.max;
  for (const auto& [name, nanoseconds] : latency.percentiles) object[name] = nanoseconds;
  object["buckets"] = Json::array();
  for (const auto& [lower_bound, count] : latency.buckets) {
    object["buckets"].push_back(Json::array({lower_bound, count}));
  }
  return object;
}

Json to_value(const CpuTime& cpu) {
  Json object;
  object["user_ns"] = cpu.user_ns;
  object["system_ns"] = cpu.system_ns;
  put(object, "per_io_ns", cpu.per_io_ns);
  object["voluntary_switches"] = cpu.voluntary_switches;
  object["involuntary_switches"] = cpu.involuntary_switches;
  return object;
}

Json to_value(const SummaryFigure& figure) {
  Json object;
  object["n"] = figure.n;
  put(object, "median", figure.median);
  put(object, "mean", figure.mean);
  put(object, "min", figure.min);
  put(object, "max", figure.max);
  put(object, "cv", figure.cv);
  if (figure.ci95) {
    assert(std::isfinite(figure.ci95->low) && std::isfinite(figure.ci95->high));
    object["ci95"] = Json::array({figure.ci95->low, figure.ci95->high});
    put(object, "ci95_coverage", figure.ci95->coverage);
  }
  return object;
}

Json to_value(const Sqpoll& sqpoll) {
  Json object;
  object["thread_id"] = sqpoll.thread_id;
  put(object, "cpu", sqpoll.cpu);
  put(object, "total_us", sqpoll.total_us);
  put(object, "work_us", sqpoll.work_us);
  put(object, "utilisation", sqpoll.utilisation);
  put(object, "cpu_ns", sqpoll.cpu_ns);
  put(object, "cpu_per_io_ns", sqpoll.cpu_per_io_ns);
  object["wakeups"] = sqpoll.wakeups;
  if (sqpoll.pollers.size() > 1) object["pollers"] = to_array(sqpoll.pollers);
  return object;
}

}  // namespace

Json to_value(const Interval& interval) {
  Json object;
  object["elapsed_ns"] = interval.elapsed_ns;
  object["ios"] = interval.ios;
  put(object, "iops", interval.iops);
  return object;
}

Json to_value(const Sqpoll::Poller& poller) {
  Json object;
  object["thread_id"] = poller.thread_id;
  put(object, "cpu", poller.cpu);
  put(object, "total_us", poller.total_us);
  put(object, "work_us", poller.work_us);
  put(object, "cpu_ns", poller.cpu_ns);
  return object;
}

Json to_value(const ThreadRun& thread) {
  Json object;
  object["index"] = thread.index;
  put(object, "cpu", thread.cpu);
  put(object, "node", thread.node);
  object["tid"] = thread.tid;
  object["elapsed_ns"] = thread.elapsed_ns;
  object["ios"] = thread.ios;
  object["targets"] = thread.targets;
  object["user_ns"] = thread.user_ns;
  object["system_ns"] = thread.system_ns;
  return object;
}

Json to_value(const Run& run) {
  Json object;
  object["index"] = run.index;
  put(object, "block", run.block);
  put(object, "position", run.position);
  object["started_at"] = run.started_at;
  object["warmup_ns"] = run.warmup_ns;
  object["elapsed_ns"] = run.elapsed_ns;
  object["ios"] = run.ios;
  put(object, "iops", run.iops);
  put(object, "bytes_per_second", run.bytes_per_second);
  object["errors"] = to_value(run.errors);
  object["short_reads"] = run.short_reads;
  if (run.first_short_read) {
    Json first;
    first["target"] = run.first_short_read->target;
    first["offset_bytes"] = run.first_short_read->offset_bytes;
    object["first_short_read"] = std::move(first);
  }
  object["retries_eagain"] = run.retries_eagain;
  object["stalled"] = run.stalled;
  put(object, "ios_per_submit_call", run.ios_per_submit_call);
  put(object, "ios_per_reap", run.ios_per_reap);
  object["syscalls"] = run.syscalls;
  put(object, "inflight_mean", run.inflight_mean);
  put(object, "inflight_mean_method", run.inflight_mean_method);
  object["inflight_max"] = run.inflight_max;
  object["never_completed"] = run.never_completed;
  object["io_workers"] = run.io_workers;
  object["intervals"] = to_array(run.intervals);
  if (run.latency) object["latency_ns"] = to_value(*run.latency);
  object["cpu"] = to_value(run.cpu);
  if (run.sqpoll) object["sqpoll"] = to_value(*run.sqpoll);
  object["threads"] = to_array(run.threads);
  put(object, "steady", run.steady);
  object["interrupted"] = run.interrupted;
  object["warnings"] = run.warnings;
  return object;
}

Json to_value(const Cell& cell) {
  Json object;
  object["id"] = cell.id;
  put(object, "arm", cell.arm);
  object["asked"] = to_value(cell.asked);
  object["granted"] = to_value(cell.granted);
  object["runs"] = to_array(cell.runs);
  object["summary"] = Json::object();
  for (const auto& [name, figure] : cell.summary) object["summary"][name] = to_value(figure);
  return object;
}

std::string to_json(const Document& document) {
  Json root;
  root["schema"]["name"] = "uringbench.result";
  root["schema"]["version"] = kSchemaVersion;
  root["tool"] = to_value(document.tool);
  root["session"] = to_value(document.session);
  root["environment"]["identity"] = to_value(document.identity);
  root["environment"]["weather"] = to_value(document.weather);
  root["targets"] = to_array(document.targets);
  root["findings"] = to_array(document.findings);
  root["cells"] = to_array(document.cells);
  return json_text(root);
}

}  // namespace uringbench::result
