// The stats-off verdict, kernel by kernel. Facts per kernel were seen in virtual machines.
#include <gtest/gtest.h>

#include <cerrno>

#include "engine/engine.hpp"

namespace uringbench::engine {
namespace {

constexpr std::uint64_t kKnownBy618 = 0x7ffff;
constexpr std::uint64_t kKnownBy72 = 0x1fffff;

/// A kernel that takes the bit and shows the lines: what most of the tests vary.
StatsOffEvidence evidence() {
  StatsOffEvidence e;
  e.control_has_lines = true;
  e.flagged_has_lines = true;
  return e;
}

bool says(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

void expect_out_of_tree(const StatsOffVerdict& verdict) {
  EXPECT_EQ(verdict.state, SqthreadStats::refused);
  EXPECT_TRUE(says(verdict.explanation, "bit 19")) << verdict.explanation;
  EXPECT_TRUE(says(verdict.explanation, "EINVAL")) << verdict.explanation;
  EXPECT_TRUE(says(verdict.hint, "IORING_SETUP_NO_SQTHREAD_STATS")) << verdict.hint;
  EXPECT_TRUE(says(verdict.hint, "no mainline kernel")) << verdict.hint;
}

TEST(StatsOff, Linux61RefusesAndHasNoLinesAnyway) {
  StatsOffEvidence e = evidence();
  e.setup_error = EINVAL;
  e.control_has_lines = e.flagged_has_lines = false;
  expect_out_of_tree(decide_sqthread_stats(e));
}

TEST(StatsOff, Linux612RefusesAndHasTheLines) {
  StatsOffEvidence e = evidence();
  e.setup_error = EINVAL;
  e.flagged_has_lines = false;
  expect_out_of_tree(decide_sqthread_stats(e));
}

TEST(StatsOff, Linux618RefusesAndSaysWhatItKnows) {
  StatsOffEvidence e = evidence();
  e.setup_error = EINVAL;
  e.flagged_has_lines = false;
  e.known_setup_flags = kKnownBy618;
  expect_out_of_tree(decide_sqthread_stats(e));
}

TEST(StatsOff, Linux7TakesTheBitForSomethingElse) {
  StatsOffEvidence e = evidence();
  e.known_setup_flags = kKnownBy72;
  const StatsOffVerdict verdict = decide_sqthread_stats(e);
  EXPECT_EQ(verdict.state, SqthreadStats::accepted_but_not_off);
  EXPECT_TRUE(says(verdict.explanation, "SQE_MIXED")) << verdict.explanation;
  EXPECT_TRUE(says(verdict.hint, "--sqthread-stats-bit")) << verdict.hint;
  // Another bit with another meaning.
  e.bit = 20;
  EXPECT_TRUE(says(decide_sqthread_stats(e).explanation, "SQ_REWIND"));
  e.bit = 25;
  EXPECT_TRUE(says(decide_sqthread_stats(e).explanation, "something else"));
}

TEST(StatsOff, APatchedKernelIsVerified) {
  StatsOffEvidence e = evidence();
  e.flagged_has_lines = false;
  const StatsOffVerdict verdict = decide_sqthread_stats(e);
  EXPECT_EQ(verdict.state, SqthreadStats::off_verified);
  EXPECT_TRUE(says(verdict.explanation, "bit 19"));
  // Rebased to another bit, on a kernel that can be asked.
  e.bit = 22;
  e.known_setup_flags = kKnownBy72 | 1U << 22;
  EXPECT_EQ(decide_sqthread_stats(e).state, SqthreadStats::off_verified);
}

TEST(StatsOff, APatchedOldKernelProvesNothingWhereTheLinesNeverWere) {
  StatsOffEvidence e = evidence();
  e.control_has_lines = e.flagged_has_lines = false;
  const StatsOffVerdict verdict = decide_sqthread_stats(e);
  EXPECT_EQ(verdict.state, SqthreadStats::accepted_but_not_off);
  EXPECT_TRUE(says(verdict.explanation, "even without it")) << verdict.explanation;
}

TEST(StatsOff, WithoutFdinfoNothingIsProven) {
  StatsOffEvidence e = evidence();
  e.control_has_lines = e.flagged_has_lines = false;
  e.fdinfo_readable = false;
  const StatsOffVerdict verdict = decide_sqthread_stats(e);
  EXPECT_EQ(verdict.state, SqthreadStats::accepted_but_not_off);
  EXPECT_TRUE(says(verdict.explanation, "cannot be read")) << verdict.explanation;
}

TEST(StatsOff, AnotherErrnoIsNotBlamedOnThePatch) {
  StatsOffEvidence e = evidence();
  e.setup_error = ENOMEM;
  const StatsOffVerdict verdict = decide_sqthread_stats(e);
  EXPECT_EQ(verdict.state, SqthreadStats::refused);
  EXPECT_TRUE(says(verdict.explanation, "ENOMEM")) << verdict.explanation;
  EXPECT_FALSE(says(verdict.hint, "patch")) << verdict.hint;
  EXPECT_NE(verdict.hint, "");
}

/// Whatever kernel this runs on: the verdict follows from what the kernel says of its flags.
TEST(StatsOff, OnThisKernel) {
  const StatsOffEvidence e = probe_sqthread_stats(31);
  EXPECT_EQ(e.setup_error, EINVAL) << "no kernel knows bit 31";
  EXPECT_TRUE(e.fdinfo_readable);
  EXPECT_EQ(decide_sqthread_stats(e).state, SqthreadStats::refused);
}

}  // namespace
}  // namespace uringbench::engine
