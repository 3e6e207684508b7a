// Below the table: what to do about it, and what the words mean.
#include "report/comparison_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/comparison_view.hpp"
#include "report/text.hpp"

namespace uringbench::report {
namespace {

using compare::Comparison;
using compare::Contrast;
using compare::MetricRow;
using compare::Verdict;

constexpr std::size_t kMostRemarks = 15;
constexpr std::size_t kMostPlaces = 6;

// Verdicts that occur in the table, the steps among them.
std::vector<Verdict> occurring(const Comparison& comparison) {
  std::array<bool, 8> seen{};
  for_each_gated(comparison, [&](const auto&, const auto&, const Contrast& contrast, bool) {
    seen.at(static_cast<std::size_t>(contrast.verdict)) = true;
  });
  std::vector<Verdict> verdicts;
  for (const Verdict verdict :
       {Verdict::improved, Verdict::regressed, Verdict::small, Verdict::same, Verdict::unknown,
        Verdict::insufficient, Verdict::missing, Verdict::not_comparable}) {
    if (seen.at(static_cast<std::size_t>(verdict))) verdicts.push_back(verdict);
  }
  return verdicts;
}

// "1%", or words where rows have different ones.
std::string effect_in_force(const Comparison& comparison) {
  const std::optional<double> effect = common_effect(comparison);
  return effect ? effect_words(*effect) : "the least effect";
}

std::string word_of(const Comparison& comparison, Verdict verdict) {
  const std::optional<double> effect = common_effect(comparison);
  if (verdict == Verdict::small && !effect) return "<N%";
  return compare::verdict_word(verdict, effect.value_or(0));
}

std::string meaning(const Comparison& comparison, Verdict verdict) {
  const std::string effect = effect_in_force(comparison);
  switch (verdict) {
    case Verdict::improved:
      return "better by " + effect + " or more, and more than chance explains";
    case Verdict::regressed:
      return "worse by " + effect + " or more, and more than chance explains";
    case Verdict::small:
      return "more than chance explains, but less than " + effect + ": real and small";
    case Verdict::same:
      return "no difference shown, and one of " + effect + " or more is excluded";
    case Verdict::unknown:
      return "no difference shown, and one of " + effect + " is not excluded: nobody can tell yet";
    case Verdict::insufficient:
      return "too few runs to tell any difference from chance";
    case Verdict::missing:
      return "one side was not measured, or no run of it counts";
    case Verdict::not_comparable:
      return "the sides were not measured under the same conditions";
  }
  return "";
}

std::string explanation(const Comparison& comparison, Verdict verdict) {
  const std::string effect = effect_in_force(comparison);
  const std::string more = comparison.paired ? "more pairs (--pairs)" : "more runs (--repeats)";
  switch (verdict) {
    case Verdict::improved:
    case Verdict::regressed:
      return fmt::format(
          "The difference is established: if nothing had changed, results like these would come up "
          "in at most {} of comparisons, all rows of the table together. How large it is, the "
          "interval says better than the single figure. To find what caused it, change one thing "
          "at a time and compare each step with the one before (--baseline-of prev).",
          effect_words(comparison.options.alpha));
    case Verdict::small:
      return fmt::format(
          "There is a difference, but it is smaller than {}, which was set as the least that "
          "matters. If smaller effects matter to you, say so beforehand with --min-effect.",
          effect);
    case Verdict::same:
      return fmt::format(
          "This is an answer, not a lack of one: the whole interval lies within {} of no change. A "
          "smaller effect may still be there; to look for it, lower --min-effect and take {}.",
          effect, more);
    case Verdict::unknown:
      return fmt::format(
          "The runs differ too much among themselves for the question. This is neither a proof of "
          "no change nor a hint of one. An interval shrinks with the square root of the runs: half "
          "the width takes four times as many. So take {}, or make the runs quieter (longer, "
          "pinned CPUs, an idle machine, no frequency scaling). Decide the number beforehand; do "
          "not repeat until the verdict pleases. Where the machine drifts, let the sides take "
          "turns "
          "(docs/comparing.md has a script).",
          more);
    case Verdict::insufficient:
      return fmt::format(
          "With so few runs even the clearest result could be chance: the smallest p that they can "
          "give is above {:g} after the correction for {}. What goes on inside a run does not "
          "count as runs: its seconds resemble each other more than the next run. Take {}, or "
          "compare fewer cells (--filter).",
          comparison.options.alpha, count_of(comparison.family, "test"), more);
    case Verdict::missing:
      return "A cell that is not there says nothing, least of all that all is well. Measure it "
             "again; if runs were left out because of errors, see to their cause first.";
    case Verdict::not_comparable:
      return "Settings, device or the definition of a figure differ, so a difference could come "
             "from them. Measure both sides alike. If the difference is what you want to study, "
             "declare it: --varies KEY.";
  }
  return "";
}

std::string capped_note(std::size_t more) {
  return more == 0 ? "" : fmt::format("and {} more: --format csv shows all\n", more);
}

bool any_within_run(const Comparison& comparison) {
  for (const compare::CellRow& cell : comparison.cells) {
    for (const MetricRow& row : cell.metrics) {
      if (!row.figures.empty() && row.figures[0].within_run_cv) return true;
    }
  }
  return false;
}

bool any_unbounded(const Comparison& comparison) {
  bool found = false;
  for_each_gated(comparison, [&](const auto&, const auto&, const Contrast& contrast, bool) {
    found = found || (contrast.estimate && (!contrast.estimate->low || !contrast.estimate->high));
  });
  return found;
}

// Where resampling and the interval do not agree on whether there is a change at all.
std::string second_opinions(const Comparison& comparison, std::size_t page) {
  std::size_t asked = 0;
  std::vector<std::string> disagree;
  for_each_gated(comparison, [&](const compare::CellRow& cell, const MetricRow& row,
                                 const Contrast& contrast, bool step) {
    if (!contrast.estimate || !contrast.estimate->second_opinion) return;
    ++asked;
    const compare::Estimate& estimate = *contrast.estimate;
    const auto& second = *estimate.second_opinion;
    const bool first_says =
        (estimate.low && *estimate.low > 0) || (estimate.high && *estimate.high < 0);
    if (first_says == (second.low > 0 || second.high < 0)) return;
    disagree.push_back(
        place_words(comparison, cell, contrast, step) + ' ' +
        change_words(estimate.change, second.low, second.high, row.min_effect).interval);
  });
  if (asked == 0) return "";
  const std::string seed =
      comparison.options.bootstrap_seed
          ? fmt::format("bootstrap (seed {}): ", *comparison.options.bootstrap_seed)
          : "bootstrap: ";
  const std::string words =
      disagree.empty()
          ? fmt::format("agrees on whether there is a change, in all of {}", count_of(asked, "row"))
          : fmt::format("disagrees on whether there is a change in {} of {}: {}", disagree.size(),
                        count_of(asked, "row"), places_words(disagree));
  return wrap(seed, words, 2, page);
}

}  // namespace

std::string comparison_remarks(const Comparison& comparison, const ComparisonStyle& style,
                               bool gate) {
  std::string out;
  std::size_t shown = 0, more = 0;
  for (const Remark& remark : gate ? std::vector<Remark>{} : remarks_of(comparison)) {
    if (++shown > kMostRemarks) {
      more += remark.rows;
      continue;
    }
    const std::string rows = remark.rows > kMostPlaces ? fmt::format("{} rows: ", remark.rows) : "";
    out += wrap(remark.word + "  ", rows + remark.places + ": " + remark.words, 2, style.columns);
  }
  out += capped_note(more);
  shown = more = 0;
  for (const Gathered::Entry& loss : losses_of(comparison)) {
    if (++shown > kMostRemarks) {
      ++more;
      continue;
    }
    out +=
        wrap(loss.word + "  ", loss.what + ", in " + places_words(loss.places), 2, style.columns);
  }
  out += capped_note(more);
  if (!comparison.extra_cells.empty()) {
    std::vector<std::string> cells;
    for (const std::string& cell : comparison.extra_cells) cells.push_back(printable(cell));
    out += wrap("new, not compared: ", places_words(cells), 2, style.columns);
  }
  out += second_opinions(comparison, style.columns);
  for (const compare::Note& note : comparison.notes) {
    if (note.code == "extra-cells") continue;  // said above, by name
    out += wrap("note: ", printable(note.message), 6, style.columns);
  }
  return out;
}

std::string comparison_legend(const Comparison& comparison, const ComparisonStyle& style) {
  constexpr std::size_t kColumn = 16;
  std::string out;
  const auto entry = [&](const std::string& word, const std::string& words) {
    out += wrap(pad("  " + word, kColumn) + ' ', words, kColumn + 1, style.columns);
  };
  const std::string base = label_words(comparison, 0);
  entry("change", "of the figure against " + base + ", with its own sign: +2% is 2% more");
  entry("[" + confidence_words(comparison) + "]",
        "where the true change lies, with this confidence: the narrower, the surer");
  if (any_unbounded(comparison)) {
    entry("[too few runs]", "so few runs bound the true change on no side, or on one only");
  }
  entry("CV", "how far apart runs of " + base + " are (standard deviation / mean)");
  if (any_within_run(comparison)) {
    entry("(CV)", "within one run only: does not tell how far apart runs are");
  }
  for (const Verdict verdict : occurring(comparison)) {
    entry(word_of(comparison, verdict), meaning(comparison, verdict));
  }
  entry("method", method_words(comparison));
  return out;
}

std::string comparison_explained(const Comparison& comparison, const ComparisonStyle& style) {
  std::string out;
  bool established = false;
  for (const Verdict verdict : occurring(comparison)) {
    std::string word = word_of(comparison, verdict);
    if (verdict == Verdict::improved || verdict == Verdict::regressed) {
      if (established) continue;  // one paragraph for both
      established = true;
      const auto all = occurring(comparison);
      if (std::count(all.begin(), all.end(), Verdict::regressed) > 0 &&
          verdict == Verdict::improved) {
        word += ", " + word_of(comparison, Verdict::regressed);
      }
    }
    out += '\n' + wrap(word + ": ", explanation(comparison, verdict), 0, style.columns);
  }
  return out;
}

std::string gate_row_words(const Comparison& comparison, const compare::GateRow& row) {
  std::string words = row.cell && *row.cell < comparison.cells.size()
                          ? cell_words(comparison.cells[*row.cell])
                          : printable(row.name);
  if (row.metric < comparison.metrics.size()) {
    words += ' ' + printable(comparison.metrics[row.metric].title);
  }
  return words;
}

std::string gate_summary(const compare::GateResult& gate) {
  const std::size_t passed = gate.count(compare::Outcome::passed);
  if (gate.rows.empty()) return "nothing was gated";
  if (passed == gate.rows.size()) return count_of(passed, "row") + " passed";
  return fmt::format("{} of {} did not pass", gate.rows.size() - passed,
                     count_of(gate.rows.size(), "row"));
}

std::string gate_rows(const Comparison& comparison, const compare::GateResult& gate,
                      const ComparisonStyle& style) {
  Gathered rows;
  for (const compare::GateRow& row : gate.rows) {
    if (row.outcome == compare::Outcome::passed) continue;
    std::string what =
        fmt::format("margin {}: {}", effect_words(row.margin), printable(row.reason));
    if (row.chance_of_false_alarm) {
      what += fmt::format(
          "; noise alone would look worse than the margin in {:.1f}% of such "
          "comparisons without any change",
          *row.chance_of_false_alarm * 100);
    }
    rows.add(compare::outcome_word(row.outcome), what, gate_row_words(comparison, row));
  }
  std::string out = wrap("gate: ", gate_summary(gate), 6, style.columns);
  for (const Gathered::Entry& entry : rows.entries()) {
    out +=
        wrap(entry.word + "  ", places_words(entry.places) + ", " + entry.what, 2, style.columns);
  }
  for (const compare::Note& note : gate.notes) {
    out += wrap("note: ", printable(note.message), 6, style.columns);
  }
  return out;
}

}  // namespace uringbench::report
