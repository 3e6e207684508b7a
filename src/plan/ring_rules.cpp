// Which flags only a ring can honour, and which of those the kernel takes together.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "plan/rules.hpp"

namespace uringbench::plan::rules {

namespace {

using base::ExitCode;

/// A flag as the user wrote it, and why other engines cannot honour it.
struct RingFlag {
  bool asked;
  std::string name;
  const char* reason;
};

std::string taskrun_flag(const Options& options) {
  const TaskRun mode = options.taskrun.value_or(TaskRun::defer);
  return mode == TaskRun::defer  ? "--taskrun defer"
         : mode == TaskRun::coop ? "--taskrun coop"
                                 : "--taskrun plain";
}

/// The flags that say something about the thread of --sqpoll.
std::vector<RingFlag> sqpoll_details(const Options& options) {
  const char* reason = "only a ring has such a thread";
  const bool idle = options.was_given("sqpoll-idle") || options.sqpoll_idle_ms != 0;
  return {{options.sqpoll_cpu.has_value(), "--sqpoll-cpu", reason},
          {idle, "--sqpoll-idle", reason},
          {options.sqpoll_share, "--sqpoll-share", reason}};
}

std::vector<RingFlag> ring_flags(const Options& options) {
  std::vector<RingFlag> flags = {
      {options.nop, "-N1", "only io_uring has a no-op request"},
      {options.passthrough, "-u1", "only io_uring passes NVMe commands through"},
      {options.restrict_ring, "-e1", "only a ring can be restricted"},
      {options.sqpoll, "--sqpoll", "only a ring has a kernel thread that submits"}};
  for (RingFlag& detail : sqpoll_details(options)) flags.push_back(std::move(detail));
  flags.push_back({options.no_sqthread_stats, "--no-sqthread-stats",
                   "only a ring has a kernel thread that submits"});
  flags.push_back(
      {options.taskrun.has_value(), taskrun_flag(options), "only io_uring has task work to run"});
  flags.push_back({options.hybrid_iopoll, "--hybrid-iopoll", "only io_uring polls"});
  return flags;
}

void check_engine(const Options& options, Problems& problems) {
  if (options.aio && options.sync) {
    contradict("-a1", "-S1", "a run has one engine", problems);
  }
  for (const RingFlag& flag : ring_flags(options)) {
    if (flag.asked) contradict(flag.name, options.aio ? "-a1" : "-S1", flag.reason, problems);
  }
}

void check_sqpoll(const Options& options, Problems& problems) {
  for (const RingFlag& flag : sqpoll_details(options)) {
    if (!flag.asked || options.sqpoll) continue;
    problems.push_back(
        {ExitCode::usage,
         fmt::format("{} needs --sqpoll: without it there is no such thread", flag.name),
         fmt::format("add --sqpoll, or leave out {}", flag.name)});
  }
  if (options.sqpoll && options.taskrun.value_or(TaskRun::plain) != TaskRun::plain) {
    contradict(taskrun_flag(options), "--sqpoll",
               "the thread of --sqpoll runs the completions, and the kernel refuses both together",
               problems);
  }
}

/// Mainline's names of the set-up flags (include/uapi/linux/io_uring.h), by bit. From bit 19 on
/// kernels differ, so that is where the stats-off patch may have its bit.
constexpr std::array<std::string_view, 19> kSetupFlags = {
    "IOPOLL",        "SQPOLL",        "SQ_AFF",     "CQSIZE",
    "CLAMP",         "ATTACH_WQ",     "R_DISABLED", "SUBMIT_ALL",
    "COOP_TASKRUN",  "TASKRUN_FLAG",  "SQE128",     "CQE32",
    "SINGLE_ISSUER", "DEFER_TASKRUN", "NO_MMAP",    "REGISTERED_FD_ONLY",
    "NO_SQARRAY",    "HYBRID_IOPOLL", "CQE_MIXED"};

void check_stats_bit(const Options& options, Problems& problems) {
  const std::int64_t bit = options.sqthread_stats_bit;
  if (bit < 0 || bit >= static_cast<std::int64_t>(kSetupFlags.size())) return;
  problems.push_back({ExitCode::usage,
                      fmt::format("--sqthread-stats-bit: bit {} is IORING_SETUP_{} on every kernel "
                                  "that knows it",
                                  bit, kSetupFlags[static_cast<std::size_t>(bit)]),
                      "give the bit that the patched kernel has for it, 19 to 31"});
}

}  // namespace

void contradict(std::string_view one, std::string_view other, std::string_view reason,
                Problems& problems) {
  problems.push_back({ExitCode::usage,
                      fmt::format("{} and {} contradict each other: {}", one, other, reason),
                      fmt::format("leave out {} or {}", one, other)});
}

void check_ring(const Options& options, Problems& problems) {
  check_stats_bit(options, problems);
  if (options.sync || options.aio) {
    check_engine(options, problems);
    return;
  }
  check_sqpoll(options, problems);
  if (options.nop && options.passthrough) {
    contradict("-N1", "-u1", "a no-op is no NVMe command", problems);
  }
}

}  // namespace uringbench::plan::rules
