// The rules of a gate, read from JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "compare/compare.hpp"

namespace uringbench::compare {
namespace {

using base::ExitCode;
using base::UserError;
using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr std::size_t kMostLevels = 16;

/// A value with its place in the file, so that every refusal can name it.
class Reader {
 public:
  Reader(const Json& json, std::string place) : json_(json), place_(std::move(place)) {}

  [[noreturn]] void refuse(const std::string& what, const std::string& hint = {}) const {
    throw UserError(ExitCode::usage, place_ + ": " + what, hint);
  }
  Reader at(const std::string& key) const { return {json_.at(key), place_ + ": " + key}; }
  bool has(const std::string& key) const { return json_.contains(key); }
  const std::string& place() const { return place_; }
  const Json& json() const { return json_; }

  void require_object(const std::vector<std::string>& known = {}) const {
    if (!json_.is_object()) refuse("must be an object");
    for (const auto& [key, value] : json_.items()) {
      if (known.empty() || std::find(known.begin(), known.end(), key) != known.end()) continue;
      const auto near = base::nearest(key, known, 2);
      refuse(fmt::format("there is no \"{}\"", key),
             near ? "did you mean " + *near + "?"
                  : fmt::format("there are {}", fmt::join(known, ", ")));
    }
  }
  std::string text() const {
    if (!json_.is_string() || json_.get_ref<const std::string&>().empty()) {
      refuse("must be a text that is not empty");
    }
    return json_.get<std::string>();
  }
  bool flag() const {
    if (!json_.is_boolean()) refuse("must be true or false");
    return json_.get<bool>();
  }
  /// What `read` makes of each element, and of its place.
  template <class Read>
  void each(Read read) const {
    if (!json_.is_array()) refuse("must be a list");
    for (std::size_t i = 0; i < json_.size(); ++i) {
      read(Reader(json_[i], fmt::format("{}[{}]", place_, i)));
    }
  }

 private:
  const Json& json_;
  std::string place_;
};

/// Refuses what a reader would be misled by: a key that stands twice has one value that counts for
/// nothing.
Json parse(const std::string& text, const std::string& name) {
  std::vector<std::set<std::string>> keys;
  const auto look = [&](int depth, Json::parse_event_t event, Json& value) {
    if (static_cast<std::size_t>(depth) > kMostLevels) {
      throw UserError(ExitCode::usage, name + ": is nested too deeply for a gate file");
    }
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      throw UserError(ExitCode::usage,
                      fmt::format("{}: \"{}\" stands there twice", name, value.get<std::string>()));
    }
    return true;
  };
  try {
    return Json::parse(text, look, true, /*ignore_comments=*/true);
  } catch (const Json::parse_error& error) {
    throw UserError(ExitCode::usage, fmt::format("{}: is no JSON (near byte {})", name, error.byte),
                    "the man page shows a gate file");
  }
}

void check_schema(const Reader& file) {
  if (!file.has("schema")) {
    file.refuse("is no gate file: it has no schema",
                R"(begin with "schema": {"name": "uringbench.gate", "version": 1})");
  }
  const Reader schema = file.at("schema");
  schema.require_object({"name", "version"});
  if (!schema.has("name") || schema.at("name").json() != "uringbench.gate") {
    schema.refuse("must have the name uringbench.gate");
  }
  if (!schema.has("version") || schema.at("version").json() != kVersion) {
    schema.refuse(fmt::format("must have the version {}", kVersion),
                  "a newer version needs a newer uringbench");
  }
}

std::string metric_name(const Reader& reader, const std::string& name) {
  if (const auto metric = find_metric(name)) return metric->name;
  const auto near = base::nearest(name, metric_names(), 2);
  reader.refuse(fmt::format("there is no metric \"{}\"", name),
                near ? "did you mean " + *near + "?"
                     : fmt::format("there are {}", fmt::join(metric_names(), ", ")));
}

void read_margins(const Reader& margins, const std::string& cells, std::vector<Limit>& all) {
  margins.require_object();
  for (const auto& [key, value] : margins.json().items()) {
    const std::string metric = metric_name(margins, key);
    const Reader entry = margins.at(key);
    if (!value.is_string()) entry.refuse("must be a text with a unit", "write e.g. \"2%\"");
    for (Limit& limit : parse_limits(margins.place(), metric + "=" + entry.text())) {
      limit.cells = cells;
      all.push_back(std::move(limit));
    }
  }
}

std::string pattern(const Reader& reader) {
  check_pattern(reader.place(), reader.text());
  return reader.text();
}

std::string varied_key(const Reader& reader) {
  try {
    return parse_varies(reader.text());
  } catch (const UserError& error) {
    reader.refuse(error.problems().front().what, error.problems().front().hint);
  }
}

void read_expected(const Reader& expect, GateFile& rules) {
  if (expect.json().is_string()) {
    rules.expect_file = expect.text();
    return;
  }
  expect.each([&](const Reader& one) { rules.expected.push_back(pattern(one)); });
  if (rules.expected.empty()) expect.refuse("must not be empty", "leave it out");
}

}  // namespace

GateFile read_gate_file(const std::string& text, const std::string& name) {
  const Json json = parse(text, name);
  const Reader file(json, name);
  file.require_object({"schema", "margins", "cells", "metrics", "varies", "filters", "expect",
                       "allow_inconclusive", "warn_only", "strict_env"});
  check_schema(file);
  GateFile rules;
  if (file.has("margins")) read_margins(file.at("margins"), "", rules.margins);
  if (file.has("cells")) {
    file.at("cells").each([&](const Reader& cell) {
      cell.require_object({"match", "margins"});
      for (const char* key : {"match", "margins"}) {
        if (!cell.has(key)) cell.refuse(fmt::format("needs \"{}\"", key));
      }
      read_margins(cell.at("margins"), pattern(cell.at("match")), rules.margins);
    });
  }
  if (file.has("metrics")) {
    file.at("metrics").each(
        [&](const Reader& one) { rules.metrics.push_back(metric_name(one, one.text())); });
  }
  if (file.has("varies")) {
    file.at("varies").each([&](const Reader& one) { rules.varies.push_back(varied_key(one)); });
  }
  if (file.has("filters")) {
    file.at("filters").each([&](const Reader& one) { rules.filters.push_back(pattern(one)); });
  }
  if (file.has("expect")) read_expected(file.at("expect"), rules);
  const auto read_flag = [&](const char* key, bool& to) {
    if (file.has(key)) to = file.at(key).flag();
  };
  read_flag("allow_inconclusive", rules.allow_inconclusive);
  read_flag("warn_only", rules.warn_only);
  read_flag("strict_env", rules.strict_environment);
  return rules;
}

}  // namespace uringbench::compare
