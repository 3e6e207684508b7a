// Thinking about numbers: histograms, summaries, intervals, tests.
//
// Pure functions and plain data. This room knows numbers only: no units, no JSON, no clock, and
// not what an I/O is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stats/bootstrap.hpp"
#include "stats/family.hpp"
#include "stats/histogram.hpp"
#include "stats/rank_tests.hpp"
#include "stats/series.hpp"

namespace uringbench::stats {

/// An order-statistic interval of the median: [x_(k), x_(n+1-k)], with the coverage it truly has.
struct MedianInterval {
  double low = 0;
  double high = 0;
  double coverage = 0;  ///< 1 - 2 P(Bin(n, 1/2) <= k-1)
};

/// Largest k whose coverage is at least `confidence`, in (0, 1); nothing when even k = 1 does not
/// reach it (n < 6 for 0.95). Shape: any order. Source: the sign test inverted; any text on order
/// statistics.
std::optional<MedianInterval> median_interval(std::span<const double> values, double confidence);

struct Summary {
  std::size_t n = 0;
  double median = 0;
  double mean = 0;
  double min = 0;
  double max = 0;
  std::optional<double> cv;                ///< sample sd / mean; absent for n < 2 or mean 0
  std::optional<MedianInterval> interval;  ///< 95 %
};

/// Nothing for an empty span.
std::optional<Summary> summarize(std::span<const double> values);

double median(std::span<const double> values);  ///< mean of the middle two when n is even; n >= 1

/// Did a series of per-interval rates hold still? A diagnosis, never a sample size.
/// Least-squares slope across the whole series and largest deviation from the mean, both relative
/// to the mean; steady when |slope| <= 5 % and deviation <= 20 %. Nothing for fewer than 4 values.
/// A series of nothing but zeros is steady; no other series of mean 0 is.
struct Steadiness {
  bool steady = true;
  double slope = 0;      ///< fitted change over the series ÷ mean
  double deviation = 0;  ///< max |v - mean| ÷ mean
};
std::optional<Steadiness> steadiness(std::span<const double> values);

}  // namespace uringbench::stats
