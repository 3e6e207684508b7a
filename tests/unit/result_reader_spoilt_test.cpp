// The reader of documents, given a full document in which one thing is wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reader_support.hpp"
#include "result/result.hpp"
#include "sample_document.hpp"

namespace uringbench::result {
namespace {

using nlohmann::json;
using testing::file_text;
using testing::full_document;
using testing::kNotComparable;
using testing::Refusal;
using testing::refusal_of;

struct Leaf {
  json::json_pointer pointer;
  std::string path;  ///< as messages name it
  json value;
};

void collect(const json& value, const json::json_pointer& pointer, const std::string& path,
             std::vector<Leaf>& leaves) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      const bool plain = key.find(' ') == std::string::npos;
      EXPECT_TRUE(plain) << key;
      collect(member, pointer / key, path.empty() ? key : path + '.' + key, leaves);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); i += std::max<std::size_t>(value.size() - 1, 1)) {
      collect(value[i], pointer / i, path + '[' + std::to_string(i) + ']', leaves);
    }
  } else {
    leaves.push_back({pointer, path, value});
  }
}

/// Without what is there many times: it is spoilt a thousand times.
json shortened() {
  json document = json::parse(to_json(full_document()));
  json& runs = document["cells"][0]["runs"];
  runs = {runs.front(), runs.back()};
  for (json& run : runs) {
    json& buckets = run["latency_ns"]["buckets"];
    buckets = {buckets[0], buckets[1]};
  }
  return document;
}

/// Who reads figures only does not look into the lists in question.
bool in_list_without_figures(const std::string& path) {
  for (const char* list : {".threads[", ".warnings[", ".buckets[", ".pollers["}) {
    if (path.find(list) != std::string::npos) return true;
  }
  return path.find(".runs[1].intervals[") != std::string::npos;
}

void expect_refused(json document, const Leaf& leaf, const json& value) {
  document[leaf.pointer] = value;
  const std::string text = document.dump();
  const bool unseen = in_list_without_figures(leaf.path);
  if (unseen) {
    EXPECT_EQ(refusal_of(text, Detail::figures).what, "");
  }
  const Refusal refusal = unseen ? refusal_of(text, Detail::everything) : refusal_of(text);
  EXPECT_EQ(refusal.code, kNotComparable) << leaf.path << ": " << value;
  EXPECT_TRUE(refusal.what.starts_with("x.json: " + leaf.path + ": ")) << refusal.what;
  EXPECT_FALSE(refusal.hint.empty());
}

TEST(ResultReader, EveryValueOfTheWrongTypeIsNamed) {
  const json document = shortened();
  ASSERT_EQ(refusal_of(document).code, 0);
  std::vector<Leaf> leaves;
  collect(document, json::json_pointer(), "", leaves);
  ASSERT_GT(leaves.size(), 200U);
  for (const Leaf& leaf : leaves) {
    if (leaf.path.starts_with("schema.")) continue;
    const bool setting = leaf.path.find("].asked.") != std::string::npos ||
                         leaf.path.find("].granted.") != std::string::npos;
    if (setting) {
      if (!leaf.path.ends_with(']')) expect_refused(document, leaf, nullptr);
      continue;
    }
    expect_refused(document, leaf, nullptr);
    expect_refused(document, leaf, json::object());
    expect_refused(document, leaf, json::array());
    if (leaf.value.is_number()) {
      expect_refused(document, leaf, "5");
      expect_refused(document, leaf, true);
      if (leaf.path.find("temperature_celsius") == std::string::npos) {
        expect_refused(document, leaf, -1);
      }
      if (leaf.value.is_number_integer()) {
        expect_refused(document, leaf, 0.5);
        expect_refused(document, leaf, 1e30);
      }
    } else {
      expect_refused(document, leaf, 1);
    }
  }
}

TEST(ResultReader, NumbersThatDoNotFitAreNamed) {
  json document = shortened();
  json& run = document["cells"][0]["runs"][0];
  run["index"] = std::uint64_t{1} << 32;
  EXPECT_EQ(refusal_of(document).what,
            "x.json: cells[0].runs[0].index: must be a whole number from 0 to 4294967295, is "
            "4294967296");
  run["index"] = 0;
  run["elapsed_ns"] = std::uint64_t{1} << 63;
  EXPECT_NE(refusal_of(document).what.find("runs[0].elapsed_ns: must be"), std::string::npos);
}

TEST(ResultReader, ListsOfTheWrongShapeAreNamed) {
  const auto with = [](const char* pointer, const json& value) {
    json document = shortened();
    document[json::json_pointer(pointer)] = value;
    return refusal_of(document.dump(), Detail::everything).what;
  };
  EXPECT_EQ(with("/cells/0/runs/0/latency_ns/buckets/0", {1, 2, 3}),
            "x.json: cells[0].runs[0].latency_ns.buckets[0]: must be [lower bound, count], is a "
            "list");
  EXPECT_EQ(with("/cells/0/summary/iops/ci95", {2.0, 1.0}),
            "x.json: cells[0].summary.iops.ci95: must be [low, high], is a list");
  EXPECT_EQ(with("/cells/0/summary/iops/ci95", {2.0}),
            "x.json: cells[0].summary.iops.ci95: must be [low, high], is a list");
  for (const json& list : {json{1, "x"}, json{1.5}, json{nullptr}, json{json::array()},
                           json{std::uint64_t{1} << 63}, json{true}}) {
    EXPECT_TRUE(with("/cells/0/asked/cpus", list).starts_with("x.json: cells[0].asked.cpus: must"))
        << list;
  }
}

TEST(ResultReader, MessagesQuoteLittleAndHarmlessly) {
  json document = shortened();
  document["session"]["seed"] = "\x1b[2J" + std::string(5000, 'x');
  const std::string what = refusal_of(document).what;
  EXPECT_LT(what.size(), 200U);
  EXPECT_EQ(what.find('\x1b'), std::string::npos);
}

/// The part of the schema that describes the value at `pointer`.
const json& described(const json& schema, const json& part) {
  if (!part.contains("$ref")) return part;
  return schema.at(json::json_pointer(part["$ref"].get<std::string>().substr(1)));
}

void expect_what_is_required(const json& schema, const json& part, const json& whole,
                             const json::json_pointer& pointer, std::size_t& checked) {
  const json& here = described(schema, part);
  const json& value = whole.at(pointer);
  if (value.is_array() && here.contains("items") && here["items"].is_object()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      expect_what_is_required(schema, here["items"], whole, pointer / i, checked);
    }
  }
  if (!value.is_object() || !here.contains("properties")) return;
  const auto required = here.value("required", std::vector<std::string>{});
  for (const auto& [key, member] : here["properties"].items()) {
    if (!value.contains(key)) continue;
    expect_what_is_required(schema, member, whole, pointer / key, checked);
    json without = whole;
    without[pointer].erase(key);
    const bool needed = std::find(required.begin(), required.end(), key) != required.end();
    const std::string what = refusal_of(without.dump(), Detail::everything).what;
    const std::string place = (pointer / key).to_string();
    // Conditions (ci95 with its coverage) and percentiles by name are not the reader's business.
    if (key == "ci95_coverage" || (key[0] == 'p' && std::isdigit(key[1]))) continue;
    EXPECT_EQ(!what.empty(), needed) << place << ": " << what;
    ++checked;
  }
}

TEST(ResultReader, NeedsWhatTheSchemaRequires) {
  const auto path =
      std::filesystem::path(TEST_DATA_DIR) / ".." / "docs" / "schema" / "result-v1.schema.json";
  const json schema = json::parse(file_text(path));
  std::size_t checked = 0;
  expect_what_is_required(schema, schema, shortened(), json::json_pointer(), checked);
  EXPECT_GT(checked, 200U);
}

}  // namespace
}  // namespace uringbench::result
