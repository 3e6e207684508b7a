// What a measuring thread runs, per engine. Each prepares, reports ready, waits for the start,
// runs.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/engine.hpp"
#include "engine/offsets.hpp"
#include "engine/worker.hpp"

namespace uringbench::engine {

/// Passes the first thread's ring to the others, for --sqpoll-share.
class FirstRing {
 public:
  /// The descriptor, or -1 when there will be none. Only the first call counts.
  void announce(int ring_fd);
  /// Waits for the announcement.
  int wait();

 private:
  std::mutex mutex_;
  std::condition_variable announced_;
  std::optional<int> ring_fd_;
};

struct ThreadInput {
  const plan::RunPlan& plan;
  std::uint32_t index = 0;          ///< into RunPlan::threads
  std::vector<int> fds;             ///< of the thread's targets
  std::vector<LoopTarget> targets;  ///< fd not yet filled in
  std::uint64_t seed = 0;
  bool counter_clock = false;  ///< timed runs: stamp with the processor's counter
  const Command& command;
  FirstRing& first_ring;
};

/// Called by the thread when nothing is left to set up; returns false when the run was called off.
using ReadyGate = std::function<bool(const Granted&)>;

/// All throw while setting up only, and run until told to stop.
void run_uring_thread(ThreadInput& input, Worker& worker, const ReadyGate& ready);
void run_sync_thread(ThreadInput& input, Worker& worker, const ReadyGate& ready);
void run_aio_thread(ThreadInput& input, Worker& worker, const ReadyGate& ready);

}  // namespace uringbench::engine
