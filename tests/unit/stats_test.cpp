#include "stats/stats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace uringbench::stats {
namespace {

/// 1, 2, …, n in an order that is not sorted: ranks are then values.
std::vector<double> shuffled_ranks(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  std::reverse(values.begin() + static_cast<std::ptrdiff_t>(n / 3), values.end());
  return values;
}

struct Oracle {
  std::size_t n;
  int low95;  ///< 0: there is no interval
  int high95;
  double coverage95;
  int low99;
  int high99;
};

// The ranks of order-statistic intervals, by exact rational arithmetic.
constexpr std::array<Oracle, 26> kOracles{{
    {5, 0, 0, 0, 0, 0},          {6, 1, 6, .968750, 0, 0},     {7, 1, 7, .984375, 0, 0},
    {8, 1, 8, .992188, 1, 8},    {9, 2, 8, .960938, 1, 9},     {10, 2, 9, .978516, 1, 10},
    {11, 2, 10, .988281, 1, 11}, {12, 3, 10, .961426, 2, 11},  {13, 3, 11, .977539, 2, 12},
    {14, 3, 12, .987061, 2, 13}, {15, 4, 12, .964844, 3, 13},  {16, 4, 13, .978729, 3, 14},
    {17, 5, 13, .950958, 3, 15}, {18, 5, 14, .969116, 4, 15},  {19, 5, 15, .980789, 4, 16},
    {20, 6, 15, .958611, 4, 17}, {21, 6, 16, .973396, 5, 17},  {22, 6, 17, .983099, 5, 18},
    {23, 7, 17, .965310, 5, 19}, {24, 7, 18, .977344, 6, 19},  {25, 8, 18, .956715, 6, 20},
    {26, 8, 19, .971041, 7, 20}, {27, 8, 20, .980843, 7, 21},  {28, 9, 20, .964302, 7, 22},
    {29, 9, 21, .975880, 8, 22}, {30, 10, 21, .957226, 8, 23},
}};

TEST(MedianInterval, HasTheRanksAndCoverageOfTheTable) {
  for (const Oracle& oracle : kOracles) {
    SCOPED_TRACE(oracle.n);
    const std::vector<double> values = shuffled_ranks(oracle.n);
    const auto wide = median_interval(values, 0.95);
    ASSERT_EQ(wide.has_value(), oracle.low95 != 0);
    if (wide) {
      EXPECT_EQ(wide->low, oracle.low95);
      EXPECT_EQ(wide->high, oracle.high95);
      EXPECT_NEAR(wide->coverage, oracle.coverage95, 5e-7);
    }
    const auto wider = median_interval(values, 0.99);
    ASSERT_EQ(wider.has_value(), oracle.low99 != 0);
    if (wider) {
      EXPECT_EQ(wider->low, oracle.low99);
      EXPECT_EQ(wider->high, oracle.high99);
    }
  }
}

TEST(MedianInterval, FiveValuesCoverExactlyFifteenSixteenths) {
  const std::vector<double> values = shuffled_ranks(5);
  const auto interval = median_interval(values, 0.9375);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, 1);
  EXPECT_EQ(interval->high, 5);
  EXPECT_EQ(interval->coverage, 0.9375);
  EXPECT_FALSE(median_interval(values, 0.9376));
  EXPECT_FALSE(median_interval({}, 0.95));
}

TEST(MedianInterval, StaysRightForManyValues) {
  // Exact rational arithmetic again; 62 and 63 lie on both sides of a change of method, and 20000
  // is where 2^-n has long ceased to be a number.
  struct {
    std::size_t n;
    double low;
    double coverage;
  } const oracles[] = {{62, 23, 0.9699841356509327},
                       {63, 24, 0.9570434544756108},
                       {100, 40, 0.9647997997822951},
                       {1000, 469, 0.9537088026395019},
                       {20000, 9861, 0.9514875384041096}};
  for (const auto& oracle : oracles) {
    const auto interval = median_interval(shuffled_ranks(oracle.n), 0.95);
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->low, oracle.low) << oracle.n;
    EXPECT_EQ(interval->high, static_cast<double>(oracle.n) + 1 - oracle.low) << oracle.n;
    EXPECT_NEAR(interval->coverage, oracle.coverage, 1e-11) << oracle.n;
  }
}

TEST(Median, IsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median(std::array{7.0}), 7);
  EXPECT_EQ(median(std::array{3.0, 1.0, 2.0}), 2);
  EXPECT_EQ(median(std::array{4.0, 1.0, 3.0, 2.0}), 2.5);
  EXPECT_EQ(median(std::array{1.7e308, 1.7e308}), 1.7e308) << "no overflow on the way";
}

TEST(Summarize, KnowsAllFigures) {
  const std::array values{812.0, 815.0, 809.0, 820.0, 818.0, 814.0};
  const auto summary = summarize(values);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->n, 6U);
  EXPECT_EQ(summary->median, 814.5);
  EXPECT_DOUBLE_EQ(summary->mean, 4888.0 / 6);
  EXPECT_EQ(summary->min, 809);
  EXPECT_EQ(summary->max, 820);
  ASSERT_TRUE(summary->cv);
  // The squared deviations sum up to 238/3, so the sample variance is 238/15.
  EXPECT_NEAR(*summary->cv, std::sqrt(238.0 / 15) / (4888.0 / 6), 1e-15);
  ASSERT_TRUE(summary->interval);
  EXPECT_EQ(summary->interval->low, 809);
  EXPECT_EQ(summary->interval->high, 820);
  EXPECT_EQ(summary->interval->coverage, 0.96875);
}

TEST(Summarize, LeavesOutWhatCannotBeKnown) {
  EXPECT_FALSE(summarize({}));
  const auto one = summarize(std::array{5.0});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->n, 1U);
  EXPECT_EQ(one->median, 5);
  EXPECT_FALSE(one->cv);
  EXPECT_FALSE(one->interval);
  EXPECT_FALSE(summarize(std::array{0.0, 0.0})->cv) << "0 / 0 is not a figure";
  EXPECT_EQ(summarize(std::array{3.0, 3.0})->cv, 0);
}

TEST(Steadiness, NeedsFourValues) {
  EXPECT_FALSE(steadiness(std::array{1.0, 1.0, 1.0}));
  EXPECT_TRUE(steadiness(std::array{1.0, 1.0, 1.0, 1.0}));
}

TEST(Steadiness, MeasuresSlopeOverTheWholeSeries) {
  // A straight line from 90 to 110: it rises by 20 % of its mean, and strays by 10 %.
  const auto rising = steadiness(std::array{90.0, 95.0, 100.0, 105.0, 110.0});
  ASSERT_TRUE(rising);
  EXPECT_NEAR(rising->slope, 0.2, 1e-12);
  EXPECT_NEAR(rising->deviation, 0.1, 1e-12);
  EXPECT_FALSE(rising->steady);
  const auto falling = steadiness(std::array{110.0, 105.0, 100.0, 95.0, 90.0});
  EXPECT_NEAR(falling->slope, -0.2, 1e-12);
  EXPECT_FALSE(falling->steady);
}

TEST(Steadiness, TellsNoiseFromAStep) {
  EXPECT_TRUE(steadiness(std::array{100.0, 101.0, 99.0, 100.0, 100.5, 99.5})->steady);
  const auto spike = steadiness(std::array{100.0, 100.0, 70.0, 130.0, 70.0, 100.0, 100.0});
  ASSERT_TRUE(spike);
  EXPECT_FALSE(spike->steady) << "no slope, but 30 % off";
  EXPECT_GT(spike->deviation, 0.2);
}

TEST(Steadiness, BoundsBelongToSteady) {
  const auto swinging = steadiness(std::array{120.0, 80.0, 80.0, 120.0});
  ASSERT_TRUE(swinging);
  EXPECT_EQ(swinging->slope, 0);
  EXPECT_EQ(swinging->deviation, 0.2);
  EXPECT_TRUE(swinging->steady);
}

TEST(Steadiness, DoesNotDivideByZero) {
  const auto nothing = steadiness(std::array{0.0, 0.0, 0.0, 0.0});
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->steady);
  EXPECT_EQ(nothing->slope, 0);
  EXPECT_FALSE(steadiness(std::array{-1.0, 1.0, -1.0, 1.0})->steady);
}

}  // namespace
}  // namespace uringbench::stats
