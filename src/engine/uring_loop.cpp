// The loops that exist, and the choice between them.
#include "engine/clock.hpp"
#include "engine/loop.hpp"
#include "engine/registration.hpp"
#include "engine/ring.hpp"
#include "engine/thread_body.hpp"

namespace uringbench::engine {
namespace {

static_assert(RingLike<Ring>);

// A function each, so that each loop is compiled on its own and can be told apart in a profile.
template <class Clock, bool kHasOffset>
[[gnu::noinline]] void run_loop(Ring& ring, const LoopSetup& setup, Worker& worker) {
  Loop<Ring, Clock, kHasOffset>(ring, setup, worker).run();
}

/// The six loops: read or NOP; untimed, by the processor's counter, by CLOCK_MONOTONIC.
void run_the_right_loop(Ring& ring, const LoopSetup& setup, Worker& worker, bool nop, bool timed,
                        bool counter_clock) {
  if (!timed) {
    nop ? run_loop<NoClock, false>(ring, setup, worker)
        : run_loop<NoClock, true>(ring, setup, worker);
  } else if (counter_clock) {
    nop ? run_loop<CounterClock, false>(ring, setup, worker)
        : run_loop<CounterClock, true>(ring, setup, worker);
  } else {
    nop ? run_loop<MonotonicClock, false>(ring, setup, worker)
        : run_loop<MonotonicClock, true>(ring, setup, worker);
  }
}

}  // namespace

void run_uring_thread(ThreadInput& input, Worker& worker, const ReadyGate& ready) {
  const plan::RunPlan& plan = input.plan;
  SlotBuffers buffers(plan);
  Ring ring({.entries = plan.depth, .polled = plan.polled});
  Granted granted;
  granted.depth = plan.depth;
  granted.batch_submit = plan.batch_submit;
  granted.batch_complete = plan.batch_complete;
  make_ready(ring, plan, input.fds, buffers, input.targets, granted);
  const std::uint32_t used = trial_reads(ring, plan, buffers, input.targets, input.command.phase,
                                         worker.published().trial_since_ns);

  const LoopSetup setup{
      .slots = &buffers.slots(),
      .targets = &input.targets,
      .depth = plan.depth,
      .batch_submit = plan.batch_submit,
      .batch_complete = plan.batch_complete,
      .block_size_bytes = plan.block_size_bytes,
      .expected_result = plan.nop ? 0 : static_cast<std::int32_t>(plan.block_size_bytes),
      .random = plan.random,
      .seed = input.seed,
      .first_index = used,
  };
  if (!ready(granted)) return;
  run_the_right_loop(ring, setup, worker, plan.nop, plan.latency, input.counter_clock);
  // Closing a ring lets its files go a while later; whoever unmounts right after us, or needs the
  // room of a scratch file, would find them in use. With requests still out older kernels would
  // wait.
  if (worker.never_completed() == 0) ring.unregister();
}

}  // namespace uringbench::engine
