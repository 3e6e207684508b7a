// Where threads run: CPUs near the device, NUMA nodes, and how many threads -n auto makes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "plan_fixture.hpp"

namespace uringbench::plan {
namespace {

using namespace testing;
using Notes = std::vector<std::string>;
using Cpus = std::vector<int>;

/// Two nodes of two cores with two threads each; siblings are 4 apart, as is usual.
Limits two_nodes() {
  Limits limits;
  limits.allowed_cpus = {0, 1, 2, 3, 4, 5, 6, 7};
  limits.cores = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  limits.node_cpus = {{0, {0, 1, 4, 5}}, {1, {2, 3, 6, 7}}};
  return limits;
}

TargetShape on_node(int node, std::string path = "/dev/nvme0n1") {
  TargetShape target = nvme(std::move(path));
  target.node = node;
  if (node >= 0) target.local_cpus = two_nodes().node_cpus.at(node);
  return target;
}

Options placed(CpuPlace place, const std::vector<TargetShape>& targets) {
  Options options = reading(targets);
  options.cpu_place = place;
  options.threads_auto = true;
  options.threads = 0;
  return options;
}

Cpus cpus_of(const RunPlan& plan) {
  Cpus cpus;
  for (const ThreadPlan& thread : plan.threads) cpus.push_back(thread.cpu);
  return cpus;
}

std::vector<int> nodes_of(const RunPlan& plan) {
  std::vector<int> nodes;
  for (const ThreadPlan& thread : plan.threads) nodes.push_back(thread.node);
  return nodes;
}

TEST(LocalCore, IsTheFirstNearTheFirstTarget) {
  const std::vector<TargetShape> targets{on_node(1), on_node(0, "/dev/nvme1n1")};
  const RunPlan plan = plan_of(placed(CpuPlace::local_core, targets), targets, two_nodes());
  EXPECT_EQ(cpus_of(plan), (Cpus{2, 6}));
  EXPECT_EQ(plan.notes, (Notes{"--cpus local-core: CPUs 2,6", "-n auto: 2 threads, one per CPU"}));
}

TEST(LocalCore, HasOnlyAllowedCpus) {
  Limits limits = two_nodes();
  limits.allowed_cpus = {0, 1, 6, 7};
  const RunPlan plan = plan_of(placed(CpuPlace::local_core, {on_node(1)}), {on_node(1)}, limits);
  EXPECT_EQ(cpus_of(plan), Cpus{6}) << "its sibling 2 is not allowed";
  EXPECT_EQ(plan.notes, (Notes{"--cpus local-core: CPU 6", "-n auto: 1 thread"}));
  limits.allowed_cpus = {0, 1, 3, 7};
  EXPECT_EQ(cpus_of(plan_of(placed(CpuPlace::local_core, {on_node(1)}), {on_node(1)}, limits)),
            (Cpus{3, 7}))
      << "no CPU of the first core is allowed";
}

TEST(LocalCore, OfUnknownCoresIsOneCpu) {
  Limits limits = two_nodes();
  limits.cores.clear();
  EXPECT_EQ(cpus_of(plan_of(placed(CpuPlace::local_core, {on_node(1)}), {on_node(1)}, limits)),
            Cpus{2});
  limits.cores = {{0, 4}};
  EXPECT_EQ(cpus_of(plan_of(placed(CpuPlace::local_core, {on_node(1)}), {on_node(1)}, limits)),
            Cpus{2})
      << "and so where the core is missing among them";
}

TEST(LocalNode, IsAllItsAllowedCpus) {
  Limits limits = two_nodes();
  const Options options = placed(CpuPlace::local_node, {on_node(1)});
  EXPECT_EQ(cpus_of(plan_of(options, {on_node(1)}, limits)), (Cpus{2, 3, 6, 7}));
  limits.allowed_cpus = {1, 3, 6};
  const RunPlan plan = plan_of(options, {on_node(1)}, limits);
  EXPECT_EQ(cpus_of(plan), (Cpus{3, 6}));
  EXPECT_EQ(plan.notes[0], "--cpus local-node: CPUs 3,6");
  limits.allowed_cpus.clear();
  EXPECT_EQ(cpus_of(plan_of(options, {on_node(1)}, limits)), (Cpus{2, 3, 6, 7}))
      << "an unknown mask forbids nothing";
}

TEST(LocalCpus, AreRefusedWhereNoneIsAllowed) {
  Limits limits = two_nodes();
  limits.allowed_cpus = {0, 1};
  const std::string said =
      ": this process may run on no CPU near /dev/nvme0n1: near are 2-3,6-7, allowed are 0-1 | "
      "give the numbers of CPUs, or leave out --cpus, or widen the process's CPU set (taskset, "
      "cgroup cpuset)";
  EXPECT_EQ(problem_of(placed(CpuPlace::local_core, {on_node(1)}), {on_node(1)}, limits),
            "7: --cpus local-core" + said);
  EXPECT_EQ(problem_of(placed(CpuPlace::local_node, {on_node(1)}), {on_node(1)}, limits),
            "7: --cpus local-node" + said);
}

TEST(LocalCpus, AreAnyWhereTheDevicesAreUnknown) {
  Limits limits = two_nodes();
  limits.allowed_cpus = {1, 4, 5};
  RunPlan plan = plan_of(placed(CpuPlace::local_node, {on_node(-1)}), {on_node(-1)}, limits);
  EXPECT_EQ(cpus_of(plan), (Cpus{1, 4, 5}));
  EXPECT_EQ(plan.notes,
            (Notes{"--cpus local-node: the CPUs near /dev/nvme0n1 are not known: any "
                   "allowed CPU will do",
                   "--cpus local-node: CPUs 1,4-5", "-n auto: 3 threads, one per CPU"}));
  Options nop = placed(CpuPlace::local_core, {});
  nop.nop = true;
  plan = plan_of(nop, {}, limits);
  EXPECT_EQ(cpus_of(plan), Cpus{4});
  EXPECT_EQ(plan.notes, (Notes{"--cpus local-core: there is no device to be near: any allowed CPU "
                               "will do",
                               "--cpus local-core: CPU 4", "-n auto: 1 thread"}));
  limits.allowed_cpus.clear();
  EXPECT_EQ(problem_of(nop, {}, limits),
            "7: --cpus local-core: which CPUs there are is not known | give the numbers of CPUs, "
            "or leave out --cpus");
}

TEST(LocalCpus, AreTakenInTurnByAGivenNumberOfThreads) {
  Options options = placed(CpuPlace::local_core, {on_node(0)});
  options.threads_auto = false;
  options.threads = 3;
  const RunPlan plan = plan_of(options, {on_node(0)}, two_nodes());
  EXPECT_EQ(cpus_of(plan), (Cpus{0, 4, 0}));
  EXPECT_EQ(plan.notes, Notes{"--cpus local-core: CPUs 0,4"});
}

TEST(ThreadsAuto, AreAsManyAsTargetsOrCpus) {
  const auto note = [](std::size_t targets, std::size_t cpus) {
    const std::vector<TargetShape> shapes(targets, nvme());
    Options options = placed(CpuPlace::listed, shapes);
    options.nop = targets == 0;
    options.fixed_buffers = false;
    for (std::size_t cpu = 0; cpu < cpus; cpu++) options.cpus.push_back(static_cast<int>(cpu));
    const RunPlan plan = plan_of(options, shapes);
    return std::to_string(plan.threads.size()) + " " + plan.notes.at(0);
  };
  EXPECT_EQ(note(0, 0), "1 -n auto: 1 thread");
  EXPECT_EQ(note(1, 0), "1 -n auto: 1 thread");
  EXPECT_EQ(note(1, 1), "1 -n auto: 1 thread");
  EXPECT_EQ(note(3, 0), "3 -n auto: 3 threads, one per target");
  EXPECT_EQ(note(3, 2), "3 -n auto: 3 threads, one per target");
  EXPECT_EQ(note(2, 2), "2 -n auto: 2 threads, one per CPU");
  EXPECT_EQ(note(1, 4), "4 -n auto: 4 threads, one per CPU");
  EXPECT_EQ(note(0, 1024), "1024 -n auto: 1024 threads, one per CPU");
  EXPECT_EQ(note(0, 1025), "1024 -n auto: 1024 threads, the most there can be");
}

TEST(Numa, EachThreadIsOnTheNodeOfItsFirstTarget) {
  const std::vector<TargetShape> targets{on_node(1), on_node(0, "b"), on_node(-1, "c")};
  Options options = reading(targets);
  options.threads = 3;
  EXPECT_EQ(nodes_of(plan_of(options, targets, two_nodes())), (std::vector<int>{-1, -1, -1}));
  options.numa = true;
  const RunPlan plan = plan_of(options, targets, two_nodes());
  EXPECT_EQ(nodes_of(plan), (std::vector<int>{1, 0, -1}));
  EXPECT_EQ(plan.notes, Notes{});
  options.threads = 2;
  EXPECT_EQ(nodes_of(plan_of(options, targets, two_nodes())), (std::vector<int>{1, 0}))
      << "threads that read all targets begin with different ones";
}

TEST(Numa, IsForEveryEngine) {
  Options options = reading({on_node(1)});
  options.numa = options.sync = true;
  EXPECT_EQ(nodes_of(plan_of(options, {on_node(1)})), std::vector<int>{1});
  options.sync = false;
  options.aio = true;
  EXPECT_EQ(nodes_of(plan_of(options, {on_node(1)})), std::vector<int>{1});
}

TEST(Numa, NeedsAnAllowedCpuOnTheNodeUnlessPinned) {
  const std::vector<TargetShape> targets{on_node(1), on_node(0, "b"), on_node(1, "c")};
  Options options = reading(targets);
  options.numa = true;
  options.threads = 3;
  Limits limits = two_nodes();
  limits.allowed_cpus = {0, 1};
  EXPECT_EQ(problem_of(options, targets, limits),
            "7: -P1: this process may run on no CPU of node 1, where /dev/nvme0n1 is: it has "
            "2-3,6-7, allowed are 0-1 | use -P0, pin the threads by --cpus, or widen the process's "
            "CPU set (taskset, cgroup cpuset)");
  options.cpus = {0};
  EXPECT_EQ(problem_of(options, targets, limits), "") << "memory there, threads here";
  options.cpus.clear();
  limits.node_cpus.erase(1);
  EXPECT_EQ(problem_of(options, targets, limits), "") << "an unknown node forbids nothing";
  limits = two_nodes();
  limits.node_cpus[1].clear();
  EXPECT_EQ(problem_of(options, targets, limits),
            "7: -P1: this process may run on no CPU of node 1, where /dev/nvme0n1 is: it has none, "
            "allowed are 0-7 | use -P0, pin the threads by --cpus, or widen the process's CPU set "
            "(taskset, cgroup cpuset)");
  limits.allowed_cpus.clear();
  EXPECT_EQ(problem_of(options, targets, limits), "") << "nor does an unknown mask";
}

TEST(Numa, HasNoEffectWithoutADevice) {
  Options options;
  options.nop = options.numa = true;
  const RunPlan plan = plan_of(options, {}, two_nodes());
  EXPECT_EQ(nodes_of(plan), std::vector<int>{-1});
  EXPECT_EQ(plan.notes, Notes{"--numa 1 has no effect with -N1 without a FILE: there is no device "
                              "to be near"});
}

}  // namespace
}  // namespace uringbench::plan
