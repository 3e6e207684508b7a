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

enum class Engine { io_uring, sync, aio };
enum class PolledWish { automatic, off, on };
/// How completions that need the submitting task are run (--taskrun).
enum class TaskRun {
  defer,  ///< SINGLE_ISSUER + DEFER_TASKRUN
  coop,   ///< COOP_TASKRUN
  plain   ///< neither: by interrupting the task
};
const char* taskrun_name(TaskRun taskrun) noexcept;  ///< "defer", "coop", "plain"
enum class CpuPlace { listed, local_core, local_node };
enum class HugePages { none, anonymous, file };
enum class Door { classic, run };

struct Scratch {
  std::uint64_t size_bytes = 0;
  std::string directory = ".";
};

/// One --queue KEY=VALUE: an attribute below /sys/block/DISK/queue.
struct QueueSetting {
  std::string key, value;
  bool operator==(const QueueSetting&) const = default;
};

/// What compare and gate were asked for, as texts that were found to be right: the compare room
/// knows what they mean.
struct ComparingOptions {
  /// The words of each side, [LABEL=]FILE[,FILE...]: one a side unless "--" stands between sides.
  std::vector<std::vector<std::string>> sides;
  std::vector<std::string> varies, metrics, gate_metrics, min_effects, filters;
  bool baseline_is_previous = false;
  bool exit_verdict = false;
  bool explain = false;
  bool bootstrap = false;
  std::optional<std::uint64_t> bootstrap_seed;  ///< absent: random, then recorded
  std::string import_argv;
  std::vector<std::string> margins;
  std::string gate_file;
  std::string expect;  ///< a result document whose cells must be there
  bool allow_inconclusive = false, warn_only = false, strict_env = false;
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
  bool aio = false;
  bool random = true;
  bool vectored = false;
  bool passthrough = false;
  bool numa = false;           ///< -P: threads and buffers on the device's home node
  bool restrict_ring = false;  ///< -e
  std::string hugetlb;         ///< -H: empty: none; "anon"; else a file on hugetlbfs
  bool sqpoll = false;
  std::optional<std::int64_t> sqpoll_cpu;
  std::int64_t sqpoll_idle_ms = 0;  ///< 0: the kernel's default, 1 s
  bool sqpoll_share = false;        ///< one SQPOLL thread for all rings
  bool no_sqthread_stats = false;
  std::int64_t sqthread_stats_bit = 19;
  bool force = false;  ///< run although the stats-off flag was accepted and is not in force
  std::optional<TaskRun> taskrun;  ///< absent: the best the kernel has
  bool hybrid_iopoll = false;
  std::vector<QueueSetting> queue;
  bool latency = false;
  std::optional<std::uint64_t> tsc_rate_hz;  ///< -T, checked against the calibration
  std::optional<std::int64_t> runtime_ns;    ///< absent: until Ctrl-C (classic door only)
  std::int64_t warmup_ns = 0;
  std::int64_t repeats = 1;
  std::int64_t stall_timeout_ns = 10'000'000'000;
  std::optional<std::uint64_t> seed;  ///< absent: random, then recorded
  std::vector<int> cpus;              ///< empty: not pinned, or chosen by cpu_place
  CpuPlace cpu_place = CpuPlace::listed;
  bool threads_auto = false;  ///< -n auto; `threads` is then without meaning
  std::optional<Scratch> scratch;
  std::string json_path;  ///< empty: no document; "-": stdout
  std::string label;
  std::string log_level = "info";
  std::string format = "text";  ///< of what show and doctor print
  bool allow_errors = false;
  bool dry_run = false;
  bool quiet = false;
  bool with_serials = false;
  ComparingOptions comparing;

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
  bool is_block = false;         ///< a block device (not a file on one)
  std::string disk;              ///< the whole disk that serves it: "nvme0n1"; empty: unknown
  bool is_nvme_generic = false;  ///< /dev/ngXnY; then the two below hold
  std::uint32_t namespace_id = 0;
  std::uint32_t lba_bytes = 0;
  int node = -1;                ///< NUMA node of the device; -1: unknown
  std::vector<int> local_cpus;  ///< near the device; empty: unknown
};

/// What the plan must know of the machine and of this process.
struct Limits {
  std::uint64_t page_bytes = 4096;
  std::uint64_t memory_available_bytes = UINT64_MAX;  ///< MemAvailable
  std::uint64_t memlock_bytes = UINT64_MAX;   ///< RLIMIT_MEMLOCK (hard); UINT64_MAX: unlimited
  bool memlock_exempt = false;                ///< CAP_IPC_LOCK
  std::uint64_t open_files = UINT64_MAX;      ///< RLIMIT_NOFILE (hard)
  std::vector<int> allowed_cpus;              ///< this process's affinity mask; empty: unknown
  std::vector<std::vector<int>> cores;        ///< SMT siblings per physical core; empty: unknown
  std::map<int, std::vector<int>> node_cpus;  ///< by NUMA node; empty: unknown
  std::uint64_t huge_page_bytes = 0;          ///< the default size; 0: none
  std::uint64_t huge_pages_free = 0;          ///< of that size, neither used nor reserved
  /// Facts of the file that -H names, where one is named.
  struct HugeFile {
    std::uint64_t page_bytes = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t pages_free = 0;  ///< of the pool this file takes its pages from
  };
  std::optional<HugeFile> huge_file;
  std::uint64_t aio_requests_free = UINT64_MAX;  ///< fs.aio-max-nr less fs.aio-nr
};

struct TargetPlan {
  std::string path;
  std::uint64_t blocks = 0;  ///< whole blocks, at least 1; offsets are block * block_size_bytes
  std::uint32_t namespace_id = 0;  ///< passthrough only
  std::uint32_t lba_shift = 0;     ///< passthrough only: log2 of the bytes of an LBA
};

struct ThreadPlan {
  int cpu = -1;   ///< -1: not pinned
  int node = -1;  ///< NUMA node of its memory and, unless pinned, of its CPUs; -1: anywhere
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
  bool passthrough = false;
  bool latency = false;
  bool restricted = false;
  HugePages huge_pages = HugePages::none;
  std::string hugetlb_path;           ///< HugePages::file
  std::uint64_t huge_page_bytes = 0;  ///< 0 without huge pages
  bool sqpoll = false;
  int sqpoll_cpu = -1;               ///< -1: where the kernel likes
  std::uint32_t sqpoll_idle_ms = 0;  ///< 0: the kernel's default, 1 s
  bool sqpoll_share = false;
  int sqthread_stats_bit = -1;  ///< -1: stats-off was not asked for
  bool force = false;
  TaskRun taskrun = TaskRun::defer;
  bool taskrun_asked = false;  ///< then nothing else will do
  bool hybrid_iopoll = false;
  std::vector<QueueSetting> queue;
  std::vector<std::string> queue_disks;  ///< whose queues get them: whole disks, each once
  std::int64_t runtime_ns = 0;           ///< 0: until stopped
  std::int64_t warmup_ns = 0;
  std::uint32_t repeats = 1;
  std::int64_t stall_timeout_ns = 0;
  std::uint64_t seed = 0;
  /// Distance of two slots' buffers: the block size, which direct I/O has aligned already; buffered
  /// blocks of odd sizes are rounded up to 64 bytes. Dense, so that small blocks stay in the cache.
  std::uint64_t slot_stride_bytes = 0;
  /// A registered region holds whole slots and never exceeds kMaxRegisteredRegionBytes.
  std::uint32_t slots_per_region = 0;
  /// The stride times depth, with huge pages rounded up to whole ones; 0 for a bare NOP.
  std::uint64_t buffer_bytes_per_thread = 0;
  std::vector<TargetPlan> targets;
  std::vector<ThreadPlan> threads;
  /// What was adjusted, one sentence each: "--batch-submit 64 is more than --depth 8: using 8".
  /// These are said once on stderr and recorded.
  std::vector<std::string> notes;
};

/// The rules that need no target: values out of range and contradictions. Throws UserError(usage)
/// with one Problem per thing that is wrong. make_plan() checks them again; asked first, a mistake
/// on the command line is not hidden behind a target that could not be opened.
void check_usage(const Options& options, const Limits& limits);

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
///
/// Legacy AIO keeps depth and batches, registers nothing, is not polled, and fits into the kernel's
/// AIO requests. It and the sync engine refuse each flag that only a ring can honour; a ring
/// refuses the details of SQPOLL without it, other modes of task work than plain with it, a
/// stats-off bit that mainline uses, and hybrid polling of what is not polled. Passthrough reads
/// NVMe generic devices, and these are read by nothing else: whole LBAs, at most 65536 by one
/// command. Huge pages suffice for all threads; a file of them has thread t's buffers at t times
/// buffer_bytes_per_thread. CPUs near the first target, the threads of -n auto, and a node that a
/// thread may not run on are decided here; what was chosen is noted. --queue is for the disks of
/// block and generic devices, one value per attribute.
RunPlan make_plan(const Options& options, const std::vector<TargetShape>& targets,
                  const Limits& limits, std::uint64_t seed);

/// The canonical identity of a cell, in an order that only grows at its end: "randread bs=4096
/// qd=128 submit=32 complete=32 threads=1 direct=1 polled=0 fixedbufs=1 regfiles=1 engine=io_uring
/// regring=1 vectored=0 latency=0 targets=1 cpus=any passthrough=0 restrict=0 hugepages=none numa=0
/// taskrun=auto hybrid=0 sqpoll=0 sqpoll_cpu=any sqpoll_idle=0 sqpoll_share=0 sqstats=on queue=-".
/// "taskrun=auto" is the best there is, "numa=1" means that nodes were found, whichever they are.
/// Settings at their defaults are included too: two cells are equal iff their ids are. Seed,
/// label, paths and durations are no part of it.
std::string cell_id(const RunPlan& plan);

}  // namespace uringbench::plan
