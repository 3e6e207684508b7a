// What a comparison could not answer and why, the method, and the verdicts counted.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/comparison_view.hpp"
#include "report/text.hpp"

namespace uringbench::report {

using compare::Comparison;
using compare::Contrast;
using compare::MetricRow;
using compare::Verdict;

namespace {

// Rows that tell somebody to do something.
bool wants_a_remark(Verdict verdict) {
  return verdict == Verdict::not_comparable || verdict == Verdict::missing ||
         verdict == Verdict::insufficient || verdict == Verdict::unknown;
}

std::string own_reason(const Comparison& comparison, const MetricRow& row,
                       const Contrast& contrast) {
  const auto& estimate = contrast.estimate;
  switch (contrast.verdict) {
    case Verdict::not_comparable:
      return "settings or devices differ";
    case Verdict::missing:
      return "one side has no run that counts";
    case Verdict::insufficient:
      if (!estimate) return "too few runs";
      return fmt::format("{} against {} cannot reach p = {:g} in a family of {}",
                         count_of(estimate->n_from, "run"), estimate->n_to,
                         comparison.options.alpha, count_of(comparison.family, "test"));
    case Verdict::unknown:
      if (!estimate) return "nothing to calculate from";
      return fmt::format(
          "{} {} neither shows an effect nor excludes one of {}", confidence_words(comparison),
          change_words(contrast, row.min_effect).interval, effect_words(row.min_effect));
    default:
      return "";
  }
}

// Rows with the same reason.
struct Open {
  const Contrast* first;
  std::string reason;
  std::vector<std::string> places;
  std::size_t least, most;  ///< runs needed; 0: not known
};

// "about 24 runs a side (now 6): --repeats 24"; short where the reason has the number already.
std::string advice_words(const Open& rows) {
  constexpr std::size_t kMostSensible = 100;
  if (rows.most == 0) return "";
  const auto& estimate = rows.first->estimate;
  const bool paired = estimate && estimate->paired;
  const std::string how =
      rows.most > kMostSensible
          ? "rather make them quieter: longer, on pinned CPUs of an idle machine"
          : fmt::format("{} {}", paired ? "--pairs" : "--repeats", rows.most);
  const std::string number = std::to_string(rows.most) + (paired ? " block" : " run");
  if (rows.reason.find(number) != std::string::npos) return how;
  std::string words = "about ";
  if (rows.least > 0 && rows.least < rows.most) words += std::to_string(rows.least) + " to ";
  words += std::to_string(rows.most) + (paired ? " pairs" : " runs a side");
  if (estimate) words += fmt::format(" (now {})", std::min(estimate->n_from, estimate->n_to));
  return words + ": " + how;
}

bool is_noisy(const Contrast& contrast) {
  return contrast.verdict == Verdict::unknown && contrast.runs_needed.value_or(0) > 0;
}

// Without figures, so that many rows can share it.
std::string shared_reason(const Comparison& comparison, const Contrast& contrast) {
  const double alpha = comparison.options.alpha;
  const auto& estimate = contrast.estimate;
  if (estimate && estimate->p_holm && estimate->p <= alpha && *estimate->p_holm > alpha) {
    return fmt::format("alone each shows a difference, among {} it is not established",
                       count_of(comparison.family, "test"));
  }
  return "runs vary too much to tell";
}

// Reasons with figures of their own in each of many rows would be a second table.
bool too_many_reasons(const Comparison& comparison) {
  constexpr std::size_t kMost = 5;
  std::set<std::string> reasons;
  for_each_gated(comparison,
                 [&](const auto&, const MetricRow& row, const Contrast& contrast, bool) {
                   if (reasons.size() <= kMost && is_noisy(contrast)) {
                     reasons.insert(reason_words(comparison, row, contrast));
                   }
                 });
  return reasons.size() > kMost;
}

}  // namespace

std::string reason_words(const Comparison& comparison, const MetricRow& row,
                         const Contrast& contrast) {
  std::string reason = printable(contrast.reason);
  if (reason.empty()) reason = own_reason(comparison, row, contrast);
  while (!reason.empty() && reason.back() == '.') reason.pop_back();
  return reason;
}

std::vector<Remark> remarks_of(const Comparison& comparison) {
  std::vector<Open> open;
  std::map<std::string, std::size_t> known;
  const bool several_metrics = std::count_if(comparison.metrics.begin(), comparison.metrics.end(),
                                             [](const auto& one) { return one.gated; }) > 1;
  const bool in_common = too_many_reasons(comparison);
  for_each_gated(comparison, [&](const compare::CellRow& cell, const MetricRow& row,
                                 const Contrast& contrast, bool step) {
    if (!wants_a_remark(contrast.verdict)) return;
    std::string reason = in_common && is_noisy(contrast) ? shared_reason(comparison, contrast)
                                                         : reason_words(comparison, row, contrast);
    const auto [at, is_new] =
        known.emplace(std::to_string(static_cast<int>(contrast.verdict)) + reason, open.size());
    const std::size_t needed = contrast.runs_needed.value_or(0);
    if (is_new) open.push_back({&contrast, std::move(reason), {}, needed, needed});
    Open& entry = open[at->second];
    std::string place = place_words(comparison, cell, contrast, step);
    if (several_metrics) place += ' ' + printable(comparison.metrics.at(row.metric).title);
    entry.places.push_back(std::move(place));
    entry.least = std::min(entry.least, needed);
    entry.most = std::max(entry.most, needed);
  });
  std::stable_sort(open.begin(), open.end(), [](const Open& a, const Open& b) {
    return a.first->verdict < b.first->verdict;
  });
  std::vector<Remark> remarks;
  for (const Open& entry : open) {
    const std::string advice = advice_words(entry);
    remarks.push_back({entry.first->verdict, compare::verdict_word(entry.first->verdict, 0),
                       places_words(entry.places), entry.places.size(),
                       entry.reason + (advice.empty() ? "" : "; " + advice)});
  }
  return remarks;
}

std::vector<Gathered::Entry> losses_of(const Comparison& comparison) {
  Gathered losses;
  const auto gather = [&](const char* word, std::vector<std::string> compare::CellSide::*texts) {
    for (const compare::CellRow& cell : comparison.cells) {
      for (std::size_t i = 0; i < cell.sides.size(); ++i) {
        for (const std::string& text : cell.sides[i].*texts) {
          losses.add(word, label_words(comparison, i) + ": " + printable(text), cell_words(cell));
        }
      }
    }
  };
  gather("left out", &compare::CellSide::left_out);
  gather("in doubt", &compare::CellSide::doubts);
  return losses.entries();
}

std::string method_words(const Comparison& comparison) {
  const std::string test = comparison.paired
                               ? "the Wilcoxon signed-rank test over pairs of the same block"
                               : "the Mann-Whitney test over independent runs";
  const std::string family = comparison.family > 1
                                 ? fmt::format(", corrected for {} tests (Holm)", comparison.family)
                                 : "";
  return fmt::format(
      "change and {} by Hodges and Lehmann, verdicts by {} at {:g}{}; a run is one value, whatever "
      "goes on inside it",
      confidence_words(comparison), test, comparison.options.alpha, family);
}

std::string verdict_line(const Comparison& comparison) {
  const std::optional<double> effect = common_effect(comparison);
  std::vector<std::string> words;
  const auto add = [&](Verdict verdict, const std::string& word, bool always) {
    const std::size_t count = comparison.count(verdict);
    if (always || count > 0) words.push_back(fmt::format("{} {}", count, word));
  };
  add(Verdict::improved, "improved", true);
  add(Verdict::small, effect ? "changed <" + effect_words(*effect) : "changed little", true);
  add(Verdict::unknown, "unknown", true);
  add(Verdict::regressed, "regressed", true);
  add(Verdict::missing, "missing", true);
  add(Verdict::insufficient, "insufficient", false);
  add(Verdict::not_comparable, "not comparable", false);
  add(Verdict::same, "same", false);
  return "verdict: " + list(words);
}

}  // namespace uringbench::report
