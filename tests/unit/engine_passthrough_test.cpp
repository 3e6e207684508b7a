// NVMe passthrough without a drive: the bytes of a command, and words for the answers.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "engine/passthrough.hpp"
#include "engine/registration.hpp"
#include "engine/slots.hpp"

namespace uringbench::engine {
namespace {

plan::RunPlan passthrough(std::uint64_t block_size_bytes = 4096) {
  plan::RunPlan plan;
  plan.passthrough = true;
  plan.direct = false;
  plan.block_size_bytes = plan.slot_stride_bytes = block_size_bytes;
  return plan;
}

struct Entry {
  Entry() { bytes.fill(std::byte{0xff}); }  // what is not written is seen
  template <class T>
  T at(std::size_t offset) const {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(value));
    return value;
  }
  std::uint32_t dword(std::size_t offset) const { return at<std::uint32_t>(offset); }
  alignas(64) std::array<std::byte, 128> bytes{};
};

// Offsets by the NVMe and io_uring interfaces rather than by the structures used.
TEST(Passthrough, TheCommandIsWhatTheDriveExpects) {
  Entry entry;
  prepare_passthrough(entry.bytes.data(), passthrough(), 3, 7, 9);
  EXPECT_EQ(entry.at<std::uint8_t>(0), 46) << "IORING_OP_URING_CMD";
  EXPECT_EQ(entry.at<std::uint8_t>(1), IOSQE_FIXED_FILE);
  EXPECT_EQ(entry.at<std::int32_t>(4), 3);
  EXPECT_EQ(entry.dword(8), NVME_URING_CMD_IO);
  EXPECT_EQ(entry.dword(12), 0U) << "the kernel refuses anything else";
  EXPECT_EQ(entry.dword(28), 1U) << "IORING_URING_CMD_FIXED";
  EXPECT_EQ(entry.at<std::uint8_t>(48), 0x02) << "read";
  EXPECT_EQ(entry.dword(48 + 4), 7U) << "namespace";
  EXPECT_EQ(entry.dword(48 + 36), 4096U) << "bytes of data";
  EXPECT_EQ(entry.dword(48 + 48), 7U) << "eight blocks of 512, counted from 0";
  for (const std::size_t zero :
       {8U, 12U, 16U, 20U, 24U, 28U, 32U, 40U, 44U, 52U, 56U, 60U, 64U, 68U, 72U, 76U}) {
    EXPECT_EQ(entry.dword(48 + zero), 0U) << zero;
  }
}

TEST(Passthrough, PlainBuffersAndPlainDescriptors) {
  plan::RunPlan plan = passthrough();
  plan.fixed_buffers = plan.register_files = false;
  plan.vectored = true;
  Entry entry;
  prepare_passthrough(entry.bytes.data(), plan, 5, 1, 12);
  EXPECT_EQ(entry.at<std::uint8_t>(1), 0);
  EXPECT_EQ(entry.dword(28), 0U);
  EXPECT_EQ(entry.dword(8), NVME_URING_CMD_IO_VEC);
  EXPECT_EQ(entry.dword(48 + 36), 1U) << "one iovec, not its bytes";
  EXPECT_EQ(entry.dword(48 + 48), 0U) << "one block of 4096, counted from 0";
}

TEST(Passthrough, BlocksAreCountedInTheDrivesUnit) {
  for (const auto& [block_bytes, lba_shift, expected] :
       {std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>{512, 9, 0},
        {4096, 9, 7},
        {4096, 12, 0},
        {131072, 12, 31},
        {33554432, 9, 65535}}) {
    Entry entry;
    prepare_passthrough(entry.bytes.data(), passthrough(block_bytes), 0, 1, lba_shift);
    EXPECT_EQ(entry.dword(48 + 48), expected) << block_bytes << ' ' << lba_shift;
  }
}

TEST(Passthrough, AddressesReachBeyond32Bits) {
  Entry entry;
  prepare_passthrough(entry.bytes.data(), passthrough(), 0, 1, 9);
  const Entry before = entry;
  const Lba lba = lba_of(ByteOffset{(std::uint64_t{0x123456789} << 9)}, 9);
  EXPECT_EQ(lba.value, 0x123456789U);
  address_passthrough(entry.bytes.data(), lba, 0xaabbccdd11223344);
  EXPECT_EQ(entry.dword(48 + 40), 0x23456789U) << "cdw10";
  EXPECT_EQ(entry.dword(48 + 44), 1U) << "cdw11";
  EXPECT_EQ(entry.at<std::uint64_t>(48 + 24), 0xaabbccdd11223344U);
  Entry others = entry;
  std::memcpy(others.bytes.data() + 48 + 40, before.bytes.data() + 48 + 40, 8);
  std::memcpy(others.bytes.data() + 48 + 24, before.bytes.data() + 48 + 24, 8);
  EXPECT_EQ(others.bytes, before.bytes) << "nothing else";
}

/// Blocks larger than the drive's run to the last whole one and no further.
TEST(Passthrough, TheLastBlockEndsWithTheNamespace) {
  const std::uint64_t lba_count = 1003;
  const std::uint64_t blocks = lba_count * 512 / 4096;
  Entry entry;
  prepare_passthrough(entry.bytes.data(), passthrough(4096), 0, 1, 9);
  const std::uint64_t last = lba_of(ByteOffset{(blocks - 1) * 4096}, 9).value;
  EXPECT_LE(last + entry.dword(48 + 48) + 1, lba_count);
  EXPECT_GT(last + 2 * (entry.dword(48 + 48) + 1), lba_count);
}

TEST(Passthrough, ATurnToAnotherNamespaceTakesItsFormat) {
  Entry entry;
  prepare_passthrough(entry.bytes.data(), passthrough(4096), 0, 1, 9);
  aim_passthrough(entry.bytes.data(), 4, 2, 4096, 12);
  Entry fresh;
  prepare_passthrough(fresh.bytes.data(), passthrough(4096), 4, 2, 12);
  EXPECT_EQ(entry.bytes, fresh.bytes);
}

TEST(Passthrough, EveryBufferLiesInTheRegionItNames) {
  plan::RunPlan plan = passthrough(4096);
  plan.depth = 37;
  plan.slots_per_region = 5;
  plan.buffer_bytes_per_thread = 37 * 4096;
  SlotBuffers buffers(plan);
  const auto regions = buffers.regions();
  ASSERT_EQ(regions.size(), 8U);
  Entry entry;
  for (const Slot& slot : buffers.slots()) {
    address_passthrough(entry.bytes.data(), Lba{0}, slot.address);
    const auto address = entry.at<std::uint64_t>(48 + 24);
    const auto begin = reinterpret_cast<std::uint64_t>(regions[slot.buffer_index].iov_base);
    EXPECT_GE(address, begin);
    EXPECT_LE(address + 4096, begin + regions[slot.buffer_index].iov_len);
  }
}

TEST(Passthrough, ItsOpcodeHasAName) {
  EXPECT_EQ(opcode_of(passthrough()).number, 46);
  EXPECT_STREQ(opcode_of(passthrough()).name, "URING_CMD");
}

TEST(NvmeStatus, IsNamed) {
  EXPECT_EQ(nvme_status_name(0x281), "NVME_SC_READ_ERROR");
  EXPECT_EQ(nvme_status_name(0x4080), "NVME_SC_LBA_RANGE|DNR");
  EXPECT_EQ(nvme_status_name(0x4281), "NVME_SC_READ_ERROR|DNR");
  EXPECT_EQ(nvme_status_name(0x6002), "NVME_SC_INVALID_FIELD|DNR") << "\"more\" says nothing";
  EXPECT_EQ(nvme_status_name(0x0821), "NVME_SC_CMD_INTERRUPTED") << "nor the retry delay";
  EXPECT_EQ(nvme_status_name(0x371), "NVME_SC_HOST_ABORTED_CMD");
  EXPECT_EQ(nvme_status_name(0x1c2), "NVME_STATUS_0x1c2");
  EXPECT_EQ(nvme_status_name(0x41c2), "NVME_STATUS_0x41c2");
}

std::string verdict(int result, const plan::RunPlan& plan = passthrough()) {
  const auto problem = passthrough_trial_verdict(result, plan, "/dev/ng0n1");
  if (!problem) return "";
  EXPECT_EQ(problem->code, base::ExitCode::cannot);
  EXPECT_FALSE(problem->hint.empty());
  return problem->what + " | " + problem->hint;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PassthroughVerdict, RefusesCommandsThatCannotWork) {
  EXPECT_EQ(verdict(0x4080).find("/dev/ng0n1: the first read was refused: NVME_SC_LBA_RANGE|DNR "
                                 "(NVMe status 0x4080)"),
            0U);
  EXPECT_TRUE(contains(verdict(0x4002), "--block-size")) << verdict(0x4002);
  EXPECT_TRUE(contains(verdict(0x4001), "command set"));
  EXPECT_TRUE(contains(verdict(0x286), "locked"));
}

TEST(PassthroughOpcodes, VectorsInRegisteredBuffersAreNotTriedWhereTheyCannotWork) {
  plan::RunPlan plan = passthrough();
  const auto without = [&](std::uint8_t missing) {
    const auto problem = missing_opcode(plan, [=](std::uint8_t known) { return known != missing; });
    return problem ? problem->what + " | " + problem->hint : "";
  };
  EXPECT_TRUE(contains(without(IORING_OP_URING_CMD), "URING_CMD"));
  EXPECT_EQ(without(abi::kOpReadvFixed), "");
  plan.vectored = true;
  EXPECT_TRUE(contains(without(abi::kOpReadvFixed), "6.15"));
  EXPECT_EQ(without(0xff), "");
  plan.fixed_buffers = false;
  EXPECT_EQ(without(abi::kOpReadvFixed), "");
}

TEST(PassthroughVerdict, MeasuresWhatIsOnlyBroken) {
  for (const int result : {0x281, 0x4281, 0x282, 0x284, 0x6, 0x370, 0x1c2, -EIO, -ETIMEDOUT}) {
    EXPECT_EQ(verdict(result), "") << result;
  }
}

TEST(PassthroughVerdict, EachErrnoHasItsLikelyCause) {
  for (const int error :
       {EINVAL, EOPNOTSUPP, EACCES, EPERM, ENOTTY, ENODEV, ENXIO, EFAULT, EBADF}) {
    EXPECT_TRUE(contains(verdict(-error), base::errno_name(error))) << error;
  }
  plan::RunPlan plan = passthrough();
  EXPECT_TRUE(contains(verdict(-EINVAL, plan), "max_hw_sectors_kb"));
  EXPECT_TRUE(contains(verdict(-EINVAL, plan), "-B0"));
  EXPECT_FALSE(contains(verdict(-EOPNOTSUPP, plan), "-p0"));
  plan.vectored = plan.polled = true;
  EXPECT_TRUE(contains(verdict(-EOPNOTSUPP, plan), "-p0"));
  EXPECT_TRUE(contains(verdict(-EFAULT, plan), "-B0"));
  plan.fixed_buffers = false;
  EXPECT_FALSE(contains(verdict(-EINVAL, plan), "-B0"));
  EXPECT_FALSE(contains(verdict(-EFAULT, plan), "-B0"));
  EXPECT_TRUE(contains(verdict(-EACCES, plan), "CAP_SYS_ADMIN"));
}

}  // namespace
}  // namespace uringbench::engine
