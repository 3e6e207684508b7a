// What statx tells beyond stat. Through the raw system call with a structure of our own, because
// the C library's structure may be older than the kernel.
#pragma once

#include <cstdint>
#include <optional>

namespace uringbench::machine {

struct ExtendedStatus {
  std::optional<std::uint64_t> mount_id;  ///< the first column of mountinfo
  /// What direct I/O needs; an offset alignment of 0 means that it is not supported at all.
  std::optional<std::uint32_t> direct_memory_align, direct_offset_align;
};

/// Never fails: what the kernel does not tell is absent.
ExtendedStatus read_extended_status(int fd) noexcept;

}  // namespace uringbench::machine
