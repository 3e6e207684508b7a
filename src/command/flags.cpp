#include "command/flags.hpp"

#include <limits>

#include "base/base.hpp"

namespace uringbench::command {
namespace {

using plan::Options;

constexpr std::int64_t kDay = 86'400'000'000'000;

/// "-d (--depth)" would be noise: messages name the long form, as help does.
std::string dashed(const std::string& name) { return "--" + name; }

Flag integer(char letter, const std::string& name, std::int64_t Options::*member,
             std::int64_t least, std::int64_t most, std::string group, std::string help) {
  const std::string shown = std::to_string(Options{}.*member);
  return {letter,
          name,
          "N",
          shown,
          std::move(group),
          std::move(help),
          [=](Options& options, const std::string& text) {
            options.*member = base::parse_integer(dashed(name), text, least, most);
          }};
}

Flag on_off(char letter, const std::string& name, bool Options::*member, std::string group,
            std::string help) {
  const std::string shown = Options{}.*member ? "1" : "0";
  return {letter,
          name,
          "0/1",
          shown,
          std::move(group),
          std::move(help),
          [=](Options& options, const std::string& text) {
            options.*member = base::parse_switch(dashed(name), text);
          }};
}

Flag plain(std::string name, bool Options::*member, std::string group, std::string help) {
  return {0,
          std::move(name),
          "",
          "",
          std::move(group),
          std::move(help),
          [=](Options& options, const std::string&) { options.*member = true; }};
}

Flag duration(char letter, const std::string& name, std::int64_t Options::*member,
              std::int64_t least_ns, std::string shown, std::string group, std::string help) {
  return {letter,
          name,
          "DUR",
          std::move(shown),
          std::move(group),
          std::move(help),
          [=](Options& options, const std::string& text) {
            options.*member = base::parse_duration(dashed(name), text, least_ns, 365 * kDay);
          }};
}

/// Known, and not to be had in this version. A switch may still be given its default, 0.
Flag later(char letter, const std::string& name, const std::string& value, std::string help) {
  return {letter,
          name,
          value,
          value == "0/1" ? "0" : "",
          "Not in this version",
          std::move(help),
          [=](Options&, const std::string& text) {
            if (value == "0/1" && text == "0") return;
            std::string what = dashed(name);
            if (letter != 0) what += std::string(" (-") + letter + ")";
            throw base::UserError(base::ExitCode::usage, what + ": not available in this version",
                                  "leave it out");
          }};
}

void set_scratch(Options& options, const std::string& text) {
  plan::Scratch scratch;
  const auto at = text.find('@');
  scratch.size_bytes = base::parse_size("--scratch", text.substr(0, at));
  if (at != std::string::npos) scratch.directory = text.substr(at + 1);
  if (scratch.directory.empty()) {
    throw base::UserError(base::ExitCode::usage, "--scratch: no directory after the @",
                          "write --scratch 1G@DIR, or --scratch 1G for the current folder");
  }
  options.scratch = scratch;
}

void set_log_level(Options& options, const std::string& text) {
  for (const char* known : {"trace", "debug", "info", "warn", "error", "off"}) {
    if (text == known) {
      options.log_level = text;
      return;
    }
  }
  throw base::UserError(base::ExitCode::usage,
                        "--log-level: must be trace, debug, info, warn, error or off, got " + text);
}

void set_path(std::string& member, const std::string& flag, const std::string& text) {
  if (text.empty()) throw base::UserError(base::ExitCode::usage, flag + ": must not be empty");
  member = text;
}

std::vector<Flag> workload_flags() {
  const std::string group = "Workload";
  return {
      {'b', "block-size", "SIZE", "4096", group, "bytes per read: 512, 4k, 1M, 64KiB",
       [](Options& o, const std::string& t) {
         o.block_size_bytes = base::parse_size("--block-size", t, 1, plan::kMaxBlockBytes);
       }},
      on_off('R', "random", &Options::random, group, "random offsets; 0: sequential"),
      on_off('O', "direct", &Options::direct, group, "O_DIRECT; 0: through the page cache"),
      on_off('N', "nop", &Options::nop, group, "no-ops instead of reads; needs no FILE"),
      on_off('S', "sync", &Options::sync, group, "preadv2 instead of a ring; depth 1"),
      on_off('V', "vectored", &Options::vectored, group, "vectored reads"),
      {0, "scratch", "SIZE[@DIR]", "", group,
       "measure a file of random bytes made for this run in DIR and removed", set_scratch},
      {0, "seed", "N", "random", group, "seed of the offsets; recorded",
       [](Options& o, const std::string& t) { o.seed = base::parse_unsigned("--seed", t); }},
  };
}

std::vector<Flag> queueing_flags() {
  const std::string group = "Queueing";
  return {
      integer('d', "depth", &Options::depth, 1, plan::kMaxDepth, group,
              "requests in flight per thread, 1 to 32768"),
      integer('s', "batch-submit", &Options::batch_submit, 1, plan::kMaxDepth, group,
              "requests submitted per system call, at most the depth"),
      integer('c', "batch-complete", &Options::batch_complete, 0, plan::kMaxDepth, group,
              "completions waited for per system call; 0 means 1"),
      {'n', "threads", "N", "1", group, "threads, each with its own ring",
       [](Options& o, const std::string& t) {
         if (t == "auto") {
           throw base::UserError(base::ExitCode::usage,
                                 "--threads: auto is not available in this version",
                                 "give a number");
         }
         o.threads = base::parse_integer("--threads", t, 1, plan::kMaxThreads);
       }},
      {0, "cpus", "LIST", "not pinned", group, "pin threads round-robin: 0-3,8",
       [](Options& o, const std::string& t) {
         if (t == "local-core" || t == "local-node") {
           throw base::UserError(base::ExitCode::usage,
                                 "--cpus: " + t + " is not available in this version",
                                 "give the numbers: lscpu -e shows cores and nodes");
         }
         o.cpus = base::parse_cpu_list("--cpus", t);
       }},
  };
}

std::vector<Flag> ring_flags() {
  const std::string group = "Ring";
  return {
      {'p', "polled", "0/1", "auto", group,
       "polled completion; not given: polled if the target can",
       [](Options& o, const std::string& t) {
         o.polled =
             base::parse_switch("--polled", t) ? plan::PolledWish::on : plan::PolledWish::off;
       }},
      on_off('B', "fixed-buffers", &Options::fixed_buffers, group, "registered buffers"),
      on_off('F', "register-files", &Options::register_files, group, "registered files"),
      on_off('X', "register-ring", &Options::register_ring, group, "registered ring descriptor"),
  };
}

std::vector<Flag> time_flags() {
  const std::string group = "Time";
  return {
      {'r', "runtime", "DUR", "until Ctrl-C (run: 5s)", group,
       "measured time: 5, 1.5, 500ms, 2m; 0: until Ctrl-C",
       [](Options& o, const std::string& t) {
         o.runtime_ns = base::parse_duration("--runtime", t, 0, 365 * kDay);
       }},
      duration(0, "warmup", &Options::warmup_ns, 0, "0 (run: 1s)", group,
               "time before the measured time, not counted"),
      {0, "repeats", "N", "1 (run: 6)", group, "runs, each with fresh rings and threads",
       [](Options& o, const std::string& t) {
         o.repeats = base::parse_integer("--repeats", t, 1, 10'000);
       }},
      duration(0, "stall-timeout", &Options::stall_timeout_ns, 1'000'000, "10s", group,
               "no completion to some thread for so long ends the run"),
      on_off('t', "latency", &Options::latency, group, "latency of every read, percentiles"),
      {'T', "tsc-rate", "HZ", "calibrated", group, "refused unless it agrees with calibration",
       [](Options& o, const std::string& t) {
         o.tsc_rate_hz = static_cast<std::uint64_t>(
             base::parse_integer("--tsc-rate", t, 1, std::numeric_limits<std::int64_t>::max()));
       }},
  };
}

std::vector<Flag> output_flags() {
  const std::string group = "Output";
  return {
      {0, "json", "FILE", "", group, "write the result document; -: to stdout",
       [](Options& o, const std::string& t) {
         set_path(o.json_path, "--json", t);
         if (t == "/dev/stdout" || t == "/dev/fd/1" || t == "/proc/self/fd/1") o.json_path = "-";
       }},
      {0, "label", "TEXT", "", group, "stored in the document",
       [](Options& o, const std::string& t) { o.label = t; }},
      plain("with-serials", &Options::with_serials, group, "store drives' serial numbers too"),
      plain("allow-errors", &Options::allow_errors, group,
            "I/O errors do not change the exit code"),
      plain("dry-run", &Options::dry_run, group, "show plan and findings, touch nothing"),
      {0, "log-level", "LEVEL", "info", group, "trace, debug, info, warn, error, off",
       set_log_level},
      plain("quiet", &Options::quiet, group, "nothing but errors on stderr"),
  };
}

std::vector<Flag> later_flags() {
  return {
      later('a', "aio", "0/1", "legacy kernel AIO"),
      later('P', "numa", "0/1", "threads and memory on the device's node"),
      later('e', "restrict", "0/1", "restriction filter"),
      later('u', "passthrough", "0/1", "NVMe passthrough on /dev/ngXnY"),
      later('H', "hugetlb", "PATH", "huge pages for buffers"),
      later(0, "sqpoll", "0/1", "submission by a kernel thread"),
      later(0, "sqpoll-cpu", "N", "where that thread runs"),
      later(0, "sqpoll-idle", "MS", "when it sleeps"),
      later(0, "no-sqthread-stats", "0/1", "stats-off set-up flag"),
      later(0, "sqthread-stats-bit", "N", "which bit that is"),
      later(0, "queue", "KEY=VALUE", "block-queue attributes for the run"),
      later(0, "taskrun", "MODE", "defer, coop or plain"),
      later(0, "hybrid-iopoll", "0/1", "sleep before polling"),
      later(0, "profile", "NAME", "options from a file"),
      later(0, "format", "FORMAT", "text, md, csv or json"),
  };
}

}  // namespace

const std::vector<Flag>& flag_table() {
  static const std::vector<Flag> table = [] {
    std::vector<Flag> all;
    for (auto part : {workload_flags(), queueing_flags(), ring_flags(), time_flags(),
                      output_flags(), later_flags()}) {
      for (auto& flag : part) all.push_back(std::move(flag));
    }
    return all;
  }();
  return table;
}

}  // namespace uringbench::command
