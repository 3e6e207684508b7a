#include "stats/bootstrap.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <random>

#include "stats/family.hpp"

namespace uringbench::stats {

namespace {

/// The ceil(p B)-th smallest of B.
double quantile(const std::vector<double>& ordered, double probability) {
  // 0.025 * 2000 may come out a little above 50; the rank is 50 all the same.
  const double place = static_cast<double>(ordered.size()) * probability * (1 - 1e-12);
  const double rank = std::clamp(std::ceil(place), 1.0, static_cast<double>(ordered.size()));
  return ordered[static_cast<std::size_t>(rank) - 1];
}

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

/// Acceleration: a sixth of the skewness of the jackknife; 0 where it does not vary.
double acceleration(std::span<const double> jackknife) {
  const double mean = std::accumulate(jackknife.begin(), jackknife.end(), 0.0) /
                      static_cast<double>(jackknife.size());
  double squares = 0;
  double cubes = 0;
  for (const double value : jackknife) {
    const double deviation = mean - value;
    squares += deviation * deviation;
    cubes += deviation * deviation * deviation;
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

/// Medians of as many values as there are, drawn with replacement. They depend on the seed and on
/// the values, not on their order.
class Resampling {
 public:
  explicit Resampling(std::span<const double> values)
      : ordered_(sorted(values)), times_drawn_(values.size()) {}

  double median(std::mt19937_64& random) {
    const std::size_t n = ordered_.size();
    std::fill(times_drawn_.begin(), times_drawn_.end(), std::size_t{0});
    // The engine's numbers are laid down by the C++ standard, those of its distributions are not;
    // so the place is the upper half of a 128-bit product.
    __extension__ using Wide = unsigned __int128;
    for (std::size_t drawn = 0; drawn < n; drawn++) {
      times_drawn_[static_cast<std::size_t>(Wide{random()} * n >> 64)]++;
    }
    return std::midpoint(smallest((n - 1) / 2), smallest(n / 2));
  }

 private:
  /// Of the values drawn, the one with so many before it.
  double smallest(std::size_t before) const {
    std::size_t place = 0;
    for (; before >= times_drawn_[place]; place++) before -= times_drawn_[place];
    return ordered_[place];
  }

  std::vector<double> ordered_;
  std::vector<std::size_t> times_drawn_;
};

}  // namespace

std::vector<double> bootstrap_median_distribution(std::size_t n) {
  assert(n % 2 == 1);
  std::vector<double> distribution;
  for (std::size_t k = 1; k < n; k++) {
    const long double p = static_cast<long double>(k) / static_cast<long double>(n);
    // From P(Bin = n) downwards: each term from the one before.
    long double term = std::pow(p, static_cast<long double>(n));
    long double tail = 0;
    for (std::size_t successes = n; 2 * successes > n; successes--) {
      tail += term;
      term *= static_cast<long double>(successes) / static_cast<long double>(n - successes + 1) *
              (1 - p) / p;
    }
    distribution.push_back(static_cast<double>(tail));
  }
  distribution.push_back(1);
  return distribution;
}

BootstrapInterval percentile_interval(std::span<const double> replicates, double confidence) {
  assert(!replicates.empty());
  const std::vector<double> ordered = sorted(replicates);
  const double beyond = (1 - confidence) / 2;
  return {quantile(ordered, beyond), quantile(ordered, 1 - beyond)};
}

BootstrapInterval bca_interval(double estimate, std::span<const double> replicates,
                               std::span<const double> jackknife, double confidence) {
  assert(!replicates.empty() && !jackknife.empty());
  const std::vector<double> ordered = sorted(replicates);
  const auto [first_equal, first_above] =
      std::equal_range(ordered.begin(), ordered.end(), estimate);
  const double count = static_cast<double>(ordered.size());
  const double below = (static_cast<double>(first_equal - ordered.begin()) +
                        static_cast<double>(first_above - first_equal) / 2) /
                       count;
  // With all replicates on one side the bias is only known to be at least this large.
  const double bias = normal_quantile(std::clamp(below, 0.5 / count, 1 - 0.5 / count));
  const double skew = acceleration(jackknife);
  const auto bound = [&](double probability) {
    const double moved = bias + normal_quantile(probability);
    const double room = 1 - skew * moved;
    if (room <= 0) return quantile(ordered, moved > 0 ? 1 : 0);
    return quantile(ordered, normal_cdf(bias + moved / room));
  };
  const double beyond = (1 - confidence) / 2;
  return {bound(beyond), bound(1 - beyond)};
}

BootstrapInterval bootstrap_shift_between(std::span<const double> x, std::span<const double> y,
                                          double confidence, std::uint64_t seed,
                                          std::size_t replicates) {
  assert(!x.empty() && !y.empty());
  std::mt19937_64 random(seed);
  Resampling before(x);
  Resampling after(y);
  std::vector<double> shifts(replicates);
  for (double& shift : shifts) {
    const double from = before.median(random);
    shift = after.median(random) - from;
  }
  return percentile_interval(shifts, confidence);
}

BootstrapInterval bootstrap_shift_of_pairs(std::span<const double> differences, double confidence,
                                           std::uint64_t seed, std::size_t replicates) {
  assert(!differences.empty());
  std::mt19937_64 random(seed);
  Resampling pairs(differences);
  std::vector<double> shifts(replicates);
  for (double& shift : shifts) shift = pairs.median(random);
  return percentile_interval(shifts, confidence);
}

}  // namespace uringbench::stats
