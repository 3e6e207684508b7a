// One measuring thread: what it shares with the session, and its whole life.
#pragma once

#include <signal.h>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/thread_body.hpp"
#include "engine/worker.hpp"

namespace uringbench::engine {

/// Interrupts the system call in which a thread waits; nothing else is meant by it.
inline constexpr int kNudgeSignal = SIGUSR2;

/// Everything a measuring thread touches. Shared, so that a thread which never comes back from
/// the kernel still has it after the session has given it up.
struct ThreadState {
  ThreadState(const plan::RunPlan& run_plan, std::uint32_t thread_index)
      : plan(run_plan), index(thread_index), worker(command, run_plan) {}
  const plan::RunPlan plan;
  const std::uint32_t index;
  Command command;
  Worker worker;
  std::vector<machine::Descriptor> own_descriptors;
  std::vector<int> fds;
  std::vector<LoopTarget> targets;
  std::uint64_t seed = 0;
  bool counter_clock = false;
  std::shared_ptr<FirstRing> first_ring;

  std::mutex mutex;
  std::condition_variable wake;
  enum class Stage { setting_up, ready, go, called_off } stage = Stage::setting_up;
  std::exception_ptr failure;
  Granted granted;
};

/// Pins, sets up, reports ready, waits for the start, runs. Throws nothing: `failure` has it.
void thread_main(const std::shared_ptr<ThreadState>& state);

}  // namespace uringbench::engine
