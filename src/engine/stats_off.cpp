// The stats-off set-up flag: a patch that was posted, not merged, and whose bit got another
// meaning. So that the kernel takes the bit proves nothing; what fdinfo then leaves out does.
#include <liburing.h>
#include <unistd.h>

#include <fmt/format.h>

#include "engine/engine.hpp"
#include "engine/ring.hpp"

namespace uringbench::engine {
namespace {

/// An SQPOLL ring with more flags, for as long as it is looked at.
class ProbeRing {
 public:
  explicit ProbeRing(std::uint32_t more_flags) {
    io_uring_params params{};
    params.flags = IORING_SETUP_SQPOLL | more_flags;
    fd_ = setup_system_call(8, params);
  }
  ProbeRing(const ProbeRing&) = delete;
  ProbeRing& operator=(const ProbeRing&) = delete;
  ~ProbeRing() {
    if (fd_ >= 0) close(fd_);
  }
  int error() const noexcept { return fd_ < 0 ? -fd_ : 0; }
  /// Does fdinfo show the times that the patch takes away? Nothing when it cannot be read.
  std::optional<bool> has_lines() const {
    const auto fdinfo = machine::read_ring_fdinfo(fd_);
    if (!fdinfo || !fdinfo->thread_id) return std::nullopt;
    return fdinfo->total_us.has_value() || fdinfo->work_us.has_value();
  }

 private:
  int fd_ = -1;
};

const char* const kPatch =
    "IORING_SETUP_NO_SQTHREAD_STATS is an out-of-tree patch (posted in October 2025, in no "
    "mainline "
    "kernel)";

std::string name_of_bit(unsigned bit) {
  const std::string name = names_of_setup_flags(1U << bit).front();
  return name.starts_with("BIT_") ? "a flag this program does not know" : name;
}

}  // namespace

StatsOffEvidence probe_sqthread_stats(unsigned bit) {
  StatsOffEvidence evidence;
  evidence.bit = bit;
  evidence.known_setup_flags = query_setup_flags();
  const ProbeRing control(0);
  if (control.error() != 0) {
    throw base::SystemError("io_uring_setup with SQPOLL", "io_uring", control.error(),
                            machine::setup_hint(control.error()));
  }
  const ProbeRing flagged(1U << bit);
  evidence.setup_error = flagged.error();
  const auto control_lines = control.has_lines();
  const auto flagged_lines = flagged.error() == 0 ? flagged.has_lines() : false;
  evidence.fdinfo_readable = control_lines.has_value() && flagged_lines.has_value();
  evidence.control_has_lines = control_lines.value_or(false);
  evidence.flagged_has_lines = flagged_lines.value_or(false);
  return evidence;
}

StatsOffVerdict decide_sqthread_stats(const StatsOffEvidence& evidence) {
  const unsigned bit = evidence.bit;
  if (evidence.setup_error != 0) {
    const std::string error = base::describe_errno(evidence.setup_error);
    if (evidence.setup_error != EINVAL) {
      return {SqthreadStats::refused,
              fmt::format("set-up flag bit {} (stats-off) was refused: {}", bit, error),
              machine::setup_hint(evidence.setup_error)};
    }
    return {SqthreadStats::refused,
            fmt::format("this kernel refuses set-up flag bit {} (stats-off): {}", bit, error),
            fmt::format("{}: build a kernel with it, say by --sqthread-stats-bit which bit it has "
                        "there, or leave out --no-sqthread-stats",
                        kPatch)};
  }
  const bool mainline_knows =
      evidence.known_setup_flags && (*evidence.known_setup_flags >> bit & 1) != 0;
  if (!evidence.fdinfo_readable) {
    return {SqthreadStats::accepted_but_not_off,
            fmt::format("set-up flag bit {} (stats-off) was accepted, but the rings' fdinfo cannot "
                        "be read: nothing proves that the statistics are off",
                        bit),
            "mount /proc, or look why /proc/self/fdinfo is not readable"};
  }
  if (evidence.flagged_has_lines) {
    const std::string means = mainline_knows || bit == 19 || bit == 20
                                  ? fmt::format("here the bit means {}", name_of_bit(bit))
                                  : std::string("so the bit means something else here");
    return {SqthreadStats::accepted_but_not_off,
            fmt::format("set-up flag bit {} (stats-off) was accepted, but the SQPOLL thread's "
                        "statistics are still in fdinfo: {}",
                        bit, means),
            fmt::format("{}, and mainline gave bit 19 to SQE_MIXED: say by --sqthread-stats-bit "
                        "which bit your kernel has for it, or leave out --no-sqthread-stats",
                        kPatch)};
  }
  if (!evidence.control_has_lines) {
    return {SqthreadStats::accepted_but_not_off,
            fmt::format("set-up flag bit {} (stats-off) was accepted, but this kernel shows no "
                        "statistics of SQPOLL threads even without it: nothing proves that they "
                        "are off",
                        bit),
            "SqTotalTime and SqWorkTime are in fdinfo from Linux 6.9 on: use such a kernel"};
  }
  return {SqthreadStats::off_verified,
          fmt::format("set-up flag bit {} (stats-off) is in force: SqTotalTime and SqWorkTime are "
                      "gone from fdinfo, and there without it",
                      bit),
          ""};
}

}  // namespace uringbench::engine
