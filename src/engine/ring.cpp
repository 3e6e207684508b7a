#include "engine/ring.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

#include "base/base.hpp"
#include "machine/machine.hpp"

namespace uringbench::engine {

int setup_system_call(std::uint32_t entries, io_uring_params& params) noexcept {
  const long result = syscall(__NR_io_uring_setup, entries, &params);
  return result < 0 ? -errno : static_cast<int>(result);
}

namespace {

std::vector<std::string> names_of(std::uint32_t bits, std::span<const abi::NamedBit> names) {
  std::vector<std::string> result;
  for (unsigned i = 0; i < 32; ++i) {
    const std::uint32_t bit = 1U << i;
    if ((bits & bit) == 0) continue;
    std::string name = "BIT_" + std::to_string(i);
    for (const auto& known : names) {
      if (known.bit == bit) name = known.name;
    }
    result.push_back(name);
  }
  return result;
}

io_uring_params params_of(const RingRequest& request, std::uint32_t flags) {
  io_uring_params params{};
  params.flags = flags;
  params.sq_thread_cpu = static_cast<std::uint32_t>(std::max(request.sqpoll_cpu, 0));
  params.sq_thread_idle = request.sqpoll_idle_ms;
  if ((flags & IORING_SETUP_ATTACH_WQ) != 0) {
    params.wq_fd = static_cast<std::uint32_t>(request.attach_to);
  }
  return params;
}

/// Does the plainest ring with these flags work?
bool works(const RingRequest& request, std::uint32_t flags) {
  io_uring_params params = params_of(request, flags);
  const int fd = setup_system_call(8, params);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

Culprits find_culprits(const RingRequest& request) {
  const std::uint32_t asked = asked_flags(request);
  // What needs a flag goes with it; but what fails by itself is to blame by itself.
  const auto with_dependants = [](std::uint32_t bit) -> std::uint32_t {
    if (bit == IORING_SETUP_SQPOLL) return bit | IORING_SETUP_SQ_AFF | IORING_SETUP_ATTACH_WQ;
    if (bit == IORING_SETUP_IOPOLL) return bit | abi::kSetupHybridIopoll;
    if (bit == IORING_SETUP_SINGLE_ISSUER) return bit | IORING_SETUP_DEFER_TASKRUN;
    return bit;
  };
  std::uint32_t culprits = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const std::uint32_t bit = 1U << i;
    if ((asked & bit) != 0 && works(request, asked & ~bit)) culprits |= bit;
  }
  if (culprits != 0) return {culprits, !std::has_single_bit(culprits)};
  for (unsigned i = 0; i < 32; ++i) {
    const std::uint32_t bits = asked & with_dependants(1U << i);
    if ((asked & (1U << i)) != 0 && works(request, asked & ~bits)) return {bits, false};
  }
  return {};
}

}  // namespace

std::vector<std::string> names_of_setup_flags(std::uint32_t flags) {
  return names_of(flags, abi::kSetupFlagNames);
}
std::vector<std::string> names_of_features(std::uint32_t features) {
  return names_of(features, abi::kFeatureNames);
}

Ring::Ring(const RingRequest& request) {
  io_uring_params params{};
  int result = -EINVAL;
  for (const std::uint32_t set : flag_sets(request)) {
    params = params_of(request, set | asked_flags(request));
    result = setup_system_call(request.entries, params);
    if (result != -EINVAL) break;
    for (const auto& name : names_of_setup_flags(set)) {
      const bool known = std::find(fallbacks_.begin(), fallbacks_.end(), name) != fallbacks_.end();
      if (!known) fallbacks_.push_back(name);
    }
  }
  if (result == -EINVAL) {
    throw base::UserError({refused_flags(request, find_culprits(request))});
  }
  if (result < 0) {
    throw base::SystemError("io_uring_setup", "io_uring", -result, machine::setup_hint(-result));
  }
  handle_.ring_fd = result;
  handle_.enter_ring_fd = result;
  enter_fd_ = result;
  setup_flags_ = params.flags;
  features_ = params.features;
  // Refused in one set, granted in a simpler one: only what is not in force is a fallback.
  std::erase_if(fallbacks_, [&](const std::string& name) {
    const auto granted = names_of_setup_flags(setup_flags_);
    return std::find(granted.begin(), granted.end(), name) != granted.end();
  });
  try {
    map(params);
  } catch (...) {
    unmap();
    close(handle_.ring_fd);
    throw;
  }
}

Ring::~Ring() {
  unmap();
  close(handle_.ring_fd);
}

void Ring::map(const io_uring_params& params) {
  const auto map_one = [&](std::uint64_t offset, std::size_t bytes) {
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                         handle_.ring_fd, static_cast<off_t>(offset));
    if (address == MAP_FAILED) {
      throw base::SystemError("mmap of the ring", "io_uring", errno, machine::setup_hint(errno));
    }
    return Mapping{address, bytes};
  };
  const bool has_array = (params.flags & abi::kSetupNoSqArray) == 0;
  // Without the index array its offset reads 0; the ring then ends with its header.
  const std::size_t header_bytes =
      std::max({params.sq_off.flags, params.sq_off.dropped, params.sq_off.ring_entries}) +
      sizeof(std::uint32_t);
  std::size_t sq_bytes =
      has_array ? params.sq_off.array + params.sq_entries * sizeof(std::uint32_t) : header_bytes;
  const auto wide = [&](std::uint32_t flag) -> std::size_t {
    return (params.flags & flag) != 0 ? 2 : 1;
  };
  const std::size_t cq_bytes =
      params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe) * wide(IORING_SETUP_CQE32);
  const bool single = (params.features & IORING_FEAT_SINGLE_MMAP) != 0;
  if (single) sq_bytes = std::max(sq_bytes, cq_bytes);

  sq_ring_ = map_one(IORING_OFF_SQ_RING, sq_bytes);
  if (!single) cq_ring_ = map_one(IORING_OFF_CQ_RING, cq_bytes);
  sqe_array_ = map_one(IORING_OFF_SQES,
                       params.sq_entries * sizeof(io_uring_sqe) * wide(IORING_SETUP_SQE128));

  auto* sq = static_cast<std::byte*>(sq_ring_.address);
  auto* cq = single ? sq : static_cast<std::byte*>(cq_ring_.address);
  const auto word = [](std::byte* ring, std::uint32_t offset) {
    return reinterpret_cast<std::uint32_t*>(ring + offset);
  };
  sq_head_ = word(sq, params.sq_off.head);
  sq_tail_ = word(sq, params.sq_off.tail);
  sq_flags_ = word(sq, params.sq_off.flags);
  sq_mask_ = *word(sq, params.sq_off.ring_mask);
  cq_head_ = word(cq, params.cq_off.head);
  cq_tail_ = word(cq, params.cq_off.tail);
  cq_mask_ = *word(cq, params.cq_off.ring_mask);
  cqes_ = reinterpret_cast<io_uring_cqe*>(cq + params.cq_off.cqes);
  sqes_ = static_cast<io_uring_sqe*>(sqe_array_.address);
  if (has_array) {
    // Entry i of the array names SQE i for good, so submission order is ring order.
    std::uint32_t* array = word(sq, params.sq_off.array);
    for (std::uint32_t i = 0; i < params.sq_entries; ++i) array[i] = i;
  }
}

void Ring::unmap() noexcept {
  for (Mapping* mapping : {&sq_ring_, &cq_ring_, &sqe_array_}) {
    if (mapping->address != nullptr) munmap(mapping->address, mapping->bytes);
    *mapping = {};
  }
}

int Ring::register_files(const std::vector<int>& fds) noexcept {
  const int result =
      io_uring_register_files(&handle_, fds.data(), static_cast<unsigned>(fds.size()));
  files_registered_ = result >= 0;
  return -std::min(0, result);
}

int Ring::register_buffers(const std::vector<iovec>& regions) noexcept {
  const int result =
      io_uring_register_buffers(&handle_, regions.data(), static_cast<unsigned>(regions.size()));
  buffers_registered_ = result >= 0;
  return -std::min(0, result);
}

void Ring::unregister() noexcept {
  if (files_registered_) io_uring_unregister_files(&handle_);
  if (buffers_registered_) io_uring_unregister_buffers(&handle_);
  files_registered_ = buffers_registered_ = false;
}

int Ring::register_ring_fd() noexcept {
  // liburing answers the number of registered descriptors: 1.
  const int result = io_uring_register_ring_fd(&handle_);
  if (result != 1) return result < 0 ? -result : EINVAL;
  enter_fd_ = handle_.enter_ring_fd;
  enter_flags_ |= abi::kEnterRegisteredRing;
  return 0;
}

bool knows_opcode(int ring_fd, std::uint8_t opcode) {
  constexpr unsigned kOperations = 256;
  std::vector<std::byte> memory(sizeof(io_uring_probe) + kOperations * sizeof(io_uring_probe_op));
  auto* probe = reinterpret_cast<io_uring_probe*>(memory.data());
  if (syscall(__NR_io_uring_register, ring_fd, IORING_REGISTER_PROBE, probe, kOperations) < 0) {
    return true;
  }
  return opcode <= probe->last_op && (probe->ops[opcode].flags & IO_URING_OP_SUPPORTED) != 0;
}

}  // namespace uringbench::engine
