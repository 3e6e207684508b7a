// Shifts and their intervals against published values and against their own tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "stats/rank_counts.hpp"
#include "stats/stats.hpp"

namespace uringbench::stats {
namespace {

using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const Values kSlowerX{2.611, 2.598, 2.605, 2.620, 2.590, 2.601};
const Values kSlowerY{2.556, 2.571, 2.549, 2.560, 2.583, 2.566};

Values logs(Values values) {
  for (double& value : values) value = std::log(value);
  return values;
}

double percent(double shift) { return 100 * std::expm1(shift); }

struct Case {
  const char* name;
  Values x, y;
  double estimate, low, high;
  std::size_t rank;
  double coverage;
};

TEST(ShiftBetween, GivesThePublishedValues) {
  const Case cases[] = {
      {"7, R",
       {.80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46},
       {1.15, .88, .90, .74, 1.21},
       -.305,
       -.76,
       .15,
       9,
       .960040},
      {"8", kSlowerX, kSlowerY, -.0405, -.055, -.024, 6, .958874},
      {"9",
       {1.421, 1.433, 1.418, 1.427, 1.440, 1.425},
       {1.424, 1.430, 1.416, 1.436, 1.419, 1.422},
       -.003,
       -.014,
       .009,
       6,
       .958874},
      {"10",
       {812, 815, 809, 820, 818, 811, 814, 816, 813, 817},
       {806, 819, 804, 808, 810, 801, 807, 805, 803, 802},
       -9,
       -12,
       -5,
       24,
       .956743},
      {"4", {1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, 5, 2, 8, 3, .968254},
  };
  for (const Case& given : cases) {
    SCOPED_TRACE(given.name);
    const Shift shift = shift_between(given.x, given.y, 0.95);
    EXPECT_NEAR(shift.estimate, given.estimate, 1e-12);
    EXPECT_NEAR(shift.low, given.low, 1e-12);
    EXPECT_NEAR(shift.high, given.high, 1e-12);
    EXPECT_EQ(shift.rank, given.rank);
    EXPECT_NEAR(shift.coverage, given.coverage, 5e-7);
  }
}

TEST(ShiftBetween, IsPercentOnLogarithms) {
  const Shift shift = shift_between(logs(kSlowerX), logs(kSlowerY), 0.95);
  EXPECT_NEAR(percent(shift.estimate), -1.5542, 5e-5);
  EXPECT_NEAR(percent(shift.low), -2.1065, 5e-5);
  EXPECT_NEAR(percent(shift.high), -.9266, 5e-5);
  EXPECT_EQ(shift.rank, 6U);
  EXPECT_NEAR(shift.coverage, .958874, 5e-7);
  EXPECT_NEAR(100 * (median(kSlowerY) / median(kSlowerX) - 1), -1.5367, 5e-5);
}

struct Moments {
  double mean = 0, variance_of_mean = 0;
};

Moments moments(const Values& values) {
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, squares / (n - 1) / n};
}

// Two other ways to the same answer, for data that look normal. They are not ours; that they agree
// with ours shows that neither is far off.
TEST(ShiftBetween, AgreesWithFiellerAndWelch) {
  const Moments x = moments(kSlowerX);
  const Moments y = moments(kSlowerY);
  constexpr double kT = 2.5705818;  // of 5 degrees of freedom, 97.5 %
  const double a = x.mean * x.mean - kT * kT * x.variance_of_mean;
  const double b = x.mean * y.mean;
  const double c = y.mean * y.mean - kT * kT * y.variance_of_mean;
  const double root = std::sqrt(b * b - a * c);
  const double fieller_low = (b - root) / a;
  const double fieller_high = (b + root) / a;
  EXPECT_NEAR(y.mean / x.mean, .984640, 5e-7);
  EXPECT_NEAR(fieller_low, .978288, 5e-7);
  EXPECT_NEAR(fieller_high, .991027, 5e-7);
  const double variance = x.variance_of_mean + y.variance_of_mean;
  const double welch_t = (y.mean - x.mean) / std::sqrt(variance);
  const double welch_df =
      variance * variance /
      ((x.variance_of_mean * x.variance_of_mean + y.variance_of_mean * y.variance_of_mean) / 5);
  EXPECT_NEAR(welch_t, -6.158302, 5e-7);
  EXPECT_NEAR(welch_df, 9.818670, 5e-7);

  const Shift shift = shift_between(logs(kSlowerX), logs(kSlowerY), 0.95);
  EXPECT_NEAR(std::exp(shift.estimate), y.mean / x.mean, 5e-4);
  EXPECT_NEAR(std::exp(shift.low), fieller_low, 2e-3);
  EXPECT_NEAR(std::exp(shift.high), fieller_high, 2e-3);
  // Welch's two-sided p at t = -6.16 and 9.8 degrees of freedom is 1.2e-4; ranks cannot say less
  // than 1/462.
  EXPECT_EQ(mann_whitney(kSlowerX, kSlowerY).p_two_sided, least_p_independent(6, 6));
}

TEST(ShiftBetween, SaysSoWhenTheSamplesAreTooSmall) {
  const Shift shift = shift_between(Values{1, 2, 3}, Values{4, 5, 6}, 0.95);
  EXPECT_EQ(shift.estimate, 3);
  EXPECT_EQ(shift.low, -kInfinity);
  EXPECT_EQ(shift.high, kInfinity);
  EXPECT_EQ(shift.rank, 0U);
  EXPECT_EQ(shift.coverage, 1);
  // 3 against 3 reach exactly 90 %, although 1 - 0.9 is a little less than 0.1.
  const Shift narrower = shift_between(Values{1, 2, 3}, Values{4, 5, 6}, 0.9);
  EXPECT_EQ(narrower.rank, 1U);
  EXPECT_EQ(narrower.low, 1);
  EXPECT_EQ(narrower.high, 5);
  EXPECT_NEAR(narrower.coverage, 0.9, 1e-15);
  EXPECT_EQ(shift_between(Values{2}, Values{5}, 0.95).estimate, 3);
}

TEST(ShiftBetween, TakesTheLargestRankThatCovers) {
  for (std::size_t n = 2; n <= 40; n += 3) {
    for (std::size_t m = 2; m <= 40; m += 4) {
      Values x(n);
      Values y(m);
      std::iota(x.begin(), x.end(), 0.0);
      std::iota(y.begin(), y.end(), 0.25);
      for (const double confidence : {0.5, 0.8, 0.95, 0.99}) {
        const Shift shift = shift_between(x, y, confidence);
        EXPECT_GE(shift.coverage, confidence - 1e-12);
        EXPECT_LT(1 - 2 * tail_of_u(n, m, shift.rank), confidence);
        EXPECT_LE(shift.low, shift.estimate);
        EXPECT_LE(shift.estimate, shift.high);
      }
    }
  }
}

TEST(ShiftBetween, GoesOnBeyondExactCounts) {
  // c by the normal approximation: mu - 1.96 sigma, with continuity, rounded down.
  Values x(40);
  Values y(50);
  std::iota(x.begin(), x.end(), 0.0);
  std::iota(y.begin(), y.end(), 0.5);
  const double mean = 40 * 50 / 2.0;
  const double deviation = std::sqrt(40 * 50 / 12.0 * 91);
  const Shift shift = shift_between(x, y, 0.95);
  EXPECT_EQ(static_cast<double>(shift.rank),
            std::floor(mean - normal_quantile(.975) * deviation + .5));
  // Next to the last exact size it makes no difference worth mention.
  EXPECT_NEAR(tail_of_u(31, 30, 330), tail_of_u(30, 30, 320), 0.004);
}

const Values kDepressionX{1.83, .50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
const Values kDepressionY{.878, .647, .598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};

Values differences(const Values& x, const Values& y) {
  Values result(x.size());
  std::transform(y.begin(), y.end(), x.begin(), result.begin(), std::minus<>());
  return result;
}

TEST(ShiftOfPairs, GivesThePublishedValues) {
  struct {
    const char* name;
    Values differences;
    double estimate, low, high;
    double coverage = -1;
  } const cases[] = {
      {"SciPy", {6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75}, 25, 4, 41.5, .952087},
      {"Hollander and Wolfe, R", differences(kDepressionX, kDepressionY), -.46, -.786, -.010,
       .960938},
      {"all lower", {-1, -2, -3, -4, -5, -6}, -3.5, -6, -1, .96875},
      {"least one higher", {1, -2, -3, -4, -5, -6}, -3.5, -6, 1},
      {"largest one higher", {-1, -2, -3, -4, -5, 6}, -2.5, -5, 6},
      {"five pairs never reach .05", {1, 2, 3, 4, 5}, 3, -kInfinity, kInfinity, 1},
      {"mixed", {3, -1, 4, 2, -5, 6, 7, 8}, 3.25, -1, 7},
      {"ties", {2, 2, -2, 3, 4, 4, -1, 5}, 2.25, 0, 4},
      {"zeros count here", {0, 0, 1, 2, -3, 4, 5, 6}, 2, -1, 5},
      {"ten",
       {-1.91, -1.62, -2.10, -1.75, -.40, .30, -1.88, -2.02, -1.55, -1.70},
       -1.715,
       -1.91,
       -.805,
       .951172},
      {"twelve", {.9, -.4, 1.3, 2.1, .2, -.1, 1.8, .7, 1.1, -.6, 1.6, .5}, .75, .15, 1.35, .957520},
  };
  for (const auto& given : cases) {
    SCOPED_TRACE(given.name);
    const Shift shift = shift_of_pairs(given.differences, 0.95);
    EXPECT_NEAR(shift.estimate, given.estimate, 1e-12);
    if (std::isinf(given.low)) {
      EXPECT_EQ(shift.low, given.low);
      EXPECT_EQ(shift.high, given.high);
      EXPECT_EQ(shift.rank, 0U);
    } else {
      EXPECT_NEAR(shift.low, given.low, 1e-12);
      EXPECT_NEAR(shift.high, given.high, 1e-12);
    }
    if (given.coverage >= 0) {
      EXPECT_NEAR(shift.coverage, given.coverage, 5e-7);
    }
  }
}

TEST(ShiftOfPairs, TakesTheLargestRankThatCovers) {
  for (std::size_t n = 1; n <= 60; n++) {
    Values values(n);
    std::iota(values.begin(), values.end(), -5.25);
    for (const double confidence : {0.5, 0.8, 0.95, 0.99}) {
      const Shift shift = shift_of_pairs(values, confidence);
      EXPECT_GE(shift.coverage, confidence - 1e-12);
      EXPECT_LT(1 - 2 * tail_of_w(n, shift.rank), confidence);
      EXPECT_EQ(shift.rank == 0, least_p_paired(n) > 1 - confidence);
    }
  }
}

/// Numbers in (0, 1) that are the same everywhere.
class Dice {
 public:
  double uniform() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (static_cast<double>(state_ >> 11) + 0.5) / 9007199254740992.0;
  }
  Values normal(std::size_t n, double mean = 0) {
    Values values(n);
    for (double& value : values) value = mean + normal_quantile(uniform());
    return values;
  }

 private:
  std::uint64_t state_ = 20240229;
};

// Median half-width of the 95 % interval in units of the spread of a run: what n runs a side can
// tell apart. The table was simulated as well, so both sides of the comparison scatter.
TEST(ShiftBetween, NarrowsWithTheNumberOfRunsAsSimulated) {
  struct {
    std::size_t n;
    double half_width;
  } const table[] = {{5, 1.6}, {6, 1.36}, {8, 1.06}, {10, .97}, {15, .78}, {20, .65}};
  Dice dice;
  for (const auto& row : table) {
    Values halves;
    for (int session = 0; session < 2000; session++) {
      const Shift shift = shift_between(dice.normal(row.n), dice.normal(row.n), 0.95);
      halves.push_back((shift.high - shift.low) / 2);
    }
    EXPECT_NEAR(median(halves), row.half_width, 0.06) << row.n;
  }
}

// How often a true difference is found at p <= .05; the table was simulated as well.
TEST(MannWhitney, HasThePowerThatWasSimulated) {
  struct {
    double effect;
    std::size_t n;
    double power;
  } const table[] = {{1, 10, .52}, {1, 20, .86}, {1.5, 8, .77}, {1.5, 10, .86}, {2, 6, .81},
                     {2, 8, .96},  {3, 4, .82},  {3, 5, .95},   {0, 10, .043},  {0, 20, .049}};
  Dice dice;
  constexpr int kSessions = 2000;
  for (const auto& row : table) {
    int found = 0;
    for (int session = 0; session < kSessions; session++) {
      const RankTest test = mann_whitney(dice.normal(row.n), dice.normal(row.n, row.effect));
      found += test.p_two_sided <= .05 ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(found) / kSessions, row.power, 0.035)
        << row.effect << " with " << row.n;
  }
}

}  // namespace
}  // namespace uringbench::stats
