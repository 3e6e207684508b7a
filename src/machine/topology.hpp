// Which CPUs belong together: physical cores and NUMA nodes, by sysfs.
#pragma once

#include <map>
#include <vector>

#include "machine/machine.hpp"

namespace uringbench::machine {

/// Online SMT siblings per physical core, ordered by their first CPU. Empty when it cannot be told.
std::vector<std::vector<int>> read_cores(const Root& root);

/// Online CPUs by NUMA node. Nodes that have memory only are left out; empty when there are no
/// nodes.
std::map<int, std::vector<int>> read_node_cpus(const Root& root);

}  // namespace uringbench::machine
