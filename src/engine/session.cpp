// A run from the first thread to the last: set-up, start, samples, watchdog, stop, join.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "engine/clock.hpp"
#include "engine/thread_body.hpp"

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
/// A nudge interrupts the system call that waits; nothing else is meant by it.
constexpr int kNudgeSignal = SIGUSR2;

void install_nudge() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: EINTR is the point
  sigaction(kNudgeSignal, &action, nullptr);
}

/// Everything a measuring thread touches. Shared, so that a thread which never comes back from
/// the kernel still has it after the session has given it up.
struct ThreadState {
  ThreadState(const plan::RunPlan& run_plan, std::uint32_t thread_index)
      : plan(run_plan), index(thread_index), worker(command, run_plan.latency) {}
  const plan::RunPlan plan;
  const std::uint32_t index;
  Command command;
  Worker worker;
  std::vector<machine::Descriptor> own_descriptors;
  std::vector<int> fds;
  std::vector<LoopTarget> targets;
  std::uint64_t seed = 0;
  bool counter_clock = false;
  std::string engine_subject;

  std::mutex mutex;
  std::condition_variable wake;
  enum class Stage { setting_up, ready, go, called_off } stage = Stage::setting_up;
  std::exception_ptr failure;
  Granted granted;
};

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) {
    throw base::SystemError("sched_setaffinity", "CPU " + std::to_string(cpu), errno,
                            "choose --cpus among those allowed (taskset -p $$)");
  }
}

/// The thread's whole life.
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

std::int64_t nanoseconds(const timeval& time) {
  return static_cast<std::int64_t>(time.tv_sec) * kSecond + time.tv_usec * 1000;
}

class Session {
 public:
  Session(const plan::RunPlan& plan, const std::vector<machine::OpenTarget>& targets,
          std::uint32_t run_index, bool last, Observer& observer)
      : plan_(plan), last_(last), observer_(observer) {
    install_nudge();
    make_threads(targets, run_index);
  }
  ~Session() { call_off(); }

  Measurement run();

 private:
  struct Member {
    std::shared_ptr<ThreadState> state;
    std::thread thread;
  };
  struct Counts {
    std::uint64_t ios = 0, completions = 0, submit_calls = 0;
  };

  void make_threads(const std::vector<machine::OpenTarget>& targets, std::uint32_t run_index);
  bool wait_until_ready();
  void start(Phase phase);
  void warm_up();
  void measure_window();
  bool watch();
  void sample(std::int64_t now_ns, bool final);
  void stop_threads();
  void collect();
  void collect_latency_and_depth();
  void call_off();
  void command(Phase phase);
  Counts counts() const;
  std::int64_t begin_of_window() const;

  const plan::RunPlan& plan_;
  const bool last_;
  Observer& observer_;
  std::vector<Member> members_;
  Measurement result_;
  std::int64_t window_flipped_ns_ = 0;  // when the window was declared open
  std::int64_t stop_flipped_ns_ = 0;
  std::uint64_t begin_ticks_ = 0;
  rusage begin_usage_{};
  Counts last_counts_;
  std::int64_t last_sample_ns_ = 0;
  struct Progress {
    std::uint64_t ios = 0;
    std::int64_t since_ns = 0;
  };
  std::vector<Progress> progress_;
  bool stop_wanted_ = false;
};

void Session::make_threads(const std::vector<machine::OpenTarget>& targets,
                           std::uint32_t run_index) {
  const bool counter = CounterClock::usable();
  for (std::uint32_t t = 0; t < plan_.threads.size(); ++t) {
    auto state = std::make_shared<ThreadState>(plan_, t);
    state->seed = mix_seed(mix_seed(plan_.seed, run_index), t);
    state->counter_clock = counter;
    std::vector<std::uint32_t> indices = plan_.threads[t].targets;
    for (const std::uint32_t index : indices) {
      // A descriptor of its own: threads must not share the kernel's reference count of a file.
      int fd = targets[index].fd.get();
      if (t != 0) {
        state->own_descriptors.push_back(machine::reopen(targets[index], plan_.direct));
        fd = state->own_descriptors.back().get();
      }
      state->fds.push_back(fd);
      const std::uint64_t blocks = plan_.targets[index].blocks;
      state->targets.push_back({.fd = -1,
                                .index = index,
                                .blocks = blocks,
                                .next_block = blocks / plan_.threads.size() * t % std::max<std::uint64_t>(blocks, 1)});
    }
    // Threads that read all targets begin with different ones.
    if (!state->targets.empty()) {
      const auto shift = static_cast<std::ptrdiff_t>(t % state->targets.size());
      std::rotate(state->targets.begin(), state->targets.begin() + shift, state->targets.end());
      std::rotate(state->fds.begin(), state->fds.begin() + shift, state->fds.end());
      std::rotate(indices.begin(), indices.begin() + shift, indices.end());
    }
    state->worker.set_targets(std::move(indices));
    members_.push_back({std::move(state), {}});
  }
  for (auto& member : members_) {
    member.thread = std::thread(thread_main, member.state);
  }
}

/// False when somebody wanted the end before the beginning. Throws what a thread threw.
bool Session::wait_until_ready() {
  const std::int64_t give_up_ns = monotonic_ns() + plan_.stall_timeout_ns;
  std::int64_t pause_ns = kMillisecond / 5;
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
      if (monotonic_ns() > give_up_ns) {
        throw base::UserError(base::ExitCode::io_errors,
                              "the first read did not come back within " +
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

Session::Counts Session::counts() const {
  Counts sum;
  for (const auto& member : members_) {
    const Published& published = member.state->worker.published();
    sum.ios += published.ios.load(std::memory_order_relaxed);
    sum.completions += published.completions.load(std::memory_order_relaxed);
    sum.submit_calls += published.submit_calls.load(std::memory_order_relaxed);
  }
  return sum;
}

/// The mean of the threads' begins; a thread without one has done nothing since the flip.
std::int64_t Session::begin_of_window() const {
  std::int64_t sum = 0;
  for (const auto& member : members_) {
    const std::int64_t begin =
        member.state->worker.published().begin_ns.load(std::memory_order_acquire);
    sum += begin == 0 ? 0 : begin - window_flipped_ns_;
  }
  return window_flipped_ns_ + sum / static_cast<std::int64_t>(members_.size());
}

/// True when the run must end: no whole read came back to some thread for too long, or a thread
/// has ended by itself.
bool Session::watch() {
  const std::int64_t now = monotonic_ns();
  progress_.resize(members_.size(), {UINT64_MAX, now});
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Published& published = members_[i].state->worker.published();
    const std::uint64_t ios = published.ios.load(std::memory_order_relaxed);
    if (ios != progress_[i].ios) {
      progress_[i] = {ios, now};
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
    stop_wanted_ = observer_.wait_until(std::min(end, monotonic_ns() + beat)) || watch();
  }
  result_.interrupted = stop_wanted_ && !result_.stalled;
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

/// An interval from the last sample to now, of its own measured length.
void Session::sample(std::int64_t now_ns, bool final) {
  if (last_sample_ns_ == 0) last_sample_ns_ = begin_of_window();
  Counts now = counts();
  if (final) {
    now = {};
    for (const auto& member : members_) {
      const Tally& tally = member.state->worker.result();
      now.ios += tally.ios;
      now.completions += tally.completions;
      now.submit_calls += tally.submit_calls;
    }
  }
  const Interval interval{.elapsed_ns = std::max<std::int64_t>(now_ns - last_sample_ns_, 0),
                          .ios = now.ios - std::min(now.ios, last_counts_.ios),
                          .submit_calls = now.submit_calls - std::min(now.submit_calls, last_counts_.submit_calls),
                          .completions = now.completions - std::min(now.completions, last_counts_.completions)};
  last_counts_ = now;
  last_sample_ns_ = now_ns;
  result_.intervals.push_back(interval);
  // A last piece of less than half a second says little; it is recorded, not shown.
  if (!final || result_.intervals.size() == 1 || interval.elapsed_ns >= kSecond / 2) {
    observer_.interval(interval);
  }
}

/// Stop, nudge, wait; give up what does not come home.
void Session::stop_threads() {
  command(Phase::stop);
  stop_flipped_ns_ = monotonic_ns();
  const std::int64_t patience = result_.interrupted ? kPatienceInterrupted
                                : last_ || result_.stalled ? kPatience
                                : std::max(kPatience, plan_.stall_timeout_ns);
  std::int64_t next_nudge = stop_flipped_ns_ + kNudgeAfter;
  bool given_up = false;
  while (true) {
    const bool all_back = std::all_of(members_.begin(), members_.end(), [](const Member& member) {
      return member.state->worker.published().returned.load(std::memory_order_acquire);
    });
    const std::int64_t now = monotonic_ns();
    if (all_back || now > stop_flipped_ns_ + patience + 4 * kNudgeEvery) break;
    if (now > stop_flipped_ns_ + patience && !given_up) {
      command(Phase::give_up);
      given_up = true;
    }
    if (now >= next_nudge) {
      for (auto& member : members_) {
        const Published& published = member.state->worker.published();
        // Draining threads are left alone: their requests come home by themselves.
        if (!published.returned.load() && (given_up || !published.ended.load())) {
          pthread_kill(member.thread.native_handle(), kNudgeSignal);
        }
      }
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

/// Threads that never ran, or hang in the kernel for good, are left behind with what they hold.
void Session::call_off() {
  command(Phase::give_up);
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

void Session::collect() {
  Measurement& m = result_;
  std::int64_t elapsed_sum = 0;
  std::int64_t end_sum = 0;
  for (const auto& member : members_) {
    const ThreadState& state = *member.state;
    ThreadMeasurement thread{.index = state.index,
                             .cpu = plan_.threads[state.index].cpu,
                             .tid = member.state->worker.published().tid.load(),
                             .targets = plan_.threads[state.index].targets};
    Published& published = member.state->worker.published();
    std::int64_t end_ns = stop_flipped_ns_;
    if (published.returned.load(std::memory_order_acquire)) {
      const auto& window = state.worker.window();
      const Tally& tally = state.worker.result();
      end_ns = window.end_ns;
      thread.elapsed_ns = window.end_ns - window.begin_ns;
      thread.ios = tally.ios;
      thread.user_ns = nanoseconds(window.end_usage.ru_utime) - nanoseconds(window.begin_usage.ru_utime);
      thread.system_ns = nanoseconds(window.end_usage.ru_stime) - nanoseconds(window.begin_usage.ru_stime);
      const ErrorTally errors = state.worker.errors();
      m.errors.count += errors.count;
      for (const auto& [number, count] : errors.by_errno) m.errors.by_errno[number] += count;
      if (!m.errors.first) m.errors.first = errors.first;
      if (!m.errors.first_short_read) m.errors.first_short_read = errors.first_short_read;
      m.short_reads += tally.short_reads;
      m.retries_eagain += tally.retries;
      m.submit_calls += tally.submit_calls;
      m.completions += tally.completions;
      m.warmup_errors += state.worker.warmup_errors();
      m.never_completed += state.worker.never_completed();
      m.inflight_max = std::max(m.inflight_max, tally.in_flight_max);
      if (!m.fatal_errno) m.fatal_errno = state.worker.fatal_errno();
    } else {
      thread.stuck = true;
      m.stalled = true;
      thread.elapsed_ns = stop_flipped_ns_ - window_flipped_ns_;
      thread.ios = published.ios.load();
      m.submit_calls += published.submit_calls.load();
      m.completions += published.completions.load();
      m.never_completed += plan_.depth;
    }
    m.ios += thread.ios;
    elapsed_sum += thread.elapsed_ns;
    end_sum += end_ns - stop_flipped_ns_;
    m.threads.push_back(std::move(thread));
  }
  const auto count = static_cast<std::int64_t>(members_.size());
  m.elapsed_ns = elapsed_sum / count;
  if (window_flipped_ns_ != 0) sample(stop_flipped_ns_ + end_sum / count, true);
  collect_latency_and_depth();
}

void Session::collect_latency_and_depth() {
  Measurement& m = result_;
  const double ticks_per_ns =
      !plan_.latency || !CounterClock::usable()
          ? 1.0
          : static_cast<double>(CounterClock::ticks() - begin_ticks_) /
                static_cast<double>(std::max<std::int64_t>(monotonic_ns() - window_flipped_ns_, 1));
  double depth_sum = 0;
  std::uint64_t call_sum = 0;
  std::uint64_t flying_sum = 0;
  stats::Histogram ticks;
  for (const auto& member : members_) {
    Worker& worker = member.state->worker;
    if (!worker.published().returned.load(std::memory_order_acquire)) continue;
    const Tally& tally = worker.result();
    call_sum += tally.submit_calls;
    flying_sum += tally.in_flight_sum;
    if (!plan_.latency) continue;
    ticks.merge(worker.latency_ticks());
    const auto& window = worker.window();
    if (window.end_ticks > window.begin_ticks) {
      depth_sum += static_cast<double>(tally.in_flight_ticks) /
                   static_cast<double>(window.end_ticks - window.begin_ticks);
    }
  }
  m.inflight_time_weighted = plan_.latency;
  if (plan_.latency && ticks.count() != 0) {
    m.latency_ns = ticks.scaled(1.0 / ticks_per_ns);
    m.inflight_mean = depth_sum;
  } else if (call_sum != 0) {
    m.inflight_time_weighted = false;
    m.inflight_mean = static_cast<double>(flying_sum) / static_cast<double>(call_sum) *
                      static_cast<double>(members_.size());
  }
}

Measurement Session::run() {
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

  result_.started_at = wall_clock_now();
  if (plan_.warmup_ns > 0) {
    start(Phase::warmup);
    warm_up();
  }
  if (!stop_wanted_) {
    getrusage(RUSAGE_SELF, &begin_usage_);
    begin_ticks_ = CounterClock::ticks();
    window_flipped_ns_ = monotonic_ns();
    progress_.clear();
    plan_.warmup_ns > 0 ? command(Phase::measure) : start(Phase::measure);
    measure_window();
  }
  stop_flipped_ns_ = monotonic_ns();
  rusage end_usage{};
  getrusage(RUSAGE_SELF, &end_usage);
  result_.io_workers = static_cast<std::uint32_t>(machine::count_io_workers());
  stop_threads();
  if (window_flipped_ns_ != 0) {
    result_.user_ns = nanoseconds(end_usage.ru_utime) - nanoseconds(begin_usage_.ru_utime);
    result_.system_ns = nanoseconds(end_usage.ru_stime) - nanoseconds(begin_usage_.ru_stime);
    result_.voluntary_switches = end_usage.ru_nvcsw - begin_usage_.ru_nvcsw;
    result_.involuntary_switches = end_usage.ru_nivcsw - begin_usage_.ru_nivcsw;
  }
  collect();
  return std::move(result_);
}

}  // namespace

Measurement measure(const plan::RunPlan& plan, const std::vector<machine::OpenTarget>& targets,
                    std::uint32_t run_index, bool last, Observer& observer) {
  return Session(plan, targets, run_index, last, observer).run();
}

double calibrate_tick_rate(std::int64_t for_nanoseconds) {
  if (!CounterClock::usable()) return 1e9;
  const std::int64_t begin_ns = monotonic_ns();
  const std::uint64_t begin = CounterClock::ticks();
  while (monotonic_ns() - begin_ns < for_nanoseconds) {
  }
  const std::uint64_t ticks = CounterClock::ticks() - begin;
  return static_cast<double>(ticks) * 1e9 / static_cast<double>(monotonic_ns() - begin_ns);
}

}  // namespace uringbench::engine
