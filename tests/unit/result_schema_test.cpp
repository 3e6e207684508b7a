#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "golden.hpp"
#include "result/result.hpp"
#include "sample_document.hpp"

namespace uringbench::result {
namespace {

using nlohmann::json;
using testing::expect_golden;
using testing::full_document;
using testing::minimal_document;
using testing::sample_cell;
using testing::sample_run;

json parsed(const Document& document) { return json::parse(to_json(document)); }

Document document_of(const Run& run) {
  Document document = minimal_document();
  document.cells = {sample_cell()};
  document.cells[0].runs = {run};
  return document;
}

json run_of(const Run& run) { return parsed(document_of(run))["cells"][0]["runs"][0]; }

TEST(ResultSchema, FullDocument) { expect_golden("result-v1-full.json", to_json(full_document())); }

TEST(ResultSchema, MinimalDocument) {
  expect_golden("result-v1-minimal.json", to_json(minimal_document()));
}

TEST(ResultSchema, TextEndsInOneNewlineAndHasNoTrailingSpaces) {
  const std::string text = to_json(full_document());
  EXPECT_EQ(text.substr(text.size() - 3), "\n}\n");
  EXPECT_EQ(text.find(" \n"), std::string::npos);
}

TEST(ResultSchema, KeysStandInTheOrderOfTheSchema) {
  const auto document = nlohmann::ordered_json::parse(to_json(minimal_document()));
  std::vector<std::string> keys;
  for (const auto& item : document.items()) keys.push_back(item.key());
  const std::vector<std::string> expected{"schema",  "tool",     "session", "environment",
                                          "targets", "findings", "cells"};
  EXPECT_EQ(keys, expected);
}

TEST(ResultSchema, WhatWasNotMeasuredIsAbsent) {
  result::Run run = sample_run(0, 1000);
  run.bytes_per_second.reset();
  run.latency.reset();
  run.steady.reset();
  run.inflight_mean.reset();
  run.inflight_mean_method.reset();
  run.ios_per_submit_call.reset();
  run.ios_per_reap.reset();
  run.cpu.per_io_ns.reset();
  const json value = run_of(run);
  for (const char* key :
       {"bytes_per_second", "latency_ns", "steady", "inflight_mean", "inflight_mean_method",
        "ios_per_submit_call", "ios_per_reap", "block", "position"}) {
    EXPECT_FALSE(value.contains(key)) << key;
  }
  EXPECT_FALSE(value["cpu"].contains("per_io_ns"));
  EXPECT_FALSE(value["threads"][0].contains("cpu"));
  EXPECT_EQ(to_json(document_of(run)).find("null"), std::string::npos);
}

TEST(ResultSchema, ErrorsAreThereWithoutErrors) {
  EXPECT_EQ(run_of(sample_run(0, 1000))["errors"], json::parse(R"({"count":0,"by_errno":{}})"));
}

TEST(ResultSchema, ErrorsNameTheFirst) {
  result::Run run = sample_run(0, 1000);
  run.errors.count = 5;
  run.errors.by_errno = {{"EIO", 5}};
  run.errors.first = ErrorTally::First{"EIO", 1, 4096};
  EXPECT_EQ(run_of(run)["errors"], json::parse(R"({"count":5,"by_errno":{"EIO":5},
                            "first":{"errno":"EIO","target":1,"offset_bytes":4096}})"));
}

TEST(ResultSchema, TextThatIsNoUtf8IsReplacedNotFatal) {
  Document document = minimal_document();
  document.session.argv = {
      "a\xFF"
      "b",
      "\xC3", "µ"};
  Target target;
  target.path = "/tmp/caf\xE9";
  target.kind = "file";
  target.queue = {{"k\xFE", "v"}};
  document.targets = {target};
  const json value = parsed(document);
  EXPECT_EQ(value["session"]["argv"], json({"a\uFFFDb", "\uFFFD", "µ"}));
  EXPECT_EQ(value["targets"][0]["path"], "/tmp/caf\uFFFD");
  EXPECT_TRUE(value["targets"][0]["queue"].contains("k\uFFFD"));
}

TEST(ResultSchema, ControlCharactersAndQuotesSurvive) {
  Document document = minimal_document();
  document.session.label = "a\"b\\c\nd\x01\x1b[31m";
  EXPECT_EQ(parsed(document)["session"]["label"], document.session.label);
}

TEST(ResultSchema, IntegersKeepAllTheirBits) {
  Document document = minimal_document();
  document.session.seed = UINT64_MAX;
  result::Run run = sample_run(0, 1);
  run.ios = UINT64_MAX - 1;
  document.cells = {sample_cell()};
  document.cells[0].runs = {run};
  const json value = parsed(document);
  EXPECT_EQ(value["session"]["seed"].get<std::uint64_t>(), UINT64_MAX);
  EXPECT_EQ(value["cells"][0]["runs"][0]["ios"].get<std::uint64_t>(), UINT64_MAX - 1);
}

TEST(ResultSchema, RealsComeBackExactly) {
  for (const double iops : {0.0, 1.0 / 3.0, 93412.7, 1e-300, 123456789.123456789, 1.7e308}) {
    result::Run run = sample_run(0, 1);
    run.iops = iops;
    EXPECT_EQ(run_of(run)["iops"].get<double>(), iops);
    EXPECT_TRUE(run_of(run)["iops"].is_number_float()) << iops;
  }
}

TEST(ResultSchema, NanAndInfinityNeverAppear) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    result::Run run = sample_run(0, 1000);
    run.inflight_mean = bad;
#ifdef NDEBUG
    EXPECT_FALSE(run_of(run).contains("inflight_mean"));
    EXPECT_EQ(to_json(document_of(run)).find("null"), std::string::npos);
#else
    EXPECT_DEATH(to_json(document_of(run)), "isfinite");
#endif
  }
}

TEST(ResultSchema, HistogramPairsStandOnOneLine) {
  result::Run run = sample_run(0, 1000);
  run.latency->buckets = {{10, 2}, {20, 3}};
  const std::string text = to_json(document_of(run));
  EXPECT_NE(text.find("\n              [10, 2],\n              [20, 3]\n"), std::string::npos)
      << text;
}

TEST(ResultSchema, PercentilesKeepTheirNamesAndOrder) {
  const std::string text = to_json(document_of(sample_run(0, 1000)));
  EXPECT_LT(text.find("\"p50\""), text.find("\"p99\""));
  EXPECT_LT(text.find("\"p99\""), text.find("\"p99.9\""));
  EXPECT_LT(text.find("\"p99.9\""), text.find("\"buckets\""));
}

TEST(ResultSchema, SummaryHasAnIntervalOnlyWithItsCoverage) {
  Document document = minimal_document();
  document.cells = {sample_cell()};
  SummaryFigure figure;
  figure.n = 6;
  figure.median = 2;
  figure.mean = 2.5;
  figure.min = 1;
  figure.max = 4;
  document.cells[0].summary = {{"iops", figure}};
  EXPECT_EQ(parsed(document)["cells"][0]["summary"],
            json::parse(R"({"iops":{"n":6,"median":2.0,"mean":2.5,"min":1.0,"max":4.0}})"));
  document.cells[0].summary[0].second.ci95 = stats::MedianInterval{1, 4, 0.96875};
  document.cells[0].summary[0].second.cv = 0.5;
  EXPECT_EQ(parsed(document)["cells"][0]["summary"],
            json::parse(R"({"iops":{"n":6,"median":2.0,"mean":2.5,"min":1.0,"max":4.0,"cv":0.5,
                            "ci95":[1.0,4.0],"ci95_coverage":0.96875}})"));
}

TEST(Settings, KeepOrderAndTypes) {
  Settings settings;
  settings.set("b", true).set("a", -5).set("c", 7U).set("d", 0.5).set("e", "text");
  settings.set("f", std::vector<std::string>{"x", "y"}).set("g", std::vector<std::int64_t>{1, -2});
  Document document = minimal_document();
  document.cells = {Cell{}};
  document.cells[0].asked = settings;
  const auto value = nlohmann::ordered_json::parse(to_json(document))["cells"][0]["asked"];
  EXPECT_EQ(value.dump(), R"({"b":true,"a":-5,"c":7,"d":0.5,"e":"text","f":["x","y"],"g":[1,-2]})");
}

TEST(Settings, IntegersBecomeTheWidestOfTheirSign) {
  Settings settings;
  settings.set("signed", std::int32_t{-1}).set("unsigned", std::uint32_t{1}).set("flag", false);
  EXPECT_EQ(std::get<std::int64_t>(*settings.find("signed")), -1);
  EXPECT_EQ(std::get<std::uint64_t>(*settings.find("unsigned")), 1U);
  EXPECT_FALSE(std::get<bool>(*settings.find("flag")));
  EXPECT_EQ(settings.find("other"), nullptr);
}

TEST(Settings, AKeyIsSetOnce) {
  Settings settings;
  settings.set("depth", 1);
#ifdef NDEBUG
  settings.set("depth", 2);
  EXPECT_EQ(settings.entries().size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(*settings.find("depth")), 2);
#else
  EXPECT_DEATH(settings.set("depth", 2), "found");
#endif
}

}  // namespace
}  // namespace uringbench::result
