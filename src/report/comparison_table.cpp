// What stands in the tables of a comparison.
#include "report/comparison_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/text.hpp"

namespace uringbench::report {
namespace {

using compare::Comparison;
using compare::Contrast;
using compare::Figure;
using compare::Geomean;
using compare::MetricRow;
using compare::Verdict;

Tint tint_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::improved:
      return Tint::good;
    case Verdict::regressed:
    case Verdict::missing:
    case Verdict::not_comparable:
      return Tint::bad;
    case Verdict::unknown:
    case Verdict::insufficient:
      return Tint::open;
    default:
      return Tint::none;
  }
}

std::string cv_words(const Figure& one) {
  if (one.cv) return fmt::format("{:.1f}%", *one.cv * 100);
  if (one.within_run_cv) return fmt::format("({:.1f}%)", *one.within_run_cv * 100);
  return "-";
}

// The columns of a contrast: change, interval, verdict.
class ContrastColumns {
 public:
  explicit ContrastColumns(const Comparison& comparison)
      : interval_{"[" + confidence_words(comparison) + "]", true, {}, {}} {}
  void add(const Contrast* contrast, double min_effect) {
    const ChangeWords words =
        contrast != nullptr ? change_words(*contrast, min_effect) : ChangeWords{};
    const std::string verdict =
        contrast != nullptr ? compare::verdict_word(contrast->verdict, min_effect) : "";
    add(words, verdict, contrast != nullptr ? tint_of(contrast->verdict) : Tint::none);
  }
  void add(const ChangeWords& words, const std::string& verdict, Tint tint) {
    change_.words.push_back(words.change);
    interval_.words.push_back(words.interval);
    verdict_.words.push_back(verdict);
    verdict_.tints.push_back(tint);
  }
  void append_to(std::vector<TableColumn>& columns) && {
    columns.push_back(std::move(change_));
    columns.push_back(std::move(interval_));
    columns.push_back(std::move(verdict_));
  }

 private:
  TableColumn change_{"change", true, {}, {}}, interval_, verdict_{"", false, {}, {}};
};

const Geomean* geomean_to(const Comparison& comparison, std::size_t metric, std::size_t from,
                          std::size_t to) {
  const auto found = std::find_if(
      comparison.geomeans.begin(), comparison.geomeans.end(),
      [&](const Geomean& one) { return one.metric == metric && one.from == from && one.to == to; });
  return found == comparison.geomeans.end() ? nullptr : &*found;
}

// Without an interval the change stands alone.
ChangeWords geomean_change(const Geomean* geomean) {
  if (geomean == nullptr || !geomean->change) return {"-", ""};
  ChangeWords words = change_words(*geomean->change, geomean->low, geomean->high, 0);
  if (!geomean->low && !geomean->high) words.interval.clear();
  return words;
}

TableColumn median_column(const std::string& head, const std::vector<ComparisonRow>& rows,
                          const std::vector<Scale>& scales, std::size_t label) {
  TableColumn column{head, true, {}, {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::optional<double>& median = rows[i].row->figures.at(label).median;
    column.words.push_back(median ? figure(*median, scales[i]) : "-");
  }
  return column;
}

TableBlock base_block(const Comparison& comparison, const std::vector<ComparisonRow>& rows,
                      const std::vector<Scale>& scales, bool same_scale) {
  TableBlock base{label_words(comparison, 0), {}};
  base.columns.push_back(median_column(same_scale ? scales[0].name : "", rows, scales, 0));
  if (!same_scale) {
    base.columns.push_back({"", false, {}, {}});
    for (const Scale& scale : scales) base.columns.back().words.push_back(scale.name);
  }
  base.columns.push_back({"CV", true, {}, {}});
  for (const ComparisonRow& one : rows) {
    base.columns.back().words.push_back(cv_words(one.row->figures.at(0)));
  }
  return base;
}

std::vector<TableRow> names_of(const std::vector<ComparisonRow>& rows) {
  std::vector<TableRow> names;
  for (const ComparisonRow& one : rows) names.push_back({one.name, false});
  return names;
}

// Adds the geometric means under the blocks of all labels.
class GeomeanRow {
 public:
  GeomeanRow(const Comparison& comparison, std::size_t metric)
      : comparison_(comparison), metric_(metric) {}
  void add_to(ContrastColumns& columns, std::size_t from, std::size_t to) {
    const Geomean* geomean = geomean_to(comparison_, metric_, from, to);
    columns.add(geomean_change(geomean), "", Tint::none);
    if (geomean != nullptr) {
      counts_.push_back(fmt::format("{} of {}", geomean->cells, count_of(geomean->of, "cell")));
    }
  }
  // "geomean (3 of 3 cells)"; with a count per label when they differ.
  std::string name() const {
    const bool same = std::all_of(counts_.begin(), counts_.end(),
                                  [&](const auto& one) { return one == counts_.front(); });
    if (counts_.empty()) return "";
    return fmt::format("geomean ({})", same ? counts_.front() : join(counts_, "; "));
  }

 private:
  const Comparison& comparison_;
  std::size_t metric_;
  std::vector<std::string> counts_;
};

}  // namespace

std::string comparison_table(const Comparison& comparison, const std::vector<ComparisonRow>& rows,
                             const ComparisonStyle& style, std::optional<std::size_t> geomean_of) {
  std::vector<const MetricRow*> all;
  for (const ComparisonRow& one : rows) all.push_back(one.row);
  const std::optional<Scale> common = common_scale(comparison, all);
  std::vector<Scale> scales;
  for (const ComparisonRow& one : rows) {
    scales.push_back(common ? *common : row_scale(comparison, *one.row));
  }
  std::vector<TableRow> names = names_of(rows);
  TableBlock base = base_block(comparison, rows, scales, common.has_value());
  std::vector<TableBlock> blocks;
  GeomeanRow geomean(comparison, geomean_of.value_or(0));
  for (std::size_t label = 1; label < comparison.labels.size(); ++label) {
    TableBlock block{label_words(comparison, label), {}};
    block.columns.push_back(median_column(common ? common->name : "", rows, scales, label));
    ContrastColumns contrasts(comparison);
    for (const ComparisonRow& one : rows) {
      contrasts.add(contrast_to(one.row->contrasts, label), one.row->min_effect);
    }
    if (geomean_of) {
      block.columns.front().words.emplace_back();
      geomean.add_to(contrasts, 0, label);
    }
    std::move(contrasts).append_to(block.columns);
    blocks.push_back(std::move(block));
  }
  if (geomean_of) {
    names.push_back({geomean.name(), true});  // empty where there is none: a line without words
    for (TableColumn& column : base.columns) column.words.emplace_back();
  }
  return draw_table(names, base, blocks, style);
}

std::string step_table(const Comparison& comparison, const std::vector<ComparisonRow>& rows,
                       const ComparisonStyle& style) {
  std::vector<TableBlock> blocks;
  for (std::size_t label = 2; label < comparison.labels.size(); ++label) {
    const Contrast* named = nullptr;
    ContrastColumns contrasts(comparison);
    for (const ComparisonRow& one : rows) {
      const Contrast* step = contrast_to(one.row->steps, label);
      if (step != nullptr) named = step;
      contrasts.add(step, one.row->min_effect);
    }
    if (named == nullptr) continue;
    TableBlock block{contrast_words(comparison, *named, true), {}};
    std::move(contrasts).append_to(block.columns);
    blocks.push_back(std::move(block));
  }
  return blocks.empty() ? "" : draw_table(names_of(rows), {}, blocks, style);
}

}  // namespace uringbench::report
