// Inside one run: diagnoses of a series of per-interval values. Never a sample size.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace uringbench::stats {

/// Nothing for fewer than 3 values or when all are equal.
struct SerialCorrelation {
  double r1 = 0;           ///< lag-1 autocorrelation
  double von_neumann = 0;  ///< sum of squared steps ÷ sum of squares; about 2 when independent
  double n_effective = 0;  ///< n (1 - r1) / (1 + r1), within [1, n]
};
std::optional<SerialCorrelation> serial_correlation(std::span<const double> values);

/// Means of `batches` equal consecutive parts (a remainder at the end is left out) and whether they
/// may be taken for independent: |r1 of the means| < 2 / sqrt(batches). They describe this run
/// only. Nothing when there are fewer values than batches, or fewer than 3 batches.
struct BatchMeans {
  std::vector<double> means;
  bool accepted = false;
};
std::optional<BatchMeans> batch_means(std::span<const double> values, std::size_t batches);

/// (v - median) ÷ median absolute deviation, for each value; 0 throughout when that is 0 and the
/// value is the median, infinite else. An outlier has |z| > kOutlierDeviations. Flag, never delete.
std::vector<double> deviations_from_median(std::span<const double> values);
inline constexpr double kOutlierDeviations = 14.826;

}  // namespace uringbench::stats
