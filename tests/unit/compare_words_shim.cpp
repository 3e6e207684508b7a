// Words of verdicts for tests that draw comparisons while the room of compare does not define them
// yet. Weak: its own definitions win as soon as they are there; then this file goes.
#include <fmt/format.h>

#include <algorithm>

#include "compare/compare.hpp"

namespace uringbench::compare {

[[gnu::weak]] std::string verdict_word(Verdict verdict, double min_effect) {
  switch (verdict) {
    case Verdict::not_comparable:
      return "NOT-COMPARABLE";
    case Verdict::missing:
      return "MISSING";
    case Verdict::insufficient:
      return "INSUFFICIENT";
    case Verdict::regressed:
      return "REGRESSED";
    case Verdict::improved:
      return "IMPROVED";
    case Verdict::same:
      return "SAME";
    case Verdict::small:
      return fmt::format("<{:g}%", min_effect * 100);
    case Verdict::unknown:
      break;
  }
  return "UNKNOWN";
}

[[gnu::weak]] std::string outcome_word(Outcome outcome) {
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

[[gnu::weak]] std::size_t Comparison::count(Verdict verdict) const {
  std::size_t count = 0;
  for (const CellRow& cell : cells) {
    for (const MetricRow& row : cell.metrics) {
      if (!metrics[row.metric].gated) continue;
      count += static_cast<std::size_t>(
          std::count_if(row.contrasts.begin(), row.contrasts.end(),
                        [&](const Contrast& one) { return one.verdict == verdict; }));
    }
  }
  return count;
}

[[gnu::weak]] std::size_t GateResult::count(Outcome outcome) const {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const GateRow& row) { return row.outcome == outcome; }));
}

}  // namespace uringbench::compare
