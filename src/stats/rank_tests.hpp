// Rank tests and the intervals that invert them: the run is the unit, nothing is assumed normal.
#pragma once

#include <cstddef>
#include <span>

namespace uringbench::stats {

/// Both one-sided probabilities and the two-sided one, min(1, 2 min(less, greater)): never 0, the
/// same when the samples are swapped.
struct RankTest {
  double statistic = 0;  ///< Mann-Whitney: U of x; signed-rank: W+. Halves occur with ties.
  double p_two_sided = 1;
  double p_less = 1;     ///< of values as low as these for x (or for the differences)
  double p_greater = 1;  ///< or as high
  bool exact = true;     ///< false: normal approximation, corrected for ties and continuity
};

/// Largest samples for which the distribution is counted out exactly; a count of arrangements
/// fits 64 bits up to 33 and 33.
inline constexpr std::size_t kMostExactIndependent = 30;
/// Also where one sample is larger, as long as there are fewer than 2^50 arrangements.
bool is_exact_independent(std::size_t n, std::size_t m);
inline constexpr std::size_t kMostExactPairs = 50;

/// Mann-Whitney U for two independent samples, neither empty, any order, all values finite. Exact
/// over the midranks as they are (ties included) where is_exact_independent() says so.
/// Source: Mann and Whitney 1947; the conditional distribution is counted by dynamic programming
/// over doubled midranks.
RankTest mann_whitney(std::span<const double> x, std::span<const double> y);
/// The approximation at any size: what mann_whitney() falls back on.
RankTest mann_whitney_normal(std::span<const double> x, std::span<const double> y);

/// Wilcoxon signed-rank for differences of pairs. Zeros are dropped and counted. All zero: p 1.
struct SignedRank : RankTest {
  std::size_t n = 0;      ///< differences that are not zero
  std::size_t zeros = 0;  ///< dropped
};
SignedRank signed_rank(std::span<const double> differences);
SignedRank signed_rank_normal(std::span<const double> differences);  ///< likewise

/// A shift and the interval that inverts the test of it: without ties, 0 lies outside exactly when
/// p <= 1 - confidence (to rounding: 1e-12 of it).
struct Shift {
  double estimate = 0;
  double low = 0;        ///< -infinity when the samples are too small for the confidence
  double high = 0;       ///< +infinity likewise
  double coverage = 0;   ///< what the interval truly has, at least the confidence; 1 when unbounded
  std::size_t rank = 0;  ///< the interval reaches from the rank-th smallest to the rank-th largest
};
/// Hodges-Lehmann: median of all n m differences y - x; neither sample empty. `confidence` in
/// (0, 1). Source: Hodges and Lehmann 1963; the interval after Moses.
Shift shift_between(std::span<const double> x, std::span<const double> y, double confidence);
/// Median of the Walsh averages of the differences (zeros included); not empty.
Shift shift_of_pairs(std::span<const double> differences, double confidence);

/// The least two-sided p that n against m runs, or n pairs, can give at all; n, m >= 1.
double least_p_independent(std::size_t n, std::size_t m);
double least_p_paired(std::size_t n);

}  // namespace uringbench::stats
