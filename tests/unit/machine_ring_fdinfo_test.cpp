// What a ring's fdinfo says of its SQPOLL thread, on kernels old, new and patched.
#include <gtest/gtest.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include "machine/machine.hpp"
#include "machine/small_files.hpp"
#include "machine_test_support.hpp"

namespace uringbench::machine {
namespace {

const std::string kBefore =
    "pos:\t0\nflags:\t02000002\nmnt_id:\t15\nino:\t2694\nSqMask:\t0x7\nSqHead:\t0\nSqTail:\t0\n"
    "CachedSqHead:\t0\nCqMask:\t0xf\nCqHead:\t0\nCqTail:\t0\nCachedCqTail:\t0\nSQEs:\t0\nCQEs:"
    "\t0\n";
const std::string kAfter = "UserFiles:\t1\n    0: vda\nUserBufs:\t0\nPollList:\nCqOverflowList:\n";

TEST(MachineRingFdinfo, Linux61HasNoTimes) {
  const RingFdinfo info = parse_ring_fdinfo(kBefore + "SqThread:\t107\nSqThreadCpu:\t1\n" + kAfter);
  EXPECT_EQ(info.thread_id, 107);
  EXPECT_EQ(info.cpu, 1);
  EXPECT_FALSE(info.total_us);
  EXPECT_FALSE(info.work_us);
}

TEST(MachineRingFdinfo, Linux61WhileTheThreadIsBusy) {
  const RingFdinfo info = parse_ring_fdinfo(kBefore + "SqThread:\t-1\nSqThreadCpu:\t-1\n" + kAfter);
  EXPECT_FALSE(info.thread_id);
  EXPECT_FALSE(info.cpu);
  EXPECT_TRUE(info.knows_no_times);
  EXPECT_FALSE(parse_ring_fdinfo("SqThread:\t-1\n").knows_no_times) << "truncated";
  EXPECT_FALSE(parse_ring_fdinfo(kBefore).knows_no_times) << "said nothing: it may next time";
}

TEST(MachineRingFdinfo, Linux612AndLaterHaveTimes) {
  const RingFdinfo info = parse_ring_fdinfo(
      kBefore + "SqThread:\t1732\nSqThreadCpu:\t0\nSqTotalTime:\t999780\nSqWorkTime:\t4693\n" +
      kAfter + "NAPI:\tdisabled\n");
  EXPECT_EQ(info.thread_id, 1732);
  EXPECT_EQ(info.cpu, 0);
  EXPECT_EQ(info.total_us, 999780);
  EXPECT_EQ(info.work_us, 4693);
}

TEST(MachineRingFdinfo, TimesOfNoThreadAreNone) {
  const RingFdinfo info = parse_ring_fdinfo(
      kBefore + "SqThread:\t-1\nSqThreadCpu:\t-1\nSqTotalTime:\t0\nSqWorkTime:\t0\n" + kAfter);
  EXPECT_FALSE(info.thread_id);
  EXPECT_FALSE(info.total_us) << "Linux 6.12, while the thread is busy";
  EXPECT_FALSE(info.work_us);
  EXPECT_FALSE(info.knows_no_times);
}

TEST(MachineRingFdinfo, Truncated) {
  const std::string text = kBefore + "SqThread:\t1732\nSqThreadCpu:\t0\nSqTotalTime:\t99";
  EXPECT_EQ(parse_ring_fdinfo(text.substr(0, text.size() - 4)).thread_id, 1732);
  EXPECT_FALSE(parse_ring_fdinfo(text.substr(0, text.size() - 2)).total_us);
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    const RingFdinfo info = parse_ring_fdinfo(text.substr(0, bytes));
    EXPECT_FALSE(info.work_us) << bytes;
  }
}

TEST(MachineRingFdinfo, Garbage) {
  for (const char* text : {"", "\n", "SqThread", "SqThread:", "SqThread:\t", "SqThread:\tabc",
                           "SqThread:\t12x", "SqThread:\t0x10", "SqThread: 99999999999999999999",
                           "SqThread:\t0", "xSqThread:\t5", "SqThread :: 5", "SqThreadCpu:\t5\n"}) {
    EXPECT_FALSE(parse_ring_fdinfo(text).thread_id) << text;
  }
  EXPECT_FALSE(parse_ring_fdinfo("SqThreadCpu:\t4294967296\n").cpu);
  EXPECT_FALSE(parse_ring_fdinfo("SqTotalTime:\t-5\nSqWorkTime:\t1.5\n").total_us);
  EXPECT_FALSE(parse_ring_fdinfo("SqTotalTime:\t-5\nSqWorkTime:\t1.5\n").work_us);
  EXPECT_EQ(parse_ring_fdinfo("SqThread: 7").thread_id, 7) << "blanks, and no line end";
  EXPECT_FALSE(parse_ring_fdinfo(std::string("\0SqThread:\t5", 12)).thread_id);
}

/// A ring by the bare system call; -errno when it is not to be had.
int make_ring(unsigned flags) {
  io_uring_params params;
  std::memset(&params, 0, sizeof params);
  params.flags = flags;
  params.sq_thread_idle = 1;
  const long fd = ::syscall(__NR_io_uring_setup, 8, &params);
  return fd < 0 ? -errno : static_cast<int>(fd);
}

#define SKIP_WITHOUT(fd) \
  if ((fd) == -EPERM || (fd) == -ENOSYS) GTEST_SKIP() << "io_uring is not permitted here"

TEST(MachineRingFdinfo, OfARealRingWithAThread) {
  const int fd = make_ring(IORING_SETUP_SQPOLL);
  SKIP_WITHOUT(fd);
  ASSERT_GE(fd, 0) << strerror(-fd);
  const Descriptor ring(fd);
  auto info = read_ring_fdinfo(fd);
  ASSERT_TRUE(info);
  ASSERT_TRUE(info->thread_id);
  // On a busy machine it takes its time until the thread runs; then it is on a CPU and has a name.
  for (int i = 0; i < 1000 && !info->cpu; ++i) info = read_ring_fdinfo(fd);
  const auto name =
      read_fact("/proc/self/task/" + std::to_string(*info->thread_id) + "/comm").value_or("");
  EXPECT_TRUE(starts_with(name, "iou-sqp-")) << name;
  ASSERT_TRUE(info->cpu);
  EXPECT_LT(*info->cpu, ::sysconf(_SC_NPROCESSORS_CONF));
  EXPECT_EQ(info->total_us.has_value(), info->work_us.has_value()) << "the kernel has both or none";
}

TEST(MachineRingFdinfo, OfARealRingWithoutAThread) {
  const int fd = make_ring(0);
  SKIP_WITHOUT(fd);
  ASSERT_GE(fd, 0) << strerror(-fd);
  const Descriptor ring(fd);
  const auto info = read_ring_fdinfo(fd);
  ASSERT_TRUE(info) << "there is an fdinfo, whatever is in it";
  EXPECT_FALSE(info->thread_id);
}

TEST(MachineRingFdinfo, AThreadIsFoundByItsName) {
  // By a thread of its own, since other tests made rings in this one, too.
  int fd = -1;
  std::int64_t maker_tid = 0;
  std::thread([&] {
    maker_tid = ::syscall(SYS_gettid);
    fd = make_ring(IORING_SETUP_SQPOLL);
  }).join();
  SKIP_WITHOUT(fd);
  ASSERT_GE(fd, 0) << strerror(-fd);
  const Descriptor ring(fd);
  auto info = read_ring_fdinfo(fd);
  for (int i = 0; i < 1000 && !(info && info->cpu); ++i) info = read_ring_fdinfo(fd);
  ASSERT_TRUE(info && info->thread_id);
  EXPECT_EQ(find_sqpoll_thread(maker_tid), info->thread_id);
}

TEST(MachineRingFdinfo, AThreadIsFoundAmongOthers) {
  const test::TemporaryFolder dir;
  const auto add = [&](const char* thread, const char* name) {
    dir.write(std::string("proc/self/task/") + thread + "/comm", name);
  };
  add("100", "uringbench\n");
  add("101", "iou-wrk-100\n");
  EXPECT_FALSE(find_sqpoll_thread(100, Root{dir.path()}));
  add("102", "iou-sqp-77\n");
  EXPECT_EQ(find_sqpoll_thread(100, Root{dir.path()}), 102)
      << "a PID namespace: it is the only one";
  add("103", "iou-sqp-100\n");
  EXPECT_EQ(find_sqpoll_thread(100, Root{dir.path()}), 103);
  EXPECT_FALSE(find_sqpoll_thread(10, Root{dir.path()})) << "not the beginning of a number";
}

TEST(MachineRingFdinfo, OfADescriptorThatIsNone) {
  EXPECT_FALSE(read_ring_fdinfo(-1));
  EXPECT_FALSE(read_ring_fdinfo(999999));
}

}  // namespace
}  // namespace uringbench::machine
