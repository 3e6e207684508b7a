// SQPOLL: the kernel thread's figures, and whole runs on real rings.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "engine/clock.hpp"
#include "engine/engine.hpp"
#include "engine/pollers.hpp"
#include "engine/ring_faces.hpp"

namespace uringbench::engine {
namespace {

PollerStamp stamp(std::int64_t thread_id, std::int64_t total_us, std::int64_t work_us,
                  std::int64_t cpu_ns) {
  PollerStamp made;
  made.fdinfo.thread_id = thread_id;
  made.fdinfo.cpu = 1;
  made.fdinfo.total_us = total_us;
  made.fdinfo.work_us = work_us;
  made.cpu_ns = cpu_ns;
  return made;
}

TEST(Pollers, AreDifferencesOfTwoLooks) {
  const auto pollers = pollers_between({stamp(7, 100, 10, 5000)}, {stamp(7, 350, 60, 9000)});
  ASSERT_EQ(pollers.size(), 1U);
  EXPECT_EQ(pollers[0].thread_id, 7);
  EXPECT_EQ(pollers[0].cpu, 1);
  EXPECT_EQ(pollers[0].total_us, 250);
  EXPECT_EQ(pollers[0].work_us, 50);
  EXPECT_EQ(pollers[0].cpu_ns, 4000);
}

TEST(Pollers, SharedOnesCountOnce) {
  const auto pollers = pollers_between({stamp(7, 0, 0, 0), stamp(7, 0, 0, 0), stamp(8, 0, 0, 0)},
                                       {stamp(7, 5, 1, 9), stamp(7, 6, 2, 9), stamp(8, 4, 3, 8)});
  ASSERT_EQ(pollers.size(), 2U);
  EXPECT_EQ(pollers[0].total_us, 5);
  EXPECT_EQ(pollers[1].thread_id, 8);
}

TEST(Pollers, WhatTheKernelDoesNotSayIsAbsent) {
  PollerStamp before = stamp(7, 0, 0, 10);
  PollerStamp after = stamp(7, 0, 0, 30);
  before.fdinfo.total_us.reset();
  after.fdinfo.work_us.reset();
  const auto pollers = pollers_between({before}, {after});
  ASSERT_EQ(pollers.size(), 1U);
  EXPECT_FALSE(pollers[0].total_us);
  EXPECT_FALSE(pollers[0].work_us);
  EXPECT_EQ(pollers[0].cpu_ns, 20);
  after.fdinfo.thread_id.reset();
  EXPECT_TRUE(pollers_between({before}, {after}).empty());
}

/// Ends the run after some time; a run that does not begin ends the test.
class Waiter : public Observer {
 public:
  void started(const Granted& granted, const std::vector<std::int64_t>&) override {
    granted_ = granted;
    threads_seen_ = new_pollers();
  }
  void interval(const Interval&) override {}
  bool wait_until(std::int64_t deadline_ns) override {
    while (monotonic_ns() < deadline_ns) usleep(500);
    return false;
  }
  static std::set<std::int64_t> pollers_of_this_process() {
    std::set<std::int64_t> found;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream file(task.path() / "comm");
      std::string name;
      std::getline(file, name);
      if (name.starts_with("iou-sqp")) found.insert(std::stoll(task.path().filename().string()));
    }
    return found;
  }
  /// Rings of other tests may still have theirs.
  std::set<std::int64_t> new_pollers() const {
    std::set<std::int64_t> found = pollers_of_this_process();
    for (const std::int64_t known : there_before_) found.erase(known);
    return found;
  }
  Granted granted_;
  std::set<std::int64_t> threads_seen_;
  const std::set<std::int64_t> there_before_ = pollers_of_this_process();
};

struct SqpollRun {
  explicit SqpollRun(std::uint32_t depth, std::uint32_t threads = 1, bool share = false,
                     std::uint32_t idle_ms = 0, bool nop = false) {
    const char* path = "sqpoll_test_target";
    {
      std::ofstream file(path, std::ios::binary);
      const std::string block(1 << 20, 'x');
      for (int i = 0; i < 4; ++i) file << block;
    }
    targets.push_back(machine::open_target(path, false));
    std::filesystem::remove(path);
    plan::Options options;
    options.files = {path};
    options.direct = false;
    options.nop = nop;
    options.depth = depth;
    options.threads = threads;
    options.runtime_ns = 200'000'000;
    plan = plan::make_plan(options, {machine::shape_of(targets[0].facts, false)}, {}, 1);
    plan.sqpoll = true;
    plan.sqpoll_share = share;
    plan.sqpoll_idle_ms = idle_ms;
    measured = measure(plan, targets, 0, true, waiter);
  }

  void expect_sound() const {
    EXPECT_GT(measured.ios, 0U);
    EXPECT_EQ(measured.errors.count + measured.short_reads, 0U);
    EXPECT_EQ(measured.ios, measured.completions - measured.retries_eagain);
    EXPECT_FALSE(measured.stalled);
    EXPECT_EQ(measured.never_completed, 0U);
    EXPECT_LE(measured.inflight_max, plan.depth);
    EXPECT_TRUE(waiter.granted_.sqpoll);
    EXPECT_FALSE(measured.poller_left);
    EXPECT_TRUE(waiter.new_pollers().empty());
    for (const Poller& poller : measured.pollers) {
      EXPECT_EQ(waiter.threads_seen_.count(poller.thread_id), 1U);
      EXPECT_GE(poller.work_us.value_or(0), 0);
      EXPECT_LE(poller.work_us.value_or(0), poller.total_us.value_or(INT64_MAX));
      EXPECT_GT(poller.cpu_ns.value_or(0), 0);
    }
  }

  std::vector<machine::OpenTarget> targets;
  plan::RunPlan plan;
  Waiter waiter;
  Measurement measured;
};

TEST(Sqpoll, MeasuresAndLeavesNoThreadBehind) {
  const SqpollRun run(32);
  run.expect_sound();
  EXPECT_EQ(run.measured.pollers.size(), 1U);
}

TEST(Sqpoll, NoSubmissionIsLostWhenTheThreadSleeps) {
  // One millisecond of idling and one request at a time: it falls asleep all the time.
  const SqpollRun run(1, 1, false, 1);
  run.expect_sound();
}

TEST(Sqpoll, EachThreadHasItsOwnUnlessShared) {
  const SqpollRun own(8, 2);
  own.expect_sound();
  EXPECT_EQ(own.measured.pollers.size(), 2U);
  EXPECT_EQ(own.waiter.threads_seen_.size(), 2U);
  const SqpollRun shared(8, 2, true);
  shared.expect_sound();
  EXPECT_EQ(shared.measured.pollers.size(), 1U);
  EXPECT_EQ(shared.waiter.threads_seen_.size(), 1U);
}

TEST(Sqpoll, Nop) {
  const SqpollRun run(16, 1, false, 0, true);
  run.expect_sound();
}

TEST(SqpollRing, WakesASleepingThread) {
  Ring ring({.entries = 4, .sqpoll = true, .sqpoll_idle_ms = 1});
  SqpollRing<false> face(ring);
  const std::int64_t deadline_ns = monotonic_ns() + 10'000'000'000;
  while (!ring.needs_wakeup() && monotonic_ns() < deadline_ns) usleep(1000);
  ASSERT_TRUE(ring.needs_wakeup()) << "it never sleeps";
  face.sqes()[0] = io_uring_sqe{};
  face.sqes()[0].opcode = IORING_OP_NOP;
  face.sqes()[0].user_data = 77;
  EXPECT_EQ(face.enter(1, 1, 1, true), 1);
  ASSERT_EQ(face.cq_tail(), 1U);
  EXPECT_EQ(face.cqes()[0].user_data, 77U);
  EXPECT_GE(face.wakeups(), 1U);  // twice, if it has not got up when the call waits
  EXPECT_GE(face.system_calls(), 1U);
  face.release_cqes(1);
  while (face.room(1) != 4 && monotonic_ns() < deadline_ns) usleep(100);
  EXPECT_EQ(face.room(1), 4U);
}

}  // namespace
}  // namespace uringbench::engine
