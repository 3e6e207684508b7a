// The plan on paper: what would be done, to what, and what is wrong with it.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/cell_view.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace uringbench::report {
namespace {

std::string settings_table(const result::Cell& cell) {
  std::vector<std::array<std::string, 3>> rows{{"setting", "asked", "will be"}};
  for (const auto& [key, asked] : cell.asked.entries()) {
    const auto* granted = cell.granted.find(key);
    rows.push_back({printable(key), value_text(key, asked),
                    value_text(key, granted != nullptr ? *granted : asked)});
  }
  for (const auto& [key, granted] : cell.granted.entries()) {
    if (cell.asked.find(key) == nullptr) {
      rows.push_back({printable(key), "-", value_text(key, granted)});
    }
  }
  std::size_t key_width = 0, asked_width = 0;
  constexpr std::size_t kWidest = 26;  // two of these leave a third of the page for the last column
  for (const auto& [key, asked, granted] : rows) {
    key_width = std::max(key_width, std::min(kWidest, columns(key)));
    asked_width = std::max(asked_width, std::min(kWidest, columns(asked)));
  }
  std::string out;
  for (const auto& [key, asked, granted] : rows) {
    const std::string start = fmt::format("  {}  ", pad(key, key_width));
    const std::string prefix = start + pad(asked, asked_width) + "  ";
    const std::size_t hanging = 2 + key_width + 2 + asked_width + 2;
    // A long value of what was asked pushes the other one to the next line.
    const bool fits = columns(prefix) <= hanging;
    out += fits ? wrap(prefix, granted, hanging)
                : wrap(start, asked, 2 + key_width + 2) +
                      wrap(std::string(hanging, ' '), granted, hanging);
  }
  return out;
}

std::string target_rows(const result::Target& target) {
  std::string out = row("Target", target_words(target));
  if (target.resolved_path) out += row("", "leads to " + printable(*target.resolved_path));
  if (target.mounted_at) out += row("", "mounted at " + printable(*target.mounted_at));
  std::vector<std::string> facts;
  if (target.logical_block_bytes > 0) {
    facts.push_back(fmt::format("logical block {} B", target.logical_block_bytes));
  }
  if (target.device) {
    const auto& device = *target.device;
    facts.push_back("device " + printable(device.partition.value_or(device.name)));
    if (device.driver) facts.push_back("driver " + printable(*device.driver));
    if (device.firmware) facts.push_back("firmware " + printable(*device.firmware));
    if (device.numa_node) facts.push_back(fmt::format("node {}", *device.numa_node));
    if (device.poll_queues) facts.push_back(fmt::format("poll_queues {}", *device.poll_queues));
  }
  for (const auto& [name, value] : target.queue) {
    facts.push_back(printable(name) + ' ' + printable(value));
  }
  return facts.empty() ? out : out + row("", list(facts));
}

}  // namespace

std::string dry_run(const result::Document& document) {
  std::string out = "Dry run: nothing is measured.\n";
  for (const result::Cell& cell : document.cells) {
    out += '\n' + wrap("", cell_title(cell), 2) + settings_table(cell);
  }
  if (!document.targets.empty()) out += '\n';
  for (const result::Target& target : document.targets) out += target_rows(target);
  if (!document.findings.empty()) out += '\n';
  for (const result::Finding& item : document.findings) out += finding(item);
  return out;
}

}  // namespace uringbench::report
