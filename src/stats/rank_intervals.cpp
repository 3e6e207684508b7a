// Intervals that invert the rank tests: the same distribution, read the other way round.
#include <algorithm>
#include <cassert>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "stats/rank_counts.hpp"
#include "stats/rank_tests.hpp"

namespace uringbench::stats {

namespace {

/// The largest c with P(statistic <= c-1) <= (1 - confidence) / 2, at most `most`; 0 when there is
/// none. `tail` says P(statistic <= value).
std::size_t interval_rank(const std::function<double(std::size_t)>& tail, std::size_t most,
                          double confidence) {
  // 1 - 0.9 is a little less than 0.1 in binary: an equality must not be lost to that.
  const double allowed = (1 - confidence) / 2 * (1 + 1e-12);
  std::size_t fits = 0;
  std::size_t beyond = most + 1;
  while (beyond - fits > 1) {
    const std::size_t middle = std::midpoint(fits, beyond);
    (tail(middle - 1) <= allowed ? fits : beyond) = middle;
  }
  return fits;
}

/// From the values that a shift may take, one for each place of the statistic.
Shift shift_from(std::vector<double> values, const std::function<double(std::size_t)>& tail,
                 double confidence) {
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  Shift shift{std::midpoint(values[(count - 1) / 2], values[count / 2]), -kUnbounded, kUnbounded, 1,
              interval_rank(tail, (count + 1) / 2, confidence)};
  if (shift.rank == 0) return shift;
  shift.low = values[shift.rank - 1];
  shift.high = values[count - shift.rank];
  shift.coverage = 1 - 2 * tail(shift.rank - 1);
  return shift;
}

}  // namespace

Shift shift_between(std::span<const double> x, std::span<const double> y, double confidence) {
  assert(!x.empty() && !y.empty());
  std::vector<double> values;
  values.reserve(x.size() * y.size());
  for (const double before : x) {
    for (const double after : y) values.push_back(after - before);
  }
  return shift_from(
      std::move(values), [&](std::size_t u) { return tail_of_u(x.size(), y.size(), u); },
      confidence);
}

Shift shift_of_pairs(std::span<const double> differences, double confidence) {
  assert(!differences.empty());
  const std::size_t n = differences.size();
  std::vector<double> values;
  values.reserve(n * (n + 1) / 2);
  for (std::size_t first = 0; first < n; first++) {
    for (std::size_t second = first; second < n; second++) {
      values.push_back(std::midpoint(differences[first], differences[second]));
    }
  }
  return shift_from(
      std::move(values), [&](std::size_t w) { return tail_of_w(n, w); }, confidence);
}

}  // namespace uringbench::stats
