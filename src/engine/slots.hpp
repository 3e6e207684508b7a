// Slots: one per request that can be in flight, each owning its buffer.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace uringbench::engine {

/// A request in flight is known to the kernel by the address of its slot (user_data).
struct Slot {
  std::uint64_t address = 0;       ///< of the buffer, or of the iovec of a vectored read
  std::uint64_t offset_bytes = 0;  ///< of the read under way
  std::uint64_t submit_ticks = 0;  ///< of the read under way, timed runs only
  std::uint32_t target = 0;        ///< index into the thread's targets, of the read under way
  std::uint16_t buffer_index = 0;  ///< registered region that holds the buffer
};

/// The buffers of one thread, touched beforehand, one stride per slot: ordinary memory, anonymous
/// huge pages, or the thread's part of a file on hugetlbfs. Such a file is written to, never made
/// and never made longer.
class SlotBuffers {
 public:
  /// `thread_index` says which part of the file is this thread's. Throws SystemError or UserError,
  /// each with a cure, when the memory is not to be had.
  explicit SlotBuffers(const plan::RunPlan& plan, std::uint32_t thread_index = 0);
  SlotBuffers(const SlotBuffers&) = delete;
  SlotBuffers& operator=(const SlotBuffers&) = delete;
  ~SlotBuffers();

  std::vector<Slot>& slots() noexcept { return slots_; }
  /// One per slot, for vectored reads and preadv2.
  std::vector<iovec>& vectors() noexcept { return vectors_; }
  /// What to register: whole slots, none above the kernel's limit for one region.
  std::vector<iovec> regions() const;

 private:
  const plan::RunPlan& plan_;
  std::byte* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t stride_bytes_ = 0;
  std::vector<Slot> slots_;
  std::vector<iovec> vectors_;
};

}  // namespace uringbench::engine
