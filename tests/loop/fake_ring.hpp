// A ring without a kernel: takes the loop's entries, checks them, and completes them as a script or
// a dice says. The very loop that measures runs over it.
#pragma once

#include <liburing.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/clock.hpp"
#include "engine/loop.hpp"

namespace uringbench::engine::testing {

struct Behaviour {
  std::uint32_t depth = 8;  ///< never exceeded by the loop
  std::uint64_t block_size_bytes = 4096;
  std::vector<std::uint64_t> target_blocks = {100};
  bool reorder = true;
  bool eager = true;             ///< now and then completes more than is waited for
  bool complete_inline = false;  ///< everything is done when enter returns
  double eagain = 0, eintr = 0, eio = 0, short_read = 0;  ///< share of completions
  double enter_refuses = 0;                ///< share of calls answered EAGAIN, EBUSY or EINTR
  double partial_submit = 0;               ///< share of calls that take only some of the entries
  std::uint64_t never_after = UINT64_MAX;  ///< requests accepted after so many never complete
  std::uint64_t stop_after_calls = 1000;   ///< the phase turns to stop then
  std::uint64_t fatal_after_calls = UINT64_MAX;
  std::uint64_t measure_after_calls = 0;  ///< warm-up before; 0: measured from the start
  std::uint32_t index_begin = 0;          ///< where the ring's positions begin
  std::uint64_t seed = 1;
};

class FakeRing {
 public:
  FakeRing(const Behaviour& behaviour, Command& command)
      : b_(behaviour), command_(command), dice_(behaviour.seed) {
    const auto entries = std::bit_ceil(b_.depth);
    sqes_.resize(entries);
    cqes_.resize(entries * 2);
    sq_head_ = cq_head_ = cq_tail_ = b_.index_begin;
  }

  SqeRing sqes() noexcept { return {sqes_.data(), static_cast<std::uint32_t>(sqes_.size() - 1)}; }
  CqeRing cqes() const noexcept {
    return {cqes_.data(), static_cast<std::uint32_t>(cqes_.size() - 1)};
  }
  std::uint32_t cq_tail() const noexcept { return cq_tail_; }
  void release_cqes(std::uint32_t head) noexcept {
    if (head - cq_head_ > cq_tail_ - cq_head_) fail("completions released that never came");
    cq_head_ = head;
  }

  int enter(std::uint32_t sq_tail, std::uint32_t to_submit, std::uint32_t wait_for,
            bool collect) noexcept {
    if (wait_for != 0 && !collect) fail("waits without asking for completions");
    ++calls;
    counted_ = command_.phase < Phase::stop;  // the call that sees the stop still counts
    if (calls >= b_.measure_after_calls && command_.phase == Phase::warmup) {
      command_.phase = Phase::measure;
    }
    if (calls >= b_.stop_after_calls && command_.phase < Phase::stop) {
      command_.phase = Phase::stop;
      completed_at_stop = completed_good;
    }
    if (calls > b_.stop_after_calls + 10'000) command_.phase = Phase::give_up;
    if (calls > b_.stop_after_calls + 20'000) fail("the loop does not end");
    if (calls >= b_.fatal_after_calls) return -EBADF;
    if (sq_tail - sq_head_ < to_submit) fail("more submitted than written");
    largest_batch = std::max(largest_batch, to_submit);
    if (chance(b_.enter_refuses)) {
      constexpr int kRefusals[] = {EAGAIN, EBUSY, EINTR};
      if (counted_) refusals++;
      return -kRefusals[dice_() % 3];
    }
    std::uint32_t take = to_submit;
    if (to_submit != 0 && chance(b_.partial_submit))
      take = static_cast<std::uint32_t>(dice_() % to_submit);
    for (std::uint32_t i = 0; i < take; ++i) accept(sqes()[sq_head_++]);
    if (take < to_submit) return static_cast<int>(take);  // the kernel does not wait then
    if (wait_for > in_flight_.size()) fail("waits for more than is in flight");
    if (collect || b_.complete_inline) complete(wait_for);
    if (wait_for > ready() && to_submit == 0) {  // nudged
      if (counted_) refusals++;
      return -EINTR;
    }
    return static_cast<int>(take);
  }

  std::size_t in_flight() const { return in_flight_.size(); }

  std::string failure;
  std::uint64_t calls = 0, accepted = 0, refusals = 0;
  std::uint64_t completed_good = 0, completed_bad = 0, completed_at_stop = 0;
  std::uint32_t largest_batch = 0, most_in_flight = 0;
  std::map<int, std::uint64_t> bad_by_errno;
  std::map<std::uint32_t, std::uint64_t> accepted_by_target;  ///< by descriptor
  std::set<std::uint64_t> buffers_used;
  std::map<std::uint32_t, std::set<std::uint64_t>> blocks_read;
  std::vector<std::uint64_t> offsets;  ///< in order of submission

 protected:
  void fail(const char* what) noexcept {
    if (failure.empty()) failure = what;
  }
  std::vector<io_uring_sqe> sqes_;
  std::uint32_t sq_head_ = 0;

 private:
  struct Request {
    std::uint64_t user_data, addr;
    std::uint64_t number;
  };

  bool chance(double share) noexcept {
    return share > 0 && std::uniform_real_distribution<>()(dice_) < share;
  }
  std::uint32_t ready() const noexcept { return cq_tail_ - cq_head_; }

  void accept(const io_uring_sqe& sqe) noexcept {
    const auto target = static_cast<std::uint32_t>(sqe.fd);
    if (target >= b_.target_blocks.size()) return fail("no such target");
    const std::uint64_t size = b_.target_blocks[target] * b_.block_size_bytes;
    if (sqe.off % b_.block_size_bytes != 0) fail("an offset between two blocks");
    if (sqe.off + b_.block_size_bytes > size) fail("an offset outside the target");
    if (!slots_in_flight_.insert(sqe.user_data).second) fail("a slot is in flight twice");
    if (!buffers_in_flight_.insert(sqe.addr).second) fail("a buffer is in flight twice");
    in_flight_.push_back({sqe.user_data, sqe.addr, accepted++});
    if (in_flight_.size() > b_.depth) fail("deeper than the depth");
    most_in_flight = std::max(most_in_flight, static_cast<std::uint32_t>(in_flight_.size()));
    accepted_by_target[target]++;
    buffers_used.insert(sqe.addr);
    blocks_read[target].insert(sqe.off / b_.block_size_bytes);
    offsets.push_back(sqe.off);
  }

  void complete(std::uint32_t at_least) noexcept {
    const std::size_t most = in_flight_.size();
    std::size_t count = b_.complete_inline ? most : at_least;
    if (!b_.complete_inline && most > at_least && b_.eager && chance(0.3)) {
      count += dice_() % (most - at_least + 1);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (in_flight_.empty()) return;
      std::size_t chosen = b_.reorder ? dice_() % in_flight_.size() : 0;
      if (in_flight_[chosen].number >= b_.never_after) {
        const auto able = std::find_if(in_flight_.begin(), in_flight_.end(),
                                       [&](const auto& r) { return r.number < b_.never_after; });
        if (able == in_flight_.end()) return;
        chosen = static_cast<std::size_t>(able - in_flight_.begin());
      }
      slots_in_flight_.erase(in_flight_[chosen].user_data);
      buffers_in_flight_.erase(in_flight_[chosen].addr);
      finish(in_flight_[chosen]);
      in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
  }

  void finish(const Request& request) noexcept {
    auto result = static_cast<std::int32_t>(b_.block_size_bytes);
    if (chance(b_.eagain)) {
      result = -EAGAIN;
    } else if (chance(b_.eintr)) {
      result = -EINTR;
    } else if (chance(b_.eio)) {
      result = -EIO;
    } else if (chance(b_.short_read)) {
      result = static_cast<std::int32_t>(dice_() % b_.block_size_bytes);
    }
    if (result == static_cast<std::int32_t>(b_.block_size_bytes)) {
      completed_good++;
    } else {
      completed_bad++;
      bad_by_errno[result < 0 ? -result : 0]++;
    }
    if (ready() == cqes_.size()) return fail("the completion ring overflows");
    io_uring_cqe& cqe = cqes_[cq_tail_ & (cqes_.size() - 1)];
    cqe.user_data = request.user_data;
    cqe.res = result;
    cqe.flags = 0;
    cq_tail_++;
  }

  const Behaviour b_;
  Command& command_;
  std::mt19937_64 dice_;
  std::vector<io_uring_cqe> cqes_;
  std::uint32_t cq_head_ = 0, cq_tail_ = 0;
  std::deque<Request> in_flight_;
  std::unordered_set<std::uint64_t> slots_in_flight_, buffers_in_flight_;
  bool counted_ = true;
};

static_assert(RingLike<FakeRing> && !CountsCalls<FakeRing> && !TakenByThread<FakeRing>);

/// As SQPOLL's thread has it: entries are free again some time after their requests have completed,
/// and a turn of the loop is none, one or two system calls.
class LazyRing : public FakeRing {
 public:
  LazyRing(const Behaviour& behaviour, Command& command)
      : FakeRing(behaviour, command), free_head_(behaviour.index_begin), dice_(behaviour.seed) {}

  std::uint32_t room(std::uint32_t sq_tail) const noexcept {
    return static_cast<std::uint32_t>(sqes_.size()) - (sq_tail - free_head_);
  }
  std::uint64_t system_calls() const noexcept { return system_calls_; }
  std::uint64_t wakeups() const noexcept { return wakeups_; }

  int enter(std::uint32_t sq_tail, std::uint32_t to_submit, std::uint32_t wait_for,
            bool collect) noexcept {
    if (sq_tail - free_head_ > sqes_.size()) fail("an entry was written that is not free");
    const int taken = FakeRing::enter(sq_tail, to_submit, wait_for, collect);
    free_head_ += static_cast<std::uint32_t>(dice_() % (sq_head_ - free_head_ + 1));
    const std::uint64_t calls_made = dice_() % 3;
    system_calls_ += calls_made;
    wakeups_ += calls_made / 2;
    return taken;
  }

 private:
  std::uint32_t free_head_;
  std::uint64_t system_calls_ = 0, wakeups_ = 0;
  std::mt19937_64 dice_;
};

static_assert(RingLike<LazyRing> && CountsCalls<LazyRing> && TakenByThread<LazyRing>);

/// A clock that goes on by one with each look, so that latencies are exact.
struct StepClock {
  static constexpr bool kTimed = true;
  static inline std::uint64_t now = 0;
  static std::uint64_t ticks() noexcept { return now++; }
};

/// One whole run of the loop over a fake ring.
template <class RingType>
struct BasicLoopRun {
  BasicLoopRun(const Behaviour& behaviour, std::uint32_t batch_submit, std::uint32_t batch_complete,
               bool random = true)
      : worker(command, timed_plan()), ring(behaviour, command), slots(behaviour.depth) {
    if (behaviour.measure_after_calls == 0) command.phase = Phase::measure;
    std::vector<std::uint32_t> indices;
    for (std::uint32_t i = 0; i < behaviour.target_blocks.size(); ++i) {
      targets.push_back({.fd = static_cast<int>(i),
                         .index = i,
                         .blocks = behaviour.target_blocks[i],
                         .next_block = 0});
      indices.push_back(i);
    }
    worker.set_targets(indices);
    for (std::uint32_t i = 0; i < behaviour.depth; ++i) slots[i].address = 4096 * (i + 1);
    for (std::uint32_t i = 0; i <= ring.sqes().mask; ++i) ring.sqes()[i] = io_uring_sqe{};
    setup = {.slots = &slots,
             .targets = &targets,
             .depth = behaviour.depth,
             .batch_submit = batch_submit,
             .batch_complete = batch_complete,
             .block_size_bytes = behaviour.block_size_bytes,
             .expected_result = static_cast<std::int32_t>(behaviour.block_size_bytes),
             .random = random,
             .seed = behaviour.seed,
             .first_index = behaviour.index_begin};
  }
  static plan::RunPlan timed_plan() {
    plan::RunPlan plan;
    plan.latency = true;
    return plan;
  }
  template <class Clock = NoClock>
  void run() {
    Loop<RingType, Clock, ReadRequest>(ring, setup, worker).run();
  }

  Command command;
  Worker worker;
  RingType ring;
  std::vector<Slot> slots;
  std::vector<LoopTarget> targets;
  LoopSetup setup;
};
using LoopRun = BasicLoopRun<FakeRing>;

}  // namespace uringbench::engine::testing
