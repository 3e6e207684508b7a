// Diagnoses inside one run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "stats/stats.hpp"

namespace uringbench::stats {
namespace {

using Values = std::vector<double>;

TEST(SerialCorrelation, GivesTheReferenceValues) {
  const Values wave{100, 101, 103, 102, 101, 99, 98, 99, 101, 102, 104, 103};
  const auto correlation = serial_correlation(wave);
  ASSERT_TRUE(correlation);
  EXPECT_NEAR(correlation->r1, .6228367193, 5e-11);
  EXPECT_NEAR(correlation->von_neumann, .6230248307, 5e-11);
  EXPECT_NEAR(correlation->n_effective, 2.789, 5e-4);
}

/// 30 values: one step in the middle, with so much to and fro that r1 is as wanted.
Values step_with_r1(double wanted) {
  double low = 0;  // r1 = .9
  double high = 10;
  Values values(30);
  for (int round = 0; round < 60; round++) {
    const double flutter = (low + high) / 2;
    for (std::size_t i = 0; i < 30; i++) {
      values[i] = (i < 15 ? -1 : 1) + flutter * (i % 2 == 0 ? -1 : 1);
    }
    (serial_correlation(values)->r1 > wanted ? low : high) = flutter;
  }
  return values;
}

TEST(SerialCorrelation, SaysHowMuchASeriesIsWorth) {
  struct {
    double r1, n_effective;
  } const table[] = {{.5, 10}, {.8, 3.3}, {.9, 1.6}};
  for (const auto& row : table) {
    const auto correlation = serial_correlation(step_with_r1(row.r1));
    EXPECT_NEAR(correlation->r1, row.r1, 1e-9);
    EXPECT_NEAR(correlation->n_effective, row.n_effective, .05);
  }
  // One step among n values: r1 is (n - 3) / n, and the only step of 2 counts 4.
  Values halves(30, 1.0);
  std::fill(halves.begin() + 15, halves.end(), -1.0);
  EXPECT_NEAR(serial_correlation(halves)->r1, 27. / 30, 1e-14);
  EXPECT_NEAR(serial_correlation(halves)->n_effective, 90. / 57, 1e-12);
  EXPECT_NEAR(serial_correlation(halves)->von_neumann, 4. / 30, 1e-14);
}

TEST(SerialCorrelation, StaysWithinTheNumberOfValues) {
  Values saw;
  for (int i = 0; i < 20; i++) saw.push_back(i % 2);
  const auto alternating = serial_correlation(saw);
  ASSERT_TRUE(alternating);
  EXPECT_NEAR(alternating->r1, -.95, 1e-12);
  EXPECT_EQ(alternating->n_effective, 20);
  Values steps(1000, 1.0);
  std::fill(steps.begin() + 500, steps.end(), 2.0);
  EXPECT_NEAR(serial_correlation(steps)->n_effective, 1000 * 3 / 1997., 1e-9);
  EXPECT_EQ(serial_correlation(Values{1, 1, 2})->n_effective, 3);
  Values rising(4);
  for (std::size_t i = 0; i < 4; i++) rising[i] = static_cast<double>(i);
  EXPECT_NEAR(serial_correlation(rising)->r1, .25, 1e-15);
}

TEST(SerialCorrelation, HasNothingToSayOfEqualOrFewValues) {
  EXPECT_FALSE(serial_correlation({}));
  EXPECT_FALSE(serial_correlation(Values{1, 2}));
  EXPECT_FALSE(serial_correlation(Values(3, 0.1)));  // their mean is not 0.1
  EXPECT_TRUE(serial_correlation(Values{1, 2, 3}));
}

TEST(BatchMeans, AreOfEqualParts) {
  Values values;
  for (int i = 0; i < 103; i++) values.push_back(i % 2 == 0 ? 10 : 20);
  const auto batches = batch_means(values, 10);
  ASSERT_TRUE(batches);
  EXPECT_EQ(batches->means, Values(10, 15.0));  // the last 3 are left out
  EXPECT_TRUE(batches->accepted);
  const auto single = batch_means(Values{3, 1, 2}, 3);
  ASSERT_TRUE(single);
  EXPECT_EQ(single->means, (Values{3, 1, 2}));
}

TEST(BatchMeans, AreRefusedWhenTheyStillCorrelate) {
  Values drifting;
  for (int i = 0; i < 200; i++) drifting.push_back(1000 + i);
  const auto drift = batch_means(drifting, 10);
  ASSERT_TRUE(drift);
  EXPECT_FALSE(drift->accepted);  // r1 = .7 against a limit of .632
  EXPECT_NEAR(serial_correlation(drift->means)->r1, .7, 1e-12);
  // With 8 batches the drift passes: r1 = .625 against .707.
  EXPECT_TRUE(batch_means(drifting, 8)->accepted);
  // To and fro is no independence either: r1 = -.9.
  EXPECT_FALSE(batch_means(Values{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, 10)->accepted);
  Values scattered;
  for (int i = 0; i < 200; i++) scattered.push_back(1000 + i * i * 37 % 101);
  EXPECT_TRUE(batch_means(scattered, 10)->accepted);
}

TEST(BatchMeans, NeedEnoughValues) {
  EXPECT_FALSE(batch_means(Values(9, 1.0), 10));
  EXPECT_FALSE(batch_means(Values(100, 1.0), 2));
  EXPECT_FALSE(batch_means({}, 0));
}

TEST(DeviationsFromMedian, AreInUnitsOfTheirMedian) {
  const Values expected{20, 0, -1, 1, 0};
  const Values deviations = deviations_from_median(Values{.5, .30, .29, .31, .30});
  ASSERT_EQ(deviations.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); i++) EXPECT_NEAR(deviations[i], expected[i], 1e-12);
  EXPECT_GT(std::abs(deviations[0]), kOutlierDeviations);
  EXPECT_LT(std::abs(deviations[3]), kOutlierDeviations);
}

TEST(DeviationsFromMedian, AreInfiniteWhereMostAreEqual) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(deviations_from_median(Values{7, 7, 7, 8, 6}),
            (Values{0, 0, 0, kInfinity, -kInfinity}));
  EXPECT_EQ(deviations_from_median(Values{7, 7}), (Values{0, 0}));
  EXPECT_EQ(deviations_from_median(Values{7}), Values{0});
  EXPECT_TRUE(deviations_from_median({}).empty());
}

}  // namespace
}  // namespace uringbench::stats
