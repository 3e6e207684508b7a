// The flags that say what is measured, for how long, where, and what is done with the result.
#include <limits>

#include "base/base.hpp"
#include "command/flag_parts.hpp"

namespace uringbench::command {
namespace {

using base::ExitCode;
using base::UserError;
using plan::Options;

void set_scratch(Options& options, const std::string& text) {
  plan::Scratch scratch;
  const auto at = text.find('@');
  scratch.size_bytes = base::parse_size("--scratch", text.substr(0, at));
  if (at != std::string::npos) scratch.directory = text.substr(at + 1);
  if (scratch.directory.empty()) {
    throw UserError(ExitCode::usage, "--scratch: no directory after the @",
                    "write --scratch 1G@DIR, or --scratch 1G for the current folder");
  }
  options.scratch = scratch;
}

void set_threads(Options& options, const std::string& text) {
  options.threads_auto = text == "auto";
  if (!options.threads_auto) {
    options.threads = base::parse_integer("--threads", text, 1, plan::kMaxThreads);
  }
}

void set_cpus(Options& options, const std::string& text) {
  options.cpus.clear();
  options.cpu_place = plan::CpuPlace::listed;
  if (text == "local-core") {
    options.cpu_place = plan::CpuPlace::local_core;
  } else if (text == "local-node") {
    options.cpu_place = plan::CpuPlace::local_node;
  } else {
    options.cpus = base::parse_cpu_list("--cpus", text);
  }
}

void set_json(Options& options, const std::string& text) {
  if (text.empty()) throw UserError(ExitCode::usage, "--json: must not be empty");
  const bool is_stdout = text == "/dev/stdout" || text == "/dev/fd/1" || text == "/proc/self/fd/1";
  options.json_path = is_stdout ? "-" : text;
}

}  // namespace

std::vector<Entry> workload_flags() {
  return {
      custom('b', "block-size", "SIZE", "bytes per read: 512, 4k, 1M, 64KiB",
             [](Options& o, const std::string& t) {
               o.block_size_bytes = base::parse_size("--block-size", t, 1, plan::kMaxBlockBytes);
             })
          .default_is(std::to_string(Options{}.block_size_bytes))
          .more("Suffixes are powers of 1024. With direct I/O it must be a multiple of the "
                "target's logical block size."),
      on_off('R', "random", &Options::random, "random offsets; 0: sequential"),
      on_off('O', "direct", &Options::direct, "O_DIRECT; 0: through the page cache"),
      on_off('N', "nop", &Options::nop, "no-ops instead of reads; needs no FILE"),
      on_off('S', "sync", &Options::sync, "reads by preadv2 instead of a ring; depth 1"),
      on_off('a', "aio", &Options::aio, "legacy kernel AIO instead of a ring")
          .more("It speaks the kernel's own interface; no library is needed."),
      on_off('V', "vectored", &Options::vectored, "vectored reads"),
      on_off('u', "passthrough", &Options::passthrough,
             "NVMe passthrough: FILE is /dev/ngXnY, not /dev/nvmeXnY"),
      custom(0, "scratch", "SIZE[@DIR]",
             "instead of FILE: random bytes in DIR, removed after the run", set_scratch)
          .more("DIR is the current folder unless given. The file is removed in any case, also "
                "after a signal."),
      custom(0, "seed", "N", "seed of the offsets; recorded",
             [](Options& o, const std::string& t) { o.seed = base::parse_unsigned("--seed", t); })
          .default_is("random")
          .more("Decimal, or hexadecimal with 0x."),
  };
}

std::vector<Entry> queueing_flags() {
  return {
      integer('d', "depth", "N", &Options::depth, 1, plan::kMaxDepth,
              "requests in flight per thread, 1 to 32768"),
      integer('s', "batch-submit", "N", &Options::batch_submit, 1, plan::kMaxDepth,
              "requests submitted per system call, at most the depth"),
      integer('c', "batch-complete", "N", &Options::batch_complete, 0, plan::kMaxDepth,
              "completions waited for per system call; 0 means 1"),
      custom('n', "threads", "N|auto", "threads, each with its own ring", set_threads)
          .default_is(std::to_string(Options{}.threads))
          .examples({"auto"})
          .more("At most 1024. With auto there are as many as targets or pinned CPUs, whichever is "
                "more."),
  };
}

std::vector<Entry> time_flags() {
  return {
      custom('r', "runtime", "DUR", "measured time: 5, 1.5, 500ms, 2m; 0: until Ctrl-C",
             [](Options& o, const std::string& t) {
               o.runtime_ns = base::parse_duration("--runtime", t, 0, kLongestDurationNs);
             })
          .default_is("0; run: " + base::format_duration(kRunRuntimeNs))
          .more("A number without a unit is in seconds. The verb run needs an end and refuses 0."),
      duration("warmup", &Options::warmup_ns, 0, "time before the measured time, not counted")
          .default_is("0; run: " + base::format_duration(kRunWarmupNs)),
      custom(0, "repeats", "N", "runs, each with fresh rings and threads",
             [](Options& o, const std::string& t) {
               o.repeats = base::parse_integer("--repeats", t, 1, 10'000);
             })
          .default_is(std::to_string(Options{}.repeats) + "; run: " + std::to_string(kRunRepeats)),
      duration("stall-timeout", &Options::stall_timeout_ns, 1'000'000,
               "no completion to some thread for so long ends the run")
          .default_is(base::format_duration(static_cast<double>(Options{}.stall_timeout_ns))),
      on_off('t', "latency", &Options::latency, "latency of every read, percentiles"),
      custom('T', "tsc-rate", "HZ", "refused unless it agrees with calibration within 1 %",
             [](Options& o, const std::string& t) {
               o.tsc_rate_hz = static_cast<std::uint64_t>(base::parse_integer(
                   "--tsc-rate", t, 1, std::numeric_limits<std::int64_t>::max()));
             })
          .default_is("calibrated"),
  };
}

std::vector<Entry> placement_flags() {
  return {
      custom(0, "cpus", "LIST", "pin threads round-robin: 0-3,8, local-core or local-node",
             set_cpus)
          .default_is("not pinned")
          .examples({"local-core", "local-node"})
          .more("local-core: the hardware threads of the first physical core that is local to the "
                "first target. local-node: all CPUs of its NUMA node."),
      on_off('P', "numa", &Options::numa, "threads and buffers on the device's NUMA node")
          .more("Where the node is unknown, a line says so."),
  };
}

std::vector<Entry> output_flags() {
  return {
      custom(0, "json", "FILE", "write the document: result or comparison; -: to stdout", set_json)
          .verbs(kMeasuring | kComparing)
          .more("With - standard output carries the document alone, and all other text goes to "
                "standard error."),
      custom(0, "label", "TEXT", "stored in the document; what compare calls it",
             [](Options& o, const std::string& t) { o.label = t; }),
      plain("with-serials", &Options::with_serials, "store drives' serial numbers too")
          .verbs(kMeasuring | kDoctor),
      custom(0, "format", "FORMAT",
             "form of a table: text, md, csv, json, junit, as the verb has it",
             [](Options& o, const std::string& t) { o.format = t; })
          .default_is(Options{}.format)
          .more("show: text, md, csv. doctor: text, json. compare and gate: all of them.")
          .verbs(kShow | kDoctor | kComparing),
      plain("dry-run", &Options::dry_run, "show plan and findings, touch nothing"),
  };
}

std::vector<Entry> other_flags() {
  return {
      plain("allow-errors", &Options::allow_errors, "I/O errors do not change the exit code")
          .more(
              "They are still recorded and still flagged. A stall, or a run without a single good "
              "read, remains a failure."),
      custom(0, "profile", "NAME", "options from a file (not available in this version)",
             [](Options&, const std::string&) {})
          .verbs(0),
      text(0, "log-level", "LEVEL", &Options::log_level,
           "diagnostics on stderr: trace, debug, info, warn, error, off")
          .default_is(Options{}.log_level)
          .choices({"trace", "debug", "info", "warn", "error", "off"})
          .verbs(kEveryVerb),
      plain("quiet", &Options::quiet, "nothing but errors on stderr").verbs(kEveryVerb),
  };
}

}  // namespace uringbench::command
