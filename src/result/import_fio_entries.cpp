// fio's JSON: the figures of an entry of "jobs".
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "result/import_fio.hpp"

namespace uringbench::result {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
// What is more is no time and no rate, and its sums would not fit.
constexpr double kMostNanoseconds = 1e17;
constexpr std::uint64_t kMostMilliseconds = 100'000'000'000;
constexpr double kMostPerSecond = 1e15;

/// What fio calls "99.900000"; nothing for the zeros that older versions fill the list up with.
std::optional<double> percent_of(const std::string& key) {
  double percent = 0;
  const char* const last = key.data() + key.size();
  const auto [end, error] = std::from_chars(key.data(), last, percent);
  const bool is_percent = error == std::errc{} && end == last && percent > 0 && percent <= 100;
  return is_percent ? std::optional(percent) : std::nullopt;
}

std::string percentile_name(double percent) { return fmt::format("p{}", percent); }

double take_amount(const Place& place, double most, const char* wanted) {
  double amount = 0;
  take(place, amount);
  if (amount > most) place.refuse(wanted);
  return amount;
}

/// Of "clat_ns", or of "clat", which version 2 counts in microseconds.
void take_latency(const Place& place, std::uint64_t unit_ns, FioEntry& entry) {
  Latency latency;
  latency.count = entry.run.ios;
  read_if_there(place, "N", latency.count);
  if (latency.count == 0) return;
  const auto take_time = [&](const Place& value) {
    const auto unit = static_cast<double>(unit_ns);
    return take_amount(value, kMostNanoseconds / unit, "a latency") * unit;
  };
  const auto take_whole = [&](const Place& value) {
    return static_cast<std::uint64_t>(take_time(value));
  };
  latency.min = take_whole(place.at("min"));
  latency.max = take_whole(place.at("max"));
  latency.mean = take_time(place.at("mean"));
  std::map<double, std::uint64_t> percentiles;
  if (const auto list = place.find("percentile")) {
    list->for_members([&](const std::string& key, const Place& value) {
      if (const auto percent = percent_of(key)) percentiles[*percent] = take_whole(value);
    });
  }
  for (const auto& [percent, time] : percentiles) {
    latency.percentiles.emplace_back(percentile_name(percent), time);
  }
  entry.run.latency = std::move(latency);
  const auto bins = unit_ns == 1 ? place.find("bins") : std::nullopt;
  if (!bins) return;
  bins->for_members([&](const std::string& key, const Place& value) {
    std::uint64_t nanoseconds = 0;
    const char* const last = key.data() + key.size();
    const auto [end, error] = std::from_chars(key.data(), last, nanoseconds);
    if (error == std::errc{} && end == last) take(value, entry.bins[nanoseconds]);
  });
}

void take_rates(const Place& read_side, FioEntry& entry) {
  Run& run = entry.run;
  std::uint64_t runtime_ms = 0;
  read(read_side, "total_ios", run.ios);
  read(read_side, "runtime", runtime_ms);
  run.iops = take_amount(read_side.at("iops"), kMostPerSecond, "a rate");
  read_if_there(read_side, "short_ios", run.short_reads);
  read(read_side, "io_bytes", entry.bytes);
  if (runtime_ms > kMostMilliseconds) read_side.at("runtime").refuse("a time in milliseconds");
  run.elapsed_ns = static_cast<std::int64_t>(runtime_ms) * kMillisecond;
  if (runtime_ms != 0) {
    const double iops = static_cast<double>(run.ios) * 1000 / static_cast<double>(runtime_ms);
    if (std::abs(iops - run.iops) <= 0.01 * iops) {
      run.iops = iops;
    } else {
      run.warnings.push_back(fmt::format("fio states {:.0f} IOPS, but {} I/Os in {} ms", run.iops,
                                         run.ios, runtime_ms));
    }
  }
  if (const auto bytes = read_side.find("bw_bytes")) {
    run.bytes_per_second = take_amount(*bytes, kMostPerSecond, "a rate");
  } else if (const auto kibibytes = read_side.find("bw")) {
    run.bytes_per_second = 1024 * take_amount(*kibibytes, kMostPerSecond, "a rate");
  }
}

void take_errors(const Place& job, ErrorTally& errors) {
  int first = 0;
  read_if_there(job, "error", first);
  read_if_there(job, "first_error", first);
  read_if_there(job, "total_err", errors.count);
  if (first == 0) return;
  errors.count = std::max<std::uint64_t>(errors.count, 1);
  errors.by_errno[base::errno_name(first)] = errors.count;
}

std::uint64_t ios_of(const Place& job, const char* side) {
  std::uint64_t ios = 0;
  if (const auto place = job.find(side)) read_if_there(*place, "total_ios", ios);
  return ios;
}

}  // namespace

void take_fio_options(const std::optional<Place>& place, FioOptions& options) {
  if (!place) return;
  place->for_members([&](const std::string& name, const Place& value) {
    options[name] =
        value.value().is_string() ? value.value().get<std::string>() : value.value().dump();
  });
}

FioEntry take_fio_entry(const Place& job, const FioOptions& global) {
  FioEntry entry;
  read(job, "jobname", entry.name);
  read_if_there(job, "groupid", entry.group);
  entry.options = global;
  take_fio_options(job.find("job options"), entry.options);
  entry.writes = ios_of(job, "write") + ios_of(job, "trim");
  const auto read_side = job.find("read");
  if (!read_side) return entry;
  take_rates(*read_side, entry);
  if (const auto clat = read_side->find("clat_ns")) {
    take_latency(*clat, 1, entry);
  } else if (const auto microseconds = read_side->find("clat")) {
    take_latency(*microseconds, 1000, entry);
  }
  read(job, "job_runtime", entry.threads_runtime_ms);
  read_if_there(job, "usr_cpu", entry.user_percent);
  read_if_there(job, "sys_cpu", entry.system_percent);
  take_errors(job, entry.run.errors);
  entry.has_reads = true;
  return entry;
}

}  // namespace uringbench::result
