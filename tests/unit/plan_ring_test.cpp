// The engines, and the flags that only a ring can honour: each with each.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"
#include "plan_fixture.hpp"

namespace uringbench::plan {
namespace {

using namespace testing;
using Notes = std::vector<std::string>;
using Change = std::function<void(Options&)>;

/// A flag that needs io_uring, as messages name it, and why other engines cannot honour it.
struct RingFlag {
  std::string name;
  Change set;
  std::string reason;
};

const std::vector<RingFlag>& ring_flags() {
  const std::string no_thread = "only a ring has such a thread";
  const std::string no_submitter = "only a ring has a kernel thread that submits";
  const std::string no_task_work = "only io_uring has task work to run";
  static const std::vector<RingFlag> flags = {
      {"-N1", [](Options& o) { o.nop = true; }, "only io_uring has a no-op request"},
      {"-u1", [](Options& o) { o.passthrough = true; },
       "only io_uring passes NVMe commands through"},
      {"-e1", [](Options& o) { o.restrict_ring = true; }, "only a ring can be restricted"},
      {"--sqpoll", [](Options& o) { o.sqpoll = true; }, no_submitter},
      {"--sqpoll-cpu", [](Options& o) { o.sqpoll_cpu = 0; }, no_thread},
      {"--sqpoll-idle", [](Options& o) { o.sqpoll_idle_ms = 5; }, no_thread},
      {"--sqpoll-share", [](Options& o) { o.sqpoll_share = true; }, no_thread},
      {"--no-sqthread-stats", [](Options& o) { o.no_sqthread_stats = true; }, no_submitter},
      {"--taskrun defer", [](Options& o) { o.taskrun = TaskRun::defer; }, no_task_work},
      {"--taskrun coop", [](Options& o) { o.taskrun = TaskRun::coop; }, no_task_work},
      {"--taskrun plain", [](Options& o) { o.taskrun = TaskRun::plain; }, no_task_work},
      {"--hybrid-iopoll", [](Options& o) { o.hybrid_iopoll = true; }, "only io_uring polls"},
  };
  return flags;
}

/// What is said about these changes on a drive that can poll, by whichever device serves them.
std::string said_about(const std::vector<Change>& changes) {
  Options options = reading({nvme()});
  options.polled = PolledWish::automatic;
  options.threads = 2;
  for (const Change& change : changes) change(options);
  // With -N1 polling must be demanded, which is a test of its own.
  if (options.nop && options.hybrid_iopoll) options.polled = PolledWish::on;
  const std::vector<TargetShape> targets{options.passthrough ? generic() : nvme()};
  return problem_of(options, targets);
}

TEST(Engines, OtherThanIoUringRefuseWhatOnlyARingCan) {
  const std::pair<std::string, Change> engines[] = {{"-S1", [](Options& o) { o.sync = true; }},
                                                    {"-a1", [](Options& o) { o.aio = true; }}};
  for (const auto& [engine, choose] : engines) {
    EXPECT_EQ(said_about({choose}), "") << engine;
    for (const RingFlag& flag : ring_flags()) {
      EXPECT_EQ(said_about({choose, flag.set}), "2: " + flag.name + " and " + engine +
                                                    " contradict each other: " + flag.reason +
                                                    " | leave out " + flag.name + " or " + engine);
    }
  }
}

TEST(Engines, SayAllThatContradictsThem) {
  const auto problems = [](const Change& change) {
    Options options = reading({nvme()});
    for (const RingFlag& flag : ring_flags()) flag.set(options);
    options.polled = PolledWish::on;
    change(options);
    return problems_of(options, {generic()}).size();
  };
  // One --taskrun is left of three; polling is one more.
  EXPECT_EQ(problems([](Options& o) { o.sync = true; }), ring_flags().size() - 2 + 1);
  EXPECT_EQ(problems([](Options& o) { o.aio = true; }), ring_flags().size() - 2 + 1);
}

TEST(Engines, ARingTakesItsFlagsTogetherButForSomePairs) {
  const std::string no_thread =
      " needs --sqpoll: without it there is no such thread | add "
      "--sqpoll, or leave out ";
  const auto is_detail = [](const std::string& name) { return name.rfind("--sqpoll-", 0) == 0; };
  for (const RingFlag& one : ring_flags()) {
    for (const RingFlag& other : ring_flags()) {
      std::string expected;
      const std::set<std::string> pair{one.name, other.name};
      for (const std::string& name : pair) {
        if (!is_detail(name) || pair.count("--sqpoll") != 0) continue;
        expected += (expected.empty() ? "2: " : "\n2: ") + name + no_thread + name;
      }
      if (pair == std::set<std::string>{"-N1", "-u1"}) {
        expected =
            "2: -N1 and -u1 contradict each other: a no-op is no NVMe command | leave out "
            "-N1 or -u1";
      }
      for (const char* mode : {"--taskrun defer", "--taskrun coop"}) {
        if (pair != std::set<std::string>{mode, "--sqpoll"}) continue;
        expected = "2: " + std::string(mode) +
                   " and --sqpoll contradict each other: the thread of --sqpoll runs the "
                   "completions, and the kernel refuses both together | leave out " +
                   mode + " or --sqpoll";
      }
      EXPECT_EQ(said_about({one.set, other.set}), expected) << one.name << " " << other.name;
    }
  }
}

TEST(Engines, AreOne) {
  EXPECT_EQ(said_about({[](Options& o) { o.aio = o.sync = true; }}),
            "2: -a1 and -S1 contradict each other: a run has one engine | leave out -a1 or -S1");
}

TEST(Aio, CannotBePolled) {
  Options options = reading({nvme()});
  options.aio = true;
  options.polled = PolledWish::on;
  EXPECT_EQ(problem_of(options, {nvme()}),
            "2: -p1 and -a1 contradict each other: legacy AIO cannot be polled | use -p0 with -a1, "
            "or leave out -a1");
  options.polled = PolledWish::automatic;
  EXPECT_FALSE(plan_of(options, {nvme()}).polled);
}

TEST(Aio, HasDepthAndBatchesAndRegistersNothing) {
  Options options = reading({nvme()});
  options.aio = true;
  options.depth = 16;
  options.batch_submit = 64;
  options.vectored = true;
  const RunPlan plan = plan_of(options, {nvme()});
  EXPECT_EQ(plan.engine, Engine::aio);
  EXPECT_EQ(plan.depth, 16U);
  EXPECT_EQ(plan.batch_submit, 16U);
  EXPECT_EQ(plan.batch_complete, 16U);
  EXPECT_FALSE(plan.fixed_buffers || plan.register_files || plan.register_ring);
  EXPECT_TRUE(plan.vectored);
  EXPECT_EQ(plan.notes, Notes{}) << "defaults are not worth a word";
}

TEST(Aio, SaysWhichGivenFlagsHaveNoEffect) {
  Options options = reading({nvme()});
  options.aio = true;
  options.register_ring = false;
  for (const char* name : {"fixed-buffers", "register-files", "register-ring", "depth"}) {
    give(options, name);
  }
  const std::string reason = " has no effect with -a1: legacy AIO registers nothing";
  EXPECT_EQ(plan_of(options, {nvme()}).notes,
            (Notes{"--fixed-buffers 1" + reason, "--register-files 1" + reason}));
}

TEST(Aio, FitsIntoTheKernelsRequests) {
  Options options = reading({nvme()});
  options.aio = true;
  options.threads = 2;
  Limits limits;
  limits.aio_requests_free = 256;
  EXPECT_EQ(problem_of(options, {nvme()}, limits), "");
  limits.aio_requests_free = 100;
  EXPECT_EQ(problem_of(options, {nvme()}, limits),
            "7: -a1: 2 threads with --depth 128 need 256 of the kernel's AIO requests, 100 are "
            "free | use a smaller --depth, or raise the limit, as root: sysctl -w "
            "fs.aio-max-nr=$(($(sysctl -n fs.aio-max-nr) + 156))");
  options.aio = false;
  EXPECT_EQ(problem_of(options, {nvme()}, limits), "") << "nobody else uses them";
}

TEST(Ring, DefaultsAskForNothingSpecial) {
  const RunPlan plan = plan_of(reading({nvme()}), {nvme()});
  EXPECT_FALSE(plan.restricted || plan.sqpoll || plan.sqpoll_share || plan.hybrid_iopoll);
  EXPECT_EQ(plan.sqpoll_cpu, -1);
  EXPECT_EQ(plan.sqpoll_idle_ms, 0U);
  EXPECT_EQ(plan.sqthread_stats_bit, -1);
  EXPECT_EQ(plan.taskrun, TaskRun::defer);
  EXPECT_FALSE(plan.taskrun_asked || plan.force);
}

TEST(Ring, TakesTheModeOfTaskWorkThatWasAskedFor) {
  Options options = reading({nvme()});
  for (const TaskRun mode : {TaskRun::defer, TaskRun::coop, TaskRun::plain}) {
    options.taskrun = mode;
    EXPECT_EQ(plan_of(options, {nvme()}).taskrun, mode);
    EXPECT_TRUE(plan_of(options, {nvme()}).taskrun_asked);
  }
}

TEST(Ring, CanBeRestrictedForNopsToo) {
  Options options;
  options.nop = options.restrict_ring = true;
  EXPECT_TRUE(plan_of(options, {}).restricted);
}

TEST(Sqpoll, TakesItsDetails) {
  Options options = reading({nvme()});
  options.sqpoll = options.sqpoll_share = true;
  options.sqpoll_cpu = 1;
  options.sqpoll_idle_ms = UINT32_MAX;
  options.threads = 2;
  Limits limits;
  limits.allowed_cpus = {0, 1};
  const RunPlan plan = plan_of(options, {nvme()}, limits);
  EXPECT_TRUE(plan.sqpoll && plan.sqpoll_share);
  EXPECT_EQ(plan.sqpoll_cpu, 1);
  EXPECT_EQ(plan.sqpoll_idle_ms, UINT32_MAX);
  EXPECT_EQ(plan.taskrun, TaskRun::plain) << "its thread runs the completions";
  EXPECT_FALSE(plan.taskrun_asked);
  EXPECT_EQ(plan.notes, Notes{});
}

TEST(Sqpoll, OfOneThreadIsNotShared) {
  Options options = reading({nvme()});
  options.sqpoll = options.sqpoll_share = true;
  const RunPlan plan = plan_of(options, {nvme()});
  EXPECT_FALSE(plan.sqpoll_share);
  EXPECT_EQ(plan.notes, Notes{"--sqpoll-share has no effect with one thread: there is one ring"});
}

TEST(Sqpoll, AnIdleTimeOfZeroIsADetailTooWhenGiven) {
  Options options = reading({nvme()});
  give(options, "sqpoll-idle");
  EXPECT_EQ(problem_of(options, {nvme()}),
            "2: --sqpoll-idle needs --sqpoll: without it there is no such thread | add --sqpoll, "
            "or leave out --sqpoll-idle");
  options.sqpoll = true;
  EXPECT_EQ(plan_of(options, {nvme()}).sqpoll_idle_ms, 0U);
}

TEST(Sqpoll, RunsOnAnAllowedCpu) {
  Options options = reading({nvme()});
  options.sqpoll = true;
  Limits limits;
  limits.allowed_cpus = {0, 1};
  const auto on = [&](std::int64_t cpu) {
    options.sqpoll_cpu = cpu;
    return problem_of(options, {nvme()}, limits);
  };
  EXPECT_EQ(on(1), "");
  EXPECT_EQ(on(9999),
            "7: --sqpoll-cpu: this process may not run on CPU 9999: allowed are 0-1 | choose from "
            "0-1, or widen the process's CPU set (taskset, cgroup cpuset)");
  EXPECT_EQ(on(-2), "2: --sqpoll-cpu: must be between 0 and 65535, got -2 | ");
  EXPECT_EQ(on(65536), "2: --sqpoll-cpu: must be between 0 and 65535, got 65536 | ");
  limits.allowed_cpus.clear();
  EXPECT_EQ(on(9999), "") << "an unknown mask forbids nothing";
}

TEST(Sqpoll, IdlesForAWhile) {
  Options options = reading({nvme()});
  options.sqpoll = true;
  options.sqpoll_idle_ms = -1;
  EXPECT_EQ(problem_of(options, {nvme()}),
            "2: --sqpoll-idle: must be between 0 and 4294967295, got -1 | ");
  options.sqpoll_idle_ms = INT64_C(4294967296);
  EXPECT_EQ(problem_of(options, {nvme()}),
            "2: --sqpoll-idle: must be between 0 and 4294967295, got 4294967296 | ");
}

TEST(StatsOff, IsABitOfTheSetupFlags) {
  Options options = reading({nvme()});
  options.sqpoll = options.no_sqthread_stats = options.force = true;
  const RunPlan plan = plan_of(options, {nvme()});
  EXPECT_EQ(plan.sqthread_stats_bit, 19);
  EXPECT_TRUE(plan.force);
  EXPECT_EQ(plan.notes, Notes{});
  options.sqthread_stats_bit = 31;
  EXPECT_EQ(plan_of(options, {nvme()}).sqthread_stats_bit, 31);
  options.sqthread_stats_bit = 32;
  EXPECT_EQ(problem_of(options, {nvme()}),
            "2: --sqthread-stats-bit: must be between 0 and 31, got 32 | ");
}

TEST(StatsOff, IsNoBitThatMainlineGaveAnotherMeaning) {
  const auto with_bit = [](std::int64_t bit) {
    Options options = reading({nvme()});
    options.sqthread_stats_bit = bit;
    return problem_of(options, {nvme()});
  };
  const std::vector<std::string> names = {
      "IOPOLL",        "SQPOLL",        "SQ_AFF",     "CQSIZE",
      "CLAMP",         "ATTACH_WQ",     "R_DISABLED", "SUBMIT_ALL",
      "COOP_TASKRUN",  "TASKRUN_FLAG",  "SQE128",     "CQE32",
      "SINGLE_ISSUER", "DEFER_TASKRUN", "NO_MMAP",    "REGISTERED_FD_ONLY",
      "NO_SQARRAY",    "HYBRID_IOPOLL", "CQE_MIXED"};
  for (std::size_t bit = 0; bit < names.size(); bit++) {
    EXPECT_EQ(with_bit(static_cast<std::int64_t>(bit)),
              "2: --sqthread-stats-bit: bit " + std::to_string(bit) + " is IORING_SETUP_" +
                  names[bit] +
                  " on every kernel that knows it | give the bit that the patched kernel has for "
                  "it, 19 to 31");
  }
  EXPECT_EQ(with_bit(19), "");
  EXPECT_EQ(with_bit(-1), "2: --sqthread-stats-bit: must be between 0 and 31, got -1 | ");
}

TEST(StatsOff, SaysWhatHasNoEffect) {
  Options options = reading({nvme()});
  options.no_sqthread_stats = true;
  give(options, "sqthread-stats-bit");
  EXPECT_EQ(plan_of(options, {nvme()}).notes,
            Notes{"--no-sqthread-stats has an effect only on the thread of --sqpoll"});
  EXPECT_EQ(plan_of(options, {nvme()}).sqthread_stats_bit, 19) << "the ring gets it all the same";
  options.no_sqthread_stats = false;
  options.force = true;
  options.sqthread_stats_bit = 20;
  const RunPlan plan = plan_of(options, {nvme()});
  EXPECT_EQ(plan.sqthread_stats_bit, -1);
  EXPECT_FALSE(plan.force);
  EXPECT_EQ(plan.notes, (Notes{"--sqthread-stats-bit 20 has no effect without "
                               "--no-sqthread-stats",
                               "--force has no effect without --no-sqthread-stats"}));
}

TEST(HybridPolling, IsAKindOfPolling) {
  Options options = reading({nvme()});
  options.hybrid_iopoll = true;
  options.polled = PolledWish::on;
  EXPECT_TRUE(plan_of(options, {nvme()}).hybrid_iopoll);
  options.polled = PolledWish::automatic;
  EXPECT_TRUE(plan_of(options, {nvme()}).polled);
  EXPECT_TRUE(plan_of(options, {nvme()}).hybrid_iopoll);
  options.polled = PolledWish::off;
  EXPECT_EQ(problem_of(options, {nvme()}),
            "2: --hybrid-iopoll and -p0 contradict each other: it sleeps before it polls | leave "
            "out --hybrid-iopoll or -p0");
}

TEST(HybridPolling, NeedsTargetsThatCan) {
  Options options = reading({nvme(), zram()});
  options.hybrid_iopoll = true;
  options.polled = PolledWish::automatic;
  EXPECT_EQ(problem_of(options, {nvme(), zram()}),
            "7: /dev/zram0: polled I/O (--hybrid-iopoll) is not supported by this block driver "
            "(queue/io_poll is 0) | leave out --hybrid-iopoll, and use -p0; for NVMe, boot with "
            "nvme.poll_queues=N");
  TargetShape unknown = nvme("/dev/x");
  unknown.can_poll.reset();
  EXPECT_EQ(problem_of(options, {nvme(), unknown}),
            "7: /dev/x: whether polled I/O (--hybrid-iopoll) is supported cannot be told | try it "
            "with -p1, or leave out --hybrid-iopoll");
  options.polled = PolledWish::on;
  EXPECT_EQ(problem_of(options, {nvme(), unknown}), "");
  EXPECT_EQ(problems_of(options, {nvme(), zram()}).size(), 1U) << "once, for -p1";
}

TEST(HybridPolling, NeedsARunThatIsPolled) {
  Options options = reading({nvme()});
  options.hybrid_iopoll = true;
  options.polled = PolledWish::automatic;
  options.direct = false;
  EXPECT_EQ(problem_of(options, {nvme()}),
            "2: --hybrid-iopoll and -O0 contradict each other: buffered I/O cannot be polled | "
            "leave out --hybrid-iopoll or -O0");
  options.direct = true;
  options.nop = true;
  EXPECT_EQ(problem_of(options, {nvme()}),
            "2: --hybrid-iopoll needs -p1 with -N1: no-ops are polled on demand only | add -p1, or "
            "leave out --hybrid-iopoll");
  options.polled = PolledWish::on;
  EXPECT_EQ(problem_of(options, {nvme()}), "");
}

}  // namespace
}  // namespace uringbench::plan
