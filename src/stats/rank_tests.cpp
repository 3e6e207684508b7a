#include "stats/rank_tests.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "stats/family.hpp"
#include "stats/rank_counts.hpp"

namespace uringbench::stats {

namespace {

/// What a test sees of its data: how many values are equal, and twice the statistic.
struct Ranked {
  std::vector<std::size_t> groups;  ///< sizes, lowest values first
  std::size_t statistic2 = 0;       ///< 2 U or 2 W+
  double cubes = 0;                 ///< sum of t^3 - t over groups of t

  void close(std::size_t group) {
    const double t = static_cast<double>(group);
    cubes += t * t * t - t;
    groups.push_back(group);
  }
};

/// U counts the pairs whose x is the larger one, equal ones half.
Ranked rank_pooled(std::span<const double> x, std::span<const double> y) {
  std::vector<std::pair<double, bool>> pooled;  // value, is it an x?
  pooled.reserve(x.size() + y.size());
  for (const double value : x) pooled.emplace_back(value, true);
  for (const double value : y) pooled.emplace_back(value, false);
  std::sort(pooled.begin(), pooled.end());
  Ranked ranked;
  ranked.groups.reserve(pooled.size());
  std::size_t y_below = 0;
  for (std::size_t start = 0; start < pooled.size();) {
    std::size_t end = start;
    std::size_t of_x = 0;
    for (; end < pooled.size() && pooled[end].first == pooled[start].first; end++) {
      of_x += pooled[end].second ? 1 : 0;
    }
    const std::size_t of_y = end - start - of_x;
    ranked.statistic2 += of_x * (2 * y_below + of_y);
    y_below += of_y;
    ranked.close(end - start);
    start = end;
  }
  return ranked;
}

/// W+ is the sum of the midranks of |d| that belong to positive differences.
Ranked rank_signed(std::vector<double> nonzero) {
  std::sort(nonzero.begin(), nonzero.end(),
            [](double a, double b) { return std::abs(a) < std::abs(b); });
  Ranked ranked;
  for (std::size_t start = 0; start < nonzero.size();) {
    std::size_t end = start;
    std::size_t positive = 0;
    for (; end < nonzero.size() && std::abs(nonzero[end]) == std::abs(nonzero[start]); end++) {
      positive += nonzero[end] > 0 ? 1 : 0;
    }
    ranked.statistic2 += positive * (start + end + 1);
    ranked.close(end - start);
    start = end;
  }
  return ranked;
}

/// Far out the normal tail is too small for a number; a p is never 0 all the same.
double at_least_tiny(double p) { return std::max(p, std::numeric_limits<double>::min()); }

RankTest conclude(std::size_t statistic2, double less, double greater, bool exact) {
  return {static_cast<double>(statistic2) / 2, std::min(1.0, 2 * std::min(less, greater)), less,
          greater, exact};
}

/// `tail` is that of the low side, or of the high side when `mirrored`.
RankTest from_counts(std::size_t statistic2, const Tail& tail, bool mirrored) {
  const double all = static_cast<double>(tail.all);
  const double near = static_cast<double>(tail.up_to) / all;
  const double far = static_cast<double>(tail.all - tail.up_to + tail.exactly) / all;
  return mirrored ? conclude(statistic2, far, near, true) : conclude(statistic2, near, far, true);
}

RankTest from_normal(std::size_t statistic2, double mean, double deviation) {
  if (!(deviation > 0)) return conclude(statistic2, 1, 1, false);
  const double distance = static_cast<double>(statistic2) / 2 - mean;
  return conclude(statistic2, at_least_tiny(normal_cdf((distance + 0.5) / deviation)),
                  at_least_tiny(normal_cdf((0.5 - distance) / deviation)), false);
}

RankTest independent_normal(const Ranked& ranked, std::size_t n, std::size_t m) {
  return from_normal(ranked.statistic2, static_cast<double>(n) * static_cast<double>(m) / 2,
                     deviation_of_u(n, m, ranked.cubes));
}

/// The differences that are not zero, with what is known before anything is ranked.
std::pair<SignedRank, Ranked> begin_signed(std::span<const double> differences) {
  std::vector<double> nonzero;
  nonzero.reserve(differences.size());
  std::copy_if(differences.begin(), differences.end(), std::back_inserter(nonzero),
               [](double difference) { return difference != 0; });
  SignedRank result;
  result.n = nonzero.size();
  result.zeros = differences.size() - nonzero.size();
  return {result, rank_signed(std::move(nonzero))};
}

RankTest paired_normal(const Ranked& ranked, std::size_t n) {
  return from_normal(ranked.statistic2, static_cast<double>(n) * static_cast<double>(n + 1) / 4,
                     deviation_of_w(n, ranked.cubes));
}

}  // namespace

bool is_exact_independent(std::size_t n, std::size_t m) {
  if (std::max(n, m) <= kMostExactIndependent) return true;
  constexpr double kMostBits = 50;
  constexpr std::size_t kMostValues = 2000;  // else the counting takes longer than it is worth
  if (n + m > kMostValues) return false;
  double bits = 0;  // of C(n+m, n)
  for (std::size_t i = 1; i <= std::min(n, m) && bits <= kMostBits; ++i) {
    bits += std::log2(static_cast<double>(std::max(n, m) + i) / static_cast<double>(i));
  }
  return bits <= kMostBits;
}

RankTest mann_whitney(std::span<const double> x, std::span<const double> y) {
  assert(!x.empty() && !y.empty());
  const std::size_t n = x.size();
  const std::size_t m = y.size();
  const Ranked ranked = rank_pooled(x, y);
  if (!is_exact_independent(n, m)) return independent_normal(ranked, n, m);
  // Only the shorter tail is counted out: that of x, or that of y, which is its mirror image.
  const std::size_t u2 = ranked.statistic2;
  if (u2 <= n * m) return from_counts(u2, count_u(ranked.groups, n, m, u2), false);
  return from_counts(u2, count_u(ranked.groups, m, n, 2 * n * m - u2), true);
}

RankTest mann_whitney_normal(std::span<const double> x, std::span<const double> y) {
  assert(!x.empty() && !y.empty());
  return independent_normal(rank_pooled(x, y), x.size(), y.size());
}

SignedRank signed_rank(std::span<const double> differences) {
  auto [result, ranked] = begin_signed(differences);
  const std::size_t n = result.n;
  if (n > kMostExactPairs) {
    static_cast<RankTest&>(result) = paired_normal(ranked, n);
    return result;
  }
  // Turning every sign around mirrors the distribution, so the shorter tail will do.
  const std::size_t w2 = ranked.statistic2;
  const std::size_t mirror2 = n * (n + 1) - w2;
  const Tail tail = count_w(ranked.groups, n, std::min(w2, mirror2));
  static_cast<RankTest&>(result) = from_counts(w2, tail, mirror2 < w2);
  return result;
}

SignedRank signed_rank_normal(std::span<const double> differences) {
  auto [result, ranked] = begin_signed(differences);
  static_cast<RankTest&>(result) = paired_normal(ranked, result.n);
  return result;
}

double least_p_independent(std::size_t n, std::size_t m) {
  return at_least_tiny(std::min(1.0, 2 * tail_of_u(n, m, 0)));
}

double least_p_paired(std::size_t n) { return at_least_tiny(std::min(1.0, 2 * tail_of_w(n, 0))); }

}  // namespace uringbench::stats
