// What doctor found, on one screen: first whether it would work, then how to make it, then facts.
#include <fmt/format.h>

#include <algorithm>

#include "report/cell_view.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace uringbench::report {
namespace {

using result::Checkup;

constexpr std::size_t kPage = 100;
constexpr std::size_t kColumn = 15;

std::string fact(std::string_view label, std::string_view words) {
  return words.empty() ? "" : wrap(pad(fmt::format("  {}", label), kColumn), words, kColumn, kPage);
}

// Several lines stay several lines: some are commands to be copied.
std::string indented(const std::string& first_prefix, std::string_view text, std::size_t hanging) {
  std::string out;
  std::string prefix = first_prefix;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out += wrap(prefix, printable(text.substr(0, end)), hanging, kPage);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    prefix = std::string(hanging, ' ');
  }
  return out;
}

std::string verdict(const Checkup& checkup) {
  std::size_t problems = checkup.problems.size();
  for (const Checkup::TargetCheck& check : checkup.targets) problems += check.problems.size();
  if (problems == 0) return "A default run would work.\n";
  return fmt::format("A default run would not work: {}.\n", count_of(problems, "problem"));
}

std::string problem_block(const Checkup& checkup) {
  std::vector<const Checkup::Problem*> problems;
  for (const auto& problem : checkup.problems) problems.push_back(&problem);
  for (const Checkup::TargetCheck& check : checkup.targets) {
    for (const auto& problem : check.problems) problems.push_back(&problem);
  }
  std::string out;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    out += indented(fmt::format("  {}. ", i + 1), problems[i]->what, 5);
    out += indented("     cure: ", problems[i]->hint, 11);
  }
  return out.empty() ? "" : "\nProblems\n" + out;
}

std::string finding_block(const std::vector<result::Finding>& findings) {
  std::string out;
  for (const result::Finding& finding : findings) {
    const std::string label = finding.severity == "info" ? "note" : printable(finding.severity);
    const std::string prefix = fmt::format("  {}: ", label);
    out += indented(prefix, finding.message, std::min<std::size_t>(columns(prefix), kColumn));
    out += indented("    hint: ", finding.hint, 10);
  }
  return out;
}

std::string mitigation_words(const std::map<std::string, std::string>& mitigations) {
  if (mitigations.empty()) return "";
  std::size_t active = 0;
  std::vector<std::string> open;
  for (const auto& [name, state] : mitigations) {
    if (state.starts_with("Mitigation")) ++active;
    if (state.starts_with("Vulnerable")) open.push_back(printable(name));
  }
  std::string words = fmt::format("{} of {} active", active, mitigations.size());
  if (!open.empty()) words += "; not against " + list(open);
  return words;
}

std::string speed_words(const result::Weather& weather) {
  std::vector<std::string> words;
  if (weather.governor) words.push_back("governor " + printable(*weather.governor));
  if (weather.cpu_mhz_min && weather.cpu_mhz_max) {
    words.push_back(fmt::format("{} to {} MHz", *weather.cpu_mhz_min, *weather.cpu_mhz_max));
  }
  if (weather.turbo) words.push_back("turbo " + printable(*weather.turbo));
  if (words.empty()) words.emplace_back("clock not under this kernel's control");
  words.push_back(fmt::format("load {:.2f}", weather.load_average_1m));
  return list(words);
}

std::string machine_block(const Checkup& checkup) {
  const result::Identity& identity = checkup.identity;
  std::vector<std::string> kernel;
  if (!identity.kernel_release.empty()) {
    kernel.push_back("Linux " + printable(identity.kernel_release));
  }
  if (!identity.architecture.empty()) kernel.push_back(printable(identity.architecture));
  if (const auto& virtualization = identity.virtualization) {
    kernel.push_back(*virtualization == "none" ? "no virtual machine"
                                               : "virtual machine: " + printable(*virtualization));
  }
  std::vector<std::string> cpu;
  if (!identity.cpu_model.empty()) cpu.push_back(printable(identity.cpu_model));
  const auto count = [&](int number, const char* what) {
    if (number > 0) cpu.push_back(count_of(static_cast<std::uint64_t>(number), what));
  };
  count(identity.cpus_online, "CPU");
  count(identity.numa_nodes, "NUMA node");
  if (const auto smt = identity.smt.find("active"); smt != identity.smt.end()) {
    cpu.push_back(smt->second == "1" ? "SMT on" : "SMT off");
  }
  const std::string memory =
      identity.memory_bytes > 0 ? base::format_bytes(identity.memory_bytes) : "";
  std::vector<std::string> limits;
  for (const auto& [name, value] : checkup.limits) {
    limits.push_back(printable(name) + ' ' + printable(value));
  }
  return "\nMachine\n" + fact("Kernel", list(kernel)) + fact("CPU", list(cpu)) +
         fact("Speed", speed_words(checkup.weather)) + fact("Memory", memory) +
         fact("Mitigations", mitigation_words(identity.mitigations)) +
         fact("Limits", list(limits)) + finding_block(checkup.findings);
}

// "yes" and "no" with the reasons, under each other.
std::string ability_rows(std::string_view label, const std::vector<Checkup::Ability>& abilities) {
  std::size_t width = 0;
  constexpr std::size_t kWidest = 40;
  for (const auto& ability : abilities) {
    width = std::max(width, std::min(kWidest, columns(printable(ability.name))));
  }
  std::string out;
  std::string margin = pad(fmt::format("  {}", label), kColumn);
  for (const auto& [name, works, remark] : abilities) {
    std::string shown = printable(name);
    if (columns(shown) > width) {  // it gets a line of its own
      out += wrap(margin, shown, kColumn, kPage);
      margin = std::string(kColumn, ' ');
      shown.clear();
    }
    const std::string answer =
        fmt::format("{}{}  {}", margin, pad(shown, width), works ? "yes" : "no");
    const std::size_t hanging = kColumn + width + 7;
    out += remark.empty() ? answer + '\n' : indented(pad(answer, hanging), remark, hanging);
    margin = std::string(kColumn, ' ');
  }
  return out;
}

// Dozens of names are read better as a list than as rows.
std::string ability_list(std::string_view label, const std::vector<Checkup::Ability>& abilities) {
  std::vector<std::string> known, unknown;
  for (const auto& [name, works, remark] : abilities) {
    const std::string about = remark.empty() ? "" : " (" + printable(remark) + ')';
    (works ? known : unknown).push_back(printable(name) + about);
  }
  std::string out = fact(label, list(known));
  if (!unknown.empty()) out += fact(out.empty() ? label : "", "not known: " + list(unknown));
  return out;
}

std::string facts_of(const result::Target& target) {
  std::vector<std::string> words = target_facts(target);
  if (target.logical_block_bytes > 0) {
    words.push_back(fmt::format("{} of {} B", target.namespace_id ? "LBA" : "logical block",
                                target.logical_block_bytes));
  }
  if (target.namespace_id) words.push_back(fmt::format("namespace {}", *target.namespace_id));
  if (target.unwritten_bytes) {
    words.push_back(base::format_bytes(*target.unwritten_bytes) + " never written");
  }
  if (target.resolved_path) words.push_back("leads to " + printable(*target.resolved_path));
  if (target.mounted_at) words.push_back("mounted at " + printable(*target.mounted_at));
  std::string out = fact("What", list(words));
  if (!target.device) return out;
  const result::Device& device = *target.device;
  words = {printable(device.partition.value_or(device.name))};
  const auto add = [&](const char* name, const std::optional<std::string>& value) {
    if (value) words.push_back(fmt::format("{} {}", name, printable(*value)));
  };
  add("driver", device.driver);
  add("firmware", device.firmware);
  add("serial", device.serial);
  add("backed by", device.backing_file);
  if (device.poll_queues)
    words.push_back(count_of(static_cast<std::uint64_t>(*device.poll_queues), "poll queue"));
  if (device.numa_node) words.push_back(fmt::format("NUMA node {}", *device.numa_node));
  add("CPUs", device.local_cpus);
  if (device.pci) add("PCI", device.pci->address);
  if (device.pci && device.pci->link_speed && device.pci->link_width) {
    words.push_back(
        fmt::format("{} x{}", printable(*device.pci->link_speed), *device.pci->link_width));
  }
  if (device.temperature_celsius)
    words.push_back(fmt::format("{} °C", *device.temperature_celsius));
  out += fact("Device", list(words));
  words.clear();
  for (const auto& [name, value] : target.queue) {
    words.push_back(printable(name) + ' ' + printable(value));
  }
  return out + fact("Queue", list(words));
}

std::string target_block(const Checkup::TargetCheck& check) {
  std::string out = '\n' + wrap("", printable(check.path), 2, kPage);
  out += check.target ? facts_of(*check.target) : fact("What", "could not be opened: see above");
  return out + ability_rows("Modes", check.modes) + finding_block(check.findings);
}

}  // namespace

std::string checkup(const Checkup& checkup) {
  std::string out = verdict(checkup) + problem_block(checkup) + machine_block(checkup);
  const std::string abilities = ability_rows("Abilities", checkup.kernel) +
                                ability_list("Set-up flags", checkup.setup_flags) +
                                ability_list("Operations", checkup.opcodes);
  if (!abilities.empty()) out += "\nio_uring\n" + abilities;
  for (const Checkup::TargetCheck& check : checkup.targets) out += target_block(check);
  if (checkup.targets.empty())
    out += "\nNo target was looked at. Name files or devices to do so.\n";
  return out;
}

}  // namespace uringbench::report
