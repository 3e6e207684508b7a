#include <gtest/gtest.h>

#include <random>

#include "compare_support.hpp"

namespace uringbench::compare {
namespace {

Verdict verdict_of(const std::vector<double>& base, const std::vector<double>& next,
                   const Options& options = {}) {
  return only_contrast(compare(two(base, next), options)).verdict;
}

TEST(CompareVerdict, ByDirectionAndSize) {
  EXPECT_EQ(verdict_of(around(100e3, 6), around(50e3, 6)), Verdict::regressed);
  EXPECT_EQ(verdict_of(around(100e3, 6), around(150e3, 6)), Verdict::improved);
  EXPECT_EQ(verdict_of(around(100e3, 10, 0.001), around(100.5e3, 10, 0.001)), Verdict::small);
  EXPECT_EQ(verdict_of(around(100e3, 10, 0.002), around(100e3, 10, 0.002)), Verdict::same);
  EXPECT_EQ(verdict_of(around(100e3, 6, 0.10), around(99e3, 6, 0.10)), Verdict::unknown);
}

TEST(CompareVerdict, LowerIsBetterForTimes) {
  Options options;
  options.gate_metrics = {"cpu"};
  // Fewer IOPS at one CPU: more time for each.
  EXPECT_EQ(verdict_of(around(100e3, 6), around(50e3, 6), options), Verdict::regressed);
  EXPECT_EQ(verdict_of(around(100e3, 6), around(150e3, 6), options), Verdict::improved);
}

TEST(CompareVerdict, OneRunShowsAChangeAndProvesNothing) {
  const auto comparison = compare(two({100e3}, {50e3}), {});
  const Contrast& contrast = only_contrast(comparison);
  EXPECT_EQ(contrast.verdict, Verdict::insufficient);
  EXPECT_DOUBLE_EQ(contrast.estimate->change, -0.5);
  EXPECT_FALSE(contrast.estimate->low);
  EXPECT_EQ(*contrast.runs_needed, 4U);
  EXPECT_EQ(comparison.family, 0U);
  EXPECT_EQ(comparison.cells_compared, 1U);
}

TEST(CompareVerdict, InsideOneRunThereIsOnlyADiagnosis) {
  auto sides = two({100}, {100});
  for (int i = 0; i < 12; ++i) {
    // The series of the oracle, whose neighbours are alike.
    const double rate = std::vector<double>{
        100, 101, 103, 102, 101, 99, 98, 99, 101, 102, 104, 103}[static_cast<unsigned>(i)];
    sides[0].sources[0].document.cells[0].runs[0].intervals.push_back({1'000'000'000, 1, rate});
  }
  const auto comparison = compare(sides, {});
  const auto& figures = comparison.cells[0].metrics[0].figures;
  EXPECT_NEAR(*figures[0].within_run_r1, 0.6228367193, 1e-9);
  EXPECT_GT(*figures[0].within_run_cv, 0.01);
  EXPECT_FALSE(figures[1].within_run_cv);
  EXPECT_EQ(only_contrast(comparison).verdict, Verdict::insufficient);
}

TEST(CompareVerdict, ThreeRunsAreTooFewAndFourAreNot) {
  EXPECT_EQ(verdict_of(around(100, 3), around(50, 3)), Verdict::insufficient);
  EXPECT_EQ(verdict_of(around(100, 4), around(50, 4)), Verdict::regressed);
}

TEST(CompareVerdict, OneRunMoreMakesNoDifference) {
  for (const std::size_t n : {30U, 31U, 300U}) {
    std::vector<result::Cell> base, next;
    for (int depth = 1; depth <= 14; ++depth) {
      base.push_back(cell_of(depth, around(100, 3)));
      next.push_back(cell_of(depth, around(95, n)));
    }
    const auto comparison =
        compare({side_of("a", document_of(base)), side_of("b", document_of(next))}, {});
    EXPECT_EQ(comparison.count(Verdict::regressed), 14U) << n;
  }
}

TEST(CompareVerdict, ALargeFamilyNeedsMoreRuns) {
  std::vector<result::Cell> base, next;
  for (int depth = 1; depth <= 24; ++depth) {
    base.push_back(cell_of(depth, around(100, 6)));
    next.push_back(cell_of(depth, around(50, 6)));
  }
  const auto comparison =
      compare({side_of("a", document_of(base)), side_of("b", document_of(next))}, {});
  EXPECT_EQ(comparison.family, 24U);
  EXPECT_EQ(comparison.count(Verdict::insufficient), 24U);
  EXPECT_EQ(*only_contrast(comparison).runs_needed, 7U);
  EXPECT_NE(only_contrast(comparison).reason.find("among 24 tests"), std::string::npos);
}

TEST(CompareVerdict, NumbersAreThoseOfTheTest) {
  const std::vector<double> base{2.611, 2.598, 2.605, 2.620, 2.590, 2.601};
  const std::vector<double> next{2.556, 2.571, 2.549, 2.560, 2.583, 2.566};
  const auto comparison = compare(two(base, next), {});
  const Estimate& estimate = *only_contrast(comparison).estimate;
  EXPECT_NEAR(estimate.p, 1.0 / 462, 1e-12);
  EXPECT_NEAR(*estimate.p_holm, 1.0 / 462, 1e-12);
  EXPECT_NEAR(estimate.change, -0.015542, 5e-7);
  EXPECT_NEAR(*estimate.low, -0.021065, 5e-7);
  EXPECT_NEAR(*estimate.high, -0.009266, 5e-7);
  EXPECT_NEAR(estimate.coverage, 0.958874, 5e-7);
  EXPECT_FALSE(estimate.paired);
  EXPECT_EQ(estimate.n_from, 6U);
}

TEST(CompareVerdict, ScaleDoesNotMatter) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<double> base, next;
    for (int i = 0; i < 8; ++i) {
      base.push_back(100 + static_cast<double>(random() % 1000) / 100);
      next.push_back(101 + static_cast<double>(random() % 1000) / 100);
    }
    auto larger = [](std::vector<double> values) {
      for (double& value : values) value *= 1000;
      return values;
    };
    const Contrast small = only_contrast(compare(two(base, next), {}));
    const Contrast large = only_contrast(compare(two(larger(base), larger(next)), {}));
    EXPECT_EQ(small.verdict, large.verdict);
    EXPECT_NEAR(small.estimate->change, large.estimate->change, 1e-12);
    EXPECT_DOUBLE_EQ(small.estimate->p, large.estimate->p);
  }
}

TEST(CompareVerdict, BadRunsDoNotCountAndAreTold) {
  auto sides = two(around(100e3, 6), around(100e3, 10));
  auto& runs = sides[1].sources[0].document.cells[0].runs;
  runs[0].errors.count = 13;
  runs[0].errors.by_errno["EIO"] = 13;
  runs[0].iops = 1;
  runs[1].stalled = true;
  runs[1].iops = 1;
  runs[2].interrupted = true;
  runs[2].iops = 1;
  runs[3].iops = 0;
  const auto comparison = compare(sides, {});
  const CellSide& side = comparison.cells[0].sides[1];
  EXPECT_EQ(side.runs, 10U);
  EXPECT_EQ(side.counted, 6U);
  const std::string told = testing::PrintToString(side.left_out);
  for (const char* word : {"EIO 13", "stalled", "interrupted", "without a single good I/O"}) {
    EXPECT_NE(told.find(word), std::string::npos) << told;
  }
  EXPECT_EQ(only_contrast(comparison).verdict, Verdict::same);
}

TEST(CompareVerdict, NothingThatCountsIsMissing) {
  auto sides = two(around(100e3, 6), around(100e3, 6));
  for (auto& run : sides[1].sources[0].document.cells[0].runs) run.iops = 0;
  const auto comparison = compare(sides, {});
  EXPECT_EQ(only_contrast(comparison).verdict, Verdict::missing);
  EXPECT_EQ(comparison.cells_compared, 0U);
}

TEST(CompareVerdict, AnAbsentMetricIsMissingAndNotZero) {
  Options options;
  options.gate_metrics = {"iops", "p99"};
  auto sides = two(around(100e3, 6), around(100e3, 6));
  for (auto& run : sides[0].sources[0].document.cells[0].runs) {
    run.latency.emplace();
    run.latency->count = 100'000;
    run.latency->percentiles = {{"p99", 900 + run.index}};
  }
  const auto comparison = compare(sides, options);
  const Contrast& p99 = comparison.cells[0].metrics[1].contrasts[0];
  EXPECT_EQ(p99.verdict, Verdict::missing);
  EXPECT_FALSE(p99.estimate);
  EXPECT_EQ(p99.reason, "new has no latency p99");
}

TEST(CompareVerdict, ThinTailsAreUnknown) {
  for (const auto& [count, expected] : std::vector<std::pair<std::uint64_t, Verdict>>{
           {99'999, Verdict::unknown}, {100'000, Verdict::regressed}}) {
    Options options;
    options.gate_metrics = {"p99.9"};
    auto sides = two(around(100e3, 6), around(100e3, 6));
    for (int side = 0; side < 2; ++side) {
      for (auto& run : sides[static_cast<std::size_t>(side)].sources[0].document.cells[0].runs) {
        run.latency.emplace();
        run.latency->count = count;
        run.latency->percentiles = {{"p99.9", 1000 * static_cast<unsigned>(side + 1) + run.index}};
      }
    }
    EXPECT_EQ(only_contrast(compare(sides, options)).verdict, expected) << count;
  }
}

TEST(CompareVerdict, TestAndIntervalMustAgree) {
  // With ties and few runs p can be low enough while the interval still holds zero.
  std::size_t disagreements = 0;
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> base, next;
    for (int i = 0; i < 5; ++i) {
      base.push_back(10 + static_cast<double>(random() % 4));
      next.push_back(11 + static_cast<double>(random() % 4));
    }
    const Contrast contrast = only_contrast(compare(two(base, next), {}));
    const Estimate& estimate = *contrast.estimate;
    const bool excludes_zero = *estimate.low > 0 || *estimate.high < 0;
    const bool shown = contrast.verdict == Verdict::improved ||
                       contrast.verdict == Verdict::regressed || contrast.verdict == Verdict::small;
    EXPECT_EQ(shown, estimate.p <= 0.05 && excludes_zero);
    disagreements += (estimate.p <= 0.05) != excludes_zero;
  }
  EXPECT_GT(disagreements, 0U) << "else this tests nothing";
}

TEST(CompareVerdict, OneOutlierChangesNothingAndIsShown) {
  auto next = around(100e3, 10, 0.002);
  next[4] *= 0.6;
  const auto comparison = compare(two(around(100e3, 10, 0.002), next), {});
  EXPECT_EQ(only_contrast(comparison).verdict, Verdict::same);
  EXPECT_EQ(comparison.cells[0].metrics[0].figures[1].outliers, 1U);
  EXPECT_EQ(comparison.cells[0].metrics[0].figures[1].n, 10U);
  EXPECT_EQ(comparison.cells[0].sides[1].doubts, std::vector<std::string>{"1 outlier (IOPS)"});
}

TEST(CompareVerdict, AdvisoryMetricsAreInNoFamily) {
  const auto comparison = compare(two(around(100e3, 6), around(50e3, 6)), {});
  ASSERT_EQ(comparison.metrics.size(), 2U);
  EXPECT_EQ(comparison.metrics[1].name, "cpu");
  EXPECT_FALSE(comparison.metrics[1].gated);
  EXPECT_EQ(comparison.family, 1U);
  const Contrast& cpu = comparison.cells[0].metrics[1].contrasts[0];
  EXPECT_EQ(cpu.verdict, Verdict::regressed);
  EXPECT_FALSE(cpu.estimate->p_holm);
  EXPECT_EQ(comparison.count(Verdict::regressed), 1U) << "of the gated ones";
}

TEST(CompareVerdict, UnknownSaysHowManyRunsWouldAnswer) {
  const auto comparison = compare(two(around(100e3, 6, 0.03), around(99.5e3, 6, 0.03)), {});
  const Contrast& contrast = only_contrast(comparison);
  ASSERT_EQ(contrast.verdict, Verdict::unknown);
  ASSERT_TRUE(contrast.runs_needed);
  EXPECT_GT(*contrast.runs_needed, 6U);
  EXPECT_NE(contrast.reason.find("runs a side would answer"), std::string::npos) << contrast.reason;
}

TEST(CompareVerdict, ANoisyUnknownAsksForQuietRunsInstead) {
  const auto comparison = compare(two(around(100e3, 6, 0.6), around(99e3, 6, 0.6)), {});
  const Contrast& contrast = only_contrast(comparison);
  ASSERT_EQ(contrast.verdict, Verdict::unknown);
  EXPECT_FALSE(contrast.runs_needed);
  EXPECT_NE(contrast.reason.find("make them quieter"), std::string::npos) << contrast.reason;
}

TEST(CompareVerdict, LeastEffectsPerCell) {
  Options options;
  options.min_effects = parse_limits("--min-effect", "iops=5%");
  const auto tenth = parse_limits("--min-effect", "qd=128:iops=60%");
  EXPECT_EQ(verdict_of(around(100e3, 6), around(90e3, 6), options), Verdict::regressed);
  options.min_effects.insert(options.min_effects.end(), tenth.begin(), tenth.end());
  EXPECT_EQ(verdict_of(around(100e3, 6), around(90e3, 6), options), Verdict::small);
  EXPECT_EQ(verdict_word(Verdict::small, 0.6), "<60%");
  EXPECT_EQ(verdict_word(Verdict::small, 0.015), "<1.5%");
}

// --- pairs ---

std::vector<Side> arms_of(const std::vector<double>& a, const std::vector<double>& b,
                          std::size_t blocks_of_b = 0) {
  result::Document document = document_of({cell_of(4, a), cell_of(4, b, "sqpoll=1")});
  document.session.verb = "ab";
  document.session.plan_id = "plan";
  document.cells[0].arm = "A";
  document.cells[1].arm = "B";
  for (auto& cell : document.cells) {
    for (auto& run : cell.runs) run.block = run.index + 1;
  }
  if (blocks_of_b > 0) document.cells[1].runs.resize(blocks_of_b);
  return split_arms({"ab.json", document});
}

TEST(ComparePairs, ArmsOfOnePlanArePairedByBlock) {
  // Drift far larger than the change: in pairs it cancels.
  std::vector<double> a, b;
  for (int i = 0; i < 10; ++i) {
    a.push_back(100e3 * (1 + 0.02 * i));
    b.push_back(a.back() * (0.97 + 0.0001 * i));
  }
  const auto comparison = compare(arms_of(a, b), {});
  EXPECT_TRUE(comparison.paired);
  const Contrast& contrast = only_contrast(comparison);
  EXPECT_TRUE(contrast.estimate->paired);
  EXPECT_EQ(contrast.verdict, Verdict::regressed);
  EXPECT_NEAR(contrast.estimate->p, 1.0 / 512, 1e-12);
  EXPECT_NEAR(contrast.estimate->change, -0.03, 0.001);
  EXPECT_EQ(comparison.options.varies, std::vector<std::string>{"sqpoll"});
  EXPECT_EQ(only_contrast(compare(two(a, b), {})).verdict, Verdict::unknown);
}

TEST(ComparePairs, AFailedRunTakesItsPartnerAlong) {
  auto sides = arms_of(around(100e3, 10), around(98e3, 10));
  sides[1].sources[0].document.cells[0].runs[3].stalled = true;
  const auto comparison = compare(sides, {});
  EXPECT_EQ(only_contrast(comparison).estimate->n_from, 9U);
  EXPECT_TRUE(only_contrast(comparison).estimate->paired);
}

TEST(ComparePairs, EqualPairsAreTold) {
  auto b = around(100e3, 10);
  b[0] *= 1.01;
  const auto comparison = compare(arms_of(around(100e3, 10), b), {});
  EXPECT_EQ(only_contrast(comparison).estimate->zeros, 9U);
  EXPECT_TRUE(std::any_of(comparison.notes.begin(), comparison.notes.end(),
                          [](const Note& note) { return note.code == "equal-pairs"; }));
}

TEST(ComparePairs, FivePairsCanShowNothing) {
  EXPECT_EQ(only_contrast(compare(arms_of(around(100, 5), around(50, 5)), {})).verdict,
            Verdict::insufficient);
  EXPECT_EQ(only_contrast(compare(arms_of(around(100, 6), around(50, 6)), {})).verdict,
            Verdict::regressed);
}

TEST(ComparePairs, DocumentsOfRunAreNeverPaired) {
  auto sides = two(around(100e3, 8), around(98e3, 8));
  EXPECT_FALSE(compare(sides, {}).paired) << "their indices mean nothing";
}

TEST(ComparePairs, DocumentsOfOnePlanAre) {
  auto sides = two(around(100e3, 8), around(98e3, 8));
  for (auto& side : sides) {
    side.sources[0].document.session.plan_id = "plan";
    for (auto& run : side.sources[0].document.cells[0].runs) run.block = run.index;
  }
  EXPECT_TRUE(compare(sides, {}).paired);
  sides[1].sources[0].document.session.plan_id = "another";
  EXPECT_FALSE(compare(sides, {}).paired);
}

}  // namespace
}  // namespace uringbench::compare
