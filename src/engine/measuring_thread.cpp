#include "engine/measuring_thread.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "engine/placement.hpp"

namespace uringbench::engine {
namespace {

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) {
    throw base::SystemError("sched_setaffinity", "CPU " + std::to_string(cpu), errno,
                            "choose --cpus among those allowed (taskset -p $$)");
  }
}

/// A pinned thread stays where it is pinned, with its memory on the node; else it may use all CPUs
/// of the node.
void place(const plan::ThreadPlan& thread) {
  if (thread.cpu >= 0) pin_to(thread.cpu);
  if (thread.node < 0) return;
  thread.cpu >= 0 ? place_memory_on_node(thread.node) : place_on_node(thread.node);
}

/// Signals to the process are the main thread's: here they would only interrupt the measured calls.
/// What this thread brings upon itself, and the session's nudge, still reach it.
void block_signals() {
  sigset_t set;
  sigfillset(&set);
  for (const int own : {kNudgeSignal, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
    sigdelset(&set, own);
  }
  pthread_sigmask(SIG_SETMASK, &set, nullptr);
}

}  // namespace

void FirstRing::announce(int ring_fd) {
  const std::lock_guard lock(mutex_);
  if (!ring_fd_) ring_fd_ = ring_fd;
  announced_.notify_all();
}

int FirstRing::wait() {
  std::unique_lock lock(mutex_);
  announced_.wait(lock, [this] { return ring_fd_.has_value(); });
  return *ring_fd_;
}

void thread_main(const std::shared_ptr<ThreadState>& state) {
  const auto set_stage = [&](ThreadState::Stage stage) {
    state->stage = stage;
    state->wake.notify_all();
  };
  state->worker.published().tid.store(syscall(SYS_gettid), std::memory_order_relaxed);
  const ReadyGate ready = [&](const Granted& granted) {
    std::unique_lock lock(state->mutex);
    state->granted = granted;
    set_stage(ThreadState::Stage::ready);
    state->wake.wait(lock, [&] { return state->stage >= ThreadState::Stage::go; });
    return state->stage == ThreadState::Stage::go;
  };
  block_signals();
  try {
    place(state->plan.threads[state->index]);
    ThreadInput input{.plan = state->plan,
                      .index = state->index,
                      .fds = state->fds,
                      .targets = state->targets,
                      .seed = state->seed,
                      .counter_clock = state->counter_clock,
                      .command = state->command,
                      .first_ring = *state->first_ring};
    switch (state->plan.engine) {
      case plan::Engine::sync:
        run_sync_thread(input, state->worker, ready);
        break;
      case plan::Engine::aio:
        run_aio_thread(input, state->worker, ready);
        break;
      case plan::Engine::io_uring:
        run_uring_thread(input, state->worker, ready);
        break;
    }
  } catch (...) {
    if (state->index == 0) state->first_ring->announce(-1);
    const std::lock_guard lock(state->mutex);
    state->failure = std::current_exception();
    set_stage(ThreadState::Stage::ready);
  }
  state->worker.published().ended.store(true, std::memory_order_release);
  state->worker.published().returned.store(true, std::memory_order_release);
}

}  // namespace uringbench::engine
