#include "engine/measuring_thread.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

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
    if (const int cpu = state->plan.threads[state->index].cpu; cpu >= 0) pin_to(cpu);
    ThreadInput input{.plan = state->plan,
                      .fds = state->fds,
                      .targets = state->targets,
                      .seed = state->seed,
                      .counter_clock = state->counter_clock,
                      .command = state->command};
    state->plan.engine == plan::Engine::sync ? run_sync_thread(input, state->worker, ready)
                                             : run_uring_thread(input, state->worker, ready);
  } catch (...) {
    const std::lock_guard lock(state->mutex);
    state->failure = std::current_exception();
    set_stage(ThreadState::Stage::ready);
  }
  state->worker.published().ended.store(true, std::memory_order_release);
  state->worker.published().returned.store(true, std::memory_order_release);
}

}  // namespace uringbench::engine
