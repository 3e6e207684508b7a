// Bootstrap intervals: a second opinion for 15 values or more, always with a seed that is told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace uringbench::stats {

struct BootstrapInterval {
  double low = 0;
  double high = 0;
};

/// P(median of a resample <= k-th smallest), k = 1…n, for odd n: P(Bin(n, k/n) >= (n+1)/2).
std::vector<double> bootstrap_median_distribution(std::size_t n);

/// Quantiles of the replicates, the ceil(p B)-th smallest; replicates in any order, not empty.
BootstrapInterval percentile_interval(std::span<const double> replicates, double confidence);
/// Bias-corrected and accelerated (Efron 1987). `jackknife`: the estimate with each value left out.
BootstrapInterval bca_interval(double estimate, std::span<const double> replicates,
                               std::span<const double> jackknife, double confidence);

/// Percentile interval of median(y) - median(x) over `replicates` seeded resamples; the same on
/// every machine and for any order of the values. Neither sample empty, replicates >= 1.
BootstrapInterval bootstrap_shift_between(std::span<const double> x, std::span<const double> y,
                                          double confidence, std::uint64_t seed,
                                          std::size_t replicates = 2000);
/// The same for median(differences).
BootstrapInterval bootstrap_shift_of_pairs(std::span<const double> differences, double confidence,
                                           std::uint64_t seed, std::size_t replicates = 2000);

}  // namespace uringbench::stats
