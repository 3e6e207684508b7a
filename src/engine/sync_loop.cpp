// The synchronous engine: one preadv2 after the other, for comparison with a ring at depth 1.
#include <sys/uio.h>

#include <cerrno>

#include "engine/clock.hpp"
#include "engine/slots.hpp"
#include "engine/thread_body.hpp"

namespace uringbench::engine {
namespace {

template <class Clock>
void run_sync_loop(ThreadInput& input, SlotBuffers& buffers, Worker& worker) noexcept {
  const plan::RunPlan& plan = input.plan;
  Slot& slot = buffers.slots()[0];
  const iovec vector = buffers.vectors()[0];
  Random random(input.seed);
  Tally tally;
  std::uint32_t turn = 0;
  bool again = false;  // the last read must be repeated as it was
  std::uint64_t now = Clock::ticks();
  worker.begin_loop(now);
  while (true) {
    if (!again) {
      slot.target = turn;
      turn = turn + 1 == input.targets.size() ? 0 : turn + 1;
      LoopTarget& target = input.targets[slot.target];
      const std::uint64_t block =
          plan.random ? random.below(target.blocks) : target.next_sequential();
      slot.offset_bytes = block * plan.block_size_bytes;
      slot.submit_ticks = now;
    }
    const ssize_t length =
        preadv2(input.fds[slot.target], &vector, 1, static_cast<off_t>(slot.offset_bytes), 0);
    const auto result = static_cast<std::int32_t>(length < 0 ? -errno : length);
    tally.submit_calls++;
    tally.submitted++;
    tally.completions++;
    tally.in_flight_sum++;
    tally.in_flight_max = 1;
    if constexpr (Clock::kTimed) {
      const std::uint64_t then = now;
      now = Clock::ticks();
      tally.in_flight_ticks += now - then;
    }
    again = false;
    if (length == static_cast<ssize_t>(plan.block_size_bytes)) {
      tally.ios++;
      if constexpr (Clock::kTimed) worker.latency_ticks().record(now - slot.submit_ticks);
    } else {
      again = worker.must_retry(result, slot, tally);
    }
    worker.publish(tally);
    if (worker.phase_changed() && worker.enter_phase(tally, now) == Phase::stop) break;
  }
  worker.finish(0);
}

}  // namespace

void run_sync_thread(ThreadInput& input, Worker& worker, const ReadyGate& ready) {
  SlotBuffers buffers(input.plan, input.index);
  Granted granted;
  granted.depth = granted.batch_submit = granted.batch_complete = 1;
  granted.opcode = "preadv2";
  granted.buffer_page_bytes = input.plan.huge_page_bytes;
  if (!ready(granted)) return;
  if (!input.plan.latency) {
    run_sync_loop<NoClock>(input, buffers, worker);
  } else if (input.counter_clock) {
    run_sync_loop<CounterClock>(input, buffers, worker);
  } else {
    run_sync_loop<MonotonicClock>(input, buffers, worker);
  }
}

}  // namespace uringbench::engine
