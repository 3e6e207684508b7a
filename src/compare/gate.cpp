// One decision: is a regression larger than the margin excluded for every cell?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/parts.hpp"

namespace uringbench::compare {
namespace {

using base::ExitCode;

constexpr double kDefaultMargin = 0.02;

bool has_general(const GateRules& rules) {
  return std::any_of(rules.margins.begin(), rules.margins.end(),
                     [](const Limit& limit) { return limit.cells.empty(); });
}

bool names(const std::vector<std::string>& metrics, const std::string& name) {
  return std::find(metrics.begin(), metrics.end(), name) != metrics.end();
}

std::string interval_words(const Estimate& estimate) {
  const auto bound = [](const std::optional<double>& value, const char* without) {
    return value ? percent(*value, true) : std::string(without);
  };
  return fmt::format("{} [{}, {}]", percent(estimate.change, true),
                     bound(estimate.low, "unbounded"), bound(estimate.high, "unbounded"));
}

/// What is not known to be equal is not equal, to a gate.
std::string what_is_unknown(const Comparison& comparison, const CellRow& cell) {
  std::vector<std::string> unknown;
  for (const Difference& difference : comparison.differences) {
    if (difference.kind == Difference::Kind::unknown) {
      unknown.push_back(difference.what + " is unknown on one side");
    }
  }
  if (cell.words.empty()) unknown.emplace_back("no side states any setting");
  if (!cell.unstated.empty()) {
    unknown.push_back("not stated on one side: " + joined(cell.unstated));
  }
  return joined(unknown);
}

/// The bound that the margin is held against: how much worse it may be, at worst.
std::optional<double> worst_case(const Metric& metric, const Estimate& estimate) {
  if (metric.direction == Direction::lower_is_better) return estimate.high;
  if (!estimate.low) return std::nullopt;
  return -*estimate.low;
}

void decide(const Comparison& comparison, const Metric& metric, const CellRow& cell,
            const MetricRow& metric_row, GateRow& row) {
  const Contrast& contrast = metric_row.contrasts.front();
  const auto conclude_with = [&](Outcome outcome, std::string reason) {
    row.outcome = outcome;
    row.reason = std::move(reason);
  };
  const std::string unknown = what_is_unknown(comparison, cell);
  if (contrast.verdict == Verdict::not_comparable || !unknown.empty()) {
    return conclude_with(Outcome::not_comparable,
                         contrast.verdict == Verdict::not_comparable ? contrast.reason : unknown);
  }
  if (!contrast.estimate) return conclude_with(Outcome::missing, contrast.reason);
  const Estimate& estimate = *contrast.estimate;
  const double cv =
      std::max(metric_row.figures[0].cv.value_or(0), metric_row.figures[1].cv.value_or(0));
  row.chance_of_false_alarm =
      stats::chance_beyond_margin(row.margin, cv, estimate.n_from, estimate.n_to);
  const std::string words = interval_words(estimate);
  const auto worst = worst_case(metric, estimate);
  if (!worst || !estimate.low || !estimate.high) {
    return conclude_with(Outcome::missing, "too few runs: " + contrast.reason);
  }
  if (contrast.thin_tail) return conclude_with(Outcome::inconclusive, contrast.reason);
  if (*worst <= row.margin) {
    return conclude_with(Outcome::passed,
                         fmt::format("{}: no more than {} worse", words, percent(row.margin)));
  }
  const double worse = worse_by(metric, estimate.change);
  if (is_established(estimate, comparison.options.alpha) && worse > row.margin) {
    return conclude_with(Outcome::regression,
                         fmt::format("{}: worse than {}, p {:.2g}", words, percent(row.margin),
                                     estimate.p_holm.value_or(estimate.p)));
  }
  std::string reason =
      fmt::format("{}: more than {} worse is not excluded", words, percent(row.margin));
  if (contrast.verdict == Verdict::insufficient) {
    // However large the loss, so few runs cannot show it: no leniency may pass that.
    return conclude_with(Outcome::missing, "too few runs: " + reason + "; " + contrast.reason);
  }
  const double half = (*estimate.high - *estimate.low) / 2;
  const std::size_t n = std::min(estimate.n_from, estimate.n_to);
  const double room = row.margin - worse;
  if (room > 0 && half > room) {
    const auto needed = stats::runs_for_half_width(n, half, room);
    reason += "; " + runs_that_answer(n, needed, estimate.paired).second;
  }
  conclude_with(Outcome::inconclusive, std::move(reason));
}

void note_stale(const Comparison& comparison, const GateRow& row, std::vector<Note>& notes) {
  const CellRow& cell = comparison.cells[*row.cell];
  const Contrast& contrast = cell.metrics[row.metric].contrasts.front();
  if (!contrast.estimate) return;
  const double better = -worse_by(comparison.metrics[row.metric], contrast.estimate->change);
  const bool established = is_established(*contrast.estimate, comparison.options.alpha);
  if (!established || better <= row.margin) return;
  notes.push_back({"stale-baseline",
                   fmt::format("{}: better than the baseline by {}: a new baseline would notice "
                               "if that is lost again",
                               row.name, percent(better))});
}

ExitCode strict_code_of(const GateResult& result) {
  if (result.count(Outcome::not_comparable) > 0) return ExitCode::not_comparable;
  if (result.rows.empty() || result.count(Outcome::missing) > 0) return ExitCode::missing;
  if (result.count(Outcome::regression) > 0) return ExitCode::regression;
  if (result.count(Outcome::inconclusive) > 0) return ExitCode::inconclusive;
  return ExitCode::done;
}

/// The row that a reader looks for first.
const GateRow* worst_row(const Comparison& comparison, const GateResult& result) {
  const GateRow* worst = nullptr;
  double most = 0;
  for (const GateRow& row : result.rows) {
    if (!row.cell) continue;
    const Contrast& contrast = comparison.cells[*row.cell].metrics[row.metric].contrasts.front();
    if (!contrast.estimate) continue;
    const double worse = worse_by(comparison.metrics[row.metric], contrast.estimate->change);
    if (worst != nullptr && worse <= most) continue;
    worst = &row;
    most = worse;
  }
  return worst;
}

std::string line_of(const Comparison& comparison, const GateResult& result) {
  const std::size_t passed = result.count(Outcome::passed);
  const bool lenient = result.code != result.strict_code;
  std::string line = fmt::format(
      "uringbench-gate: {} code={} cells={}/{} regression={} inconclusive={} missing={} "
      "not-comparable={}",
      lenient                         ? "WARN"
      : result.code == ExitCode::done ? "PASS"
                                      : "FAIL",
      static_cast<int>(result.code), result.rows.size() - passed, result.rows.size(),
      result.count(Outcome::regression), result.count(Outcome::inconclusive),
      result.count(Outcome::missing), result.count(Outcome::not_comparable));
  if (lenient) line += fmt::format(" without-leniency={}", static_cast<int>(result.strict_code));
  // Whoever sees only this line must not miss that it may be about nothing.
  for (const Note& note : comparison.notes) {
    if (note.code == "same-session" || note.code == "old-baseline") line += " note=" + note.code;
  }
  if (const GateRow* worst = worst_row(comparison, result)) {
    const auto& estimate =
        comparison.cells[*worst->cell].metrics[worst->metric].contrasts.front().estimate;
    std::string name = worst->name;
    std::replace(name.begin(), name.end(), ' ', '/');
    line += fmt::format(" worst={}:{}:{}", name, comparison.metrics[worst->metric].name,
                        percent(estimate->change, true));
  }
  return line;
}

}  // namespace

std::string outcome_word(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return "PASS";
    case Outcome::regression:
      return "REGRESSION";
    case Outcome::not_comparable:
      return "NOT-COMPARABLE";
    case Outcome::missing:
      return "MISSING";
    case Outcome::inconclusive:
      break;
  }
  return "INCONCLUSIVE";
}

std::size_t GateResult::count(Outcome outcome) const {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const GateRow& row) { return row.outcome == outcome; }));
}

std::vector<std::string> gated_metrics(const GateRules& rules) {
  std::vector<std::string> metrics;
  if (!has_general(rules)) metrics.emplace_back("iops");
  for (const Limit& limit : rules.margins) {
    if (!names(metrics, limit.metric)) metrics.push_back(limit.metric);
  }
  return metrics;
}

GateResult gate(const Comparison& comparison, const GateRules& rules,
                const std::vector<std::string>& expected) {
  std::vector<Limit> margins;
  if (names(gated_metrics(rules), "iops")) margins.push_back({"", "iops", kDefaultMargin});
  margins.insert(margins.end(), rules.margins.begin(), rules.margins.end());

  GateResult result;
  std::vector<bool> met(expected.size(), false);
  for (std::size_t i = 0; i < comparison.cells.size(); ++i) {
    const CellRow& cell = comparison.cells[i];
    bool required = expected.empty();
    for (std::size_t e = 0; e < expected.size(); ++e) {
      if (!fits(expected[e], cell.words)) continue;
      met[e] = required = true;
    }
    if (!required) continue;
    for (const MetricRow& metric_row : cell.metrics) {
      const Metric& metric = comparison.metrics[metric_row.metric];
      const auto margin = limit_for(margins, metric, cell.words);
      if (!metric.gated || !margin) continue;
      GateRow row;
      row.name = cell.name;
      row.cell = i;
      row.metric = metric_row.metric;
      row.margin = *margin;
      decide(comparison, metric, cell, metric_row, row);
      note_stale(comparison, row, result.notes);
      result.rows.push_back(std::move(row));
    }
  }
  for (std::size_t e = 0; e < expected.size(); ++e) {
    if (met[e]) continue;
    GateRow row;
    row.name = expected[e];
    row.outcome = Outcome::missing;
    row.reason = "the baseline does not have this cell";
    result.rows.push_back(std::move(row));
  }

  for (const Limit& limit : rules.margins) {
    const bool some =
        std::any_of(comparison.cells.begin(), comparison.cells.end(),
                    [&](const CellRow& cell) { return fits(limit.cells, cell.words); });
    if (some) continue;
    result.notes.push_back(
        {"no-cell-fits", fmt::format("a margin is for no cell: nothing fits \"{}\"", limit.cells)});
  }

  result.code = result.strict_code = strict_code_of(result);
  const bool inconclusive = result.code == ExitCode::inconclusive;
  if ((rules.allow_inconclusive && inconclusive) ||
      (rules.warn_only && (inconclusive || result.code == ExitCode::regression))) {
    result.code = ExitCode::done;
    result.notes.push_back(
        {"lenient", fmt::format("{}: this would have been exit code {}",
                                rules.warn_only ? "--warn-only" : "--allow-inconclusive",
                                static_cast<int>(result.strict_code))});
  }
  result.line = line_of(comparison, result);
  return result;
}

}  // namespace uringbench::compare
