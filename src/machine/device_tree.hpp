// Where a disk hangs in sysfs' tree of devices. Folders are absolute paths without links.
#pragma once

#include <optional>
#include <string>

#include "machine/machine.hpp"

namespace uringbench::machine {

/// The path without its last part.
std::string parent_of(const std::string& path);

/// Is there still a device above this folder? Nobody may climb out of sysfs, or a fixture would
/// see the real machine.
bool is_in_device_tree(const std::string& folder);

/// Domain, bus, device, function: "0000:01:00.0". A domain may have more than four digits.
bool is_pci_address(const std::string& name);

/// The hardware of a disk. With NVMe multipath the disk lives below a virtual subsystem, which
/// links to its controllers; the first controller stands for all.
std::string hardware_folder(const std::string& disk);

/// The first driver on the way up.
std::optional<std::string> driver_above(std::string folder);

/// What a disk is near to.
struct Home {
  std::optional<int> numa_node;
  std::optional<std::string> local_cpus;  ///< "8-15,24-31"
};

/// By the first who knows on the way up. A disk made of others (device mapper, md) is where all of
/// them are, and nowhere when they are not in one place.
Home home_of_disk(const std::string& disk, const Root& root);

}  // namespace uringbench::machine
