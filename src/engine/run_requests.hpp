// From a ring that is ready to a loop that runs, for every kind of ring and request.
#pragma once

#include "engine/clock.hpp"
#include "engine/loop.hpp"
#include "engine/thread_body.hpp"
#include "engine/trial.hpp"

namespace uringbench::engine {

// A function each, so that each loop is compiled on its own and can be told apart in a profile.
template <class Request, class Clock, class RingType>
[[gnu::noinline]] void run_loop(RingType& ring, const LoopSetup& setup, Worker& worker) {
  Loop<RingType, Clock, Request>(ring, setup, worker).run();
}

/// Trial reads, then the loop: untimed, by the processor's counter, or by CLOCK_MONOTONIC.
template <class Request, class RingType>
void run_requests(RingType& ring, ThreadInput& input, SlotBuffers& buffers, Worker& worker,
                  const Granted& granted, const ReadyGate& ready) {
  const plan::RunPlan& plan = input.plan;
  const std::uint32_t used = trial_reads<Request>(
      ring, plan, buffers, input.targets, input.command.phase, worker.published().trial_since_ns);
  const bool result_is_length = !plan.nop && !plan.passthrough;
  const LoopSetup setup{
      .slots = &buffers.slots(),
      .targets = &input.targets,
      .depth = plan.depth,
      .batch_submit = plan.batch_submit,
      .batch_complete = plan.batch_complete,
      .block_size_bytes = plan.block_size_bytes,
      .expected_result = result_is_length ? static_cast<std::int32_t>(plan.block_size_bytes) : 0,
      .random = plan.random,
      .seed = input.seed,
      .first_index = used,
  };
  if (!ready(granted)) return;
  if (!plan.latency) {
    run_loop<Request, NoClock>(ring, setup, worker);
  } else if (input.counter_clock) {
    run_loop<Request, CounterClock>(ring, setup, worker);
  } else {
    run_loop<Request, MonotonicClock>(ring, setup, worker);
  }
}

}  // namespace uringbench::engine
