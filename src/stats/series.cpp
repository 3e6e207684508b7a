#include "stats/series.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "stats/stats.hpp"

namespace uringbench::stats {

namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

std::optional<SerialCorrelation> serial_correlation(std::span<const double> values) {
  if (values.size() < 3) return std::nullopt;
  // Asked of the values, because the mean of equal ones may be off by a rounding.
  if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end()) {
    return std::nullopt;
  }
  const double mean = mean_of(values);
  double squares = 0;
  double products = 0;
  double steps = 0;
  for (std::size_t index = 0; index < values.size(); index++) {
    const double deviation = values[index] - mean;
    squares += deviation * deviation;
    if (index + 1 == values.size()) break;
    products += deviation * (values[index + 1] - mean);
    steps += (values[index + 1] - values[index]) * (values[index + 1] - values[index]);
  }
  SerialCorrelation result;
  result.r1 = products / squares;
  result.von_neumann = steps / squares;
  const double n = static_cast<double>(values.size());
  result.n_effective = std::clamp(n * (1 - result.r1) / (1 + result.r1), 1.0, n);
  return result;
}

std::optional<BatchMeans> batch_means(std::span<const double> values, std::size_t batches) {
  if (batches < 3 || values.size() < batches) return std::nullopt;
  const std::size_t length = values.size() / batches;
  BatchMeans result;
  for (std::size_t batch = 0; batch < batches; batch++) {
    result.means.push_back(mean_of(values.subspan(batch * length, length)));
  }
  const auto correlation = serial_correlation(result.means);
  // Equal means have nothing to correlate.
  result.accepted =
      !correlation || std::abs(correlation->r1) < 2 / std::sqrt(static_cast<double>(batches));
  return result;
}

std::vector<double> deviations_from_median(std::span<const double> values) {
  if (values.empty()) return {};
  const double middle = median(values);
  std::vector<double> deviations(values.begin(), values.end());
  for (double& value : deviations) value = std::abs(value - middle);
  const double typical = median(deviations);
  for (std::size_t index = 0; index < values.size(); index++) {
    const double distance = values[index] - middle;
    deviations[index] = distance == 0 ? 0 : distance / typical;
  }
  return deviations;
}

}  // namespace uringbench::stats
