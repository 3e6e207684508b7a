// What stays the same between two boots: kernel, processor, memory. Small files only.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "machine/cpu_lists.hpp"
#include "machine/machine.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

/// One processor's entry is enough, and all of them may be megabytes.
constexpr std::size_t kCpuInfoBytes = 16384;

std::string text_or_empty(const std::string& path) { return read_fact(path).value_or(""); }

std::string kernel_text(const Root& root, const char* file, const char* by_uname) {
  const std::string text = text_or_empty(root(std::string("/proc/sys/kernel/") + file));
  return text.empty() && root.prefix.empty() ? std::string(by_uname) : text;
}

bool has_word(const std::string& text, const std::string& word) {
  const std::vector<std::string> words = split_words(text);
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Who made the (virtual) machine, as systemd-detect-virt words it.
std::optional<std::string> vendor_by_dmi(const Root& root) {
  static constexpr std::array<std::pair<const char*, const char*>, 14> kVendors = {
      {{"KVM", "kvm"},
       {"OpenStack", "kvm"},
       {"Amazon EC2", "amazon"},
       {"Google", "google"},
       {"QEMU", "qemu"},
       {"VMware", "vmware"},
       {"VMW", "vmware"},
       {"innotek GmbH", "oracle"},
       {"VirtualBox", "oracle"},
       {"Xen", "xen"},
       {"Bochs", "bochs"},
       {"Parallels", "parallels"},
       {"BHYVE", "bhyve"},
       {"Microsoft Corporation", "microsoft"}}};
  for (const char* file : {"product_name", "sys_vendor", "board_vendor", "bios_vendor"}) {
    const std::string text = text_or_empty(root(std::string("/sys/class/dmi/id/") + file));
    for (const auto& [start, name] : kVendors) {
      if (starts_with(text, start)) return name;
    }
  }
  return std::nullopt;
}

std::optional<std::string> read_virtualization(const Root& root, const std::string& cpu_info) {
  if (text_or_empty(root("/sys/hypervisor/type")) == "xen") return "xen";
  const std::string clocks =
      text_or_empty(root("/sys/devices/system/clocksource/clocksource0/available_clocksource"));
  // Only x86 says for sure that there is no hypervisor.
  const auto flags = value_of_key(cpu_info, "flags");
  if (flags && !has_word(*flags, "hypervisor")) return "none";
  auto vendor = vendor_by_dmi(root);
  // A clock of its own tells KVM from QEMU that emulates the processor too.
  const bool kvm_clock = has_word(clocks, "kvm-clock");
  if (kvm_clock && (!vendor || *vendor == "qemu")) return "kvm";
  if (vendor) return vendor;
  if (clocks.find("hyperv") != std::string::npos) return "microsoft";
  return flags ? std::optional<std::string>("vm-other") : std::nullopt;
}

std::uint64_t read_memory_bytes(const Root& root) {
  const auto text = read_text(root("/proc/meminfo"));
  const auto total = text ? value_of_key(*text, "MemTotal") : std::nullopt;
  if (!total) return 0;
  const auto kibibytes = to_number(split_words(*total).front());
  return kibibytes && *kibibytes > 0 ? static_cast<std::uint64_t>(*kibibytes) * 1024 : 0;
}

std::string read_cpu_model(const std::string& cpu_info, const Root& root) {
  for (const char* key : {"model name", "cpu model", "cpu", "Processor", "uarch"}) {
    const auto value = value_of_key(cpu_info, key);
    if (value && !value->empty()) return *value;
  }
  // Arm names no model, but its maker and part number.
  const auto implementer = value_of_key(cpu_info, "CPU implementer");
  const auto part = value_of_key(cpu_info, "CPU part");
  if (implementer && part) return "implementer " + *implementer + " part " + *part;
  return text_or_empty(root("/sys/devices/soc0/machine"));
}

std::map<std::string, std::string> read_folder(const std::string& folder) {
  std::map<std::string, std::string> facts;
  for (const std::string& name : list_names(folder)) {
    const auto text = read_fact(fmt::format("{}/{}", folder, name));
    if (text) facts[name] = *text;
  }
  return facts;
}

}  // namespace

Identity read_identity(const Root& root) {
  utsname names{};
  (void)::uname(&names);
  const std::string cpu_info = read_text(root("/proc/cpuinfo"), kCpuInfoBytes).value_or("");
  const std::string cpus = root("/sys/devices/system/cpu/");

  Identity identity;
  identity.kernel_release = kernel_text(root, "osrelease", names.release);
  identity.kernel_version = kernel_text(root, "version", names.version);
  identity.kernel_cmdline = text_or_empty(root("/proc/cmdline"));
  // The kernel has this file only since 6.1, so a fixture without it has this machine's.
  identity.architecture = read_fact(root("/proc/sys/kernel/arch")).value_or(names.machine);
  identity.cpu_model = read_cpu_model(cpu_info, root);
  identity.cpus_online = count_listed(text_or_empty(cpus + "online"));
  if (identity.cpus_online == 0 && root.prefix.empty()) {
    identity.cpus_online = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  }
  // A kernel without NUMA has no node folder; its memory is one node all the same.
  identity.numa_nodes =
      std::max(1, count_listed(text_or_empty(root("/sys/devices/system/node/online"))));
  identity.memory_bytes = read_memory_bytes(root);
  identity.virtualization = read_virtualization(root, cpu_info);
  identity.mitigations = read_folder(cpus + "vulnerabilities");
  const auto disabled = read_number(root("/proc/sys/kernel/io_uring_disabled"));
  if (disabled) identity.io_uring_disabled = static_cast<int>(*disabled);
  identity.boot_id = text_or_empty(root("/proc/sys/kernel/random/boot_id"));
  for (const char* name : {"control", "active"}) {
    const auto text = read_fact(cpus + "smt/" + name);
    if (text) identity.smt[name] = *text;
  }
  return identity;
}

}  // namespace uringbench::machine
