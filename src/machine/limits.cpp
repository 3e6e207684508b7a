// What this process may use: files, locked memory, processors, memory.
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "machine/capabilities.hpp"
#include "machine/huge_pages.hpp"
#include "machine/machine.hpp"
#include "machine/small_files.hpp"
#include "machine/topology.hpp"

namespace uringbench::machine {

namespace {

/// The soft limit protects programs that did not ask; this one asks. Returns what then holds.
std::uint64_t raise_to_hard(__rlimit_resource resource) {
  struct rlimit limit {};
  if (::getrlimit(resource, &limit) != 0) return UINT64_MAX;
  if (limit.rlim_cur != limit.rlim_max) {
    struct rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max;
    if (::setrlimit(resource, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : std::uint64_t{limit.rlim_cur};
}

std::vector<int> read_allowed_cpus() {
  // The kernel refuses a mask that is smaller than its own, and does not say how large that is.
  for (int size = 1024; size <= 65536; size *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(
        CPU_ALLOC(size), [](cpu_set_t* set) { CPU_FREE(set); });
    const std::size_t bytes = CPU_ALLOC_SIZE(size);
    if (!mask) break;
    CPU_ZERO_S(bytes, mask.get());
    if (::sched_getaffinity(0, bytes, mask.get()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < size; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, mask.get())) cpus.push_back(cpu);
    }
    return cpus;
  }
  return {};
}

std::optional<std::uint64_t> positive(const std::optional<std::int64_t>& number) {
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

/// "<key> <number>" lines of memory.stat.
std::uint64_t stat_bytes(const std::string& text, const std::string& key) {
  for (const std::string& line : split(text, '\n')) {
    const std::vector<std::string> words = split_words(line);
    if (words.size() == 2 && words[0] == key) return positive(to_number(words[1])).value_or(0);
  }
  return 0;
}

/// What a control group still gives: its limit less what is used and cannot be taken back.
std::uint64_t group_headroom(const std::string& folder) {
  const auto limit = positive(read_number(folder + "/memory.max"));  // "max" is no number
  const auto used = positive(read_number(folder + "/memory.current"));
  if (!limit || !used) return UINT64_MAX;
  const std::string stat = read_text(folder + "/memory.stat").value_or("");
  const std::uint64_t cache = stat_bytes(stat, "inactive_file") + stat_bytes(stat, "active_file");
  const std::uint64_t kept = *used - std::min(*used, cache);
  return *limit - std::min(*limit, kept);
}

/// The tightest of this process's control group (version 2) and those above it.
std::uint64_t groups_headroom(const Root& root) {
  const auto text = read_text(root("/proc/self/cgroup"));
  std::uint64_t headroom = UINT64_MAX;
  if (!text) return headroom;
  for (const std::string& line : split(*text, '\n')) {
    if (!starts_with(line, "0::/")) continue;
    std::string path = line.substr(3);
    while (!path.empty()) {
      headroom = std::min(headroom, group_headroom(root("/sys/fs/cgroup" + path)));
      path = path.substr(0, path.rfind('/'));
    }
    // In a container the path may be one of the world outside; its own group is at the top then.
    headroom = std::min(headroom, group_headroom(root("/sys/fs/cgroup")));
  }
  return headroom;
}

std::uint64_t read_memory_available(const Root& root) {
  const auto text = read_text(root("/proc/meminfo"));
  const auto value = text ? value_of_key(*text, "MemAvailable") : std::nullopt;
  std::uint64_t available = UINT64_MAX;
  if (value && !value->empty()) {
    const auto kibibytes = positive(to_number(split_words(*value).front()));
    if (kibibytes) available = *kibibytes * 1024;
  }
  return std::min(available, groups_headroom(root));
}

std::uint64_t read_aio_requests_free(const Root& root) {
  const auto most = positive(read_number(root("/proc/sys/fs/aio-max-nr")));
  const auto used = positive(read_number(root("/proc/sys/fs/aio-nr")));
  if (!most || !used) return UINT64_MAX;
  return *most - std::min(*most, *used);
}

}  // namespace

bool has_capability(int number, const Root& root) {
  const auto status = read_text(root("/proc/self/status"));
  const auto mask = status ? value_of_key(*status, "CapEff") : std::nullopt;
  if (!mask) return false;
  return (std::strtoull(mask->c_str(), nullptr, 16) >> number & 1) != 0;
}

plan::Limits read_limits(const Root& root) {
  plan::Limits limits;
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (page_bytes > 0) limits.page_bytes = static_cast<std::uint64_t>(page_bytes);
  limits.memory_available_bytes = read_memory_available(root);
  limits.memlock_bytes = raise_to_hard(RLIMIT_MEMLOCK);
  limits.memlock_exempt = has_capability(kCapIpcLock, root);
  limits.open_files = raise_to_hard(RLIMIT_NOFILE);
  limits.allowed_cpus = read_allowed_cpus();
  limits.cores = read_cores(root);
  limits.node_cpus = read_node_cpus(root);
  const HugePool huge = read_default_huge_pool(root);
  limits.huge_page_bytes = huge.page_bytes;
  limits.huge_pages_free = huge.pages_free;
  limits.aio_requests_free = read_aio_requests_free(root);
  return limits;
}

int count_io_workers() {
  int workers = 0;
  for (const std::string& thread : list_names("/proc/self/task")) {
    const auto name = read_fact("/proc/self/task/" + thread + "/comm");
    if (name && starts_with(*name, "iou-wrk-")) ++workers;
  }
  return workers;
}

}  // namespace uringbench::machine
