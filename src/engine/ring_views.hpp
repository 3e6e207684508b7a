// The shared entries of a ring as the loop sees them: any index, wrapped round.
#pragma once

#include <liburing.h>

#include <cstdint>

namespace uringbench::engine {

struct SqeRing {
  io_uring_sqe* entries = nullptr;
  std::uint32_t mask = 0;
  io_uring_sqe& operator[](std::uint32_t index) const noexcept { return entries[index & mask]; }
};
struct CqeRing {
  const io_uring_cqe* entries = nullptr;
  std::uint32_t mask = 0;
  const io_uring_cqe& operator[](std::uint32_t index) const noexcept {
    return entries[index & mask];
  }
};

}  // namespace uringbench::engine
