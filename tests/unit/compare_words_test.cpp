#include <gtest/gtest.h>

#include "compare_support.hpp"
#include "plan/plan.hpp"

namespace uringbench::compare {
namespace {

using base::UserError;

std::string said(const std::function<void()>& what) {
  try {
    what();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    return error.problems().front().what + " | " + error.problems().front().hint;
  }
  return "nothing";
}

TEST(CompareWords, AreKeysAndValues) {
  const Words words = words_of("randread bs=4096 qd=32 cpus=0-3 queue=scheduler:none");
  ASSERT_EQ(words.size(), 5U);
  EXPECT_EQ(words[0], (std::pair<std::string, std::string>{"rw", "randread"}));
  EXPECT_EQ(words[4].second, "scheduler:none");
  EXPECT_TRUE(words_of("").empty());
}

TEST(CompareWords, PatternsFit) {
  const Words words = words_of("randread bs=4096 qd=32 engine=io_uring queue=scheduler:none");
  for (const char* pattern : {"qd=32",
                              "depth=32",
                              "qd32",
                              "*/qd32",
                              "randread",
                              "rand*",
                              "randread/qd32",
                              "bs=4k",
                              "block-size=4096",
                              "4k",
                              "randread/4k/QD32",
                              "4K",
                              "qd=(1|4|32)",
                              "qd=3?",
                              "rw=randread qd=*",
                              "engine=io_*",
                              "bs4k",
                              "*",
                              "queue=scheduler:none",
                              "batch-submit=*"}) {
    const bool expected = std::string(pattern) != "batch-submit=*";  // is not stated
    EXPECT_EQ(fits(pattern, words), expected) << pattern;
  }
  for (const char* pattern : {"qd=3", "qd=(1|4)", "qd3", "seqread", "randread qd=1", "bs=4", "3",
                              "depth=320", "qd=(32", "engine=aio"}) {
    EXPECT_FALSE(fits(pattern, words)) << pattern;
  }
  // The whole of a cell's id is a pattern of this cell.
  EXPECT_TRUE(fits("randread bs=4096 qd=32 engine=io_uring queue=scheduler:none", words));
}

TEST(CompareWords, ManyStarsEnd) {
  EXPECT_FALSE(fits("*a*a*a*a*a*a*a*a*b", {{"rw", std::string(2000, 'a')}}));
}

TEST(CompareWords, PatternsAreChecked) {
  EXPECT_EQ(said([] { check_pattern("--filter", "rw=randread qd=(1|4|32)"); }), "nothing");
  EXPECT_NE(said([] { check_pattern("--filter", " "); }).find("must not be empty"),
            std::string::npos);
  EXPECT_NE(said([] { check_pattern("--filter", "qd=(1|4"); }).find("do not close"),
            std::string::npos);
  EXPECT_NE(said([] { check_pattern("--filter", "dpeth=4"); }).find("did you mean depth?"),
            std::string::npos);
}

TEST(CompareWords, VariesByAnyName) {
  EXPECT_EQ(parse_varies("depth"), "qd");
  EXPECT_EQ(parse_varies("qd"), "qd");
  EXPECT_EQ(parse_varies("fixed-buffers"), "fixedbufs");
  EXPECT_EQ(parse_varies("no-sqthread-stats"), "sqstats");
  EXPECT_EQ(parse_varies("kernel"), "kernel");
  EXPECT_NE(said([] { parse_varies("kernle"); }).find("did you mean kernel?"), std::string::npos);
  EXPECT_NE(said([] { parse_varies(""); }).find("nothing is called"), std::string::npos);
}

TEST(CompareWords, AreThoseOfThePlan) {
  const Words words = words_of(plan::cell_id(plan::RunPlan{}));
  EXPECT_GT(words.size(), 20U);
  for (const auto& [key, value] : words) EXPECT_EQ(parse_varies(key), key);
}

TEST(CompareMetrics, GoByManyNames) {
  EXPECT_EQ(find_metric("iops")->direction, Direction::higher_is_better);
  EXPECT_EQ(find_metric("bandwidth")->name, "bw");
  EXPECT_EQ(find_metric("cpu_per_io_ns")->name, "cpu");
  const auto tail = find_metric("latency_p99.9_ns");
  ASSERT_TRUE(tail);
  EXPECT_EQ(tail->name, "p99.9");
  EXPECT_DOUBLE_EQ(*tail->percentile, 0.999);
  EXPECT_DOUBLE_EQ(tail->min_effect, 0.10);
  EXPECT_DOUBLE_EQ(find_metric("p99")->min_effect, 0.05);
  EXPECT_DOUBLE_EQ(find_metric("p50")->min_effect, 0.03);
  for (const char* none :
       {"", "p", "p0", "p100", "p-1", "pinf", "iopss", "p99x", "latency_", "pnan"}) {
    EXPECT_FALSE(find_metric(none)) << none;
  }
}

TEST(CompareLimits, AreSharesOfAMetricAndACell) {
  const auto limits = parse_limits("--margin", "iops=2%,p99=10.5%");
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[1].metric, "p99");
  EXPECT_DOUBLE_EQ(limits[1].fraction, 0.105);
  const auto cell = parse_limits("--min-effect", "*/qd1:iops=150%");
  EXPECT_EQ(cell[0].cells, "*/qd1");
  EXPECT_DOUBLE_EQ(cell[0].fraction, 1.5);
  EXPECT_EQ(parse_limits("--margin", "queue=scheduler:none:iops=0%")[0].cells,
            "queue=scheduler:none");
}

TEST(CompareLimits, APatternCountsFromItsEntryOn) {
  const auto limits = parse_limits("--margin", "iops=2%,qd=1:iops=5%,p99=9%,cpus=0,1:iops=3%");
  ASSERT_EQ(limits.size(), 4U);
  EXPECT_EQ(limits[0].cells, "");
  EXPECT_EQ(limits[1].cells, "qd=1");
  EXPECT_EQ(limits[2].cells, "qd=1");
  EXPECT_EQ(limits[2].metric, "p99");
  EXPECT_EQ(limits[3].cells, "cpus=0,1");
}

TEST(CompareLimits, AreRefusedWithACure) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"iops", "no METRIC=SHARE"},       {"", "is empty"},
      {"iops=2%,", "is empty"},          {"iops=2", "write 2%"},
      {"iops=-2%", "0% or more"},        {"iops=x%", "has no number"},
      {"iops=%", "has no number"},       {"iops=inf%", "has no number"},
      {"iops=nan%", "has no number"},    {"iosp=2%", "did you mean iops?"},
      {":iops=2%", "must not be empty"}, {"=2%", "no METRIC=SHARE"},
      {"iops=2%%", "has no number"},     {"iops=1e99%", "has no number"}};
  for (const auto& [text, expected] : cases) {
    EXPECT_NE(said([&] { parse_limits("--margin", text); }).find(expected), std::string::npos)
        << text << ": " << said([&] { parse_limits("--margin", text); });
  }
}

}  // namespace
}  // namespace uringbench::compare
