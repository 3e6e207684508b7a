// Settings of two matched cells that must be equal.
#include <fmt/format.h>

#include <algorithm>

#include "compare/parts.hpp"

namespace uringbench::compare {
namespace {

using result::Settings;

bool is_one_of(std::string_view word, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// They do not change what is measured, or follow from what is compared otherwise.
bool may_differ(std::string_view key) {
  return is_one_of(
      key, {"repeats", "stall_timeout_ns", "allow_errors", "seed", "force", "scratch_bytes",
            "scratch_directory", "features", "fallbacks", "setup_flags", "sq_entries", "cq_entries",
            "registered_regions", "opcode", "nop_looks_up_file", "latency_clock", "restrictions",
            "nodes", "buffer_page_bytes"});
}

std::string key_word(const std::string& key) {
  return key == "runtime_ns" ? "runtime" : key == "warmup_ns" ? "warmup" : canonical_key(key);
}

std::string shown(const std::string& key, const Settings::Value& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number != nullptr && key.ends_with("_ns")) {
    return base::format_duration(static_cast<double>(*number));
  }
  return setting_text(value);
}

const Settings::Value* number_in(const Settings& settings, const std::string& key) {
  const auto* value = settings.find(key);
  return value != nullptr && std::holds_alternative<std::int64_t>(*value) ? value : nullptr;
}

/// A batch that was asked larger than the depth allows and was clamped is the same in force.
bool is_clamped(const std::string& key, const result::Cell& cell) {
  if (!is_one_of(key, {"batch_submit", "batch_complete", "depth"})) return false;
  const auto* asked = number_in(cell.asked, key);
  const auto* granted = number_in(cell.granted, key);
  return asked != nullptr && granted != nullptr &&
         std::get<std::int64_t>(*granted) < std::get<std::int64_t>(*asked);
}

/// Left to us: what was granted counts, and is compared on its own.
bool is_automatic(const Settings::Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr && (*text == "auto" || text->starts_with("local-"));
}

}  // namespace

std::vector<std::string> unlike_settings(const CellRef& a, const CellRef& b,
                                         const std::set<std::string>& varies) {
  std::vector<std::string> unlike;
  std::set<std::string> told;
  const auto tell = [&](const std::string& key, const std::string& left, const std::string& right) {
    if (varies.count(key_word(key)) == 0 && told.insert(key_word(key)).second) {
      unlike.push_back(fmt::format("{} {} vs {}", key_title(key_word(key)), left, right));
    }
  };
  for (const auto& [key, value] : a.cell->asked.entries()) {
    const auto* other = b.cell->asked.find(key);
    if (other == nullptr || value == *other || may_differ(key)) continue;
    if (is_automatic(value) || is_automatic(*other)) continue;
    const auto* granted = a.cell->granted.find(key);
    const auto* other_granted = b.cell->granted.find(key);
    const bool same_in_force =
        granted != nullptr && other_granted != nullptr && *granted == *other_granted;
    if (same_in_force && (is_clamped(key, *a.cell) || is_clamped(key, *b.cell))) continue;
    tell(key, shown(key, value), shown(key, *other));
  }
  for (const auto& [key, value] : a.cell->granted.entries()) {
    const auto* other = b.cell->granted.find(key);
    if (other == nullptr || value == *other || may_differ(key)) continue;
    tell(key, shown(key, value), shown(key, *other));
  }
  const bool ours = result::imported_from(a.source->document).empty() &&
                    result::imported_from(b.source->document).empty();
  const auto* runtime = a.cell->asked.find("runtime_ns");
  const auto* other = b.cell->asked.find("runtime_ns");
  if (ours && (runtime == nullptr) != (other == nullptr)) {
    const auto text = [](const Settings::Value* value) {
      return value == nullptr ? std::string("until Ctrl-C") : shown("runtime_ns", *value);
    };
    tell("runtime_ns", text(runtime), text(other));
  }
  return unlike;
}

}  // namespace uringbench::compare
