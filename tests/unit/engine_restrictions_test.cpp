// Restricted rings: what is permitted, and what the kernel then really refuses.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "engine/restrictions.hpp"
#include "machine_test_support.hpp"

namespace uringbench::engine {
namespace {

using Names = std::vector<std::string>;

plan::RunPlan reading() { return plan::RunPlan{}; }

TEST(Restrictions, NameExactlyWhatTheRunUses) {
  plan::RunPlan plan = reading();
  EXPECT_EQ(restriction_names(plan),
            (Names{"op READ_FIXED", "flag FIXED_FILE required", "register ENABLE_RINGS",
                   "register UNREGISTER_FILES", "register UNREGISTER_BUFFERS"}));
  plan.fixed_buffers = false;
  plan.vectored = true;
  EXPECT_EQ(restriction_names(plan), (Names{"op READV", "flag FIXED_FILE required",
                                            "register ENABLE_RINGS", "register UNREGISTER_FILES"}));
  plan.register_files = false;
  EXPECT_EQ(restriction_names(plan), (Names{"op READV", "flags none", "register ENABLE_RINGS"}));
  plan.passthrough = true;
  EXPECT_EQ(restriction_names(plan)[0], "op URING_CMD");
}

TEST(Restrictions, ANoOpHasNoEntryFlags) {
  plan::RunPlan plan = reading();
  plan.nop = true;
  EXPECT_EQ(restriction_names(plan), (Names{"op NOP", "flags none", "register ENABLE_RINGS"}));
  plan.nop_with_file = true;
  EXPECT_EQ(restriction_names(plan),
            (Names{"op NOP", "flags none", "register ENABLE_RINGS", "register UNREGISTER_FILES",
                   "register UNREGISTER_BUFFERS"}));
}

TEST(Restrictions, AreWrittenAsTheKernelReadsThem) {
  const auto list = restrictions_of(reading());
  std::vector<std::pair<int, int>> pairs;
  for (const auto& restriction : list) pairs.emplace_back(restriction.opcode, restriction.sqe_op);
  EXPECT_EQ(pairs, (std::vector<std::pair<int, int>>{
                       {1, IORING_OP_READ_FIXED}, {3, 1}, {2, 1}, {0, 12}, {0, 3}, {0, 1}}));
}

int register_call(int fd, unsigned operation, const void* argument = nullptr, unsigned count = 0) {
  return syscall(__NR_io_uring_register, fd, operation, argument, count) < 0 ? -errno : 0;
}

/// A ring that begins disabled, with everything registered before it is enabled.
class DisabledRing {
 public:
  explicit DisabledRing(unsigned flags) {
    io_uring_params params{};
    params.flags = flags | IORING_SETUP_R_DISABLED;
    params.sq_thread_idle = 20;
    setup_result = io_uring_queue_init_params(8, &ring, &params);
    if (setup_result != 0) return;
    file = machine::Descriptor(open("/proc/self/exe", O_RDONLY));
    const int fd = file.get();
    const iovec region{buffer, sizeof(buffer)};
    files = register_call(ring.ring_fd, IORING_REGISTER_FILES, &fd, 1);
    buffers = register_call(ring.ring_fd, IORING_REGISTER_BUFFERS, &region, 1);
    ring_fd = io_uring_register_ring_fd(&ring);
  }
  DisabledRing(const DisabledRing&) = delete;
  DisabledRing& operator=(const DisabledRing&) = delete;
  ~DisabledRing() {
    if (setup_result == 0) io_uring_queue_exit(&ring);
  }

  /// One entry's result.
  int result_of(std::uint8_t opcode, bool registered_file) {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring);
    if (sqe == nullptr) return -ENOSPC;
    *sqe = io_uring_sqe{};
    sqe->opcode = opcode;
    sqe->fd = registered_file ? 0 : file.get();
    sqe->flags = registered_file ? IOSQE_FIXED_FILE : 0;
    sqe->addr = reinterpret_cast<std::uint64_t>(buffer);
    sqe->len = opcode == IORING_OP_NOP ? 0 : sizeof(buffer);
    EXPECT_GE(io_uring_submit_and_wait(&ring, 1), 0);
    io_uring_cqe* cqe = nullptr;
    EXPECT_EQ(io_uring_wait_cqe(&ring, &cqe), 0);
    const int result = cqe->res;
    io_uring_cqe_seen(&ring, cqe);
    return result;
  }

  io_uring ring{};
  machine::Descriptor file;
  int setup_result = 0, files = -1, buffers = -1, ring_fd = -1;
  char buffer[512]{};
};

constexpr unsigned kDefer = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
constexpr unsigned kRings[] = {0, IORING_SETUP_COOP_TASKRUN, kDefer, IORING_SETUP_SQPOLL};

TEST(Restrictions, OnlyThePlannedReadWorksAfterwards) {
  for (const unsigned flags : kRings) {
    SCOPED_TRACE(flags);
    DisabledRing ring(flags);
    ASSERT_EQ(ring.setup_result, 0);
    EXPECT_EQ(ring.files, 0);
    EXPECT_EQ(ring.buffers, 0);
    EXPECT_EQ(ring.ring_fd, 1);
    restrict_and_enable(ring.ring.ring_fd, reading());
    EXPECT_EQ(ring.result_of(IORING_OP_READ_FIXED, true), 512);
    EXPECT_EQ(ring.result_of(IORING_OP_READ, true), -EACCES);
    EXPECT_EQ(ring.result_of(IORING_OP_NOP, true), -EACCES);
    EXPECT_EQ(ring.result_of(IORING_OP_READ_FIXED, false), -EACCES) << "FIXED_FILE is required";
    io_uring_probe probe{};
    EXPECT_EQ(register_call(ring.ring.ring_fd, IORING_REGISTER_PROBE, &probe), -EACCES);
    EXPECT_EQ(register_call(ring.ring.ring_fd, IORING_UNREGISTER_EVENTFD), -EACCES);
    EXPECT_EQ(register_call(ring.ring.ring_fd, IORING_UNREGISTER_FILES), 0);
    EXPECT_EQ(register_call(ring.ring.ring_fd, IORING_UNREGISTER_BUFFERS), 0);
  }
}

TEST(Restrictions, WithoutRegisteredFilesNoFlagIsAllowed) {
  DisabledRing ring(kDefer);
  plan::RunPlan plan = reading();
  plan.register_files = false;
  restrict_and_enable(ring.ring.ring_fd, plan);
  EXPECT_EQ(ring.result_of(IORING_OP_READ_FIXED, false), 512);
  EXPECT_EQ(ring.result_of(IORING_OP_READ_FIXED, true), -EACCES);
  EXPECT_EQ(register_call(ring.ring.ring_fd, IORING_UNREGISTER_FILES), -EACCES);
}

TEST(Restrictions, ABareNoOpIsRestrictedToo) {
  DisabledRing ring(kDefer);
  plan::RunPlan plan = reading();
  plan.nop = true;
  restrict_and_enable(ring.ring.ring_fd, plan);
  EXPECT_EQ(ring.result_of(IORING_OP_NOP, false), 0);
  EXPECT_EQ(ring.result_of(IORING_OP_READ, false), -EACCES);
  EXPECT_EQ(register_call(ring.ring.ring_fd, IORING_UNREGISTER_BUFFERS), -EACCES);
}

TEST(Restrictions, ARingThatIsNotDisabledIsRefused) {
  io_uring ring{};
  ASSERT_EQ(io_uring_queue_init(4, &ring, 0), 0);
  const base::Problem problem =
      machine::test::refusal_of([&] { restrict_and_enable(ring.ring_fd, reading()); });
  EXPECT_NE(problem.what.find("EBADFD"), std::string::npos) << problem.what;
  EXPECT_NE(problem.hint.find("-e0"), std::string::npos);
  io_uring_queue_exit(&ring);
}

}  // namespace
}  // namespace uringbench::engine
