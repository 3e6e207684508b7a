// NVMe passthrough: targets, LBAs, and what other flags mean with it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "plan_fixture.hpp"

namespace uringbench::plan {
namespace {

using namespace testing;
using Notes = std::vector<std::string>;

Options passing_through(const std::vector<TargetShape>& targets) {
  Options options = reading(targets);
  options.passthrough = true;
  return options;
}

TEST(Passthrough, CountsBlocksInBytesAndAddressesInLbas) {
  TargetShape small = generic("/dev/ng0n1", 512);
  // 20 LBAs of 512 bytes hold two blocks of 4096: what is left at the end is never read.
  small.size_bytes = 20 * 512;
  TargetShape large = generic("/dev/ng1n3", 4096);
  large.namespace_id = 3;
  const RunPlan plan = plan_of(passing_through({small, large}), {small, large});
  EXPECT_TRUE(plan.passthrough && plan.direct);
  EXPECT_EQ(plan.targets[0].blocks, 2U);
  EXPECT_EQ(plan.targets[0].lba_shift, 9U);
  EXPECT_EQ(plan.targets[0].namespace_id, 1U);
  EXPECT_EQ(plan.targets[1].blocks, 1024U * kMiB / 4096U);
  EXPECT_EQ(plan.targets[1].lba_shift, 12U);
  EXPECT_EQ(plan.targets[1].namespace_id, 3U);
  EXPECT_EQ(plan.notes, Notes{});
}

TEST(Passthrough, NeverReadsPastTheEnd) {
  for (const std::uint32_t lba_bytes : {512U, 4096U, 65536U}) {
    for (std::uint64_t lbas = 1; lbas <= 40; lbas++) {
      for (std::uint64_t lbas_per_block = 1; lbas_per_block <= lbas; lbas_per_block++) {
        TargetShape target = generic("/dev/ng0n1", lba_bytes);
        target.size_bytes = lbas * lba_bytes;
        Options options = passing_through({target});
        options.block_size_bytes = lbas_per_block * lba_bytes;
        const RunPlan plan = plan_of(options, {target});
        const std::uint64_t last =
            (plan.targets[0].blocks - 1) * plan.block_size_bytes >> plan.targets[0].lba_shift;
        ASSERT_LE(last + lbas_per_block, lbas);
        ASSERT_GT(last + 2 * lbas_per_block, lbas) << "and leaves out less than a block";
      }
    }
  }
}

TEST(Passthrough, RegistersBuffersOneByOne) {
  Options options = passing_through({generic()});
  EXPECT_EQ(plan_of(options, {generic()}).slots_per_region, 1U);
  options.block_size_bytes = 512;
  EXPECT_EQ(plan_of(options, {generic()}).slots_per_region, 8U) << "or else a page of them";
  options.block_size_bytes = 12288;
  EXPECT_EQ(plan_of(options, {generic()}).slots_per_region, 1U);
  options.depth = options.batch_submit = options.batch_complete = 3;
  options.block_size_bytes = 512;
  EXPECT_EQ(plan_of(options, {generic()}).slots_per_region, 3U) << "there are no more";
  options.depth = 32768;
  options.block_size_bytes = 4096;
  EXPECT_EQ(plan_of(options, {generic()}).slots_per_region, 2U) << "at most 16384 regions";
}

TEST(Passthrough, IsForGenericDevicesOnly) {
  Options options = passing_through({nvme()});
  EXPECT_EQ(problem_of(options, {nvme()}),
            "7: /dev/nvme0n1: passthrough (-u1) is for NVMe generic devices, /dev/ngXnY | name "
            "/dev/ng0n1, or use -u0");
  EXPECT_EQ(problem_of(options, {file_of(kMiB)}),
            "7: f1: passthrough (-u1) is for NVMe generic devices, /dev/ngXnY | name /dev/ngXnY, "
            "or use -u0");
  EXPECT_EQ(problem_of(options, {generic(), nvme(), file_of(kMiB)}),
            "7: /dev/nvme0n1 and f1: passthrough (-u1) is for NVMe generic devices, /dev/ngXnY | "
            "name /dev/ngXnY, or use -u0");
}

TEST(Passthrough, IsWhatGenericDevicesNeed) {
  Options options = reading({generic()});
  EXPECT_EQ(problem_of(options, {generic()}),
            "7: /dev/ng0n1: NVMe generic devices take passthrough only | use -u1, or /dev/nvme0n1");
  TargetShape other = generic("/dev/ng7n1");
  other.disk.clear();
  EXPECT_EQ(problem_of(options, {other}),
            "7: /dev/ng7n1: NVMe generic devices take passthrough only | use -u1, or /dev/nvmeXnY");
  EXPECT_EQ(problem_of(options, {generic(), other}),
            "7: /dev/ng0n1 and /dev/ng7n1: NVMe generic devices take passthrough only | use -u1, "
            "or /dev/nvmeXnY");
}

TEST(Passthrough, BlocksAreMultiplesOfTheLba) {
  Options options = passing_through({generic()});
  options.block_size_bytes = 513;
  EXPECT_EQ(problem_of(options, {generic()}),
            "7: /dev/ng0n1: --block-size 513 must be a multiple of the drive's LBAs of 512 bytes | "
            "use e.g. -b1k");
  options.block_size_bytes = 512;
  EXPECT_EQ(problem_of(options, {generic()}), "");
  EXPECT_EQ(problem_of(options, {generic("/dev/ng0n1", 4096)}),
            "7: /dev/ng0n1: --block-size 512 must be a multiple of the drive's LBAs of 4096 bytes "
            "| use e.g. -b4k");
}

TEST(Passthrough, ACommandReadsAtMost65536Lbas) {
  const TargetShape target = generic();
  Options options = passing_through({target});
  options.block_size_bytes = 32 * kMiB;
  EXPECT_EQ(problem_of(options, {target}), "");
  for (const std::uint64_t more : {512U, 1U}) {
    options.block_size_bytes = 32 * kMiB + more;
    EXPECT_EQ(problem_of(options, {target}),
              "7: /dev/ng0n1: --block-size " + std::to_string(32 * kMiB + more) +
                  " is more than one NVMe command can read: 65536 LBAs of 512 bytes | use -b32M or "
                  "less");
  }
  options.block_size_bytes = 64 * kMiB;
  EXPECT_EQ(problem_of(options, {generic("/dev/ng0n1", 4096)}), "");
}

TEST(Passthrough, LbasAreAPowerOfTwo) {
  for (const std::uint32_t lba_bytes : {0U, 1U, 256U, 520U, 4224U}) {
    TargetShape target = generic("/dev/ng0n1", lba_bytes);
    EXPECT_EQ(problem_of(passing_through({target}), {target}),
              "7: /dev/ng0n1: LBAs of " + std::to_string(lba_bytes) +
                  " bytes cannot be read with -u1: their size must be a power of two, at least 512 "
                  "| use a namespace whose format has LBAs of 512 or 4096 bytes");
  }
}

TEST(Passthrough, DrivesHoldABlock) {
  TargetShape target = generic("/dev/ng0n1", 4096);
  target.size_bytes = 3 * 4096;
  Options options = passing_through({target});
  options.block_size_bytes = 4 * 4096;
  EXPECT_EQ(problem_of(options, {target}),
            "7: /dev/ng0n1: is smaller than one block: it has 12288 bytes, --block-size is 16384 | "
            "use -b12k or less, or a larger target");
  target.size_bytes = 100;
  EXPECT_EQ(problem_of(options, {target}),
            "7: /dev/ng0n1: is smaller than one block: it has 100 bytes, --block-size is 16384 | "
            "use a larger target");
}

TEST(Passthrough, HasNoPageCache) {
  Options options = passing_through({generic()});
  options.direct = false;
  options.polled = PolledWish::automatic;
  const RunPlan plan = plan_of(options, {generic()});
  EXPECT_TRUE(plan.direct);
  EXPECT_TRUE(plan.polled) << "-O0 is nothing that polling would contradict";
  EXPECT_EQ(plan.notes, Notes{"--direct 0 has no effect with -u1: passthrough has no page cache"});
  options.polled = PolledWish::on;
  EXPECT_EQ(problem_of(options, {generic()}), "");
}

TEST(Passthrough, IsPolledWhereTheDriveCan) {
  TargetShape target = generic();
  target.can_poll = false;
  target.cannot_poll_reason = "is not possible without poll queues (nvme.poll_queues is 0)";
  target.cannot_poll_hint = "use -p0";
  Options options = passing_through({target});
  options.polled = PolledWish::automatic;
  EXPECT_FALSE(plan_of(options, {target}).polled);
  options.polled = PolledWish::on;
  EXPECT_EQ(problem_of(options, {target}),
            "7: /dev/ng0n1: polled I/O (-p1) is not possible without poll queues (nvme.poll_queues "
            "is 0) | use -p0");
}

TEST(Passthrough, ReadsVectorsIntoPlainBuffers) {
  Options options = passing_through({generic()});
  options.vectored = true;
  EXPECT_FALSE(plan_of(options, {generic()}).fixed_buffers);
  give(options, "fixed-buffers");
  EXPECT_TRUE(plan_of(options, {generic()}).fixed_buffers);
}

}  // namespace
}  // namespace uringbench::plan
