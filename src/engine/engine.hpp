// Measuring: rings, threads, the hot loop, and what came of it.
//
// Knows liburing, threads and the clocks; plan, machine's open targets, and stats' histogram. Must
// not know JSON, CLI11, stdout, spdlog or profiles: who wants to see something passes an Observer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "plan/plan.hpp"
#include "stats/stats.hpp"

namespace uringbench::engine {

/// What the kernel gave, by name. The first thread's; all threads ask for the same.
struct Granted {
  bool polled = false;
  std::uint32_t depth = 0, batch_submit = 0, batch_complete = 0;
  std::uint32_t sq_entries = 0, cq_entries = 0;    ///< 0 for engines without a ring
  std::vector<std::string> setup_flags, features;  ///< "SINGLE_ISSUER", "NODROP"
  std::vector<std::string> fallbacks;              ///< wished for by us, refused by the kernel
  bool registered_ring = false, registered_files = false, fixed_buffers = false;
  std::uint32_t registered_regions = 0;
  std::string opcode;         ///< "READ_FIXED", "NOP", "preadv2"
  std::string latency_clock;  ///< "tsc", "monotonic", empty when not timed
  bool sqpoll = false;
  /// "on" | "off-verified" | "accepted-but-not-off"; empty for engines without a ring.
  std::string sqthread_stats;
  /// What the ring is restricted to: "op READ_FIXED", "flag FIXED_FILE required"…; empty: to
  /// nothing.
  std::vector<std::string> restrictions;
  std::uint64_t buffer_page_bytes = 0;  ///< of huge pages; 0: ordinary memory
  int ring_fd = -1;                     ///< for a look at its fdinfo; -1: no ring
};

/// Error numbers from here on are NVMe statuses: kNvmeStatus + status.
inline constexpr int kNvmeStatus = 1 << 16;
/// "EIO", "NVME_SC_READ_ERROR".
std::string error_name(int error_number);

struct ErrorTally {
  std::uint64_t count = 0;
  std::map<int, std::uint64_t> by_errno;  ///< positive errno numbers, or NVMe statuses
  struct First {
    int error_number = 0;
    std::uint32_t target = 0;
    std::uint64_t offset_bytes = 0;
  };
  std::optional<First> first;
  std::optional<First> first_short_read;  ///< error_number is 0
};

struct Interval {
  std::int64_t elapsed_ns = 0;
  std::uint64_t ios = 0, submit_calls = 0, submitted = 0, completions = 0;
  std::uint64_t bad = 0;  ///< errors and short reads
  double iops() const {
    return elapsed_ns > 0 ? static_cast<double>(ios) * 1e9 / static_cast<double>(elapsed_ns) : 0;
  }
};

struct ThreadMeasurement {
  std::uint32_t index = 0;
  int cpu = -1;  ///< pinned to; -1: not pinned
  std::int64_t tid = 0;
  std::int64_t elapsed_ns = 0;
  std::uint64_t ios = 0;
  std::vector<std::uint32_t> targets;
  int node = -1;  ///< NUMA node it was placed on; -1: not placed
  std::int64_t user_ns = 0, system_ns = 0;
  bool stuck = false;  ///< never came back from the kernel; figures are its last published ones
};

/// A kernel thread of SQPOLL over the measured window. Absent: the kernel did not say.
struct Poller {
  std::int64_t thread_id = 0;
  std::optional<int> cpu;                         ///< where it was at the end
  std::optional<std::int64_t> total_us, work_us;  ///< by fdinfo: CPU time, and of that with work
  std::optional<std::int64_t> cpu_ns;             ///< by its CPU clock
};

/// One run. Counts are of the measured window: begin and end are per thread, each at a reap.
struct Measurement {
  std::string started_at;       ///< wall clock, UTC, ISO 8601 with milliseconds
  std::int64_t warmup_ns = 0;   ///< that really passed
  std::int64_t elapsed_ns = 0;  ///< from the first thread's begin to the last thread's end
  std::uint64_t ios = 0;        ///< whole and without error
  ErrorTally errors;
  std::uint64_t short_reads = 0;
  std::uint64_t retries_eagain = 0;  ///< EAGAIN and EINTR, of calls and of completions
  std::uint64_t warmup_errors = 0;   ///< errors and short reads before the window
  bool began = false;                ///< the window was declared open
  bool stalled = false;
  bool interrupted = false;
  std::optional<int> fatal_errno;  ///< io_uring_enter itself refused; the run ended there
  std::uint64_t submit_calls = 0;  ///< system calls of the loop
  std::uint64_t submitted = 0;     ///< requests the kernel took
  std::uint64_t completions = 0;   ///< good, bad, short and retried
  std::optional<double> inflight_mean;
  bool inflight_time_weighted = false;
  std::uint32_t inflight_max = 0;     ///< of one thread, seen at system calls
  std::uint64_t never_completed = 0;  ///< still out when the run was given up
  std::uint32_t io_workers = 0;
  std::vector<Interval> intervals;
  std::unique_ptr<stats::Histogram> latency_ns;  ///< timed runs with at least one good read
  std::int64_t user_ns = 0, system_ns = 0;       ///< of the whole process, kernel workers included
  std::int64_t voluntary_switches = 0, involuntary_switches = 0;
  std::vector<ThreadMeasurement> threads;
  std::vector<Poller> pollers;  ///< SQPOLL: one per kernel thread
  std::uint64_t wakeups = 0;    ///< SQPOLL: calls that had to wake it
  bool poller_left = false;     ///< a thread of SQPOLL was still there after the rings were closed

  double iops() const {
    return elapsed_ns > 0 ? static_cast<double>(ios) * 1e9 / static_cast<double>(elapsed_ns) : 0;
  }
};

/// The measuring thread reports here, between system calls of its own, never from the hot loop.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Every ring stands and the first read came back; measuring is about to begin.
  virtual void started(const Granted& granted, const std::vector<std::int64_t>& thread_ids) = 0;
  virtual void interval(const Interval& interval) = 0;
  /// Sleeps until CLOCK_MONOTONIC shows `deadline_ns` or somebody wants the run to end; true means
  /// "end now". Must return at once when that was wanted before.
  virtual bool wait_until(std::int64_t deadline_ns) = 0;
};

/// One run with fresh threads, rings and buffers. `last` tells whether another run follows (then
/// requests still out at the end are waited for rather than given up after a second).
/// Throws SystemError or UserError when it cannot begin; once begun it always returns.
Measurement measure(const plan::RunPlan& plan, const std::vector<machine::OpenTarget>& targets,
                    std::uint32_t run_index, bool last, Observer& observer);

/// What can be known of the stats-off set-up flag on this kernel.
struct StatsOffEvidence {
  unsigned bit = 19;
  int setup_error = 0;             ///< of a ring with the bit: 0 or a positive errno
  bool control_has_lines = false;  ///< fdinfo of a ring without it shows SqTotalTime, SqWorkTime
  bool flagged_has_lines = false;  ///< fdinfo of the ring with it does
  bool fdinfo_readable = true;     ///< of both
  /// Known set-up flags by IORING_REGISTER_QUERY (Linux 6.18); absent where it cannot be asked.
  std::optional<std::uint64_t> known_setup_flags;
};
enum class SqthreadStats { off_verified, accepted_but_not_off, refused };
struct StatsOffVerdict {
  SqthreadStats state = SqthreadStats::refused;
  std::string explanation;  ///< a sentence, for a finding or a refusal
  std::string hint;
};
/// Pure. Acceptance proves nothing: kernels gave the bit another meaning.
StatsOffVerdict decide_sqthread_stats(const StatsOffEvidence& evidence);
/// Makes the two rings, looks at them and lets them go. Throws SystemError when not even the ring
/// without the flag can be had.
StatsOffEvidence probe_sqthread_stats(unsigned bit);

/// The set-up flags this kernel knows, by IORING_REGISTER_QUERY; absent before Linux 6.18.
std::optional<std::uint64_t> query_setup_flags();

/// What this kernel's io_uring can do, asked without measuring anything.
struct KernelAbilities {
  int setup_error = 0;  ///< of the plainest ring: 0 or a positive errno; then the rest is empty
  struct Flag {
    std::string name;
    bool accepted = false;
  };
  std::vector<Flag> setup_flags;  ///< each tried in a combination that is valid where it is known
  std::vector<Flag> opcodes;      ///< those this program uses
  std::vector<std::string> features;
  std::optional<std::uint64_t> known_setup_flags;  ///< by IORING_REGISTER_QUERY
};
KernelAbilities probe_kernel();

/// Ticks per second of the latency clock, measured over `nanoseconds`; for checking -T.
double calibrate_tick_rate(std::int64_t nanoseconds);

/// Is the answer of the trial read one that makes measuring pointless (not polled after all, bad
/// alignment, file not readable)? Then what to say; nothing for errors worth measuring (EIO).
/// `error_number` is positive. Pure.
std::optional<base::Problem> trial_verdict(int error_number, const plan::RunPlan& plan,
                                           const std::string& target);

}  // namespace uringbench::engine
