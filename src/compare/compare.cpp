// The comparison, step by step: match, gather, estimate, correct for the family, conclude.
#include "compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/parts.hpp"

namespace uringbench::compare {
namespace {

using base::ExitCode;
using base::UserError;

/// What a row is made from, beside it.
struct Material {
  std::vector<Gathered> gathered;                ///< per label
  std::vector<std::vector<std::string>> unlike;  ///< per label, against the first
};

void check_sides(const std::vector<Side>& sides) {
  if (sides.size() < 2) {
    throw UserError(ExitCode::usage, "nothing to compare with: there is one result",
                    "name two results, or one of an ab run");
  }
  std::set<std::string> labels;
  for (const Side& side : sides) {
    if (!labels.insert(side.label).second) {
      throw UserError(ExitCode::usage, fmt::format("two results have the label \"{}\"", side.label),
                      "give them names: base=FILE new=FILE");
    }
  }
}

/// Arms of one plan differ on purpose: what they differ in is declared by them.
void declare_arms(const std::vector<Side>& sides, std::set<std::string>& varies) {
  const auto& base = sides.front().sources.front().document.cells;
  for (const Side& side : sides) {
    const auto& cells = side.sources.front().document.cells;
    for (std::size_t i = 0; i < std::min(base.size(), cells.size()); ++i) {
      const Words a = words_of(base[i].id), b = words_of(cells[i].id);
      for (std::size_t w = 0; w < std::min(a.size(), b.size()); ++w) {
        if (a[w].first == b[w].first && a[w].second != b[w].second) varies.insert(a[w].first);
      }
    }
  }
}

Material material_of(const Match& match, const Facts& facts, const std::vector<Side>& sides,
                     bool arms, const std::set<std::string>& varies) {
  Material material;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    const auto& refs = match.sides[side];
    material.gathered.push_back(gather(refs));
    material.gathered.back().nearest = match.nearest[side];
    std::vector<std::string> unlike = match.unlike[side];
    const CellRef& base = match.sides[0].front();
    for (const CellRef& ref : refs) {
      if (&ref == &base || (arms && side > 0)) continue;
      for (std::string& what : unlike_settings(base, ref, varies)) {
        // A setting stands in the cell's name as well: once is enough, by its first word.
        const std::string title = what.substr(0, what.find(' ') + 1);
        const bool told = std::any_of(unlike.begin(), unlike.end(), [&](const std::string& one) {
          return one.starts_with(title);
        });
        if (!told) unlike.push_back(std::move(what));
      }
    }
    const auto& fatal = facts.fatal_with_base[side];
    unlike.insert(unlike.end(), fatal.begin(), fatal.end());
    material.unlike.push_back(std::move(unlike));
  }
  return material;
}

/// Why a side has nothing to compare with; empty when it has. `n`: runs with this figure.
std::string why_missing(const Metric& metric, const Side& side, const Gathered& gathered,
                        std::size_t n, const Options& options) {
  if (!gathered.side.present) {
    return fmt::format("{} does not have this cell{}", side.label,
                       gathered.nearest.empty() ? "" : ", but one with " + gathered.nearest);
  }
  if (gathered.side.runs == 0) return fmt::format("{} has no runs", side.label);
  if (gathered.side.counted == 0) {
    return fmt::format("no run of {} counts: {}", side.label, joined(gathered.side.left_out));
  }
  if (n == 0) return fmt::format("{} has no {}", side.label, metric.title);
  if (!options.bad_runs_spoil_a_cell) return "";
  if (gathered.side.spoilt) {
    std::vector<std::string> what = gathered.side.left_out;
    if (what.empty()) what.emplace_back("its session was interrupted");
    return fmt::format("runs of {} failed: {}", side.label, joined(what));
  }
  if (n < gathered.side.counted) {
    return fmt::format("{} of {} of {} have no {}", gathered.side.counted - n,
                       count_of(gathered.side.counted, "run"), side.label, metric.title);
  }
  return "";
}

bool thin(const Metric& metric, const Gathered& gathered) {
  return std::any_of(gathered.runs.begin(), gathered.runs.end(), [&](const CountedRun& counted) {
    return tail_too_thin(metric, *counted.run);
  });
}

/// Everything but the verdicts that hang on the family.
void estimate_contrast(const Metric& metric, const std::vector<Side>& sides,
                       const Material& material, const std::vector<Figure>& figures, bool arms,
                       const Options& options, Contrast& contrast) {
  std::vector<std::string> unlike = material.unlike[0];
  for (const std::size_t label : {contrast.from, contrast.to}) {
    if (label == 0) continue;
    const auto& more = material.unlike[label];
    unlike.insert(unlike.end(), more.begin(), more.end());
  }
  if (!unlike.empty()) {
    contrast.verdict = Verdict::not_comparable;
    contrast.reason = joined(unlike);
    return;
  }
  for (const std::size_t label : {contrast.from, contrast.to}) {
    const Gathered& gathered = material.gathered[label];
    contrast.reason = why_missing(metric, sides[label], gathered, figures[label].n, options);
    if (contrast.reason.empty()) continue;
    contrast.verdict = Verdict::missing;
    return;
  }
  const Gathered& from = material.gathered[contrast.from];
  const Gathered& to = material.gathered[contrast.to];
  if (options.bad_runs_spoil_a_cell) contrast.reason = pairing_fault(from, to);
  if (!contrast.reason.empty()) {
    contrast.verdict = Verdict::missing;
    return;
  }
  contrast.estimate = estimate(metric, from, to, can_pair(from, to, arms), options);
  if (!contrast.estimate) {
    contrast.verdict = Verdict::missing;
    contrast.reason = "no block has this figure on both sides";
  }
}

/// What is odd about the figures of the metric that came last, beside the cell's sides.
void doubt_figures(const Metric& metric, CellRow& cell) {
  const MetricRow& row = cell.metrics.back();
  for (std::size_t label = 0; label < cell.sides.size(); ++label) {
    CellSide& side = cell.sides[label];
    const Figure& figure = row.figures[label];
    if (figure.outliers > 0) {
      side.doubts.push_back(
          fmt::format("{} ({})", count_of(figure.outliers, "outlier"), metric.title));
    }
    if (figure.n > 0 && figure.n < side.counted) {
      side.doubts.push_back(fmt::format("{} without {}", side.counted - figure.n, metric.title));
    }
  }
}

MetricRow row_of(std::size_t index, const Metric& metric, const CellRow& cell,
                 const std::vector<Side>& sides, const Material& material, bool arms,
                 const Options& options) {
  MetricRow row;
  row.metric = index;
  row.min_effect = limit_for(options.min_effects, metric, cell.words).value_or(metric.min_effect);
  for (const Gathered& gathered : material.gathered) {
    row.figures.push_back(figure_over(metric, gathered));
  }
  const auto add = [&](std::size_t from, std::size_t to, std::vector<Contrast>& contrasts) {
    Contrast contrast;
    contrast.from = from;
    contrast.to = to;
    estimate_contrast(metric, sides, material, row.figures, arms, options, contrast);
    contrasts.push_back(std::move(contrast));
  };
  for (std::size_t label = 1; label < sides.size(); ++label) {
    add(0, label, row.contrasts);
    if (options.baseline_is_previous && label > 1) add(label - 1, label, row.steps);
  }
  return row;
}

/// Holm within each family, then the verdicts. Advisory metrics belong to no family.
void conclude_all(Comparison& comparison, const std::vector<Material>& materials) {
  std::vector<Contrast*> family, step_family;
  for (CellRow& cell : comparison.cells) {
    for (MetricRow& row : cell.metrics) {
      if (!comparison.metrics[row.metric].gated) continue;
      for (Contrast& contrast : row.contrasts) family.push_back(&contrast);
      for (Contrast& contrast : row.steps) step_family.push_back(&contrast);
    }
  }
  comparison.family = family_of(family);
  comparison.step_family = family_of(step_family);
  adjust(family);
  adjust(step_family);
  for (std::size_t i = 0; i < comparison.cells.size(); ++i) {
    CellRow& cell = comparison.cells[i];
    bool compared = false;
    for (MetricRow& row : cell.metrics) {
      const Metric& metric = comparison.metrics[row.metric];
      const auto conclude_one = [&](Contrast& contrast, std::size_t tests) {
        if (!contrast.estimate) return;
        compared = true;
        const auto& gathered = materials[i].gathered;
        const bool tail_thin =
            thin(metric, gathered[contrast.from]) || thin(metric, gathered[contrast.to]);
        conclude(metric, row.min_effect, tail_thin, metric.gated ? tests : 0, comparison.options,
                 row.figures, contrast);
      };
      for (Contrast& contrast : row.contrasts) conclude_one(contrast, comparison.family);
      for (Contrast& contrast : row.steps) conclude_one(contrast, comparison.step_family);
    }
    if (compared) ++comparison.cells_compared;
  }
}

Geomean geomean_of(const Comparison& comparison, const std::vector<Material>& materials,
                   std::size_t metric, std::size_t to, bool arms) {
  Geomean mean;
  mean.metric = metric;
  mean.to = to;
  mean.of = comparison.cells.size();
  std::vector<double> ratios;
  std::map<std::uint64_t, std::vector<double>> by_block;
  bool all_paired = true;
  for (std::size_t i = 0; i < comparison.cells.size(); ++i) {
    const Contrast& contrast = comparison.cells[i].metrics[metric].contrasts[to - 1];
    if (!contrast.estimate) continue;
    ratios.push_back(1 + contrast.estimate->change);
    const auto& gathered = materials[i].gathered;
    if (!can_pair(gathered[0], gathered[to], arms)) {
      all_paired = false;
      continue;
    }
    for (const auto& [block, change] :
         log_changes_by_block(comparison.metrics[metric], gathered[0], gathered[to])) {
      by_block[block].push_back(change);
    }
  }
  mean.cells = ratios.size();
  const auto ratio = stats::geometric_mean(ratios);
  if (ratio) mean.change = *ratio - 1;
  if (!ratio || !all_paired) return mean;
  // One figure per block keeps what the cells of a block have in common.
  std::vector<double> changes;
  for (const auto& [block, logs] : by_block) {
    if (logs.size() != ratios.size()) continue;
    double sum = 0;
    for (const double log : logs) sum += log;
    changes.push_back(sum / static_cast<double>(logs.size()));
  }
  if (changes.empty()) return mean;
  const auto shift = stats::shift_of_pairs(changes, comparison.options.confidence);
  mean.change = std::expm1(shift.estimate);
  if (std::isfinite(shift.low)) mean.low = std::expm1(shift.low);
  if (std::isfinite(shift.high)) mean.high = std::expm1(shift.high);
  return mean;
}

/// Blocks that one side lacks, told once for each label.
void note_pairing(const std::vector<Side>& sides, const std::vector<Material>& materials,
                  Comparison& comparison) {
  for (std::size_t label = 1; label < sides.size(); ++label) {
    for (const Material& material : materials) {
      const std::string fault = pairing_fault(material.gathered[0], material.gathered[label]);
      if (fault.empty()) continue;
      comparison.notes.push_back({"unpaired-runs", sides[label].label + ": " + fault});
      break;
    }
  }
}

template <typename Visit>
void for_gated(const Comparison& comparison, Visit visit) {
  for (const CellRow& cell : comparison.cells) {
    for (const MetricRow& row : cell.metrics) {
      if (!comparison.metrics[row.metric].gated) continue;
      for (const Contrast& contrast : row.contrasts) visit(contrast);
    }
  }
}

}  // namespace

std::string verdict_word(Verdict verdict, double min_effect) {
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
      return "<" + percent(min_effect);
    case Verdict::unknown:
      break;
  }
  return "UNKNOWN";
}

std::size_t Comparison::count(Verdict verdict) const {
  std::size_t number = 0;
  for_gated(*this, [&](const Contrast& contrast) { number += contrast.verdict == verdict; });
  return number;
}

Comparison compare(const std::vector<Side>& sides, const Options& options) {
  check_sides(sides);
  const bool arms = are_arms(sides);
  std::set<std::string> varies(options.varies.begin(), options.varies.end());
  if (arms) declare_arms(sides, varies);

  Comparison comparison;
  comparison.options = options;
  comparison.options.varies.assign(varies.begin(), varies.end());
  comparison.metrics = chosen_metrics(sides, options);
  Facts facts = compare_facts(sides, options, varies);
  Matching matching = match_cells(sides, options, varies);
  std::vector<std::string> names;
  name_cells(matching.cells, names);

  std::vector<Material> materials;
  for (std::size_t i = 0; i < matching.cells.size(); ++i) {
    const Match& match = matching.cells[i];
    materials.push_back(material_of(match, facts, sides, arms, varies));
    CellRow row;
    row.id = match.sides[0].front().cell->id;
    row.name = names[i];
    row.words = match.words;
    row.unstated.assign(match.unstated.begin(), match.unstated.end());
    for (const Gathered& gathered : materials[i].gathered) row.sides.push_back(gathered.side);
    for (std::size_t m = 0; m < comparison.metrics.size(); ++m) {
      row.metrics.push_back(
          row_of(m, comparison.metrics[m], row, sides, materials[i], arms, options));
      if (comparison.metrics[m].gated) doubt_figures(comparison.metrics[m], row);
    }
    comparison.cells.push_back(std::move(row));
  }
  conclude_all(comparison, materials);
  for (std::size_t m = 0; m < comparison.metrics.size(); ++m) {
    for (std::size_t to = 1; to < sides.size(); ++to) {
      comparison.geomeans.push_back(geomean_of(comparison, materials, m, to, arms));
    }
  }
  comparison.extra_cells = std::move(matching.extra);
  comparison.differences = std::move(facts.differences);
  comparison.same = std::move(facts.same);
  describe(sides, comparison);
  note_pairing(sides, materials, comparison);
  return comparison;
}

base::ExitCode exit_code_of(const Comparison& comparison) {
  std::set<Verdict> seen;
  for_gated(comparison, [&](const Contrast& contrast) { seen.insert(contrast.verdict); });
  const bool spoilt =
      std::any_of(comparison.cells.begin(), comparison.cells.end(), [](const CellRow& cell) {
        return std::any_of(cell.sides.begin(), cell.sides.end(),
                           [](const CellSide& side) { return side.spoilt; });
      });
  const auto has = [&](Verdict verdict) { return seen.count(verdict) != 0; };
  if (has(Verdict::not_comparable)) return ExitCode::not_comparable;
  if (seen.empty() || spoilt || has(Verdict::missing) || has(Verdict::insufficient)) {
    return ExitCode::missing;
  }
  if (has(Verdict::regressed)) return ExitCode::regression;
  return has(Verdict::unknown) ? ExitCode::inconclusive : ExitCode::done;
}

}  // namespace uringbench::compare
