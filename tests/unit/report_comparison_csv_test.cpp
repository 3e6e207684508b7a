// A comparison as CSV: for those who calculate on.
#include <gtest/gtest.h>

#include <map>

#include "golden.hpp"
#include "report/report.hpp"
#include "sample_comparisons.hpp"
#include "sample_gates.hpp"

namespace uringbench::report {
namespace {

using testing::expect_golden;

/// Records of RFC 4180, the head among them; every line must end in CR LF.
std::vector<std::vector<std::string>> records_of(const std::string& text) {
  std::vector<std::vector<std::string>> records(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& field = records.back().back();
    if (quoted && text.substr(i, 2) == "\"\"") {
      field += text[i++];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (text[i] == ',' && !quoted) {
      records.back().emplace_back();
    } else if (text.substr(i, 2) == "\r\n" && !quoted) {
      records.push_back({""});
      ++i;
    } else {
      EXPECT_NE(text[i], '\n');
      field += text[i];
    }
  }
  EXPECT_FALSE(quoted);
  EXPECT_EQ(records.back(), std::vector<std::string>{""}) << "the last line must end";
  records.pop_back();
  return records;
}

std::vector<std::map<std::string, std::string>> table_of(const std::string& text) {
  const auto records = records_of(text);
  std::vector<std::map<std::string, std::string>> table;
  for (std::size_t i = 1; i < records.size(); ++i) {
    EXPECT_EQ(records[i].size(), records[0].size()) << "line " << i + 1;
    table.emplace_back();
    for (std::size_t j = 0; j < records[0].size() && j < records[i].size(); ++j) {
      EXPECT_TRUE(table.back().emplace(records[0][j], records[i][j]).second) << records[0][j];
    }
  }
  return table;
}

TEST(ComparisonCsv, TaskWorkSeries) {
  expect_golden("comparison/series.csv", comparison_csv(testing::task_work_series()));
}

TEST(ComparisonCsv, Gate) {
  const compare::GateResult gate = testing::failed_gate();
  expect_golden("comparison/broken-pair-gate.csv", comparison_csv(testing::broken_pair(), &gate));
}

TEST(ComparisonCsv, NumbersArePlain) {
  const auto table = table_of(comparison_csv(testing::paired_blocks()));
  ASSERT_EQ(table.size(), 8U);  // 3 cells of 2 labels, 2 geometric means
  auto line = table[5];
  EXPECT_EQ(line["kind"], "contrast");
  EXPECT_EQ(line["cell_name"], "QD32");
  EXPECT_EQ(line["to"], "patch11");
  EXPECT_EQ(line["verdict"], "UNKNOWN");
  EXPECT_EQ(line["change"], "-0.016");
  EXPECT_EQ(line["ci_low"], "-0.029");
  EXPECT_EQ(line["ci_high"], "-0.002");
  EXPECT_EQ(line["test"], "wilcoxon-signed-rank");
  EXPECT_EQ(line["median_from"], "2604000");
  EXPECT_EQ(line["runs_to"], "12");
  EXPECT_EQ(line["counted_to"], "11");
  EXPECT_EQ(line["left_out_to"], "1 with I/O errors (EIO 13)");
  EXPECT_EQ(line["runs_needed"], "27");
  EXPECT_EQ(table[0].at("verdict"), "SMALL");
  EXPECT_EQ(table[6].at("kind"), "geomean");
  EXPECT_EQ(table[6].at("cells"), "3");
}

TEST(ComparisonCsv, WhatIsNotThereIsEmpty) {
  auto table = table_of(comparison_csv(testing::single_runs()));
  EXPECT_EQ(table[0]["ci_low"], "");
  EXPECT_EQ(table[0]["cv_from"], "");
  EXPECT_EQ(table[0]["within_run_cv_from"], "0.031");
  table = table_of(comparison_csv(testing::impossible_numbers()));
  EXPECT_EQ(table[0]["change"], "");
  EXPECT_EQ(table[0]["ci_high"], "");
  for (const auto& line : table) {
    for (const auto& [head, value] : line) {
      EXPECT_NE(value, "nan") << head;
      EXPECT_NE(value, "inf") << head;
    }
  }
}

TEST(ComparisonCsv, WhateverNamesHold) {
  const compare::GateResult gate = testing::failed_gate();
  const std::string text = comparison_csv(testing::hostile_names(), &gate);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  const auto table = table_of(text);
  EXPECT_EQ(table[0].at("from").substr(0, 12), "a|b,\"c\"?[31m");
  EXPECT_EQ(table.back().at("kind"), "expected");
  EXPECT_EQ(table.back().at("gate_outcome"), "MISSING");
}

TEST(ComparisonCsv, ALineForEverything) {
  EXPECT_EQ(table_of(comparison_csv(testing::big_sweep())).size(), 2002U);
  EXPECT_EQ(records_of(comparison_csv(compare::Comparison{})).size(), 1U);
}

}  // namespace
}  // namespace uringbench::report
