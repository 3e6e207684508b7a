#include "stats/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace uringbench::stats {

namespace {

/// The largest value that falls into a bucket.
std::uint64_t upper_bound(std::size_t bucket) {
  if (bucket + 1 == Histogram::kBuckets) return UINT64_MAX;
  return Histogram::lower_bound(bucket + 1) - 1;
}

std::uint64_t middle(std::size_t bucket) {
  const std::uint64_t low = Histogram::lower_bound(bucket);
  return low + (upper_bound(bucket) - low) / 2;
}

/// Rounds value × factor to the nearest integer, cut off at both ends of uint64.
std::uint64_t scale(std::uint64_t value, double factor) {
  // long double holds all 64 bits of a value on x86; a double would blur those above 2^53.
  const long double product = static_cast<long double>(value) * static_cast<long double>(factor);
  if (!(product > 0)) return 0;
  if (product >= 18446744073709551615.0L) return UINT64_MAX;
  return static_cast<std::uint64_t>(std::floor(product + 0.5L));
}

}  // namespace

void Histogram::merge(const Histogram& other) noexcept {
  for (std::size_t bucket = 0; bucket < kBuckets; bucket++) {
    counts_[bucket] += other.counts_[bucket];
  }
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

std::uint64_t Histogram::count() const noexcept {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

double Histogram::mean() const noexcept {
  const std::uint64_t n = count();
  if (n == 0) return 0;
  return static_cast<double>(static_cast<long double>(sum_) / static_cast<long double>(n));
}

std::uint64_t Histogram::percentile(double fraction) const noexcept {
  const std::uint64_t n = count();
  if (n == 0) return 0;
  // 0.999 * 1000 is a little more than 999 in binary. Without the tolerance the rank would be
  // 1000, one too high, wherever the product should be whole.
  const long double exact = static_cast<long double>(fraction) * static_cast<long double>(n);
  const long double tolerance = exact * 4e-16L;
  const long double ceiling = std::ceil(exact - tolerance);
  const std::uint64_t rank =
      ceiling < 1 ? 1 : std::min(n, static_cast<std::uint64_t>(std::min(ceiling, 1.8e19L)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; bucket++) {
    seen += counts_[bucket];
    if (seen >= rank) return std::clamp(middle(bucket), min_, max_);
  }
  return max_;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> Histogram::buckets() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> filled;
  for (std::size_t bucket = 0; bucket < kBuckets; bucket++) {
    if (counts_[bucket] != 0) filled.emplace_back(lower_bound(bucket), counts_[bucket]);
  }
  return filled;
}

Histogram Histogram::scaled(double factor) const {
  Histogram result;
  if (count() == 0) return result;
  for (std::size_t bucket = 0; bucket < kBuckets; bucket++) {
    if (counts_[bucket] == 0) continue;
    // A bucket goes where its middle goes, but no further than the true extremes: every value
    // counted here lies between them.
    const std::uint64_t typical = std::clamp(middle(bucket), min_, max_);
    result.counts_[bucket_of(scale(typical, factor))] += counts_[bucket];
  }
  const long double sum = static_cast<long double>(sum_) * static_cast<long double>(factor);
  result.sum_ = sum > 0 ? static_cast<Sum>(sum + 0.5L) : 0;
  result.min_ = scale(min_, factor);
  result.max_ = scale(max_, factor);
  return result;
}

}  // namespace uringbench::stats
