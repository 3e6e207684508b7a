// Rank tests by definition: midranks looked up one by one, every arrangement written down.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "stats/stats.hpp"

namespace uringbench::stats {

using Values = std::vector<double>;

/// One more than twice the smaller ones plus the equal ones.
inline std::vector<int> doubled_midranks(const Values& values) {
  std::vector<int> ranks;
  for (const double value : values) {
    int rank = 1;
    for (const double other : values) rank += other < value ? 2 : other == value ? 1 : 0;
    ranks.push_back(rank);
  }
  return ranks;
}

/// Of some numbers, the sum of those whose bit is set.
inline int sum_of_chosen(const std::vector<int>& numbers, unsigned mask) {
  int sum = 0;
  for (std::size_t place = 0; place < numbers.size(); place++) {
    sum += (mask >> place & 1) != 0 ? numbers[place] : 0;
  }
  return sum;
}

/// `sums` of all equally likely arrangements against the observed one.
inline void expect_tails(const RankTest& test, const std::vector<int>& sums, int observed) {
  const auto share = [&](auto counts) {
    return static_cast<double>(std::count_if(sums.begin(), sums.end(), counts)) /
           static_cast<double>(sums.size());
  };
  const double less = share([&](int sum) { return sum <= observed; });
  const double greater = share([&](int sum) { return sum >= observed; });
  EXPECT_NEAR(test.p_less, less, 1e-15);
  EXPECT_NEAR(test.p_greater, greater, 1e-15);
  EXPECT_NEAR(test.p_two_sided, std::min(1.0, 2 * std::min(less, greater)), 1e-15);
  EXPECT_TRUE(test.exact);
}

/// 1, 2, …, n plus an offset.
inline Values numbers(std::size_t n, double offset = 0) {
  Values values(n);
  std::iota(values.begin(), values.end(), 1 + offset);
  return values;
}

}  // namespace uringbench::stats
