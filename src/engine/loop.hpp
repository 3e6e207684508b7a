// The hot loop: prepare, submit, reap, drain.
//
// A template over the ring, so that tests run the very same loop over a fake one, and over the two
// things that change its code: the clock, and whether there is an offset at all. Nothing in here
// allocates, logs, throws or locks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <concepts>
#include <cstdint>
#include <vector>

#include "engine/kernel_abi.hpp"
#include "engine/offsets.hpp"
#include "engine/slots.hpp"
#include "engine/worker.hpp"

namespace uringbench::engine {

/// What the loop needs of a ring; Ring is one, the tests' FakeRing another.
template <class R>
concept RingLike = requires(R ring, const R fixed, std::uint32_t n) {
  { fixed.sq_entries() } -> std::same_as<std::uint32_t>;
  { ring.sqe(n) } -> std::same_as<io_uring_sqe&>;
  { ring.enter(n, n, n) } -> std::same_as<int>;
  { fixed.cq_tail() } -> std::same_as<std::uint32_t>;
  { fixed.cqe(n) } -> std::same_as<const io_uring_cqe&>;
  { ring.release_cqes(n) };
};

/// What a loop works on, fixed before it starts.
struct LoopSetup {
  std::vector<Slot>* slots = nullptr;        ///< depth of them
  std::vector<LoopTarget>* targets = nullptr;  ///< at least one unless NOP
  std::uint32_t depth = 1, batch_submit = 1, batch_complete = 1;
  std::uint64_t block_size_bytes = 0;
  std::int32_t expected_result = 0;          ///< of a good completion: block size, or 0 for NOP
  bool random = true;
  std::uint64_t seed = 0;
  std::uint32_t first_index = 0;             ///< ring entries and completions used before
};

template <RingLike RingType, class Clock, bool kHasOffset>
class Loop {
 public:
  Loop(RingType& ring, const LoopSetup& setup, Worker& worker)
      : ring_(ring), setup_(setup), worker_(worker), random_(setup.seed),
        free_(setup.depth), retries_(setup.depth) {
    // The least slot on top: the first requests use the first buffers.
    for (std::uint32_t i = 0; i < setup.depth; ++i) {
      free_[i] = &(*setup.slots)[setup.depth - 1 - i];
    }
    free_count_ = setup.depth;
    sq_tail_ = cq_head_ = setup.first_index;
    fill_threshold_ = setup.depth - 1;
  }

  /// Runs until the phase says stop, or until io_uring_enter itself fails; drains then.
  void run() noexcept {
    now_ = Clock::ticks();
    worker_.begin_loop(now_);
    while (true) {
      if (pending_ == 0) prepare();
      const int taken = submit();
      if constexpr (Clock::kTimed) now_ = advance_clock();
      reap();
      worker_.publish(tally_);
      if (taken < 0) [[unlikely]] {
        if (!worker_.survives(-taken, tally_)) break;
      } else {
        pending_ -= static_cast<std::uint32_t>(taken);
      }
      if (worker_.phase_changed()) [[unlikely]] {
        if (worker_.enter_phase(tally_, now_) == Phase::stop) break;
      }
    }
    drain();
  }

 private:
  std::uint32_t in_flight() const noexcept { return setup_.depth - free_count_ - retry_count_; }

  /// Writes up to batch_submit requests into the ring, first those that must be tried again.
  void prepare() noexcept {
    std::uint32_t room = std::min(free_count_ + retry_count_, setup_.batch_submit);
    std::uint32_t tail = sq_tail_;
    while (retry_count_ != 0 && room != 0) [[unlikely]] {
      write(ring_.sqe(tail++), *retries_[--retry_count_]);
      --room;
    }
    std::uint32_t free_count = free_count_;
    Random random = random_;
    for (; room != 0; --room) {
      Slot& slot = *free_[--free_count];
      if constexpr (kHasOffset) aim(slot, random);
      if constexpr (Clock::kTimed) slot.submit_ticks = now_;
      write(ring_.sqe(tail++), slot);
    }
    random_ = random;
    free_count_ = free_count;
    pending_ = tail - sq_tail_;
    sq_tail_ = tail;
  }

  /// Chooses target and offset: targets take turns request by request.
  [[gnu::always_inline]] void aim(Slot& slot, Random& random) noexcept {
    LoopTarget* target = setup_.targets->data();
    if (const auto count = static_cast<std::uint32_t>(setup_.targets->size()); count != 1) {
      target += turn_;
      slot.target = turn_;
      turn_ = turn_ + 1 == count ? 0 : turn_ + 1;
    }
    const std::uint64_t block =
        setup_.random ? random.below(target->blocks) : target->next_sequential();
    slot.offset_bytes = block * setup_.block_size_bytes;
  }

  /// Everything else of the entry was written at set-up (fill_entries).
  [[gnu::always_inline]] void write(io_uring_sqe& sqe, Slot& slot) noexcept {
    sqe.user_data = reinterpret_cast<std::uint64_t>(&slot);
    if constexpr (kHasOffset) {
      sqe.off = slot.offset_bytes;
      sqe.addr = slot.address;
      sqe.buf_index = slot.buffer_index;
      if (setup_.targets->size() != 1) sqe.fd = (*setup_.targets)[slot.target].fd;
    }
  }

  /// One system call. While there is room for another batch nothing is waited for.
  int submit() noexcept {
    const std::uint32_t flying = in_flight();
    if (flying == setup_.depth) fill_threshold_ = setup_.depth - setup_.batch_submit;
    const std::uint32_t wait_for =
        pending_ != 0 && flying <= fill_threshold_ ? 0 : std::min(flying, setup_.batch_complete);
    tally_.submit_calls++;
    tally_.in_flight_sum += flying;
    if (flying > tally_.in_flight_max) tally_.in_flight_max = flying;
    if constexpr (Clock::kTimed) flying_since_ = flying;
    return ring_.enter(sq_tail_, pending_, wait_for);
  }

  /// Adds up requests × time since the last stamp, and takes the next stamp.
  std::uint64_t advance_clock() noexcept {
    const std::uint64_t now = Clock::ticks();
    tally_.in_flight_ticks += static_cast<Wide>(now - now_) * flying_since_;
    return now;
  }

  /// Takes every completion there is. Good ones are counted by subtraction: only bad ones cost.
  void reap() noexcept {
    const std::uint32_t tail = ring_.cq_tail();
    std::uint32_t head = cq_head_;
    if (head == tail) return;
    std::uint32_t free_count = free_count_;
    tally_.completions += tail - head;
    tally_.ios += tail - head;
    for (; head != tail; ++head) {
      const io_uring_cqe& cqe = ring_.cqe(head);
      Slot* slot = reinterpret_cast<Slot*>(cqe.user_data);
      if (cqe.res != setup_.expected_result) [[unlikely]] {
        tally_.ios--;
        if (worker_.must_retry(cqe.res, *slot, tally_)) {
          retries_[retry_count_++] = slot;
          continue;
        }
      } else if constexpr (Clock::kTimed) {
        const auto latency = static_cast<std::int64_t>(now_ - slot->submit_ticks);
        worker_.latency_ticks().record(static_cast<std::uint64_t>(std::max<std::int64_t>(latency, 0)));
      }
      free_[free_count++] = slot;
    }
    free_count_ = free_count;
    cq_head_ = head;
    ring_.release_cqes(head);
  }

  /// After the measured time: nothing new, and what is out comes home (or is given up).
  void drain() noexcept {
    std::uint32_t flying = in_flight() - std::min(pending_, in_flight());
    while (flying != 0 && !worker_.must_give_up()) {
      ring_.enter(sq_tail_ - pending_, 0, 1);
      const std::uint32_t tail = ring_.cq_tail();
      flying -= std::min(flying, tail - cq_head_);
      cq_head_ = tail;
      ring_.release_cqes(tail);
    }
    worker_.finish(flying);
  }

  RingType& ring_;
  const LoopSetup& setup_;
  Worker& worker_;
  Random random_;
  std::vector<Slot*> free_;     // a stack: the buffer used last is the warmest in the cache
  std::vector<Slot*> retries_;  // neither free nor in flight
  std::uint32_t free_count_ = 0;
  std::uint32_t retry_count_ = 0;
  std::uint32_t pending_ = 0;  // written, not yet taken by the kernel
  std::uint32_t sq_tail_ = 0;
  std::uint32_t cq_head_ = 0;
  std::uint32_t turn_ = 0;
  std::uint32_t flying_since_ = 0;
  /// Up to this many in flight, the next batch goes out without waiting. Until the queue was full
  /// once that is everything below depth, so that any depth is reached, whatever the batch.
  std::uint32_t fill_threshold_ = 0;
  std::uint64_t now_ = 0;
  Tally tally_;
};

}  // namespace uringbench::engine
