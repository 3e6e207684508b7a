#include "engine/passthrough.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace uringbench::engine {

static_assert(sizeof(io_uring_sqe) == 64 &&
                  offsetof(io_uring_sqe, cmd) == kPassthroughCommandOffset,
              "the command begins within the first half of the entry");
static_assert(sizeof(nvme_uring_cmd) <= kPassthroughEntryBytes - kPassthroughCommandOffset);

void prepare_passthrough(std::byte* sqe128, const plan::RunPlan& plan, int fd,
                         std::uint32_t namespace_id, std::uint32_t lba_shift) {
  constexpr std::uint8_t kRead = 0x02;  // NVM command set
  std::fill_n(sqe128, kPassthroughEntryBytes, std::byte{0});
  auto& sqe = *reinterpret_cast<io_uring_sqe*>(sqe128);
  sqe.opcode = IORING_OP_URING_CMD;
  sqe.cmd_op = plan.vectored ? NVME_URING_CMD_IO_VEC : NVME_URING_CMD_IO;
  if (plan.register_files) sqe.flags = IOSQE_FIXED_FILE;
  if (plan.fixed_buffers) sqe.uring_cmd_flags = IORING_URING_CMD_FIXED;
  nvme_uring_cmd& command = passthrough_command(sqe128);
  command.opcode = kRead;
  // A count of iovecs, for the command that takes such.
  command.data_len = plan.vectored ? 1 : static_cast<std::uint32_t>(plan.block_size_bytes);
  aim_passthrough(sqe128, fd, namespace_id, plan.block_size_bytes, lba_shift);
}

namespace {

// A completion's status: code and its type in the lower 11 bits, then "command retry delay" and
// "more" (there is a log page), which say nothing about the read, then "do not retry".
constexpr int kCodeMask = 0x7ff;
constexpr int kDoNotRetry = 0x4000;

struct Status {
  int code;
  const char* name;               // include/linux/nvme.h, without NVME_SC_
  const char* refusal = nullptr;  // why measuring is pointless, with the cure; else it is worth it
};
const char* const kBusy = "the drive is at work on its contents: try again when it has finished";
const char* const kReport =
    "the drive does not take the read commands made here: try another --block-size, -V0 or -B0";
constexpr Status kStatuses[] = {
    {0x001, "INVALID_OPCODE", "this namespace has no NVM read command (another command set?)"},
    {0x002, "INVALID_FIELD",
     "the block size may be above the drive's limit (queue/max_hw_sectors_kb of its block device), "
     "or the namespace has metadata or protection information: try a smaller --block-size"},
    {0x004, "DATA_XFER_ERROR"},
    {0x005, "POWER_LOSS"},
    {0x006, "INTERNAL"},
    {0x007, "ABORT_REQ"},
    {0x008, "ABORT_QUEUE"},
    {0x00b, "INVALID_NS", "the namespace is gone or was made anew: look at nvme list"},
    {0x00c, "CMD_SEQ_ERROR"},
    {0x00d, "SGL_INVALID_LAST", kReport},
    {0x00e, "SGL_INVALID_COUNT", kReport},
    {0x00f, "SGL_INVALID_DATA", kReport},
    {0x011, "SGL_INVALID_TYPE", kReport},
    {0x013, "PRP_INVALID_OFFSET", kReport},
    {0x016, "SGL_INVALID_OFFSET", kReport},
    {0x01c, "SANITIZE_FAILED", "the last sanitize operation failed: see nvme sanitize-log"},
    {0x01d, "SANITIZE_IN_PROGRESS", kBusy},
    {0x020, "NS_WRITE_PROTECTED"},
    {0x021, "CMD_INTERRUPTED"},
    {0x022, "TRANSIENT_TR_ERR"},
    {0x080, "LBA_RANGE",
     "the namespace is smaller than it says, or was formatted with other blocks meanwhile: look at "
     "nvme id-ns"},
    {0x081, "CAP_EXCEEDED"},
    {0x082, "NS_NOT_READY"},
    {0x083, "RESERVATION_CONFLICT",
     "another host has reserved this namespace: see nvme resv-report"},
    {0x084, "FORMAT_IN_PROGRESS", kBusy},
    {0x180, "BAD_ATTRIBUTES"},
    {0x181, "INVALID_PI", "namespaces with protection information cannot be read this way"},
    {0x1b8, "ZONE_BOUNDARY_ERROR"},
    {0x1bb, "ZONE_OFFLINE"},
    {0x280, "WRITE_FAULT"},
    {0x281, "READ_ERROR"},
    {0x282, "GUARD_CHECK"},
    {0x283, "APPTAG_CHECK"},
    {0x284, "REFTAG_CHECK"},
    {0x285, "COMPARE_FAILED"},
    {0x286, "ACCESS_DENIED", "the drive is locked (TCG Opal?) or this range may not be read"},
    {0x287, "UNWRITTEN_BLOCK"},
    {0x300, "INTERNAL_PATH_ERROR"},
    {0x301, "ANA_PERSISTENT_LOSS"},
    {0x302, "ANA_INACCESSIBLE"},
    {0x303, "ANA_TRANSITION"},
    {0x370, "HOST_PATH_ERROR"},
    {0x371, "HOST_ABORTED_CMD"},
};

const Status* find_status(int status) {
  const auto* found = std::find_if(std::begin(kStatuses), std::end(kStatuses),
                                   [&](const auto& s) { return s.code == (status & kCodeMask); });
  return found == std::end(kStatuses) ? nullptr : found;
}

/// Empty: worth measuring.
std::string hint_for_errno(int error_number, const plan::RunPlan& plan) {
  switch (error_number) {
    case EINVAL:
      return std::string(plan.fixed_buffers
                             ? "kernels before 6.12 may not take these registered buffers: try "
                               "-B0; or else "
                             : "") +
             "the block size may be above the limit of the drive (queue/max_hw_sectors_kb of its "
             "block device), or the namespace has metadata: try a smaller --block-size";
    case EOPNOTSUPP:
      return plan.polled ? "this kernel (older than 5.19) or device knows no passthrough through "
                           "io_uring, or cannot poll for it: try -p0, or -u0 on the block device"
                         : "this kernel (older than 5.19) or device knows no passthrough through "
                           "io_uring: use -u0 on the block device";
    case ENOTTY:
      return "the device takes no read commands: name a namespace's generic device, /dev/ngXnY";
    case EACCES:
    case EPERM:
      return "passthrough is not permitted: kernels before 6.2 want CAP_SYS_ADMIN for it (run it "
             "as root), or a security module forbids it";
    case EFAULT:
      return plan.fixed_buffers ? "the kernel does not accept the read buffers: try -B0"
                                : "the kernel does not accept the read buffers";
    case EBADF:
      return "the device cannot be read through io_uring";
    case ENODEV:
    case ENXIO:
      return "the device is gone";
    default:
      return {};
  }
}

}  // namespace

std::string nvme_status_name(int status) {
  const Status* known = find_status(status);
  if (known == nullptr) return fmt::format("NVME_STATUS_{:#x}", status);
  return fmt::format("NVME_SC_{}{}", known->name, (status & kDoNotRetry) != 0 ? "|DNR" : "");
}

std::optional<base::Problem> passthrough_trial_verdict(int result, const plan::RunPlan& plan,
                                                       const std::string& target) {
  std::string answer, hint;
  if (result > 0) {
    const Status* known = find_status(result);
    if (known == nullptr || known->refusal == nullptr) return std::nullopt;
    answer = fmt::format("{} (NVMe status {:#x})", nvme_status_name(result), result);
    hint = known->refusal;
  } else {
    hint = hint_for_errno(-result, plan);
    if (hint.empty()) return std::nullopt;
    answer = base::describe_errno(-result);
  }
  return base::Problem{base::ExitCode::cannot,
                       fmt::format("{}: the first read was refused: {}", target, answer), hint};
}

}  // namespace uringbench::engine
