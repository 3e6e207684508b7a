#include "stats/stats.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

namespace uringbench::stats {

namespace {

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median_of_sorted(const std::vector<double>& values) {
  const std::size_t half = values.size() / 2;
  if (values.size() % 2 == 1) return values[half];
  // Halved before they are added, so that two huge values do not overflow.
  return values[half - 1] / 2 + values[half] / 2;
}

/// P(Bin(n, 1/2) = k), by logarithms, because 2^-n has no floating-point number for large n.
long double binomial_probability(std::size_t n, std::size_t k) {
  const long double size = static_cast<long double>(n);
  const long double chosen = static_cast<long double>(k);
  return std::exp(std::lgamma(size + 1) - std::lgamma(chosen + 1) - std::lgamma(size - chosen + 1) -
                  size * std::log(2.0L));
}

/// The largest k with 1 - 2 P(Bin(n, 1/2) <= k-1) >= confidence, and that coverage; k is 0 when
/// there is none.
std::pair<std::size_t, double> median_rank(std::size_t n, double confidence) {
  // Up to 62 every binomial and every power of two is exact in 64 bits of mantissa.
  const bool exact = n <= 62;
  long double term = exact ? std::ldexp(1.0L, -static_cast<int>(n)) : binomial_probability(n, 0);
  long double tail = 0;  // P(Bin <= k-1)
  std::pair<std::size_t, double> best{0, 0};
  for (std::size_t k = 1; 2 * k <= n + 1; k++) {
    tail += term;
    const long double coverage = 1 - 2 * tail;
    if (coverage < static_cast<long double>(confidence)) break;
    best = {k, static_cast<double>(coverage)};
    term = exact ? term * static_cast<long double>(n - k + 1) / static_cast<long double>(k)
                 : binomial_probability(n, k);
  }
  return best;
}

}  // namespace

double median(std::span<const double> values) {
  assert(!values.empty());
  return median_of_sorted(sorted(values));
}

std::optional<MedianInterval> median_interval(std::span<const double> values, double confidence) {
  const auto [k, coverage] = median_rank(values.size(), confidence);
  if (k == 0) return std::nullopt;
  const std::vector<double> ordered = sorted(values);
  return MedianInterval{ordered[k - 1], ordered[ordered.size() - k], coverage};
}

std::optional<Summary> summarize(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const std::vector<double> ordered = sorted(values);
  Summary summary;
  summary.n = ordered.size();
  summary.median = median_of_sorted(ordered);
  summary.mean = mean_of(ordered);
  summary.min = ordered.front();
  summary.max = ordered.back();
  summary.interval = median_interval(ordered, 0.95);
  if (summary.n >= 2 && summary.mean != 0) {
    double squares = 0;
    for (const double value : ordered) squares += (value - summary.mean) * (value - summary.mean);
    const double deviation = std::sqrt(squares / static_cast<double>(summary.n - 1));
    summary.cv = deviation / summary.mean;
  }
  return summary;
}

std::optional<Steadiness> steadiness(std::span<const double> values) {
  if (values.size() < 4) return std::nullopt;
  const double n = static_cast<double>(values.size());
  const double mean = mean_of(values);
  // A series of zeros does hold still; nothing else of mean 0 can be judged relative to its mean.
  if (mean == 0) {
    const bool all_zero =
        std::all_of(values.begin(), values.end(), [](double v) { return v == 0; });
    return Steadiness{all_zero, 0, 0};
  }
  const double middle = (n - 1) / 2;
  double covariance = 0;
  double variance = 0;
  double farthest = 0;
  for (std::size_t index = 0; index < values.size(); index++) {
    const double position = static_cast<double>(index) - middle;
    covariance += position * (values[index] - mean);
    variance += position * position;
    farthest = std::max(farthest, std::abs(values[index] - mean));
  }
  Steadiness result;
  result.slope = covariance / variance * (n - 1) / mean;
  result.deviation = farthest / std::abs(mean);
  result.steady = std::abs(result.slope) <= 0.05 && result.deviation <= 0.20;
  return result;
}

}  // namespace uringbench::stats
