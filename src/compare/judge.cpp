// From runs to figures, from figures to an estimate, from an estimate to a verdict.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "compare/parts.hpp"

namespace uringbench::compare {
namespace {

using result::Run;

constexpr std::size_t kLeastForSecondOpinion = 15;
constexpr std::size_t kLeastForOutliers = 5;
constexpr std::size_t kLeastForSerial = 10;

std::vector<double> values_of(const Metric& metric, const Gathered& gathered) {
  std::vector<double> values;
  for (const CountedRun& counted : gathered.runs) {
    const auto value = figure_of(metric, *counted.run);
    if (value && is_measurable(*value)) values.push_back(*value);
  }
  return values;
}

std::vector<double> logs_of(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

double as_fraction(double log_shift) { return std::expm1(log_shift); }

void take_shift(const stats::Shift& shift, Estimate& out) {
  out.change = as_fraction(shift.estimate);
  if (std::isfinite(shift.low)) out.low = as_fraction(shift.low);
  if (std::isfinite(shift.high)) out.high = as_fraction(shift.high);
  out.coverage = shift.coverage;
}

stats::BootstrapInterval as_fractions(const stats::BootstrapInterval& interval) {
  return {as_fraction(interval.low), as_fraction(interval.high)};
}

double least_p(const Estimate& estimate) {
  return estimate.paired ? stats::least_p_paired(estimate.n_from)
                         : stats::least_p_independent(estimate.n_from, estimate.n_to);
}

std::string runs_of_design(std::size_t n, bool paired) {
  return paired ? count_of(n, "block") : count_of(n, "run") + " a side";
}

/// What it takes to turn an UNKNOWN into an answer, and the sentence that says so.
void explain_unknown(double min_effect, const std::vector<Figure>& figures, double alpha,
                     Contrast& contrast) {
  const Estimate& estimate = *contrast.estimate;
  const std::size_t n = std::min(estimate.n_from, estimate.n_to);
  const double half = (*estimate.high - *estimate.low) / 2;
  const double distance =
      std::max(min_effect - std::fabs(estimate.change), std::fabs(estimate.change));
  const double wanted = half > min_effect ? min_effect : distance;
  std::string& reason = contrast.reason;
  if (estimate.p_holm && estimate.p <= alpha && *estimate.p_holm > alpha) {
    reason = fmt::format("p {:.2g} alone, {:.2g} after Holm: not established; ", estimate.p,
                         *estimate.p_holm);
  }
  const double cv =
      std::max(figures[contrast.from].cv.value_or(0), figures[contrast.to].cv.value_or(0));
  const std::size_t outliers = figures[contrast.from].outliers + figures[contrast.to].outliers;
  reason += fmt::format("runs vary by {}{}; {} can tell no less than ±{}", percent(cv),
                        outliers > 0 ? " (with " + count_of(outliers, "outlier") + ")" : "",
                        runs_of_design(n, estimate.paired), percent(half));
  if (!(wanted > 0) || !(half > 0)) return;
  const auto [needed, words] =
      runs_that_answer(n, stats::runs_for_half_width(n, half, wanted), estimate.paired);
  contrast.runs_needed = needed;
  reason += "; " + words;
}

void say_insufficient(std::size_t family, double alpha, Contrast& contrast) {
  const Estimate& estimate = *contrast.estimate;
  const std::size_t tests = std::max<std::size_t>(1, family);
  contrast.runs_needed =
      estimate.paired ? stats::least_pairs(tests, alpha) : stats::least_runs_per_side(tests, alpha);
  const std::size_t n = std::min(estimate.n_from, estimate.n_to);
  contrast.reason =
      fmt::format("{} cannot show anything{}: {} or more can", runs_of_design(n, estimate.paired),
                  tests > 1 ? fmt::format(" among {} tests", tests) : "",
                  runs_of_design(*contrast.runs_needed, estimate.paired));
}

}  // namespace

double worse_by(const Metric& metric, double change) {
  return metric.direction == Direction::higher_is_better ? -change : change;
}

std::pair<std::optional<std::size_t>, std::string> runs_that_answer(std::size_t n,
                                                                    std::size_t needed,
                                                                    bool paired) {
  constexpr std::size_t kPractical = 300;
  if (needed > kPractical) {
    return {std::nullopt,
            "no practical number of runs would answer: make them quieter (longer, pinned, on an "
            "idle machine)"};
  }
  needed = std::max(n + 2, needed);
  return {needed, fmt::format("about {} would answer", runs_of_design(needed, paired))};
}

Figure figure_over(const Metric& metric, const Gathered& gathered) {
  Figure figure;
  figure.values = values_of(metric, gathered);
  figure.n = figure.values.size();
  const auto summary = stats::summarize(figure.values);
  if (!summary) return figure;
  figure.median = summary->median;
  figure.cv = summary->cv;
  figure.interval = summary->interval;
  if (figure.n >= kLeastForOutliers) {
    for (const double deviation : stats::deviations_from_median(figure.values)) {
      if (std::isfinite(deviation) && std::fabs(deviation) > stats::kOutlierDeviations) {
        ++figure.outliers;
      }
    }
  }
  if (figure.n == 1 && metric.name == "iops") {
    std::vector<double> rates;
    for (const auto& interval : gathered.runs.front().run->intervals) {
      rates.push_back(interval.iops);
    }
    if (const auto within = stats::summarize(rates)) figure.within_run_cv = within->cv;
    const auto serial = stats::serial_correlation(rates);
    if (serial && rates.size() >= kLeastForSerial) figure.within_run_r1 = serial->r1;
  }
  return figure;
}

std::map<std::uint64_t, double> log_changes_by_block(const Metric& metric, const Gathered& from,
                                                     const Gathered& to) {
  const auto by_block = [&](const Gathered& gathered) {
    std::map<std::uint64_t, std::vector<double>> values;
    for (const CountedRun& counted : gathered.runs) {
      const auto value = figure_of(metric, *counted.run);
      if (value && is_measurable(*value)) {
        values[*counted.run->block].push_back(std::log(*value));
      }
    }
    return values;
  };
  std::map<std::uint64_t, double> changes;
  const auto left = by_block(from), right = by_block(to);
  for (const auto& [block, values] : left) {
    const auto partner = right.find(block);
    if (partner == right.end()) continue;
    changes[block] = stats::median(partner->second) - stats::median(values);
  }
  return changes;
}

std::optional<Estimate> estimate(const Metric& metric, const Gathered& from, const Gathered& to,
                                 bool paired, const Options& options) {
  Estimate out;
  out.paired = paired;
  const double confidence = options.confidence;
  const auto& seed = options.bootstrap_seed;
  if (paired) {
    std::vector<double> changes;
    for (const auto& [block, change] : log_changes_by_block(metric, from, to)) {
      changes.push_back(change);
    }
    if (changes.empty()) return std::nullopt;
    const auto test = stats::signed_rank(changes);
    out.p = test.p_two_sided;
    out.statistic = test.statistic;
    out.exact = test.exact;
    out.zeros = test.zeros;
    out.n_from = out.n_to = changes.size();
    take_shift(stats::shift_of_pairs(changes, confidence), out);
    if (seed && changes.size() >= kLeastForSecondOpinion) {
      out.second_opinion =
          as_fractions(stats::bootstrap_shift_of_pairs(changes, confidence, *seed));
    }
    return out;
  }
  const auto x = logs_of(values_of(metric, from)), y = logs_of(values_of(metric, to));
  if (x.empty() || y.empty()) return std::nullopt;
  const auto test = stats::mann_whitney(x, y);
  out.p = test.p_two_sided;
  out.statistic = test.statistic;
  out.exact = test.exact;
  out.n_from = x.size();
  out.n_to = y.size();
  take_shift(stats::shift_between(x, y, confidence), out);
  if (seed && std::min(x.size(), y.size()) >= kLeastForSecondOpinion) {
    out.second_opinion = as_fractions(stats::bootstrap_shift_between(x, y, confidence, *seed));
  }
  return out;
}

std::size_t family_of(const std::vector<Contrast*>& contrasts) {
  // One run on a side tests nothing.
  return static_cast<std::size_t>(
      std::count_if(contrasts.begin(), contrasts.end(), [](const Contrast* contrast) {
        const auto& estimate = contrast->estimate;
        return estimate && std::min(estimate->n_from, estimate->n_to) > 1;
      }));
}

void adjust(const std::vector<Contrast*>& family) {
  std::vector<double> p_values;
  std::vector<Estimate*> estimates;
  for (Contrast* contrast : family) {
    if (!contrast->estimate) continue;
    if (std::min(contrast->estimate->n_from, contrast->estimate->n_to) <= 1) continue;
    estimates.push_back(&*contrast->estimate);
    p_values.push_back(contrast->estimate->p);
  }
  const auto adjusted = stats::holm(p_values);
  for (std::size_t i = 0; i < estimates.size(); ++i) estimates[i]->p_holm = adjusted[i];
}

bool is_established(const Estimate& estimate, double alpha) {
  const bool excludes_zero =
      (estimate.low && *estimate.low > 0) || (estimate.high && *estimate.high < 0);
  return estimate.p_holm.value_or(estimate.p) <= alpha && excludes_zero;
}

void conclude(const Metric& metric, double min_effect, bool tail_thin, std::size_t family,
              const Options& options, const std::vector<Figure>& figures, Contrast& contrast) {
  const Estimate& estimate = *contrast.estimate;
  const double tests = static_cast<double>(std::max<std::size_t>(1, family));
  // Two intervals that cannot end, or a p that cannot get low enough.
  if (least_p(estimate) * tests > options.alpha || !estimate.low || !estimate.high) {
    contrast.verdict = Verdict::insufficient;
    say_insufficient(family, options.alpha, contrast);
    return;
  }
  contrast.thin_tail = tail_thin;
  if (tail_thin) {
    contrast.verdict = Verdict::unknown;
    contrast.reason =
        fmt::format("fewer than 100 I/Os of a run lie beyond {}: measure longer", metric.name);
    return;
  }
  const double worse = worse_by(metric, estimate.change);
  if (is_established(estimate, options.alpha)) {
    contrast.verdict = worse >= min_effect && worse > 0    ? Verdict::regressed
                       : -worse >= min_effect && worse < 0 ? Verdict::improved
                                                           : Verdict::small;
    return;
  }
  if (*estimate.low > -min_effect && *estimate.high < min_effect) {
    contrast.verdict = Verdict::same;
    return;
  }
  contrast.verdict = Verdict::unknown;
  explain_unknown(min_effect, figures, options.alpha, contrast);
}

}  // namespace uringbench::compare
