#include "engine/slots.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "base/base.hpp"

namespace uringbench::engine {

SlotBuffers::SlotBuffers(const plan::RunPlan& plan)
    : plan_(plan), bytes_(plan.buffer_bytes_per_thread), stride_bytes_(plan.slot_stride_bytes) {
  slots_.resize(plan.depth);
  vectors_.resize(plan.depth);
  if (bytes_ == 0) return;  // a bare NOP reads nothing
  // Populated here, so that no page fault falls into the measured time.
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) {
    throw base::SystemError("mmap of " + base::format_bytes(bytes_), "read buffers", errno,
                            "use a smaller --depth or --block-size");
  }
  memory_ = static_cast<std::byte*>(memory);
  for (std::uint32_t i = 0; i < plan.depth; ++i) {
    std::byte* buffer = memory_ + i * stride_bytes_;
    vectors_[i] = {.iov_base = buffer, .iov_len = plan.block_size_bytes};
    slots_[i].address = reinterpret_cast<std::uint64_t>(
        plan.vectored ? static_cast<void*>(&vectors_[i]) : static_cast<void*>(buffer));
    if (plan.slots_per_region != 0) {
      slots_[i].buffer_index = static_cast<std::uint16_t>(i / plan.slots_per_region);
    }
  }
}

SlotBuffers::~SlotBuffers() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

std::vector<iovec> SlotBuffers::regions() const {
  std::vector<iovec> regions;
  for (std::uint64_t first = 0; first < plan_.depth; first += plan_.slots_per_region) {
    const auto count = std::min<std::uint64_t>(plan_.slots_per_region, plan_.depth - first);
    regions.push_back(
        {.iov_base = memory_ + first * stride_bytes_, .iov_len = count * stride_bytes_});
  }
  return regions;
}

}  // namespace uringbench::engine
