// The identity of a cell: its words are a contract with documents that were written before.
#include <gtest/gtest.h>

#include <string>

#include "plan/plan.hpp"
#include "plan_fixture.hpp"

namespace uringbench::plan {
namespace {

using namespace testing;

const std::string kNothingSpecial =
    " passthrough=0 restrict=0 hugepages=none numa=0 taskrun=auto hybrid=0 sqpoll=0 sqpoll_cpu=any "
    "sqpoll_idle=0 sqpoll_share=0 sqstats=on queue=-";

TEST(CellId, IsTheWholeExperimentInAFixedOrder) {
  RunPlan plan = plan_of(reading({file_of(kMiB)}), {file_of(kMiB)});
  EXPECT_EQ(cell_id(plan),
            "randread bs=4096 qd=128 submit=32 complete=32 threads=1 direct=1 polled=0 fixedbufs=1 "
            "regfiles=1 engine=io_uring regring=1 vectored=0 latency=0 targets=1 cpus=any" +
                kNothingSpecial);
  plan.threads = {
      {.cpu = 3, .targets = {0}}, {.cpu = 1, .targets = {0}}, {.cpu = 2, .targets = {0}}};
  plan.random = false;
  plan.engine = Engine::sync;
  plan.latency = true;
  EXPECT_EQ(cell_id(plan),
            "seqread bs=4096 qd=128 submit=32 complete=32 threads=3 direct=1 polled=0 fixedbufs=1 "
            "regfiles=1 engine=sync regring=1 vectored=0 latency=1 targets=1 cpus=1-3" +
                kNothingSpecial);
}

TEST(CellId, OfNopSaysWhetherThereIsAFile) {
  Options options;
  options.nop = true;
  EXPECT_EQ(cell_id(plan_of(options, {})),
            "nop bs=4096 qd=128 submit=32 complete=32 threads=1 direct=1 polled=0 fixedbufs=0 "
            "regfiles=0 engine=io_uring regring=1 vectored=0 latency=0 targets=0 cpus=any" +
                kNothingSpecial);
}

TEST(CellId, SaysHowARingIsSetUp) {
  Options options = reading({generic()});
  options.passthrough = options.restrict_ring = options.sqpoll = options.sqpoll_share = true;
  options.hybrid_iopoll = options.no_sqthread_stats = options.numa = true;
  options.polled = PolledWish::on;
  options.hugetlb = "anon";
  options.sqpoll_cpu = 5;
  options.sqpoll_idle_ms = 20;
  options.threads = 2;
  options.taskrun = TaskRun::plain;
  options.queue = {{"nomerges", "2"}, {"iostats", "0"}};
  TargetShape target = generic();
  target.node = 3;
  Limits limits;
  limits.huge_page_bytes = 2 * kMiB;
  limits.huge_pages_free = 2;
  EXPECT_EQ(cell_id(plan_of(options, {target}, limits)),
            "randread bs=4096 qd=128 submit=32 complete=32 threads=2 direct=1 polled=1 fixedbufs=1 "
            "regfiles=1 engine=io_uring regring=1 vectored=0 latency=0 targets=1 cpus=any "
            "passthrough=1 restrict=1 hugepages=anon numa=1 taskrun=plain hybrid=1 sqpoll=1 "
            "sqpoll_cpu=5 sqpoll_idle=20 sqpoll_share=1 sqstats=off queue=iostats:0,nomerges:2");
}

TEST(CellId, HasAWordForEachChoice) {
  RunPlan plan = plan_of(reading({nvme()}), {nvme()});
  const auto has = [&](const std::string& word) {
    return (cell_id(plan) + " ").find(" " + word + " ") != std::string::npos;
  };
  plan.engine = Engine::aio;
  EXPECT_TRUE(has("engine=aio"));
  plan.huge_pages = HugePages::file;
  EXPECT_TRUE(has("hugepages=file"));
  plan.taskrun_asked = true;
  EXPECT_TRUE(has("taskrun=defer"));
  plan.taskrun = TaskRun::coop;
  EXPECT_TRUE(has("taskrun=coop"));
}

TEST(CellId, DoesNotKnowNodesNorTheOrderOfAttributes) {
  RunPlan plan = plan_of(reading({nvme()}), {nvme()});
  plan.threads[0].node = 0;
  plan.queue = {{"b", "1"}, {"a", "2"}};
  const std::string before = cell_id(plan);
  plan.threads[0].node = 1;
  plan.queue = {{"a", "2"}, {"b", "1"}};
  EXPECT_EQ(cell_id(plan), before);
}

TEST(CellId, DoesNotKnowSeedNorDuration) {
  Options options = reading({file_of(kMiB)});
  const std::string before = cell_id(plan_of(options, {file_of(kMiB)}));
  options.seed = 99;
  options.runtime_ns = 1'000'000'000;
  options.warmup_ns = 1;
  options.repeats = 3;
  options.label = "new";
  EXPECT_EQ(cell_id(plan_of(options, {file_of(kMiB, "elsewhere")})), before);
}

}  // namespace
}  // namespace uringbench::plan
