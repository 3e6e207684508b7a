// Facts of block devices from sysfs: everything below an injectable root, nothing is opened.
#pragma once

#include <optional>
#include <string>

#include "machine/machine.hpp"

namespace uringbench::machine {

/// The whole-disk device behind a device number ("259:2"); absent when sysfs does not know it.
std::optional<DeviceFacts> read_device(const std::string& device_number, const Root& root);

/// The device number of a block device's name ("nvme0n1" → "259:0"), by /sys/class/block.
std::optional<std::string> device_number_of_name(const std::string& name, const Root& root);

/// Fills in all that sysfs and procfs know of a block device target: device, mounted_at, busy,
/// can_poll with reason and hint. `facts.kind` must be block, or nvme_generic: its device is the
/// block device of the same namespace.
void describe_block_device(TargetFacts& facts, const std::string& device_number, const Root& root);

/// Fills in can_poll, and reason and cure where the answer is no, from the device facts. Reasons
/// complete the sentence "polled I/O …".
void decide_polling(TargetFacts& facts);

}  // namespace uringbench::machine
