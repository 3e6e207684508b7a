// A run, conducted: used by measure() alone.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/clock.hpp"
#include "engine/engine.hpp"
#include "engine/measuring_thread.hpp"
#include "engine/pollers.hpp"

namespace uringbench::engine {

/// A run from the first thread to the last: set-up, start, samples, watchdog, stop, join.
class Session {
 public:
  Session(const plan::RunPlan& plan, const std::vector<machine::OpenTarget>& targets,
          std::uint32_t run_index, bool last, Observer& observer)
      : plan_(plan), targets_(targets), run_index_(run_index), last_(last), observer_(observer) {}
  ~Session() { call_off(); }

  Measurement run();

 private:
  struct Member {
    std::shared_ptr<ThreadState> state;
    std::thread thread;
  };
  struct Counts {
    std::uint64_t ios = 0, completions = 0, submit_calls = 0, submitted = 0, bad = 0;
  };

  void make_threads();
  void give_targets(ThreadState& state);
  bool wait_until_ready();
  void start(Phase phase);
  void warm_up();
  void measure_window();
  bool watch();
  void sample(std::int64_t now_ns, bool final);
  void stop_threads();
  bool may_come_home(std::int64_t now_ns);
  void nudge(bool draining_ones_too);
  std::string names_of_targets(const ThreadState& state) const;
  void collect();
  void collect_returned(const ThreadState& state, ThreadMeasurement& thread);
  void collect_stuck(ThreadState& state, ThreadMeasurement& thread);
  void collect_process();
  std::vector<PollerStamp> stamp_pollers() const;
  void collect_latency_and_depth();
  void call_off();
  void command(Phase phase);
  Counts counts() const;
  std::int64_t begin_of_window() const;

  const plan::RunPlan& plan_;
  const std::vector<machine::OpenTarget>& targets_;
  const std::uint32_t run_index_;
  const bool last_;
  Observer& observer_;
  std::vector<Member> members_;
  Measurement result_;
  std::int64_t window_flipped_ns_ = 0;  // when the window was declared open
  std::int64_t stop_flipped_ns_ = 0;
  std::int64_t last_homecoming_ns_ = 0;  // when a request last came back after the stop
  std::uint64_t drained_ = 0;
  ClockPair begin_clocks_;
  rusage begin_usage_{}, end_usage_{};
  std::vector<PollerStamp> first_stamps_, begin_stamps_, end_stamps_;
  Counts last_counts_;
  std::int64_t last_sample_ns_ = 0;
  struct Progress {
    std::uint64_t done = 0;
    std::int64_t since_ns = 0;
  };
  std::vector<Progress> progress_;
  bool stop_wanted_ = false;
};

}  // namespace uringbench::engine
