#include "machine/device_tree.hpp"

#include <fmt/format.h>

#include <cctype>
#include <vector>

#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

/// Disks on disks on disks: more storeys than anybody builds, and an end to a circle.
constexpr int kMostStoreys = 8;

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

bool is_nvme_controller(const std::string& name) {
  return starts_with(name, "nvme") && to_number(name.substr(4)).has_value();
}

Home home_above(std::string folder) {
  Home home;
  for (; is_in_device_tree(folder); folder = parent_of(folder)) {
    const auto node = read_number(folder + "/numa_node");
    if (!home.numa_node && node && *node >= 0) home.numa_node = static_cast<int>(*node);
    if (!home.local_cpus) home.local_cpus = read_fact(folder + "/local_cpulist");
  }
  return home;
}

/// The disk behind a link in slaves/, which may lead to a partition.
std::optional<std::string> disk_behind(const std::string& link) {
  const auto folder = real_path(link);
  if (folder && exists(*folder + "/partition")) return parent_of(*folder);
  return folder;
}

Home home_of_storey(const std::string& disk, int storeys_left) {
  const std::vector<std::string> members = list_names(disk + "/slaves");
  if (members.empty()) return home_above(hardware_folder(disk));
  if (storeys_left == 0) return {};
  std::optional<Home> common;
  for (const std::string& member : members) {
    const auto member_disk = disk_behind(disk + "/slaves/" + member);
    const Home home = member_disk ? home_of_storey(*member_disk, storeys_left - 1) : Home{};
    if (!common) common = home;
    if (common->numa_node != home.numa_node) common->numa_node.reset();
    if (common->local_cpus != home.local_cpus) common->local_cpus.reset();
  }
  return *common;
}

}  // namespace

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

bool is_in_device_tree(const std::string& folder) {
  return folder.find("/sys/devices/") != std::string::npos;
}

bool is_pci_address(const std::string& name) {
  const std::size_t size = name.size();
  if (size < 12) return false;
  const std::string tail = name.substr(size - 8);  // ":01:00.0"
  if (tail[0] != ':' || tail[3] != ':' || tail[6] != '.') return false;
  for (std::size_t i = 0; i + 8 < size; ++i) {
    if (!is_hex(name[i])) return false;
  }
  return is_hex(tail[1]) && is_hex(tail[2]) && is_hex(tail[4]) && is_hex(tail[5]) &&
         is_hex(tail[7]);
}

std::string hardware_folder(const std::string& disk) {
  const auto device = real_path(disk + "/device");
  if (!device) return disk;
  if (is_nvme_controller(base_name(*device))) return *device;
  for (const std::string& name : list_names(*device)) {
    if (!is_nvme_controller(name)) continue;
    const auto controller = real_path(*device + "/" + name);
    if (controller) return *controller;
  }
  return *device;
}

std::optional<std::string> driver_above(std::string folder) {
  for (; is_in_device_tree(folder); folder = parent_of(folder)) {
    const auto driver = real_path(folder + "/driver");
    if (driver) return base_name(*driver);
  }
  return std::nullopt;
}

Home home_of_disk(const std::string& disk, const Root& root) {
  Home home = home_of_storey(disk, kMostStoreys);
  if (home.numa_node && !home.local_cpus) {
    home.local_cpus =
        read_fact(root(fmt::format("/sys/devices/system/node/node{}/cpulist", *home.numa_node)));
  }
  return home;
}

}  // namespace uringbench::machine
