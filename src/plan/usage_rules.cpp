// What makes no sense on any machine.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "plan/rules.hpp"
#include "plan/settle.hpp"

namespace uringbench::plan::rules {

namespace {

using base::ExitCode;

constexpr std::int64_t kMaxRepeats = 1'000'000;

void require_range(const char* flag, std::int64_t value, std::int64_t least, std::int64_t most,
                   Problems& problems) {
  if (value >= least && value <= most) return;
  problems.push_back(
      {ExitCode::usage,
       fmt::format("{}: must be between {} and {}, got {}", flag, least, most, value), ""});
}

void require_duration(const char* flag, std::int64_t value_ns, std::int64_t least_ns,
                      Problems& problems) {
  if (value_ns >= least_ns) return;
  problems.push_back({ExitCode::usage,
                      fmt::format("{}: must be {}, got {} ns", flag,
                                  least_ns > 0 ? "more than 0" : "0 or more", value_ns),
                      "write e.g. 500ms, 5s or 2m"});
}

void require_block_size(std::uint64_t block_size_bytes, std::uint64_t most, Problems& problems) {
  if (block_size_bytes >= 1 && block_size_bytes <= most) return;
  const std::string hint =
      block_size_bytes > most ? "one read returns no more than that; use a smaller -b" : "";
  problems.push_back(
      {ExitCode::usage,
       fmt::format("--block-size: must be between 1 and {} bytes, got {}", most, block_size_bytes),
       hint});
}

void check_something_to_do(const Options& options, std::size_t target_count, Problems& problems) {
  if (options.scratch && !options.files.empty()) {
    problems.push_back({ExitCode::usage,
                        fmt::format("--scratch and {} contradict each other: either a file is made "
                                    "for the run, or given ones are read",
                                    options.files.front()),
                        "leave out --scratch or the files"});
  }
  if (options.nop || target_count > 0) return;
  if (options.files.empty() && !options.scratch) {
    problems.push_back({ExitCode::usage, "nothing to read: no FILE is given",
                        "name files or block devices, or let --scratch 1G make a file for the run, "
                        "or measure without a device by -N1"});
  } else if (problems.empty()) {
    problems.push_back({ExitCode::internal, "the targets were not looked at", ""});
  }
}

void check_runtime(const Options& options, Problems& problems) {
  const bool endless = !options.runtime_ns || *options.runtime_ns == 0;
  if (!endless) return;
  if (options.door == Door::run) {
    problems.push_back(
        {ExitCode::usage,
         options.runtime_ns ? "--runtime: a measured run must have an end, got 0"
                            : "--runtime: a measured run must have an end, and none is given",
         "give e.g. -r 5s; only the classic door (without a verb) runs until Ctrl-C"});
  } else if (options.repeats > 1) {
    problems.push_back({ExitCode::usage,
                        fmt::format("--repeats {} without --runtime: the first run would never end",
                                    options.repeats),
                        "give the length of each run, e.g. -r 5s"});
  }
}

void check_polled(const Options& options, Problems& problems) {
  if (options.polled != PolledWish::on) return;
  const auto refuse = [&](const char* other, const char* reason, const char* instead) {
    problems.push_back({ExitCode::usage,
                        fmt::format("-p1 and {} contradict each other: {}", other, reason),
                        fmt::format("use -p0 with {}, or {}", other, instead)});
  };
  if (options.sync) refuse("-S1", "the sync engine waits for interrupts", "leave out -S1");
  if (options.aio) refuse("-a1", "legacy AIO cannot be polled", "leave out -a1");
  // Neither a no-op nor a command that is passed through comes near the page cache.
  if (!options.direct && !options.nop && !options.passthrough) {
    refuse("-O0", "buffered I/O cannot be polled", "-O1 for direct I/O");
  }
}

}  // namespace

void check_ranges(const Options& options, const Limits& limits, Problems& problems) {
  require_range("--depth", options.depth, 1, kMaxDepth, problems);
  require_range("--batch-submit", options.batch_submit, 1, kMaxDepth, problems);
  require_range("--batch-complete", options.batch_complete, 0, kMaxDepth, problems);
  require_block_size(options.block_size_bytes, max_block_bytes(limits), problems);
  if (!options.threads_auto) {
    require_range("--threads", options.threads, 1, kMaxThreads, problems);
  }
  require_range("--sqpoll-cpu", options.sqpoll_cpu.value_or(0), 0, kMaxCpu, problems);
  require_range("--sqpoll-idle", options.sqpoll_idle_ms, 0, UINT32_MAX, problems);
  require_range("--sqthread-stats-bit", options.sqthread_stats_bit, 0, 31, problems);
  require_range("--repeats", options.repeats, 1, kMaxRepeats, problems);
  require_duration("--runtime", options.runtime_ns.value_or(0), 0, problems);
  require_duration("--warmup", options.warmup_ns, 0, problems);
  require_duration("--stall-timeout", options.stall_timeout_ns, 1, problems);
  if (options.tsc_rate_hz == 0) {
    problems.push_back({ExitCode::usage, "--tsc-rate: must be more than 0, got 0",
                        "leave it out: the rate is calibrated"});
  }
  if (options.scratch && options.scratch->size_bytes == 0) {
    problems.push_back({ExitCode::usage, "--scratch: must be at least one block, got 0 bytes",
                        "give a size, e.g. --scratch 1G"});
  }
  const auto negative =
      std::find_if(options.cpus.begin(), options.cpus.end(), [](int cpu) { return cpu < 0; });
  if (negative != options.cpus.end()) require_range("--cpus", *negative, 0, kMaxCpu, problems);
}

void check_combinations(const Options& options, std::size_t target_count, Problems& problems) {
  check_something_to_do(options, target_count, problems);
  check_runtime(options, problems);
  check_polled(options, problems);
}

}  // namespace uringbench::plan::rules
