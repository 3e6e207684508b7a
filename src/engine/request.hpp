// What the loop writes into an entry, per kind of request. Everything else of it was written at
// set-up and stays.
#pragma once

#include <liburing.h>

#include "engine/offsets.hpp"
#include "engine/passthrough.hpp"
#include "engine/slots.hpp"

namespace uringbench::engine {

struct NopRequest {
  static constexpr bool kHasOffset = false;
  static void fill(io_uring_sqe&, const Slot&, const LoopTarget&) noexcept {}
  static void aim(io_uring_sqe&, const LoopTarget&) noexcept {}
};

struct ReadRequest {
  static constexpr bool kHasOffset = true;
  /// Where to, and into which buffer.
  static void fill(io_uring_sqe& sqe, const Slot& slot, const LoopTarget&) noexcept {
    sqe.off = slot.offset_bytes;
    sqe.addr = slot.address;
    sqe.buf_index = slot.buffer_index;
  }
  /// Which target; only written where there are several.
  static void aim(io_uring_sqe& sqe, const LoopTarget& target) noexcept { sqe.fd = target.fd; }
};

/// An NVMe command in an entry of double size.
struct PassthroughRequest {
  static constexpr bool kHasOffset = true;
  static void fill(io_uring_sqe& sqe, const Slot& slot, const LoopTarget& target) noexcept {
    sqe.buf_index = slot.buffer_index;
    address_passthrough(bytes_of(sqe), lba_of(ByteOffset{slot.offset_bytes}, target.lba_shift),
                        slot.address);
  }
  static void aim(io_uring_sqe& sqe, const LoopTarget& target) noexcept {
    aim_passthrough(bytes_of(sqe), target.fd, target.namespace_id, target.block_size_bytes,
                    target.lba_shift);
  }

 private:
  static std::byte* bytes_of(io_uring_sqe& sqe) noexcept {
    return reinterpret_cast<std::byte*>(&sqe);
  }
};

}  // namespace uringbench::engine
