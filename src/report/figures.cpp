#include "report/figures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace uringbench::report {

using result::Run;

namespace {

std::optional<double> percentile_of(const Run& run, const char* name) {
  if (!run.latency) return std::nullopt;
  for (const auto& [key, nanoseconds] : run.latency->percentiles) {
    if (key == name) return static_cast<double>(nanoseconds);
  }
  return std::nullopt;
}

std::optional<double> submitters_per_io_ns(const Run& run) {
  if (run.ios == 0 || run.threads.empty()) return std::nullopt;
  double total_ns = 0;
  for (const result::ThreadRun& thread : run.threads) {
    total_ns += static_cast<double>(thread.user_ns) + static_cast<double>(thread.system_ns);
  }
  return total_ns / static_cast<double>(run.ios);
}

}  // namespace

Shown shown_runs(const result::Cell& cell) {
  Shown shown;
  for (const Run& run : cell.runs) {
    if (!run.interrupted && !run.stalled) shown.runs.push_back(&run);
  }
  if (shown.runs.empty() && !cell.runs.empty()) shown = {{&cell.runs.back()}, false};
  return shown;
}

Figures figures_of(const result::Cell& cell, const Shown& shown) {
  Figures figures;
  for (const auto& [name, figure] : cell.summary) {
    if (name == "iops" && figure.n > 1) figures.several = figure;
  }
  if (figures.several) {
    figures.iops = figures.several->median;
  } else if (!shown.runs.empty()) {
    figures.iops = shown.runs.front()->iops;
  }
  const auto percentile = [&](const char* name) {
    return median_of(shown, [&](const Run& run) { return percentile_of(run, name); });
  };
  const auto of_poller = [&](std::optional<double> result::Sqpoll::*member) {
    return median_of(
        shown, [&](const Run& run) { return run.sqpoll ? (*run.sqpoll).*member : std::nullopt; });
  };
  figures.bytes_per_second = median_of(shown, [](const Run& run) { return run.bytes_per_second; });
  figures.latency_mean_ns = median_of(shown, [](const Run& run) {
    return run.latency ? std::optional(run.latency->mean) : std::nullopt;
  });
  figures.latency_p50_ns = percentile("p50");
  figures.latency_p99_ns = percentile("p99");
  figures.latency_p999_ns = percentile("p99.9");
  for (const Run* run : shown.runs) {
    if (!run->latency) continue;
    const auto max = static_cast<double>(run->latency->max);
    figures.latency_max_ns = std::max(figures.latency_max_ns.value_or(0), max);
  }
  figures.cpu_per_io_ns = median_of(shown, [](const Run& run) { return run.cpu.per_io_ns; });
  figures.submitters_per_io_ns = median_of(shown, submitters_per_io_ns);
  figures.poller_utilisation = of_poller(&result::Sqpoll::utilisation);
  figures.poller_per_io_ns = of_poller(&result::Sqpoll::cpu_per_io_ns);
  return figures;
}

Trouble trouble_of(const result::Cell& cell) {
  Trouble trouble;
  for (const Run& run : cell.runs) {
    trouble.errors.count += run.errors.count;
    for (const auto& [name, count] : run.errors.by_errno) trouble.errors.by_errno[name] += count;
    if (!trouble.errors.first) trouble.errors.first = run.errors.first;
    if (!trouble.first_short_read) trouble.first_short_read = run.first_short_read;
    trouble.short_reads += run.short_reads;
    trouble.retries += run.retries_eagain;
    trouble.io_workers = std::max(trouble.io_workers, run.io_workers);
    trouble.with_errors += run.errors.count > 0 ? 1 : 0;
    trouble.with_short_reads += run.short_reads > 0 ? 1 : 0;
    trouble.stalled += run.stalled ? 1 : 0;
    trouble.interrupted += run.interrupted ? 1 : 0;
    trouble.unsteady += run.steady && !*run.steady ? 1 : 0;
    for (const std::string& warning : run.warnings) {
      const auto same = [&](const auto& known) { return known.first == warning; };
      const auto known = std::find_if(trouble.warnings.begin(), trouble.warnings.end(), same);
      if (known != trouble.warnings.end()) {
        ++known->second;
      } else {
        trouble.warnings.emplace_back(warning, 1);
      }
    }
  }
  return trouble;
}

std::string percent(double fraction) { return fmt::format("{:.1f}%", fraction * 100); }

}  // namespace uringbench::report
