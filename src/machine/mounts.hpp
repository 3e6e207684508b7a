// What /proc/self/mountinfo and /proc/swaps know of file systems and devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/machine.hpp"

namespace uringbench::machine {

/// One line of mountinfo.
struct Mount {
  std::int64_t id = 0;
  std::string device_number;  ///< "259:2"; "0:45" where no block device is behind it
  std::string mount_point;    ///< unescaped
  std::string filesystem;     ///< "ext4"
  std::string source;         ///< "/dev/nvme0n1p2", "tmpfs"
};

std::vector<Mount> read_mounts(const Root& root);

/// Where one of these devices is mounted, by number or by name, the first of them. Names are
/// needed too: some file systems (btrfs) show an anonymous number.
std::optional<std::string> find_mount_point(const std::vector<Mount>& mounts,
                                            const std::vector<std::string>& device_numbers,
                                            const std::vector<std::string>& device_names);

/// Is one of these devices ("nvme0n1p3") swap space?
bool is_swap(const std::vector<std::string>& device_names, const Root& root);

}  // namespace uringbench::machine
