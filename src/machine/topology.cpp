#include "machine/topology.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

#include "machine/cpu_lists.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

std::vector<std::vector<int>> read_cores(const Root& root) {
  const std::string folder = root("/sys/devices/system/cpu/");
  const std::vector<int> online = listed_numbers(read_fact(folder + "online").value_or(""));
  std::set<int> left(online.begin(), online.end());
  std::vector<std::vector<int>> cores;
  while (!left.empty()) {
    const std::string topology = fmt::format("{}cpu{}/topology/", folder, *left.begin());
    auto list = read_fact(topology + "core_cpus_list");
    if (!list) list = read_fact(topology + "thread_siblings_list");  // before Linux 5.3
    std::vector<int> core;
    for (const int cpu : listed_numbers(list.value_or(""))) {
      if (left.erase(cpu) != 0) core.push_back(cpu);
    }
    if (core.empty()) return {};  // not even itself: nothing is to be believed
    cores.push_back(core);
  }
  return cores;
}

std::map<int, std::vector<int>> read_node_cpus(const Root& root) {
  std::map<int, std::vector<int>> nodes;
  const std::string folder = root("/sys/devices/system/node");
  for (const std::string& name : list_names(folder)) {
    if (!starts_with(name, "node")) continue;
    const auto number = to_number(name.substr(4));
    if (!number || *number < 0) continue;
    std::vector<int> cpus =
        listed_numbers(read_fact(folder + "/" + name + "/cpulist").value_or(""));
    if (!cpus.empty()) nodes[static_cast<int>(*number)] = std::move(cpus);
  }
  return nodes;
}

}  // namespace uringbench::machine
