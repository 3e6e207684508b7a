// Bootstrap: the closed form for medians, bias-corrected intervals over all resamples, seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "stats/stats.hpp"

namespace uringbench::stats {
namespace {

using Values = std::vector<double>;

void expect_beginning(const Values& actual, const Values& expected) {
  ASSERT_GE(actual.size(), expected.size());
  for (std::size_t place = 0; place < expected.size(); place++) {
    // As many digits as the table gives.
    EXPECT_NEAR(actual[place], expected[place], 5.1e-6) << place;
  }
}

TEST(BootstrapMedian, HasTheClosedForm) {
  expect_beginning(bootstrap_median_distribution(5), {.05792, .31744, .68256, .94208, 1});
  expect_beginning(bootstrap_median_distribution(7), {.01015, .108274, .3469, .6531});
  expect_beginning(bootstrap_median_distribution(9), {.001449, .030373, .144846});
  EXPECT_EQ(bootstrap_median_distribution(1), Values{1});
  for (const std::size_t n : {3U, 31U, 1001U}) {
    const Values distribution = bootstrap_median_distribution(n);
    ASSERT_EQ(distribution.size(), n);
    EXPECT_TRUE(std::is_sorted(distribution.begin(), distribution.end()));
    EXPECT_EQ(distribution.back(), 1);
    for (std::size_t k = 1; k < n; k++) {
      EXPECT_NEAR(distribution[k - 1] + distribution[n - k - 1], 1, 1e-12);
    }
  }
}

// All 3125 resamples of 5 values, counted.
TEST(BootstrapMedian, IsWhatAllResamplesGive) {
  Values counts(5, 0.0);
  for (int code = 0; code < 3125; code++) {
    std::vector<int> drawn;
    for (int rest = code, place = 0; place < 5; place++, rest /= 5) drawn.push_back(rest % 5);
    std::sort(drawn.begin(), drawn.end());
    for (std::size_t k = static_cast<std::size_t>(drawn[2]); k < 5; k++) counts[k]++;
  }
  const Values distribution = bootstrap_median_distribution(5);
  for (std::size_t k = 0; k < 5; k++) EXPECT_NEAR(distribution[k], counts[k] / 3125, 1e-15);
}

/// 1 - 2 P(Bin(n, 1/2) <= k-1).
double coverage_of_rank(std::size_t n, std::size_t k) {
  double term = std::ldexp(1, -static_cast<int>(n));
  double tail = 0;
  for (std::size_t j = 0; j < k; j++) {
    tail += term;
    term *= static_cast<double>(n - j) / static_cast<double>(j + 1);
  }
  return 1 - 2 * tail;
}

// Why it is a second opinion only: with few values its "95 %" is less than that.
TEST(BootstrapMedian, CoversTooLittleWhenValuesAreFew) {
  struct {
    std::size_t n, low, high;
    double coverage;
  } const table[] = {{5, 1, 5, .9375}, {7, 2, 6, .875}, {9, 2, 8, .961}, {11, 3, 9, .935}};
  for (const auto& row : table) {
    SCOPED_TRACE(row.n);
    const Values distribution = bootstrap_median_distribution(row.n);
    const auto rank = [&](double probability) {
      const auto found = std::lower_bound(distribution.begin(), distribution.end(), probability);
      return static_cast<std::size_t>(found - distribution.begin()) + 1;
    };
    EXPECT_EQ(rank(.025), row.low);
    EXPECT_EQ(rank(.975), row.high);
    EXPECT_NEAR(coverage_of_rank(row.n, row.low), row.coverage, 5e-4);
  }
}

TEST(PercentileInterval, TakesTheSmallestThatReachesTheShare) {
  Values replicates(2000);
  std::iota(replicates.rbegin(), replicates.rend(), 1.0);
  const BootstrapInterval interval = percentile_interval(replicates, 0.95);
  EXPECT_EQ(interval.low, 50);  // 0.025 * 2000, although it is a little more in binary
  EXPECT_EQ(interval.high, 1950);
  const BootstrapInterval odd = percentile_interval(Values{3, 1, 2}, 0.5);
  EXPECT_EQ(odd.low, 1);
  EXPECT_EQ(odd.high, 3);
  EXPECT_EQ(percentile_interval(Values{4}, 0.95).high, 4);
}

/// Mean of thousandths, in integers: equal means are equal numbers.
double mean_of_thousandths(int sum, int count) { return sum / (1000.0 * count); }

struct AllResamples {
  Values means, jackknife;
  double estimate = 0;
};

AllResamples all_resamples() {
  constexpr int kThousandths[] = {2556, 2571, 2549, 2560, 2583};
  AllResamples all;
  const int total = std::accumulate(std::begin(kThousandths), std::end(kThousandths), 0);
  all.estimate = mean_of_thousandths(total, 5);
  for (const int left_out : kThousandths) {
    all.jackknife.push_back(mean_of_thousandths(total - left_out, 4));
  }
  for (int code = 0; code < 3125; code++) {
    int sum = 0;
    for (int rest = code, place = 0; place < 5; place++, rest /= 5) sum += kThousandths[rest % 5];
    all.means.push_back(mean_of_thousandths(sum, 5));
  }
  return all;
}

TEST(BcaInterval, GivesTheReferenceValuesOverAllResamples) {
  const AllResamples all = all_resamples();
  EXPECT_NEAR(all.estimate, 2.5638, 1e-12);
  const BootstrapInterval plain = percentile_interval(all.means, 0.95);
  EXPECT_NEAR(plain.low, 2.5540, 1e-12);
  EXPECT_NEAR(plain.high, 2.5752, 1e-12);
  const BootstrapInterval corrected = bca_interval(all.estimate, all.means, all.jackknife, 0.95);
  EXPECT_NEAR(corrected.low, 2.5548, 1e-12);
  EXPECT_NEAR(corrected.high, 2.5760, 1e-12);
}

// The steps in between, from their definitions.
TEST(BcaInterval, HasTheReferenceBiasAndAcceleration) {
  const AllResamples all = all_resamples();
  const auto below = std::count_if(all.means.begin(), all.means.end(),
                                   [&](double mean) { return mean < all.estimate; });
  const auto equal = std::count(all.means.begin(), all.means.end(), all.estimate);
  const double share = (static_cast<double>(below) + static_cast<double>(equal) / 2) / 3125;
  const double bias = normal_quantile(share);
  EXPECT_NEAR(bias, .0284791465, 5e-11);
  double squares = 0;
  double cubes = 0;
  for (const double value : all.jackknife) {
    squares += std::pow(all.estimate - value, 2);  // the mean of the jackknife is the mean
    cubes += std::pow(all.estimate - value, 3);
  }
  const double skew = cubes / (6 * std::pow(squares, 1.5));
  EXPECT_NEAR(skew, .0320929996, 5e-11);
  const auto share_at = [&](double z) {
    return normal_cdf(bias + (bias + z) / (1 - skew * (bias + z)));
  };
  EXPECT_NEAR(share_at(normal_quantile(.025)), .0367055, 5e-8);
  EXPECT_NEAR(share_at(normal_quantile(.975)), .9843196, 5e-8);
}

TEST(BcaInterval, SurvivesWhatHasNoSkewOrNoSpread) {
  const Values replicates{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  // Nothing to correct: estimate in the middle, jackknife without spread.
  const BootstrapInterval plain = percentile_interval(replicates, 0.8);
  const BootstrapInterval same = bca_interval(5.5, replicates, Values(4, 1.0), 0.8);
  EXPECT_EQ(same.low, plain.low);
  EXPECT_EQ(same.high, plain.high);
  // An estimate outside of all replicates pulls the interval to their end, and no further.
  EXPECT_EQ(bca_interval(99, replicates, Values{1, 2, 3}, 0.95).high, 10);
  EXPECT_EQ(bca_interval(-99, replicates, Values{1, 2, 3}, 0.95).low, 1);
  const BootstrapInterval point = bca_interval(2, Values(50, 2.0), Values(5, 2.0), 0.95);
  EXPECT_EQ(point.low, 2);
  EXPECT_EQ(point.high, 2);
  // So skewed that the correction has its pole inside: one in a hundred far away.
  Values skewed(100, 0.0);
  skewed[0] = -1e6;
  const BootstrapInterval wild = bca_interval(9.9, replicates, skewed, 0.9999999);
  EXPECT_LE(wild.low, wild.high);
  EXPECT_EQ(wild.high, 10);
}

Values runs(std::size_t n, double offset) {
  Values values;
  for (std::size_t i = 0; i < n; i++) {
    values.push_back(offset + static_cast<double>(i * 37 % 101) / 1000);
  }
  return values;
}

// These numbers were calculated by another program from the standard's definition of the engine
// (64-bit Mersenne twister) and the upper half of the product, over the values in order: they hold
// on every machine.
TEST(BootstrapShift, IsTheSameOnEveryMachine) {
  const Values x = runs(15, 0);
  const Values y = runs(16, 1);
  const BootstrapInterval between = bootstrap_shift_between(x, y, 0.95, 42, 400);
  EXPECT_NEAR(between.low, 0.9645, 1e-12);
  EXPECT_NEAR(between.high, 1.0355, 1e-12);
  const BootstrapInterval paired = bootstrap_shift_of_pairs(x, 0.95, 42, 400);
  EXPECT_NEAR(paired.low, 0.013, 1e-12);
  EXPECT_NEAR(paired.high, 0.074, 1e-12);
}

TEST(BootstrapShift, DependsOnTheSeedAndNotOnTheOrder) {
  Values x = runs(41, 0);
  Values y = runs(43, 1);
  const auto ends = [&](std::uint64_t seed) {
    const BootstrapInterval interval = bootstrap_shift_between(x, y, 0.9, seed, 100);
    return std::pair(interval.low, interval.high);
  };
  const auto first = ends(1);
  std::reverse(x.begin(), x.end());
  std::rotate(y.begin(), y.begin() + 17, y.end());
  EXPECT_EQ(ends(1), first);
  bool differs = false;
  for (std::uint64_t seed = 2; seed < 12; seed++) differs = differs || ends(seed) != first;
  EXPECT_TRUE(differs);
}

TEST(BootstrapShift, SurroundsTheDifferenceOfMedians) {
  for (const std::size_t n : {1U, 2U, 15U, 40U}) {
    const Values x = runs(n, 0);
    const Values y = runs(n + 1, 1);
    const BootstrapInterval between = bootstrap_shift_between(x, y, 0.95, 3);
    EXPECT_LE(between.low, median(y) - median(x));
    EXPECT_GE(between.high, median(y) - median(x));
    const BootstrapInterval paired = bootstrap_shift_of_pairs(x, 0.95, 3);
    EXPECT_LE(paired.low, median(x));
    EXPECT_GE(paired.high, median(x));
  }
}

// Among many replicates the interval's ends are where the closed form puts them.
TEST(BootstrapShift, FollowsTheClosedForm) {
  Values ranks(21);
  std::iota(ranks.begin(), ranks.end(), 1.0);
  const Values distribution = bootstrap_median_distribution(21);
  const BootstrapInterval interval = bootstrap_shift_of_pairs(ranks, 0.95, 5, 20000);
  const auto place = [&](double p) {
    const auto found = std::lower_bound(distribution.begin(), distribution.end(), p);
    return static_cast<double>(found - distribution.begin()) + 1;
  };
  EXPECT_EQ(interval.low, place(.025));
  EXPECT_EQ(interval.high, place(.975));
}

}  // namespace
}  // namespace uringbench::stats
