// The way back: a document's JSON as plain data. Every key here has its twin in schema.cpp or
// environment.cpp; keys that are not here are ignored.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>

#include "result/json_input.hpp"
#include "result/reading.hpp"

namespace uringbench::result {
namespace {

using Json = Place::Json;
using base::ExitCode;
using base::UserError;

constexpr std::array kFigures = {
    "iops",           "bytes_per_second", "cpu_per_io_ns",   "latency_mean_ns",
    "latency_p50_ns", "latency_p99_ns",   "latency_p99.9_ns"};

// Temperatures are the only figures that may be below zero.
void take_celsius(const Place& place, double& out) {
  if (!place.value().is_number()) place.refuse("a number");
  out = place.value().get<double>();
}

bool all_of_type(const Json& list, bool (*is_it)(const Json&)) {
  return std::all_of(list.begin(), list.end(), is_it);
}

Settings::Value setting(const Place& place) {
  const Json& value = place.value();
  constexpr std::uint64_t kMost = INT64_MAX;
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMost) {
    return value.get<std::uint64_t>();
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_array()) {
    if (all_of_type(value, [](const Json& item) { return item.is_string(); })) {
      return value.get<std::vector<std::string>>();
    }
    const auto fits = [](const Json& item) {
      return item.is_number_integer() &&
             (!item.is_number_unsigned() || item.get<std::uint64_t>() <= kMost);
    };
    if (all_of_type(value, fits)) return value.get<std::vector<std::int64_t>>();
  }
  place.refuse("a flag, a number, a text, or a list of texts or of whole numbers");
}

void check_schema(const Place& root) {
  const auto schema = root.value().is_object() ? root.find("schema") : std::nullopt;
  const auto name = schema && schema->value().is_object() ? schema->find("name") : std::nullopt;
  const std::string hint = "a result is what uringbench writes with --json";
  if (!name || !name->value().is_string()) {
    const bool fio = root.value().is_object() && root.value().contains("fio version");
    throw UserError(ExitCode::not_comparable,
                    root.document() + (fio ? ": is a result of fio, not of uringbench"
                                           : ": is no result of uringbench: it is JSON, but "
                                             "has no schema.name"),
                    hint);
  }
  for (const char* other : {"uringbench.comparison", "uringbench.doctor", "uringbench.gate"}) {
    if (name->value() != other) continue;
    throw UserError(
        ExitCode::not_comparable,
        fmt::format("{}: is a document of the kind {}, not a result", root.document(), other),
        "a result is what a measurement writes with --json");
  }
  if (name->value() != "uringbench.result") name->refuse("\"uringbench.result\"");
  std::uint64_t version = 0;
  read(*schema, "version", version);
  if (version == 0) schema->at("version").refuse("1 or more");
  if (version > kSchemaVersion) {
    throw UserError(ExitCode::not_comparable,
                    fmt::format("{}: was written by a newer uringbench (schema version {}, this "
                                "program knows {})",
                                root.document(), version, kSchemaVersion),
                    "use a uringbench that is as new");
  }
}

}  // namespace

void take(const Place& place, Settings& out) {
  place.for_members(
      [&](const std::string& key, const Place& value) { out.set(key, setting(value)); });
}

void take(const Place& place, Tool& out) {
  read(place, "version", out.version);
  read_if_there(place, "commit", out.commit);
  read_if_there(place, "compiler", out.compiler);
  read_if_there(place, "build_type", out.build_type);
  read_if_there(place, "liburing", out.liburing);
}

void take(const Place& place, SessionInfo& out) {
  read(place, "id", out.id);
  read(place, "plan_id", out.plan_id);
  read_if_there(place, "boot_id", out.boot_id);
  read(place, "verb", out.verb);
  read_if_there(place, "label", out.label);
  read(place, "argv", out.argv);
  read(place, "seed", out.seed);
  read(place, "started_at", out.started_at);
  read(place, "elapsed_ns", out.elapsed_ns);
  read(place, "interrupted", out.interrupted);
  read(place, "signal", out.signal);
}

void take(const Place& place, Identity& out) {
  read_if_there(place, "kernel_release", out.kernel_release);
  read_if_there(place, "kernel_version", out.kernel_version);
  read_if_there(place, "kernel_cmdline", out.kernel_cmdline);
  read_if_there(place, "architecture", out.architecture);
  read_if_there(place, "cpu_model", out.cpu_model);
  read_if_there(place, "cpus_online", out.cpus_online);
  read_if_there(place, "numa_nodes", out.numa_nodes);
  read_if_there(place, "memory_bytes", out.memory_bytes);
  read(place, "virtualization", out.virtualization);
  read_if_there(place, "mitigations", out.mitigations);
  read_if_there(place, "smt", out.smt);
  read(place, "io_uring_disabled", out.io_uring_disabled);
}

void take(const Place& place, Weather& out) {
  read(place, "load_average_1m", out.load_average_1m);
  read(place, "governor", out.governor);
  read(place, "cpu_mhz_min", out.cpu_mhz_min);
  read(place, "cpu_mhz_max", out.cpu_mhz_max);
  read(place, "turbo", out.turbo);
  if (const auto zones = place.find("temperature_celsius")) {
    zones->for_members([&](const std::string& zone, const Place& celsius) {
      take_celsius(celsius, out.temperature_celsius[zone]);
    });
  }
}

void take(const Place& place, Pci& out) {
  read(place, "address", out.address);
  read(place, "link_speed", out.link_speed);
  read(place, "link_width", out.link_width);
  read(place, "link_speed_max", out.link_speed_max);
  read(place, "link_width_max", out.link_width_max);
}

void take(const Place& place, Device& out) {
  read(place, "name", out.name);
  read(place, "partition", out.partition);
  read(place, "model", out.model);
  read(place, "firmware", out.firmware);
  read(place, "serial", out.serial);
  read(place, "driver", out.driver);
  read(place, "backing_file", out.backing_file);
  read(place, "numa_node", out.numa_node);
  read(place, "local_cpus", out.local_cpus);
  read(place, "pci", out.pci);
  read(place, "poll_queues", out.poll_queues);
  if (const auto temperature = place.find("temperature_celsius")) {
    double celsius = 0;
    take_celsius(*temperature, celsius);
    if (std::trunc(celsius) != celsius || std::abs(celsius) > 1e6) {
      temperature->refuse("a whole number of degrees");
    }
    out.temperature_celsius = static_cast<int>(celsius);
  }
}

void take(const Place& place, Target& out) {
  read(place, "path", out.path);
  read(place, "resolved_path", out.resolved_path);
  read(place, "kind", out.kind);
  read(place, "size_bytes", out.size_bytes);
  read_if_there(place, "logical_block_bytes", out.logical_block_bytes);
  read(place, "namespace_id", out.namespace_id);
  read(place, "filesystem", out.filesystem);
  read(place, "mounted_at", out.mounted_at);
  read(place, "sparse", out.sparse);
  read(place, "unwritten_bytes", out.unwritten_bytes);
  read(place, "device", out.device);
  read_if_there(place, "queue", out.queue);
  read_if_there(place, "queue_restored", out.queue_restored);
}

void take(const Place& place, Finding& out) {
  read(place, "severity", out.severity);
  read(place, "code", out.code);
  read(place, "message", out.message);
  read_if_there(place, "hint", out.hint);
}

void take(const Place& place, ErrorTally::First& out) {
  read(place, "errno", out.errno_name);
  read(place, "target", out.target);
  read(place, "offset_bytes", out.offset_bytes);
}

void take(const Place& place, ErrorTally& out) {
  read(place, "count", out.count);
  read(place, "by_errno", out.by_errno);
  read(place, "first", out.first);
}

void take(const Place& place, Run::ShortRead& out) {
  read(place, "target", out.target);
  read(place, "offset_bytes", out.offset_bytes);
}

void take(const Place& place, Interval& out) {
  read(place, "elapsed_ns", out.elapsed_ns);
  read(place, "ios", out.ios);
  read(place, "iops", out.iops);
}

void take(const Place& place, Latency& out) {
  read(place, "count", out.count);
  read(place, "min", out.min);
  read(place, "mean", out.mean);
  read(place, "max", out.max);
  place.for_members([&](const std::string& key, const Place& value) {
    const bool percentile = key.size() > 1 && key[0] == 'p' && key[1] >= '0' && key[1] <= '9';
    if (percentile) take(value, out.percentiles.emplace_back(key, 0).second);
  });
  place.at("buckets").for_items([&](const Place& bucket) {
    std::vector<std::uint64_t> pair;
    take(bucket, pair);
    if (pair.size() != 2) bucket.refuse("[lower bound, count]");
    out.buckets.emplace_back(pair[0], pair[1]);
  });
}

void take(const Place& place, CpuTime& out) {
  read(place, "user_ns", out.user_ns);
  read(place, "system_ns", out.system_ns);
  read(place, "per_io_ns", out.per_io_ns);
  read(place, "voluntary_switches", out.voluntary_switches);
  read(place, "involuntary_switches", out.involuntary_switches);
}

void take(const Place& place, Sqpoll::Poller& out) {
  read(place, "thread_id", out.thread_id);
  read(place, "cpu", out.cpu);
  read(place, "total_us", out.total_us);
  read(place, "work_us", out.work_us);
  read(place, "cpu_ns", out.cpu_ns);
}

void take(const Place& place, Sqpoll& out) {
  read(place, "thread_id", out.thread_id);
  read(place, "cpu", out.cpu);
  read(place, "total_us", out.total_us);
  read(place, "work_us", out.work_us);
  read(place, "utilisation", out.utilisation);
  read(place, "cpu_ns", out.cpu_ns);
  read(place, "cpu_per_io_ns", out.cpu_per_io_ns);
  read(place, "wakeups", out.wakeups);
  read_if_there(place, "pollers", out.pollers);
}

void take(const Place& place, ThreadRun& out) {
  read(place, "index", out.index);
  read(place, "cpu", out.cpu);
  read(place, "node", out.node);
  read(place, "tid", out.tid);
  read(place, "elapsed_ns", out.elapsed_ns);
  read(place, "ios", out.ios);
  read(place, "targets", out.targets);
  read(place, "user_ns", out.user_ns);
  read(place, "system_ns", out.system_ns);
}

void take(const Place& place, Run& out) {
  read(place, "index", out.index);
  read(place, "block", out.block);
  read(place, "position", out.position);
  read(place, "started_at", out.started_at);
  read(place, "warmup_ns", out.warmup_ns);
  read(place, "elapsed_ns", out.elapsed_ns);
  read(place, "ios", out.ios);
  read(place, "iops", out.iops);
  read(place, "bytes_per_second", out.bytes_per_second);
  read(place, "errors", out.errors);
  read(place, "short_reads", out.short_reads);
  read(place, "first_short_read", out.first_short_read);
  read(place, "retries_eagain", out.retries_eagain);
  read(place, "stalled", out.stalled);
  read(place, "ios_per_submit_call", out.ios_per_submit_call);
  read(place, "ios_per_reap", out.ios_per_reap);
  read(place, "syscalls", out.syscalls);
  read(place, "inflight_mean", out.inflight_mean);
  read(place, "inflight_mean_method", out.inflight_mean_method);
  read(place, "inflight_max", out.inflight_max);
  read(place, "never_completed", out.never_completed);
  read(place, "io_workers", out.io_workers);
  read(place, "intervals", out.intervals);
  read(place, "latency_ns", out.latency);
  read(place, "cpu", out.cpu);
  read(place, "sqpoll", out.sqpoll);
  read(place, "threads", out.threads);
  read(place, "steady", out.steady);
  read(place, "interrupted", out.interrupted);
  read(place, "warnings", out.warnings);
}

void take(const Place& place, SummaryFigure& out) {
  read(place, "n", out.n);
  read(place, "median", out.median);
  read(place, "mean", out.mean);
  read(place, "min", out.min);
  read(place, "max", out.max);
  read(place, "cv", out.cv);
  if (const auto interval = place.find("ci95")) {
    std::vector<double> bounds;
    take(*interval, bounds);
    if (bounds.size() != 2 || bounds[0] > bounds[1]) interval->refuse("[low, high]");
    out.ci95 = stats::MedianInterval{bounds[0], bounds[1], 0};
    read(place, "ci95_coverage", out.ci95->coverage);
  }
}

void take(const Place& place, Cell& out) {
  read(place, "id", out.id);
  read(place, "arm", out.arm);
  read(place, "asked", out.asked);
  read(place, "granted", out.granted);
  read(place, "runs", out.runs);
  place.at("summary").for_members([&](const std::string& name, const Place& figure) {
    const bool known = std::find(kFigures.begin(), kFigures.end(), name) != kFigures.end();
    if (known) take(figure, out.summary.emplace_back(name, SummaryFigure{}).second);
  });
}

Document from_json(std::string_view text, const std::string& name, Detail detail) {
  Document document;
  std::exception_ptr refusal;  // of the first cell with a fault; first of all comes the schema
  Parsing parsing{detail};
  parsing.see_cell = [&](const Json& json, std::size_t index) {
    if (refusal) return;
    try {
      Cell& cell = document.cells.emplace_back();
      take(Place(json, name, "cells", index), cell);
      if (detail == Detail::figures && cell.runs.size() > 1) cell.runs[0].intervals = {};
    } catch (const UserError&) {
      refusal = std::current_exception();
    }
  };
  const Json json = parse_json(text, name, parsing);
  const Place root(json, name);
  check_schema(root);
  read(root, "tool", document.tool);
  read(root, "session", document.session);
  const Place environment = root.at("environment");
  read(environment, "identity", document.identity);
  read(environment, "weather", document.weather);
  read(root, "targets", document.targets);
  read(root, "findings", document.findings);
  root.at("cells").for_items([](const Place&) {});  // a list, whose items are taken already
  if (refusal) std::rethrow_exception(refusal);
  return document;
}

}  // namespace uringbench::result
