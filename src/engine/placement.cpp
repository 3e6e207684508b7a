#include "engine/placement.hpp"

#include <numa.h>
#include <numaif.h>

#include <cerrno>
#include <memory>
#include <mutex>
#include <string>

#include "base/base.hpp"

namespace uringbench::engine {
namespace {

struct FreeBitmask {
  void operator()(bitmask* mask) const noexcept { numa_bitmask_free(mask); }
};
using Bitmask = std::unique_ptr<bitmask, FreeBitmask>;

std::string name_of(int node) { return "NUMA node " + std::to_string(node); }

void need_numa(int node) {
  errno = ENOSYS;
  if (numa_available() >= 0) return;
  throw base::SystemError("get_mempolicy", name_of(node), errno,
                          "use -P0: this kernel has no NUMA support (CONFIG_NUMA), or a sandbox "
                          "hides it (container runtimes permit it with CAP_SYS_NICE)");
}

/// The node's CPUs among those this thread may use now.
Bitmask allowed_cpus_of(int node) {
  Bitmask cpus(numa_allocate_cpumask());
  Bitmask allowed(numa_allocate_cpumask());
  {
    static std::mutex mutex;  // libnuma keeps what it has read, and does not guard it
    const std::lock_guard lock(mutex);
    if (node < 0 || node > numa_max_node()) {
      throw base::UserError(base::ExitCode::cannot, name_of(node) + ": there is no such node",
                            "use -P0, or --cpus");
    }
    if (numa_node_to_cpus(node, cpus.get()) != 0) {
      throw base::SystemError("reading its CPUs from sysfs", name_of(node), errno,
                              "use -P0, or --cpus");
    }
  }
  if (numa_sched_getaffinity(0, allowed.get()) < 0) {
    throw base::SystemError("sched_getaffinity", name_of(node), errno, "use -P0, or --cpus");
  }
  for (unsigned cpu = 0; cpu < cpus->size; ++cpu) {
    if (numa_bitmask_isbitset(allowed.get(), cpu) == 0) numa_bitmask_clearbit(cpus.get(), cpu);
  }
  if (numa_bitmask_weight(cpus.get()) == 0) {
    throw base::UserError(base::ExitCode::cannot,
                          name_of(node) + ": has no CPU that this process may use",
                          "use -P0, or allow some: taskset, cpuset.cpus of the control group");
  }
  return cpus;
}

}  // namespace

void place_on_node(int node) {
  need_numa(node);
  const Bitmask cpus = allowed_cpus_of(node);
  if (numa_sched_setaffinity(0, cpus.get()) != 0) {
    throw base::SystemError("sched_setaffinity", name_of(node), errno, "use -P0, or --cpus");
  }
  place_memory_on_node(node);
}

void place_memory_on_node(int node) {
  need_numa(node);
  Bitmask nodes(numa_allocate_nodemask());
  errno = EINVAL;
  const bool known = node >= 0 && static_cast<unsigned>(node) < nodes->size;
  if (known) numa_bitmask_setbit(nodes.get(), static_cast<unsigned>(node));
  // One more than there are bits: the kernel looks at one less than it is told.
  if (!known || set_mempolicy(MPOL_BIND, nodes->maskp, nodes->size + 1) != 0) {
    throw base::SystemError("set_mempolicy", name_of(node), errno,
                            "use -P0: the node has no memory, or this process may not use it "
                            "(cpuset.mems of the control group, a sandbox without CAP_SYS_NICE)");
  }
}

}  // namespace uringbench::engine
