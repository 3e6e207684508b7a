// Which set-up flags are asked for, and what is said when the kernel refuses them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "engine/engine.hpp"
#include "engine/kernel_abi.hpp"
#include "engine/ring.hpp"

namespace uringbench::engine {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(RingFlags, SqpollNeverMeetsTaskRunFlags) {
  for (const auto taskrun : {plan::TaskRun::defer, plan::TaskRun::coop, plan::TaskRun::plain}) {
    for (const bool asked : {false, true}) {
      const RingRequest request{
          .entries = 8, .sqpoll = true, .taskrun = taskrun, .taskrun_asked = asked};
      for (const std::uint32_t set : flag_sets(request)) {
        const std::uint32_t flags = set | asked_flags(request);
        EXPECT_EQ(flags & (IORING_SETUP_COOP_TASKRUN | IORING_SETUP_DEFER_TASKRUN), 0U);
        EXPECT_NE(flags & IORING_SETUP_SQPOLL, 0U);
      }
    }
  }
}

TEST(RingFlags, WhatWasAskedIsInEverySet) {
  const RingRequest request{.entries = 8,
                            .polled = true,
                            .hybrid_iopoll = true,
                            .wide = true,
                            .disabled = true,
                            .sqpoll = true,
                            .sqpoll_cpu = 0,
                            .attach_to = 5,
                            .extra_bit = 19};
  EXPECT_EQ(asked_flags(request), IORING_SETUP_IOPOLL | abi::kSetupHybridIopoll |
                                      IORING_SETUP_SQE128 | IORING_SETUP_CQE32 |
                                      IORING_SETUP_R_DISABLED | IORING_SETUP_SQPOLL |
                                      IORING_SETUP_SQ_AFF | IORING_SETUP_ATTACH_WQ | 1U << 19);
}

TEST(RingFlags, ATaskRunThatWasAskedForIsNotNegotiable) {
  RingRequest request{.entries = 8, .taskrun = plan::TaskRun::defer, .taskrun_asked = true};
  EXPECT_EQ(asked_flags(request), IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER);
  request.taskrun = plan::TaskRun::coop;
  EXPECT_EQ(asked_flags(request), std::uint32_t{IORING_SETUP_COOP_TASKRUN});
  request.taskrun = plan::TaskRun::plain;
  EXPECT_EQ(asked_flags(request), 0U);
  for (const std::uint32_t set : flag_sets(request)) {
    EXPECT_EQ(set & ~abi::kSetupNoSqArray, 0U) << "plain is neither of them";
  }
  request.taskrun_asked = false;
  request.taskrun = plan::TaskRun::defer;
  EXPECT_EQ(asked_flags(request), 0U);
  EXPECT_EQ(flag_sets(request).back(), 0U) << "old kernels have none";
}

TEST(RingFlags, GivenByTheKernelAsAsked) {
  using plan::TaskRun;
  const Ring defer({.entries = 8, .taskrun = TaskRun::defer, .taskrun_asked = true});
  EXPECT_TRUE(contains(names_of_setup_flags(defer.setup_flags()), "DEFER_TASKRUN"));
  const Ring coop({.entries = 8, .taskrun = TaskRun::coop, .taskrun_asked = true});
  EXPECT_TRUE(contains(names_of_setup_flags(coop.setup_flags()), "COOP_TASKRUN"));
  EXPECT_FALSE(contains(names_of_setup_flags(coop.setup_flags()), "DEFER_TASKRUN"));
  const Ring plain({.entries = 8, .taskrun = TaskRun::plain, .taskrun_asked = true});
  const auto names = names_of_setup_flags(plain.setup_flags());
  EXPECT_FALSE(contains(names, "COOP_TASKRUN") || contains(names, "DEFER_TASKRUN"));
}

TEST(RingFlags, WideRingsHaveEntriesOfDoubleSize) {
  Ring ring({.entries = 8, .wide = true});
  EXPECT_EQ(reinterpret_cast<std::byte*>(&ring.wide_sqes()[1]) -
                reinterpret_cast<std::byte*>(&ring.wide_sqes()[0]),
            128);
  EXPECT_EQ(reinterpret_cast<const std::byte*>(&ring.wide_cqes()[1]) -
                reinterpret_cast<const std::byte*>(&ring.wide_cqes()[0]),
            32);
  // The last entry is inside the mapping.
  ring.wide_sqes()[7].user_data = 1;
  EXPECT_EQ(ring.wide_cqes()[ring.cq_entries() - 1].res, 0);
}

TEST(RingFlags, ARefusedFlagIsNamed) {
  // Bit 31 means nothing to any kernel.
  try {
    const Ring ring({.entries = 8, .sqpoll = true, .extra_bit = 31});
    FAIL() << "accepted";
  } catch (const base::UserError& error) {
    EXPECT_EQ(error.code(), base::ExitCode::cannot);
    EXPECT_NE(error.problems().front().what.find("bit 31 (--no-sqthread-stats)"), std::string::npos)
        << error.problems().front().what;
    EXPECT_EQ(error.problems().front().what.find("SQPOLL ("), std::string::npos)
        << "what is not to blame is not blamed";
  }
  // Hybrid polling without polling: the former is to blame.
  try {
    const Ring ring({.entries = 8, .hybrid_iopoll = true});
    FAIL() << "accepted";
  } catch (const base::UserError& error) {
    EXPECT_NE(error.problems().front().what.find("HYBRID_IOPOLL (--hybrid-iopoll)"),
              std::string::npos);
  }
}

TEST(RingFlags, WithoutACulpritAllThatWasAskedIsNamed) {
  const RingRequest request{.entries = 8, .polled = true, .sqpoll = true};
  const base::Problem problem = refused_flags(request, {});
  EXPECT_NE(problem.what.find("IOPOLL (-p1)"), std::string::npos) << problem.what;
  EXPECT_NE(problem.what.find("SQPOLL (--sqpoll)"), std::string::npos) << problem.what;
  const base::Problem nothing = refused_flags({.entries = 8}, {});
  EXPECT_NE(nothing.what.find("however plain"), std::string::npos);
  EXPECT_NE(nothing.hint, "");
}

TEST(RingFlags, FlagsThatExcludeEachOtherAreAllNamed) {
  const RingRequest request{.entries = 8, .wide = true, .sqpoll = true, .extra_bit = 19};
  const base::Problem problem =
      refused_flags(request, {.flags = IORING_SETUP_SQE128 | 1U << 19, .exclude_each_other = true});
  EXPECT_NE(problem.what.find("SQE128 (-u1), bit 19 (--no-sqthread-stats) together"),
            std::string::npos)
      << problem.what;
  EXPECT_NE(problem.hint.find("leave one of them out"), std::string::npos) << problem.hint;
  EXPECT_EQ(problem.hint.find("newer kernel"), std::string::npos) << problem.hint;
}

TEST(RingFlags, StatsOffTakesARingOfTwo) {
  // Some kernels know its bit as SQE_MIXED, which a ring of one entry has no room for.
  plan::RunPlan plan;
  plan.depth = 1;
  EXPECT_EQ(ring_request(plan).entries, 1U);
  plan.sqthread_stats_bit = 19;
  EXPECT_EQ(ring_request(plan).entries, 2U);
  plan.depth = 128;
  EXPECT_EQ(ring_request(plan).entries, 128U);
}

TEST(Abilities, OfThisKernel) {
  const KernelAbilities abilities = probe_kernel();
  ASSERT_EQ(abilities.setup_error, 0);
  const auto accepted = [&](const std::string& name) {
    return std::any_of(abilities.setup_flags.begin(), abilities.setup_flags.end(),
                       [&](const auto& flag) { return flag.name == name && flag.accepted; });
  };
  EXPECT_TRUE(accepted("SQPOLL"));
  EXPECT_TRUE(accepted("IOPOLL"));
  EXPECT_TRUE(accepted("R_DISABLED"));
  EXPECT_TRUE(contains(abilities.features, "NODROP"));
  EXPECT_TRUE(std::any_of(abilities.opcodes.begin(), abilities.opcodes.end(),
                          [](const auto& o) { return o.name == "READ_FIXED" && o.accepted; }));
  if (abilities.known_setup_flags) {  // Linux 6.18 and newer answer
    for (const auto& flag : abilities.setup_flags) {
      for (unsigned i = 0; i < 32; ++i) {
        if (names_of_setup_flags(1U << i).front() != flag.name) continue;
        EXPECT_EQ(flag.accepted, (*abilities.known_setup_flags >> i & 1) != 0) << flag.name;
      }
    }
  }
}

}  // namespace
}  // namespace uringbench::engine
