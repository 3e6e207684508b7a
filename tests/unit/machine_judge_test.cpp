// Every finding: when it is said, how, and when it is not.
#include "machine_judge_fixture.hpp"

namespace uringbench::machine {
namespace {

using test::machine_root;
using MachineJudge = test::JudgeFixture;

TEST_F(MachineJudge, FindsNothingOnAWellTunedMachine) {
  EXPECT_EQ(codes(), std::vector<std::string>{});
}

TEST_F(MachineJudge, SparseFile) {
  target() = TargetFacts{};
  target().path = target().resolved_path = "holes";
  target().kind = TargetKind::file;
  target().size_bytes = 64 << 20;
  target().sparse = true;
  target().unwritten_bytes = 16 << 20;
  EXPECT_FINDING(only(), warning, "sparse-target",
                 "holes: is sparse: 16.0 MiB of 64.0 MiB (25.0 %) were never written, and reads of "
                 "them cost no I/O",
                 "make a dense copy: cp --sparse=never holes holes.dense; or use --scratch 64M");
}

TEST_F(MachineJudge, SparseBlockDevices) {
  target().sparse = true;
  target().unwritten_bytes = 1 << 30;
  EXPECT_NE(only().hint.find("dd if=/dev/urandom of=/dev/nvme0n1"), std::string::npos);
  EXPECT_NE(only().hint.find("destroys"), std::string::npos);
  target().device->backing_file = "/data/disk.img";
  EXPECT_EQ(only().hint,
            "give the loop device a dense file: cp --sparse=never /data/disk.img "
            "/data/disk.img.dense");
}

TEST_F(MachineJudge, BufferedReads) {
  plan_.direct = false;
  EXPECT_FINDING(only(), warning, "page-cache",
                 "/dev/nvme0n1: buffered reads (-O0) measure the page cache as soon as data is in "
                 "it",
                 "use -O1 to measure the device");
}

TEST_F(MachineJudge, FilesInMemoryHaveNoDeviceWhateverTheFlag) {
  target() = TargetFacts{};
  target().path = target().resolved_path = "/dev/shm/f";
  target().kind = TargetKind::file;
  target().size_bytes = 1 << 20;
  target().filesystem = "tmpfs";
  EXPECT_FINDING(only(), warning, "page-cache",
                 "/dev/shm/f: tmpfs keeps its files in memory, so no device is measured",
                 "measure a block device, or a file on a disk");
}

TEST_F(MachineJudge, NotPolledNamesReasonAndCure) {
  target() = block_target("zram", "252:0", "/dev/zram0");
  target().device->queue["iostats"] = "0";
  plan_.polled = false;
  EXPECT_FINDING(only(), info, "not-polled",
                 "/dev/zram0: not polled: polled I/O is not supported by this block driver "
                 "(queue/io_poll is 0)",
                 "for NVMe, boot with nvme.poll_queues=N or reload the module with poll_queues=N");
}

TEST_F(MachineJudge, NotPolledIsSaidOnceForAllTargets) {
  plan_.polled = false;
  TargetFacts zram = block_target("zram", "252:0", "/dev/zram0");
  zram.device->queue["iostats"] = "0";
  targets_.push_back(zram);
  zram.path = zram.resolved_path = "/dev/zram1";
  targets_.push_back(zram);
  EXPECT_EQ(only().code, "not-polled");
  EXPECT_EQ(only().message,
            "/dev/zram0 (and 1 more): not polled: polled I/O is not supported by this block driver "
            "(queue/io_poll is 0)")
      << "the drive that can poll is not named";
}

TEST_F(MachineJudge, NotPolledIsOnlyForWhatWasLeftToUs) {
  target() = block_target("zram", "252:0", "/dev/zram0");
  target().device->queue["iostats"] = "0";
  plan_.polled = false;
  options_.polled = plan::PolledWish::off;
  EXPECT_EQ(codes(), std::vector<std::string>{});
  options_.polled = plan::PolledWish::automatic;
  plan_.engine = plan::Engine::sync;
  EXPECT_EQ(codes(), std::vector<std::string>{}) << "preadv2 was asked for, which does not poll";
}

TEST_F(MachineJudge, NotPolledForOtherReasons) {
  plan_.polled = false;
  target().can_poll.reset();
  EXPECT_EQ(only().message,
            "/dev/nvme0n1: not polled: whether its driver can poll is not to be found out");
  plan_.direct = false;
  ASSERT_EQ(codes(), (std::vector<std::string>{"page-cache", "not-polled"}));
  EXPECT_EQ(findings()[1].message, "/dev/nvme0n1: not polled: polled I/O needs direct I/O");
}

TEST_F(MachineJudge, Scheduler) {
  target().device->queue["scheduler"] = "mq-deadline";
  EXPECT_FINDING(only(), warning, "scheduler",
                 "/dev/nvme0n1: the I/O scheduler mq-deadline takes time for every request",
                 "echo none > /sys/block/nvme0n1/queue/scheduler");
}

TEST_F(MachineJudge, Iostats) {
  target().device->queue["iostats"] = "1";
  EXPECT_FINDING(only(), info, "iostats",
                 "/dev/nvme0n1: the kernel counts every request of this device (iostats is 1)",
                 "echo 0 > /sys/block/nvme0n1/queue/iostats");
}

TEST_F(MachineJudge, Rotational) {
  target().device->queue["rotational"] = "1";
  EXPECT_EQ(only().code, "rotational");
  EXPECT_EQ(only().severity, Severity::info);
}

TEST_F(MachineJudge, OneDeviceIsJudgedOnceForAllItsFiles) {
  target().device->queue["scheduler"] = "bfq";
  target().kind = TargetKind::file;
  target().path = target().resolved_path = "/data/f1";
  targets_.push_back(target());
  targets_.back().path = targets_.back().resolved_path = "/data/f2";
  EXPECT_EQ(only().message,
            "/data/f1 (on nvme0n1): the I/O scheduler bfq takes time for every request");
}

TEST_F(MachineJudge, NullDevice) {
  target() = block_target("null_blk", "251:0", "/dev/nullb0");
  EXPECT_FINDING(only(), info, "null-device",
                 "/dev/nullb0: null_blk answers without a medium, so this measures the I/O path, "
                 "not a drive",
                 "measure a real device to learn about a drive");
}

TEST_F(MachineJudge, MountedAndBusy) {
  target().mounted_at = "/mnt/with space";
  EXPECT_FINDING(only(), info, "mounted-target",
                 "/dev/nvme0n1: is mounted at /mnt/with space; reading is safe, but others may use "
                 "it during the run",
                 "for undisturbed figures: umount '/mnt/with space'");
  target().mounted_at.reset();
  target().busy = true;
  EXPECT_EQ(only().code, "busy-target");
  EXPECT_EQ(only().severity, Severity::info);
  EXPECT_EQ(only().hint, "lsblk /dev/nvme0n1 shows by whom");
}

TEST_F(MachineJudge, PartialTail) {
  target().size_bytes = 10000;
  EXPECT_FINDING(only(), info, "partial-tail",
                 "/dev/nvme0n1: the last 1808 bytes are no whole block of 4096 bytes and are not "
                 "read",
                 "nothing to do, or choose a --block-size that divides the size");
  plan_.block_size_bytes = 1000;
  EXPECT_EQ(codes(), std::vector<std::string>{});
}

TEST_F(MachineJudge, Symlink) {
  target().path = "/dev/disk/by-id/nvme-Example";
  EXPECT_EQ(codes(), std::vector<std::string>{"symlink"});
  EXPECT_EQ(only().severity, Severity::info);
  EXPECT_EQ(only().message,
            "/dev/disk/by-id/nvme-Example: is reached by a symbolic link and really is "
            "/dev/nvme0n1");
}

TEST_F(MachineJudge, Governor) {
  weather_.governor = "powersave";
  EXPECT_EQ(only().code, "governor");
  EXPECT_EQ(only().severity, Severity::warning);
  EXPECT_EQ(only().message,
            "the CPU frequency governor is powersave: clock rates change during the run");
  weather_.governor = "mixed";
  EXPECT_EQ(codes(), std::vector<std::string>{"governor"});
  weather_.governor.reset();
  EXPECT_EQ(codes(), std::vector<std::string>{}) << "no cpufreq, nothing to say";
}

TEST_F(MachineJudge, FewCpus) {
  plan_.threads.resize(4);
  EXPECT_EQ(codes(), std::vector<std::string>{});
  plan_.threads.resize(5);
  EXPECT_FINDING(only(), warning, "few-cpus",
                 "5 threads share 4 CPUs: they wait for each other, not for the device",
                 "use --threads 4 or fewer");
  limits_.allowed_cpus.clear();
  EXPECT_EQ(codes(), std::vector<std::string>{}) << "32 CPUs are online";
}

TEST_F(MachineJudge, HighLoadFromHalfTheCpus) {
  weather_.load_average_1m = 15.99;
  EXPECT_EQ(codes(), std::vector<std::string>{});
  weather_.load_average_1m = 16.0;
  EXPECT_EQ(only().code, "high-load");
  EXPECT_EQ(only().severity, Severity::warning);
  EXPECT_EQ(only().message, "the load average is 16.00 on 32 CPUs: something else is running");
}

TEST_F(MachineJudge, VirtualMachine) {
  identity_.virtualization = "kvm";
  EXPECT_EQ(only().code, "virtual-machine");
  EXPECT_EQ(only().severity, Severity::info);
  identity_.virtualization.reset();
  EXPECT_EQ(codes(), std::vector<std::string>{});
}

TEST_F(MachineJudge, LockedMemoryWhenLessThanAQuarterIsLeft) {
  plan_.buffer_bytes_per_thread = 6 << 20;
  limits_.memlock_bytes = 8 << 20;
  EXPECT_EQ(codes(), std::vector<std::string>{}) << "a quarter is left";
  plan_.buffer_bytes_per_thread = (6 << 20) + 4096;
  EXPECT_EQ(only().code, "memlock");
  EXPECT_EQ(only().severity, Severity::info);
  EXPECT_EQ(only().message,
            "registered buffers take 6.0 MiB of the 8.0 MiB of locked memory this user may have");
  limits_.memlock_exempt = true;
  EXPECT_EQ(codes(), std::vector<std::string>{});
  limits_.memlock_exempt = false;
  plan_.fixed_buffers = false;
  EXPECT_EQ(codes(), std::vector<std::string>{});
}

TEST_F(MachineJudge, ANopReachesNoDevice) {
  target() = block_target("virtio_vm", "254:0", "/dev/vda");
  target().sparse = true;
  plan_.nop = true;
  plan_.direct = false;
  plan_.polled = false;
  EXPECT_EQ(codes(), std::vector<std::string>{});
  targets_.clear();
  EXPECT_EQ(codes(), std::vector<std::string>{});
}

TEST_F(MachineJudge, AnUntunedVirtualMachineIsToldEverything) {
  target() = block_target("virtio_vm", "254:0", "/dev/vda");
  identity_ = read_identity(machine_root("virtio_vm"));
  weather_ = read_weather(machine_root("virtio_vm"));
  plan_.polled = false;
  EXPECT_EQ(codes(),
            (std::vector<std::string>{"mounted-target", "scheduler", "iostats", "rotational",
                                      "not-polled", "governor", "high-load", "virtual-machine"}));
}

TEST(MachineNames, OfKindsAndSeverities) {
  EXPECT_STREQ(kind_name(TargetKind::file), "file");
  EXPECT_STREQ(kind_name(TargetKind::block), "block");
  EXPECT_STREQ(kind_name(TargetKind::none), "none");
  EXPECT_STREQ(severity_name(Severity::info), "info");
  EXPECT_STREQ(severity_name(Severity::warning), "warning");
}

}  // namespace
}  // namespace uringbench::machine
