// A log-linear histogram of unsigned values, cheap enough for the hot loop.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace uringbench::stats {

/// Values below 2^kSubBits have a bucket each; above, every power of two is split into
/// 2^kSubBits equal buckets, so a bucket is at most 1/64 (1.6 %) of its value wide. Covers all
/// of uint64. `record` allocates nothing and cannot fail.
class Histogram {
 public:
  static constexpr unsigned kSubBits = 6;
  static constexpr std::size_t kBuckets = (64 - kSubBits + 1) << kSubBits;

  static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
    if (value < (std::uint64_t{1} << kSubBits)) return static_cast<std::size_t>(value);
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kSubBits;
    return (static_cast<std::size_t>(shift) << kSubBits) + static_cast<std::size_t>(value >> shift);
  }
  /// The least value that falls into a bucket.
  static constexpr std::uint64_t lower_bound(std::size_t bucket) noexcept {
    if (bucket < (std::size_t{1} << kSubBits)) return bucket;
    const unsigned shift = static_cast<unsigned>(bucket >> kSubBits) - 1;
    const std::uint64_t within =
        (bucket & ((std::size_t{1} << kSubBits) - 1)) | (std::uint64_t{1} << kSubBits);
    return within << shift;
  }

  /// What a batch of values adds beside its counts; lives in registers until `add`.
  struct Batch {
    std::uint64_t sum = 0;  ///< 2^32 values of 2^32 fit
    std::uint64_t min = UINT64_MAX;
    std::uint64_t max = 0;
  };
  /// Counts one value of a batch; `add` must follow.
  void record(std::uint64_t value, Batch& batch) noexcept {
    counts_[bucket_of(value)]++;
    batch.sum += value;
    if (value < batch.min) batch.min = value;
    if (value > batch.max) batch.max = value;
  }
  void add(const Batch& batch) noexcept {
    sum_ += batch.sum;
    if (batch.min < min_) min_ = batch.min;
    if (batch.max > max_) max_ = batch.max;
  }

  void record(std::uint64_t value) noexcept {
    counts_[bucket_of(value)]++;
    sum_ += value;
    if (value < min_) min_ = value;
    if (value > max_) max_ = value;
  }

  void clear() noexcept { *this = Histogram{}; }
  void merge(const Histogram& other) noexcept;

  std::uint64_t count() const noexcept;
  std::uint64_t min() const noexcept { return min_; }  ///< exact; UINT64_MAX when empty
  std::uint64_t max() const noexcept { return max_; }  ///< exact; 0 when empty
  double mean() const noexcept;                        ///< exact; 0 when empty
  /// Nearest rank: the ceil(fraction * count)-th smallest value, to the middle of its bucket,
  /// clamped to [min, max]. `fraction` in (0, 1]. 0 when empty.
  std::uint64_t percentile(double fraction) const noexcept;
  /// (lower bound, count) of the non-empty buckets, ascending.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> buckets() const;
  /// The same histogram with every value multiplied (clock ticks to nanoseconds). Counts stay.
  Histogram scaled(double factor) const;

 private:
  std::array<std::uint64_t, kBuckets> counts_{};
  // 64 bits of ticks would overflow within a day at depth 32768.
  __extension__ using Sum = unsigned __int128;
  Sum sum_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
};

}  // namespace uringbench::stats
