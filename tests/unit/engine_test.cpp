// The engine's pure parts: entries, verdicts on the trial read, offsets, names.
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <map>

#include "engine/engine.hpp"
#include "engine/offsets.hpp"
#include "engine/registration.hpp"
#include "engine/ring.hpp"
#include "engine/slots.hpp"

namespace uringbench::engine {
namespace {

plan::RunPlan reading(std::uint32_t depth = 4, std::uint64_t block_size_bytes = 4096) {
  plan::RunPlan plan;
  plan.depth = depth;
  plan.block_size_bytes = block_size_bytes;
  plan.slot_stride_bytes = block_size_bytes;
  plan.slots_per_region = depth;
  plan.buffer_bytes_per_thread = depth * block_size_bytes;
  return plan;
}

TEST(Opcode, FollowsBuffersAndVectors) {
  plan::RunPlan plan = reading();
  EXPECT_STREQ(opcode_of(plan).name, "READ_FIXED");
  plan.vectored = true;
  EXPECT_STREQ(opcode_of(plan).name, "READV_FIXED");
  EXPECT_EQ(opcode_of(plan).number, 60);  // include/uapi/linux/io_uring.h of 6.15
  plan.fixed_buffers = false;
  EXPECT_STREQ(opcode_of(plan).name, "READV");
  plan.vectored = false;
  EXPECT_STREQ(opcode_of(plan).name, "READ");
  plan.nop = true;
  EXPECT_STREQ(opcode_of(plan).name, "NOP");
}

TEST(Entry, HoldsAllThatDoesNotChange) {
  plan::RunPlan plan = reading(4, 12288);
  io_uring_sqe sqe = prepared_entry(plan, 3);
  EXPECT_EQ(sqe.opcode, IORING_OP_READ_FIXED);
  EXPECT_EQ(sqe.flags, IOSQE_FIXED_FILE);
  EXPECT_EQ(sqe.fd, 3);
  EXPECT_EQ(sqe.len, 12288U);
  EXPECT_EQ(sqe.rw_flags, 0);
  plan.register_files = false;
  plan.fixed_buffers = false;
  plan.vectored = true;
  sqe = prepared_entry(plan, 9);
  EXPECT_EQ(sqe.flags, 0);
  EXPECT_EQ(sqe.fd, 9);
  EXPECT_EQ(sqe.len, 1U) << "one vector, not its bytes";
}

TEST(Entry, ANopLooksUpWhatItIsTold) {
  plan::RunPlan plan = reading();
  plan.nop = true;
  EXPECT_EQ(prepared_entry(plan, 5).rw_flags, 0);
  plan.nop_with_file = true;
  EXPECT_EQ(static_cast<std::uint32_t>(prepared_entry(plan, 5).rw_flags), 2U | 4U | 8U);
  EXPECT_EQ(prepared_entry(plan, 5).fd, 5);
  plan.register_files = plan.fixed_buffers = false;
  EXPECT_EQ(static_cast<std::uint32_t>(prepared_entry(plan, 5).rw_flags), 2U);
}

TEST(TrialVerdict, RefusesWhatCannotBeMeasured) {
  plan::RunPlan plan = reading();
  for (const int error : {EOPNOTSUPP, EINVAL, EFAULT, EBADF, EACCES, EPERM, ENXIO, ENODEV}) {
    const auto problem = trial_verdict(error, plan, "/dev/x");
    ASSERT_TRUE(problem) << error;
    EXPECT_EQ(problem->code, base::ExitCode::cannot);
    EXPECT_EQ(problem->what.find("/dev/x: "), 0U);
    EXPECT_NE(problem->what.find(base::errno_name(error)), std::string::npos);
    EXPECT_FALSE(problem->hint.empty());
  }
}

TEST(TrialVerdict, BlamesPollingOnlyWherePollingWasWanted) {
  plan::RunPlan plan = reading();
  EXPECT_EQ(trial_verdict(EOPNOTSUPP, plan, "x")->hint.find("poll"), std::string::npos);
  plan.polled = true;
  const std::string hint = trial_verdict(EOPNOTSUPP, plan, "x")->hint;
  EXPECT_NE(hint.find("-p0"), std::string::npos);
  EXPECT_NE(hint.find("nvme.poll_queues"), std::string::npos);
  EXPECT_NE(hint.find("driver"), std::string::npos);
  EXPECT_EQ(trial_verdict(EINVAL, plan, "x")->hint.find("poll"), std::string::npos);
}

TEST(TrialVerdict, LegacyAioIsNotToldToChangeWhatItHasNot) {
  plan::RunPlan plan = reading();
  plan.engine = plan::Engine::aio;
  for (const int error : {EOPNOTSUPP, EINVAL, EFAULT, EBADF, EACCES, EPERM, ENXIO, ENODEV}) {
    const auto problem = trial_verdict(error, plan, "x");
    ASSERT_TRUE(problem) << error;
    EXPECT_EQ(problem->hint.find("-B0"), std::string::npos) << error;
    EXPECT_EQ(problem->hint.find("io_uring"), std::string::npos) << error;
  }
}

TEST(TrialVerdict, MeasuresWhatIsOnlyBroken) {
  for (const int error : {EIO, ENODATA, ETIMEDOUT, EILSEQ, ENOSPC}) {
    EXPECT_FALSE(trial_verdict(error, reading(), "x")) << error;
  }
}

TEST(TrialVerdict, AnOldKernelsNopIsExplained) {
  plan::RunPlan plan = reading();
  plan.nop = plan.nop_with_file = true;
  EXPECT_NE(trial_verdict(EINVAL, plan, "NOP")->hint.find("6.13"), std::string::npos);
}

TEST(Names, OfSetupFlags) {
  EXPECT_EQ(names_of_setup_flags((1U << 0) | (1U << 12) | (1U << 13) | (1U << 16)),
            (std::vector<std::string>{"IOPOLL", "SINGLE_ISSUER", "DEFER_TASKRUN", "NO_SQARRAY"}));
  EXPECT_EQ(names_of_setup_flags(1U << 30), std::vector<std::string>{"BIT_30"});
  EXPECT_TRUE(names_of_setup_flags(0).empty());
}

TEST(Slots, BuffersLieSideBySideInTheirRegions) {
  plan::RunPlan plan = reading(10, 512);
  plan.slots_per_region = 4;
  SlotBuffers buffers(plan);
  const auto regions = buffers.regions();
  ASSERT_EQ(regions.size(), 3U);
  EXPECT_EQ(regions[0].iov_len, 4U * 512);
  EXPECT_EQ(regions[2].iov_len, 2U * 512);
  for (const Slot& slot : buffers.slots()) {
    const iovec& region = regions.at(slot.buffer_index);
    const auto begin = reinterpret_cast<std::uint64_t>(region.iov_base);
    EXPECT_GE(slot.address, begin);
    EXPECT_LE(slot.address + 512, begin + region.iov_len);
  }
  for (std::size_t i = 1; i < 10; ++i) {
    EXPECT_EQ(buffers.slots()[i].address - buffers.slots()[i - 1].address, 512U);
  }
}

TEST(Slots, AVectoredReadGetsItsVector) {
  plan::RunPlan plan = reading(3, 8192);
  plan.vectored = true;
  plan.fixed_buffers = false;
  SlotBuffers buffers(plan);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(buffers.slots()[i].address, reinterpret_cast<std::uint64_t>(&buffers.vectors()[i]));
    EXPECT_EQ(buffers.vectors()[i].iov_len, 8192U);
  }
}

TEST(Offsets, AreUniformAlsoForAwkwardBounds) {
  // Chi-square over 7 and over 1000 blocks; 0.001 quantiles of the distribution: 22.5 and 1143.9.
  for (const auto& [bound, limit] : {std::pair<std::uint64_t, double>{7, 22.5}, {1000, 1143.9}}) {
    Random random(42);
    std::map<std::uint64_t, double> seen;
    const double draws = 1e6;
    for (int i = 0; i < 1'000'000; ++i) seen[random.below(bound)]++;
    ASSERT_EQ(seen.size(), bound);
    ASSERT_LT(seen.rbegin()->first, bound);
    double chi_square = 0;
    for (const auto& [block, count] : seen) {
      chi_square += std::pow(count - draws / static_cast<double>(bound), 2) /
                    (draws / static_cast<double>(bound));
    }
    EXPECT_LT(chi_square, limit) << bound;
  }
}

TEST(Offsets, HugeBoundsAreNotBiased) {
  // Two thirds of 2^64: without rejection the lower half would come up twice as often.
  const std::uint64_t bound = UINT64_MAX / 3 * 2;
  Random random(1);
  int lower = 0;
  for (int i = 0; i < 100'000; ++i) lower += random.below(bound) < bound / 2 ? 1 : 0;
  EXPECT_NEAR(lower, 50'000, 800);
}

TEST(Offsets, OneBlockIsAlwaysBlockZero) {
  Random random(3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0U);
}

TEST(Offsets, StreamsOfOneSeedDiffer) {
  EXPECT_NE(mix_seed(1, 0), mix_seed(1, 1));
  EXPECT_NE(mix_seed(1, 0), mix_seed(2, 0));
  EXPECT_EQ(mix_seed(5, 7), mix_seed(5, 7));
}

}  // namespace
}  // namespace uringbench::engine
