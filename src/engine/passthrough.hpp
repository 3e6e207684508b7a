// NVMe passthrough: read commands for /dev/ngXnY in entries of 128 bytes, and what drives answer.
#pragma once

#include <liburing.h>
#include <linux/nvme_ioctl.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/base.hpp"
#include "plan/plan.hpp"

namespace uringbench::engine {

/// Passthrough counts in logical blocks, everybody else in bytes.
struct Lba {
  std::uint64_t value = 0;
};
struct ByteOffset {
  std::uint64_t value = 0;
};
/// The offset must lie on a boundary of logical blocks.
constexpr Lba lba_of(ByteOffset offset, std::uint32_t lba_shift) noexcept {
  return {offset.value >> lba_shift};
}

/// Where the command is in an entry of a ring with IORING_SETUP_SQE128: its last 80 bytes.
inline constexpr std::size_t kPassthroughCommandOffset = 48;
inline constexpr std::size_t kPassthroughEntryBytes = 128;

inline nvme_uring_cmd& passthrough_command(std::byte* sqe128) noexcept {
  return *reinterpret_cast<nvme_uring_cmd*>(sqe128 + kPassthroughCommandOffset);
}

/// Writes a whole read command into the 128 bytes, all but its place, buffer (with buf_index) and
/// tag (user_data). `fd` is the descriptor, or its registered index.
void prepare_passthrough(std::byte* sqe128, const plan::RunPlan& plan, int fd,
                         std::uint32_t namespace_id, std::uint32_t lba_shift);

/// Per request: which block, and where to. `address` is the buffer's, or its iovec's when the
/// entry was prepared for a vectored read. The entry's `off` must stay untouched: cmd_op is there.
inline void address_passthrough(std::byte* sqe128, Lba lba, std::uint64_t address) noexcept {
  nvme_uring_cmd& command = passthrough_command(sqe128);
  command.addr = address;
  command.cdw10 = static_cast<std::uint32_t>(lba.value);
  command.cdw11 = static_cast<std::uint32_t>(lba.value >> 32);
}

/// Per request of a run on several namespaces: points the entry at one of them.
inline void aim_passthrough(std::byte* sqe128, int fd, std::uint32_t namespace_id,
                            std::uint64_t block_size_bytes, std::uint32_t lba_shift) noexcept {
  reinterpret_cast<io_uring_sqe*>(sqe128)->fd = fd;
  nvme_uring_cmd& command = passthrough_command(sqe128);
  command.nsid = namespace_id;
  command.cdw12 = static_cast<std::uint32_t>(block_size_bytes >> lba_shift) - 1;
}

/// The kernel's name for a positive completion result: "NVME_SC_READ_ERROR" for 0x281,
/// "NVME_SC_LBA_RANGE|DNR" for 0x4080, "NVME_STATUS_0x1c2" for what has none.
std::string nvme_status_name(int status);

/// trial_verdict() for passthrough. `result` is the completion's: a positive NVMe status or a
/// negative errno. Nothing for media errors and the like, which are worth measuring. Pure.
std::optional<base::Problem> passthrough_trial_verdict(int result, const plan::RunPlan& plan,
                                                       const std::string& target);

}  // namespace uringbench::engine
