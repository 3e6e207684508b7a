#include "machine/extended_status.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace uringbench::machine {

namespace {

constexpr std::uint32_t kMaskMountId = 0x1000;      // STATX_MNT_ID, kernel 5.8
constexpr std::uint32_t kMaskDirectAlign = 0x2000;  // STATX_DIOALIGN, kernel 6.1

/// struct statx of the kernel's ABI, with names only for what is read here.
struct RawStatus {
  std::uint32_t mask;
  std::uint8_t until_mount_id[0x90 - 4];
  std::uint64_t mount_id;
  std::uint32_t direct_memory_align;
  std::uint32_t direct_offset_align;
  std::uint8_t rest[0x100 - 0xa0];
};
static_assert(sizeof(RawStatus) == 0x100 && offsetof(RawStatus, mount_id) == 0x90);

}  // namespace

ExtendedStatus read_extended_status(int fd) noexcept {
  ExtendedStatus status;
  RawStatus raw{};
  if (::syscall(SYS_statx, fd, "", AT_EMPTY_PATH, kMaskMountId | kMaskDirectAlign, &raw) != 0) {
    return status;
  }
  if ((raw.mask & kMaskMountId) != 0) status.mount_id = raw.mount_id;
  if ((raw.mask & kMaskDirectAlign) != 0) {
    status.direct_memory_align = raw.direct_memory_align;
    status.direct_offset_align = raw.direct_offset_align;
  }
  return status;
}

}  // namespace uringbench::machine
