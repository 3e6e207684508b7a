// Legacy AIO's ring over a kernel that answers by a script or by dice: nothing gets lost, whatever
// the two calls answer.
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>

#include "engine/aio_ring.hpp"
#include "engine/clock.hpp"
#include "engine/loop.hpp"

namespace uringbench::engine {
namespace {

constexpr int kNoSuchFile = 99;
constexpr std::uint64_t kBlockBytes = 4096;

class FakeAioKernel {
 public:
  explicit FakeAioKernel(std::uint32_t depth) : depth_(depth) {}

  long submit(long count, iocb** requests) noexcept {
    ++calls;
    if (count <= 0) return fail("submits nothing");
    if (chance(submit_refused)) return -submit_errno;
    long take = chance(submit_partly) ? 1 + static_cast<long>(dice_() % count) : count;
    for (long i = 0; i < take; ++i) {
      const iocb& request = *requests[i];
      if (request.aio_fildes == kNoSuchFile) return i == 0 ? -EBADF : i;
      if (request.aio_nbytes != kBlockBytes) fail("not a block");
      if (flying_.size() == depth_) return i == 0 ? -EAGAIN : i;
      flying_.push_back(request);
    }
    return take;
  }

  long get_events(long at_least, long at_most, io_event* events) noexcept {
    ++calls;
    if (at_least > static_cast<long>(flying_.size())) fail("waits for ever");
    if (at_most < static_cast<long>(flying_.size())) fail("leaves events behind");
    if (chance(get_interrupted)) return -EINTR;
    long count = at_least;
    if (count < at_most) count += static_cast<long>(dice_() % (at_most - count + 1));
    for (long i = 0; i < count; ++i) {
      const std::size_t chosen = dice_() % flying_.size();
      events[i] = {.data = flying_[chosen].aio_data, .obj = 0, .res = kBlockBytes, .res2 = 0};
      flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    completed += static_cast<std::uint64_t>(count);
    return count;
  }

  void abandon() noexcept { ++abandoned; }

  static inline int abandoned = 0;
  double submit_refused = 0, submit_partly = 0, get_interrupted = 0;
  int submit_errno = EAGAIN;
  std::uint64_t calls = 0, completed = 0;
  std::string failure;

 private:
  bool chance(double share) noexcept {
    return share > 0 && std::uniform_real_distribution<>()(dice_) < share;
  }
  long fail(const char* what) noexcept {
    if (failure.empty()) failure = what;
    return -EINVAL;
  }

  std::size_t depth_;
  std::deque<iocb> flying_;
  std::mt19937_64 dice_{1};
};

using FakeAioRing = BasicAioRing<FakeAioKernel>;
static_assert(RingLike<FakeAioRing>);

void write_reads(FakeAioRing& ring, std::uint32_t first, const std::vector<int>& fds) {
  for (std::uint32_t i = 0; i < fds.size(); ++i) {
    io_uring_sqe& sqe = ring.sqes()[first + i];
    sqe = {};
    sqe.opcode = IORING_OP_READ;
    sqe.fd = fds[i];
    sqe.len = kBlockBytes;
    sqe.user_data = first + i;
  }
}

/// A read that io_submit refuses by itself is taken and completes with its error; those behind it
/// go on. Its completion counts for what is waited for.
TEST(AioRing, TheFaultOfOneRequestIsItsCompletion) {
  FakeAioRing ring(4);
  write_reads(ring, 0, {3, kNoSuchFile, kNoSuchFile, 3});
  EXPECT_EQ(ring.enter(4, 4, 4, true), 4);
  EXPECT_EQ(ring.kernel().failure, "");
  ASSERT_EQ(ring.cq_tail(), 4U);
  std::map<std::uint64_t, int> results;
  for (std::uint32_t i = 0; i < 4; ++i) results[ring.cqes()[i].user_data] = ring.cqes()[i].res;
  EXPECT_EQ(results,
            (std::map<std::uint64_t, int>{{0, 4096}, {1, -EBADF}, {2, -EBADF}, {3, 4096}}));
  // Once for 0, refused for 1, refused for 2, once for 3, and the events.
  EXPECT_EQ(ring.system_calls(), 5U);
  EXPECT_EQ(ring.kernel().calls, 5U);
}

TEST(AioRing, NothingIsCollectedUnlessAskedFor) {
  FakeAioRing ring(4);
  write_reads(ring, 0, {3, 3});
  EXPECT_EQ(ring.enter(2, 2, 0, false), 2);
  EXPECT_EQ(ring.cq_tail(), 0U);
  EXPECT_EQ(ring.system_calls(), 1U);
  EXPECT_EQ(ring.enter(2, 0, 2, true), 0);
  EXPECT_EQ(ring.cq_tail(), 2U);
  EXPECT_EQ(ring.enter(2, 0, 0, true), 0);
  EXPECT_EQ(ring.system_calls(), 2U) << "with nothing out there is nothing to ask for";
}

TEST(AioRing, AnInterruptedCollectionDoesNotHideWhatWasTaken) {
  FakeAioRing ring(4);
  ring.kernel().get_interrupted = 1;
  write_reads(ring, 0, {3, 3});
  EXPECT_EQ(ring.enter(2, 2, 2, true), 2);
  EXPECT_EQ(ring.enter(2, 0, 2, true), -EINTR) << "nothing was to be taken here";
  ring.kernel().get_interrupted = 0;
  EXPECT_EQ(ring.enter(2, 0, 2, true), 0);
  EXPECT_EQ(ring.cq_tail(), 2U);
}

TEST(AioRing, WantOfRoomLeavesTheRestToTheCallerAndMakesRoom) {
  FakeAioRing ring(8);
  ring.kernel().submit_refused = 1;
  for (const int error : {EAGAIN, EINTR, ENOMEM}) {
    ring.kernel().submit_errno = error;
    write_reads(ring, 0, {3, 3});
    EXPECT_EQ(ring.enter(2, 2, 2, true), -error);
    EXPECT_EQ(ring.cq_tail(), 0U);
  }
  ring.kernel().submit_refused = 0;
  write_reads(ring, 0, {3, 3});
  EXPECT_EQ(ring.enter(2, 2, 0, false), 2);
  ring.kernel().submit_refused = 1;
  ring.kernel().submit_errno = EAGAIN;
  write_reads(ring, 2, {3, 3});
  EXPECT_EQ(ring.enter(4, 2, 4, true), -EAGAIN);
  EXPECT_GE(ring.cq_tail(), 1U) << "one of the two that are out was waited for";
  EXPECT_EQ(ring.kernel().failure, "") << "the two that were not taken were not";
}

TEST(AioRing, AContextWithRequestsOutIsLeftAlone) {
  FakeAioKernel::abandoned = 0;
  { FakeAioRing ring(4); }
  EXPECT_EQ(FakeAioKernel::abandoned, 0);
  {
    FakeAioRing ring(4);
    write_reads(ring, 0, {3});
    ring.enter(1, 1, 0, false);
  }
  EXPECT_EQ(FakeAioKernel::abandoned, 1);
}

/// Is read once per call of the loop, and ends the run.
struct EndingClock {
  static constexpr bool kTimed = true;
  static std::uint64_t ticks() noexcept {
    if (++looks == 20'000) ending->phase = Phase::stop;
    return looks;
  }
  static inline std::uint64_t looks = 0;
  static inline Command* ending = nullptr;
};

/// The measuring loop itself, while the kernel refuses, takes half and is interrupted.
TEST(AioRing, TheLoopAccountsForEveryRequest) {
  for (const std::uint32_t depth : {1U, 5U, 32U}) {
    Command command;
    command.phase = Phase::measure;
    plan::RunPlan plan;
    plan.latency = true;
    Worker worker(command, plan);
    worker.set_targets({0});
    FakeAioRing ring(depth);
    ring.kernel().submit_refused = 0.1;
    ring.kernel().submit_partly = 0.3;
    ring.kernel().get_interrupted = 0.1;
    std::vector<Slot> slots(depth);
    std::vector<LoopTarget> targets{{.fd = 3, .index = 0, .blocks = 100, .next_block = 0}};
    for (std::uint32_t i = 0; i <= ring.sqes().mask; ++i) {
      ring.sqes()[i] = {};
      ring.sqes()[i].fd = 3;
      ring.sqes()[i].len = kBlockBytes;
    }
    EndingClock::looks = 0;
    EndingClock::ending = &command;
    const LoopSetup setup{.slots = &slots,
                          .targets = &targets,
                          .depth = depth,
                          .batch_submit = std::min(depth, 4U),
                          .batch_complete = std::min(depth, 3U),
                          .block_size_bytes = kBlockBytes,
                          .expected_result = kBlockBytes,
                          .random = true,
                          .seed = 1,
                          .first_index = 0};
    Loop<FakeAioRing, EndingClock, ReadRequest>(ring, setup, worker).run();
    const Tally& tally = worker.result();
    EXPECT_EQ(ring.kernel().failure, "");
    EXPECT_GT(tally.ios, 5000U);
    EXPECT_EQ(tally.ios, tally.completions);
    EXPECT_EQ(tally.errors + tally.short_reads, 0U);
    EXPECT_EQ(tally.in_flight_max, depth);
    EXPECT_EQ(worker.never_completed(), 0U);
    EXPECT_EQ(ring.kernel().completed, tally.completions + worker.published().drained);
    EXPECT_EQ(ring.system_calls(), ring.kernel().calls);
  }
}

}  // namespace
}  // namespace uringbench::engine
