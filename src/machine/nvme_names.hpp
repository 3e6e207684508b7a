// NVMe devices by their names: controllers nvme0, namespaces nvme0n1, generic devices ng0n1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/machine.hpp"

namespace uringbench::machine {

/// The numbers in "nvme3" ({3}) or "ng0n1" ({0, 1}); empty when the name is not of that shape.
std::vector<std::int64_t> nvme_numbers(const std::string& name, const std::string& prefix);

/// "ng0n1" → "nvme0n1".
std::optional<std::string> block_of_generic(const std::string& name);
/// "nvme0n1" and "nvme0n1p2" → "ng0n1".
std::optional<std::string> generic_of_block(const std::string& name);

/// The block device of a controller's first namespace by sysfs, or the usual name.
std::string first_namespace(std::int64_t controller, const Root& root);

}  // namespace uringbench::machine
