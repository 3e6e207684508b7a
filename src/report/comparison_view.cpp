#include "report/comparison_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/text.hpp"

namespace uringbench::report {

using compare::Comparison;
using compare::Contrast;
using compare::MetricRow;
using compare::Unit;
using compare::Verdict;

namespace {

constexpr std::size_t kMostPlaces = 6;
constexpr double kFactorFrom = 100;  ///< a change of 10000 % is said as a factor

struct UnitStep {
  double unit;
  const char* name;
};

std::vector<UnitStep> unit_steps(const compare::Metric& metric) {
  switch (metric.unit) {
    case Unit::per_second:
      return metric.name == "iops"
                 ? std::vector<UnitStep>{{1, "IOPS"}, {1e3, "KIOPS"}, {1e6, "MIOPS"}}
                 : std::vector<UnitStep>{{1, "1/s"}, {1e3, "K/s"}, {1e6, "M/s"}};
    case Unit::bytes_per_second:
      return {{1, "B/s"}, {1024, "KiB/s"}, {0x1p20, "MiB/s"}, {0x1p30, "GiB/s"}};
    case Unit::nanoseconds:
      return {{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}};
    case Unit::fraction:
      return {{0.01, "%"}};
  }
  return {{1, ""}};
}

// Smallest and largest median of a row; 0 and 0 without any.
struct Range {
  double smallest = 0, largest = 0;
};

Range range_of(const MetricRow& row) {
  Range range;
  bool first = true;
  for (const compare::Figure& one : row.figures) {
    if (!one.median || !std::isfinite(*one.median)) continue;
    const double size = std::abs(*one.median);
    range.smallest = first ? size : std::min(range.smallest, size);
    range.largest = std::max(range.largest, size);
    first = false;
  }
  return range;
}

double rounded(double value, int decimals) {
  const double power = std::pow(10.0, decimals);
  return std::round(value * power) / power;
}

// Would the figure look as if it were the least effect, while it is more or less than that?
bool misleads(double percent, double effect_percent, int decimals) {
  const double size = std::abs(percent);
  return std::abs(size - effect_percent) > 1e-9 &&
         rounded(size, decimals) == rounded(effect_percent, decimals);
}

std::string change_figure(double change, int decimals, bool factor) {
  if (!std::isfinite(change)) return "?";
  if (factor) return fmt::format("x{:.3g}", 1 + change);
  return fmt::format("{:+.{}f}", change * 100, std::abs(change) >= 1 ? 0 : decimals);
}

}  // namespace

Scale scale_for(const compare::Metric& metric, double largest) {
  Scale scale;
  for (const auto& [unit, name] : unit_steps(metric)) {
    if (scale.name.empty() || largest >= unit) scale = {unit, name, 0};
  }
  const double shown = largest / scale.unit;
  scale.decimals = shown >= 1000 ? 0 : shown >= 100 ? 1 : shown >= 10 ? 2 : 3;
  return scale;
}

bool suits(const Scale& scale, double smallest) {
  return smallest / scale.unit * std::pow(10.0, scale.decimals) >= 100;
}

std::string figure(double value, const Scale& scale) {
  const double shown = value / scale.unit;
  if (!std::isfinite(shown)) return "?";
  return std::abs(shown) < 1e6 ? fmt::format("{:.{}f}", shown, scale.decimals)
                               : fmt::format("{:.4g}", shown);
}

std::string direction_words(const compare::Metric& metric) {
  return metric.direction == compare::Direction::higher_is_better ? "higher is better"
                                                                  : "lower is better";
}

std::string effect_words(double fraction) { return fmt::format("{:g}%", fraction * 100); }

std::string confidence_words(const Comparison& comparison) {
  return effect_words(comparison.options.confidence) + " CI";
}

ChangeWords change_words(double change, std::optional<double> low, std::optional<double> high,
                         double min_effect) {
  const bool has_low = low && std::isfinite(*low), has_high = high && std::isfinite(*high);
  const std::array<double, 3> shown{change, has_low ? *low : change, has_high ? *high : change};
  const bool factor = std::any_of(shown.begin(), shown.end(),
                                  [](double value) { return std::abs(value) >= kFactorFrom; });
  int decimals = 1;
  while (decimals < 3 && std::any_of(shown.begin(), shown.end(), [&](double value) {
           return misleads(value * 100, min_effect * 100, decimals);
         })) {
    ++decimals;
  }
  ChangeWords words;
  words.change = change_figure(change, decimals, factor);
  if (!factor && std::isfinite(change)) words.change += '%';
  words.interval = "[too few runs]";
  if (has_low || has_high) {
    words.interval =
        fmt::format("[{},{}]", has_low ? change_figure(*low, decimals, factor) : "-inf",
                    has_high ? change_figure(*high, decimals, factor) : "+inf");
  }
  return words;
}

ChangeWords change_words(const Contrast& contrast, double min_effect) {
  if (!contrast.estimate) return {"-", ""};
  const compare::Estimate& estimate = *contrast.estimate;
  return change_words(estimate.change, estimate.low, estimate.high, min_effect);
}

const MetricRow* row_of(const compare::CellRow& cell, std::size_t metric) {
  const auto row = std::find_if(cell.metrics.begin(), cell.metrics.end(),
                                [&](const MetricRow& one) { return one.metric == metric; });
  return row == cell.metrics.end() ? nullptr : &*row;
}

const Contrast* contrast_to(const std::vector<Contrast>& contrasts, std::size_t label) {
  const auto contrast = std::find_if(contrasts.begin(), contrasts.end(),
                                     [&](const Contrast& one) { return one.to == label; });
  return contrast == contrasts.end() ? nullptr : &*contrast;
}

std::string label_words(const Comparison& comparison, std::size_t label) {
  constexpr std::size_t kMost = 40;
  return cut_front(printable(comparison.labels.at(label).name), kMost);
}

std::string cell_words(const compare::CellRow& cell) {
  return printable(cell.name.empty() ? cell.id : cell.name);
}

std::string contrast_words(const Comparison& comparison, const Contrast& contrast, bool step) {
  const std::string to = label_words(comparison, contrast.to);
  return step ? label_words(comparison, contrast.from) + " -> " + to : to;
}

std::string place_words(const Comparison& comparison, const compare::CellRow& cell,
                        const Contrast& contrast, bool step) {
  if (comparison.labels.size() == 2) return cell_words(cell);
  return cell_words(cell) + '/' + contrast_words(comparison, contrast, step);
}

std::vector<std::size_t> metrics_in_full(const Comparison& comparison) {
  std::vector<std::size_t> metrics;
  for (std::size_t i = 0; i < comparison.metrics.size(); ++i) {
    if (comparison.metrics[i].gated || !comparison.options.metrics.empty()) metrics.push_back(i);
  }
  return metrics;
}

std::pair<double, double> effects_of(const Comparison& comparison, std::size_t metric) {
  std::optional<std::pair<double, double>> effects;
  for (const compare::CellRow& cell : comparison.cells) {
    const MetricRow* row = row_of(cell, metric);
    if (row == nullptr) continue;
    if (!effects) effects = {row->min_effect, row->min_effect};
    effects->first = std::min(effects->first, row->min_effect);
    effects->second = std::max(effects->second, row->min_effect);
  }
  const double least = comparison.metrics.at(metric).min_effect;
  return effects.value_or(std::pair(least, least));
}

std::optional<double> common_effect(const Comparison& comparison) {
  std::optional<double> effect;
  for (std::size_t metric = 0; metric < comparison.metrics.size(); ++metric) {
    if (!comparison.metrics[metric].gated) continue;
    const auto [smallest, largest] = effects_of(comparison, metric);
    if (smallest != largest || effect.value_or(smallest) != smallest) return std::nullopt;
    effect = smallest;
  }
  return effect;
}

Scale row_scale(const Comparison& comparison, const MetricRow& row) {
  return scale_for(comparison.metrics.at(row.metric), range_of(row).largest);
}

std::optional<Scale> common_scale(const Comparison& comparison,
                                  const std::vector<const MetricRow*>& rows) {
  if (rows.empty()) return std::nullopt;
  Range all;
  for (const MetricRow* row : rows) {
    if (row->metric != rows.front()->metric) return std::nullopt;
    const Range range = range_of(*row);
    if (range.largest == 0) continue;
    all.smallest = all.largest == 0 ? range.smallest : std::min(all.smallest, range.smallest);
    all.largest = std::max(all.largest, range.largest);
  }
  const Scale scale = scale_for(comparison.metrics.at(rows.front()->metric), all.largest);
  if (all.largest > 0 && !suits(scale, all.smallest)) return std::nullopt;
  return scale;
}

std::string figures_words(const Comparison& comparison, const MetricRow& row,
                          const Contrast& contrast) {
  const Scale scale = row_scale(comparison, row);
  const auto median = [&](std::size_t label) {
    const std::optional<double>& value = row.figures.at(label).median;
    return label_words(comparison, label) + ' ' +
           (value ? figure(*value, scale) + ' ' + scale.name : "none");
  };
  std::string words = median(contrast.from) + ", " + median(contrast.to);
  if (contrast.estimate) {
    const ChangeWords change = change_words(contrast, row.min_effect);
    words += ", " + change.change + ' ' + change.interval;
  }
  return words;
}

void for_each_gated(const Comparison& comparison, const VisitContrast& visit) {
  for (const compare::CellRow& cell : comparison.cells) {
    for (const MetricRow& row : cell.metrics) {
      if (!comparison.metrics.at(row.metric).gated) continue;
      for (const Contrast& contrast : row.contrasts) visit(cell, row, contrast, false);
      for (const Contrast& step : row.steps) visit(cell, row, step, true);
    }
  }
}

void Gathered::add(const std::string& word, const std::string& what, std::string place) {
  const auto [at, is_new] = index_.emplace(word + '\n' + what, entries_.size());
  if (is_new) entries_.push_back({word, what, {}});
  entries_[at->second].places.push_back(std::move(place));
}

std::string places_words(const std::vector<std::string>& places) {
  const std::size_t shown = places.size() <= kMostPlaces ? places.size() : kMostPlaces - 1;
  const auto end = places.begin() + static_cast<std::ptrdiff_t>(shown);
  std::string words = list({places.begin(), end});
  if (shown < places.size()) words += fmt::format(" and {} more", places.size() - shown);
  return words;
}

std::string difference_words(const compare::Difference& difference) {
  std::vector<std::string> values;
  for (const std::string& value : difference.values) values.push_back(printable(value));
  return printable(difference.what) + ' ' + join(values, " vs ");
}

}  // namespace uringbench::report
