// The hot loop: prepare, submit, reap, drain.
//
// A template over the ring, so that tests run the very same loop over a fake one, and over the two
// things that change its code: the clock, and what a request is made of. Nothing in here allocates,
// logs, throws or locks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "engine/kernel_abi.hpp"
#include "engine/offsets.hpp"
#include "engine/request.hpp"
#include "engine/ring_views.hpp"
#include "engine/slots.hpp"
#include "engine/worker.hpp"

namespace uringbench::engine {

/// What the loop needs of a ring; Ring is one, the tests' FakeRing another.
template <class R>
concept RingLike = requires(R ring, const R fixed, std::uint32_t n) {
  { ring.sqes()[n] } -> std::same_as<io_uring_sqe&>;
  { ring.enter(n, n, n, true) } -> std::same_as<int>;
  { fixed.cq_tail() } -> std::same_as<std::uint32_t>;
  { fixed.cqes()[n] } -> std::same_as<const io_uring_cqe&>;
  {ring.release_cqes(n)};
};
/// A ring whose enter() is not just one system call counts them itself.
template <class R>
concept CountsCalls = requires(const R ring) {
  { ring.system_calls() } -> std::same_as<std::uint64_t>;
};
/// SQPOLL: a kernel thread takes the entries, in its own time.
template <class R>
concept TakenByThread = requires(const R ring, std::uint32_t sq_tail) {
  { ring.room(sq_tail) } -> std::same_as<std::uint32_t>;
  { ring.wakeups() } -> std::same_as<std::uint64_t>;
};

/// What a loop works on, fixed before it starts.
struct LoopSetup {
  std::vector<Slot>* slots = nullptr;          ///< depth of them
  std::vector<LoopTarget>* targets = nullptr;  ///< at least one unless NOP
  std::uint32_t depth = 1, batch_submit = 1, batch_complete = 1;
  std::uint64_t block_size_bytes = 0;
  std::int32_t expected_result = 0;  ///< of a good completion: block size, or 0 for NOP
  bool random = true;
  std::uint64_t seed = 0;
  std::uint32_t first_index = 0;  ///< ring entries and completions used before
};

template <RingLike RingType, class Clock, class Request>
class Loop {
  static constexpr bool kHasOffset = Request::kHasOffset;
  using Sqes = std::decay_t<decltype(std::declval<RingType&>().sqes())>;

 public:
  Loop(RingType& ring, const LoopSetup& setup, Worker& worker)
      : ring_(ring),
        setup_(setup),
        worker_(worker),
        targets_(*setup.targets),
        random_(setup.seed),
        free_(setup.depth),
        retries_(setup.depth) {
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
      if constexpr (CountsCalls<RingType>) count_calls();
      if constexpr (Clock::kTimed) now_ = advance_clock();
      reap();
      if (taken >= 0) [[likely]] {
        pending_ -= static_cast<std::uint32_t>(taken);
        tally_.submitted += static_cast<std::uint32_t>(taken);
      } else if (!worker_.survives(-taken, tally_)) {
        break;
      }
      worker_.publish(tally_);
      if (worker_.phase_changed()) [[unlikely]] {
        if (worker_.enter_phase(tally_, now_) == Phase::stop) break;
      }
    }
    drain();
  }

 private:
  std::uint32_t in_flight() const noexcept { return setup_.depth - free_count_ - retry_count_; }

  /// Writes up to batch_submit requests into the ring, first those that must be tried again.
  /// What does not change is copied into locals: the compiler cannot know that the entries written
  /// do not overlap this object, and would load everything anew for each.
  void prepare() noexcept {
    std::uint32_t tail = sq_tail_;
    std::uint32_t count = std::min(free_count_ + retry_count_, setup_.batch_submit);
    if constexpr (TakenByThread<RingType>) count = std::min(count, ring_.room(tail));
    const std::uint32_t end = tail + count;
    const Sqes sqes = ring_.sqes();
    while (retry_count_ != 0 && tail != end) [[unlikely]] {
        Slot& slot = *retries_[--retry_count_];
        if constexpr (kHasOffset) {
          const LoopTarget& target = targets_[slot.target];
          if (targets_.size() != 1) Request::aim(sqes[tail], target);
          write(sqes[tail++], slot, target);
        } else {
          write(sqes[tail++], slot);
        }
      }
    Slot** top = free_.data() + free_count_;
    Slot** const bottom = top - (end - tail);
    if constexpr (kHasOffset) {
      if (setup_.random && targets_.size() == 1) {
        random_ = prepare_random(sqes, tail, top, bottom, random_);
      } else {
        prepare_general(sqes, tail, top, bottom);
      }
    } else {
      while (top != bottom) {
        Slot& slot = **--top;
        if constexpr (Clock::kTimed) slot.submit_ticks = now_;
        write(sqes[tail++], slot);
      }
    }
    free_count_ = static_cast<std::uint32_t>(bottom - free_.data());
    pending_ = end - sq_tail_;
    sq_tail_ = end;
  }

  /// The case that is measured most: random reads of one target.
  [[gnu::always_inline]] Random prepare_random(Sqes sqes, std::uint32_t tail, Slot** top,
                                               Slot** bottom, Random random) noexcept {
    const LoopTarget target = targets_[0];
    const std::uint64_t block_size_bytes = setup_.block_size_bytes;
    const std::uint64_t now = now_;
    while (top != bottom) {
      Slot& slot = **--top;
      slot.offset_bytes = random.below(target.blocks) * block_size_bytes;
      if constexpr (Clock::kTimed) slot.submit_ticks = now;
      write(sqes[tail++], slot, target);
    }
    return random;
  }

  /// Sequential reads, and several targets: they take turns request by request.
  void prepare_general(Sqes sqes, std::uint32_t tail, Slot** top, Slot** bottom) noexcept {
    const auto count = static_cast<std::uint32_t>(targets_.size());
    while (top != bottom) {
      Slot& slot = **--top;
      LoopTarget& target = targets_[turn_];
      slot.target = turn_;
      turn_ = turn_ + 1 == count ? 0 : turn_ + 1;
      const std::uint64_t block =
          setup_.random ? random_.below(target.blocks) : target.next_sequential();
      slot.offset_bytes = block * setup_.block_size_bytes;
      if constexpr (Clock::kTimed) slot.submit_ticks = now_;
      Request::aim(sqes[tail], target);
      write(sqes[tail++], slot, target);
    }
  }

  /// Everything else of the entry was written at set-up, or by the caller (the target).
  [[gnu::always_inline]] void write(io_uring_sqe& sqe, Slot& slot,
                                    const LoopTarget& target = {}) noexcept {
    sqe.user_data = reinterpret_cast<std::uint64_t>(&slot);
    Request::fill(sqe, slot, target);
  }

  /// One system call. While there is room for another batch nothing is waited for.
  int submit() noexcept {
    const std::uint32_t flying = in_flight();
    if (flying == setup_.depth) fill_threshold_ = setup_.depth - setup_.batch_submit;
    const std::uint32_t wait_for =
        pending_ != 0 && flying <= fill_threshold_ ? 0 : std::min(flying, setup_.batch_complete);
    if constexpr (CountsCalls<RingType>) {
      tally_.turns++;
    } else {
      tally_.submit_calls++;
    }
    tally_.in_flight_sum += flying;
    if (flying > tally_.in_flight_max) tally_.in_flight_max = flying;
    if constexpr (Clock::kTimed) flying_since_ = flying;
    // Requests that did not complete within their own call leave their completions with the kernel
    // until somebody asks (DEFER_TASKRUN): ask, also while the queue is being filled.
    const bool collect = wait_for != 0 || flying != pending_;
    return ring_.enter(sq_tail_, pending_, wait_for, collect);
  }

  void count_calls() noexcept {
    const std::uint64_t calls = ring_.system_calls();
    tally_.submit_calls += calls - calls_seen_;
    calls_seen_ = calls;
    if constexpr (TakenByThread<RingType>) {
      const std::uint64_t wakeups = ring_.wakeups();
      tally_.wakeups += wakeups - wakeups_seen_;
      wakeups_seen_ = wakeups;
    }
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
    const auto cqes = ring_.cqes();
    const std::int32_t expected = setup_.expected_result;
    const std::uint64_t now = now_;
    Slot** top = free_.data() + free_count_;
    stats::Histogram* latency = nullptr;
    if constexpr (Clock::kTimed) latency = &worker_.latency_ticks();
    stats::Histogram::Batch batch;
    tally_.completions += tail - head;
    tally_.ios += tail - head;
    for (; head != tail; ++head) {
      const io_uring_cqe& cqe = cqes[head];
      Slot* slot = reinterpret_cast<Slot*>(cqe.user_data);
      if (cqe.res != expected) [[unlikely]] {
        tally_.ios--;
        if (worker_.must_retry(cqe.res, *slot, tally_)) {
          retries_[retry_count_++] = slot;
          continue;
        }
      } else if constexpr (Clock::kTimed) {
        // Counters of two processors may be a hair apart: never below zero.
        const auto ticks = static_cast<std::int64_t>(now - slot->submit_ticks);
        latency->record(static_cast<std::uint64_t>(std::max<std::int64_t>(ticks, 0)), batch);
      }
      *top++ = slot;
    }
    if constexpr (Clock::kTimed) latency->add(batch);
    free_count_ = static_cast<std::uint32_t>(top - free_.data());
    cq_head_ = head;
    ring_.release_cqes(head);
  }

  /// After the measured time: nothing new, and what is out comes home (or is given up).
  void drain() noexcept {
    std::uint32_t flying = in_flight() - std::min(pending_, in_flight());
    while (flying != 0 && !worker_.must_give_up()) {
      const int result = ring_.enter(sq_tail_ - pending_, 0, 1, true);
      if (result < 0 && !Worker::passes(-result)) break;  // nothing will come home any more
      const std::uint32_t tail = ring_.cq_tail();
      flying -= std::min(flying, tail - cq_head_);
      worker_.note_drained(tail - cq_head_);
      cq_head_ = tail;
      ring_.release_cqes(tail);
    }
    worker_.finish(flying);
  }

  RingType& ring_;
  const LoopSetup& setup_;
  Worker& worker_;
  std::vector<LoopTarget>& targets_;
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
  std::uint64_t calls_seen_ = 0;    // of a ring that counts its calls itself
  std::uint64_t wakeups_seen_ = 0;  // SQPOLL only
  /// Up to this many in flight, the next batch goes out without waiting. Until the queue was full
  /// once that is everything below depth, so that any depth is reached, whatever the batch.
  std::uint32_t fill_threshold_ = 0;
  std::uint64_t now_ = 0;
  Tally tally_;
};

}  // namespace uringbench::engine
