// What doctor could find on five machines, made by hand.
#pragma once

#include <cstdint>
#include <string>

#include "result/result.hpp"
#include "sample_document.hpp"

namespace uringbench::testing {

using result::Checkup;

inline Checkup minimal_checkup() {
  Checkup checkup;
  checkup.tool.version = "0.1.0";
  return checkup;
}

/// A server with everything in order: bare metal, Linux 6.18, an NVMe drive with poll queues.
inline Checkup good_nvme() {
  const result::Document document = full_document();
  Checkup checkup;
  checkup.tool = document.tool;
  checkup.identity = document.identity;
  checkup.identity.smt = {{"active", "0"}, {"control", "off"}};
  checkup.weather = document.weather;
  checkup.kernel = {{"io_uring", true, ""}, {"can be asked for its set-up flags", true, ""}};
  for (const char* name : {"IOPOLL", "SQPOLL", "SQ_AFF", "CQSIZE", "COOP_TASKRUN", "TASKRUN_FLAG",
                           "SINGLE_ISSUER", "DEFER_TASKRUN", "NO_MMAP", "REGISTERED_FD_ONLY",
                           "NO_SQARRAY", "HYBRID_IOPOLL", "CQE_MIXED"}) {
    checkup.setup_flags.push_back({name, true, ""});
  }
  checkup.setup_flags.push_back({"SQTHREAD_STATS_OFF", false, "bit 19 has no such effect"});
  for (const char* name : {"NOP", "READ", "READV", "READ_FIXED", "READV_FIXED", "URING_CMD"}) {
    checkup.opcodes.push_back({name, true, ""});
  }
  checkup.limits = {{"locked memory", "8.0 MiB"},
                    {"open files", "1048576"},
                    {"CPUs", "0-7"},
                    {"huge pages", "0 of 2.0 MiB free"}};
  Checkup::TargetCheck check;
  check.path = "/dev/nvme0n1";
  check.target = document.targets[0];
  check.target->path = "/dev/nvme0n1";
  check.target->resolved_path.reset();
  check.target->filesystem.reset();
  check.target->sparse = false;
  check.target->unwritten_bytes.reset();
  check.target->mounted_at.reset();
  check.target->queue = {
      {"io_poll", "1"}, {"iostats", "0"}, {"nomerges", "2"}, {"scheduler", "none"}};
  check.target->queue_restored.clear();
  check.target->device->partition.reset();
  check.target->device->serial.reset();
  check.target->device->backing_file.reset();
  check.modes = {{"direct I/O (-O1)", true, "multiples of 512 B"},
                 {"polled I/O (-p1)", true, ""},
                 {"passthrough (-u1)", true, "through /dev/ng0n1"},
                 {"fixed buffers (-B1)", true, ""},
                 {"huge pages (-H anon)", false, "none are set aside"}};
  checkup.targets = {check};
  return checkup;
}

/// A virtual machine with a virtio disk: works, but cannot poll.
inline Checkup virtio_guest() {
  Checkup checkup = good_nvme();
  checkup.identity.virtualization = "kvm";
  checkup.identity.kernel_release = "6.1.0";
  checkup.identity.cpus_online = 2;
  checkup.identity.numa_nodes = 1;
  checkup.identity.smt.clear();
  checkup.identity.mitigations = {{"mds", "Vulnerable: Clear CPU buffers attempted, no microcode"},
                                  {"meltdown", "Not affected"},
                                  {"retbleed", "Vulnerable"},
                                  {"spectre_v1", "Mitigation: swapgs"}};
  checkup.weather = {};
  checkup.kernel[1] = {"can be asked for its set-up flags", false, "from Linux 6.18 on"};
  for (auto& flag : checkup.setup_flags) {
    if (flag.name == "HYBRID_IOPOLL" || flag.name == "CQE_MIXED") flag.works = false;
  }
  checkup.findings = {
      {"info", "virtual-machine",
       "this is a virtual machine (kvm): other guests and the host's cache are part "
       "of what is measured",
       "compare only results of this machine, best by turns"}};
  Checkup::TargetCheck& check = checkup.targets[0];
  check.path = "/dev/vda";
  check.target->path = "/dev/vda";
  check.target->device = result::Device{};
  check.target->device->name = "vda";
  check.target->device->driver = "virtio_blk";
  check.target->queue = {{"io_poll", "0"}, {"iostats", "1"}, {"scheduler", "none"}};
  check.modes = {{"direct I/O (-O1)", true, ""},
                 {"polled I/O (-p1)", false,
                  "is not supported by this block driver (queue/io_poll is 0); interrupt-driven "
                  "I/O is used"},
                 {"passthrough (-u1)", false, "not an NVMe drive"}};
  return checkup;
}

/// The same drive as a distribution sets it up: a scheduler and statistics in the way.
inline Checkup scheduler_in_the_way() {
  Checkup checkup = good_nvme();
  checkup.weather.governor = "powersave";
  checkup.findings = {{"warning", "governor", "the CPU governor is powersave",
                       "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/"
                       "scaling_governor"}};
  Checkup::TargetCheck& check = checkup.targets[0];
  check.target->queue = {{"io_poll", "1"}, {"iostats", "1"}, {"scheduler", "mq-deadline"}};
  check.findings = {{"warning", "scheduler", "/dev/nvme0n1: the scheduler mq-deadline is in use",
                     "--queue scheduler=none"},
                    {"info", "iostats", "/dev/nvme0n1: the kernel keeps statistics of each read",
                     "--queue iostats=0"}};
  return checkup;
}

/// The administrator has switched io_uring off.
inline Checkup disabled_io_uring() {
  Checkup checkup = good_nvme();
  checkup.identity.io_uring_disabled = 2;
  checkup.kernel = {{"io_uring", false, "EPERM: the sysctl kernel.io_uring_disabled is 2"}};
  checkup.setup_flags.clear();
  checkup.opcodes.clear();
  checkup.problems = {
      {"io_uring is switched off: EPERM (Operation not permitted)",
       "sudo sysctl kernel.io_uring_disabled=0\nor measure without io_uring: -S1 or -a1"}};
  return checkup;
}

/// One device that may not be opened and one file that is not there.
inline Checkup unreadable_targets() {
  Checkup checkup = good_nvme();
  checkup.targets.resize(1);
  Checkup::TargetCheck& device = checkup.targets[0];
  device = {};
  device.path = "/dev/nvme0n1";
  device.problems = {{"/dev/nvme0n1: open: EACCES (Permission denied)",
                      "run as root, or join the group that owns it: sudo usermod -aG disk $USER"}};
  Checkup::TargetCheck file;
  file.path = "gone\x1b[31m.img";
  file.problems = {{"gone\x1b[31m.img: open: ENOENT (No such file or directory)", ""}};
  checkup.targets.push_back(file);
  return checkup;
}

}  // namespace uringbench::testing
