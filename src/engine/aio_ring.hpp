// Legacy kernel AIO behind the face of a ring, so that the very loop that measures io_uring, with
// the very same counters, measures it too.
//
// The loop writes io_uring entries into plain memory; enter() translates them to iocbs, submits
// them, and turns the events that have come into completions.
#pragma once

#include <liburing.h>
#include <linux/aio_abi.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "engine/ring_views.hpp"

namespace uringbench::engine {

/// The kernel's side: a context and its two calls. Each answers as the system call does, but with
/// -errno. Tests have a kernel of their own.
class AioKernel {
 public:
  /// Throws SystemError with a cure.
  explicit AioKernel(std::uint32_t depth);
  AioKernel(const AioKernel&) = delete;
  AioKernel& operator=(const AioKernel&) = delete;
  ~AioKernel();

  long submit(long count, iocb** requests) noexcept;
  /// Waits for `at_least` events; does not wait when that is 0.
  long get_events(long at_least, long at_most, io_event* events) noexcept;
  /// Leaves the context to the end of the process: destroying it would wait for what is still out.
  void abandon() noexcept { context_ = 0; }

 private:
  aio_context_t context_ = 0;
};

template <class Kernel>
class BasicAioRing {
 public:
  /// For up to `depth` requests between submission and release of their completion.
  explicit BasicAioRing(std::uint32_t depth)
      : kernel_(depth),
        sqes_(std::bit_ceil(depth)),
        cqes_(sqes_.size()),
        iocbs_(sqes_.size()),
        requests_(sqes_.size()),
        events_(sqes_.size()) {
    for (std::size_t i = 0; i < iocbs_.size(); ++i) requests_[i] = &iocbs_[i];
  }
  BasicAioRing(const BasicAioRing&) = delete;
  BasicAioRing& operator=(const BasicAioRing&) = delete;
  ~BasicAioRing() {
    if (flying_ != 0) kernel_.abandon();
  }

  SqeRing sqes() noexcept { return {sqes_.data(), mask()}; }
  CqeRing cqes() const noexcept { return {cqes_.data(), mask()}; }
  std::uint32_t cq_tail() const noexcept { return cq_tail_; }
  void release_cqes(std::uint32_t cq_head) noexcept { cq_head_ = cq_head; }

  /// As Ring::enter(). What the kernel does not take for want of room stays with the caller; then
  /// one completion is waited for at most, since room is made by collecting.
  int enter(std::uint32_t sq_tail, std::uint32_t to_submit, std::uint32_t wait_for,
            bool collect) noexcept {
    int refused = 0;
    const std::uint32_t taken = submit(sq_tail - to_submit, to_submit, refused);
    if (taken != to_submit) wait_for = 1;
    if (collect || taken != to_submit) {
      // A failed collection must not hide what was taken.
      const int error = gather(wait_for);
      if (refused == 0) refused = error;
    }
    return taken != 0 ? static_cast<int>(taken) : -refused;
  }

  /// Made so far, of either kind.
  std::uint64_t system_calls() const noexcept { return system_calls_; }
  Kernel& kernel() noexcept { return kernel_; }

 private:
  std::uint32_t mask() const noexcept { return static_cast<std::uint32_t>(sqes_.size() - 1); }

  static void translate(const io_uring_sqe& sqe, iocb& request) noexcept {
    request.aio_data = sqe.user_data;
    request.aio_lio_opcode = sqe.opcode == IORING_OP_READV ? IOCB_CMD_PREADV : IOCB_CMD_PREAD;
    request.aio_fildes = static_cast<std::uint32_t>(sqe.fd);
    request.aio_buf = sqe.addr;
    request.aio_nbytes = sqe.len;
    request.aio_offset = static_cast<std::int64_t>(sqe.off);
  }

  /// Returns how many were taken; `refused` is why the next one was not, or 0.
  std::uint32_t submit(std::uint32_t first, std::uint32_t count, int& refused) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) translate(sqes()[first + i], iocbs_[i]);
    std::uint32_t taken = 0;
    while (taken != count) {
      ++system_calls_;
      const long result = kernel_.submit(count - taken, &requests_[taken]);
      if (result > 0) {
        taken += static_cast<std::uint32_t>(result);
        flying_ += static_cast<std::uint32_t>(result);
        continue;
      }
      refused = result < 0 ? static_cast<int>(-result) : EAGAIN;
      if (refused == EAGAIN || refused == EINTR || refused == ENOMEM) break;
      // The fault of this request alone. io_uring takes such a one and completes it with its error.
      complete(iocbs_[taken].aio_data, -refused);
      refused = 0;
      ++taken;
    }
    return taken;
  }

  /// Takes the events that are there, once `wait_for` completions are, or all there can be.
  /// Returns 0 or a positive errno.
  int gather(std::uint32_t wait_for) noexcept {
    if (flying_ == 0) return 0;
    const std::uint32_t there = cq_tail_ - cq_head_;
    const std::uint32_t at_least = std::min(wait_for - std::min(wait_for, there), flying_);
    ++system_calls_;
    const long result = kernel_.get_events(at_least, flying_, events_.data());
    if (result < 0) return static_cast<int>(-result);
    for (long i = 0; i < result; ++i) {
      const io_event& event = events_[static_cast<std::size_t>(i)];
      complete(event.data, static_cast<std::int32_t>(event.res));
    }
    flying_ -= static_cast<std::uint32_t>(result);
    return 0;
  }

  void complete(std::uint64_t user_data, std::int32_t result) noexcept {
    io_uring_cqe& cqe = cqes_[cq_tail_++ & mask()];
    cqe.user_data = user_data;
    cqe.res = result;
  }

  Kernel kernel_;
  std::vector<io_uring_sqe> sqes_;
  std::vector<io_uring_cqe> cqes_;
  std::vector<iocb> iocbs_;
  std::vector<iocb*> requests_;
  std::vector<io_event> events_;
  std::uint32_t cq_head_ = 0;
  std::uint32_t cq_tail_ = 0;
  std::uint32_t flying_ = 0;  ///< with the kernel
  std::uint64_t system_calls_ = 0;
};

using AioRing = BasicAioRing<AioKernel>;

}  // namespace uringbench::engine
