// The document as JSON. Every key of version 1 stands in this file and nowhere else in the program;
// docs/schema/result-v1.schema.json is the same thing for machines.
#include <cassert>
#include <cmath>

#include "result/json_text.hpp"
#include "result/result.hpp"

namespace uringbench::result {
namespace {

using Json = nlohmann::ordered_json;

// Each `put` leaves a key out when there is nothing to say: a reader then sees that a thing was not
// measured, where null, NaN or 0 would look like an answer.

void put(Json& object, const char* key, double value) {
  assert(std::isfinite(value));
  if (std::isfinite(value)) object[key] = value;
}

template <typename T>
void put(Json& object, const char* key, const std::optional<T>& value) {
  if (!value) return;
  if constexpr (std::is_same_v<T, double>) {
    put(object, key, *value);
  } else {
    object[key] = *value;
  }
}

void put_text(Json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

template <typename Integer>
void put_positive(Json& object, const char* key, Integer value) {
  if (value > 0) object[key] = value;
}

template <typename T>
void put_map(Json& object, const char* key, const std::map<std::string, T>& values) {
  if (values.empty()) return;
  Json members = Json::object();
  for (const auto& [name, value] : values) {
    if constexpr (std::is_same_v<T, double>) {
      put(members, name.c_str(), value);
    } else {
      members[name] = value;
    }
  }
  object[key] = std::move(members);
}

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

Json to_value(const Tool& tool) {
  Json object;
  object["version"] = tool.version;
  put_text(object, "commit", tool.commit);
  put_text(object, "compiler", tool.compiler);
  put_text(object, "build_type", tool.build_type);
  put_text(object, "liburing", tool.liburing);
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

Json to_value(const Identity& identity) {
  Json object = Json::object();
  put_text(object, "kernel_release", identity.kernel_release);
  put_text(object, "kernel_version", identity.kernel_version);
  put_text(object, "kernel_cmdline", identity.kernel_cmdline);
  put_text(object, "architecture", identity.architecture);
  put_text(object, "cpu_model", identity.cpu_model);
  put_positive(object, "cpus_online", identity.cpus_online);
  put_positive(object, "numa_nodes", identity.numa_nodes);
  put_positive(object, "memory_bytes", identity.memory_bytes);
  put(object, "virtualization", identity.virtualization);
  put_map(object, "mitigations", identity.mitigations);
  put_map(object, "smt", identity.smt);
  put(object, "io_uring_disabled", identity.io_uring_disabled);
  return object;
}

Json to_value(const Weather& weather) {
  Json object = Json::object();
  put(object, "load_average_1m", weather.load_average_1m);
  put(object, "governor", weather.governor);
  put(object, "cpu_mhz_min", weather.cpu_mhz_min);
  put(object, "cpu_mhz_max", weather.cpu_mhz_max);
  put(object, "turbo", weather.turbo);
  put_map(object, "temperature_celsius", weather.temperature_celsius);
  return object;
}

Json to_value(const Pci& pci) {
  Json object = Json::object();
  put(object, "address", pci.address);
  put(object, "link_speed", pci.link_speed);
  put(object, "link_width", pci.link_width);
  put(object, "link_speed_max", pci.link_speed_max);
  put(object, "link_width_max", pci.link_width_max);
  return object;
}

Json to_value(const Device& device) {
  Json object;
  object["name"] = device.name;
  put(object, "partition", device.partition);
  put(object, "model", device.model);
  put(object, "firmware", device.firmware);
  put(object, "serial", device.serial);
  put(object, "driver", device.driver);
  put(object, "backing_file", device.backing_file);
  put(object, "numa_node", device.numa_node);
  put(object, "local_cpus", device.local_cpus);
  if (device.pci) object["pci"] = to_value(*device.pci);
  put(object, "poll_queues", device.poll_queues);
  put(object, "temperature_celsius", device.temperature_celsius);
  return object;
}

Json to_value(const Target& target) {
  Json object;
  object["path"] = target.path;
  put(object, "resolved_path", target.resolved_path);
  object["kind"] = target.kind;
  object["size_bytes"] = target.size_bytes;
  put_positive(object, "logical_block_bytes", target.logical_block_bytes);
  put(object, "filesystem", target.filesystem);
  put(object, "mounted_at", target.mounted_at);
  object["sparse"] = target.sparse;
  put(object, "unwritten_bytes", target.unwritten_bytes);
  if (target.device) object["device"] = to_value(*target.device);
  put_map(object, "queue", target.queue);
  return object;
}

Json to_value(const Finding& finding) {
  Json object;
  object["severity"] = finding.severity;
  object["code"] = finding.code;
  object["message"] = finding.message;
  put_text(object, "hint", finding.hint);
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

Json to_value(const Interval& interval) {
  Json object;
  object["elapsed_ns"] = interval.elapsed_ns;
  object["ios"] = interval.ios;
  put(object, "iops", interval.iops);
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

Json to_value(const ThreadRun& thread) {
  Json object;
  object["index"] = thread.index;
  put(object, "cpu", thread.cpu);
  object["tid"] = thread.tid;
  object["elapsed_ns"] = thread.elapsed_ns;
  object["ios"] = thread.ios;
  object["targets"] = thread.targets;
  object["user_ns"] = thread.user_ns;
  object["system_ns"] = thread.system_ns;
  return object;
}

Json to_value(const Run& run);
Json to_value(const Cell& cell);

template <typename T>
Json to_array(const std::vector<T>& items) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(to_value(item));
  return array;
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
  object["threads"] = to_array(run.threads);
  put(object, "steady", run.steady);
  object["interrupted"] = run.interrupted;
  object["warnings"] = run.warnings;
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

}  // namespace

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
