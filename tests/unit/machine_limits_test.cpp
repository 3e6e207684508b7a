// CPU topology, huge pages and AIO requests: what the plan gets to know of the machine.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "machine/cpu_lists.hpp"
#include "machine/huge_pages.hpp"
#include "machine/machine.hpp"
#include "machine/topology.hpp"
#include "machine_test_support.hpp"

namespace uringbench::machine {
namespace {

using base::ExitCode;
using base::Problem;
using test::refusal_of;
using test::TemporaryFolder;
using Cores = std::vector<std::vector<int>>;

TEST(MachineCpuLists, NumbersInOrder) {
  EXPECT_EQ(listed_numbers("0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(listed_numbers("7"), std::vector<int>{7});
  for (const char* junk : {"", "a", "3-1", "1,", "1-2-3", "-1", "0-4000000000", "0-65536"}) {
    EXPECT_EQ(listed_numbers(junk), std::vector<int>{}) << junk;
    EXPECT_EQ(count_listed(junk), 0) << junk;
  }
}

class MachineTopology : public ::testing::Test {
 protected:
  void online(const std::string& list) const {
    machine_.write("sys/devices/system/cpu/online", list + "\n");
  }
  void cpu(int number, const std::string& file, const std::string& list) const {
    machine_.write("sys/devices/system/cpu/cpu" + std::to_string(number) + "/topology/" + file,
                   list + "\n");
  }
  void node(int number, const std::string& list) const {
    machine_.write("sys/devices/system/node/node" + std::to_string(number) + "/cpulist",
                   list + "\n");
  }
  Root root() const { return Root{machine_.path()}; }

  TemporaryFolder machine_;
};

TEST_F(MachineTopology, SiblingsMakeACore) {
  online("0-3");
  for (const int number : {0, 2}) cpu(number, "core_cpus_list", "0,2");
  for (const int number : {1, 3}) cpu(number, "core_cpus_list", "1,3");
  EXPECT_EQ(read_cores(root()), (Cores{{0, 2}, {1, 3}}));
  EXPECT_EQ(read_limits(root()).cores, (Cores{{0, 2}, {1, 3}}));
}

TEST_F(MachineTopology, OldKernelsCallTheListOtherwise) {
  online("0-1");
  for (const int number : {0, 1}) cpu(number, "thread_siblings_list", "0-1");
  EXPECT_EQ(read_cores(root()), (Cores{{0, 1}}));
}

TEST_F(MachineTopology, OnlyWhatIsOnlineAndByTheFirstCpu) {
  online("1-2,4");
  cpu(1, "core_cpus_list", "1,5");
  cpu(2, "core_cpus_list", "0,2");
  cpu(4, "core_cpus_list", "4");
  EXPECT_EQ(read_cores(root()), (Cores{{1}, {2}, {4}}));
}

TEST_F(MachineTopology, WhatCannotBeToldIsEmpty) {
  EXPECT_EQ(read_cores(root()), Cores{});
  online("0-1");
  EXPECT_EQ(read_cores(root()), Cores{});
  cpu(0, "core_cpus_list", "0");
  cpu(1, "core_cpus_list", "junk");
  EXPECT_EQ(read_cores(root()), Cores{}) << "half a topology is none";
  cpu(1, "core_cpus_list", "1");
  EXPECT_EQ(read_cores(root()), (Cores{{0}, {1}}));
}

TEST_F(MachineTopology, Nodes) {
  EXPECT_TRUE(read_node_cpus(root()).empty());
  node(0, "0-1");
  node(10, "2-3,6");
  node(2, "");  // memory only
  machine_.write("sys/devices/system/node/nodes/cpulist", "0\n");
  const std::map<int, std::vector<int>> expected = {{0, {0, 1}}, {10, {2, 3, 6}}};
  EXPECT_EQ(read_node_cpus(root()), expected);
  EXPECT_EQ(read_limits(root()).node_cpus, expected);
}

TEST(MachineTopologyHere, EveryOnlineCpuIsInOneCore) {
  const plan::Limits limits = read_limits();
  if (limits.cores.empty()) GTEST_SKIP() << "this kernel shows no topology";
  std::vector<int> cpus;
  for (const std::vector<int>& core : limits.cores)
    cpus.insert(cpus.end(), core.begin(), core.end());
  EXPECT_EQ(static_cast<long>(cpus.size()), ::sysconf(_SC_NPROCESSORS_ONLN));
  std::sort(cpus.begin(), cpus.end());
  EXPECT_EQ(std::adjacent_find(cpus.begin(), cpus.end()), cpus.end());
}

// ---- huge pages ----

TEST(MachineHugePages, FreeAndNotReserved) {
  const TemporaryFolder machine;
  machine.write("proc/meminfo",
                "MemAvailable:   1000 kB\nAnonHugePages:  2048 kB\nHugePages_Total:      16\n"
                "HugePages_Free:       12\nHugePages_Rsvd:        5\nHugePages_Surp:        0\n"
                "Hugepagesize:       2048 kB\n");
  const Root root{machine.path()};
  EXPECT_EQ(read_limits(root).huge_page_bytes, 2u << 20);
  EXPECT_EQ(read_limits(root).huge_pages_free, 7u);
  // The kernel may make three more, and has made one of them.
  machine.write("sys/kernel/mm/hugepages/hugepages-2048kB/nr_overcommit_hugepages", "3\n");
  machine.write("sys/kernel/mm/hugepages/hugepages-2048kB/surplus_hugepages", "1\n");
  EXPECT_EQ(read_limits(root).huge_pages_free, 9u);
}

TEST(MachineHugePages, NoneOrJunk) {
  const TemporaryFolder machine;
  const Root root{machine.path()};
  EXPECT_EQ(read_limits(root).huge_page_bytes, 0u);
  EXPECT_EQ(read_limits(root).huge_pages_free, 0u);
  machine.write("proc/meminfo", "HugePages_Free:  2\nHugePages_Rsvd:  5\nHugepagesize: 2048 kB\n");
  EXPECT_EQ(read_limits(root).huge_pages_free, 0u) << "more reserved than free";
  machine.write("proc/meminfo", "HugePages_Free:\nHugepagesize: x kB\n");
  EXPECT_EQ(read_limits(root).huge_page_bytes, 0u);
}

TEST(MachineHugePages, OtherSizesHavePoolsOfTheirOwn) {
  const TemporaryFolder machine;
  machine.write("sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "4\n");
  machine.write("sys/kernel/mm/hugepages/hugepages-1048576kB/resv_hugepages", "1\n");
  const HugePool pool = read_huge_pool(1u << 30, Root{machine.path()});
  EXPECT_EQ(pool.page_bytes, 1u << 30);
  EXPECT_EQ(pool.pages_free, 3u);
  EXPECT_EQ(read_huge_pool(2u << 20, Root{machine.path()}).pages_free, 0u);
}

Problem refused_huge_file(const std::string& path, const Root& root = {}) {
  return refusal_of([&] { (void)read_huge_file(path, root); });
}

TEST(MachineHugeFile, OtherFileSystemsWillNotDo) {
  const TemporaryFolder folder;
  const Root nothing_mounted{folder.path()};
  const std::string file = folder.write("f1", "x");
  for (const std::string& path : {file, folder.path(), std::string("/dev/null")}) {
    const Problem problem = refused_huge_file(path, nothing_mounted);
    EXPECT_EQ(problem.code, ExitCode::cannot);
    EXPECT_EQ(problem.what, path + ": is not on hugetlbfs (-H)");
    EXPECT_NE(problem.hint.find("mount -t hugetlbfs none /dev/hugepages"), std::string::npos);
    EXPECT_NE(problem.hint.find("-H anon"), std::string::npos);
  }
  folder.write("proc/self/mountinfo",
               "40 1 0:50 / /mnt/my\\040huge rw shared:2 - hugetlbfs hugetlbfs rw\n");
  const Problem problem = refused_huge_file(file, nothing_mounted);
  EXPECT_NE(problem.hint.find("truncate -s SIZE '/mnt/my huge'/buffers"), std::string::npos)
      << problem.hint;
}

TEST(MachineHugeFile, MissingOnAnotherFileSystem) {
  const TemporaryFolder folder;
  const Problem problem = refused_huge_file(folder / "f1", Root{folder.path()});
  EXPECT_EQ(problem.code, ExitCode::cannot);
  EXPECT_NE(problem.what.find("ENOENT"), std::string::npos) << problem.what;
  EXPECT_NE(problem.hint.find("mount -t hugetlbfs"), std::string::npos) << problem.hint;
  EXPECT_EQ(refused_huge_file("").what, "an empty file name");
}

/// Runs `action` where a hugetlbfs is mounted on `folder`, which nobody else sees: in a thread with
/// mounts of its own. False when there cannot be any.
template <typename Action>
bool with_hugetlbfs(const TemporaryFolder& folder, const Action& action) {
  bool mounted = false;
  std::thread([&] {
    if (::unshare(CLONE_NEWNS) != 0) return;
    // In a chroot "/" is no mount point and cannot be made private; the mount goes away all the
    // same.
    (void)::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount("none", folder.path().c_str(), "hugetlbfs", 0, nullptr) != 0) return;
    mounted = true;
    action();
    (void)::umount2(folder.path().c_str(), MNT_DETACH);
  }).join();
  return mounted;
}

/// A machine with a pool of huge pages of the size this kernel mounts by default.
void write_pool(const TemporaryFolder& machine, int free, int reserved) {
  const std::uint64_t page_bytes = read_default_huge_pool(Root{}).page_bytes;
  const std::string pool =
      "sys/kernel/mm/hugepages/hugepages-" + std::to_string(page_bytes / 1024) + "kB/";
  machine.write(pool + "free_hugepages", std::to_string(free) + "\n");
  machine.write(pool + "resv_hugepages", std::to_string(reserved) + "\n");
}

TEST(MachineHugeFile, FactsOfAFileOnHugetlbfs) {
  const TemporaryFolder folder;
  const TemporaryFolder machine;
  write_pool(machine, 5, 2);
  const bool ran = with_hugetlbfs(folder, [&] {
    const Descriptor file(::open((folder / "buffers").c_str(), O_CREAT | O_RDWR, 0600));
    ASSERT_TRUE(file);
    const std::uint64_t page_bytes = read_default_huge_pool(Root{}).page_bytes;
    ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(3 * page_bytes)), 0);
    const plan::Limits::HugeFile facts = read_huge_file(folder / "buffers", Root{machine.path()});
    EXPECT_EQ(facts.page_bytes, page_bytes);
    EXPECT_EQ(facts.size_bytes, 3 * page_bytes);
    EXPECT_EQ(facts.pages_free, 3u);
  });
  if (!ran) GTEST_SKIP() << "no hugetlbfs can be mounted here (needs root)";
}

TEST(MachineHugeFile, RefusalsOnHugetlbfs) {
  const TemporaryFolder folder;
  const bool ran = with_hugetlbfs(folder, [&] {
    EXPECT_EQ(refused_huge_file(folder.path()).what, folder.path() + ": is a directory (-H)");
    EXPECT_EQ(refused_huge_file(folder.path() + "/").hint,
              "name a file in it: truncate -s SIZE " + folder.path() + "/buffers, then -H " +
                  folder.path() + "/buffers");
    const Problem missing = refused_huge_file(folder / "buffers");
    EXPECT_EQ(missing.what, folder / "buffers: open: ENOENT (No such file or directory)");
    EXPECT_EQ(missing.hint, "make it: truncate -s SIZE " + (folder / "buffers"));
    ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
    EXPECT_EQ(refused_huge_file(folder / "fifo").what, folder / "fifo: is not a regular file (-H)");

    const Descriptor file(::open((folder / "theirs").c_str(), O_CREAT | O_RDWR, 0400));
    ASSERT_TRUE(file);
    test::as_nobody([&] {
      const Problem denied = refused_huge_file(folder / "theirs");
      EXPECT_EQ(denied.what, folder / "theirs: read and write: EACCES (Permission denied)");
      EXPECT_EQ(denied.hint.find("buffers are written to"), 0u) << denied.hint;
      EXPECT_EQ(denied.code, ExitCode::cannot);
    });
  });
  if (!ran) GTEST_SKIP() << "no hugetlbfs can be mounted here (needs root)";
}

// ---- AIO ----

TEST(MachineAioRequests, WhatIsLeft) {
  const TemporaryFolder machine;
  const Root root{machine.path()};
  EXPECT_EQ(read_limits(root).aio_requests_free, UINT64_MAX);
  machine.write("proc/sys/fs/aio-max-nr", "65536\n");
  EXPECT_EQ(read_limits(root).aio_requests_free, UINT64_MAX) << "half a fact is none";
  machine.write("proc/sys/fs/aio-nr", "65000\n");
  EXPECT_EQ(read_limits(root).aio_requests_free, 536u);
  machine.write("proc/sys/fs/aio-nr", "70000\n");
  EXPECT_EQ(read_limits(root).aio_requests_free, 0u);
}

}  // namespace
}  // namespace uringbench::machine
