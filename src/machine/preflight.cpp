// Judging what was found: pure, facts in, findings out.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "machine/findings.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

std::string queue_value(const TargetFacts& facts, const char* key) {
  if (!facts.device) return {};
  const auto found = facts.device->queue.find(key);
  return found == facts.device->queue.end() ? std::string() : found->second;
}

/// Does --queue set anything on the disk of this target?
bool has_settings(const TargetFacts& facts, const plan::RunPlan& plan) {
  const auto& disks = plan.queue_disks;
  return facts.device && std::find(disks.begin(), disks.end(), facts.device->name) != disks.end();
}

/// What --queue sets it to, where it does; else what it is now.
std::string value_during_run(const TargetFacts& facts, const char* key, const plan::RunPlan& plan) {
  if (has_settings(facts, plan)) {
    for (const plan::QueueSetting& setting : plan.queue) {
      if (setting.key == key) return setting.value;
    }
  }
  return queue_value(facts, key);
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
  } else if (!direct && facts.kind != TargetKind::nvme_generic) {
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

/// The node of the block device, for tools that know no generic ones.
std::string block_path(const TargetFacts& facts) {
  const bool is_generic = facts.kind == TargetKind::nvme_generic && facts.device;
  return is_generic ? "/dev/" + facts.device->name : facts.path;
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
        fmt::format("lsblk {} shows by whom", shell_quoted(block_path(facts))));
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

void judge_queue(Findings& findings, const TargetFacts& facts, const plan::RunPlan& plan) {
  const std::string& disk = facts.device->name;
  const std::string where =
      base_name(facts.path) == disk ? facts.path : fmt::format("{} (on {})", facts.path, disk);
  const bool is_passthrough = facts.kind == TargetKind::nvme_generic;  // past any scheduler
  const std::string scheduler = value_during_run(facts, "scheduler", plan);
  if (!is_passthrough && !scheduler.empty() && scheduler != "none") {
    add(findings, Severity::warning, "scheduler",
        fmt::format("{}: the I/O scheduler {} takes time for every request", where, scheduler),
        fmt::format("echo none > /sys/block/{}/queue/scheduler", disk));
  }
  const std::string iostats = value_during_run(facts, "iostats", plan);
  // Since Linux 6.13 passthrough is only counted on demand.
  const bool counted =
      !is_passthrough || value_during_run(facts, "iostats_passthrough", plan) != "0";
  if (counted && !iostats.empty() && iostats != "0") {
    add(findings, Severity::info, "iostats",
        fmt::format("{}: the kernel counts every request of this device (iostats is {})", where,
                    iostats),
        fmt::format("echo 0 > /sys/block/{}/queue/iostats", disk));
  }
  if (value_during_run(facts, "rotational", plan) == "1") {
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
  if (!plan.direct && !plan.passthrough) {
    add(findings, Severity::info, "not-polled",
        fmt::format("{}: not polled: polled I/O needs direct I/O", targets.front().path),
        "use -O1, or -p0 to say that it is meant so");
    return;
  }
  const auto cannot = [](const TargetFacts& facts) { return !facts.can_poll.value_or(false); };
  const auto first = std::find_if(targets.begin(), targets.end(), cannot);
  if (first == targets.end()) return;
  const std::string others = and_more(std::count_if(first + 1, targets.end(), cannot));
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

/// What --queue changes, with the values before where they are the same on all disks.
void judge_queue_settings(Findings& findings, const plan::RunPlan& plan,
                          const std::vector<TargetFacts>& targets) {
  std::vector<std::string> changes;
  for (const plan::QueueSetting& setting : plan.queue) {
    std::set<std::string> before;
    for (const TargetFacts& facts : targets) {
      if (has_settings(facts, plan)) before.insert(queue_value(facts, setting.key.c_str()));
    }
    if (before == std::set<std::string>{setting.value}) continue;
    const bool known = before.size() == 1 && !before.begin()->empty();
    changes.push_back(fmt::format("{}={}{}", setting.key, setting.value,
                                  known ? fmt::format(" (now {})", *before.begin()) : ""));
  }
  if (changes.empty()) return;
  add(findings, Severity::info, "queue-changed",
      fmt::format("--queue sets {} on {} for the run, and what was there is restored at the end",
                  fmt::join(changes, ", "), fmt::join(plan.queue_disks, ", ")),
      "nothing to do");
}

void judge_machine(Findings& findings, const Identity& identity, const Weather& weather) {
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
        judge_queue(findings, facts, plan);
      }
    }
    judge_queue_settings(findings, plan, targets);
    judge_polling(findings, options, plan, targets);
  }
  judge_numa(findings, options, plan, targets, identity, limits);
  judge_cpus(findings, plan, identity, limits);
  judge_machine(findings, identity, weather);
  judge_memlock(findings, plan, limits);
  return findings;
}

}  // namespace uringbench::machine
