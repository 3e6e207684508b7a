// A comparison as JUnit XML: what a pipeline shows as red must be what the exit code says.
#include <gtest/gtest.h>

#include <pugixml.hpp>

#include "golden.hpp"
#include "report/report.hpp"
#include "sample_comparisons.hpp"
#include "sample_gates.hpp"

namespace uringbench::report {
namespace {

using testing::expect_golden;

pugi::xml_document parsed(const std::string& text) {
  pugi::xml_document document;
  const auto result =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  EXPECT_TRUE(result) << result.description();
  return document;
}

// Counts in the attributes must be those of the elements.
void expect_consistent(const std::string& text) {
  const pugi::xml_document document = parsed(text);
  const pugi::xml_node root = document.child("testsuites");
  ASSERT_TRUE(root);
  std::size_t all = 0;
  for (const pugi::xml_node& suite : root.children("testsuite")) {
    std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
    for (const pugi::xml_node& one : suite.children("testcase")) {
      ++tests;
      failures += one.child("failure") ? 1 : 0;
      errors += one.child("error") ? 1 : 0;
      skipped += one.child("skipped") ? 1 : 0;
      EXPECT_FALSE(std::string(one.attribute("name").value()).empty());
      EXPECT_STREQ(one.attribute("classname").value(), suite.attribute("name").value());
    }
    EXPECT_GT(tests, 0U);
    EXPECT_EQ(suite.attribute("tests").as_uint(), tests);
    EXPECT_EQ(suite.attribute("failures").as_uint(), failures);
    EXPECT_EQ(suite.attribute("errors").as_uint(), errors);
    EXPECT_EQ(suite.attribute("skipped").as_uint(), skipped);
    all += tests;
  }
  EXPECT_EQ(root.attribute("tests").as_uint(), all);
  EXPECT_GT(all, 0U);
}

TEST(ComparisonJunit, PairedBlocks) {
  const std::string text = comparison_junit(testing::paired_blocks());
  expect_golden("comparison/pairs.xml", text);
  expect_consistent(text);
}

TEST(ComparisonJunit, FailedGate) {
  const compare::GateResult gate = testing::failed_gate();
  const std::string text = comparison_junit(testing::broken_pair(), &gate);
  expect_golden("comparison/broken-pair-gate.xml", text);
  expect_consistent(text);
}

TEST(ComparisonJunit, ForgivenIsSkippedAndNotPassed) {
  const compare::GateResult gate = testing::forgiven_gate();
  const std::string text = comparison_junit(testing::two_labels(), &gate);
  expect_golden("comparison/forgiven-gate.xml", text);
  expect_consistent(text);
  const pugi::xml_document document = parsed(text);
  EXPECT_EQ(document.child("testsuites").attribute("failures").as_int(), 0);
  EXPECT_EQ(document.child("testsuites").attribute("skipped").as_int(), 2);
}

TEST(ComparisonJunit, EveryVerdictHasItsColour) {
  const std::vector<std::pair<compare::Verdict, std::string>> kinds{
      {compare::Verdict::not_comparable, "error"}, {compare::Verdict::missing, "error"},
      {compare::Verdict::insufficient, "error"},   {compare::Verdict::regressed, "failure"},
      {compare::Verdict::unknown, "failure"},      {compare::Verdict::improved, "system-out"},
      {compare::Verdict::small, "system-out"},     {compare::Verdict::same, "system-out"}};
  for (const auto& [verdict, element] : kinds) {
    compare::Comparison sample = testing::two_labels();
    sample.cells.resize(1);
    sample.cells[0].metrics[0].contrasts[0].verdict = verdict;
    const std::string text = comparison_junit(sample);
    const pugi::xml_document document = parsed(text);
    const pugi::xml_node one = document.child("testsuites").child("testsuite").child("testcase");
    EXPECT_EQ(one.first_child().name(), element);
  }
}

TEST(ComparisonJunit, NothingMeasuredIsNeverGreen) {
  compare::Comparison sample = testing::task_work_series();
  sample.cells.clear();
  const compare::GateResult gate;
  for (const std::string& text :
       {comparison_junit(sample), comparison_junit(compare::Comparison{}),
        comparison_junit(sample, &gate), comparison_junit(compare::Comparison{}, &gate)}) {
    expect_consistent(text);
    EXPECT_GT(parsed(text).child("testsuites").attribute("errors").as_int(), 0) << text;
  }
}

TEST(ComparisonJunit, WhateverNamesHoldItParses) {
  const compare::GateResult gate = testing::failed_gate();
  for (const auto* decided : {static_cast<const compare::GateResult*>(nullptr), &gate}) {
    const std::string text = comparison_junit(testing::hostile_names(), decided);
    expect_consistent(text);
    for (const char c : text) {
      EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n') << static_cast<int>(c);
    }
    // Neither U+FFFE nor bytes that are no UTF-8 may be in XML.
    EXPECT_EQ(text.find("\xEF\xBF\xBE"), std::string::npos);
    EXPECT_EQ(text.find('\xff'), std::string::npos);
  }
  expect_consistent(comparison_junit(testing::impossible_numbers()));
  expect_consistent(comparison_junit(testing::big_sweep()));
}

}  // namespace
}  // namespace uringbench::report
