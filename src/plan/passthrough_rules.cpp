// NVMe passthrough: which targets take it, and what one command can read.
#include <fmt/format.h>

#include <bit>
#include <map>
#include <string>
#include <vector>

#include "plan/rules.hpp"

namespace uringbench::plan::rules {

namespace {

using base::ExitCode;

constexpr std::uint32_t kLeastLbaBytes = 512;
/// NVMe's number of logical blocks has 16 bits, and 0 means 1.
constexpr std::uint64_t kMaxLbasPerCommand = 65536;

bool can_be_addressed(std::uint32_t lba_bytes) {
  return lba_bytes >= kLeastLbaBytes && std::has_single_bit(lba_bytes);
}

/// "/dev/ng0n1" for "nvme0n1".
std::string generic_of(const std::string& disk) {
  return disk.rfind("nvme", 0) == 0 ? "/dev/ng" + disk.substr(4) : "/dev/ngXnY";
}

void refuse_lba_size(std::uint32_t lba_bytes, const std::string& paths, Problems& problems) {
  problems.push_back(
      {ExitCode::cannot,
       fmt::format("{}: LBAs of {} bytes cannot be read with -u1: their size must be a power of "
                   "two, at least {}",
                   paths, lba_bytes, kLeastLbaBytes),
       "use a namespace whose format has LBAs of 512 or 4096 bytes"});
}

void check_block_size(const RunPlan& plan, std::uint32_t lba_bytes, const std::string& paths,
                      Problems& problems) {
  const std::uint64_t most = kMaxLbasPerCommand * lba_bytes;
  if (plan.block_size_bytes > most) {
    problems.push_back(
        {ExitCode::cannot,
         fmt::format("{}: --block-size {} is more than one NVMe command can read: {} LBAs of {} "
                     "bytes",
                     paths, plan.block_size_bytes, kMaxLbasPerCommand, lba_bytes),
         fmt::format("use -b{} or less", base::format_size(most))});
  } else if (plan.block_size_bytes % lba_bytes != 0) {
    problems.push_back(
        {ExitCode::cannot,
         fmt::format("{}: --block-size {} must be a multiple of the drive's LBAs of {} bytes",
                     paths, plan.block_size_bytes, lba_bytes),
         fmt::format("use e.g. -b{}",
                     base::format_size(round_up(plan.block_size_bytes, lba_bytes)))});
  }
}

}  // namespace

void check_kind(const RunPlan& plan, const std::vector<TargetShape>& targets, Problems& problems) {
  std::vector<std::string> paths;
  std::string disk;
  for (const TargetShape& target : targets) {
    if (target.is_nvme_generic == plan.passthrough) continue;
    paths.push_back(target.path);
    disk = target.disk;
  }
  if (paths.empty()) return;
  // With several of them only the pattern can be named.
  if (paths.size() > 1) disk.clear();
  if (plan.passthrough) {
    problems.push_back({ExitCode::cannot,
                        fmt::format("{}: passthrough (-u1) is for NVMe generic devices, /dev/ngXnY",
                                    name_paths(paths)),
                        fmt::format("name {}, or use -u0", generic_of(disk))});
  } else {
    problems.push_back(
        {ExitCode::cannot,
         fmt::format("{}: NVMe generic devices take passthrough only", name_paths(paths)),
         fmt::format("use -u1, or /dev/{}", disk.empty() ? "nvmeXnY" : disk)});
  }
}

void check_lbas(const RunPlan& plan, const std::vector<TargetShape>& targets, Problems& problems) {
  std::map<std::uint32_t, std::vector<std::string>> by_lba_bytes;
  for (const TargetShape& target : targets) {
    if (target.is_nvme_generic) by_lba_bytes[target.lba_bytes].push_back(target.path);
  }
  for (const auto& [lba_bytes, paths] : by_lba_bytes) {
    if (can_be_addressed(lba_bytes)) {
      check_block_size(plan, lba_bytes, name_paths(paths), problems);
    } else {
      refuse_lba_size(lba_bytes, name_paths(paths), problems);
    }
  }
}

}  // namespace uringbench::plan::rules
