// One measuring thread's side of a run: its counters, its window, its bad news.
//
// The hot loop calls the inline parts once per batch; the rest is cold. Counters that another
// thread reads live in one cache line, have one writer, and are stored relaxed.
#pragma once

#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/engine.hpp"
#include "engine/offsets.hpp"
#include "engine/slots.hpp"
#include "stats/stats.hpp"

namespace uringbench::engine {

enum class Phase : std::uint32_t { warmup, measure, stop, give_up };

/// What the loop counts. Reset when the measured window begins.
struct Tally {
  std::uint64_t ios = 0;           ///< whole reads without error
  std::uint64_t completions = 0;   ///< of any kind
  std::uint64_t submit_calls = 0;  ///< system calls
  std::uint64_t turns = 0;         ///< of a loop whose turn is not just one system call; else 0
  std::uint64_t wakeups = 0;       ///< SQPOLL: calls that woke the kernel thread
  std::uint64_t submitted = 0;     ///< requests the kernel took
  std::uint64_t errors = 0;
  std::uint64_t short_reads = 0;
  std::uint64_t retries = 0;
  std::uint64_t in_flight_sum = 0;  ///< over the turns
  Wide in_flight_ticks = 0;         ///< requests × clock ticks, timed runs only
  std::uint32_t in_flight_max = 0;
  std::uint64_t turns_taken() const noexcept { return turns != 0 ? turns : submit_calls; }
};

/// Readable by the session at any time.
struct alignas(64) Published {
  std::atomic<std::uint64_t> ios{0};
  std::atomic<std::uint64_t> completions{0};
  std::atomic<std::uint64_t> submit_calls{0};
  std::atomic<std::uint64_t> submitted{0};
  std::atomic<std::uint64_t> bad{0};
  std::atomic<std::uint64_t> drained{0};  ///< completions after the window
  std::atomic<std::int64_t> begin_ns{0};
  std::atomic<std::int64_t> tid{0};
  std::atomic<std::int64_t> trial_since_ns{0};  ///< begin of the trial read under way, or 0
  std::atomic<bool> ended{false};               ///< its window is closed
  std::atomic<bool> returned{false};            ///< nothing of it is under way any more
};

/// Written by the session only.
struct alignas(64) Command {
  std::atomic<Phase> phase{Phase::warmup};
};

class Worker {
 public:
  Worker(const Command& command, const plan::RunPlan& plan)
      : command_(command), counts_statuses_(plan.passthrough) {
    if (plan.latency) latency_ticks_ = std::make_unique<stats::Histogram>();
  }

  // -- once per batch --
  void publish(const Tally& tally) noexcept {
    published_.ios.store(tally.ios, std::memory_order_relaxed);
    published_.completions.store(tally.completions, std::memory_order_relaxed);
    published_.submit_calls.store(tally.submit_calls, std::memory_order_relaxed);
    published_.submitted.store(tally.submitted, std::memory_order_relaxed);
  }
  bool phase_changed() const noexcept {
    return command_.phase.load(std::memory_order_relaxed) != phase_;
  }
  /// Only in timed runs.
  stats::Histogram& latency_ticks() noexcept { return *latency_ticks_; }

  // -- cold --
  /// `now` is the clock's stamp that the loop starts from.
  void begin_loop(std::uint64_t now) noexcept;
  /// Takes note of a phase change seen after a reap; opens or closes the window; resets the tally
  /// when it opens. Returns the phase now in force.
  [[gnu::noinline, gnu::cold]] Phase enter_phase(Tally& tally, std::uint64_t now) noexcept;
  /// io_uring_enter failed: may the loop go on? If not, the window is closed here.
  [[gnu::noinline, gnu::cold]] bool survives(int error_number, Tally& tally) noexcept;
  /// Is this errno of io_uring_enter one that goes by (EINTR, EAGAIN, EBUSY, ETIME)?
  static bool passes(int error_number) noexcept;
  /// A completion that is not the expected one: counts it; true when it must be submitted again.
  [[gnu::noinline, gnu::cold]] bool must_retry(std::int32_t result, const Slot& slot,
                                               Tally& tally) noexcept;
  bool must_give_up() const noexcept {
    return command_.phase.load(std::memory_order_relaxed) == Phase::give_up;
  }
  void note_drained(std::uint64_t completions) noexcept {
    published_.drained.fetch_add(completions, std::memory_order_relaxed);
  }
  /// The loop is over, with so many requests still out.
  void finish(std::uint32_t still_out) noexcept { never_completed_ = still_out; }

  Published& published() noexcept { return published_; }

  // -- read by the session after the thread has returned --
  struct Window {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::uint64_t begin_ticks = 0, end_ticks = 0;
    rusage begin_usage{}, end_usage{};
  };
  const Window& window() const noexcept { return window_; }
  const Tally& result() const noexcept { return result_; }
  ErrorTally errors() const;
  std::uint64_t warmup_errors() const noexcept { return warmup_errors_; }
  std::optional<int> fatal_errno() const noexcept { return fatal_errno_; }
  std::uint32_t never_completed() const noexcept { return never_completed_; }
  /// Which of the plan's targets each of the thread's targets is.
  void set_targets(std::vector<std::uint32_t> plan_indices) { targets_ = std::move(plan_indices); }

 private:
  void open_window(Tally& tally, std::uint64_t now) noexcept;
  void close_window(const Tally& tally, std::uint64_t now) noexcept;

  static constexpr std::size_t kErrnos = 4096;  // the kernel's MAX_ERRNO
  static constexpr std::size_t kStatuses = 32;  // different NVMe statuses told apart in one run
  struct StatusCount {
    std::int32_t status = 0;
    std::uint64_t count = 0;
  };

  void forget_errors() noexcept;
  void count_error(int error_number) noexcept;

  Published published_;
  const Command& command_;
  Phase phase_ = Phase::warmup;
  bool opened_ = false;
  bool closed_ = false;
  std::unique_ptr<stats::Histogram> latency_ticks_;
  Window window_;
  Tally result_;
  const bool counts_statuses_;  // positive results are NVMe statuses, not short reads
  std::array<std::uint64_t, kErrnos> errors_by_errno_{};
  std::array<StatusCount, kStatuses> errors_by_status_{};
  std::optional<ErrorTally::First> first_error_;
  std::optional<ErrorTally::First> first_short_read_;
  std::vector<std::uint32_t> targets_;
  std::uint64_t warmup_errors_ = 0;
  std::optional<int> fatal_errno_;
  std::uint32_t never_completed_ = 0;
};

}  // namespace uringbench::engine
