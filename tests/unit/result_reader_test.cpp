#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "reader_support.hpp"
#include "result/result.hpp"
#include "sample_document.hpp"

namespace uringbench::result {
namespace {

using base::ExitCode;
using base::UserError;
using nlohmann::json;
using testing::file_text;
using testing::full_document;
using testing::kNotComparable;
using testing::kUnreadable;
using testing::minimal_document;
using testing::Refusal;
using testing::refusal_of;
using testing::six_run_document;

std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(TEST_DATA_DIR) / "golden" / name;
}

TEST(ResultReader, WhatItReadsIsWhatWasWritten) {
  for (const Document& document : {minimal_document(), six_run_document(), full_document()}) {
    const std::string text = to_json(document);
    EXPECT_EQ(to_json(from_json(text, "x.json")), text);
  }
}

TEST(ResultReader, GoldenDocumentsStayReadable) {
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden(""))) {
    if (!entry.path().filename().string().starts_with("result-v")) continue;
    const std::string text = file_text(entry.path());
    EXPECT_EQ(to_json(load(entry.path())), text) << entry.path();
    ++seen;
  }
  EXPECT_GE(seen, 2U);
}

/// What reading figures only leaves of a document.
Document figures_of(Document document) {
  for (Cell& cell : document.cells) {
    for (Run& run : cell.runs) {
      run.threads.clear();
      run.warnings.clear();
      if (cell.runs.size() > 1) run.intervals.clear();
      if (run.latency) run.latency->buckets.clear();
      if (run.sqpoll) run.sqpoll->pollers.clear();
    }
  }
  return document;
}

TEST(ResultReader, FiguresAreEverythingButLongLists) {
  Document single = full_document();
  single.cells[0].runs.resize(1);
  ASSERT_FALSE(single.cells[0].runs[0].intervals.empty());
  Document several = full_document();
  several.cells.push_back(several.cells[0]);
  ASSERT_GT(several.cells[0].runs.size(), 2U);
  several.cells[0].runs[1].sqpoll = testing::sample_sqpoll();
  several.cells[0].runs[1].sqpoll->pollers.resize(2);
  for (const Document& document : {minimal_document(), six_run_document(), single, several}) {
    const Document read = from_json(to_json(document), "x.json", Detail::figures);
    EXPECT_EQ(to_json(read), to_json(figures_of(document)));
  }
}

TEST(ResultReader, WhatIsNotLookedAtIsJsonAllTheSame) {
  const auto with = [](const std::string& threads) {
    return refusal_of(R"({"cells": [{"runs": [{"threads": )" + threads + "}]}]}");
  };
  EXPECT_EQ(with(R"([7, {"a": [{"b": 1, "c": 2, "b": 3}]}])").what,
            "x.json: cells[0].runs[0].threads[1].a[0].b: stands there twice");
  EXPECT_EQ(with("[[1, 2], [NaN]]").what,
            "x.json: cells[0].runs[0].threads[1][0]: is not a finite number");
  EXPECT_EQ(
      with("[[1, 2], [3 4]]").what,
      "x.json: is not JSON: line 1, column 46 cannot be read (cells[0].runs[0].threads[1][1])");
  EXPECT_EQ(with(std::string(70, '[')).what,
            "x.json: is no result of uringbench: it is nested more than 64 deep");
  std::string many = "[{\"0\": 0";
  for (int i = 1; i < 2000; ++i) many += ", \"" + std::to_string(i) + "\": 0";
  EXPECT_NE(with(many).what.find("more than 1000 members"), std::string::npos);
  std::string tiny = "[";
  while (tiny.size() < 1'000'000) tiny += "[],";
  EXPECT_NE(with(tiny).what.find("very many very small values"), std::string::npos);
  EXPECT_EQ(with("[").code, kUnreadable);
}

TEST(ResultReader, TheFirstFaultIsToldInTheOrderOfTheDocument) {
  // Cells are taken before the rest has been read, whatever stands first.
  json document = json::parse(to_json(six_run_document()));
  document["cells"][0]["runs"][3]["ios"] = -1;
  document["cells"].push_back(7);
  EXPECT_EQ(refusal_of(document).what,
            "x.json: cells[0].runs[3].ios: must be a whole number from 0 to "
            "18446744073709551615, is -1");
  document["cells"].erase(0);
  EXPECT_EQ(refusal_of(document).what, "x.json: cells[0]: must be an object, is 7");
  document["tool"].erase("version");
  EXPECT_EQ(refusal_of(document).what, "x.json: tool.version: is missing");
  document["cells"] = "none";
  document["tool"]["version"] = "0.1.0";
  EXPECT_EQ(refusal_of(document).what, "x.json: cells: must be a list, is \"none\"");
  document.erase("cells");
  EXPECT_EQ(refusal_of(document).what, "x.json: cells: is missing");
}

TEST(ResultReader, SettingsKeepOrderTypesAndValues) {
  Document document = minimal_document();
  document.cells = {Cell{}};
  Settings& asked = document.cells[0].asked;
  asked.set("z", true).set("a", -5).set("m", UINT64_MAX).set("real", 2.0).set("text", "auto");
  asked.set("texts", std::vector<std::string>{"x", "y"}).set("none", std::vector<std::string>{});
  asked.set("numbers", std::vector<std::int64_t>{-1, 3}).set("count", 7U);
  const Document back = from_json(to_json(document), "x.json");
  const Settings& read = back.cells[0].asked;
  EXPECT_EQ(read.entries().size(), asked.entries().size());
  for (std::size_t i = 0; i < asked.entries().size(); ++i) {
    EXPECT_EQ(read.entries()[i].first, asked.entries()[i].first);
    if (asked.entries()[i].first == "count") continue;
    EXPECT_EQ(read.entries()[i].second, asked.entries()[i].second) << asked.entries()[i].first;
  }
  // JSON does not tell signed from unsigned: what fits is signed.
  EXPECT_EQ(*read.find("count"), Settings::Value(std::int64_t{7}));
}

TEST(ResultReader, IntegersKeepAllTheirBits) {
  Document document = full_document();
  document.session.seed = UINT64_MAX;
  document.cells[0].runs[0].ios = UINT64_MAX - 1;
  document.cells[0].runs[0].elapsed_ns = INT64_MAX;
  const Document back = from_json(to_json(document), "x.json");
  EXPECT_EQ(back.session.seed, UINT64_MAX);
  EXPECT_EQ(back.cells[0].runs[0].ios, UINT64_MAX - 1);
  EXPECT_EQ(back.cells[0].runs[0].elapsed_ns, INT64_MAX);
}

TEST(ResultReader, TemperaturesMayBeBelowZero) {
  Document document = full_document();
  document.targets[0].device->temperature_celsius = -40;
  document.weather.temperature_celsius = {{"outside", -12.5}};
  const Document back = from_json(to_json(document), "x.json");
  EXPECT_EQ(back.targets[0].device->temperature_celsius, -40);
  EXPECT_EQ(back.weather.temperature_celsius.at("outside"), -12.5);
}

TEST(ResultReader, WholeNumbersDoForReals) {
  json document = json::parse(to_json(six_run_document()));
  document["cells"][0]["runs"][0]["iops"] = 154120;
  EXPECT_EQ(from_json(document.dump(), "x.json").cells[0].runs[0].iops, 154120.0);
}

/// Into every object whose keys are the schema's; returns into how many.
std::size_t add_unheard_of(nlohmann::ordered_json& value) {
  std::size_t added = 0;
  for (auto& [key, member] : value.items()) {
    const bool free_form = key == "asked" || key == "granted" || key == "mitigations" ||
                           key == "smt" || key == "temperature_celsius" || key == "queue" ||
                           key == "queue_restored" || key == "by_errno";
    if (member.is_structured() && !free_form) added += add_unheard_of(member);
  }
  if (!value.is_object()) return added;
  value["unheard_of"] = nlohmann::ordered_json::parse(R"({"deep": [null, {"x": -1}]})");
  return added + 1;
}

TEST(ResultReader, UnknownKeysAreIgnored) {
  const std::string plain = to_json(full_document());
  auto document = nlohmann::ordered_json::parse(plain);
  EXPECT_GT(add_unheard_of(document), 40U);
  EXPECT_EQ(to_json(from_json(document.dump(), "x.json")), plain);
}

TEST(ResultReader, TheSchemaComesFirst) {
  json document = json::parse(to_json(minimal_document()));
  document.erase("tool");
  json other = document;
  other["schema"] = {{"name", "uringbench.doctor"}, {"version", 1}};
  EXPECT_EQ(refusal_of(other).code, kNotComparable);
  EXPECT_EQ(refusal_of(other).what,
            "x.json: is a document of the kind uringbench.doctor, not a result");
  other["schema"]["name"] = "another";
  EXPECT_EQ(refusal_of(other).what,
            "x.json: schema.name: must be \"uringbench.result\", is \"another\"");
  json newer = document;
  newer["schema"]["version"] = 7;
  EXPECT_EQ(refusal_of(newer).code, kNotComparable);
  EXPECT_EQ(refusal_of(newer).what,
            "x.json: was written by a newer uringbench (schema version 7, this program knows 1)");
  EXPECT_FALSE(refusal_of(newer).hint.empty());
  const json fio = {{"fio version", "fio-3.33"}, {"jobs", json::array()}};
  EXPECT_EQ(refusal_of(fio).code, kNotComparable);
  EXPECT_EQ(refusal_of(fio).what, "x.json: is a result of fio, not of uringbench");
}

TEST(ResultReader, OtherDocumentsAreNone) {
  for (const char* text :
       {"{}", "[]", "42", "null", "\"schema\"", R"({"schema": 1})", R"({"schema": {}})",
        R"({"schema": {"name": 1, "version": 1}})", R"([{"schema": {"name": "x"}}])"}) {
    EXPECT_EQ(refusal_of(std::string(text)).code, kNotComparable) << text;
    EXPECT_EQ(refusal_of(std::string(text)).what,
              "x.json: is no result of uringbench: it is JSON, but has no schema.name");
  }
}

TEST(ResultReader, VersionsAreCountedFromOne) {
  json document = json::parse(to_json(minimal_document()));
  for (const json& version : {json(0), json(-1), json("1"), json(1.5), json(nullptr)}) {
    document["schema"]["version"] = version;
    EXPECT_EQ(refusal_of(document).code, kNotComparable) << version;
    EXPECT_NE(refusal_of(document).what.find("schema.version"), std::string::npos) << version;
  }
  document["schema"].erase("version");
  EXPECT_EQ(refusal_of(document).what, "x.json: schema.version: is missing");
}

TEST(ResultReader, WhatIsNoJson) {
  EXPECT_EQ(refusal_of(std::string()).what, "x.json: is empty");
  EXPECT_EQ(refusal_of(std::string(" \n\t\r\n")).what, "x.json: is empty");
  EXPECT_EQ(refusal_of(std::string("IOPS=1.2M, BW=4.6GiB/s\n")).what,
            "x.json: is not JSON: line 1, column 1 cannot be read");
  EXPECT_EQ(refusal_of(std::string("{\n  \"schema\": }")).what,
            "x.json: is not JSON: line 2, column 13 cannot be read (schema)");
  EXPECT_EQ(refusal_of(std::string("{\"a\": \"caf\xE9\"}")).code, kUnreadable);
  EXPECT_EQ(refusal_of(to_json(minimal_document()) + "{}").code, kUnreadable);
  EXPECT_EQ(refusal_of(std::string("\0\0\0", 3)).code, kUnreadable);
}

TEST(ResultReader, WhatWasCutOff) {
  const std::string text = to_json(six_run_document());
  const std::string whole = text.substr(0, text.size() - 1);  // without the last newline
  EXPECT_EQ(refusal_of(whole).code, 0);
  for (std::size_t size = 1; size < whole.size(); size += size < 600 ? 1 : 997) {
    const Refusal refusal = refusal_of(whole.substr(0, size));
    EXPECT_EQ(refusal.code, kUnreadable) << size;
    EXPECT_TRUE(refusal.what.starts_with("x.json: is not complete: it ends in the middle"))
        << refusal.what;
  }
  EXPECT_EQ(refusal_of(R"({"cells": [{}, {"id": )").what,
            "x.json: is not complete: it ends in the middle (cells[1].id)");
}

TEST(ResultReader, KeysStandOnce) {
  EXPECT_EQ(refusal_of(R"({"a": {"b": [{"p50": 1, "p99": 2, "p50": 3}]}})").what,
            "x.json: a.b[0].p50: stands there twice");
  EXPECT_EQ(refusal_of(R"({"a": 1, "a": 1})").code, kNotComparable);
  EXPECT_EQ(refusal_of(R"({"\u001b[31m": 1, "\u001b[31m": 1})").what,
            "x.json: [\"\\u001b[31m\"]: stands there twice");
}

TEST(ResultReader, NumbersThatAreNone) {
  const std::string text = to_json(six_run_document());
  for (const char* number : {"NaN", "Infinity", "-Infinity", "1e999", "-1e999"}) {
    std::string spoilt = text;
    const std::string key = "\"iops\": 154120.0";
    spoilt.replace(spoilt.find(key), key.size(), std::string("\"iops\": ") + number);
    EXPECT_EQ(refusal_of(spoilt).code, kNotComparable) << number;
    EXPECT_EQ(refusal_of(spoilt).what, "x.json: cells[0].runs[0].iops: is not a finite number");
  }
}

TEST(ResultReader, DeepNestingIsRefusedBeforeItHurts) {
  for (const std::string piece : {"[", "{\"a\":", "[{\"a\":"}) {
    std::string text;
    while (text.size() < 1'000'000) text += piece;
    const Refusal refusal = refusal_of(text);
    EXPECT_EQ(refusal.code, kUnreadable);
    EXPECT_EQ(refusal.what, "x.json: is no result of uringbench: it is nested more than 64 deep");
  }
  // As deep as is allowed, and closed again.
  const std::string deep = std::string(64, '[') + std::string(64, ']');
  EXPECT_EQ(refusal_of(deep).code, kNotComparable);
}

TEST(ResultReader, TextThatWouldBurstMemoryIsRefused) {
  for (const std::string piece : {"\"\",", "[],", "[[0]],", "[[],[],[]],"}) {
    std::string text = "{\"argv\": [";
    while (text.size() < 1'000'000) text += piece;
    const Refusal refusal = refusal_of(text);
    EXPECT_EQ(refusal.code, kUnreadable) << piece;
    EXPECT_TRUE(refusal.what.starts_with(
        "x.json: is no result of uringbench: it is made of very many very small values (argv["))
        << refusal.what;
  }
}

TEST(ResultReader, ObjectsOfManyMembersAreNoResults) {
  std::string text = "{\"a\": {";
  for (int i = 0; i < 200'000; ++i) text += '"' + std::to_string(i) + "\":0,";
  const Refusal refusal = refusal_of(text);
  EXPECT_EQ(refusal.code, kUnreadable);
  EXPECT_NE(refusal.what.find("more than 1000 members"), std::string::npos) << refusal.what;
}

class ResultLoad : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ub-load-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(ResultLoad, ReadsAFile) {
  const std::string path = folder_ / "out.json";
  save_atomically(path, to_json(full_document()));
  EXPECT_EQ(to_json(load(path)), to_json(full_document()));
}

TEST_F(ResultLoad, NamesTheFileThatCannotBeRead) {
  for (const std::string& path : {(folder_ / "gone.json").string(), folder_.string()}) {
    try {
      load(path);
      FAIL() << path;
    } catch (const base::SystemError& error) {
      EXPECT_EQ(error.problem().code, ExitCode::internal);
      EXPECT_TRUE(error.problem().what.starts_with(path)) << error.problem().what;
    }
  }
}

TEST_F(ResultLoad, NamesTheFileThatIsNoResult) {
  const std::string path = folder_ / "empty.json";
  std::ofstream(path).close();
  try {
    load(path);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.problems().front().what, path + ": is empty");
  }
}

TEST_F(ResultLoad, EndlessFilesEnd) {
  const std::string path = folder_ / "large.json";
  std::ofstream(path).close();
  ASSERT_EQ(::truncate(path.c_str(), (off_t{512} << 20) + 1), 0);  // sparse
  EXPECT_THROW(load(path), UserError);
}

}  // namespace
}  // namespace uringbench::result
