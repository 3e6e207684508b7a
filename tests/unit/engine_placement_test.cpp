// Threads and memory on a NUMA node. Each test has a thread of its own: placement stays with it.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <numaif.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "engine/placement.hpp"
#include "machine_test_support.hpp"

namespace uringbench::engine {
namespace {

using machine::test::refusal_of;

template <class Action>
void in_a_thread(const Action& action) {
  std::thread(action).join();
}

cpu_set_t affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  return set;
}

/// The calling thread's policy and its nodes 0 to 63.
std::pair<int, unsigned long> memory_policy() {
  int mode = -1;
  unsigned long nodes[16]{};
  EXPECT_EQ(get_mempolicy(&mode, nodes, sizeof(nodes) * 8, nullptr, 0), 0) << errno;
  return {mode, nodes[0]};
}

TEST(Placement, BindsTheThreadsMemory) {
  in_a_thread([] {
    const cpu_set_t before = affinity();
    place_memory_on_node(0);
    EXPECT_EQ(memory_policy(), (std::pair<int, unsigned long>{MPOL_BIND, 1}));
    const cpu_set_t after = affinity();
    EXPECT_TRUE(CPU_EQUAL(&before, &after)) << "the CPUs are another thing";
    const std::size_t bytes = 1 << 16;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    int node = -1;
    EXPECT_EQ(get_mempolicy(&node, nullptr, 0, memory, MPOL_F_NODE | MPOL_F_ADDR), 0);
    EXPECT_EQ(node, 0);
    munmap(memory, bytes);
  });
  EXPECT_EQ(memory_policy().first, MPOL_DEFAULT) << "of the other threads";
}

TEST(Placement, KeepsToTheCpusThatWereAllowed) {
  in_a_thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    const cpu_set_t all = affinity();
    int last = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &all)) last = cpu;
    }
    CPU_SET(last, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    place_on_node(0);
    const cpu_set_t placed = affinity();
    EXPECT_TRUE(CPU_EQUAL(&placed, &one)) << "not all of the node's CPUs";
    EXPECT_EQ(memory_policy().first, MPOL_BIND);
  });
}

TEST(Placement, AMissingNodeIsNamed) {
  in_a_thread([] {
    for (const int node : {-1, 63, 100'000}) {
      const base::Problem thread = refusal_of([&] { place_on_node(node); });
      EXPECT_EQ(thread.what, "NUMA node " + std::to_string(node) + ": there is no such node");
      EXPECT_NE(thread.hint.find("-P0"), std::string::npos);
      const base::Problem memory = refusal_of([&] { place_memory_on_node(node); });
      EXPECT_NE(memory.what.find("set_mempolicy: EINVAL"), std::string::npos) << memory.what;
      EXPECT_NE(memory.hint.find("-P0"), std::string::npos);
    }
    EXPECT_EQ(memory_policy().first, MPOL_DEFAULT) << "a refusal changes nothing";
  });
}

/// From now on the system call answers so, in the calling thread alone.
void answer(unsigned system_call, int error_number) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, system_call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error_number)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter), 0) << errno;
}

TEST(Placement, AKernelWithoutNumaIsTold) {
  in_a_thread([] {
    answer(SYS_get_mempolicy, ENOSYS);
    for (const auto place : {place_on_node, place_memory_on_node}) {
      const base::Problem problem = refusal_of([&] { place(0); });
      EXPECT_EQ(problem.what.find("NUMA node 0: get_mempolicy: ENOSYS"), 0U) << problem.what;
      EXPECT_NE(problem.hint.find("CONFIG_NUMA"), std::string::npos) << problem.hint;
      EXPECT_NE(problem.hint.find("-P0"), std::string::npos);
    }
  });
}

TEST(Placement, ASandboxThatForbidsItIsTold) {
  in_a_thread([] {
    answer(SYS_set_mempolicy, EPERM);
    for (const auto place : {place_on_node, place_memory_on_node}) {
      const base::Problem problem = refusal_of([&] { place(0); });
      EXPECT_EQ(problem.what.find("NUMA node 0: set_mempolicy: EPERM"), 0U) << problem.what;
      EXPECT_NE(problem.hint.find("sandbox"), std::string::npos) << problem.hint;
    }
  });
}

}  // namespace
}  // namespace uringbench::engine
