// Identity, weather and limits from machines made of files, and once from the real one.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "machine/capabilities.hpp"
#include "machine/cpu_lists.hpp"
#include "machine/machine.hpp"
#include "machine_test_support.hpp"

namespace uringbench::machine {
namespace {

using test::machine_root;

TEST(MachineIdentity, ReadsABareMetalMachine) {
  const Identity identity = read_identity(machine_root("good_nvme"));
  EXPECT_EQ(identity.kernel_release, "6.12.1-amd64");
  EXPECT_EQ(identity.kernel_version, "#1 SMP PREEMPT_DYNAMIC Debian 6.12.1-1");
  EXPECT_EQ(identity.kernel_cmdline, "root=/dev/sda1 nvme.poll_queues=4 mitigations=off");
  EXPECT_EQ(identity.architecture, "x86_64");
  EXPECT_EQ(identity.cpu_model, "Example CPU @ 3.00GHz");
  EXPECT_EQ(identity.cpus_online, 32);
  EXPECT_EQ(identity.numa_nodes, 2);
  EXPECT_EQ(identity.memory_bytes, 65536000ull * 1024);
  EXPECT_EQ(identity.virtualization, "none") << "the vendor rents virtual machines, this is none";
  EXPECT_EQ(identity.io_uring_disabled, 0);
  EXPECT_EQ(identity.boot_id, "11111111-2222-3333-4444-555555555555");
  const std::map<std::string, std::string> mitigations = {
      {"meltdown", "Not affected"}, {"spectre_v2", "Mitigation: Retpolines; IBPB: conditional"}};
  EXPECT_EQ(identity.mitigations, mitigations);
  const std::map<std::string, std::string> smt = {{"active", "1"}, {"control", "on"}};
  EXPECT_EQ(identity.smt, smt);
}

TEST(MachineIdentity, AVirtualMachineIsToldByItsProcessorAndClock) {
  const Identity identity = read_identity(machine_root("virtio_vm"));
  EXPECT_EQ(identity.virtualization, "kvm");
  EXPECT_EQ(identity.io_uring_disabled, 1);
  EXPECT_EQ(identity.cpus_online, 2);
  EXPECT_EQ(identity.numa_nodes, 1) << "a kernel without NUMA is one node";
}

TEST(MachineIdentity, VendorsAreNamedAsOthersNameThem) {
  const test::TemporaryFolder machine;
  machine.write("proc/cpuinfo", "flags : fpu hypervisor\n");
  const Root root{machine.path()};
  EXPECT_EQ(read_identity(root).virtualization, "vm-other");
  machine.write("sys/class/dmi/id/sys_vendor", "QEMU\n");
  EXPECT_EQ(read_identity(root).virtualization, "qemu");
  machine.write("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
  EXPECT_EQ(read_identity(root).virtualization, "amazon");
  machine.write("sys/class/dmi/id/product_name", "VMware7,1\n");
  EXPECT_EQ(read_identity(root).virtualization, "vmware");
  machine.write("sys/hypervisor/type", "xen\n");
  EXPECT_EQ(read_identity(root).virtualization, "xen");
  machine.write("proc/cpuinfo", "CPU implementer : 0x41\nCPU part : 0xd0c\n");
  EXPECT_EQ(read_identity(root).cpu_model, "implementer 0x41 part 0xd0c");
}

TEST(MachineIdentity, AnEmptyMachineHasNoFacts) {
  const test::TemporaryFolder machine;
  const Identity identity = read_identity(Root{machine.path()});
  EXPECT_EQ(identity.kernel_release, "") << "the real machine must not show through";
  EXPECT_EQ(identity.cpus_online, 0);
  EXPECT_EQ(identity.memory_bytes, 0u);
  EXPECT_FALSE(identity.virtualization);
  EXPECT_FALSE(identity.io_uring_disabled);
  const Weather weather = read_weather(Root{machine.path()});
  EXPECT_EQ(weather.load_average_1m, 0.0);
  EXPECT_FALSE(weather.governor);
  EXPECT_FALSE(weather.turbo);
}

TEST(MachineIdentity, OldKernelsHaveNoSysctl) {
  EXPECT_FALSE(read_identity(machine_root("partitioned_nvme")).io_uring_disabled);
}

TEST(MachineIdentity, IsQuickOnTheRealMachine) {
  const auto begin = std::chrono::steady_clock::now();
  const Identity identity = read_identity();
  const Weather weather = read_weather();
  const auto elapsed = std::chrono::steady_clock::now() - begin;
  EXPECT_FALSE(identity.kernel_release.empty());
  EXPECT_GE(identity.cpus_online, 1);
  EXPECT_GT(identity.memory_bytes, 1u << 20);
  EXPECT_GE(weather.load_average_1m, 0.0);
  // A fifth of a millisecond where this was written; the rest is for slow and loaded machines.
  EXPECT_LT(elapsed, std::chrono::milliseconds(250));
}

TEST(MachineWeather, ReadsClockRatesAndTemperatures) {
  const Weather weather = read_weather(machine_root("good_nvme"));
  EXPECT_EQ(weather.load_average_1m, 0.25);
  EXPECT_EQ(weather.governor, "performance");
  EXPECT_EQ(weather.cpu_mhz_min, 800);
  EXPECT_EQ(weather.cpu_mhz_max, 3000);
  EXPECT_EQ(weather.turbo, "off");
  const std::map<std::string, double> temperatures = {{"x86_pkg_temp", 45.5},
                                                      {"x86_pkg_temp #2", 47.0}};
  EXPECT_EQ(weather.temperature_celsius, temperatures);
}

TEST(MachineWeather, DifferentGovernorsAreMixed) {
  const Weather weather = read_weather(machine_root("virtio_vm"));
  EXPECT_EQ(weather.governor, "mixed");
  EXPECT_EQ(weather.turbo, "on") << "by cpufreq/boost";
  EXPECT_FALSE(weather.cpu_mhz_min);
}

TEST(MachineLimits, AvailableMemoryIsTheMachinesOrTheGroups) {
  EXPECT_EQ(read_limits(machine_root("good_nvme")).memory_available_bytes, 32768000ull * 1024);
  // 1 GiB limit, 768 MiB used, of which 256 MiB are page cache: 512 MiB are left. It is the group
  // above that has the limit.
  EXPECT_EQ(read_limits(machine_root("virtio_vm")).memory_available_bytes, 512ull << 20);
  const test::TemporaryFolder machine;
  EXPECT_EQ(read_limits(Root{machine.path()}).memory_available_bytes, UINT64_MAX);
}

TEST(MachineLimits, CapabilitiesAreReadFromTheMask) {
  EXPECT_TRUE(has_capability(kCapIpcLock, machine_root("good_nvme")));
  EXPECT_FALSE(has_capability(kCapSysAdmin, machine_root("good_nvme")));
  EXPECT_TRUE(read_limits(machine_root("good_nvme")).memlock_exempt);
  EXPECT_FALSE(read_limits(machine_root("virtio_vm")).memlock_exempt);
  const test::TemporaryFolder machine;
  EXPECT_FALSE(has_capability(kCapIpcLock, Root{machine.path()}));
}

TEST(MachineLimits, RaisesTheSoftLimits) {
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  if (before.rlim_max < 65) GTEST_SKIP() << "the hard limit of open files is below 65";
  struct rlimit low = before;
  low.rlim_cur = 64;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  const plan::Limits limits = read_limits();
  EXPECT_EQ(limits.open_files, before.rlim_max == RLIM_INFINITY ? UINT64_MAX : before.rlim_max);
  struct rlimit after {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
}

TEST(MachineLimits, KnowsTheAllowedCpus) {
  cpu_set_t before;
  CPU_ZERO(&before);
  if (::sched_getaffinity(0, sizeof before, &before) != 0) GTEST_SKIP() << "more than 1024 CPUs";
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  // In a thread of its own, so that the other tests keep all CPUs.
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(read_limits().allowed_cpus, std::vector<int>{first});
  }).join();
  EXPECT_EQ(read_limits().allowed_cpus.size(), static_cast<std::size_t>(CPU_COUNT(&before)));
}

TEST(MachineLimits, WorkersAreCountedByTheirName) {
  const int before = count_io_workers();
  std::thread([before] {
    // The kernel names its workers after the thread they work for.
    ASSERT_EQ(::prctl(PR_SET_NAME, "iou-wrk-4711"), 0);
    EXPECT_EQ(count_io_workers(), before + 1);
  }).join();
}

TEST(MachineCpuLists, CountsRangesAndRefusesJunk) {
  EXPECT_EQ(count_listed("0"), 1);
  EXPECT_EQ(count_listed("0-3,8"), 5);
  EXPECT_EQ(count_listed("0-1,4-5,9"), 5);
  EXPECT_EQ(count_listed(""), 0);
  EXPECT_EQ(count_listed("3-1"), 0);
  EXPECT_EQ(count_listed("a"), 0);
}

}  // namespace
}  // namespace uringbench::machine
