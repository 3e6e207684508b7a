// What holds for all samples: percentiles against sorted values, ranks against exact integers.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "stats/stats.hpp"

namespace uringbench::stats {
namespace {

rc::Gen<std::uint64_t> any_magnitude() {
  return rc::gen::map(
      rc::gen::pair(rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange(0U, 64U)),
      [](const auto& drawn) { return (drawn.first * 0x9e3779b97f4a7c15U) >> drawn.second; });
}

rc::Gen<std::vector<std::uint64_t>> samples() {
  return rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint64_t>>(any_magnitude()));
}

Histogram histogram_of(const std::vector<std::uint64_t>& values) {
  Histogram histogram;
  for (const std::uint64_t value : values) histogram.record(value);
  return histogram;
}

TEST(HistogramProperty, BucketsHoldTheirValues) {
  ASSERT_TRUE(rc::check([] {
    const std::uint64_t value = *any_magnitude();
    const std::size_t bucket = Histogram::bucket_of(value);
    RC_ASSERT(bucket < Histogram::kBuckets);
    RC_ASSERT(Histogram::lower_bound(bucket) <= value);
    if (bucket + 1 < Histogram::kBuckets) RC_ASSERT(value < Histogram::lower_bound(bucket + 1));
    RC_ASSERT(Histogram::bucket_of(Histogram::lower_bound(bucket)) == bucket);
    // A value is off its bucket's bound by less than 1/64.
    RC_ASSERT(value - Histogram::lower_bound(bucket) <= value / 64);
  }));
}

TEST(HistogramProperty, EveryBucketIsTheInverseOfItsBound) {
  for (std::size_t bucket = 0; bucket < Histogram::kBuckets; bucket++) {
    const std::uint64_t low = Histogram::lower_bound(bucket);
    ASSERT_EQ(Histogram::bucket_of(low), bucket);
    if (bucket == 0) continue;
    ASSERT_EQ(Histogram::bucket_of(low - 1), bucket - 1);
  }
}

TEST(HistogramProperty, PercentilesAreSortedSamplesToBucketWidth) {
  ASSERT_TRUE(rc::check([] {
    auto values = *samples();
    const auto numerator = *rc::gen::inRange(1, 10001);
    const double fraction = numerator / 10000.0;
    const Histogram histogram = histogram_of(values);
    std::sort(values.begin(), values.end());
    // Nearest rank in whole numbers: the ceiling of numerator * n / 10000.
    const std::size_t rank = (static_cast<std::size_t>(numerator) * values.size() + 9999) / 10000;
    const std::uint64_t exact = values[rank - 1];
    const std::uint64_t shown = histogram.percentile(fraction);
    RC_ASSERT(Histogram::bucket_of(shown) == Histogram::bucket_of(exact));
    if (exact < 128) RC_ASSERT(shown == exact);
  }));
}

TEST(HistogramProperty, PercentilesRiseAndStayWithinTheExtremes) {
  ASSERT_TRUE(rc::check([] {
    const auto values = *samples();
    const Histogram histogram = histogram_of(values);
    std::uint64_t before = *std::min_element(values.begin(), values.end());
    for (const double fraction : {0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
      const std::uint64_t now = histogram.percentile(fraction);
      RC_ASSERT(now >= before);
      before = now;
    }
    RC_ASSERT(before <= *std::max_element(values.begin(), values.end()));
  }));
}

TEST(HistogramProperty, FiguresAreThoseOfTheSamples) {
  ASSERT_TRUE(rc::check([] {
    const auto values = *samples();
    const Histogram histogram = histogram_of(values);
    RC_ASSERT(histogram.count() == values.size());
    RC_ASSERT(histogram.min() == *std::min_element(values.begin(), values.end()));
    RC_ASSERT(histogram.max() == *std::max_element(values.begin(), values.end()));
    long double sum = 0;
    for (const std::uint64_t value : values) sum += static_cast<long double>(value);
    const auto mean = static_cast<double>(sum / static_cast<long double>(values.size()));
    RC_ASSERT(std::abs(histogram.mean() - mean) <= mean * 1e-15);
    std::uint64_t counted = 0;
    std::uint64_t before = 0;
    for (const auto& [low, count] : histogram.buckets()) {
      RC_ASSERT(count > 0U);
      RC_ASSERT(counted == 0 || low > before);
      before = low;
      counted += count;
    }
    RC_ASSERT(counted == values.size());
  }));
}

TEST(HistogramProperty, MergingIsRecordingBoth) {
  ASSERT_TRUE(rc::check([] {
    const auto first = *samples();
    const auto second = *samples();
    Histogram merged = histogram_of(first);
    merged.merge(histogram_of(second));
    std::vector<std::uint64_t> all = first;
    all.insert(all.end(), second.begin(), second.end());
    const Histogram together = histogram_of(all);
    RC_ASSERT(merged.buckets() == together.buckets());
    RC_ASSERT(merged.min() == together.min());
    RC_ASSERT(merged.max() == together.max());
    RC_ASSERT(merged.mean() == together.mean());
  }));
}

TEST(HistogramProperty, RecordingInBatchesIsRecordingOneByOne) {
  ASSERT_TRUE(rc::check([] {
    auto values = *samples();
    for (std::uint64_t& value : values) value >>= 32;
    const auto batch_size = *rc::gen::inRange<std::size_t>(1, 40);
    Histogram batched;
    for (std::size_t begin = 0; begin < values.size(); begin += batch_size) {
      Histogram::Batch batch;
      const std::size_t end = std::min(begin + batch_size, values.size());
      for (std::size_t index = begin; index < end; index++) batched.record(values[index], batch);
      batched.add(batch);
    }
    const Histogram single = histogram_of(values);
    RC_ASSERT(batched.buckets() == single.buckets());
    RC_ASSERT(batched.min() == single.min());
    RC_ASSERT(batched.max() == single.max());
    RC_ASSERT(batched.mean() == single.mean());
  }));
}

TEST(HistogramProperty, ScalingKeepsCountsAndMovesPercentiles) {
  ASSERT_TRUE(rc::check([] {
    auto values = *samples();
    for (std::uint64_t& value : values) value >>= 16;
    const double factor = *rc::gen::inRange(1, 4000) / 1000.0;
    const Histogram histogram = histogram_of(values);
    const Histogram scaled = histogram.scaled(factor);
    RC_ASSERT(scaled.count() == values.size());
    RC_ASSERT(scaled.percentile(0.5) >= scaled.min());
    RC_ASSERT(scaled.percentile(0.5) <= scaled.max());
    const double mean = histogram.mean() * factor;
    RC_ASSERT(std::abs(scaled.mean() - mean) <= 1 + mean * 1e-12);
    const double wanted = static_cast<double>(histogram.percentile(0.5)) * factor;
    const auto shown = static_cast<double>(scaled.percentile(0.5));
    RC_ASSERT(std::abs(shown - wanted) <= 1 + wanted / 64);
  }));
}

/// The rank by whole numbers: 2^n (1 - confidence) ≥ 2 Σ C(n, i), with confidence in per mille.
std::size_t exact_rank(std::uint64_t n, std::uint64_t per_mille) {
  __extension__ using Wide = unsigned __int128;
  const Wide total = Wide{1} << n;
  Wide binomial = 1;
  Wide tail = 0;
  std::size_t rank = 0;
  for (std::uint64_t k = 1; 2 * k <= n + 1; k++) {
    tail += binomial;
    if (2 * tail > total || (total - 2 * tail) * 1000 < total * per_mille) break;
    rank = k;
    binomial = binomial * (n - k + 1) / k;
  }
  return rank;
}

TEST(StatsProperty, MedianIntervalHasTheExactRanks) {
  ASSERT_TRUE(rc::check([] {
    const auto n = *rc::gen::inRange<std::uint64_t>(1, 101);
    const auto per_mille = *rc::gen::element<std::uint64_t>(800, 900, 950, 990, 999);
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), 1.0);
    const auto interval = median_interval(values, static_cast<double>(per_mille) / 1000);
    const std::size_t rank = exact_rank(n, per_mille);
    RC_ASSERT(interval.has_value() == (rank > 0));
    if (!interval) return;
    RC_ASSERT(interval->low == static_cast<double>(rank));
    RC_ASSERT(interval->high == static_cast<double>(n + 1 - rank));
    RC_ASSERT(interval->coverage >= static_cast<double>(per_mille) / 1000);
    RC_ASSERT(interval->coverage <= 1.0);
  }));
}

TEST(StatsProperty, SummaryDoesNotDependOnOrderAndIsOrdered) {
  ASSERT_TRUE(rc::check([] {
    auto whole = *rc::gen::nonEmpty(
        rc::gen::container<std::vector<int>>(rc::gen::inRange(-1'000'000, 1'000'000)));
    std::vector<double> values(whole.begin(), whole.end());
    const auto before = summarize(values);
    std::sort(values.rbegin(), values.rend());
    const auto after = summarize(values);
    RC_ASSERT(before.has_value() && after.has_value());
    RC_ASSERT(before->median == after->median);
    RC_ASSERT(before->mean == after->mean);
    RC_ASSERT(before->cv == after->cv);
    RC_ASSERT(before->n == values.size());
    RC_ASSERT(before->min <= before->median && before->median <= before->max);
    RC_ASSERT(before->min <= before->mean && before->mean <= before->max);
    RC_ASSERT(before->interval.has_value() == (values.size() >= 6));
    if (before->interval) {
      RC_ASSERT(before->interval->low <= before->median);
      RC_ASSERT(before->median <= before->interval->high);
    }
  }));
}

TEST(StatsProperty, SteadinessKnowsNoUnit) {
  ASSERT_TRUE(rc::check([] {
    const auto whole =
        *rc::gen::suchThat(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 1000)),
                           [](const auto& drawn) { return drawn.size() >= 4; });
    const std::vector<double> values(whole.begin(), whole.end());
    std::vector<double> scaled = values;
    for (double& value : scaled) value *= 1024;
    const auto one = steadiness(values);
    const auto other = steadiness(scaled);
    RC_ASSERT(one.has_value() && other.has_value());
    RC_ASSERT(one->slope == other->slope);
    RC_ASSERT(one->deviation == other->deviation);
    RC_ASSERT(one->steady == other->steady);
    std::vector<double> reversed(values.rbegin(), values.rend());
    RC_ASSERT(std::abs(steadiness(reversed)->slope + one->slope) <= 1e-9);
  }));
}

}  // namespace
}  // namespace uringbench::stats
