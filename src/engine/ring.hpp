// A ring of our own mapping: set-up, the three shared-memory verbs of the hot loop, registration.
//
// liburing 2.3 writes the index array over the ring head when the kernel has none (NO_SQARRAY), so
// mapping is done here; registration goes through liburing.
#pragma once

#include <liburing.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/kernel_abi.hpp"
#include "engine/ring_flags.hpp"
#include "engine/ring_views.hpp"

namespace uringbench::engine {

/// io_uring_enter without libc's wrapper in between, which costs a third of a NOP at depth 1.
/// Returns the number of submitted requests or -errno.
inline int enter_system_call(int fd, std::uint32_t to_submit, std::uint32_t wait_for,
                             std::uint32_t flags) noexcept {
#if defined(__x86_64__)
  long result = __NR_io_uring_enter;
  register long argument4 asm("r10") = flags;
  register long argument5 asm("r8") = 0;
  register long argument6 asm("r9") = 0;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(static_cast<long>(fd)), "S"(static_cast<long>(to_submit)),
                 "d"(static_cast<long>(wait_for)), "r"(argument4), "r"(argument5), "r"(argument6)
               : "rcx", "r11", "memory");
  return static_cast<int>(result);
#else
  const long result =
      syscall(__NR_io_uring_enter, fd, to_submit, wait_for, flags, nullptr, std::size_t{0});
  return result < 0 ? -errno : static_cast<int>(result);
#endif
}

/// io_uring_setup; returns a descriptor or -errno.
int setup_system_call(std::uint32_t entries, io_uring_params& params) noexcept;
/// Does the kernel know the opcode? True when it cannot be asked (kernels before 5.6).
bool knows_opcode(int ring_fd, std::uint8_t opcode);

class Ring {
 public:
  /// Sets up and maps. Tries the sets of flags we like best first and records what was refused.
  /// Throws UserError naming the flag when what was asked for is refused, SystemError with a hint
  /// for every other errno.
  explicit Ring(const RingRequest& request);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring();

  // -- the hot loop's side --
  std::uint32_t sq_entries() const noexcept { return sq_mask_ + 1; }
  std::uint32_t cq_entries() const noexcept { return cq_mask_ + 1; }
  SqeRing sqes() noexcept { return {sqes_, sq_mask_}; }
  WideSqeRing wide_sqes() noexcept { return {sqes_, sq_mask_}; }
  /// Submits what was written before `sq_tail`; with `collect`, brings in what has completed and
  /// waits for `wait_for` completions (0: does not wait).
  int enter(std::uint32_t sq_tail, std::uint32_t to_submit, std::uint32_t wait_for,
            bool collect) noexcept {
    __atomic_store_n(sq_tail_, sq_tail, __ATOMIC_RELEASE);
    return enter_system_call(enter_fd_, to_submit, wait_for,
                             enter_flags_ | (collect ? IORING_ENTER_GETEVENTS : 0U));
  }
  std::uint32_t cq_tail() const noexcept { return __atomic_load_n(cq_tail_, __ATOMIC_ACQUIRE); }
  CqeRing cqes() const noexcept { return {cqes_, cq_mask_}; }
  WideCqeRing wide_cqes() const noexcept { return {cqes_, cq_mask_}; }
  void release_cqes(std::uint32_t cq_head) noexcept {
    __atomic_store_n(cq_head_, cq_head, __ATOMIC_RELEASE);
  }

  // -- what SQPOLL needs besides --
  std::uint32_t sq_head() const noexcept { return __atomic_load_n(sq_head_, __ATOMIC_ACQUIRE); }
  /// Completions not yet released.
  std::uint32_t ready() const noexcept { return cq_tail() - *cq_head_; }
  /// Shows the kernel thread the entries before `sq_tail`. True when it sleeps and must be woken.
  /// Store and load must not change places: the thread does the same the other way round.
  bool offer(std::uint32_t sq_tail) noexcept {
    __atomic_store_n(sq_tail_, sq_tail, __ATOMIC_SEQ_CST);
    return needs_wakeup();
  }
  bool needs_wakeup() const noexcept {
    return (__atomic_load_n(sq_flags_, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP) != 0;
  }
  int call(std::uint32_t wait_for, std::uint32_t flags) noexcept {
    return enter_system_call(enter_fd_, 0, wait_for, enter_flags_ | flags);
  }

  // -- set-up --
  /// Each returns 0 or a positive errno.
  int register_files(const std::vector<int>& fds) noexcept;
  int register_buffers(const std::vector<iovec>& regions) noexcept;
  int register_ring_fd() noexcept;
  /// Lets files and buffers go at once. Nothing may be in flight.
  void unregister() noexcept;

  int fd() const noexcept { return handle_.ring_fd; }
  std::uint32_t setup_flags() const noexcept { return setup_flags_; }
  std::uint32_t features() const noexcept { return features_; }
  const std::vector<std::string>& fallbacks() const noexcept { return fallbacks_; }
  bool ring_registered() const noexcept { return (enter_flags_ & abi::kEnterRegisteredRing) != 0; }

 private:
  void map(const io_uring_params& params);
  void unmap() noexcept;

  io_uring_sqe* sqes_ = nullptr;
  io_uring_cqe* cqes_ = nullptr;
  std::uint32_t* sq_head_ = nullptr;
  std::uint32_t* sq_tail_ = nullptr;
  std::uint32_t* sq_flags_ = nullptr;
  std::uint32_t* cq_head_ = nullptr;
  std::uint32_t* cq_tail_ = nullptr;
  std::uint32_t sq_mask_ = 0;
  std::uint32_t cq_mask_ = 0;
  int enter_fd_ = -1;
  std::uint32_t enter_flags_ = 0;

  io_uring handle_{};  // for liburing's registration calls; its rings stay unmapped
  std::uint32_t setup_flags_ = 0;
  std::uint32_t features_ = 0;
  std::vector<std::string> fallbacks_;
  bool files_registered_ = false;
  bool buffers_registered_ = false;
  struct Mapping {
    void* address = nullptr;
    std::size_t bytes = 0;
  };
  Mapping sq_ring_, cq_ring_, sqe_array_;
};

/// "SINGLE_ISSUER", … for each bit set; bits without a name as "BIT_19".
std::vector<std::string> names_of_setup_flags(std::uint32_t flags);
std::vector<std::string> names_of_features(std::uint32_t features);

}  // namespace uringbench::engine
