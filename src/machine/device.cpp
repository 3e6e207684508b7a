#include "machine/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "machine/device_tree.hpp"
#include "machine/mounts.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

constexpr std::array kQueueKeys = {"scheduler",          "iostats",        "iostats_passthrough",
                                   "nomerges",           "io_poll",        "nr_requests",
                                   "rotational",         "rq_affinity",    "wbt_lat_usec",
                                   "logical_block_size", "max_sectors_kb", "write_cache"};

/// The sysfs folder of the whole disk, without links, and the partition's name if it is one.
struct BlockFolder {
  std::string disk;
  std::string partition;
};

std::optional<BlockFolder> find_folder(const std::string& device_number, const Root& root) {
  const auto folder = real_path(root("/sys/dev/block/" + device_number));
  if (!folder) return std::nullopt;
  if (!exists(*folder + "/partition")) return BlockFolder{*folder, {}};
  return BlockFolder{parent_of(*folder), base_name(*folder)};
}

/// "none [mq-deadline] kyber": the one in brackets is at work.
std::string active_scheduler(const std::string& text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return text;
  return text.substr(open + 1, close - open - 1);
}

std::map<std::string, std::string> read_queue(const std::string& disk) {
  std::map<std::string, std::string> queue;
  for (const char* key : kQueueKeys) {
    const auto value = read_fact(disk + "/queue/" + key);
    if (!value) continue;
    queue[key] = key == std::string_view("scheduler") ? active_scheduler(*value) : *value;
  }
  return queue;
}

/// Software devices have no driver link; their name's letters name the driver.
std::optional<std::string> driver_by_name(const std::string& name, const std::string& hardware) {
  const std::size_t letters = static_cast<std::size_t>(
      std::find_if(name.begin(), name.end(),
                   [](char c) { return std::isalpha(static_cast<unsigned char>(c)) == 0; }) -
      name.begin());
  const std::string word = name.substr(0, letters);
  if (word == "nullb") return "null_blk";
  if (word == "nvme") {
    const auto transport = read_fact(hardware + "/transport");
    return transport && *transport != "pcie" ? "nvme_" + *transport : "nvme";
  }
  if (word.empty()) return std::nullopt;
  return word;
}

void read_pci(DeviceFacts& facts, std::string folder) {
  while (is_in_device_tree(folder) && !is_pci_address(base_name(folder))) {
    folder = parent_of(folder);
  }
  if (!is_pci_address(base_name(folder))) return;
  facts.pci_address = base_name(folder);

  const auto speed = [&](const char* name) {
    auto text = read_fact(folder + name);
    if (text && starts_with(*text, "Unknown")) text.reset();
    return text;
  };
  const auto width = [&](const char* name) -> std::optional<int> {
    const auto lanes = read_number(folder + name);
    // Virtual functions answer 0 or 255 when there is no link.
    if (!lanes || *lanes < 1 || *lanes > 64) return std::nullopt;
    return static_cast<int>(*lanes);
  };
  facts.pci_link_speed = speed("/current_link_speed");
  facts.pci_link_speed_max = speed("/max_link_speed");
  facts.pci_link_width = width("/current_link_width");
  facts.pci_link_width_max = width("/max_link_width");
}

std::optional<int> read_temperature(const std::string& device) {
  // Newer kernels collect the monitors in a folder, older ones put them beside the rest.
  const std::string collected = device + "/hwmon";
  for (const std::string& folder : {collected, device}) {
    for (const std::string& name : list_names(folder)) {
      if (!starts_with(name, "hwmon")) continue;
      const auto millidegrees = read_number(fmt::format("{}/{}/temp1_input", folder, name));
      if (millidegrees) return static_cast<int>(*millidegrees / 1000);
    }
  }
  return std::nullopt;
}

std::optional<std::string> first_fact(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    auto fact = read_fact(path);
    if (fact) return fact;
  }
  return std::nullopt;
}

/// The disk and its partitions: what is mounted or held may be any of them.
struct Family {
  std::vector<std::string> names, numbers, folders;

  void add(const std::string& folder) {
    names.push_back(base_name(folder));
    folders.push_back(folder);
    const auto number = read_fact(folder + "/dev");
    if (number) numbers.push_back(*number);
  }
};

Family family_of(const BlockFolder& folder) {
  Family family;
  if (!folder.partition.empty()) {
    family.add(folder.disk + "/" + folder.partition);
    return family;
  }
  family.add(folder.disk);
  for (const std::string& name : list_names(folder.disk)) {
    if (exists(folder.disk + "/" + name + "/partition")) family.add(folder.disk + "/" + name);
  }
  return family;
}

}  // namespace

std::optional<std::string> device_number_of_name(const std::string& name, const Root& root) {
  return read_fact(root("/sys/class/block/" + name + "/dev"));
}

std::optional<DeviceFacts> read_device(const std::string& device_number, const Root& root) {
  const auto folder = find_folder(device_number, root);
  if (!folder) return std::nullopt;
  const std::string& disk = folder->disk;
  const std::string device = disk + "/device";
  const std::string hardware = hardware_folder(disk);

  DeviceFacts facts;
  facts.name = base_name(disk);
  facts.partition = folder->partition;
  facts.model = first_fact({device + "/model", hardware + "/model", device + "/name"});
  facts.firmware = first_fact(
      {device + "/firmware_rev", hardware + "/firmware_rev", device + "/rev", device + "/fwrev"});
  facts.serial = first_fact({device + "/serial", hardware + "/serial", disk + "/serial"});
  facts.driver = driver_above(hardware);
  if (!facts.driver) facts.driver = driver_by_name(facts.name, hardware);
  facts.backing_file = read_fact(disk + "/loop/backing_file");
  facts.queue = read_queue(disk);
  facts.temperature_celsius = read_temperature(hardware);
  read_pci(facts, hardware);
  const Home home = home_of_disk(disk, root);
  facts.numa_node = home.numa_node;
  facts.local_cpus = home.local_cpus;
  if (facts.driver) {
    const auto queues =
        read_number(root("/sys/module/" + *facts.driver + "/parameters/poll_queues"));
    if (queues) facts.poll_queues = static_cast<int>(*queues);
  }
  return facts;
}

void describe_block_device(TargetFacts& facts, const std::string& device_number, const Root& root) {
  facts.device = read_device(device_number, root);
  decide_polling(facts);
  const auto folder = find_folder(device_number, root);
  if (!folder) return;
  const Family family = family_of(*folder);
  facts.mounted_at = find_mount_point(read_mounts(root), family.numbers, family.names);
  facts.busy = is_swap(family.names, root);
  for (const std::string& member : family.folders) {
    facts.busy = facts.busy || !list_names(member + "/holders").empty();
  }
}

}  // namespace uringbench::machine
