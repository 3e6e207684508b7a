// Remembering: the result document, version 1, as plain data, and its way to disk.
//
// The schema is a contract (docs/result-schema.md). This room knows the schema and nlohmann/json;
// it must not know engine, plan or machine: a schema is a contract, internals are not.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/base.hpp"
#include "stats/stats.hpp"

namespace uringbench::result {

inline constexpr int kSchemaVersion = 1;

/// Ordered key → value pairs for the objects whose members depend on what was asked.
class Settings {
 public:
  using Value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string,
                             std::vector<std::string>, std::vector<std::int64_t>>;
  /// Appends; a key is set once (asserted).
  Settings& set(std::string key, Value value);
  Settings& set(std::string key, const char* value) {
    return set(std::move(key), Value(std::string(value)));
  }
  /// Any integer type, whose conversion to the variant would otherwise be ambiguous or narrowing.
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) Settings& set(std::string key, Integer value) {
    using Widest = std::conditional_t<std::is_signed_v<Integer>, std::int64_t, std::uint64_t>;
    return set(std::move(key), Value(static_cast<Widest>(value)));
  }
  const std::vector<std::pair<std::string, Value>>& entries() const { return entries_; }
  const Value* find(const std::string& key) const;

 private:
  std::vector<std::pair<std::string, Value>> entries_;
};

struct Tool {
  std::string version, commit, compiler, build_type, liburing;
};

struct SessionInfo {
  std::string id, boot_id, verb, label;
  std::optional<std::string> plan_id;
  std::vector<std::string> argv;
  std::uint64_t seed = 0;
  std::string started_at;  ///< UTC, milliseconds: "2026-11-30T10:00:00.123Z"
  std::int64_t elapsed_ns = 0;
  bool interrupted = false;
  std::optional<std::string> signal;  ///< "SIGINT"
};

struct Identity {
  std::string kernel_release, kernel_version, kernel_cmdline, architecture, cpu_model;
  int cpus_online = 0, numa_nodes = 0;
  std::uint64_t memory_bytes = 0;
  std::optional<std::string> virtualization;
  std::map<std::string, std::string> mitigations, smt;
  std::optional<int> io_uring_disabled;
};
struct Weather {
  double load_average_1m = 0;
  std::optional<std::string> governor, turbo;
  std::optional<int> cpu_mhz_min, cpu_mhz_max;
  std::map<std::string, double> temperature_celsius;
};

struct Pci {
  std::optional<std::string> address, link_speed, link_speed_max;
  std::optional<int> link_width, link_width_max;
};
struct Device {
  std::string name;
  std::optional<std::string> partition, model, firmware, driver, serial, local_cpus, backing_file;
  std::optional<int> numa_node, poll_queues, temperature_celsius;
  std::optional<Pci> pci;
};
struct Target {
  std::string path;
  std::optional<std::string> resolved_path;  ///< only when it differs
  std::string kind;                          ///< file | block | nvme-generic | none
  std::uint64_t size_bytes = 0;
  std::uint32_t logical_block_bytes = 0;
  std::optional<std::string> filesystem, mounted_at;
  bool sparse = false;
  std::optional<std::uint64_t> unwritten_bytes;  ///< only when sparse
  std::optional<Device> device;
  std::optional<std::uint32_t> namespace_id;  ///< nvme-generic only
  std::map<std::string, std::string> queue;   ///< as during the runs; left out when empty
  /// What --queue changed, with the values that were there before and are there again.
  std::map<std::string, std::string> queue_restored;
};
struct Finding {
  std::string severity;  ///< info | warning
  std::string code, message, hint;
};

struct ErrorTally {
  std::uint64_t count = 0;
  std::map<std::string, std::uint64_t> by_errno;
  struct First {
    std::string errno_name;
    std::uint32_t target = 0;  ///< index into Document::targets
    std::uint64_t offset_bytes = 0;
  };
  std::optional<First> first;
};
struct Interval {
  std::int64_t elapsed_ns = 0;
  std::uint64_t ios = 0;
  double iops = 0;
};
struct Latency {
  std::uint64_t count = 0, min = 0, max = 0;  ///< nanoseconds, submit to completion seen
  double mean = 0;
  std::vector<std::pair<std::string, std::uint64_t>> percentiles;  ///< {"p50", 812}, …, ascending
  std::vector<std::pair<std::uint64_t, std::uint64_t>> buckets;    ///< {lower bound, count}
};
struct CpuTime {
  std::int64_t user_ns = 0, system_ns = 0;
  std::optional<double> per_io_ns;  ///< absent without I/Os
  std::int64_t voluntary_switches = 0, involuntary_switches = 0;
};
struct ThreadRun {
  std::uint32_t index = 0;
  std::optional<int> cpu;  ///< only when pinned
  std::int64_t tid = 0;
  std::int64_t elapsed_ns = 0;
  std::uint64_t ios = 0;
  std::vector<std::uint32_t> targets;
  std::optional<int> node;  ///< only when placed (-P)
  std::int64_t user_ns = 0, system_ns = 0;
};
/// The kernel threads of SQPOLL over the measured window; figures of several are added up.
struct Sqpoll {
  struct Poller {
    std::int64_t thread_id = 0;
    std::optional<int> cpu;
    std::optional<std::int64_t> total_us, work_us, cpu_ns;
  };
  std::int64_t thread_id = 0;  ///< of the first
  std::optional<int> cpu;      ///< of the first
  std::optional<std::int64_t> total_us, work_us;
  std::optional<double> utilisation;  ///< work / total, 0 to 1
  std::optional<std::int64_t> cpu_ns;
  std::optional<double> cpu_per_io_ns;
  std::uint64_t wakeups = 0;
  std::vector<Poller> pollers;  ///< left out when there is only one
};
struct Run {
  std::uint32_t index = 0;
  std::optional<std::uint32_t> block, position;
  std::string started_at;
  std::int64_t warmup_ns = 0, elapsed_ns = 0;
  std::uint64_t ios = 0;
  double iops = 0;
  std::optional<double> bytes_per_second;  ///< absent for NOP
  ErrorTally errors;
  std::uint64_t short_reads = 0;
  struct ShortRead {
    std::uint32_t target = 0;  ///< index into Document::targets
    std::uint64_t offset_bytes = 0;
  };
  std::optional<ShortRead> first_short_read;  ///< it has no errno, so it is no ErrorTally::First
  std::uint64_t retries_eagain = 0;
  bool stalled = false;
  std::optional<double> ios_per_submit_call, ios_per_reap;
  std::uint64_t syscalls = 0;
  std::optional<double> inflight_mean;
  std::optional<std::string> inflight_mean_method;  ///< "time-weighted" (timed runs) | "per-call"
  std::uint32_t inflight_max = 0;                   ///< of one thread
  std::uint32_t never_completed = 0;  ///< requests still out when the run was given up
  std::uint32_t io_workers = 0;       ///< kernel worker threads seen at the end of the run
  std::vector<Interval> intervals;
  std::optional<Latency> latency;
  CpuTime cpu;
  std::optional<Sqpoll> sqpoll;
  std::vector<ThreadRun> threads;
  std::optional<bool> steady;  ///< absent when the run was too short to tell
  bool interrupted = false;
  std::vector<std::string> warnings;
};
struct SummaryFigure {
  std::uint64_t n = 0;
  double median = 0, mean = 0, min = 0, max = 0;
  std::optional<double> cv;
  std::optional<stats::MedianInterval> ci95;
};
struct Cell {
  std::string id;
  std::optional<std::string> arm;
  Settings asked, granted;
  std::vector<Run> runs;
  std::vector<std::pair<std::string, SummaryFigure>> summary;  ///< "iops" first
};
struct Document {
  Tool tool;
  SessionInfo session;
  Identity identity;
  Weather weather;
  std::vector<Target> targets;
  std::vector<Finding> findings;
  std::vector<Cell> cells;
};

/// Builds "latency_ns" from a histogram of nanoseconds: p1, p5, p10, p25, p50, p75, p90, p95, p99,
/// p99.5, p99.9, p99.95, p99.99. Nothing when it is empty.
std::optional<Latency> latency_of(const stats::Histogram& nanoseconds);

/// Fills `summary` from `runs`: iops, bytes_per_second, cpu_per_io_ns, latency_mean_ns,
/// latency_p50_ns, latency_p99_ns, latency_p99.9_ns, each over the runs that have it. Runs that
/// were interrupted or stalled do not count. Empty when no run counts.
void summarize(Cell& cell);

/// JSON text of the document, two-space indent, one trailing newline, keys in the schema's order.
/// Absent optionals are left out; NaN and infinity never appear (asserted). Strings that are not
/// valid UTF-8 (file names, argv) are written with U+FFFD in place of what is not.
std::string to_json(const Document& document);

/// What a reader is going to look at. A comparison needs no figures of single threads and pollers,
/// no latency buckets and no warnings of runs, and intervals only where a cell has a single run:
/// with `figures` these lists are empty, whatever stands in them.
enum class Detail { everything, figures };

/// The way back: to_json() of it is the same text. Unknown keys are ignored: adding one keeps the
/// version. In Settings, whole numbers become int64 where they fit, and an empty list is one of
/// texts. Throws UserError naming `name`: internal (exit 1) for what is no JSON, not complete, or
/// beyond any result (512 MiB, 64 levels, 1000 members of an object, very many tiny values);
/// not_comparable (exit 5) for another schema, a version this program does not know, a key that
/// stands twice, or a known key with an impossible value.
Document from_json(std::string_view text, const std::string& name,
                   Detail detail = Detail::everything);
/// Reads and parses; not from block devices. Throws SystemError(internal) when the file cannot be
/// read.
Document load(const std::string& path);

/// Other people's results, as documents with what they state: `id` and `asked` of a cell have the
/// settings that are known and no others. Document::tool.version names the program.
struct ImportHints {
  std::string cell_id;  ///< settings given on the command line (--import-argv): canonical words
  Settings asked;
};
/// Any file that compare takes: our own document, fio's JSON (json or json+, also with text lines
/// before it), or a saved log of t/io_uring or of the classic door. Throws as load() does; for a
/// file that is none of these UserError with what it lacks.
Document load_any(const std::string& path, Detail detail = Detail::everything,
                  const ImportHints& hints = {});
/// Where an imported document came from: "fio", "t/io_uring"; empty for our own.
std::string imported_from(const Document& document);

/// What `doctor` found, as plain data: schema "uringbench.doctor", version 1.
struct Checkup {
  struct Ability {
    std::string name;
    bool works = false;
    std::string remark;  ///< why not, or what is to be known
  };
  struct Problem {
    std::string what, hint;
  };
  struct TargetCheck {
    std::string path;
    std::optional<Target> target;   ///< absent when it could not be opened
    std::vector<Ability> modes;     ///< "direct I/O", "polled I/O (-p1)", "passthrough (-u1)"…
    std::vector<Problem> problems;  ///< why a default run would be refused
    std::vector<Finding> findings;
  };
  Tool tool;
  Identity identity;
  Weather weather;
  std::vector<Ability> kernel;  ///< io_uring as such, set-up flags, opcodes: in groups below
  std::vector<Ability> setup_flags, opcodes;
  std::vector<std::pair<std::string, std::string>> limits;  ///< {"locked memory", "8 MiB"}
  std::vector<Problem> problems;                            ///< of the machine
  std::vector<Finding> findings;                            ///< of the machine
  std::vector<TargetCheck> targets;
  bool healthy() const;  ///< no problem anywhere: a default run would work
};
std::string to_json(const Checkup& checkup);

/// Can a document be written here later? Throws UserError(internal) naming the path and reason: no
/// such folder, no permission, is a directory. Leaves nothing behind; "-" always passes.
void check_writable(const std::string& path);

/// Does saving here replace what was there? False for "-", /dev/stdout, fifos and the like, where a
/// second save would append a second document: save there once, at the end.
bool can_replace(const std::string& path);

/// Temporary name in the same folder, fsync, rename, fsync of the folder. Follows a symbolic link
/// at `path` to its end; keeps the mode of a file it replaces; a target that is no regular file
/// (/dev/stdout, /dev/null, a fifo) is written to directly, but a block device never. Where only
/// the file itself may change (a file mounted into a container) it is filled in place. Throws
/// SystemError or UserError, both with ExitCode::internal: a regular file that was there is then
/// as it was, and no temporary file is left. One call at a time.
void save_atomically(const std::string& path, const std::string& text);

/// Async-signal-safe: removes the temporary file of a save_atomically that is under way.
void remove_unfinished_file() noexcept;

}  // namespace uringbench::result
