#include "stats/family.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "stats/rank_tests.hpp"

namespace uringbench::stats {

namespace {

/// The least n >= 1 for which `tests` results of least_p(n) stay significant after Holm.
std::size_t least_size(const std::function<double(std::size_t)>& least_p, std::size_t tests,
                       double alpha) {
  assert(alpha > 0);
  // A product that should be alpha may come out a little above it.
  const double allowed = alpha * (1 + 1e-12) / static_cast<double>(tests);
  // Nothing a test can say is smaller than the smallest number, however much is measured.
  constexpr std::size_t kMost = 10'000;
  std::size_t n = 1;
  while (n < kMost && least_p(n) > allowed) n++;
  return n;
}

}  // namespace

std::vector<double> holm(std::span<const double> p_values) {
  const std::size_t count = p_values.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(count);
  double largest = 0;
  for (std::size_t place = 0; place < count; place++) {
    const double scaled = static_cast<double>(count - place) * p_values[order[place]];
    largest = std::max(largest, std::min(1.0, scaled));
    adjusted[order[place]] = largest;
  }
  return adjusted;
}

std::size_t least_runs_per_side(std::size_t tests, double alpha) {
  return least_size([](std::size_t n) { return least_p_independent(n, n); }, tests, alpha);
}

std::size_t least_pairs(std::size_t tests, double alpha) {
  return least_size(least_p_paired, tests, alpha);
}

std::optional<double> geometric_mean(std::span<const double> ratios) {
  if (ratios.empty()) return std::nullopt;
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  return std::exp(sum / static_cast<double>(ratios.size()));
}

double normal_cdf(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

double normal_quantile(double probability) {
  assert(probability > 0 && probability < 1);
  // The lower tail has all its digits; 1 - p loses none that p had.
  if (probability > 0.5) return -normal_quantile(1 - probability);
  // Abramowitz and Stegun 26.2.23, within 4.5e-4 everywhere.
  const double t = std::sqrt(-2 * std::log(probability));
  double z = (2.515517 + t * (0.802853 + t * 0.010328)) /
                 (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
             t;
  // Halley's method triples the digits at each step.
  for (int step = 0; step < 2; step++) {
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double newton = (normal_cdf(z) - probability) / density;
    z -= newton / (1 + newton * z / 2);
  }
  return z;
}

std::size_t runs_for_half_width(std::size_t n, double half_width, double wanted) {
  assert(half_width > 0 && wanted > 0);
  const double ratio = half_width / wanted;
  const double runs = static_cast<double>(n) * ratio * ratio;
  // 1.1 squared should be 1.21, not a little more; and the answer must be a number.
  return static_cast<std::size_t>(std::ceil(std::min(runs, 1e15) * (1 - 1e-12)));
}

double chance_beyond_margin(double margin, double cv, std::size_t n, std::size_t m) {
  assert(cv >= 0 && n > 0 && m > 0);
  if (cv == 0) return 0;
  const double runs = 1 / static_cast<double>(n) + 1 / static_cast<double>(m);
  return normal_cdf(-margin / (cv * std::sqrt(runs * std::numbers::pi / 3)));
}

}  // namespace uringbench::stats
