#include "engine/session.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <system_error>

#include "engine/clock.hpp"

namespace uringbench::engine {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecond = 1000 * kMillisecond;
/// After the stop a thread that sits in the kernel is nudged by a signal this soon and this often.
constexpr std::int64_t kNudgeAfter = 150 * kMillisecond;
constexpr std::int64_t kNudgeEvery = 50 * kMillisecond;
/// Requests still out this long after the stop are given up: a person waits.
constexpr std::int64_t kPatienceInterrupted = 600 * kMillisecond;
constexpr std::int64_t kPatience = kSecond;

void install_nudge() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: EINTR is the point
  sigaction(kNudgeSignal, &action, nullptr);
}

std::string wall_clock_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm utc{};
  gmtime_r(&now.tv_sec, &utc);
  char text[40];
  const std::size_t length = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
  char result[64];
  snprintf(result, sizeof(result), "%.*s.%03ldZ", static_cast<int>(length), text,
           now.tv_nsec / 1'000'000);
  return result;
}

}  // namespace

/// Hands the thread its targets, each with a descriptor of its own: threads must not share the
/// kernel's reference count of a file.
void Session::give_targets(ThreadState& state) {
  const std::vector<std::uint32_t>& indices = plan_.threads[state.index].targets;
  for (const std::uint32_t index : indices) {
    if (state.index == 0) {
      state.fds.push_back(targets_[index].fd.get());
    } else {
      const bool direct = plan_.direct && !plan_.passthrough;
      state.own_descriptors.push_back(machine::reopen(targets_[index], direct));
      state.fds.push_back(state.own_descriptors.back().get());
    }
    // Sequential readers of one target begin in different places.
    const plan::TargetPlan& target = plan_.targets[index];
    const std::uint64_t first_block = target.blocks / plan_.threads.size() * state.index;
    state.targets.push_back({.fd = -1,
                             .index = index,
                             .blocks = target.blocks,
                             .next_block = first_block,
                             .namespace_id = target.namespace_id,
                             .lba_shift = target.lba_shift,
                             .block_size_bytes = plan_.block_size_bytes});
  }
  state.worker.set_targets(indices);
}

void Session::make_threads() {
  const bool counter = CounterClock::usable();
  const auto first_ring = std::make_shared<FirstRing>();
  for (std::uint32_t t = 0; t < plan_.threads.size(); ++t) {
    auto state = std::make_shared<ThreadState>(plan_, t);
    state->seed = mix_seed(mix_seed(plan_.seed, run_index_), t);
    state->counter_clock = counter;
    state->first_ring = first_ring;
    give_targets(*state);
    members_.push_back({std::move(state), {}});
  }
  for (auto& member : members_) {
    try {
      member.thread = std::thread(thread_main, member.state);
    } catch (const std::system_error& error) {
      throw base::SystemError("pthread_create", "thread " + std::to_string(member.state->index),
                              error.code().value(),
                              "use fewer --threads, or raise the limits: ulimit -u, cgroup "
                              "pids.max");
    }
  }
}

std::string Session::names_of_targets(const ThreadState& state) const {
  std::string names;
  for (const LoopTarget& target : state.targets) {
    names += (names.empty() ? "" : ", ") + plan_.targets[target.index].path;
  }
  return names.empty() ? "NOP" : names;
}

/// False when somebody wanted the end before the beginning. Throws what a thread threw.
bool Session::wait_until_ready() {
  const std::int64_t pause_ns = kMillisecond / 5;
  for (auto& member : members_) {
    while (true) {
      {
        std::unique_lock lock(member.state->mutex);
        if (member.state->stage == ThreadState::Stage::setting_up) {
          member.state->wake.wait_for(lock, std::chrono::nanoseconds(20 * kMillisecond));
        }
        if (member.state->failure) std::rethrow_exception(member.state->failure);
        if (member.state->stage == ThreadState::Stage::ready) break;
      }
      if (observer_.wait_until(monotonic_ns() + pause_ns)) return false;
      // Only the trial read is on the clock: making and touching many buffers may take its time.
      const std::int64_t trial_ns =
          member.state->worker.published().trial_since_ns.load(std::memory_order_relaxed);
      if (trial_ns != 0 && monotonic_ns() - trial_ns > plan_.stall_timeout_ns) {
        throw base::UserError(
            base::ExitCode::cannot,
            names_of_targets(*member.state) + ": the first read did not come back within " +
                base::format_duration(static_cast<double>(plan_.stall_timeout_ns)),
            "the target or its driver hangs; see the kernel log (dmesg)");
      }
    }
  }
  return true;
}

void Session::command(Phase phase) {
  for (auto& member : members_) member.state->command.phase.store(phase);
}

void Session::start(Phase phase) {
  command(phase);
  for (auto& member : members_) {
    const std::lock_guard lock(member.state->mutex);
    member.state->stage = ThreadState::Stage::go;
    member.state->wake.notify_all();
  }
}

/// The first thread's begin; while none has begun, the moment the window was declared open.
std::int64_t Session::begin_of_window() const {
  std::int64_t begin_ns = INT64_MAX;
  for (const auto& member : members_) {
    const std::int64_t own =
        member.state->worker.published().begin_ns.load(std::memory_order_acquire);
    if (own != 0) begin_ns = std::min(begin_ns, own);
  }
  return begin_ns == INT64_MAX ? window_flipped_ns_ : begin_ns;
}

/// True when the run must end: nothing came back to some thread for too long (what is only to be
/// tried again did not come back), or a thread has ended by itself.
bool Session::watch() {
  const std::int64_t now = monotonic_ns();
  progress_.resize(members_.size(), {UINT64_MAX, now});
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Published& published = members_[i].state->worker.published();
    const std::uint64_t done = published.ios.load(std::memory_order_relaxed) +
                               published.bad.load(std::memory_order_relaxed);
    if (done != progress_[i].done) {
      progress_[i] = {done, now};
    } else if (now - progress_[i].since_ns >= plan_.stall_timeout_ns) {
      result_.stalled = true;
      return true;
    }
    if (published.ended.load(std::memory_order_acquire)) return true;
  }
  return false;
}

void Session::warm_up() {
  const std::int64_t begin = monotonic_ns();
  const std::int64_t end = begin + plan_.warmup_ns;
  const std::int64_t beat = std::clamp(plan_.stall_timeout_ns / 4, kMillisecond, kSecond);
  while (!stop_wanted_ && monotonic_ns() < end) {
    if (observer_.wait_until(std::min(end, monotonic_ns() + beat))) {
      stop_wanted_ = result_.interrupted = true;
    } else {
      stop_wanted_ = watch();
    }
  }
  result_.warmup_ns = monotonic_ns() - begin;
}

void Session::measure_window() {
  const std::int64_t end =
      plan_.runtime_ns == 0 ? INT64_MAX : window_flipped_ns_ + plan_.runtime_ns;
  const std::int64_t beat = std::clamp(plan_.stall_timeout_ns / 4, kMillisecond, kSecond);
  std::int64_t next_sample = window_flipped_ns_ + kSecond;
  last_sample_ns_ = 0;
  while (!stop_wanted_) {
    const std::int64_t now = monotonic_ns();
    if (now >= end) break;
    if (now >= next_sample) {
      sample(now, false);
      next_sample += kSecond;
      continue;
    }
    if (observer_.wait_until(std::min({end, next_sample, now + beat}))) {
      stop_wanted_ = result_.interrupted = true;
    } else if (watch()) {
      stop_wanted_ = true;
    }
  }
}

/// Are requests that are out after the stop still worth waiting for?
bool Session::may_come_home(std::int64_t now_ns) {
  std::uint64_t drained = 0;
  for (const auto& member : members_) {
    drained += member.state->worker.published().drained.load(std::memory_order_relaxed);
  }
  if (drained != drained_) {
    drained_ = drained;
    last_homecoming_ns_ = now_ns;
  }
  const std::int64_t since_stop_ns = now_ns - stop_flipped_ns_;
  // Somebody pressed Ctrl-C, now or before.
  if (result_.interrupted || observer_.wait_until(0)) return since_stop_ns < kPatienceInterrupted;
  if (result_.stalled) return since_stop_ns < kPatience;
  if (now_ns - last_homecoming_ns_ >= std::max(plan_.stall_timeout_ns, kPatience)) {
    result_.stalled = true;
    return false;
  }
  // The next run must not find the device busy with this one's reads. After the last run a deep
  // queue on a slow device is left to itself, but only if it moves: else it may be a stall.
  return !last_ || drained == 0 || since_stop_ns < kPatience;
}

/// Stop, nudge, wait; give up what does not come home.
void Session::stop_threads() {
  command(Phase::stop);
  stop_flipped_ns_ = last_homecoming_ns_ = monotonic_ns();
  std::int64_t next_nudge = stop_flipped_ns_ + kNudgeAfter;
  std::int64_t given_up_ns = INT64_MAX;
  while (true) {
    const bool all_back = std::all_of(members_.begin(), members_.end(), [](const Member& member) {
      return member.state->worker.published().returned.load(std::memory_order_acquire);
    });
    const std::int64_t now = monotonic_ns();
    if (all_back || (given_up_ns != INT64_MAX && now - given_up_ns > 4 * kNudgeEvery)) break;
    if (given_up_ns == INT64_MAX && !may_come_home(now)) {
      command(Phase::give_up);
      given_up_ns = now;
    }
    if (now >= next_nudge) {
      nudge(given_up_ns != INT64_MAX);
      next_nudge = now + kNudgeEvery;
    }
    const timespec pause{0, now - stop_flipped_ns_ < 20 * kMillisecond ? 200'000 : 2'000'000};
    nanosleep(&pause, nullptr);
  }
  for (auto& member : members_) {
    if (member.state->worker.published().returned.load(std::memory_order_acquire)) {
      member.thread.join();
    }
  }
}

/// Interrupts the system calls of threads that have not noticed the stop; once the run is given up,
/// also of those that wait for their requests to come home.
void Session::nudge(bool draining_ones_too) {
  for (auto& member : members_) {
    const Published& published = member.state->worker.published();
    if (published.returned.load(std::memory_order_acquire)) continue;
    if (draining_ones_too || !published.ended.load(std::memory_order_acquire)) {
      pthread_kill(member.thread.native_handle(), kNudgeSignal);
    }
  }
}

/// One look per ring at the kernel threads of SQPOLL.
std::vector<PollerStamp> Session::stamp_pollers() const {
  std::vector<PollerStamp> stamps;
  if (!plan_.sqpoll) return stamps;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    std::optional<std::int64_t> known;
    if (i < first_stamps_.size()) known = first_stamps_[i].fdinfo.thread_id;
    const auto& maker = members_[plan_.sqpoll_share ? 0 : i].state->worker.published();
    stamps.push_back(stamp_poller(members_[i].state->granted.ring_fd,
                                  maker.tid.load(std::memory_order_relaxed), known));
  }
  return stamps;
}

/// Threads that never ran, or hang in the kernel for good, are left behind with what they hold.
void Session::call_off() {
  command(Phase::give_up);
  if (!members_.empty()) members_[0].state->first_ring->announce(-1);
  for (auto& member : members_) {
    const std::lock_guard lock(member.state->mutex);
    if (member.state->stage < ThreadState::Stage::go) {
      member.state->stage = ThreadState::Stage::called_off;
      member.state->wake.notify_all();
    }
  }
  const std::int64_t give_up_ns = monotonic_ns() + kPatience;
  for (auto& member : members_) {
    if (!member.thread.joinable()) continue;
    const Published& published = member.state->worker.published();
    while (!published.returned.load(std::memory_order_acquire) && monotonic_ns() < give_up_ns) {
      pthread_kill(member.thread.native_handle(), kNudgeSignal);
      const timespec pause{0, 2'000'000};
      nanosleep(&pause, nullptr);
    }
    published.returned.load(std::memory_order_acquire) ? member.thread.join()
                                                       : member.thread.detach();
  }
}

Measurement Session::run() {
  install_nudge();
  make_threads();
  result_.started_at = wall_clock_now();
  if (!wait_until_ready()) {
    result_.interrupted = true;
    return std::move(result_);
  }
  std::vector<std::int64_t> thread_ids;
  for (auto& member : members_) {
    thread_ids.push_back(member.state->worker.published().tid.load(std::memory_order_relaxed));
  }
  Granted granted = members_[0].state->granted;
  if (plan_.latency) granted.latency_clock = CounterClock::usable() ? "tsc" : "monotonic";
  observer_.started(granted, thread_ids);
  first_stamps_ = stamp_pollers();  // before the threads are busy

  result_.started_at = wall_clock_now();
  if (plan_.warmup_ns > 0) {
    start(Phase::warmup);
    warm_up();
  }
  if (!stop_wanted_) {
    result_.began = true;
    getrusage(RUSAGE_SELF, &begin_usage_);
    begin_stamps_ = stamp_pollers();
    begin_clocks_ = ClockPair::read();
    window_flipped_ns_ = monotonic_ns();
    progress_.clear();
    plan_.warmup_ns > 0 ? command(Phase::measure) : start(Phase::measure);
    measure_window();
  }
  stop_flipped_ns_ = monotonic_ns();
  getrusage(RUSAGE_SELF, &end_usage_);
  end_stamps_ = stamp_pollers();
  result_.io_workers = static_cast<std::uint32_t>(machine::count_io_workers());
  stop_threads();
  collect();
  if (plan_.sqpoll) {
    const std::int64_t patience = result_.interrupted ? kPatience / 4 : kPatience;
    result_.poller_left = !pollers_ended(result_.pollers, patience);
  }
  return std::move(result_);
}

Measurement measure(const plan::RunPlan& plan, const std::vector<machine::OpenTarget>& targets,
                    std::uint32_t run_index, bool last, Observer& observer) {
  // Not on the stack, which may be small: the histograms alone are tens of kilobytes.
  return std::make_unique<Session>(plan, targets, run_index, last, observer)->run();
}

double calibrate_tick_rate(std::int64_t for_nanoseconds) {
  if (!CounterClock::usable()) return 1e9;
  const ClockPair begin = ClockPair::read();
  while (monotonic_ns() - begin.monotonic_ns < for_nanoseconds) {
  }
  return begin.rate_until(ClockPair::read());
}

}  // namespace uringbench::engine
