// Signed ranks against published values, exact rational arithmetic and every sign pattern.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "rank_enumeration.hpp"
#include "stats/rank_counts.hpp"
#include "stats/stats.hpp"

namespace uringbench::stats {
namespace {

const Values kDepression{.878 - 1.83, .647 - .50,  .598 - 1.62, 2.05 - 2.48, 1.06 - 1.68,
                         1.29 - 1.88, 1.06 - 1.55, 3.14 - 3.06, 1.29 - 1.30};

TEST(SignedRank, GivesThePublishedValues) {
  struct {
    const char* name;
    Values differences;
    std::size_t n;
    double plus, minus, p;
    double less = -1, greater = -1;
  } const cases[] = {
      {"SciPy",
       {6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75},
       15,
       96,
       24,
       169. / 4096,
       -1,
       169. / 8192},
      {"Hollander and Wolfe, R", kDepression, 9, 5, 40, 5. / 128, 5. / 256},
      {"all lower", {-1, -2, -3, -4, -5, -6}, 6, 0, 21, 1. / 32},
      {"least one higher", {1, -2, -3, -4, -5, -6}, 6, 1, 20, 1. / 16},
      {"largest one higher", {-1, -2, -3, -4, -5, 6}, 6, 6, 15, 7. / 16},
      {"five pairs never reach .05", {1, 2, 3, 4, 5}, 5, 15, 0, 1. / 16},
      {"mixed", {3, -1, 4, 2, -5, 6, 7, 8}, 8, 30, 6, 7. / 64},
      {"ties", {2, 2, -2, 3, 4, 4, -1, 5}, 8, 32, 4, 1. / 16},
      {"zeros", {0, 0, 1, 2, -3, 4, 5, 6}, 6, 18, 3, 5. / 32},
      {"ten",
       {-1.91, -1.62, -2.10, -1.75, -.40, .30, -1.88, -2.02, -1.55, -1.70},
       10,
       1,
       54,
       1. / 256},
      {"twelve", {.9, -.4, 1.3, 2.1, .2, -.1, 1.8, .7, 1.1, -.6, 1.6, .5}, 12, 69, 9, 33. / 2048},
  };
  for (const auto& given : cases) {
    SCOPED_TRACE(given.name);
    const SignedRank test = signed_rank(given.differences);
    EXPECT_EQ(test.n, given.n);
    EXPECT_EQ(test.zeros, given.differences.size() - given.n);
    EXPECT_EQ(test.statistic, given.plus);
    EXPECT_EQ(static_cast<double>(given.n * (given.n + 1)) / 2 - test.statistic, given.minus);
    EXPECT_EQ(test.p_two_sided, given.p);  // all are multiples of a power of two
    if (given.less >= 0) {
      EXPECT_EQ(test.p_less, given.less);
    }
    if (given.greater >= 0) {
      EXPECT_EQ(test.p_greater, given.greater);
    }
    EXPECT_TRUE(test.exact);
  }
}

// Another treatment of zeros (Pratt's): they take part in the ranking, then go. It is not ours, but
// it shows that the enumeration below is right.
TEST(SignPatterns, GivePrattsValues) {
  const std::vector<int> ranks = doubled_midranks({0, 0, 1, 2, 3, 4, 5, 6});
  const std::vector<int> kept(ranks.begin() + 2, ranks.end());
  std::vector<int> sums;
  for (unsigned signs = 0; signs < 64; signs++) sums.push_back(sum_of_chosen(kept, signs));
  EXPECT_EQ(sum_of_chosen(kept, 0b111011), 2 * 28);
  const auto as_high = std::count_if(sums.begin(), sums.end(), [](int sum) { return sum >= 56; });
  EXPECT_EQ(2 * static_cast<double>(as_high) / 64, 1. / 8);
}

/// Every way to sign these distances, each against the rank sums of all of them.
void check_all_signs(const Values& distances) {
  Values kept = distances;
  std::erase(kept, 0.0);
  const std::vector<int> ranks = doubled_midranks(kept);
  std::vector<int> sums;
  for (unsigned signs = 0; signs < 1U << kept.size(); signs++) {
    sums.push_back(sum_of_chosen(ranks, signs));
  }
  for (unsigned signs = 0; signs < sums.size(); signs++) {
    Values differences(distances.size() - kept.size(), 0.0);
    for (std::size_t place = 0; place < kept.size(); place++) {
      differences.push_back((signs >> place & 1) != 0 ? kept[place] : -kept[place]);
    }
    const SignedRank test = signed_rank(differences);
    EXPECT_EQ(test.statistic, sums[signs] / 2.0);
    EXPECT_EQ(test.n, kept.size());
    EXPECT_EQ(test.zeros, distances.size() - kept.size());
    expect_tails(test, sums, sums[signs]);
  }
}

TEST(SignedRank, AgreesWithEverySignPatternOfSmallSamples) {
  // Without ties; with pairs; with few values; with a zero and one value that most have.
  const auto makers = {+[](int i) { return i + 1; }, +[](int i) { return i / 2 + 1; },
                       +[](int i) { return i * i % 3 + 1; }, +[](int i) { return i < 2 ? i : 7; }};
  for (const auto& make : makers) {
    for (int n = 1; n <= 9; n++) {
      SCOPED_TRACE(n);
      Values distances;
      for (int place = 0; place < n; place++) distances.push_back(make(place));
      check_all_signs(distances);
    }
  }
}

TEST(SignedRank, SaysNothingAboutZeros) {
  for (const Values& zeros : {Values{}, Values{0, 0, -0.0}}) {
    const SignedRank test = signed_rank(zeros);
    EXPECT_EQ(test.p_two_sided, 1);
    EXPECT_EQ(test.p_less, 1);
    EXPECT_EQ(test.p_greater, 1);
    EXPECT_EQ(test.statistic, 0);
    EXPECT_EQ(test.n, 0U);
    EXPECT_EQ(test.zeros, zeros.size());
  }
}

/// The largest w whose two-sided p is at most alpha; -1: there is none.
int critical_t(std::size_t n, double alpha) {
  int w = -1;
  while (2 * tail_of_w(n, static_cast<std::size_t>(w + 1)) <= alpha) w++;
  return w;
}

// Sequence A226330 of the OEIS. Some tables on the web differ, all to the unsafe side.
TEST(CriticalT, IsThatOfThePublishedTables) {
  constexpr std::array kFivePercent{0, 2, 3, 5, 8, 10, 13, 17, 21, 25, 29, 34, 40, 46, 52};
  constexpr std::array kOnePercent{0, 1, 3, 5, 7, 9, 12, 15, 19, 23, 27, 32, 37};
  for (std::size_t n = 6; n <= 20; n++) EXPECT_EQ(critical_t(n, .05), kFivePercent[n - 6]) << n;
  for (std::size_t n = 8; n <= 20; n++) EXPECT_EQ(critical_t(n, .01), kOnePercent[n - 8]) << n;
  EXPECT_EQ(critical_t(5, .05), -1);
  EXPECT_EQ(critical_t(7, .01), -1);
}

TEST(SignedRank, CountsUpToFiftyAndApproximatesBeyond) {
  const SignedRank last = signed_rank(numbers(50));
  EXPECT_TRUE(last.exact);
  EXPECT_EQ(last.p_two_sided, std::ldexp(1, -49));
  EXPECT_EQ(last.p_less, 1);
  const Values more = numbers(51, -20);  // -19 … 31: a zero, and ties
  const SignedRank counted = signed_rank(more);
  EXPECT_TRUE(counted.exact);  // 50 without the zero
  Values most = more;
  most.push_back(99);
  const SignedRank approximate = signed_rank(most);
  EXPECT_FALSE(approximate.exact);
  EXPECT_EQ(approximate.p_two_sided, signed_rank_normal(most).p_two_sided);
  EXPECT_EQ(approximate.n, 51U);
  // The approximation is a good one where it takes over.
  EXPECT_NEAR(counted.p_two_sided, signed_rank_normal(more).p_two_sided, 1e-3);
  EXPECT_GT(signed_rank(numbers(5000)).p_greater, 0);
}

TEST(CountsOfW, AddUpAndMirrorForEverySize) {
  for (std::size_t n = 1; n <= kMostExactPairs; n++) {
    const std::vector<std::size_t> singles(n, 1);
    const std::size_t most = n * (n + 1) / 2;
    std::uint64_t sum = 0;
    for (std::size_t w = 0; w <= most; w++) {
      sum += count_w(singles, n, 2 * w).exactly;
      EXPECT_EQ(count_w(singles, n, 2 * w).exactly, count_w(singles, n, 2 * (most - w)).exactly);
    }
    EXPECT_EQ(sum, std::uint64_t{1} << n);
  }
}

// Conover's and R's formula with ties: sigma^2 = n(n+1)(2n+1)/24 - sum(t^3 - t)/48.
TEST(SignedRank, ApproximatesWithTiesAndContinuity) {
  const Values tied{2, 2, -2, 3, 4, 4, -1, 5};
  const double deviation = std::sqrt(8. * 9 * 17 / 24 - (24. + 6) / 48);
  const SignedRank test = signed_rank_normal(tied);
  EXPECT_NEAR(test.p_two_sided, 2 * normal_cdf(-(32 - 18 - 0.5) / deviation), 1e-15);
  EXPECT_NEAR(test.p_less, normal_cdf((32 - 18 + 0.5) / deviation), 1e-15);
}

}  // namespace
}  // namespace uringbench::stats
