// Findings of where threads run, of --queue, and of passthrough.
#include "machine_judge_fixture.hpp"

namespace uringbench::machine {
namespace {

using test::machine_root;
using Codes = std::vector<std::string>;

class MachinePlacement : public test::JudgeFixture {
 protected:
  void pin(const std::vector<int>& cpus) {
    for (std::size_t i = 0; i < plan_.threads.size(); ++i) plan_.threads[i].cpu = cpus[i];
  }
  /// A device that is nowhere, and has nothing else to it.
  static TargetFacts virtual_target(const std::string& path) {
    TargetFacts facts = block_target("zram", "252:0", path);
    facts.device->queue["iostats"] = "0";
    return facts;
  }
  bool reports(const std::string& part) const {
    return only().message.find(part) != std::string::npos;
  }
};

// ---- SQPOLL ----

TEST_F(MachinePlacement, APollerWithACpuOfItsOwn) {
  plan_.sqpoll = true;
  EXPECT_EQ(codes(), Codes{});
  plan_.threads.resize(2);
  EXPECT_EQ(codes(), Codes{}) << "2 threads and 2 pollers on 4 CPUs";
  plan_.threads.resize(3);
  plan_.sqpoll_share = true;
  EXPECT_EQ(codes(), Codes{});
  plan_.sqpoll_cpu = 3;
  pin({0, 1, 2});
  EXPECT_EQ(codes(), Codes{});
}

TEST_F(MachinePlacement, TooFewCpusForThreadsAndPollers) {
  plan_.sqpoll = true;
  plan_.threads.resize(3);
  EXPECT_FINDING(only(), warning, "sqpoll-shares-cpu",
                 "3 threads and 3 SQPOLL threads share 4 CPUs: they take turns instead of working "
                 "side by side",
                 "use --threads 2 or fewer, or --sqpoll-share");
  plan_.threads.resize(4);
  EXPECT_EQ(only().hint, "use --threads 2 or fewer") << "one poller would be one too many, too";
  plan_.sqpoll_share = true;
  EXPECT_FINDING(only(), warning, "sqpoll-shares-cpu",
                 "4 threads and 1 SQPOLL thread share 4 CPUs: they take turns instead of working "
                 "side by side",
                 "use --threads 3 or fewer");
  plan_.threads.resize(9);
  EXPECT_EQ(codes(), Codes{"sqpoll-shares-cpu"}) << "and not few-cpus, which says less";
  plan_.sqpoll = false;
  EXPECT_EQ(codes(), Codes{"few-cpus"});
}

TEST_F(MachinePlacement, OneCpuIsNeverEnough) {
  plan_.sqpoll = true;
  limits_.allowed_cpus = {2};
  EXPECT_FINDING(
      only(), warning, "sqpoll-shares-cpu",
      "1 thread and 1 SQPOLL thread share 1 CPU: they take turns instead of working side "
      "by side",
      "more CPUs for this process (taskset), or no --sqpoll");
  plan_.sqpoll_cpu = 2;
  EXPECT_EQ(codes(), Codes{"sqpoll-shares-cpu"});
}

TEST_F(MachinePlacement, APollerOnTheCpuOfAThread) {
  plan_.sqpoll = true;
  plan_.sqpoll_cpu = 1;
  plan_.threads.resize(2);
  plan_.sqpoll_share = true;
  pin({0, 1});
  EXPECT_FINDING(
      only(), warning, "sqpoll-shares-cpu",
      "thread 1 is pinned to the CPU of the SQPOLL thread, 1: they take turns instead of "
      "working side by side",
      "a --sqpoll-cpu that no thread is pinned to");
  plan_.sqpoll_share = false;
  EXPECT_FINDING(
      only(), warning, "sqpoll-shares-cpu",
      "thread 1 is pinned to the CPU of the SQPOLL thread, 1; 2 SQPOLL threads share CPU "
      "1: they take turns instead of working side by side",
      "--sqpoll-share with a --sqpoll-cpu that no thread is pinned to");
  plan_.sqpoll_cpu = 2;
  EXPECT_TRUE(reports("2 SQPOLL threads share CPU 2"));
}

TEST_F(MachinePlacement, SeveralPollersOnOneCpu) {
  plan_.sqpoll = true;
  plan_.threads.resize(2);
  plan_.sqpoll_cpu = 3;
  EXPECT_TRUE(reports("2 SQPOLL threads share CPU 3"));
  plan_.sqpoll_share = true;
  EXPECT_EQ(codes(), Codes{});
}

TEST_F(MachinePlacement, APinnedThreadsPollerIsNotPinnedWithIt) {
  plan_.sqpoll = true;
  pin({3});
  EXPECT_EQ(codes(), Codes{});
  limits_.allowed_cpus = {3};
  EXPECT_TRUE(reports("1 thread and 1 SQPOLL thread share 1 CPU"));
}

// ---- CPUs of pinned and placed threads ----

TEST_F(MachinePlacement, PinnedThreadsShareTheCpusTheyArePinnedTo) {
  plan_.threads.resize(3);
  pin({0, 1, 0});
  EXPECT_FINDING(only(), warning, "few-cpus",
                 "3 threads share 2 CPUs: they wait for each other, not for the device",
                 "use --threads 2 or fewer, or more --cpus");
  pin({0, 1, 2});
  EXPECT_EQ(codes(), Codes{});
}

TEST_F(MachinePlacement, ThreadsOnANodeShareItsCpus) {
  limits_.node_cpus = {{0, {0, 1}}, {1, {2, 3, 8, 9}}};  // of which 8 and 9 are not allowed
  plan_.threads.resize(3);
  for (plan::ThreadPlan& thread : plan_.threads) thread.node = 1;
  EXPECT_TRUE(reports("3 threads share 2 CPUs"));
  plan_.threads[0].node = 0;
  EXPECT_EQ(codes(), Codes{}) << "four together";
  plan_.threads.resize(1);
  plan_.threads[0].node = 1;
  plan_.sqpoll = true;
  EXPECT_EQ(codes(), Codes{});
  plan_.threads.resize(2);
  plan_.threads[1].node = 1;
  plan_.sqpoll_share = true;
  EXPECT_TRUE(reports("2 threads and 1 SQPOLL thread share 2 CPUs"));
  plan_.sqpoll_cpu = 0;
  EXPECT_EQ(codes(), Codes{}) << "it is on another node";
}

// ---- NUMA ----

TEST_F(MachinePlacement, ANodeThatIsNotKnown) {
  options_.numa = true;
  target() = virtual_target("/dev/zram0");
  identity_.numa_nodes = 2;
  EXPECT_FINDING(only(), warning, "numa-unknown",
                 "/dev/zram0: its NUMA node is not known (zram0 is a virtual device, which is on "
                 "none): nothing is placed (-P1)",
                 "place the threads with --cpus");
  identity_.numa_nodes = 1;
  EXPECT_EQ(only().hint, "this machine has one NUMA node, so nothing is lost");
  options_.numa = false;
  EXPECT_EQ(codes(), Codes{});
}

TEST_F(MachinePlacement, ReasonsForNotKnowing) {
  options_.numa = true;
  target().device->numa_node.reset();
  EXPECT_TRUE(reports("(the firmware does not tell where nvme0n1 (0000:01:00.0) is)"));
  target().device->pci_address.reset();
  target().device->name = "dm-0";
  target().device->driver = "dm";
  EXPECT_TRUE(reports("(what dm-0 is made of is not known to be all on one node)"));
  target().device.reset();
  EXPECT_TRUE(reports("(sysfs does not know its device)"));
  target().kind = TargetKind::file;
  target().filesystem = "nfs4";
  EXPECT_TRUE(reports("(nfs4 has no device below it)"));
}

TEST_F(MachinePlacement, SomeNodesAreKnown) {
  options_.numa = true;
  EXPECT_EQ(codes(), Codes{}) << "all are";
  plan_.threads.resize(3);
  plan_.threads[0].node = 1;
  for (const char* name : {"/dev/zram0", "/dev/zram1"}) {
    targets_.push_back(virtual_target(name));
  }
  EXPECT_TRUE(reports("/dev/zram0 (and 1 more): its NUMA node"));
  EXPECT_TRUE(reports("2 of 3 threads are not placed (-P1)"));
  for (plan::ThreadPlan& thread : plan_.threads) thread.node = 1;
  EXPECT_TRUE(reports("it has no part in the placing"));
}

TEST_F(MachinePlacement, PinnedAwayFromTheMemory) {
  options_.numa = true;
  limits_.node_cpus = {{0, {0, 1}}, {1, {2, 3}}};
  plan_.threads.resize(2);
  for (plan::ThreadPlan& thread : plan_.threads) thread.node = 1;
  pin({2, 3});
  EXPECT_EQ(codes(), Codes{});
  pin({2, 0});
  EXPECT_FINDING(only(), info, "numa-and-cpus",
                 "thread 1 is pinned to CPU 0 (--cpus), which is not on node 1, where its target "
                 "and its memory are (-P1)",
                 "--cpus local-node, or leave out one of --cpus and -P");
  pin({1, 0});
  EXPECT_TRUE(reports("thread 0 (and 1 more) is pinned to CPU 1"));
  limits_.node_cpus.clear();
  EXPECT_EQ(codes(), Codes{}) << "which CPU is where cannot be told";
}

TEST_F(MachinePlacement, ANopIsAtHomeAnywhere) {
  options_.numa = true;
  plan_.nop = true;
  target() = virtual_target("/dev/zram0");
  EXPECT_EQ(codes(), Codes{});
}

// ---- --queue ----

TEST_F(MachinePlacement, WhatQueueChanges) {
  plan_.queue = {{"iostats", "1"}, {"nomerges", "2"}, {"add_random", "0"}};
  plan_.queue_disks = {"nvme0n1"};
  const std::vector<Finding> all = findings();
  ASSERT_EQ(codes(), (Codes{"iostats", "queue-changed"})) << "the first as it will be";
  EXPECT_FINDING(
      all[1], info, "queue-changed",
      "--queue sets iostats=1 (now 0), add_random=0 on nvme0n1 for the run, and what was "
      "there is restored at the end",
      "nothing to do");
  plan_.queue = {{"nomerges", "2"}};
  EXPECT_EQ(codes(), Codes{}) << "it is 2 already";
}

TEST_F(MachinePlacement, WhatQueueCuresIsNotComplainedOf) {
  target().device->queue["scheduler"] = "mq-deadline";
  target().device->queue["iostats"] = "1";
  plan_.queue = {{"scheduler", "none"}, {"iostats", "0"}};
  EXPECT_EQ(codes(), (Codes{"scheduler", "iostats", "queue-changed"})) << "on another disk";
  plan_.queue_disks = {"nvme0n1"};
  EXPECT_EQ(codes(), Codes{"queue-changed"});
}

TEST_F(MachinePlacement, DisksThatDifferAreNotQuoted) {
  targets_.push_back(target());
  targets_.back().path = targets_.back().resolved_path = "/dev/nvme1n1";
  targets_.back().device->name = "nvme1n1";
  targets_.back().device->queue["nomerges"] = "0";
  plan_.queue = {{"nomerges", "2"}};
  plan_.queue_disks = {"nvme0n1", "nvme1n1"};
  EXPECT_TRUE(reports("--queue sets nomerges=2 on nvme0n1, nvme1n1 for the run"));
}

// ---- passthrough ----

TEST_F(MachinePlacement, PassthroughGoesPastCacheAndScheduler) {
  target().kind = TargetKind::nvme_generic;
  target().path = target().resolved_path = "/dev/ng0n1";
  target().device->queue["scheduler"] = "bfq";
  plan_.passthrough = true;
  plan_.direct = false;
  EXPECT_EQ(codes(), Codes{});
  target().device->queue["iostats"] = "1";
  EXPECT_EQ(only().message,
            "/dev/ng0n1 (on nvme0n1): the kernel counts every request of this device (iostats is "
            "1)");
  target().device->queue["iostats_passthrough"] = "0";
  EXPECT_EQ(codes(), Codes{});
  target().busy = true;
  EXPECT_EQ(only().hint, "lsblk /dev/nvme0n1 shows by whom");
}

TEST_F(MachinePlacement, PassthroughWithoutPollQueues) {
  target().kind = TargetKind::nvme_generic;
  target().path = target().resolved_path = "/dev/ng0n1";
  target().device->queue["io_poll"] = "0";
  decide_polling(target());
  plan_.passthrough = true;
  plan_.polled = false;
  plan_.direct = false;
  EXPECT_FINDING(only(), info, "not-polled",
                 "/dev/ng0n1: not polled: polled I/O is not possible without poll queues (nvme0n1: "
                 "queue/io_poll is 0), and the kernel would silently complete through interrupts",
                 "for NVMe, boot with nvme.poll_queues=N or reload the module with poll_queues=N");
  target().size_bytes = (1 << 20) + 512;
  EXPECT_EQ(codes(), (Codes{"partial-tail", "not-polled"}));
}

}  // namespace
}  // namespace uringbench::machine
