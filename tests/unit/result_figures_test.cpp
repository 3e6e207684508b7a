#include <gtest/gtest.h>

#include "result/result.hpp"
#include "sample_document.hpp"

namespace uringbench::result {
namespace {

using testing::sample_cell;
using testing::sample_run;

const SummaryFigure* figure_of(const Cell& cell, const std::string& name) {
  for (const auto& [key, figure] : cell.summary) {
    if (key == name) return &figure;
  }
  return nullptr;
}

Cell cell_with(const std::vector<std::uint64_t>& iops) {
  Cell cell = sample_cell();
  for (const std::uint64_t value : iops) {
    cell.runs.push_back(sample_run(static_cast<std::uint32_t>(cell.runs.size()), value));
  }
  return cell;
}

TEST(LatencyOf, NothingWithoutSamples) { EXPECT_FALSE(latency_of(stats::Histogram{})); }

TEST(LatencyOf, ExactWhereBucketsAreOneWide) {
  stats::Histogram histogram;
  for (std::uint64_t i = 1; i <= 50; ++i) histogram.record(i);
  const auto latency = latency_of(histogram);
  ASSERT_TRUE(latency);
  EXPECT_EQ(latency->count, 50U);
  EXPECT_EQ(latency->min, 1U);
  EXPECT_EQ(latency->max, 50U);
  EXPECT_DOUBLE_EQ(latency->mean, 25.5);
  const std::vector<std::pair<std::string, std::uint64_t>> expected{
      {"p1", 1},     {"p5", 3},      {"p10", 5},    {"p25", 13}, {"p50", 25},
      {"p75", 38},   {"p90", 45},    {"p95", 48},   {"p99", 50}, {"p99.5", 50},
      {"p99.9", 50}, {"p99.95", 50}, {"p99.99", 50}};
  EXPECT_EQ(latency->percentiles, expected);
  ASSERT_EQ(latency->buckets.size(), 50U);
  EXPECT_EQ(latency->buckets.front(), (std::pair<std::uint64_t, std::uint64_t>{1, 1}));
}

TEST(LatencyOf, BucketsAddUpToTheCount) {
  const result::Run run = sample_run(0, 1000);
  std::uint64_t sum = 0;
  for (const auto& [lower_bound, count] : run.latency->buckets) sum += count;
  EXPECT_EQ(sum, run.latency->count);
  EXPECT_EQ(sum, 1000U);
}

TEST(Summarize, NamesAndOrder) {
  Cell cell = cell_with({100, 200});
  summarize(cell);
  std::vector<std::string> names;
  for (const auto& [name, figure] : cell.summary) names.push_back(name);
  const std::vector<std::string> expected{
      "iops",           "bytes_per_second", "cpu_per_io_ns",   "latency_mean_ns",
      "latency_p50_ns", "latency_p99_ns",   "latency_p99.9_ns"};
  EXPECT_EQ(names, expected);
}

TEST(Summarize, SixRunsHaveAnInterval) {
  Cell cell = cell_with({104, 101, 103, 102, 106, 105});
  summarize(cell);
  const SummaryFigure* iops = figure_of(cell, "iops");
  ASSERT_NE(iops, nullptr);
  EXPECT_EQ(iops->n, 6U);
  EXPECT_DOUBLE_EQ(iops->median, 103.5);
  EXPECT_DOUBLE_EQ(iops->mean, 103.5);
  EXPECT_DOUBLE_EQ(iops->min, 101);
  EXPECT_DOUBLE_EQ(iops->max, 106);
  ASSERT_TRUE(iops->cv);
  EXPECT_NEAR(*iops->cv, 0.018076, 1e-6);  // sqrt(3.5) / 103.5
  ASSERT_TRUE(iops->ci95);
  EXPECT_DOUBLE_EQ(iops->ci95->low, 101);
  EXPECT_DOUBLE_EQ(iops->ci95->high, 106);
  EXPECT_DOUBLE_EQ(iops->ci95->coverage, 0.96875);
}

TEST(Summarize, FiveRunsHaveNoInterval) {
  Cell cell = cell_with({104, 101, 103, 102, 106});
  summarize(cell);
  EXPECT_FALSE(figure_of(cell, "iops")->ci95);
  EXPECT_DOUBLE_EQ(figure_of(cell, "iops")->median, 103);
}

TEST(Summarize, OneRunHasNoSpread) {
  Cell cell = cell_with({104});
  summarize(cell);
  EXPECT_EQ(figure_of(cell, "iops")->n, 1U);
  EXPECT_FALSE(figure_of(cell, "iops")->cv);
}

TEST(Summarize, InterruptedAndStalledRunsDoNotCount) {
  Cell cell = cell_with({100, 1, 2});
  cell.runs[1].interrupted = true;
  cell.runs[2].stalled = true;
  summarize(cell);
  EXPECT_EQ(figure_of(cell, "iops")->n, 1U);
  EXPECT_DOUBLE_EQ(figure_of(cell, "iops")->min, 100);
}

TEST(Summarize, RunsWithErrorsDoCount) {
  Cell cell = cell_with({100, 50});
  cell.runs[1].errors.count = 7;
  summarize(cell);
  EXPECT_EQ(figure_of(cell, "iops")->n, 2U);
}

TEST(Summarize, EmptyWhenNoRunCounts) {
  Cell cell = cell_with({100});
  summarize(cell);
  ASSERT_FALSE(cell.summary.empty());
  cell.runs[0].interrupted = true;
  summarize(cell);
  EXPECT_TRUE(cell.summary.empty());
}

TEST(Summarize, EachFigureOverTheRunsThatHaveIt) {
  Cell cell = cell_with({100, 200, 300});
  cell.runs[0].latency.reset();
  cell.runs[1].bytes_per_second.reset();
  cell.runs[2].bytes_per_second.reset();
  for (result::Run& run : cell.runs) run.cpu.per_io_ns.reset();
  summarize(cell);
  EXPECT_EQ(figure_of(cell, "iops")->n, 3U);
  EXPECT_EQ(figure_of(cell, "latency_p50_ns")->n, 2U);
  EXPECT_EQ(figure_of(cell, "bytes_per_second")->n, 1U);
  EXPECT_DOUBLE_EQ(figure_of(cell, "bytes_per_second")->median, 409600);
  EXPECT_EQ(figure_of(cell, "cpu_per_io_ns"), nullptr);
}

}  // namespace
}  // namespace uringbench::result
