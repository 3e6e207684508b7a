// The trial read: before the clock starts, block 0 of every target is read once through the very
// entries of the run, so that what makes measuring pointless is refused instead of counted.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "base/base.hpp"
#include "engine/clock.hpp"
#include "engine/loop.hpp"
#include "engine/registration.hpp"
#include "machine/machine.hpp"

namespace uringbench::engine {

/// One request, waited for. Returns its result; nothing when cancelled.
template <RingLike RingType>
std::optional<std::int32_t> one_request(RingType& ring, const plan::RunPlan& plan,
                                        std::uint32_t index, const std::atomic<Phase>& phase) {
  std::uint32_t to_submit = 1;
  while (ring.cq_tail() == index) {
    if (phase.load(std::memory_order_relaxed) >= Phase::stop) return std::nullopt;
    const int taken = ring.enter(index + 1, to_submit, 1, true);
    if (taken >= 0) {
      to_submit -= std::min(to_submit, static_cast<std::uint32_t>(taken));
    } else if (!Worker::passes(-taken)) {
      if (plan.engine == plan::Engine::aio) {
        throw base::SystemError("io_submit", "legacy AIO", -taken, machine::aio_setup_hint(-taken));
      }
      throw base::SystemError("io_uring_enter", "io_uring", -taken, machine::setup_hint(-taken));
    }
  }
  const std::int32_t result = ring.cqes()[index].res;
  ring.release_cqes(index + 1);
  return result;
}

/// Reads block 0 of every target once (a NOP: once). `phase` is asked after each wake-up.
/// Throws UserError when the answer makes measuring pointless. Returns the ring's positions: as
/// many entries used as completions taken.
template <class Request, RingLike RingType>
std::uint32_t trial_reads(RingType& ring, const plan::RunPlan& plan, SlotBuffers& buffers,
                          const std::vector<LoopTarget>& targets, const std::atomic<Phase>& phase,
                          std::atomic<std::int64_t>& trial_since_ns) {
  constexpr int kAttempts = 100;  // of one that is told to try again
  std::uint32_t index = 0;
  const std::size_t count = std::max<std::size_t>(targets.size(), 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name =
        targets.empty() || plan.nop ? "NOP" : plan.targets[targets[i].index].path;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if constexpr (TakenByThread<RingType>) {
        while (ring.room(index) == 0 && phase.load(std::memory_order_relaxed) < Phase::stop) {
        }
      }
      io_uring_sqe& sqe = ring.sqes()[index];
      Slot& slot = buffers.slots()[0];
      slot.offset_bytes = 0;
      if (!targets.empty()) {
        Request::aim(sqe, targets[i]);
        Request::fill(sqe, slot, targets[i]);
      }
      trial_since_ns.store(monotonic_ns(), std::memory_order_relaxed);
      const auto result = one_request(ring, plan, index, phase);
      if (!result) return index;
      ++index;
      if (*result == -EAGAIN || *result == -EINTR) continue;
      if (auto problem = verdict_of_result(*result, plan, name)) {
        throw base::UserError({*problem});
      }
      break;
    }
  }
  trial_since_ns.store(0, std::memory_order_relaxed);
  return index;
}

}  // namespace uringbench::engine
