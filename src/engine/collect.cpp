// From the threads' counters to the Measurement.
#include <algorithm>

#include "engine/clock.hpp"
#include "engine/session.hpp"

namespace uringbench::engine {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t nanoseconds(const timeval& time) {
  return static_cast<std::int64_t>(time.tv_sec) * kSecond + time.tv_usec * 1000;
}

/// Counters that are read while they move may seem to run backwards by a batch: never below zero.
std::uint64_t grown(std::uint64_t now, std::uint64_t before) { return now - std::min(now, before); }

}  // namespace

/// What the threads have published. After a thread's window that is its result; of one that is
/// stuck it is all there is.
Session::Counts Session::counts() const {
  Counts sum;
  for (const auto& member : members_) {
    const Published& published = member.state->worker.published();
    sum.ios += published.ios.load(std::memory_order_relaxed);
    sum.completions += published.completions.load(std::memory_order_relaxed);
    sum.submit_calls += published.submit_calls.load(std::memory_order_relaxed);
    sum.submitted += published.submitted.load(std::memory_order_relaxed);
    sum.bad += published.bad.load(std::memory_order_relaxed);
  }
  return sum;
}

/// An interval from the last sample to now, of its own measured length.
void Session::sample(std::int64_t now_ns, bool final) {
  if (last_sample_ns_ == 0) last_sample_ns_ = begin_of_window();
  const Counts now = counts();
  const Interval interval{.elapsed_ns = std::max<std::int64_t>(now_ns - last_sample_ns_, 0),
                          .ios = grown(now.ios, last_counts_.ios),
                          .submit_calls = grown(now.submit_calls, last_counts_.submit_calls),
                          .submitted = grown(now.submitted, last_counts_.submitted),
                          .completions = grown(now.completions, last_counts_.completions),
                          .bad = grown(now.bad, last_counts_.bad)};
  last_counts_ = now;
  last_sample_ns_ = now_ns;
  result_.intervals.push_back(interval);
  // A last piece of less than half a second says little; it is recorded, not shown.
  if (!final || result_.intervals.size() == 1 || interval.elapsed_ns >= kSecond / 2) {
    observer_.interval(interval);
  }
}

void Session::collect_returned(const ThreadState& state, ThreadMeasurement& thread) {
  Measurement& m = result_;
  const Worker::Window& window = state.worker.window();
  const Tally& tally = state.worker.result();
  thread.elapsed_ns = window.end_ns - window.begin_ns;
  thread.ios = tally.ios;
  thread.user_ns =
      nanoseconds(window.end_usage.ru_utime) - nanoseconds(window.begin_usage.ru_utime);
  thread.system_ns =
      nanoseconds(window.end_usage.ru_stime) - nanoseconds(window.begin_usage.ru_stime);
  const ErrorTally errors = state.worker.errors();
  m.errors.count += errors.count;
  for (const auto& [number, count] : errors.by_errno) m.errors.by_errno[number] += count;
  if (!m.errors.first) m.errors.first = errors.first;
  if (!m.errors.first_short_read) m.errors.first_short_read = errors.first_short_read;
  m.short_reads += tally.short_reads;
  m.retries_eagain += tally.retries;
  m.submit_calls += tally.submit_calls;
  m.wakeups += tally.wakeups;
  m.submitted += tally.submitted;
  m.completions += tally.completions;
  m.warmup_errors += state.worker.warmup_errors();
  m.never_completed += state.worker.never_completed();
  m.inflight_max = std::max(m.inflight_max, tally.in_flight_max);
  if (!m.fatal_errno) m.fatal_errno = state.worker.fatal_errno();
}

/// A thread that never came back: only what it had published can be told.
void Session::collect_stuck(ThreadState& state, ThreadMeasurement& thread) {
  const Published& published = state.worker.published();
  thread.stuck = true;
  thread.elapsed_ns = window_flipped_ns_ == 0 ? 0 : stop_flipped_ns_ - window_flipped_ns_;
  thread.ios = published.ios.load(std::memory_order_relaxed);
  result_.stalled = true;
  result_.submit_calls += published.submit_calls.load(std::memory_order_relaxed);
  result_.submitted += published.submitted.load(std::memory_order_relaxed);
  result_.completions += published.completions.load(std::memory_order_relaxed);
  result_.never_completed += plan_.depth;
}

void Session::collect_process() {
  Measurement& m = result_;
  m.user_ns = nanoseconds(end_usage_.ru_utime) - nanoseconds(begin_usage_.ru_utime);
  m.system_ns = nanoseconds(end_usage_.ru_stime) - nanoseconds(begin_usage_.ru_stime);
  m.voluntary_switches = end_usage_.ru_nvcsw - begin_usage_.ru_nvcsw;
  m.pollers = pollers_between(begin_stamps_, end_stamps_);
  m.involuntary_switches = end_usage_.ru_nivcsw - begin_usage_.ru_nivcsw;
}

void Session::collect() {
  std::int64_t begin_ns = INT64_MAX;
  std::int64_t end_ns = 0;
  for (const auto& member : members_) {
    ThreadState& state = *member.state;
    const Published& published = state.worker.published();
    ThreadMeasurement thread{.index = state.index,
                             .cpu = plan_.threads[state.index].cpu,
                             .tid = published.tid.load(std::memory_order_relaxed),
                             .targets = plan_.threads[state.index].targets,
                             .node = plan_.threads[state.index].node};
    if (published.returned.load(std::memory_order_acquire)) {
      collect_returned(state, thread);
      const Worker::Window& window = state.worker.window();
      if (thread.elapsed_ns > 0) {
        begin_ns = std::min(begin_ns, window.begin_ns);
        end_ns = std::max(end_ns, window.end_ns);
      }
    } else {
      collect_stuck(state, thread);
      end_ns = std::max(end_ns, stop_flipped_ns_);
    }
    result_.ios += thread.ios;
    result_.threads.push_back(std::move(thread));
  }
  if (window_flipped_ns_ != 0) {
    begin_ns = std::min(begin_ns, begin_of_window());
    result_.elapsed_ns = std::max<std::int64_t>(end_ns - begin_ns, 0);
    collect_process();
    sample(std::max(end_ns, begin_ns), true);
  }
  collect_latency_and_depth();
}

void Session::collect_latency_and_depth() {
  Measurement& m = result_;
  const double ticks_per_ns = !plan_.latency || !CounterClock::usable()
                                  ? 1.0
                                  : begin_clocks_.rate_until(ClockPair::read()) / 1e9;
  double area_ticks = 0;  // requests × ticks
  std::uint64_t begin_ticks = UINT64_MAX;
  std::uint64_t end_ticks = 0;
  std::uint64_t turns = 0;
  std::uint64_t flying_sum = 0;
  const auto ticks = std::make_unique<stats::Histogram>();
  for (const auto& member : members_) {
    Worker& worker = member.state->worker;
    if (!worker.published().returned.load(std::memory_order_acquire)) continue;
    const Tally& tally = worker.result();
    turns += tally.turns_taken();
    flying_sum += tally.in_flight_sum;
    if (!plan_.latency) continue;
    ticks->merge(worker.latency_ticks());
    area_ticks += static_cast<double>(tally.in_flight_ticks);
    const Worker::Window& window = worker.window();
    if (window.end_ticks > window.begin_ticks) {
      begin_ticks = std::min(begin_ticks, window.begin_ticks);
      end_ticks = std::max(end_ticks, window.end_ticks);
    }
  }
  m.inflight_time_weighted = plan_.latency;
  if (plan_.latency && ticks->count() != 0 && end_ticks > begin_ticks) {
    m.latency_ns = std::make_unique<stats::Histogram>(ticks->scaled(1.0 / ticks_per_ns));
    // By the stamps the area was added up with: by another clock it could come out above the depth.
    m.inflight_mean = area_ticks / static_cast<double>(end_ticks - begin_ticks);
  } else if (turns != 0) {
    m.inflight_time_weighted = false;
    m.inflight_mean = static_cast<double>(flying_sum) / static_cast<double>(turns) *
                      static_cast<double>(members_.size());
  }
}

}  // namespace uringbench::engine
