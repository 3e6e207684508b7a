// What can be compared, and what of it counts as an effect.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "compare/parts.hpp"

namespace uringbench::compare {
namespace {

using base::ExitCode;
using base::UserError;
using result::Run;

constexpr double kTailEvents = 100;

struct Known {
  Metric metric;
  std::vector<std::string> aliases;
};

const std::vector<Known>& known_metrics() {
  constexpr auto higher = Direction::higher_is_better;
  constexpr auto lower = Direction::lower_is_better;
  static const std::vector<Known> all{
      {{"iops", "IOPS", higher, Unit::per_second, 0.01, {}, false}, {}},
      {{"bw", "bandwidth", higher, Unit::bytes_per_second, 0.01, {}, false},
       {"bandwidth", "bytes_per_second"}},
      {{"cpu", "CPU time per I/O", lower, Unit::nanoseconds, 0.02, {}, false},
       {"cpu_per_io_ns", "cpu_per_io"}},
      {{"sqpoll-cpu",
        "SQPOLL thread's CPU time per I/O",
        lower,
        Unit::nanoseconds,
        0.02,
        {},
        false},
       {"sqpoll_cpu", "sqpoll_cpu_per_io_ns"}},
      {{"sqpoll-busy", "SQPOLL thread's time with work", lower, Unit::fraction, 0.02, {}, false},
       {"sqpoll_busy", "sqpoll_utilisation", "utilisation"}},
      {{"mean", "mean latency", lower, Unit::nanoseconds, 0.03, {}, false},
       {"latency", "latency_mean_ns"}},
      {{"max", "highest latency", lower, Unit::nanoseconds, 0.10, {}, false}, {"latency_max_ns"}}};
  return all;
}

/// "p99.9", "P99.9", "latency_p99.9_ns", "latency_p99.9".
std::optional<Metric> percentile_metric(std::string_view name) {
  if (name.starts_with("latency_")) name.remove_prefix(8);
  if (name.ends_with("_ns")) name.remove_suffix(3);
  if (name.size() < 2 || name.size() > 8 || name[0] != 'p') return std::nullopt;
  const std::string_view digits = name.substr(1);
  double rank = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), rank, std::chars_format::fixed);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  if (!(rank > 0) || !(rank < 100)) return std::nullopt;
  const double effect = rank < 95 ? 0.03 : rank < 99.5 ? 0.05 : 0.10;
  return Metric{fmt::format("p{}", rank),
                fmt::format("latency p{}", rank),
                Direction::lower_is_better,
                Unit::nanoseconds,
                effect,
                rank / 100,
                false};
}

double parse_percent(std::string_view flag, const std::string& entry, std::string_view text) {
  double value = 0;
  const bool percent_sign = text.ends_with('%');
  if (percent_sign) text.remove_suffix(1);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    throw UserError(ExitCode::usage, fmt::format("{}: \"{}\" has no number", flag, entry),
                    "write a share in percent, for example iops=2%");
  }
  if (!percent_sign) {
    throw UserError(ExitCode::usage, fmt::format("{}: \"{}\" has no unit", flag, entry),
                    fmt::format("write {}%", text));
  }
  if (value < 0) {
    throw UserError(ExitCode::usage, fmt::format("{}: must be 0% or more, got \"{}\"", flag, entry),
                    "the direction follows from the metric");
  }
  return value / 100;
}

Metric require_metric(std::string_view flag, std::string_view name) {
  if (const auto metric = find_metric(name)) return *metric;
  const auto names = metric_names();
  const auto near = base::nearest(std::string(name), names, 2);
  throw UserError(ExitCode::usage, fmt::format("{}: no metric is called \"{}\"", flag, name),
                  near ? "did you mean " + *near + "?" : "there are " + joined(names));
}

/// What stands between the commas; but "cpus=0,1:iops=2%" is one entry, whose pattern has a comma.
std::vector<std::string> entries_of(std::string_view text) {
  std::vector<std::string> entries;
  bool joins = false;
  while (true) {
    const auto comma = text.find(',');
    const std::string part(text.substr(0, comma));
    if (joins) {
      entries.back() += ',' + part;
    } else {
      entries.push_back(part);
    }
    if (comma == std::string_view::npos) return entries;
    text.remove_prefix(comma + 1);
    const bool pattern_follows = text.substr(0, text.find('%')).find(':') != std::string_view::npos;
    joins = part.find('%') == std::string::npos && pattern_follows;
  }
}

}  // namespace

std::optional<Metric> find_metric(std::string_view name) {
  for (const Known& known : known_metrics()) {
    const auto& aliases = known.aliases;
    if (known.metric.name == name ||
        std::find(aliases.begin(), aliases.end(), name) != aliases.end()) {
      return known.metric;
    }
  }
  return percentile_metric(name);
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Known& known : known_metrics()) names.push_back(known.metric.name);
  names.insert(names.end(), {"p50", "p99", "p99.9"});
  return names;
}

std::vector<Limit> parse_limits(std::string_view flag, std::string_view text) {
  const std::string example = "write METRIC=SHARE, for example iops=2%,p99=10%";
  std::string cells;
  std::vector<Limit> limits;
  for (std::string entry : entries_of(text)) {
    // A pattern counts from its entry on.
    if (const auto colon = entry.rfind(':'); colon != std::string::npos) {
      cells = entry.substr(0, colon);
      check_pattern(flag, cells);
      entry.erase(0, colon + 1);
    }
    const auto equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UserError(ExitCode::usage,
                      entry.empty() ? fmt::format("{}: an entry is empty", flag)
                                    : fmt::format("{}: \"{}\" is no METRIC=SHARE", flag, entry),
                      example);
    }
    limits.push_back({cells, require_metric(flag, entry.substr(0, equals)).name,
                      parse_percent(flag, entry, std::string_view(entry).substr(equals + 1))});
  }
  return limits;
}

std::optional<double> figure_of(const Metric& metric, const Run& run) {
  const auto latency = [&](auto member) -> std::optional<double> {
    if (!run.latency) return std::nullopt;
    return static_cast<double>((*run.latency).*member);
  };
  if (metric.name == "iops") return run.iops;
  if (metric.name == "bw") return run.bytes_per_second;
  if (metric.name == "cpu") return run.cpu.per_io_ns;
  if (metric.name == "mean") return latency(&result::Latency::mean);
  if (metric.name == "max") return latency(&result::Latency::max);
  if (metric.name == "sqpoll-cpu") {
    return run.sqpoll ? run.sqpoll->cpu_per_io_ns : std::nullopt;
  }
  if (metric.name == "sqpoll-busy") {
    return run.sqpoll ? run.sqpoll->utilisation : std::nullopt;
  }
  if (!run.latency) return std::nullopt;
  for (const auto& [name, value] : run.latency->percentiles) {
    if (name == metric.name) return static_cast<double>(value);
  }
  return std::nullopt;
}

bool tail_too_thin(const Metric& metric, const Run& run) {
  // Up to p99 the spread between runs says enough of it.
  if (!metric.percentile || *metric.percentile <= 0.99 || !run.latency) return false;
  // Not 99.9 events of 100 000, because 1 - 0.999 is not exactly 0.001.
  const double beyond = static_cast<double>(run.latency->count) * (1 - *metric.percentile);
  return beyond < kTailEvents - 1e-6;
}

std::optional<double> limit_for(const std::vector<Limit>& limits, const Metric& metric,
                                const Words& words) {
  std::optional<double> found;
  for (const Limit& limit : limits) {
    if (limit.metric == metric.name && fits(limit.cells, words)) found = limit.fraction;
  }
  return found;
}

std::vector<Metric> chosen_metrics(const std::vector<Side>& sides, const Options& options) {
  std::vector<Metric> chosen;
  const auto add = [&](const std::string& name, bool gated) {
    const Metric metric = require_metric(gated ? "--gate-metrics" : "--metrics", name);
    const bool there = std::any_of(chosen.begin(), chosen.end(),
                                   [&](const Metric& one) { return one.name == metric.name; });
    if (there) return;
    chosen.push_back(metric);
    chosen.back().gated = gated;
  };
  for (const std::string& name : options.gate_metrics) add(name, true);
  for (const std::string& name : options.metrics) add(name, false);
  if (!options.metrics.empty()) return chosen;
  // Else what some run has.
  for (const char* name : {"cpu", "sqpoll-cpu", "sqpoll-busy", "p50", "p99", "p99.9"}) {
    const Metric metric = *find_metric(name);
    const auto has = [&](const result::Cell& cell) {
      return std::any_of(cell.runs.begin(), cell.runs.end(),
                         [&](const Run& run) { return figure_of(metric, run).has_value(); });
    };
    const bool some = std::any_of(sides.begin(), sides.end(), [&](const Side& side) {
      return std::any_of(side.sources.begin(), side.sources.end(), [&](const Source& source) {
        const auto& cells = source.document.cells;
        return std::any_of(cells.begin(), cells.end(), has);
      });
    });
    if (some) add(name, false);
  }
  return chosen;
}

}  // namespace uringbench::compare
