// What make_plan settles; what it refuses is in plan_rules_test.cpp.
#include "plan/plan.hpp"

#include <gtest/gtest.h>

#include "plan_fixture.hpp"

namespace uringbench::plan {
namespace {

using namespace testing;
using Notes = std::vector<std::string>;

TEST(Plan, TakesDefaultsAsTheyAre) {
  const RunPlan plan = plan_of(reading({file_of(64 * kMiB)}), {file_of(64 * kMiB)});
  EXPECT_EQ(plan.engine, Engine::io_uring);
  EXPECT_EQ(plan.depth, 128U);
  EXPECT_EQ(plan.batch_submit, 32U);
  EXPECT_EQ(plan.batch_complete, 32U);
  EXPECT_EQ(plan.block_size_bytes, 4096U);
  EXPECT_TRUE(plan.fixed_buffers && plan.register_files && plan.register_ring && plan.direct);
  EXPECT_TRUE(plan.random);
  EXPECT_FALSE(plan.polled || plan.nop || plan.nop_with_file || plan.vectored || plan.latency);
  EXPECT_EQ(plan.runtime_ns, 0) << "until stopped";
  EXPECT_EQ(plan.repeats, 1U);
  EXPECT_EQ(plan.stall_timeout_ns, 10'000'000'000);
  EXPECT_EQ(plan.seed, 7U);
  EXPECT_EQ(plan.slots_per_region, 128U);
  EXPECT_EQ(plan.buffer_bytes_per_thread, 524288U);
  ASSERT_EQ(plan.targets.size(), 1U);
  EXPECT_EQ(plan.targets[0].path, "f1");
  EXPECT_EQ(plan.targets[0].blocks, 16384U);
  ASSERT_EQ(plan.threads.size(), 1U);
  EXPECT_EQ(plan.threads[0].cpu, -1);
  EXPECT_EQ(plan.threads[0].targets, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(plan.notes, Notes{});
}

TEST(Plan, PrefersTheGivenSeed) {
  Options options = reading({file_of(kMiB)});
  options.seed = 0;
  EXPECT_EQ(plan_of(options, {file_of(kMiB)}).seed, 0U);
}

TEST(Plan, ClampsBatchesToDepthAndSaysSoWhenTheyWereGiven) {
  Options options = reading({file_of(kMiB)});
  options.depth = 8;
  options.batch_submit = 64;
  options.batch_complete = 65;
  give(options, "batch-submit");
  give(options, "batch-complete");
  const RunPlan plan = plan_of(options, {file_of(kMiB)});
  EXPECT_EQ(plan.batch_submit, 8U);
  EXPECT_EQ(plan.batch_complete, 8U);
  EXPECT_EQ(plan.notes, (Notes{"--batch-submit 64 is more than --depth 8: using 8",
                               "--batch-complete 65 is more than --depth 8: using 8"}));
}

TEST(Plan, ABatchOfTheWholeDepthIsNotMoreThanDepth) {
  Options options = reading({file_of(kMiB)});
  options.depth = options.batch_submit = options.batch_complete = 8;
  give(options, "batch-submit");
  give(options, "batch-complete");
  EXPECT_EQ(plan_of(options, {file_of(kMiB)}).notes, Notes{});
}

TEST(Plan, ClampsDefaultBatchesSilently) {
  Options options = reading({file_of(kMiB)});
  options.depth = 8;
  give(options, "depth");
  const RunPlan plan = plan_of(options, {file_of(kMiB)});
  EXPECT_EQ(plan.batch_submit, 8U);
  EXPECT_EQ(plan.batch_complete, 8U);
  EXPECT_EQ(plan.notes, Notes{}) << "nobody asked for 32";
}

TEST(Plan, ReadsCompleteBatchOfZeroAsOne) {
  Options options = reading({file_of(kMiB)});
  options.batch_complete = 0;
  give(options, "batch-complete");
  const RunPlan plan = plan_of(options, {file_of(kMiB)});
  EXPECT_EQ(plan.batch_complete, 1U);
  EXPECT_EQ(plan.notes, Notes{"--batch-complete 0 means 1"});
}

TEST(Plan, SyncHasOneRequestAndNoRing) {
  Options options = reading({file_of(kMiB)});
  options.sync = true;
  options.polled = PolledWish::automatic;
  const RunPlan plan = plan_of(options, {nvme()});
  EXPECT_EQ(plan.engine, Engine::sync);
  EXPECT_EQ(plan.depth, 1U);
  EXPECT_EQ(plan.batch_submit, 1U);
  EXPECT_EQ(plan.batch_complete, 1U);
  EXPECT_FALSE(plan.fixed_buffers || plan.register_files || plan.register_ring || plan.polled);
  EXPECT_EQ(plan.buffer_bytes_per_thread, 4096U);
  EXPECT_EQ(plan.notes, Notes{}) << "defaults are not worth a word";
}

TEST(Plan, SyncSaysWhichGivenFlagsHaveNoEffect) {
  Options options = reading({file_of(kMiB)});
  options.sync = true;
  options.batch_submit = 1;
  options.register_files = false;
  for (const char* name : {"depth", "batch-submit", "fixed-buffers", "register-files"}) {
    give(options, name);
  }
  const std::string reason =
      " has no effect with -S1: the sync engine has one request at a time and no ring";
  EXPECT_EQ(plan_of(options, {file_of(kMiB)}).notes,
            (Notes{"--depth 128" + reason, "--fixed-buffers 1" + reason}));
}

TEST(Plan, IgnoresAPartialTail) {
  const TargetShape odd = file_of(10000, "odd");
  const RunPlan plan = plan_of(reading({odd}), {odd});
  EXPECT_EQ(plan.targets[0].blocks, 2U);
  EXPECT_EQ(plan.notes, Notes{}) << "a finding says so";
  const TargetShape by_one = file_of(4097, "x");
  EXPECT_EQ(plan_of(reading({by_one}), {by_one}).targets[0].blocks, 1U);
}

TEST(Plan, OneBlockIsEnough) {
  const TargetShape one = file_of(4096, "one");
  EXPECT_EQ(plan_of(reading({one}), {one}).targets[0].blocks, 1U);
  Options options = reading({file_of(64 * kMiB)});
  options.block_size_bytes = 64 * kMiB;
  EXPECT_EQ(plan_of(options, {file_of(64 * kMiB)}).targets[0].blocks, 1U);
}

TEST(Plan, BufferedReadsHaveAnySize) {
  Options options = reading({zram()});
  options.direct = false;
  options.block_size_bytes = 3000;
  const RunPlan plan = plan_of(options, {zram()});
  EXPECT_EQ(plan.block_size_bytes, 3000U);
  EXPECT_EQ(plan.slot_stride_bytes, 3008U) << "every slot begins on a cache line";
  EXPECT_EQ(plan.buffer_bytes_per_thread, 128U * 3008U);
}

TEST(Plan, PollsByItselfWhereAllTargetsCan) {
  Options options = reading({nvme("a"), nvme("b")});
  options.polled = PolledWish::automatic;
  const RunPlan plan = plan_of(options, {nvme("a"), nvme("b")});
  EXPECT_TRUE(plan.polled);
  EXPECT_EQ(plan.notes, Notes{});
}

TEST(Plan, DoesNotPollWhereOneTargetCannot) {
  Options options = reading({nvme(), zram(), zram()});
  options.polled = PolledWish::automatic;
  const RunPlan plan = plan_of(options, {nvme(), zram(), zram()});
  EXPECT_FALSE(plan.polled);
  EXPECT_EQ(plan.notes, Notes{}) << "a finding says so";
}

TEST(Plan, DoesNotTryPollingWhereItCannotBeTold) {
  TargetShape unknown = nvme("/dev/x");
  unknown.can_poll.reset();
  Options options = reading({unknown});
  options.polled = PolledWish::automatic;
  const RunPlan plan = plan_of(options, {unknown});
  EXPECT_FALSE(plan.polled);
  options.polled = PolledWish::on;
  EXPECT_TRUE(plan_of(options, {unknown}).polled) << "a demand is tried";
}

TEST(Plan, DoesNotPollThePageCache) {
  Options options = reading({nvme()});
  options.polled = PolledWish::automatic;
  options.direct = false;
  const RunPlan plan = plan_of(options, {nvme()});
  EXPECT_FALSE(plan.polled);
}

TEST(Plan, VectoredReadsUsePlainBuffers) {
  Options options = reading({file_of(kMiB)});
  options.vectored = true;
  const RunPlan plan = plan_of(options, {file_of(kMiB)});
  EXPECT_TRUE(plan.vectored);
  EXPECT_FALSE(plan.fixed_buffers);
  EXPECT_EQ(plan.notes, Notes{"--vectored 1 reads into plain buffers: --fixed-buffers is 0"});
  give(options, "fixed-buffers");
  EXPECT_TRUE(plan_of(options, {file_of(kMiB)}).fixed_buffers) << "a demand is tried";
  options.fixed_buffers = false;
  EXPECT_EQ(plan_of(options, {file_of(kMiB)}).notes, Notes{});
}

TEST(Plan, BareNopNeedsNeitherFileNorBuffer) {
  Options options;
  options.nop = true;
  Limits limits;
  limits.memlock_bytes = 0;
  limits.memory_available_bytes = 0;
  const RunPlan plan = plan_of(options, {}, limits);
  EXPECT_TRUE(plan.nop);
  EXPECT_FALSE(plan.nop_with_file || plan.fixed_buffers || plan.register_files || plan.polled);
  EXPECT_TRUE(plan.register_ring);
  EXPECT_EQ(plan.buffer_bytes_per_thread, 0U);
  EXPECT_TRUE(plan.targets.empty());
  ASSERT_EQ(plan.threads.size(), 1U);
  EXPECT_TRUE(plan.threads[0].targets.empty());
  EXPECT_EQ(plan.notes, Notes{});
  give(options, "fixed-buffers");
  EXPECT_EQ(plan_of(options, {}).notes, Notes{"--fixed-buffers 1 has no effect with -N1 without a "
                                              "FILE: there is nothing to register"});
}

TEST(Plan, NopWithFileHasNoRulesForIt) {
  TargetShape tiny = zram();
  tiny.size_bytes = 100;
  Options options = reading({tiny});
  options.nop = true;
  options.block_size_bytes = 513;
  options.polled = PolledWish::on;
  const RunPlan plan = plan_of(options, {tiny});
  EXPECT_TRUE(plan.nop && plan.nop_with_file && plan.fixed_buffers && plan.register_files);
  EXPECT_TRUE(plan.polled) << "a polled ring completes no-ops as well, and it was demanded";
  EXPECT_EQ(plan.targets[0].blocks, 1U) << "never an empty range of offsets";
  EXPECT_EQ(plan.notes, Notes{});
}

TEST(Plan, SplitsBuffersIntoRegionsOfAtMostOneGib) {
  const TargetShape big = file_of(8192 * kMiB);
  Options options = reading({big});
  options.block_size_bytes = kMiB;
  options.depth = 4096;
  const RunPlan plan = plan_of(options, {big});
  EXPECT_EQ(plan.slots_per_region, 1024U);
  EXPECT_EQ(plan.buffer_bytes_per_thread, UINT64_C(4) << 30) << "beyond 32 bits";
  options.block_size_bytes = 3 * kMiB;
  EXPECT_EQ(plan_of(options, {big}).slots_per_region, 341U) << "whole slots only";
  options.block_size_bytes = 1024 * kMiB;
  options.depth = 3;
  EXPECT_EQ(plan_of(options, {big}).slots_per_region, 1U);
}

TEST(Plan, LaysDirectBlocksDensely) {
  Options options = reading({file_of(kMiB)});
  options.block_size_bytes = 512;
  const RunPlan plan = plan_of(options, {file_of(kMiB)});
  EXPECT_EQ(plan.slot_stride_bytes, 512U);
  EXPECT_EQ(plan.buffer_bytes_per_thread, 128U * 512U);
}

std::vector<std::vector<std::uint32_t>> split(std::int64_t threads, std::size_t targets) {
  const std::vector<TargetShape> shapes(targets, file_of(kMiB));
  Options options = reading(shapes);
  options.threads = threads;
  std::vector<std::vector<std::uint32_t>> result;
  for (const ThreadPlan& thread : plan_of(options, shapes).threads) {
    result.push_back(thread.targets);
  }
  return result;
}

TEST(Plan, SpreadsTargetsEvenly) {
  using Split = std::vector<std::vector<std::uint32_t>>;
  EXPECT_EQ(split(1, 3), (Split{{0, 1, 2}}));
  EXPECT_EQ(split(2, 4), (Split{{0, 2}, {1, 3}}));
  EXPECT_EQ(split(2, 2), (Split{{0}, {1}}));
  EXPECT_EQ(split(4, 2), (Split{{0}, {1}, {0}, {1}}));
  EXPECT_EQ(split(3, 1), (Split{{0}, {0}, {0}}));
  EXPECT_EQ(split(2, 3), (Split{{0, 1, 2}, {1, 2, 0}}));
  EXPECT_EQ(split(3, 2), (Split{{0, 1}, {1, 0}, {0, 1}}));
}

TEST(Plan, PinsRoundRobinInTheOrderGiven) {
  Options options = reading({file_of(kMiB)});
  options.threads = 3;
  options.cpus = {5, 1};
  Limits limits;
  limits.allowed_cpus = {0, 1, 5};
  const RunPlan plan = plan_of(options, {file_of(kMiB)}, limits);
  EXPECT_EQ(plan.threads[0].cpu, 5);
  EXPECT_EQ(plan.threads[1].cpu, 1);
  EXPECT_EQ(plan.threads[2].cpu, 5);
}

}  // namespace
}  // namespace uringbench::plan
