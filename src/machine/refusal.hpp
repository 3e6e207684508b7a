// Saying no to what cannot be measured: the thing, the reason, the cure.
#pragma once

#include <sys/stat.h>

#include <string>

#include "machine/machine.hpp"

namespace uringbench::machine {

/// Throws SystemError for a path that could not be looked up or opened. A missing one names what
/// exists nearby.
[[noreturn]] void refuse_open(const std::string& path, int error_number);

/// Throws UserError unless `mode` is a regular file's or a block device's. `resolved` is the path
/// after symbolic links: its name tells NVMe controllers from other character devices.
void refuse_kind(const std::string& path, const std::string& resolved, mode_t mode,
                 const Root& root);

/// Throws UserError when there is nothing to read in the target.
void refuse_empty(const TargetFacts& facts);

/// Throws UserError: the file system does not do direct I/O on this file.
[[noreturn]] void refuse_direct(const std::string& path, const std::string& filesystem,
                                const std::string& reason);

/// The name in `names` that `name` was probably meant to be, empty when none is close.
std::string nearest_name(const std::string& name, const std::vector<std::string>& names);

}  // namespace uringbench::machine
