// A comparison as JSON. The schema itself is applied to the golden documents by pytest.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "golden.hpp"
#include "sample_comparisons.hpp"
#include "sample_gates.hpp"

namespace uringbench::compare {
namespace {

using nlohmann::json;
using testing::expect_golden;

/// Every key used once, and nothing null, NaN or infinite, which would not parse.
json parsed(const std::string& text) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key) {
      EXPECT_TRUE(keys.back().insert(value.get<std::string>()).second) << value;
    }
    EXPECT_FALSE(event == json::parse_event_t::value && value.is_null());
    return true;
  };
  return json::parse(text, watch);
}

TEST(CompareJson, TaskWorkSeries) {
  expect_golden("comparison/comparison-v1-series.json", to_json(testing::task_work_series()));
}

TEST(CompareJson, Full) {
  // What an optional member of the schema is for stands in one document.
  Comparison full = testing::broken_pair();
  full.options.metrics = {"p99"};
  full.options.varies = {"kernel"};
  full.options.filters = {"qd=(1|2)"};
  full.options.min_effects = {{"*/qd1", "iops", 0.02}, {"", "iops", 0.01}};
  full.options.bootstrap_seed = 18446744073709551615U;
  full.metrics.push_back(testing::p99_metric());
  full.same = {"randread 4k"};
  full.notes = {{"one-boot", "each kernel was booted once"}};
  full.cells[0].unstated = {"sqpoll"};
  Contrast& contrast = full.cells[0].metrics[0].contrasts[0];
  contrast.estimate->paired = true;
  contrast.estimate->zeros = 1;
  contrast.estimate->exact = false;
  contrast.estimate->second_opinion = {-0.11, -0.081};
  contrast.runs_needed = 24;
  Contrast one_sided = contrast;
  one_sided.estimate->low.reset();
  one_sided.estimate->paired = false;
  one_sided.thin_tail = true;
  Contrast other_side = one_sided;
  other_side.estimate->low = -0.2;
  other_side.estimate->high.reset();
  full.cells[0].metrics.push_back(
      testing::row(1, 0.05, {testing::figure(9e5, 0.2, 1), testing::figure(9e5, 0.02, 6)},
                   {one_sided}, {other_side}));
  full.geomeans[0].low = -0.11;
  full.geomeans[0].high = -0.08;
  const GateResult gate = testing::failed_gate();
  expect_golden("comparison/comparison-v1-full.json", to_json(full, &gate));
}

TEST(CompareJson, Minimal) {
  expect_golden("comparison/comparison-v1-minimal.json", to_json(Comparison{}));
}

TEST(CompareJson, NumbersOfAContrast) {
  const json root = parsed(to_json(testing::paired_blocks()));
  const json& estimate = root["cells"][2]["metrics"][0]["contrasts"][1]["estimate"];
  EXPECT_EQ(estimate["change"], -0.016);
  EXPECT_EQ(estimate["ci"], json({-0.029, -0.002}));
  EXPECT_EQ(estimate["coverage"], 0.95751953125);
  EXPECT_EQ(estimate["test"], "wilcoxon-signed-rank");
  EXPECT_EQ(estimate["n_from"], 12);
  EXPECT_EQ(root["cells"][2]["metrics"][0]["contrasts"][1]["verdict"], "UNKNOWN");
  EXPECT_EQ(root["cells"][0]["metrics"][0]["contrasts"][0]["verdict"], "SMALL");
  EXPECT_EQ(root["verdicts"]["IMPROVED"], 3);
  EXPECT_EQ(root["verdicts"]["REGRESSED"], 0);
}

TEST(CompareJson, UnboundedSidesAreAbsent) {
  const json root = parsed(to_json(testing::single_runs()));
  const json& estimate = root["cells"][0]["metrics"][0]["contrasts"][0]["estimate"];
  for (const char* key : {"ci", "ci_low", "ci_high"}) EXPECT_FALSE(estimate.contains(key)) << key;
  EXPECT_EQ(root["cells"][0]["metrics"][0]["figures"][0]["within_run_cv"], 0.031);
}

TEST(CompareJson, NumbersThatCannotBeAreAbsent) {
  const json root = parsed(to_json(testing::impossible_numbers()));
  const json& row = root["cells"][0]["metrics"][0];
  EXPECT_FALSE(row["figures"][2].contains("median"));
  EXPECT_FALSE(row["contrasts"][0]["estimate"].contains("change"));
  EXPECT_EQ(row["contrasts"][0]["estimate"]["ci_low"], 0.139);
  EXPECT_EQ(row["figures"][1]["values"].size(), 5U);
}

TEST(CompareJson, WhateverNamesHoldItParses) {
  const GateResult gate = testing::failed_gate();
  parsed(to_json(testing::hostile_names(), &gate));
  EXPECT_EQ(parsed(to_json(testing::big_sweep()))["cells"].size(), 1000U);
}

}  // namespace
}  // namespace uringbench::compare
