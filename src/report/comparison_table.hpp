// Private to report: tables of a comparison, laid out for the width of the page.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compare/compare.hpp"
#include "report/comparison_view.hpp"
#include "report/report.hpp"

namespace uringbench::report {

enum class Tint { none, good, bad, open };

/// A column under a heading, with one word per row ("" where there is none).
struct TableColumn {
  std::string head;
  bool right = true;
  std::vector<std::string> words;
  std::vector<Tint> tints;  ///< empty, or one per row
};
/// Columns that stay together, under a title over them.
struct TableBlock {
  std::string title;
  std::vector<TableColumn> columns;
};
struct TableRow {
  std::string name;
  bool spans = false;  ///< the name runs on over the empty columns behind it
};
/// As many blocks side by side as the page holds, the rest below them, each time behind the names
/// and `base`. Names that leave no room for a block get a line of their own.
std::string draw_table(const std::vector<TableRow>& rows, const TableBlock& base,
                       const std::vector<TableBlock>& blocks, const ComparisonStyle& style);

/// A word in the colour of its meaning.
std::string tinted(const std::string& word, Tint tint, bool color);

/// Rows of a comparison as a table: base, then a block per label (or per step).
struct ComparisonRow {
  const compare::CellRow* cell = nullptr;
  const compare::MetricRow* row = nullptr;
  std::string name;
};
/// `geomean_of`: the metric whose geometric means close the table; nothing for a mixed table.
std::string comparison_table(const compare::Comparison& comparison,
                             const std::vector<ComparisonRow>& rows, const ComparisonStyle& style,
                             std::optional<std::size_t> geomean_of);
/// The successive contrasts of the same rows; empty when there are none.
std::string step_table(const compare::Comparison& comparison,
                       const std::vector<ComparisonRow>& rows, const ComparisonStyle& style);

}  // namespace uringbench::report
