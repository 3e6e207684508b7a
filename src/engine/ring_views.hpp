// The two arrays of a ring as the loop sees them: index modulo size, entries of either size.
#pragma once

#include <liburing.h>

#include <cstdint>

namespace uringbench::engine {

/// `kShift` is 1 for entries of double size (SETUP_SQE128), else 0.
template <unsigned kShift>
struct BasicSqeRing {
  io_uring_sqe* entries = nullptr;
  std::uint32_t mask = 0;
  io_uring_sqe& operator[](std::uint32_t index) const noexcept {
    return entries[std::size_t{index & mask} << kShift];
  }
};
/// `kShift` is 1 for completions of double size (SETUP_CQE32), else 0.
template <unsigned kShift>
struct BasicCqeRing {
  const io_uring_cqe* entries = nullptr;
  std::uint32_t mask = 0;
  const io_uring_cqe& operator[](std::uint32_t index) const noexcept {
    return entries[std::size_t{index & mask} << kShift];
  }
};
using SqeRing = BasicSqeRing<0>;
using CqeRing = BasicCqeRing<0>;
using WideSqeRing = BasicSqeRing<1>;
using WideCqeRing = BasicCqeRing<1>;

}  // namespace uringbench::engine
