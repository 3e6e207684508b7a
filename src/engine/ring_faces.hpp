// How the hot loop sees a ring that is more than plain: entries of double size, or a kernel thread
// that submits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/ring.hpp"

namespace uringbench::engine {

/// With `kWide`, entries and completions of double size.
template <bool kWide>
class RingFace {
 public:
  explicit RingFace(Ring& ring) noexcept : ring_(ring) {}
  auto sqes() noexcept {
    if constexpr (kWide)
      return ring_.wide_sqes();
    else
      return ring_.sqes();
  }
  auto cqes() const noexcept {
    if constexpr (kWide)
      return ring_.wide_cqes();
    else
      return ring_.cqes();
  }
  std::uint32_t cq_tail() const noexcept { return ring_.cq_tail(); }
  void release_cqes(std::uint32_t cq_head) noexcept { ring_.release_cqes(cq_head); }

 protected:
  Ring& ring_;
};

/// Submits by a system call.
class WideRing : public RingFace<true> {
 public:
  using RingFace::RingFace;
  int enter(std::uint32_t sq_tail, std::uint32_t to_submit, std::uint32_t wait_for,
            bool collect) noexcept {
    return ring_.enter(sq_tail, to_submit, wait_for, collect);
  }
};

inline void relax_cpu() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Submits by writing the tail: a kernel thread (SQPOLL) sees it. A system call is made to wake
/// that thread, and to wait for completions that do not come soon.
template <bool kWide>
class SqpollRing : public RingFace<kWide> {
 public:
  using RingFace<kWide>::RingFace;

  /// Entries that may be written now. The thread frees an entry when it has read it, which can be
  /// after its completion was seen.
  std::uint32_t room(std::uint32_t sq_tail) const noexcept {
    return ring_.sq_entries() - (sq_tail - ring_.sq_head());
  }

  int enter(std::uint32_t sq_tail, std::uint32_t to_submit, std::uint32_t wait_for, bool) noexcept {
    int error = 0;
    if (to_submit != 0 && ring_.offer(sq_tail)) error = call(0, IORING_ENTER_SQ_WAKEUP);
    if (wait_for != 0 && error == 0 && !seen_soon(wait_for)) {
      // A thread that sleeps over entries it was offered would sleep for ever.
      const bool asleep = ring_.needs_wakeup() && ring_.sq_head() != sq_tail;
      error = call(wait_for, IORING_ENTER_GETEVENTS | (asleep ? IORING_ENTER_SQ_WAKEUP : 0U));
    }
    // What was offered is the thread's, whatever became of the waiting. A lasting error is seen by
    // the next call that has nothing to offer.
    return to_submit != 0 ? static_cast<int>(to_submit) : std::min(error, 0);
  }

  std::uint64_t system_calls() const noexcept { return system_calls_; }
  std::uint64_t wakeups() const noexcept { return wakeups_; }

 private:
  using RingFace<kWide>::ring_;

  /// Looks for some tens of microseconds: as long as sleeping and being woken would take. Longer
  /// would take the CPU from the very thread that is waited for, where both share one.
  bool seen_soon(std::uint32_t wait_for) const noexcept {
    constexpr int kLooks = 1000;
    for (int i = 0; i < kLooks; ++i) {
      if (ring_.ready() >= wait_for) return true;
      relax_cpu();
    }
    return false;
  }

  int call(std::uint32_t wait_for, std::uint32_t flags) noexcept {
    system_calls_++;
    if ((flags & IORING_ENTER_SQ_WAKEUP) != 0) wakeups_++;
    return std::min(ring_.call(wait_for, flags), 0);
  }

  std::uint64_t system_calls_ = 0;
  std::uint64_t wakeups_ = 0;
};

}  // namespace uringbench::engine
