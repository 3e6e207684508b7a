#include "report/cell_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>

#include "report/text.hpp"

namespace uringbench::report {
namespace {

using result::Cell;
using Value = result::Settings::Value;

const Value* in_force(const Cell& cell, const std::string& key) {
  const Value* granted = cell.granted.find(key);
  return granted != nullptr ? granted : cell.asked.find(key);
}

struct ValueWords {
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return printable(value); }
  std::string operator()(const std::vector<std::string>& values) const {
    return values.empty() ? "none" : printable(join(values, ", "));
  }
  std::string operator()(const std::vector<std::int64_t>& values) const {
    return values.empty() ? "none" : fmt::format("{}", fmt::join(values, ", "));
  }
};

std::optional<std::uint64_t> as_number(const Value& value) {
  if (const auto* wide = std::get_if<std::uint64_t>(&value)) return *wide;
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

// The unit of a figure per I/O: what it is divided by, and its name.
struct PerIoUnit {
  double nanoseconds;
  const char* name;
  int decimals;
};

PerIoUnit per_io_unit(double nanoseconds) {
  if (nanoseconds < 10) return {1, "ns/IO", 1};
  if (nanoseconds < 999.5) return {1, "ns/IO", 0};
  if (nanoseconds < 999'995) return {1e3, "µs/IO", 2};
  return {1e6, "ms/IO", 2};
}

// How task work runs, where no set-up flag says it already.
std::string taskrun_words(const Cell& cell, const std::vector<std::string>& setup_flags) {
  const auto how = text_in_force(cell, "taskrun");
  const bool said = std::any_of(setup_flags.begin(), setup_flags.end(),
                                [](const std::string& flag) { return flag.ends_with("_TASKRUN"); });
  return !how || *how == "auto" || said ? "" : "task work " + *how;
}

// "on" is what everybody has, and not worth a word.
std::string sqthread_stats_words(const Cell& cell) {
  const auto state = text_in_force(cell, "sqthread_stats");
  if (!state || *state == "on") return "";
  if (*state == "off-verified") return "SQPOLL statistics off (verified)";
  if (*state == "accepted-but-not-off") return "SQPOLL statistics on (flag accepted, no effect)";
  if (*state == "refused") return "SQPOLL statistics on (flag refused)";
  return "SQPOLL statistics " + *state;
}

}  // namespace

std::string value_text(const std::string& key, const Value& value) {
  std::string text = std::visit(ValueWords{}, value);
  const auto number = as_number(value);
  if (number && *number >= 1024 && key.ends_with("_bytes")) {
    text += fmt::format(" ({})", base::format_bytes(*number));
  } else if (number && *number >= 1000 && key.ends_with("_ns")) {
    text += fmt::format(" ({})", base::format_duration(static_cast<double>(*number)));
  }
  return text;
}

std::optional<std::uint64_t> number_in_force(const Cell& cell, const std::string& key) {
  const Value* value = in_force(cell, key);
  return value == nullptr ? std::nullopt : as_number(*value);
}

std::optional<bool> flag_in_force(const Cell& cell, const std::string& key) {
  const Value* value = in_force(cell, key);
  if (value == nullptr) return std::nullopt;
  if (const bool* flag = std::get_if<bool>(value)) return *flag;
  const auto number = as_number(*value);
  return number ? std::optional(*number != 0) : std::nullopt;
}

std::optional<std::string> text_in_force(const Cell& cell, const std::string& key) {
  const Value* value = in_force(cell, key);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? std::nullopt : std::optional(printable(*text));
}

std::vector<std::string> list_in_force(const Cell& cell, const std::string& key) {
  const Value* value = in_force(cell, key);
  std::vector<std::string> words;
  if (value == nullptr) return words;
  if (const auto* texts = std::get_if<std::vector<std::string>>(value)) {
    for (const std::string& text : *texts) words.push_back(printable(text));
  } else if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(value)) {
    for (const std::int64_t number : *numbers) words.push_back(std::to_string(number));
  }
  return words;
}

std::string cell_title(const Cell& cell) {
  std::vector<std::string> parts;
  const bool nop = flag_in_force(cell, "nop").value_or(false);
  const bool random = flag_in_force(cell, "random").value_or(true);
  std::string what = nop ? "nop" : random ? "randread" : "read";
  const auto block_size = number_in_force(cell, "block_size_bytes");
  if (block_size && !nop) what += ' ' + base::format_size(*block_size);
  parts.push_back(what);
  if (const auto depth = number_in_force(cell, "depth")) {
    std::string words = fmt::format("QD{}", *depth);
    const auto submit = number_in_force(cell, "batch_submit");
    const auto complete = number_in_force(cell, "batch_complete");
    if (*depth > 1 && submit && complete) {
      words += fmt::format(" (submit {}, complete {})", *submit, *complete);
    }
    parts.push_back(words);
  }
  if (const auto threads = number_in_force(cell, "threads")) {
    parts.push_back(count_of(*threads, "thread") + (*threads > 1 ? ", each at this depth" : ""));
  }
  const std::string arm = cell.arm ? printable(*cell.arm) + ": " : "";
  // A document that lacks the settings we know still has its canonical name.
  return arm + (parts.size() > 1 ? join(parts, "  ") : printable(cell.id));
}

std::string engine_words(const Cell& cell) {
  std::vector<std::string> words;
  const std::string engine = text_in_force(cell, "engine").value_or("");
  if (!engine.empty()) words.push_back(engine);
  const bool passthrough = flag_in_force(cell, "passthrough").value_or(false);
  if (passthrough) words.push_back("NVMe passthrough");
  if (flag_in_force(cell, "nop").value_or(false)) {
    words.push_back("NOP (no I/O reaches a device)");
  } else {
    const auto polled = flag_in_force(cell, "polled");
    // preadv2 sleeps in the call and aio has interrupts only: their completions were no choice.
    if (polled && (*polled || (engine != "preadv2" && engine != "aio"))) {
      words.push_back(*polled ? "polled" : "interrupt-driven");
    }
    // There is no page cache below a generic device.
    const auto direct = flag_in_force(cell, "direct");
    if (direct && !passthrough) words.push_back(*direct ? "direct" : "buffered (page cache)");
  }
  if (flag_in_force(cell, "fixed_buffers").value_or(false)) words.push_back("fixed buffers");
  if (flag_in_force(cell, "register_files").value_or(false)) words.push_back("registered files");
  if (flag_in_force(cell, "vectored").value_or(false)) words.push_back("vectored");
  const auto page_bytes = number_in_force(cell, "buffer_page_bytes").value_or(0);
  if (page_bytes > 0) words.push_back("huge pages of " + base::format_bytes(page_bytes));
  const std::vector<std::string> nodes = list_in_force(cell, "nodes");
  if (!nodes.empty()) {
    words.push_back((nodes.size() > 1 ? "NUMA nodes " : "NUMA node ") + join(nodes, "+"));
  }
  const std::vector<std::string> flags = list_in_force(cell, "setup_flags");
  words.insert(words.end(), flags.begin(), flags.end());
  if (const std::string how = taskrun_words(cell, flags); !how.empty()) words.push_back(how);
  const std::vector<std::string> permitted = list_in_force(cell, "restrictions");
  if (!permitted.empty()) words.push_back("restricted to " + join(permitted, "+"));
  if (const std::string stats = sqthread_stats_words(cell); !stats.empty()) words.push_back(stats);
  return list(words);
}

std::vector<std::string> adjustments(const Cell& cell) {
  std::vector<std::string> words;
  for (const auto& [key, asked] : cell.asked.entries()) {
    const Value* granted = cell.granted.find(key);
    if (granted == nullptr) continue;
    const std::string before = value_text(key, asked);
    const std::string after = value_text(key, *granted);
    const bool left_to_us = before.starts_with("auto") || before.starts_with("local-");
    if (before == after || left_to_us) continue;
    words.push_back(fmt::format("{} {} -> {}", printable(key), before, after));
  }
  return words;
}

std::vector<std::string> target_facts(const result::Target& target) {
  std::vector<std::string> facts;
  facts.push_back(printable(target.kind));
  facts.push_back(base::format_bytes(target.size_bytes));
  if (target.filesystem) facts.push_back(printable(*target.filesystem));
  if (target.sparse) facts.push_back("sparse");
  if (target.device) {
    facts.push_back(printable(target.device->model.value_or(target.device->name)));
  }
  for (const auto& [name, before] : target.queue_restored) {
    const auto during = target.queue.find(name);
    const std::string now = during == target.queue.end() ? "changed" : printable(during->second);
    facts.push_back(fmt::format("{} {} (was {})", printable(name), now, printable(before)));
  }
  return facts;
}

std::string target_words(const result::Target& target) {
  return fmt::format("{} ({})", cut_front(printable(target.path), 50), list(target_facts(target)));
}

std::string machine_words(const result::Identity& identity) {
  std::vector<std::string> words;
  if (!identity.kernel_release.empty()) {
    words.push_back("Linux " + printable(identity.kernel_release));
  }
  if (!identity.cpu_model.empty()) words.push_back(printable(identity.cpu_model));
  if (identity.cpus_online > 0) {
    words.push_back(count_of(static_cast<std::uint64_t>(identity.cpus_online), "CPU"));
  }
  return join(words, ", ");
}

std::vector<std::pair<std::string, std::vector<std::string>>> finding_codes(
    const std::vector<result::Finding>& findings) {
  std::map<std::string, std::vector<std::string>, std::greater<>> codes;
  for (const result::Finding& finding : findings) {
    auto& known = codes[finding.severity];
    const std::string code = printable(finding.code);
    if (std::find(known.begin(), known.end(), code) == known.end()) known.push_back(code);
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> labelled;
  for (const auto& [severity, names] : codes) {
    labelled.emplace_back(severity == "warning" ? "Warnings"
                          : severity == "info"  ? "Notes"
                                                : printable(severity),
                          names);
  }
  return labelled;
}

std::string cpu_per_io(double nanoseconds) {
  return fmt::format("{} {}", cpu_per_io_bare(nanoseconds, nanoseconds),
                     per_io_unit(nanoseconds).name);
}

std::string cpu_per_io_bare(double nanoseconds, double unit_from) {
  const PerIoUnit unit = per_io_unit(unit_from);
  return fmt::format("{:.{}f}", nanoseconds / unit.nanoseconds, unit.decimals);
}

std::vector<std::string> errno_counts(const result::ErrorTally& errors) {
  std::vector<std::string> words;
  for (const auto& [name, count] : errors.by_errno) {
    words.push_back(fmt::format("{} {}", printable(name), count));
  }
  return words;
}

}  // namespace uringbench::report
