// Mann-Whitney against published values, exact rational arithmetic and every arrangement there is.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "rank_enumeration.hpp"
#include "stats/rank_counts.hpp"
#include "stats/stats.hpp"

namespace uringbench::stats {
namespace {

const Values kScipyX{210.052110, 110.190630, 307.918612};
const Values kScipyY{436.08811482466416, 416.37397329768191, 179.96975939463582, 197.8118754228619,
                     34.038757281225756, 138.54220550921517, 128.7769351470246,  265.92721427951852,
                     275.6617533155341,  592.34083395416258, 448.73177590617018, 300.61495185038905,
                     187.97508449019588};

struct Case {
  std::string name;
  Values x, y;
  double u, p;
  double less = -1, greater = -1;  ///< -1: not given
};

const std::vector<Case> kCases{
    {"1", {1, 2, 3}, {4, 5, 6}, 0, 1. / 10},
    {"2, Go", {2, 1, 3, 5}, {12, 11, 13, 15}, 0, 1. / 35},
    {"3, Go", {2, 1, 3, 5}, {0, 4, 6, 7}, 5, 17. / 35},
    {"4", {1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, 0, 1. / 126},
    {"5, SciPy", {19, 22, 16, 29, 24}, {20, 11, 17, 12}, 17, 1. / 9},
    {"6, SciPy and R", kScipyX, kScipyY, 16, 197. / 280, .3517857142857143, .6946428571428571},
    {"7, R",
     {.80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46},
     {1.15, .88, .90, .74, 1.21},
     35,
     764. / 3003,
     -1,
     382. / 3003},
    {"8",
     {2.611, 2.598, 2.605, 2.620, 2.590, 2.601},
     {2.556, 2.571, 2.549, 2.560, 2.583, 2.566},
     36,
     1. / 462},
    {"9",
     {1.421, 1.433, 1.418, 1.427, 1.440, 1.425},
     {1.424, 1.430, 1.416, 1.436, 1.419, 1.422},
     22,
     136. / 231},
    {"10",
     {812, 815, 809, 820, 818, 811, 814, 816, 813, 817},
     {806, 819, 804, 808, 810, 801, 807, 805, 803, 802},
     90,
     139. / 92378},
    {"11, ties", {2, 1, 3, 5}, {2, 2, 2, 2}, 10, 5. / 7, 6. / 7, 5. / 14},
    {"12, ties: both tails, not the distance from the mean",
     {2, 1, 3, 5},
     {1, 1, 1, 1, 1},
     17.5,
     2. / 21},
    {"13, ties", {1, -1, -1, -1}, {-1, 1, 1, 1}, 4, 17. / 35},
    {"14, ties", {1, 2, 2, 3, 4}, {2, 3, 4, 5, 5}, 5, 11. / 63},
    {"15, ties", {10, 10, 11, 12, 12, 13}, {12, 13, 13, 14, 15, 15}, 3, 5. / 231},
    {"16, ties", {410, 411, 411, 412, 412, 413}, {413, 413, 414, 414, 415, 416}, 1, 1. / 154},
    {"17, all equal", {7, 7, 7, 7}, {7, 7, 7, 7}, 8, 1, 1, 1},
    {"18, doubling must be capped", {1, 2, 3}, {1.5, 2.5}, 3, 1},
};

TEST(MannWhitney, GivesThePublishedValues) {
  for (const Case& given : kCases) {
    SCOPED_TRACE(given.name);
    const RankTest test = mann_whitney(given.x, given.y);
    EXPECT_EQ(test.statistic, given.u);
    EXPECT_NEAR(test.p_two_sided, given.p, 1e-15);
    if (given.less >= 0) {
      EXPECT_NEAR(test.p_less, given.less, 1e-15);
    }
    if (given.greater >= 0) {
      EXPECT_NEAR(test.p_greater, given.greater, 1e-15);
    }
    EXPECT_TRUE(test.exact);
  }
}

TEST(MannWhitney, IsTheSameWithTheSamplesSwapped) {
  for (const Case& given : kCases) {
    SCOPED_TRACE(given.name);
    const RankTest test = mann_whitney(given.x, given.y);
    const RankTest swapped = mann_whitney(given.y, given.x);
    const double pairs = static_cast<double>(given.x.size() * given.y.size());
    EXPECT_EQ(test.statistic + swapped.statistic, pairs);
    EXPECT_EQ(test.p_two_sided, swapped.p_two_sided);
    EXPECT_EQ(test.p_less, swapped.p_greater);
    EXPECT_EQ(test.p_greater, swapped.p_less);
  }
}

TEST(MannWhitney, ApproximatesWithTiesAndContinuity) {
  EXPECT_NEAR(mann_whitney_normal(kScipyX, kScipyY).p_two_sided, .6865041817876, 1e-13);
  const RankTest tied = mann_whitney_normal(Values{1, 2, 3, 4}, Values{1, 2, 3, 4, 5});
  EXPECT_NEAR(tied.p_two_sided, .7086240584439, 1e-13);
  EXPECT_FALSE(tied.exact);
}

TEST(MannWhitney, CountsUpToThirtyAndApproximatesBeyond) {
  const RankTest last = mann_whitney(numbers(30), numbers(30, 30));
  EXPECT_TRUE(last.exact);
  // 2 / C(60, 30); the count of all arrangements has no exact double.
  EXPECT_NEAR(last.p_two_sided * 118264581564861424 / 2, 1, 1e-14);
  for (const auto& [n, m] : {std::pair(31, 31), std::pair(20, 60), std::pair(60, 20)}) {
    const Values x = numbers(static_cast<std::size_t>(n), 0.5);
    const Values y = numbers(static_cast<std::size_t>(m));
    const RankTest test = mann_whitney(x, y);
    EXPECT_FALSE(test.exact);
    EXPECT_EQ(test.p_two_sided, mann_whitney_normal(x, y).p_two_sided);
  }
  // Few against many are no more to count. 2 / C(34, 3), 2 / C(1003, 3).
  EXPECT_DOUBLE_EQ(mann_whitney(numbers(31), numbers(3, 31)).p_two_sided, 2 / 5984.0);
  EXPECT_DOUBLE_EQ(mann_whitney(numbers(3), numbers(31, 3)).p_two_sided, 2 / 5984.0);
  EXPECT_DOUBLE_EQ(mann_whitney(numbers(3), numbers(1000, 3)).p_two_sided, 2 / 167668501.0);
  EXPECT_TRUE(mann_whitney(numbers(31), Values{3, 3, 40}).exact);
  // The approximation is a good one where it takes over.
  const Values x = numbers(30);
  const Values y = numbers(30, 7.5);
  EXPECT_NEAR(mann_whitney(x, y).p_two_sided, mann_whitney_normal(x, y).p_two_sided, 1e-3);
}

TEST(MannWhitney, IsNeverZeroHoweverFarApart) {
  const RankTest apart = mann_whitney(numbers(4000), numbers(4000, 4000));
  EXPECT_GT(apart.p_two_sided, 0);
  EXPECT_GT(apart.p_less, 0);
  EXPECT_EQ(apart.p_greater, 1);
  const RankTest equal = mann_whitney(Values(40, 7.0), Values(40, 7.0));
  EXPECT_EQ(equal.p_two_sided, 1);
  EXPECT_EQ(equal.p_less, 1);
}

std::vector<std::uint64_t> counts_of_u(std::size_t n, std::size_t m) {
  const std::vector<std::size_t> singles(n + m, 1);
  std::vector<std::uint64_t> counts;
  for (std::size_t u = 0; u <= n * m; u++) {
    counts.push_back(count_u(singles, n, m, 2 * u).exactly);
  }
  return counts;
}

TEST(CountsOfU, AreTheTabulatedOnes) {
  const std::vector<std::uint64_t> four{1, 1, 2, 3, 5, 5, 7, 7, 8, 7, 7, 5, 5, 3, 2, 1, 1};
  EXPECT_EQ(counts_of_u(4, 4), four);
  std::vector<std::uint64_t> five{1, 1, 2, 3, 5, 7, 9, 11, 14, 16, 18, 19, 20};
  five.insert(five.end(), five.rbegin(), five.rend());
  EXPECT_EQ(counts_of_u(5, 5), five);
}

TEST(CountsOfU, AddUpAndMirrorForEverySize) {
  for (std::size_t n = 1; n <= kMostExactIndependent; n++) {
    for (std::size_t m = n; m <= kMostExactIndependent; m += 1 + m / 4) {
      SCOPED_TRACE(std::to_string(n) + " against " + std::to_string(m));
      const std::vector<std::uint64_t> counts = counts_of_u(n, m);
      const std::vector<std::size_t> singles(n + m, 1);
      EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}),
                count_u(singles, n, m, 0).all);
      EXPECT_TRUE(std::equal(counts.begin(), counts.end(), counts.rbegin()));
      EXPECT_EQ(counts_of_u(m, n), counts);
    }
  }
  EXPECT_EQ(count_u(std::vector<std::size_t>(60, 1), 30, 30, 0).all, 118264581564861424U);
}

/// The largest u whose two-sided p is at most alpha; -1: there is none.
int critical_u(std::size_t n, std::size_t m, double alpha) {
  int u = -1;
  while (2 * tail_of_u(n, m, static_cast<std::size_t>(u + 1)) <= alpha) u++;
  return u;
}

TEST(CriticalU, IsThatOfThePublishedTables) {
  constexpr std::array kFive{2, 3, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 17, 18, 19, 20};
  constexpr std::array kTen{8, 11, 14, 17, 20, 23, 26, 29, 33, 36, 39, 42, 45, 48, 52, 55};
  for (std::size_t place = 0; place < kFive.size(); place++) {
    EXPECT_EQ(critical_u(5, 5 + place, .05), kFive[place]) << 5 + place;
    EXPECT_EQ(critical_u(10, 5 + place, .05), kTen[place]) << 5 + place;
  }
  struct {
    std::size_t n;
    int five_percent, one_percent, one_permille;
  } const equal_sizes[] = {{4, 0, -1, -1},   {5, 2, 0, -1},     {6, 5, 2, -1},   {7, 8, 4, 0},
                           {8, 13, 7, 2},    {9, 17, 11, 5},    {10, 23, 16, 8}, {12, 37, 27, 17},
                           {15, 64, 51, 36}, {20, 127, 105, 81}};
  for (const auto& row : equal_sizes) {
    SCOPED_TRACE(row.n);
    EXPECT_EQ(critical_u(row.n, row.n, .05), row.five_percent);
    EXPECT_EQ(critical_u(row.n, row.n, .01), row.one_percent);
    EXPECT_EQ(critical_u(row.n, row.n, .001), row.one_permille);
  }
}

/// Every way to call n of `pooled` x, each against the rank sums of all of them.
void check_all_arrangements(const Values& pooled, std::size_t n) {
  const std::vector<int> ranks = doubled_midranks(pooled);
  std::vector<unsigned> masks;
  std::vector<int> sums;
  for (unsigned mask = 0; mask < 1U << pooled.size(); mask++) {
    if (static_cast<std::size_t>(std::popcount(mask)) != n) continue;
    masks.push_back(mask);
    sums.push_back(sum_of_chosen(ranks, mask));
  }
  for (std::size_t arrangement = 0; arrangement < masks.size(); arrangement++) {
    Values x;
    Values y;
    for (std::size_t place = 0; place < pooled.size(); place++) {
      ((masks[arrangement] >> place & 1) != 0 ? x : y).push_back(pooled[place]);
    }
    const RankTest test = mann_whitney(x, y);
    expect_tails(test, sums, sums[arrangement]);
    const int least = static_cast<int>(n * (n + 1));
    EXPECT_EQ(test.statistic, (sums[arrangement] - least) / 2.0);
  }
}

TEST(MannWhitney, AgreesWithEveryArrangementOfSmallSamples) {
  // Without ties; with pairs; with few values; with one value that most have.
  const auto makers = {+[](std::size_t i) { return static_cast<double>(i); },
                       +[](std::size_t i) { return static_cast<double>(i / 2); },
                       +[](std::size_t i) { return static_cast<double>(i * i % 5); },
                       +[](std::size_t i) { return i < 2 ? static_cast<double>(i) : 9.0; }};
  for (const auto& make : makers) {
    for (std::size_t n = 1; n <= 6; n++) {
      for (std::size_t m = 1; m <= 6; m++) {
        SCOPED_TRACE(std::to_string(n) + " against " + std::to_string(m));
        Values pooled;
        for (std::size_t place = 0; place < n + m; place++) pooled.push_back(make(place));
        check_all_arrangements(pooled, n);
      }
    }
  }
}

// The distributions without ties are counted once for the whole process, by whoever is first.
TEST(MannWhitney, MayBeAskedFromSeveralThreads) {
  std::vector<std::vector<double>> answers(8);
  std::vector<std::thread> threads;
  for (auto& answer : answers) {
    threads.emplace_back([&answer] {
      for (std::size_t n = 1; n <= 20; n++) {
        answer.push_back(mann_whitney(numbers(n), numbers(n + 1, 0.5)).p_two_sided);
        answer.push_back(signed_rank(numbers(n, -2.5)).p_two_sided);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& answer : answers) EXPECT_EQ(answer, answers.front());
}

}  // namespace
}  // namespace uringbench::stats
