// What does not fit into this machine or into the limits of this process.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "plan/rules.hpp"

namespace uringbench::plan::rules {

namespace {

using base::ExitCode;
using base::format_bytes;

/// Rings, standard streams, the result document, sysfs files and what libraries keep open.
constexpr std::uint64_t kSpareDescriptors = 64;

std::string count_threads(const RunPlan& plan) {
  return fmt::format("{} thread{}", plan.threads.size(), plan.threads.size() == 1 ? "" : "s");
}

/// "128 requests of 4096 bytes", "2 threads with 128 requests of 4096 bytes each".
std::string describe_buffers(const RunPlan& plan) {
  std::string requests = fmt::format("{} request{} of {} bytes", plan.depth,
                                     plan.depth == 1 ? "" : "s", plan.block_size_bytes);
  if (plan.threads.size() == 1) return requests;
  return fmt::format("{} threads with {} each", plan.threads.size(), requests);
}

void check_regions(const RunPlan& plan, std::uint64_t bytes_per_slot, Problems& problems) {
  if (bytes_per_slot > kMaxRegisteredRegionBytes) {
    problems.push_back(
        {ExitCode::cannot,
         fmt::format(
             "--block-size {} is more than a registered buffer can hold: the kernel's limit "
             "is {} bytes",
             plan.block_size_bytes, kMaxRegisteredRegionBytes),
         "use -B0, or -b1G or less"});
  } else if (region_count(plan) > kMaxRegisteredRegions) {
    problems.push_back(
        {ExitCode::cannot,
         fmt::format("{} need {} registered buffers: the kernel's limit is {} per ring",
                     describe_buffers(plan), region_count(plan), kMaxRegisteredRegions),
         "use -B0, or a smaller --depth or --block-size"});
  }
}

/// Some kernels (before 5.12, and recent ones) count the rings as locked memory, too: 64 bytes an
/// entry, 32 for its two completions, and their headers. Rounded up generously: a limit that is
/// just too small again would be a bad hint.
std::uint64_t with_rings(const RunPlan& plan, std::uint64_t buffer_bytes) {
  constexpr std::uint64_t kEntry = 64 + 32;
  constexpr std::uint64_t kHeaders = 8192;
  constexpr std::uint64_t kStep = 65536;
  const std::uint64_t ring = (plan.passthrough ? 2 : 1) * std::bit_ceil(plan.depth) * kEntry;
  return round_up(buffer_bytes + plan.threads.size() * (ring + kHeaders) + kStep / 2, kStep);
}

void check_memory(const RunPlan& plan, const Limits& limits, Problems& problems) {
  // Memory is had, and locked, by whole pages.
  const std::uint64_t needed =
      round_up(plan.buffer_bytes_per_thread, limits.page_bytes) * plan.threads.size();
  // Huge pages come from a pool of their own, which is not part of what is available.
  if (plan.huge_pages == HugePages::none && needed > limits.memory_available_bytes) {
    problems.push_back(
        {ExitCode::cannot,
         fmt::format("not enough memory: the buffers of {} need {} bytes ({}), {} bytes ({}) are "
                     "available",
                     describe_buffers(plan), needed, format_bytes(needed),
                     limits.memory_available_bytes, format_bytes(limits.memory_available_bytes)),
         "use a smaller --depth, --block-size or --threads"});
  }
  if (plan.fixed_buffers && !limits.memlock_exempt && needed > limits.memlock_bytes) {
    problems.push_back(
        {ExitCode::cannot,
         fmt::format("--fixed-buffers: the buffers of {} need {} bytes ({}) of locked memory, the "
                     "limit is {} bytes ({})",
                     describe_buffers(plan), needed, format_bytes(needed), limits.memlock_bytes,
                     format_bytes(limits.memlock_bytes)),
         fmt::format("use -B0, or raise the limit: ulimit -l {} (KiB; as root, or through "
                     "limits.conf)",
                     with_rings(plan, needed) / 1024)});
  }
}

void check_huge_pool(const RunPlan& plan, const Limits& limits, Problems& problems) {
  const std::uint64_t needed =
      plan.buffer_bytes_per_thread / plan.huge_page_bytes * plan.threads.size();
  if (needed <= limits.huge_pages_free) return;
  problems.push_back(
      {ExitCode::cannot,
       fmt::format("-H anon: the buffers of {} need {} huge page{} of {}, {} {} free",
                   describe_buffers(plan), needed, needed == 1 ? "" : "s",
                   format_bytes(plan.huge_page_bytes), limits.huge_pages_free,
                   limits.huge_pages_free == 1 ? "is" : "are"),
       fmt::format("make {} more, as root: sysctl -w vm.nr_hugepages=$(($(sysctl -n "
                   "vm.nr_hugepages) + {})), or use a smaller --depth, --block-size or --threads",
                   needed - limits.huge_pages_free, needed - limits.huge_pages_free)});
}

void check_huge_file(const RunPlan& plan, const Limits& limits, Problems& problems) {
  // How many pages of the file exist already is not known, so a pool that is short of free ones
  // proves nothing: mapping the file will tell.
  const std::uint64_t needed = plan.buffer_bytes_per_thread * plan.threads.size();
  const std::uint64_t has = limits.huge_file ? limits.huge_file->size_bytes : 0;
  if (needed <= has) return;
  problems.push_back(
      {ExitCode::cannot,
       fmt::format("-H {}: the buffers of {} need {} bytes ({}), the file has {} bytes ({})",
                   plan.hugetlb_path, describe_buffers(plan), needed, format_bytes(needed), has,
                   format_bytes(has)),
       fmt::format("truncate -s {} {}, or use a smaller --depth, --block-size or --threads", needed,
                   plan.hugetlb_path)});
}

void check_huge_pages(const RunPlan& plan, const Limits& limits, Problems& problems) {
  const bool anonymous = plan.huge_pages == HugePages::anonymous;
  if (plan.huge_page_bytes == 0) {
    problems.push_back({ExitCode::cannot,
                        anonymous ? "-H anon: this kernel has no huge pages"
                                  : fmt::format("-H {}: the size of its huge pages is not known",
                                                plan.hugetlb_path),
                        "leave out -H"});
  } else if (anonymous) {
    check_huge_pool(plan, limits, problems);
  } else {
    check_huge_file(plan, limits, problems);
  }
}

void check_aio_requests(const RunPlan& plan, const Limits& limits, Problems& problems) {
  const std::uint64_t needed = plan.threads.size() * std::uint64_t{plan.depth};
  if (needed <= limits.aio_requests_free) return;
  const std::uint64_t missing = needed - limits.aio_requests_free;
  problems.push_back(
      {ExitCode::cannot,
       fmt::format("-a1: {} with --depth {} need {} of the kernel's AIO requests, {} are free",
                   count_threads(plan), plan.depth, needed, limits.aio_requests_free),
       fmt::format("use a smaller --depth, or raise the limit, as root: sysctl -w "
                   "fs.aio-max-nr=$(($(sysctl -n fs.aio-max-nr) + {}))",
                   missing)});
}

void check_descriptors(const RunPlan& plan, const Limits& limits, Problems& problems) {
  const std::uint64_t threads = plan.threads.size();
  const std::uint64_t needed = threads * plan.targets.size() + threads + kSpareDescriptors;
  if (needed <= limits.open_files) return;
  problems.push_back(
      {ExitCode::cannot,
       fmt::format("too few file descriptors: {} on {} target{} need {}, the limit is {}",
                   count_threads(plan), plan.targets.size(), plan.targets.size() == 1 ? "" : "s",
                   needed, limits.open_files),
       fmt::format("raise the limit: ulimit -n {}, or use fewer --threads or targets", needed)});
}

}  // namespace

std::uint64_t max_block_bytes(const Limits& limits) {
  const std::uint64_t int_max = 0x7fffffff;
  return std::min(kMaxBlockBytes, int_max / limits.page_bytes * limits.page_bytes);
}

std::uint64_t slot_bytes(std::uint64_t block_size_bytes, bool direct) {
  // Direct blocks are aligned by themselves, since their size is a multiple of what the device
  // demands.
  constexpr std::uint64_t kCacheLine = 64;
  return direct ? block_size_bytes : round_up(block_size_bytes, kCacheLine);
}

std::uint64_t region_count(const RunPlan& plan) {
  return round_up(plan.depth, plan.slots_per_region) / plan.slots_per_region;
}

void check_capacity(const RunPlan& plan, const Limits& limits, Problems& problems) {
  if (plan.fixed_buffers) {
    check_regions(plan, plan.slot_stride_bytes, problems);
  }
  check_memory(plan, limits, problems);
  if (plan.huge_pages != HugePages::none) check_huge_pages(plan, limits, problems);
  if (plan.engine == Engine::aio) check_aio_requests(plan, limits, problems);
  check_descriptors(plan, limits, problems);
}

void check_cpus(const char* flag, const std::vector<int>& cpus, const Limits& limits,
                Problems& problems) {
  if (limits.allowed_cpus.empty()) return;
  std::vector<int> forbidden;
  for (const int cpu : cpus) {
    const auto& allowed = limits.allowed_cpus;
    const bool may_use = std::find(allowed.begin(), allowed.end(), cpu) != allowed.end();
    if (cpu >= 0 && !may_use) forbidden.push_back(cpu);
  }
  if (forbidden.empty()) return;
  const std::string allowed = base::format_cpu_list(limits.allowed_cpus);
  const std::string names = base::format_cpu_list(forbidden);
  problems.push_back(
      {ExitCode::cannot,
       fmt::format("{}: this process may not run on CPU {}: allowed are {}", flag, names, allowed),
       fmt::format("choose from {}, or widen the process's CPU set (taskset, cgroup cpuset)",
                   allowed)});
}

}  // namespace uringbench::plan::rules
