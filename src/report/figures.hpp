// Private to report: the figures of a cell, the same ones for every form of the summary.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "result/result.hpp"

namespace uringbench::report {

/// The runs behind the figures. Unfinished ones stay out of medians (summarize() left them out),
/// but when there is nothing else, what the last one measured is shown and marked.
struct Shown {
  std::vector<const result::Run*> runs;
  bool finished = true;
};
Shown shown_runs(const result::Cell& cell);

template <typename Figure>
std::optional<double> median_of(const Shown& shown, Figure figure_of_run) {
  std::vector<double> values;
  for (const result::Run* run : shown.runs) {
    const std::optional<double> value = figure_of_run(*run);
    if (value) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  return stats::median(values);
}

/// Stays at the largest number: a document from anywhere may hold anything.
template <typename Figure>
std::int64_t total_of(const Shown& shown, Figure figure_of_run) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t total = 0;
  for (const result::Run* run : shown.runs) {
    const auto figure = figure_of_run(*run);
    const bool fits = std::in_range<std::int64_t>(figure) &&
                      !__builtin_add_overflow(total, static_cast<std::int64_t>(figure), &total);
    if (!fits) return kMost;
  }
  return total;
}

/// Over the runs, medians where they are not named otherwise. Empty where no run has it.
struct Figures {
  std::optional<double> iops, bytes_per_second;
  std::optional<result::SummaryFigure> several;  ///< of IOPS, when at least two runs count
  std::optional<double> latency_mean_ns, latency_p50_ns, latency_p99_ns, latency_p999_ns;
  std::optional<double> latency_max_ns;  ///< of all runs
  std::optional<double> cpu_per_io_ns;
  std::optional<double> submitters_per_io_ns;  ///< the measuring threads' part of it
  std::optional<double> poller_utilisation, poller_per_io_ns;  ///< SQPOLL
};
Figures figures_of(const result::Cell& cell, const Shown& shown);

/// What went wrong, over all runs, unfinished ones included.
struct Trouble {
  result::ErrorTally errors;
  std::uint64_t short_reads = 0, retries = 0;
  std::optional<result::Run::ShortRead> first_short_read;
  std::uint32_t io_workers = 0;  ///< most of one run
  /// In how many runs.
  std::size_t with_errors = 0, with_short_reads = 0, stalled = 0, interrupted = 0, unsteady = 0;
  std::vector<std::pair<std::string, std::size_t>> warnings;  ///< in order of appearance
};
Trouble trouble_of(const result::Cell& cell);

/// "93.1%".
std::string percent(double fraction);

}  // namespace uringbench::report
