// A comparison as Markdown: to be pasted, and to be read as it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "golden.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "sample_comparisons.hpp"
#include "sample_gates.hpp"

namespace uringbench::report {
namespace {

using testing::expect_golden;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Of a line of a table: the pipes that are borders.
std::size_t borders(std::string line) {
  for (std::size_t at; (at = line.find("\\|")) != std::string::npos;) line.erase(at, 2);
  return static_cast<std::size_t>(std::count(line.begin(), line.end(), '|'));
}

TEST(ComparisonMarkdown, TaskWorkSeriesFitsIntoAMail) {
  const std::string text = comparison_markdown(testing::task_work_series());
  expect_golden("comparison/series.md", text);
  for (const std::string& line : lines_of(text)) EXPECT_LE(columns(line), 100U) << line;
  EXPECT_NE(text.find("| QD1   | 1.880 | 2.150 (+14.4% [+13.9,+14.8]) IMPROVED | "),
            std::string::npos);
}

TEST(ComparisonMarkdown, PairedBlocks) {
  expect_golden("comparison/pairs.md", comparison_markdown(testing::paired_blocks()));
}

TEST(ComparisonMarkdown, Gate) {
  const compare::GateResult gate = testing::failed_gate();
  expect_golden("comparison/broken-pair-gate.md",
                comparison_markdown(testing::broken_pair(), &gate));
  const compare::GateResult passed = testing::passed_gate();
  EXPECT_NE(comparison_markdown(testing::two_labels(), &passed).find("- gate: 3 rows passed\n"),
            std::string::npos);
}

TEST(ComparisonMarkdown, FiguresFarApartHaveUnitsOfTheirOwn) {
  compare::Comparison sample = testing::long_names();
  sample.labels[0].name = "base";
  const std::string text = comparison_markdown(sample);
  EXPECT_NE(text.find(" | 800.0 IOPS  | 800.8 ("), std::string::npos) << text;
  EXPECT_NE(text.find(" | 141.7 MIOPS | 141.9 ("), std::string::npos) << text;
}

TEST(ComparisonMarkdown, NamesStayNames) {
  const compare::GateResult gate = testing::failed_gate();
  const std::string text = comparison_markdown(testing::hostile_names(), &gate);
  expect_golden("comparison/hostile-names.md", text);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("[click]"), std::string::npos) << "would be a link";
  EXPECT_EQ(text.find(" <i>"), std::string::npos) << "would be a tag";
  EXPECT_EQ(text.find("µ<script"), std::string::npos) << "would be a tag";
}

TEST(ComparisonMarkdown, EveryRowHasTheColumnsOfTheHead) {
  for (const compare::Comparison& sample :
       {testing::task_work_series(), testing::paired_blocks(), testing::single_runs(),
        testing::broken_pair(), testing::long_names(), testing::hostile_names(),
        testing::impossible_numbers(), testing::big_sweep(50)}) {
    std::size_t head = 0, width = 0, tables = 0;
    for (const std::string& line : lines_of(comparison_markdown(sample))) {
      if (!line.starts_with('|')) {
        head = 0;
        continue;
      }
      if (head == 0) {
        head = borders(line);
        width = columns(line);
        ++tables;
      }
      EXPECT_EQ(borders(line), head) << line;
      EXPECT_EQ(columns(line), width) << line;
    }
    EXPECT_GT(tables, 0U);
  }
}

TEST(ComparisonMarkdown, WithoutCells) {
  EXPECT_EQ(lines_of(comparison_markdown(compare::Comparison{})).front(),
            "Nothing to compare: there is no cell.");
}

TEST(Markdown, IntervalsNeedNoEscape) {
  EXPECT_EQ(markdown("CI [-1.1,+1.6] <b>"), "CI [-1.1,+1.6] \\<b\\>");
  EXPECT_EQ(markdown("[-11.0 %, -8.0 %]: worse"), "[-11.0 %, -8.0 %]: worse");
  EXPECT_EQ(markdown("-9.6 % [-11.0 %, -8.0 %], p"), "-9.6 % [-11.0 %, -8.0 %], p");
  EXPECT_EQ(markdown("[+1](http://x)"), "\\[+1\\](http://x)");
  EXPECT_EQ(markdown("[+x]"), "\\[+x\\]");
  EXPECT_EQ(markdown("[+1"), "\\[+1");
}

}  // namespace
}  // namespace uringbench::report
