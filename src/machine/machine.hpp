// Looking at the computer: targets, limits, identity and weather, and what is wrong with them.
//
// Functions that touch return facts; functions that judge take facts. Every path can be looked up
// under another root, so tests feed whole machines made of files. The room must not know how I/O
// is submitted, nor any output format.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/base.hpp"
#include "plan/plan.hpp"

namespace uringbench::machine {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Where sysfs, procfs and friends hang. "" is the real machine, a fixture folder in tests.
struct Root {
  std::string prefix;
  std::string operator()(const std::string& path) const { return prefix + path; }
};

enum class TargetKind { file, block, nvme_generic, none };
const char* kind_name(TargetKind kind) noexcept;  ///< "file", "block", "nvme-generic", "none"

/// Facts of the whole-disk device that serves a target. Absent members could not be found out.
struct DeviceFacts {
  std::string name;       ///< whole disk: "nvme0n1", "vda", "zram0"
  std::string partition;  ///< "nvme0n1p2" when the target is on a partition, else empty
  std::optional<std::string> model, firmware, driver, serial, local_cpus;
  std::optional<int> numa_node;
  std::optional<std::string> pci_address, pci_link_speed, pci_link_speed_max;
  std::optional<int> pci_link_width, pci_link_width_max;
  std::optional<int> poll_queues;  ///< of the driver's module parameter, where it has one
  std::optional<int> temperature_celsius;
  std::optional<std::string> backing_file;  ///< loop devices
  /// queue/*: scheduler (the active one), iostats, iostats_passthrough, nomerges, io_poll,
  /// nr_requests, rotational, rq_affinity, wbt_lat_usec, logical_block_size, max_sectors_kb,
  /// write_cache.
  std::map<std::string, std::string> queue;
};

struct TargetFacts {
  std::string path;           ///< as given
  std::string resolved_path;  ///< after symbolic links; equal to `path` when there are none
  TargetKind kind = TargetKind::none;
  std::uint64_t size_bytes = 0;
  std::uint32_t logical_block_bytes = 512;
  /// What direct I/O needs of offsets and lengths, and of memory (statx where the kernel tells).
  std::uint32_t direct_offset_align = 512;
  std::uint32_t direct_memory_align = 512;
  std::optional<std::string> filesystem;  ///< files: "ext4"
  std::optional<DeviceFacts> device;
  /// Holes, unwritten extents, or never-written zram pages: reads of them cost no I/O.
  bool sparse = false;
  std::uint64_t unwritten_bytes = 0;      ///< how much; 0 when not sparse
  std::optional<std::string> mounted_at;  ///< block devices (or a partition of it)
  bool busy = false;                      ///< block devices held by somebody (holders, swap)
  std::optional<bool> can_poll;
  std::string cannot_poll_reason, cannot_poll_hint;
  std::uint32_t namespace_id = 0;  ///< nvme-generic only; logical_block_bytes is its LBA then
};

/// An open target: O_RDONLY, always; O_DIRECT when asked; O_NOATIME where permitted.
struct OpenTarget {
  Descriptor fd;
  TargetFacts facts;
};

/// Opens and inspects. Throws UserError(cannot) or SystemError for what is no readable regular
/// file or block device: missing, directory, fifo, socket, character device (an NVMe controller
/// /dev/nvme0 names /dev/nvme0n1, /dev/ng0n1 names passthrough), empty, no permission, O_DIRECT
/// refused by the filesystem (hint -O0). Never blocks on a fifo.
OpenTarget open_target(const std::string& path, bool direct, const Root& root = {});

/// The same for NVMe passthrough: /dev/ngXnY, opened without O_DIRECT, its size and LBA asked from
/// the drive. Throws for anything else (a block device names its generic device), and for formats
/// with metadata.
OpenTarget open_generic(const std::string& path, const Root& root = {});

/// Of NVMe's Identify Namespace data (4096 bytes, NVM command set): size and format in use.
struct NamespaceShape {
  std::uint64_t lba_count = 0;
  std::uint32_t lba_bytes = 0;
  std::uint32_t metadata_bytes = 0;
};
/// Pure. Throws UserError(cannot), naming `path`, when the data make no sense.
NamespaceShape parse_identify_namespace(const std::vector<std::uint8_t>& data,
                                        const std::string& path);

/// Another descriptor of the same target, for another thread (opened through /proc/self/fd so that
/// deleted files work too; falls back to the same open file description when /proc is missing).
Descriptor reopen(const OpenTarget& target, bool direct);

/// A dense file of random bytes in `directory`, unlinked from the start (O_TMPFILE, or created and
/// unlinked at once), synced and dropped from the page cache. `stop` is asked between chunks:
/// when it returns true the file is gone and an empty optional is returned.
/// Throws UserError when there is no room (statvfs first: need/have), no permission, not a folder.
/// The returned facts' path is "scratch:<size>@<directory>", kind file.
std::optional<OpenTarget> make_scratch(const plan::Scratch& scratch, bool direct,
                                       const std::function<bool()>& stop, const Root& root = {});
/// What make_scratch would return, without making anything (--dry-run).
TargetFacts foresee_scratch(const plan::Scratch& scratch, const Root& root = {});

/// What the plan must know of a target.
plan::TargetShape shape_of(const TargetFacts& facts, bool direct);

/// Raises the soft limits of open files and locked memory to the hard ones, then reads them, with
/// CPU topology and huge pages.
plan::Limits read_limits(const Root& root = {});
/// Facts of the file that -H names. Throws UserError(cannot) when it is missing, a folder, or not
/// on hugetlbfs: buffers are written to, so no other file will do.
plan::Limits::HugeFile read_huge_file(const std::string& path, const Root& root = {});

/// What a ring's /proc/self/fdinfo/<fd> says of its SQPOLL thread. Absent lines are absent.
struct RingFdinfo {
  std::optional<std::int64_t> thread_id;  ///< "SqThread"; absent also for -1
  std::optional<int> cpu;
  std::optional<std::int64_t> total_us, work_us;
  bool knows_no_times = false;  ///< speaks of a thread, but this kernel has no times of it
};
RingFdinfo parse_ring_fdinfo(const std::string& text);
/// Absent when it cannot be read. The kernel leaves lines out while the ring is busy: tries a few
/// times until there is a thread, and it runs. Who knows the thread from elsewhere need not wait
/// for its name: Linux 6.1 says -1 for as long as the thread is awake.
std::optional<RingFdinfo> read_ring_fdinfo(int ring_fd, bool thread_is_known = false);
/// The SQPOLL thread of a ring that thread `maker_tid` of this process made, by its name, which has
/// that number in it. In a PID namespace the kernel's number is another one: there, the only thread
/// of this kind is meant.
std::optional<std::int64_t> find_sqpoll_thread(std::int64_t maker_tid, const Root& root = {});

/// Queue attributes of whole disks, changed for as long as this object lives. One at a time.
///
/// A guardian process is forked before anything is changed, so make it before any thread is
/// started. The guardian restores when it is told to, and when this process ends, however it ends.
/// A disk's scheduler is set first and restored first: changing it resets other attributes, which
/// are restored too, asked for or not. So is read_ahead_kb, last: nearly any change may raise it.
///
/// As long as this object or its guardian lives, the disks' queues are locked (flock on the queue
/// folder) against other runs.
class QueueSettings {
 public:
  struct Change {
    std::string disk, key, before, after;  ///< `after` as read back; may equal `before`
  };
  /// Is every attribute there, and may this process write it? Touches nothing. Throws UserError
  /// with one Problem per thing that is wrong: unknown attribute (names near ones), read-only,
  /// no permission (needs root), cannot be put back. Does not ask for the lock.
  static void check(const std::vector<std::string>& disks,
                    const std::vector<plan::QueueSetting>& settings, const Root& root = {});
  /// Checks, locks, sets and reads back. What has the value already is not written to. Throws
  /// UserError when another run has locked a disk (then nothing is read), when the kernel does not
  /// take back a present value (then nothing is changed), and when it refuses a value or answers
  /// with another one; what was changed until then is restored.
  QueueSettings(const std::vector<std::string>& disks,
                const std::vector<plan::QueueSetting>& settings, const Root& root = {});
  QueueSettings(const QueueSettings&) = delete;
  QueueSettings& operator=(const QueueSettings&) = delete;
  ~QueueSettings();  ///< restores what is not restored yet

  const std::vector<Change>& changes() const noexcept { return changes_; }
  /// Lets the guardian restore, looks whether it did, and returns what could not be restored: empty
  /// when all is as it was. Does not hang on a disk that has stopped answering: after a few seconds
  /// without progress that is the answer, and the guardian stays until it is done. The second call
  /// does nothing.
  std::vector<base::Problem> restore();
  /// After restore(): a sentence for each attribute that had neither its value from before nor the
  /// one set. It was restored all the same.
  const std::vector<std::string>& changed_meanwhile() const noexcept { return changed_meanwhile_; }

 private:
  struct Guardian;
  std::vector<Change> changes_;
  std::vector<std::string> changed_meanwhile_;
  std::unique_ptr<Guardian> guardian_;  ///< empty when there is nothing to restore
};
/// Async-signal-safe: tells the guardian, if there is one, to restore at once. For a process that
/// is about to end and may not live to see it.
void restore_queues_now() noexcept;

struct Identity {
  std::string kernel_release, kernel_version, kernel_cmdline, architecture, cpu_model;
  int cpus_online = 0;
  int numa_nodes = 0;
  std::uint64_t memory_bytes = 0;
  std::optional<std::string> virtualization;       ///< "kvm", "none"…, by DMI and cpuinfo
  std::map<std::string, std::string> mitigations;  ///< vulnerabilities/* as the kernel words them
  std::optional<int> io_uring_disabled;            ///< the sysctl; absent on old kernels
  std::string boot_id;
  std::map<std::string, std::string> smt;  ///< "control", "active"
};
struct Weather {
  double load_average_1m = 0;
  std::optional<std::string> governor;                ///< of cpu0, "mixed" when they differ
  std::optional<int> cpu_mhz_min, cpu_mhz_max;        ///< cpufreq limits
  std::optional<std::string> turbo;                   ///< "on", "off"
  std::map<std::string, double> temperature_celsius;  ///< thermal zones by type
};
Identity read_identity(const Root& root = {});
Weather read_weather(const Root& root = {});

enum class Severity { info, warning };
const char* severity_name(Severity severity) noexcept;
/// Something a reader of the numbers must know. Refusals are not findings, they are Problems.
struct Finding {
  Severity severity = Severity::warning;
  std::string code;     ///< stable: "sparse-target", "page-cache", "not-polled", "scheduler" …
  std::string message;  ///< names the target where there is one
  std::string hint;
};

/// Pure: what to say about these targets, this machine and this plan. One finding per kind and
/// target. Codes: sparse-target, page-cache, not-polled (automatic fell back; with cure),
/// scheduler (not none), iostats (on: info), governor (not performance), memlock (less than a
/// quarter of the limit left: info), mounted-target (info), busy-target (info), partial-tail
/// (info), symlink (info), few-cpus (threads > CPUs), sqpoll-shares-cpu (then few-cpus is not said
/// too), numa-unknown, numa-and-cpus (info), queue-changed (info), high-load (1-minute load at
/// least half the CPUs), rotational (info), virtual-machine (info), null-device (null_blk: info).
/// nomerges is not reported. What --queue sets is judged as it will be during the run, so `targets`
/// must hold what was there before. What is true of a device (scheduler, iostats, rotational) is
/// said once however many targets lie on it, and not-polled once for all targets. A NOP run is
/// judged by its machine only.
std::vector<Finding> judge(const plan::Options& options, const plan::RunPlan& plan,
                           const std::vector<TargetFacts>& targets, const Identity& identity,
                           const Weather& weather, const plan::Limits& limits);

/// What to tell the user when io_uring_setup answers `error_number` (positive), by sysctl,
/// capability and kernel: EPERM, ENOSYS, ENOMEM, EINVAL, EMFILE… Never empty.
std::string setup_hint(int error_number, const Root& root = {});
/// The same for the old kernel AIO's io_setup: EAGAIN with the sysctl's values and command… Never
/// empty.
std::string aio_setup_hint(int error_number, const Root& root = {});

/// Threads of this process that the kernel made to work off punted requests (comm "iou-wrk-*").
int count_io_workers();

}  // namespace uringbench::machine
