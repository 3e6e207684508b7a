// Thinking about options: what was asked, every rule between options, and the plan that follows.
//
// Pure: functions here decide from facts given as arguments. The room must not know CLI11, sysfs,
// liburing, threads, or what time it is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/base.hpp"

namespace uringbench::plan {

inline constexpr std::int64_t kMaxDepth = 32768;
inline constexpr std::int64_t kMaxThreads = 1024;
/// The kernel's limit for one registered buffer (io_uring/rsrc.c: SZ_1G).
inline constexpr std::uint64_t kMaxRegisteredRegionBytes = std::uint64_t{1} << 30;
/// The kernel's limit of registered buffers per ring (IORING_MAX_REG_BUFFERS).
inline constexpr std::uint64_t kMaxRegisteredRegions = 16384;
/// What one read can return (MAX_RW_COUNT is INT_MAX rounded down to a page).
inline constexpr std::uint64_t kMaxBlockBytes = 0x7ffff000;

enum class Engine { io_uring, sync };
enum class PolledWish { automatic, off, on };
enum class Door { classic, run };

struct Scratch {
  std::uint64_t size_bytes = 0;
  std::string directory = ".";
};

/// What was asked, as meant: one field per flag. The member initialisers are the defaults of the
/// classic door and the only place where defaults live (help shows these).
struct Options {
  Door door = Door::classic;
  std::vector<std::string> files;

  std::int64_t depth = 128;
  std::int64_t batch_submit = 32;
  std::int64_t batch_complete = 32;
  std::uint64_t block_size_bytes = 4096;
  PolledWish polled = PolledWish::automatic;
  bool fixed_buffers = true;
  bool register_files = true;
  bool register_ring = true;
  std::int64_t threads = 1;
  bool direct = true;
  bool nop = false;
  bool sync = false;
  bool random = true;
  bool vectored = false;
  bool latency = false;
  std::optional<std::uint64_t> tsc_rate_hz;  ///< -T, checked against the calibration
  std::optional<std::int64_t> runtime_ns;    ///< absent: until Ctrl-C (classic door only)
  std::int64_t warmup_ns = 0;
  std::int64_t repeats = 1;
  std::int64_t stall_timeout_ns = 10'000'000'000;
  std::optional<std::uint64_t> seed;  ///< absent: random, then recorded
  std::vector<int> cpus;              ///< empty: not pinned
  std::optional<Scratch> scratch;
  std::string json_path;  ///< empty: no document; "-": stdout
  std::string label;
  std::string log_level = "info";
  bool allow_errors = false;
  bool dry_run = false;
  bool quiet = false;
  bool with_serials = false;

  /// Where a value came from, by long name without dashes: "command line" or a profile's name.
  /// A flag that is not in here has its default.
  std::map<std::string, std::string> given;
  bool was_given(const std::string& long_name) const { return given.count(long_name) != 0; }
};

/// What the plan must know of a target. `machine` fills it in; tests make their own.
struct TargetShape {
  std::string path;
  std::uint64_t size_bytes = 0;
  /// Offsets and lengths of direct I/O must be multiples of this; 1 for buffered I/O.
  std::uint32_t alignment_bytes = 1;
  /// Can its driver complete polled I/O, as far as sysfs tells? Absent: cannot be told.
  std::optional<bool> can_poll;
  /// Why not, e.g. "is not supported by this block driver (queue/io_poll is 0)".
  std::string cannot_poll_reason;
  std::string cannot_poll_hint;
};

/// What the plan must know of the machine and of this process.
struct Limits {
  std::uint64_t page_bytes = 4096;
  std::uint64_t memory_available_bytes = UINT64_MAX;  ///< MemAvailable
  std::uint64_t memlock_bytes = UINT64_MAX;  ///< RLIMIT_MEMLOCK (hard); UINT64_MAX: unlimited
  bool memlock_exempt = false;               ///< CAP_IPC_LOCK
  std::uint64_t open_files = UINT64_MAX;     ///< RLIMIT_NOFILE (hard)
  std::vector<int> allowed_cpus;             ///< this process's affinity mask; empty: unknown
};

struct TargetPlan {
  std::string path;
  std::uint64_t blocks = 0;  ///< whole blocks, at least 1; offsets are block * block_size_bytes
};

struct ThreadPlan {
  int cpu = -1;  ///< -1: not pinned
  /// Indices into RunPlan::targets; never empty but for a bare NOP.
  std::vector<std::uint32_t> targets;
};

/// What will be done: nothing optional, negative or contradictory in here.
struct RunPlan {
  Engine engine = Engine::io_uring;
  bool nop = false;
  /// NOP with files given: the kernel also looks up the (registered) file and buffer, as
  /// t/io_uring has it; bare NOP otherwise.
  bool nop_with_file = false;
  std::uint32_t depth = 128;
  std::uint32_t batch_submit = 32;
  std::uint32_t batch_complete = 32;
  std::uint64_t block_size_bytes = 4096;
  bool polled = false;
  bool fixed_buffers = true;
  bool register_files = true;
  bool register_ring = true;
  bool direct = true;
  bool random = true;
  bool vectored = false;
  bool latency = false;
  std::int64_t runtime_ns = 0;  ///< 0: until stopped
  std::int64_t warmup_ns = 0;
  std::uint32_t repeats = 1;
  std::int64_t stall_timeout_ns = 0;
  std::uint64_t seed = 0;
  /// Distance of two slots' buffers: the block size, which direct I/O has aligned already; buffered
  /// blocks of odd sizes are rounded up to 64 bytes. Dense, so that small blocks stay in the cache.
  std::uint64_t slot_stride_bytes = 0;
  /// A registered region holds whole slots and never exceeds kMaxRegisteredRegionBytes.
  std::uint32_t slots_per_region = 0;
  /// Whole pages per slot, times depth; 0 for a bare NOP.
  std::uint64_t buffer_bytes_per_thread = 0;
  std::vector<TargetPlan> targets;
  std::vector<ThreadPlan> threads;
  /// What was adjusted, one sentence each: "--batch-submit 64 is more than --depth 8: using 8".
  /// These are said once on stderr and recorded.
  std::vector<std::string> notes;
};

/// Every rule, all errors at once. Throws UserError with one Problem per thing that is wrong.
/// `targets` has one entry per file in order (none for a bare NOP). `seed` is what to use when
/// the options have none.
///
/// Rules: batches are clamped to depth (-c 0 means 1), with a note where the user gave them; the
/// sync engine has depth 1 and batches of 1, unregistered and not polled (noted only where the
/// user gave those flags); block size is a multiple of each target's alignment when direct; every
/// target holds at least one block, a partial tail is ignored; polled needs direct and targets that
/// can poll; `automatic` polls when all targets are known to (tail and polling are machine's
/// findings, not notes); vectored reads use plain buffers unless -B1 was given; buffers fit into
/// available memory and, when registered, into the memlock limit and the kernel's regions; file
/// descriptors suffice; pinned CPUs are allowed ones; a measured run has an end. NOP has no rules
/// for targets, is polled only on demand, and registers nothing when it is bare. Contradictions and
/// values out of range are usage problems, everything else is "cannot". Threads and targets: when
/// one count divides the other, targets are partitioned (thread t gets the targets i with i %
/// threads == t, or target t % targets); otherwise every thread reads all targets, so that requests
/// spread evenly in any case.
RunPlan make_plan(const Options& options, const std::vector<TargetShape>& targets,
                  const Limits& limits, std::uint64_t seed);

/// The canonical identity of a cell, in an order that only grows at its end: "randread bs=4096
/// qd=128 submit=32 complete=32 threads=1 direct=1 polled=0 fixedbufs=1 regfiles=1 engine=io_uring
/// regring=1 vectored=0 latency=0 targets=1 cpus=any".
/// Settings at their defaults are included too: two cells are equal iff their ids are. Seed,
/// label, paths and durations are no part of it.
std::string cell_id(const RunPlan& plan);

}  // namespace uringbench::plan
