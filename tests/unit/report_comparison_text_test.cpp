// A comparison as text: what stands where, how wide it gets, and who may write into it.
#include <gtest/gtest.h>

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

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<compare::Comparison> all_samples() {
  return {testing::task_work_series(),   testing::paired_blocks(), testing::single_runs(),
          testing::broken_pair(),        testing::long_names(),    testing::hostile_names(),
          testing::impossible_numbers(), testing::big_sweep(50),   compare::Comparison{}};
}

TEST(ComparisonText, TaskWorkSeries) {
  expect_golden("comparison/series-100.txt", comparison_text(testing::task_work_series(), {100}));
  expect_golden("comparison/series-80.txt", comparison_text(testing::task_work_series(), {80}));
}

TEST(ComparisonText, PairedBlocks) {
  expect_golden("comparison/pairs-100.txt", comparison_text(testing::paired_blocks(), {100}));
  expect_golden("comparison/pairs-80-explained.txt",
                comparison_text(testing::paired_blocks(), {80, false, true}));
}

TEST(ComparisonText, SingleRuns) {
  expect_golden("comparison/single-runs.txt",
                comparison_text(testing::single_runs(), {80, false, true}));
}

TEST(ComparisonText, MissingAndNotComparable) {
  const compare::GateResult gate = testing::failed_gate();
  expect_golden("comparison/broken-pair.txt",
                comparison_text(testing::broken_pair(), {80, false, true}));
  expect_golden("comparison/broken-pair-gate.txt",
                comparison_text(testing::broken_pair(), {80}, &gate));
}

TEST(ComparisonText, GateThatPasses) {
  const compare::GateResult gate = testing::passed_gate();
  expect_golden("comparison/passed-gate.txt", comparison_text(testing::two_labels(), {100}, &gate));
}

TEST(ComparisonText, NamesThatLeaveNoRoom) {
  expect_golden("comparison/long-names.txt", comparison_text(testing::long_names(), {80}));
}

TEST(ComparisonText, NamesThatMeanNoGood) {
  expect_golden("comparison/hostile-names.txt", comparison_text(testing::hostile_names(), {80}));
}

TEST(ComparisonText, NumbersThatCannotBe) {
  const std::string text = comparison_text(testing::impossible_numbers(), {80});
  expect_golden("comparison/impossible-numbers.txt", text);
  EXPECT_FALSE(has(text, "nan"));
}

TEST(ComparisonText, NothingIsWiderThanThePage) {
  const compare::GateResult gate = testing::failed_gate();
  for (const compare::Comparison& sample : all_samples()) {
    for (const std::size_t page : {80U, 90U, 100U}) {
      for (const auto* decided : {static_cast<const compare::GateResult*>(nullptr), &gate}) {
        for (const std::string& line :
             lines_of(comparison_text(sample, {page, false, true}, decided))) {
          EXPECT_LE(columns(line), page) << line;
          EXPECT_TRUE(line.empty() || line.back() != ' ') << '"' << line << '"';
          EXPECT_EQ(printable(line), line);
        }
      }
    }
  }
}

TEST(ComparisonText, PagesOutsideOfItsRangeAreTheNearest) {
  const auto sample = testing::task_work_series();
  EXPECT_EQ(comparison_text(sample, {20}), comparison_text(sample, {80}));
  EXPECT_EQ(comparison_text(sample, {500}), comparison_text(sample, {100}));
}

TEST(ComparisonText, ColourOnlyRepeatsWhatWordsSay) {
  for (const compare::Comparison& sample : all_samples()) {
    std::string colored = comparison_text(sample, {80, true});
    for (const char* code : {"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"}) {
      for (std::size_t at; (at = colored.find(code)) != std::string::npos;) {
        colored.erase(at, std::string_view(code).size());
      }
    }
    EXPECT_EQ(colored, comparison_text(sample, {80, false}));
  }
  const std::string text = comparison_text(testing::broken_pair(), {80, true});
  EXPECT_TRUE(has(text, "\x1b[31mREGRESSED\x1b[0m")) << text;
  EXPECT_TRUE(
      has(comparison_text(testing::task_work_series(), {80, true}), "\x1b[32mIMPROVED\x1b[0m\n"));
}

TEST(ComparisonText, TheLastLineCounts) {
  EXPECT_EQ(lines_of(comparison_text(testing::paired_blocks(), {80})).back(),
            "verdict: 3 improved, 1 changed <1%, 2 unknown, 0 regressed, 0 missing");
}

TEST(ComparisonText, AChangeNeverLooksLikeTheLeastEffectThatItIsNot) {
  compare::Comparison sample = testing::single_runs();
  sample.cells.resize(1);
  compare::Contrast& one = sample.cells[0].metrics[0].contrasts[0];
  const auto shown = [&](double change, double low, double high) {
    one = testing::contrast(0, 1, change, low, high, compare::Verdict::same);
    return comparison_text(sample, {80});
  };
  EXPECT_TRUE(has(shown(0.0096, -0.02, 0.03), "+0.96% [-2.00,+3.00]"));
  EXPECT_TRUE(has(shown(-0.002, -0.00996, 0.003), "-0.200% [-0.996,+0.300]"));
  EXPECT_TRUE(has(shown(0.01, -0.02, 0.03), "+1.0% [-2.0,+3.0]"));
  // On which side of zero an interval ends is told by its sign.
  EXPECT_TRUE(has(shown(0.02, 0.0002, 0.03), "[+0.0,+3.0]"));
  EXPECT_TRUE(has(shown(0.02, -0.0002, 0.03), "[-0.0,+3.0]"));
}

TEST(ComparisonText, UnitsFitTheFigures) {
  compare::Comparison sample = testing::single_runs();
  sample.metrics[1].gated = true;
  const auto shown = [&](double base, double other) {
    sample.cells[0].metrics[1].figures = {testing::figure(base, 0.01, 6),
                                          testing::figure(other, 0.01, 6)};
    sample.cells[1].metrics[1].figures = sample.cells[0].metrics[1].figures;
    return comparison_text(sample, {80});
  };
  EXPECT_TRUE(has(shown(512, 498), "QD1    512.0 1.0%  498.0"));
  EXPECT_TRUE(has(shown(1512, 998), "QD1    1.512 1.0%  0.998"));
  EXPECT_TRUE(has(shown(12e6, 15.25e6), "QD1    12.00 1.0%  15.25"));
  EXPECT_TRUE(has(shown(3e9, 2e9), "QD1    3.000 1.0%  2.000"));
  sample.metrics[1].unit = compare::Unit::fraction;
  EXPECT_TRUE(has(shown(0.935, 0.9), "QD1    93.50 1.0%  90.00"));
  sample.metrics[1].unit = compare::Unit::bytes_per_second;
  EXPECT_TRUE(has(shown(0x1p30, 0x1p29), "QD1    1.000 1.0%  0.500"));
}

TEST(ComparisonText, FarApartRowsHaveUnitsOfTheirOwn) {
  compare::Comparison sample = testing::single_runs();
  sample.cells[0].metrics[0].figures = {testing::figure(1234, 0.01, 6),
                                        testing::figure(1200, 0.01, 6)};
  sample.cells[1].metrics[0].figures = {testing::figure(1.5e6, 0.01, 6),
                                        testing::figure(1.4e6, 0.01, 6)};
  const std::string text = comparison_text(sample, {80});
  EXPECT_TRUE(has(text, "QD1    1.234 KIOPS 1.0%  1.200")) << text;
  EXPECT_TRUE(has(text, "QD128  1.500 MIOPS 1.0%  1.400")) << text;
}

TEST(ComparisonText, AThousandCellsAllHaveTheirRow) {
  const std::string text = comparison_text(testing::big_sweep(), {100});
  const std::vector<std::string> lines = lines_of(text);
  std::size_t rows = 0;
  for (const std::string& line : lines) rows += line.starts_with("QD") ? 1 : 0;
  EXPECT_EQ(rows, 1000U);
  EXPECT_LT(lines.size(), 1060U);
  EXPECT_TRUE(has(text, "UNKNOWN  333 rows: QD3/patch1-10, QD6/patch1-11, QD9/patch1-10,"))
      << text.substr(text.size() - 3000);
  EXPECT_TRUE(has(text, "about 12 to 18 runs a side (now 6): --repeats 18"));
}

TEST(ComparisonText, AdvisoryMetricsFitOnAScreen) {
  compare::Comparison sample = testing::task_work_series();
  const compare::CellRow cell = sample.cells[2];
  for (int i = 0; i < 40; ++i) {
    sample.cells.push_back(cell);
    sample.cells.back().name = "QD" + std::to_string(100 + i);
    sample.cells.back().metrics[1].contrasts[1].verdict = compare::Verdict::same;
  }
  sample.cells.back().metrics[1].contrasts[0].verdict = compare::Verdict::regressed;
  const std::string text = comparison_text(sample, {100});
  const std::size_t advisory = text.find("Advisory");
  ASSERT_NE(advisory, std::string::npos);
  // The regression comes first, though its cell is the last.
  EXPECT_LT(text.find("CPU per I/O QD139", advisory), text.find("CPU per I/O QD1 ", advisory));
  EXPECT_TRUE(has(text, "and 31 more: --metrics NAME or --format csv shows all"));
  sample.options.metrics = {"cpu"};
  const std::string asked = comparison_text(sample, {100});
  EXPECT_FALSE(has(asked, "Advisory:"));
  EXPECT_TRUE(has(asked, "CPU per I/O (lower is better), advisory: decides nothing\n"));
}

TEST(ComparisonText, TheSameReasonIsSaidOnce) {
  compare::Comparison sample = testing::big_sweep(9);
  for (compare::CellRow& cell : sample.cells) {
    for (compare::Contrast& contrast : cell.metrics[0].contrasts) {
      contrast = testing::no_contrast(contrast.from, contrast.to, compare::Verdict::not_comparable,
                                      "block size 512 vs 4096");
    }
  }
  EXPECT_TRUE(has(comparison_text(sample, {100}),
                  "NOT-COMPARABLE  18 rows: QD1/patch1-10, QD1/patch1-11, QD2/patch1-10, "));
  EXPECT_TRUE(has(comparison_text(sample, {100}), "and 13 more: block size 512 vs 4096\n"));
}

TEST(ComparisonText, AdviceIsNotGivenTwice) {
  compare::Comparison sample = testing::paired_blocks();
  compare::Contrast& contrast = sample.cells[2].metrics[0].contrasts[0];
  contrast.reason = "runs vary by 1.9 %; about 24 blocks would answer";
  EXPECT_TRUE(
      has(comparison_text(sample, {100}),
          "QD32/patch1-10: runs vary by 1.9 %; about 24 blocks would answer; --pairs 24\n"));
}

TEST(ComparisonText, NobodyIsSentToMakeThousandsOfRuns) {
  compare::Comparison sample = testing::paired_blocks();
  sample.cells[2].metrics[0].contrasts[0].runs_needed = 2774;
  const std::string text = comparison_text(sample, {100});
  EXPECT_TRUE(has(text, "rather make them quieter"));
  EXPECT_FALSE(has(text, "--pairs 2774"));
}

TEST(ComparisonText, GeomeansOverDifferentCellsSayItEach) {
  compare::Comparison sample = testing::task_work_series();
  sample.geomeans[1].cells = 2;
  EXPECT_TRUE(has(comparison_text(sample, {100}), "\ngeomean (3 of 3 cells; 2 of 3 cells) "));
  sample.geomeans.clear();
  EXPECT_FALSE(has(comparison_text(sample, {100}), "geomean"));
}

TEST(ComparisonText, WithoutCellsNothingLooksLikeAnAnswer) {
  compare::Comparison sample = testing::task_work_series();
  sample.cells.clear();
  const std::string text = comparison_text(sample, {80});
  EXPECT_TRUE(has(text, "Nothing to compare: there is no cell."));
  EXPECT_FALSE(has(text, "Legend"));
}

}  // namespace
}  // namespace uringbench::report
