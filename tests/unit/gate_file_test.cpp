// The rules of a gate from a file: what is read, and in which words the rest is refused.
#include <gtest/gtest.h>

#include <string>

#include "compare/compare.hpp"

namespace uringbench::compare {
namespace {

constexpr const char* kSchema = R"("schema": {"name": "uringbench.gate", "version": 1})";

GateFile read(const std::string& members) {
  return read_gate_file(std::string("{") + kSchema + (members.empty() ? "" : ", ") + members + "}",
                        "rules");
}

base::Problem problem(const std::string& text) {
  try {
    read_gate_file(text, "rules");
  } catch (const base::UserError& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    EXPECT_TRUE(error.problems().front().what.starts_with("rules: ")) << text;
    return error.problems().front();
  }
  ADD_FAILURE() << "not refused: " << text;
  return {};
}
base::Problem problem_of(const std::string& members) {
  return problem(std::string("{") + kSchema + ", " + members + "}");
}

TEST(GateFile, OnlyTheSchemaMustBeThere) {
  const GateFile rules = read("");
  EXPECT_TRUE(rules.margins.empty() && rules.metrics.empty() && rules.varies.empty() &&
              rules.filters.empty() && rules.expected.empty() && rules.expect_file.empty());
  EXPECT_FALSE(rules.allow_inconclusive || rules.warn_only || rules.strict_environment);
}

TEST(GateFile, EverythingIsRead) {
  const GateFile rules = read(R"json(
    // one thing after the other
    "margins": {"iops": "2%", "latency_p99_ns": "10%"},
    "cells": [{"match": "qd=1", "margins": {"iops": "5%"}},
              {"match": "*/qd32 randread", "margins": {"p99": "0.5%"}}],
    "metrics": ["bandwidth", "p99"], "varies": ["kernel", "depth"], "filters": ["randread"],
    "expect": ["qd=1", "qd=(4|32)"],
    "allow_inconclusive": true, /* for now */ "warn_only": true, "strict_env": true)json");
  ASSERT_EQ(rules.margins.size(), 4u);
  EXPECT_EQ(rules.margins[0].cells, "");
  EXPECT_EQ(rules.margins[0].metric, "iops");
  EXPECT_DOUBLE_EQ(rules.margins[0].fraction, 0.02);
  EXPECT_EQ(rules.margins[1].metric, "p99") << "the canonical name";
  EXPECT_EQ(rules.margins[2].cells, "qd=1");
  EXPECT_DOUBLE_EQ(rules.margins[2].fraction, 0.05);
  EXPECT_EQ(rules.margins[3].cells, "*/qd32 randread");
  EXPECT_DOUBLE_EQ(rules.margins[3].fraction, 0.005);
  using Texts = std::vector<std::string>;
  EXPECT_EQ(rules.metrics, (Texts{"bw", "p99"}));
  EXPECT_EQ(rules.varies, (Texts{"kernel", "qd"}));
  EXPECT_EQ(rules.filters, (Texts{"randread"}));
  EXPECT_EQ(rules.expected, (Texts{"qd=1", "qd=(4|32)"}));
  EXPECT_TRUE(rules.allow_inconclusive && rules.warn_only && rules.strict_environment);
}

TEST(GateFile, MarginsOfCellsComeAfterThoseOfAllWhereverTheyStand) {
  const GateFile rules =
      read(R"("cells": [{"match": "qd=1", "margins": {"iops": "5%"}}], "margins": {"iops": "2%"})");
  ASSERT_EQ(rules.margins.size(), 2u);
  EXPECT_EQ(rules.margins[1].cells, "qd=1") << "of several that fit the last counts";
}

TEST(GateFile, ExpectMayNameAResult) {
  EXPECT_EQ(read(R"("expect": "base.json")").expect_file, "base.json");
}

TEST(GateFile, UnknownKeysAreRefusedWithTheNearest) {
  EXPECT_EQ(problem_of(R"("margin": {"iops": "2%"})").what, "rules: there is no \"margin\"");
  EXPECT_EQ(problem_of(R"("margin": {"iops": "2%"})").hint, "did you mean margins?");
  EXPECT_EQ(problem_of(R"("cells": [{"mtach": "qd=1", "margins": {}}])").what,
            "rules: cells[0]: there is no \"mtach\"");
  EXPECT_EQ(problem_of(R"("margins": {"iosp": "2%"})").what,
            "rules: margins: there is no metric \"iosp\"");
  EXPECT_EQ(problem_of(R"("margins": {"iosp": "2%"})").hint, "did you mean iops?");
  EXPECT_EQ(problem_of(R"("varies": ["kernl"])").hint, "did you mean kernel?");
  EXPECT_EQ(problem_of(R"("metrics": ["p9O"])").what,
            "rules: metrics[0]: there is no metric \"p9O\"");
}

TEST(GateFile, ImpossibleValuesNameTheirPlace) {
  for (const auto& [members, place] : std::vector<std::pair<const char*, const char*>>{
           {R"("margins": {"iops": 2})", "rules: margins: iops: "},
           {R"("margins": {"iops": "2"})", "rules: margins: "},
           {R"("margins": {"iops": "-2%"})", "rules: margins: "},
           {R"("margins": {"iops": ""})", "rules: margins: iops: "},
           {R"("margins": ["iops=2%"])", "rules: margins: "},
           {R"("margins": null)", "rules: margins: "},
           {R"("cells": {"match": "qd=1"})", "rules: cells: "},
           {R"("cells": [{"match": "qd=1"}])", "rules: cells[0]: needs \"margins\""},
           {R"("cells": [{"margins": {}}])", "rules: cells[0]: needs \"match\""},
           {R"("cells": [{"match": "qd=(1", "margins": {}}])", "rules: cells[0]: match: "},
           {R"("cells": [7])", "rules: cells[0]: "},
           {R"("varies": "kernel")", "rules: varies: "},
           {R"("varies": [1])", "rules: varies[0]: "},
           {R"("filters": [""])", "rules: filters[0]: "},
           {R"("expect": [])", "rules: expect: "},
           {R"("expect": 3)", "rules: expect: "},
           {R"("warn_only": 1)", "rules: warn_only: must be true or false"},
           {R"("strict_env": "yes")", "rules: strict_env: must be true or false"}}) {
    EXPECT_TRUE(problem_of(members).what.starts_with(place))
        << members << ": " << problem_of(members).what;
  }
}

TEST(GateFile, OtherTextIsNoGateFile) {
  for (const std::string text : {"", "{", "[]", "7", "{}", R"({"schema": 1})", R"({"schema": {}})",
                                 R"({"schema": {"name": "uringbench.result", "version": 1}})",
                                 R"({"schema": {"name": "uringbench.gate"}})",
                                 R"({"schema": {"name": "uringbench.gate", "version": 2}})",
                                 R"({"schema": {"name": "uringbench.gate", "version": "1"}})"}) {
    problem(text);
  }
  EXPECT_EQ(problem_of(R"("warn_only": true, "warn_only": false)").what,
            "rules: \"warn_only\" stands there twice");
  EXPECT_EQ(problem(std::string(100'000, '[')).what, "rules: is nested too deeply for a gate file");
}

}  // namespace
}  // namespace uringbench::compare
