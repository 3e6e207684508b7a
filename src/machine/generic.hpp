// NVMe generic devices: what is one, what is not, and what follows from one's numbers.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "machine/machine.hpp"

namespace uringbench::machine {

/// "ng0n1" when the node is that NVMe generic device, by its number or by its name in sysfs.
/// `resolved` is the path after symbolic links.
std::optional<std::string> generic_name(const std::string& resolved, const struct stat& status,
                                        const Root& root);

/// Throws UserError: no NVMe generic device. Names the one that was probably meant.
[[noreturn]] void refuse_not_generic(const std::string& path, const std::string& resolved,
                                     const struct stat& status, const Root& root);

/// Throws SystemError: the drive was not asked, or did not answer.
[[noreturn]] void refuse_identify(const std::string& path, const char* operation, int error_number);

/// Fills in all that follows from the namespace's shape and from sysfs: kind, sizes, alignments,
/// device, polling. `name` is the generic device's: "ng0n1".
void describe_generic(TargetFacts& facts, const std::string& name, std::uint32_t namespace_id,
                      const NamespaceShape& shape, const Root& root);

}  // namespace uringbench::machine
