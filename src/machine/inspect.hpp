// Looking at an open target; shared by target.cpp (files that were there) and scratch.cpp (files
// that are made).
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "machine/machine.hpp"

namespace uringbench::machine {

/// Opens for reading only, O_NOATIME where permitted. Negative errno instead of a descriptor when
/// it fails. `extra_flags`: O_DIRECT, O_NONBLOCK…
int open_read_only(const std::string& path, int extra_flags) noexcept;

/// The path after symbolic links. Equal to `path` unless one is on the way, so that a relative path
/// stays as typed.
std::string resolve_links(const std::string& path);

/// All facts of an open regular file or block device, but for an O_DIRECT that is refused.
TargetFacts inspect(int fd, const std::string& path, const Root& root);

/// Facts of a regular file that follow from the device number and the mount it lies on: file
/// system, device, polling, alignment by the device. `mount_id` is mountinfo's, where known.
void describe_file_system(TargetFacts& facts, dev_t device, std::optional<std::uint64_t> mount_id,
                          const Root& root);

/// The name of a file system by statfs, for a machine without /proc.
std::optional<std::string> filesystem_by_magic(int fd);

/// "259:2".
std::string device_number_text(dev_t device);

}  // namespace uringbench::machine
