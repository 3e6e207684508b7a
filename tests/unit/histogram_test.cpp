#include "stats/histogram.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace uringbench::stats {
namespace {

using Buckets = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

static_assert(Histogram::bucket_of(UINT64_MAX) == Histogram::kBuckets - 1);
static_assert(Histogram::bucket_of(0) == 0);

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.min(), UINT64_MAX);
  EXPECT_EQ(histogram.max(), 0U);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_EQ(histogram.percentile(0.5), 0U);
  EXPECT_TRUE(histogram.buckets().empty());
  const Histogram scaled = histogram.scaled(0.4);
  EXPECT_EQ(scaled.min(), UINT64_MAX);
  EXPECT_EQ(scaled.count(), 0U);
}

TEST(Histogram, SplitsEveryPowerOfTwoInto64) {
  EXPECT_EQ(Histogram::bucket_of(63), 63U);
  EXPECT_EQ(Histogram::bucket_of(64), 64U);
  EXPECT_EQ(Histogram::bucket_of(127), 127U);
  EXPECT_EQ(Histogram::bucket_of(128), 128U);
  EXPECT_EQ(Histogram::bucket_of(129), 128U);
  EXPECT_EQ(Histogram::bucket_of(130), 129U);
  EXPECT_EQ(Histogram::lower_bound(128), 128U);
  EXPECT_EQ(Histogram::lower_bound(129), 130U);
  EXPECT_EQ(Histogram::lower_bound(Histogram::kBuckets - 1), UINT64_C(127) << 57);
}

TEST(Histogram, SmallValuesHaveExactPercentiles) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 10; value++) histogram.record(value);
  EXPECT_EQ(histogram.percentile(0.01), 1U);
  EXPECT_EQ(histogram.percentile(0.1), 1U);
  EXPECT_EQ(histogram.percentile(0.11), 2U);
  EXPECT_EQ(histogram.percentile(0.5), 5U);
  EXPECT_EQ(histogram.percentile(0.51), 6U);
  EXPECT_EQ(histogram.percentile(0.9), 9U);
  EXPECT_EQ(histogram.percentile(1.0), 10U);
  EXPECT_EQ(histogram.mean(), 5.5);
}

TEST(Histogram, RankIsNotPushedUpByBinaryFractions) {
  // 0.999 * 1000 and 0.07 * 100 are a little more than whole numbers in binary.
  Histogram thousand;
  for (int count = 0; count < 999; count++) thousand.record(1);
  thousand.record(50);
  EXPECT_EQ(thousand.percentile(0.999), 1U);
  EXPECT_EQ(thousand.percentile(0.9991), 50U);
  Histogram hundred;
  for (int count = 0; count < 7; count++) hundred.record(1);
  for (int count = 0; count < 93; count++) hundred.record(2);
  EXPECT_EQ(hundred.percentile(0.07), 1U);
  EXPECT_EQ(hundred.percentile(0.08), 2U);
}

TEST(Histogram, ExtremesAndMeanAreExact) {
  Histogram histogram;
  histogram.record(1'000'003);
  EXPECT_EQ(histogram.percentile(0.5), 1'000'003U) << "the middle of the bucket is cut off";
  histogram.record(5'000'011);
  EXPECT_EQ(histogram.min(), 1'000'003U);
  EXPECT_EQ(histogram.max(), 5'000'011U);
  EXPECT_EQ(histogram.mean(), 3'000'007);
  EXPECT_EQ(histogram.percentile(1.0), 5'000'011U);
}

TEST(Histogram, SumDoesNotOverflow) {
  Histogram histogram;
  for (int count = 0; count < 4; count++) histogram.record(UINT64_MAX);
  EXPECT_EQ(histogram.mean(), static_cast<double>(UINT64_MAX));
  EXPECT_EQ(histogram.percentile(0.5), UINT64_MAX);
  EXPECT_EQ(histogram.buckets(), (Buckets{{UINT64_C(127) << 57, 4}}));
}

TEST(Histogram, MergesAndClears) {
  Histogram first;
  Histogram second;
  first.record(10);
  first.record(200);
  second.record(5);
  second.record(10);
  first.merge(second);
  EXPECT_EQ(first.buckets(), (Buckets{{5, 1}, {10, 2}, {200, 1}}));
  EXPECT_EQ(first.min(), 5U);
  EXPECT_EQ(first.max(), 200U);
  EXPECT_EQ(first.mean(), 225.0 / 4);
  first.merge(Histogram{});
  EXPECT_EQ(first.min(), 5U) << "an empty one changes nothing";
  EXPECT_EQ(first.count(), 4U);
  first.clear();
  EXPECT_EQ(first.count(), 0U);
  EXPECT_EQ(first.min(), UINT64_MAX);
  EXPECT_EQ(first.mean(), 0);
}

TEST(Histogram, ScalesTicksToNanoseconds) {
  Histogram ticks;
  for (std::uint64_t value : {26U, 52U, 2600U}) ticks.record(value);
  const Histogram nanoseconds = ticks.scaled(1 / 2.6);
  EXPECT_EQ(nanoseconds.count(), 3U);
  EXPECT_EQ(nanoseconds.min(), 10U);
  EXPECT_EQ(nanoseconds.max(), 1000U);
  EXPECT_DOUBLE_EQ(nanoseconds.mean(), 1030.0 / 3) << "the sum is scaled, not the buckets";
  EXPECT_EQ(nanoseconds.percentile(0.5), 20U);
  EXPECT_EQ(nanoseconds.percentile(1.0), 1000U);
}

TEST(Histogram, ScalingByOneKeepsEverything) {
  Histogram histogram;
  for (std::uint64_t value = 1; value < UINT64_C(1) << 60; value = value * 3 + 1) {
    histogram.record(value);
  }
  const Histogram same = histogram.scaled(1.0);
  EXPECT_EQ(same.buckets(), histogram.buckets());
  EXPECT_EQ(same.min(), histogram.min());
  EXPECT_EQ(same.max(), histogram.max());
  EXPECT_EQ(same.mean(), histogram.mean());
}

}  // namespace
}  // namespace uringbench::stats
