// Judging what was found: pure, facts in, findings out.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "machine/machine.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

using Findings = std::vector<Finding>;

void add(Findings& findings, Severity severity, const char* code, std::string message,
         std::string hint) {
  findings.push_back({severity, code, std::move(message), std::move(hint)});
}

std::string queue_value(const TargetFacts& facts, const char* key) {
  if (!facts.device) return {};
  const auto found = facts.device->queue.find(key);
  return found == facts.device->queue.end() ? std::string() : found->second;
}

std::string driver_of(const TargetFacts& facts) {
  return facts.device ? facts.device->driver.value_or("") : std::string();
}

// ---- one target at a time ----

std::string cure_for_sparse(const TargetFacts& facts) {
  if (facts.kind == TargetKind::file) {
    return fmt::format("make a dense copy: cp --sparse=never {0} {0}.dense; or use --scratch {1}",
                       shell_quoted(facts.path), base::format_size(facts.size_bytes));
  }
  if (facts.device && facts.device->backing_file) {
    return fmt::format("give the loop device a dense file: cp --sparse=never {0} {0}.dense",
                       shell_quoted(*facts.device->backing_file));
  }
  return fmt::format("fill it once, which destroys what is on it: dd if=/dev/urandom of={} bs=1M",
                     shell_quoted(facts.path));
}

void judge_sparse(Findings& findings, const TargetFacts& facts) {
  if (!facts.sparse) return;
  const double share = facts.size_bytes == 0 ? 0.0
                                             : 100.0 * static_cast<double>(facts.unwritten_bytes) /
                                                   static_cast<double>(facts.size_bytes);
  add(findings, Severity::warning, "sparse-target",
      fmt::format(
          "{}: is sparse: {} of {} ({:.1f} %) were never written, and reads of them cost no I/O",
          facts.path, base::format_bytes(facts.unwritten_bytes),
          base::format_bytes(facts.size_bytes), share),
      cure_for_sparse(facts));
}

void judge_page_cache(Findings& findings, const TargetFacts& facts, bool direct) {
  const std::string filesystem = facts.filesystem.value_or("");
  if (filesystem == "tmpfs" || filesystem == "ramfs") {
    add(findings, Severity::warning, "page-cache",
        fmt::format("{}: {} keeps its files in memory, so no device is measured", facts.path,
                    filesystem),
        "measure a block device, or a file on a disk");
  } else if (!direct) {
    add(findings, Severity::warning, "page-cache",
        fmt::format("{}: buffered reads (-O0) measure the page cache as soon as data is in it",
                    facts.path),
        "use -O1 to measure the device");
  }
}

void judge_null_device(Findings& findings, const TargetFacts& facts) {
  if (driver_of(facts) != "null_blk") return;
  add(findings, Severity::info, "null-device",
      fmt::format("{}: null_blk answers without a medium, so this measures the I/O path, not a "
                  "drive",
                  facts.path),
      "measure a real device to learn about a drive");
}

void judge_use(Findings& findings, const TargetFacts& facts) {
  if (facts.mounted_at) {
    add(findings, Severity::info, "mounted-target",
        fmt::format("{}: is mounted at {}; reading is safe, but others may use it during the run",
                    facts.path, *facts.mounted_at),
        fmt::format("for undisturbed figures: umount {}", shell_quoted(*facts.mounted_at)));
  }
  if (facts.busy) {
    add(findings, Severity::info, "busy-target",
        fmt::format("{}: is in use by the system (swap, RAID, LVM or device mapper); reading is "
                    "safe, but others may use it during the run",
                    facts.path),
        fmt::format("lsblk {} shows by whom", shell_quoted(facts.path)));
  }
}

void judge_shape(Findings& findings, const TargetFacts& facts, std::uint64_t block_size_bytes) {
  const std::uint64_t tail = block_size_bytes == 0 ? 0 : facts.size_bytes % block_size_bytes;
  if (tail != 0) {
    add(findings, Severity::info, "partial-tail",
        fmt::format("{}: the last {} bytes are no whole block of {} bytes and are not read",
                    facts.path, tail, block_size_bytes),
        "nothing to do, or choose a --block-size that divides the size");
  }
  if (!facts.resolved_path.empty() && facts.resolved_path != facts.path) {
    add(findings, Severity::info, "symlink",
        fmt::format("{}: is reached by a symbolic link and really is {}", facts.path,
                    facts.resolved_path),
        fmt::format("give {} to name it for good", facts.resolved_path));
  }
}

// ---- one device at a time, however many targets lie on it ----

void judge_queue(Findings& findings, const TargetFacts& facts) {
  const std::string& disk = facts.device->name;
  const std::string where =
      base_name(facts.path) == disk ? facts.path : fmt::format("{} (on {})", facts.path, disk);
  const std::string scheduler = queue_value(facts, "scheduler");
  if (!scheduler.empty() && scheduler != "none") {
    add(findings, Severity::warning, "scheduler",
        fmt::format("{}: the I/O scheduler {} takes time for every request", where, scheduler),
        fmt::format("echo none > /sys/block/{}/queue/scheduler", disk));
  }
  const std::string iostats = queue_value(facts, "iostats");
  if (!iostats.empty() && iostats != "0") {
    add(findings, Severity::info, "iostats",
        fmt::format("{}: the kernel counts every request of this device (iostats is {})", where,
                    iostats),
        fmt::format("echo 0 > /sys/block/{}/queue/iostats", disk));
  }
  if (queue_value(facts, "rotational") == "1") {
    add(findings, Severity::info, "rotational",
        fmt::format("{}: says that it is a rotating disk, where the seeks are measured", where),
        "nothing to do; for a virtual disk it may just not be set");
  }
}

// ---- the run and the machine ----

/// "for NVMe, boot with…": when polling was not asked for, "use -p0" is no cure.
std::string without_advice_to_give_up(const std::string& hint) {
  const std::string advice = "use -p0; ";
  return starts_with(hint, advice) ? hint.substr(advice.size()) : hint;
}

void judge_polling(Findings& findings, const plan::Options& options, const plan::RunPlan& plan,
                   const std::vector<TargetFacts>& targets) {
  if (options.polled != plan::PolledWish::automatic || plan.polled || targets.empty()) return;
  if (plan.engine != plan::Engine::io_uring || plan.nop) return;
  if (!plan.direct) {
    add(findings, Severity::info, "not-polled",
        fmt::format("{}: not polled: polled I/O needs direct I/O", targets.front().path),
        "use -O1, or -p0 to say that it is meant so");
    return;
  }
  const auto cannot = [](const TargetFacts& facts) { return !facts.can_poll.value_or(false); };
  const auto first = std::find_if(targets.begin(), targets.end(), cannot);
  if (first == targets.end()) return;
  const auto more = std::count_if(first + 1, targets.end(), cannot);
  const std::string others = more == 0 ? "" : fmt::format(" (and {} more)", more);
  if (!first->can_poll) {
    add(findings, Severity::info, "not-polled",
        fmt::format("{}{}: not polled: whether its driver can poll is not to be found out",
                    first->path, others),
        "try -p1, or -p0 to say that it is meant so");
    return;
  }
  add(findings, Severity::info, "not-polled",
      fmt::format("{}{}: not polled: polled I/O {}", first->path, others,
                  first->cannot_poll_reason),
      without_advice_to_give_up(first->cannot_poll_hint));
}

std::size_t usable_cpus(const Identity& identity, const plan::Limits& limits) {
  if (!limits.allowed_cpus.empty()) return limits.allowed_cpus.size();
  return static_cast<std::size_t>(std::max(identity.cpus_online, 0));
}

void judge_cpus(Findings& findings, const plan::RunPlan& plan, const Identity& identity,
                const Weather& weather, const plan::Limits& limits) {
  const std::size_t cpus = usable_cpus(identity, limits);
  if (cpus > 0 && plan.threads.size() > cpus) {
    add(findings, Severity::warning, "few-cpus",
        fmt::format("{} threads share {} CPU{}: they wait for each other, not for the device",
                    plan.threads.size(), cpus, cpus == 1 ? "" : "s"),
        fmt::format("use --threads {} or fewer", cpus));
  }
  if (weather.governor && *weather.governor != "performance") {
    add(findings, Severity::warning, "governor",
        fmt::format("the CPU frequency governor is {}: clock rates change during the run",
                    *weather.governor),
        "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor");
  }
  const int online = identity.cpus_online;
  if (online > 0 && weather.load_average_1m * 2 >= static_cast<double>(online)) {
    add(findings, Severity::warning, "high-load",
        fmt::format("the load average is {:.2f} on {} CPU{}: something else is running",
                    weather.load_average_1m, online, online == 1 ? "" : "s"),
        "see what it is with top, and wait until the machine is quiet");
  }
  const std::string virtualization = identity.virtualization.value_or("none");
  if (virtualization != "none") {
    add(findings, Severity::info, "virtual-machine",
        fmt::format("this is a virtual machine ({}): neighbours and the host have a part in the "
                    "figures",
                    virtualization),
        "repeat more often, and compare only what ran on the same machine");
  }
}

void judge_memlock(Findings& findings, const plan::RunPlan& plan, const plan::Limits& limits) {
  if (!plan.fixed_buffers || limits.memlock_exempt || limits.memlock_bytes == UINT64_MAX) return;
  const std::uint64_t need = plan.buffer_bytes_per_thread * plan.threads.size();
  const std::uint64_t left = limits.memlock_bytes - std::min(limits.memlock_bytes, need);
  if (need == 0 || left >= limits.memlock_bytes / 4) return;
  add(findings, Severity::info, "memlock",
      fmt::format("registered buffers take {} of the {} of locked memory this user may have",
                  base::format_bytes(need), base::format_bytes(limits.memlock_bytes)),
      "ulimit -l unlimited, or -B0 for buffers that are not registered");
}

}  // namespace

const char* severity_name(Severity severity) noexcept {
  return severity == Severity::info ? "info" : "warning";
}

std::vector<Finding> judge(const plan::Options& options, const plan::RunPlan& plan,
                           const std::vector<TargetFacts>& targets, const Identity& identity,
                           const Weather& weather, const plan::Limits& limits) {
  Findings findings;
  // A NOP reaches no device, whatever files are named.
  if (!plan.nop) {
    std::set<std::string> judged_devices;
    for (const TargetFacts& facts : targets) {
      judge_sparse(findings, facts);
      judge_page_cache(findings, facts, plan.direct);
      judge_null_device(findings, facts);
      judge_shape(findings, facts, plan.block_size_bytes);
      judge_use(findings, facts);
      if (facts.device && judged_devices.insert(facts.device->name).second) {
        judge_queue(findings, facts);
      }
    }
    judge_polling(findings, options, plan, targets);
  }
  judge_cpus(findings, plan, identity, weather, limits);
  judge_memlock(findings, plan, limits);
  return findings;
}

}  // namespace uringbench::machine
