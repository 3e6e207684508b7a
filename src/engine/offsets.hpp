// Where the next read goes: unbiased random blocks, or one block after the other.
#pragma once

#include <cstdint>

namespace uringbench::engine {

/// Spreads a seed over independent streams (Steele, Lea, Flood: SplitMix64's finaliser).
constexpr std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t stream) noexcept {
  std::uint64_t z = seed + (stream + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// The product of two 64-bit numbers. Every compiler we build with has it; ISO C++ does not.
__extension__ using Wide = unsigned __int128;

/// A 64-bit generator that is one multiplication deep: a Weyl sequence folded by a wide product
/// (the construction is known as wyrand).
class Random {
 public:
  explicit Random(std::uint64_t seed = 0) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0xa0761d6478bd642fULL;
    const auto wide = static_cast<Wide>(state_) * (state_ ^ 0xe7037ed1a0b428dbULL);
    return static_cast<std::uint64_t>(wide) ^ static_cast<std::uint64_t>(wide >> 64);
  }

  /// Uniform in [0, bound), without bias: Lemire's multiply-shift with rejection (ACM TOMACS
  /// 2019). The division happens once in 2^64 / bound calls.
  std::uint64_t below(std::uint64_t bound) noexcept {
    auto wide = static_cast<Wide>(next()) * bound;
    if (static_cast<std::uint64_t>(wide) < bound) [[unlikely]] {
      const std::uint64_t least = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(wide) < least) {
        wide = static_cast<Wide>(next()) * bound;
      }
    }
    return static_cast<std::uint64_t>(wide >> 64);
  }

 private:
  std::uint64_t state_;
};

/// One target as one thread sees it.
struct LoopTarget {
  int fd = -1;              ///< descriptor, or index into the registered files
  std::uint32_t index = 0;  ///< into RunPlan::targets
  std::uint64_t blocks = 1;
  std::uint64_t next_block = 0;        ///< sequential reads only
  std::uint32_t namespace_id = 0;      ///< passthrough only
  std::uint32_t lba_shift = 0;         ///< passthrough only: log2 of the bytes of an LBA
  std::uint64_t block_size_bytes = 0;  ///< passthrough only

  std::uint64_t next_sequential() noexcept {
    const std::uint64_t block = next_block;
    next_block = block + 1 == blocks ? 0 : block + 1;
    return block;
  }
};

}  // namespace uringbench::engine
