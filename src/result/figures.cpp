// The figures a document holds beside what was counted: percentiles of a run, medians of a cell.
#include <algorithm>
#include <array>

#include "result/result.hpp"

namespace uringbench::result {
namespace {

struct Percentile {
  const char* name;
  double fraction;
};
constexpr std::array kPercentiles = {
    Percentile{"p1", 0.01},      Percentile{"p5", 0.05},     Percentile{"p10", 0.10},
    Percentile{"p25", 0.25},     Percentile{"p50", 0.50},    Percentile{"p75", 0.75},
    Percentile{"p90", 0.90},     Percentile{"p95", 0.95},    Percentile{"p99", 0.99},
    Percentile{"p99.5", 0.995},  Percentile{"p99.9", 0.999}, Percentile{"p99.95", 0.9995},
    Percentile{"p99.99", 0.9999}};

std::optional<double> percentile_of(const Run& run, const char* name) {
  if (!run.latency) return std::nullopt;
  for (const auto& [key, nanoseconds] : run.latency->percentiles) {
    if (key == name) return static_cast<double>(nanoseconds);
  }
  return std::nullopt;
}

// A run that ended early measured a shorter, and perhaps another, stretch than its siblings.
bool counts(const Run& run) { return !run.interrupted && !run.stalled; }

template <typename Figure>
void add_figure(Cell& cell, const char* name, Figure figure_of_run) {
  std::vector<double> values;
  for (const Run& run : cell.runs) {
    if (!counts(run)) continue;
    if (const std::optional<double> value = figure_of_run(run)) values.push_back(*value);
  }
  const std::optional<stats::Summary> summary = stats::summarize(values);
  if (!summary) return;
  SummaryFigure figure;
  figure.n = summary->n;
  figure.median = summary->median;
  figure.mean = summary->mean;
  figure.min = summary->min;
  figure.max = summary->max;
  figure.cv = summary->cv;
  figure.ci95 = summary->interval;
  cell.summary.emplace_back(name, figure);
}

}  // namespace

std::optional<Latency> latency_of(const stats::Histogram& nanoseconds) {
  if (nanoseconds.count() == 0) return std::nullopt;
  Latency latency;
  latency.count = nanoseconds.count();
  latency.min = nanoseconds.min();
  latency.max = nanoseconds.max();
  latency.mean = nanoseconds.mean();
  for (const Percentile& percentile : kPercentiles) {
    latency.percentiles.emplace_back(percentile.name, nanoseconds.percentile(percentile.fraction));
  }
  latency.buckets = nanoseconds.buckets();
  return latency;
}

void summarize(Cell& cell) {
  using Maybe = std::optional<double>;
  cell.summary.clear();
  add_figure(cell, "iops", [](const Run& run) { return Maybe(run.iops); });
  add_figure(cell, "bytes_per_second", [](const Run& run) { return run.bytes_per_second; });
  add_figure(cell, "cpu_per_io_ns", [](const Run& run) { return run.cpu.per_io_ns; });
  add_figure(cell, "latency_mean_ns",
             [](const Run& run) { return run.latency ? Maybe(run.latency->mean) : std::nullopt; });
  add_figure(cell, "latency_p50_ns", [](const Run& run) { return percentile_of(run, "p50"); });
  add_figure(cell, "latency_p99_ns", [](const Run& run) { return percentile_of(run, "p99"); });
  add_figure(cell, "latency_p99.9_ns", [](const Run& run) { return percentile_of(run, "p99.9"); });
}

}  // namespace uringbench::result
