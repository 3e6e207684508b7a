// A comparison on a page: head, tables, what to do, legend, verdicts.
#include <fmt/format.h>

#include <algorithm>

#include "report/comparison_table.hpp"
#include "report/comparison_view.hpp"
#include "report/comparison_words.hpp"
#include "report/text.hpp"

namespace uringbench::report {
namespace {

using compare::Comparison;
using compare::Contrast;
using compare::Verdict;

constexpr std::size_t kLeastPage = 80, kMostPage = 100;
constexpr std::size_t kAdvisoryRows = 12;

std::vector<ComparisonRow> rows_of(const Comparison& comparison, std::size_t metric) {
  std::vector<ComparisonRow> rows;
  for (const compare::CellRow& cell : comparison.cells) {
    const compare::MetricRow* row = row_of(cell, metric);
    if (row != nullptr) rows.push_back({&cell, row, cell_words(cell)});
  }
  return rows;
}

std::string tables_of(const Comparison& comparison, std::size_t metric,
                      const ComparisonStyle& style) {
  const compare::Metric& shown = comparison.metrics.at(metric);
  const std::string title = printable(shown.title);
  const std::vector<ComparisonRow> rows = rows_of(comparison, metric);
  if (rows.empty()) return fmt::format("\n{}: no cell has it\n", title);
  // The mean of one cell is that cell.
  const bool geomean =
      comparison.cells.size() > 1 &&
      std::any_of(comparison.geomeans.begin(), comparison.geomeans.end(),
                  [&](const compare::Geomean& one) { return one.metric == metric; });
  std::string out = fmt::format("\n{} ({}){}\n", title, direction_words(shown),
                                shown.gated ? "" : ", advisory: decides nothing");
  out += comparison_table(comparison, rows, style, geomean ? std::optional(metric) : std::nullopt);
  const std::string steps = step_table(comparison, rows, style);
  if (!steps.empty()) out += fmt::format("\n{}, step by step\n", title) + steps;
  return out;
}

// What deserves a look comes first.
int boredom(Verdict verdict) {
  switch (verdict) {
    case Verdict::regressed:
      return 0;
    case Verdict::improved:
      return 1;
    case Verdict::small:
      return 2;
    case Verdict::same:
      return 4;
    default:
      return 3;
  }
}

int boredom(const ComparisonRow& one) {
  int least = 5;
  for (const Contrast& contrast : one.row->contrasts) {
    least = std::min(least, boredom(contrast.verdict));
  }
  return least;
}

std::string advisory(const Comparison& comparison, const ComparisonStyle& style) {
  std::vector<ComparisonRow> rows;
  for (std::size_t metric = 0; metric < comparison.metrics.size(); ++metric) {
    if (comparison.metrics[metric].gated) continue;
    for (ComparisonRow& one : rows_of(comparison, metric)) {
      one.name = printable(comparison.metrics[metric].title) + ' ' + one.name;
      rows.push_back(std::move(one));
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ComparisonRow& a, const ComparisonRow& b) {
    return boredom(a) < boredom(b);
  });
  if (rows.empty()) return "";
  const std::size_t more = rows.size() - std::min(rows.size(), kAdvisoryRows);
  rows.resize(rows.size() - more);
  std::string out = "\nAdvisory: in no family of tests, decides nothing\n" +
                    comparison_table(comparison, rows, style, std::nullopt);
  if (more > 0) {
    out += fmt::format("and {} more: --metrics NAME or --format csv shows all\n", more);
  }
  return out;
}

std::string paragraph(const std::string& head, const std::string& text) {
  return text.empty() ? "" : '\n' + head + text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const ComparisonStyle& style,
                            const compare::GateResult* gate) {
  ComparisonStyle page = style;
  page.columns = std::clamp(style.columns, kLeastPage, kMostPage);
  std::string out = comparison_head(comparison, page, gate != nullptr);
  const std::vector<std::size_t> in_full = metrics_in_full(comparison);
  if (comparison.cells.empty()) out += "\nNothing to compare: there is no cell.\n";
  if (!comparison.cells.empty()) {
    for (const std::size_t metric : in_full) out += tables_of(comparison, metric, page);
    if (in_full.size() < comparison.metrics.size()) out += advisory(comparison, page);
  }
  out += paragraph("", comparison_remarks(comparison, page, gate != nullptr));
  if (gate != nullptr) out += paragraph("", gate_rows(comparison, *gate, page));
  if (!comparison.cells.empty()) {
    out += paragraph("Legend\n", comparison_legend(comparison, page));
    if (style.explain) out += comparison_explained(comparison, page);
  }
  return out + '\n' + wrap("", verdict_line(comparison), 2, page.columns);
}

}  // namespace uringbench::report
