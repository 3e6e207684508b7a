// Device facts, mounts and polling from machines made of files.
#include "machine/device.hpp"

#include <gtest/gtest.h>

#include "machine/inspect.hpp"
#include "machine/mounts.hpp"
#include "machine/sparse.hpp"
#include "machine_test_support.hpp"

#include <sys/sysmacros.h>

namespace uringbench::machine {
namespace {

using test::machine_root;

const char* const kGeneralCure =
    "use -p0; for NVMe, boot with nvme.poll_queues=N or reload the module with poll_queues=N";

TargetFacts block_facts(const std::string& machine, const std::string& number,
                        const std::string& path) {
  TargetFacts facts;
  facts.path = path;
  facts.kind = TargetKind::block;
  describe_block_device(facts, number, machine_root(machine));
  return facts;
}

TEST(MachineDevice, ReadsEverythingOfAnNvmeDrive) {
  const auto device = read_device("259:0", machine_root("good_nvme"));
  ASSERT_TRUE(device);
  EXPECT_EQ(device->name, "nvme0n1");
  EXPECT_EQ(device->partition, "");
  EXPECT_EQ(device->model, "Example Fast SSD 1TB");
  EXPECT_EQ(device->firmware, "FW42");
  EXPECT_EQ(device->serial, "S1234567");
  EXPECT_EQ(device->driver, "nvme");
  EXPECT_EQ(device->numa_node, 1);
  EXPECT_EQ(device->local_cpus, "8-15,24-31");
  EXPECT_EQ(device->pci_address, "0000:01:00.0");
  EXPECT_EQ(device->pci_link_speed, "16.0 GT/s PCIe");
  EXPECT_EQ(device->pci_link_speed_max, "32.0 GT/s PCIe");
  EXPECT_EQ(device->pci_link_width, 4);
  EXPECT_EQ(device->pci_link_width_max, 8);
  EXPECT_EQ(device->poll_queues, 4);
  EXPECT_EQ(device->temperature_celsius, 41);
  EXPECT_FALSE(device->backing_file);
  const std::map<std::string, std::string> queue = {{"scheduler", "none"},
                                                    {"iostats", "0"},
                                                    {"nomerges", "2"},
                                                    {"io_poll", "1"},
                                                    {"rotational", "0"},
                                                    {"logical_block_size", "512"},
                                                    {"nr_requests", "1023"},
                                                    {"rq_affinity", "1"},
                                                    {"max_sectors_kb", "512"},
                                                    {"wbt_lat_usec", "0"},
                                                    {"write_cache", "write back"}};
  EXPECT_EQ(device->queue, queue);
}

TEST(MachineDevice, APartitionNamesItsDiskAndHasTheDisksQueue) {
  const auto device = read_device("259:2", machine_root("partitioned_nvme"));
  ASSERT_TRUE(device);
  EXPECT_EQ(device->name, "nvme0n1");
  EXPECT_EQ(device->partition, "nvme0n1p2");
  EXPECT_EQ(device->queue.at("logical_block_size"), "4096");
  EXPECT_EQ(device->temperature_celsius, 33);
}

TEST(MachineDevice, WhatIsUnknownIsAbsent) {
  const auto device = read_device("259:0", machine_root("partitioned_nvme"));
  ASSERT_TRUE(device);
  EXPECT_FALSE(device->numa_node) << "-1 is no node";
  EXPECT_FALSE(device->pci_link_speed) << "\"Unknown\" is no speed";
  EXPECT_FALSE(device->pci_link_width) << "255 is no width";
  EXPECT_FALSE(device->pci_link_speed_max);
  EXPECT_EQ(device->pci_address, "0000:01:00.0");
  EXPECT_FALSE(read_device("1:99", machine_root("good_nvme")));
}

TEST(MachineDevice, AMultipathDiskIsFollowedToItsFirstController) {
  const auto device = read_device("259:1", machine_root("multipath_nvme"));
  ASSERT_TRUE(device);
  EXPECT_EQ(device->name, "nvme0n1");
  EXPECT_EQ(device->driver, "nvme");
  EXPECT_EQ(device->pci_address, "10000:81:00.0") << "a domain of five digits";
  EXPECT_EQ(device->numa_node, 0);
  EXPECT_EQ(device->temperature_celsius, 41);
  EXPECT_EQ(device->poll_queues, 0);
}

TEST(MachineDevice, SoftwareDevicesTakeTheirDriverFromTheName) {
  EXPECT_EQ(read_device("252:0", machine_root("zram"))->driver, "zram");
  EXPECT_EQ(read_device("7:0", machine_root("loop"))->driver, "loop");
  EXPECT_EQ(read_device("7:0", machine_root("loop"))->backing_file, "/data/disk.img");
  const auto null_device = read_device("251:0", machine_root("null_blk"));
  EXPECT_EQ(null_device->driver, "null_blk");
  EXPECT_EQ(null_device->poll_queues, 2);
  EXPECT_FALSE(null_device->pci_address);
}

TEST(MachineDevice, VirtioHasItsDriverAndTheActiveScheduler) {
  const auto device = read_device("254:0", machine_root("virtio_vm"));
  ASSERT_TRUE(device);
  EXPECT_EQ(device->driver, "virtio_blk");
  EXPECT_EQ(device->queue.at("scheduler"), "mq-deadline");
  EXPECT_EQ(device->serial, "vol-0123");
  EXPECT_EQ(device->pci_address, "0000:00:02.0");
  EXPECT_EQ(device->local_cpus, "0-1");
  EXPECT_FALSE(device->model);
}

// ---- polling ----

TEST(MachinePolling, NvmeWithPollQueuesCan) {
  const TargetFacts facts = block_facts("good_nvme", "259:0", "/dev/nvme0n1");
  EXPECT_EQ(facts.can_poll, true);
  EXPECT_EQ(facts.cannot_poll_reason, "");
  EXPECT_EQ(facts.cannot_poll_hint, "");
  EXPECT_EQ(block_facts("null_blk", "251:0", "/dev/nullb0").can_poll, true);
}

TEST(MachinePolling, TheRefusalReadsAsPromised) {
  const TargetFacts facts = block_facts("zram", "252:0", "/dev/zram0");
  EXPECT_EQ(facts.can_poll, false);
  EXPECT_EQ(facts.cannot_poll_reason, "is not supported by this block driver (queue/io_poll is 0)");
  EXPECT_EQ(facts.cannot_poll_hint, kGeneralCure);
}

TEST(MachinePolling, IoPollAloneIsNotBelievedOfNvme) {
  const TargetFacts facts = block_facts("multipath_nvme", "259:1", "/dev/nvme0n1");
  EXPECT_EQ(facts.can_poll, false);
  EXPECT_EQ(facts.cannot_poll_reason,
            "is not possible without poll queues (nvme.poll_queues is 0)");
}

TEST(MachinePolling, VirtioHasAParameterOfItsOwn) {
  const TargetFacts facts = block_facts("virtio_vm", "254:0", "/dev/vda");
  EXPECT_EQ(facts.can_poll, false);
  EXPECT_NE(facts.cannot_poll_hint.find("virtio_blk.poll_queues=N"), std::string::npos);
}

TEST(MachinePolling, AFileDependsOnWhatIsBelow) {
  TargetFacts file;
  file.kind = TargetKind::file;
  describe_file_system(file, makedev(254, 0), 27, machine_root("virtio_vm"));
  EXPECT_EQ(file.filesystem, "ext4");
  EXPECT_EQ(file.can_poll, false);
  EXPECT_EQ(file.cannot_poll_reason,
            "is not supported by the block driver below it (vda: queue/io_poll is 0)");

  TargetFacts nvme_file;
  nvme_file.kind = TargetKind::file;
  nvme_file.filesystem = "xfs";
  nvme_file.device = read_device("259:0", machine_root("good_nvme"));
  decide_polling(nvme_file);
  EXPECT_EQ(nvme_file.can_poll, true);
  nvme_file.filesystem = "overlay";
  decide_polling(nvme_file);
  EXPECT_EQ(nvme_file.can_poll, false);
  EXPECT_EQ(nvme_file.cannot_poll_reason, "is not supported by this file system (overlay)");
}

TEST(MachinePolling, WithoutTheAttributeNothingIsClaimed) {
  TargetFacts facts;
  facts.kind = TargetKind::block;
  facts.device = DeviceFacts{};
  facts.device->name = "sdx";
  facts.can_poll = true;
  decide_polling(facts);
  EXPECT_FALSE(facts.can_poll);
  EXPECT_EQ(facts.cannot_poll_reason, "");
}

// ---- files and the device below ----

TEST(MachineFiles, BtrfsFilesFindTheirDeviceByWhatIsMounted) {
  TargetFacts facts;
  facts.kind = TargetKind::file;
  // A subvolume's number is neither a device's nor the one in mountinfo.
  describe_file_system(facts, makedev(0, 51), 40, machine_root("virtio_vm"));
  EXPECT_EQ(facts.filesystem, "btrfs");
  ASSERT_TRUE(facts.device);
  EXPECT_EQ(facts.device->name, "vda");
}

TEST(MachineFiles, TmpfsHasNoDevice) {
  TargetFacts facts;
  facts.kind = TargetKind::file;
  describe_file_system(facts, makedev(0, 36), std::nullopt, machine_root("virtio_vm"));
  EXPECT_EQ(facts.filesystem, "tmpfs") << "by number, where the mount's id is not known";
  EXPECT_FALSE(facts.device);
  EXPECT_EQ(facts.can_poll, false);
}

TEST(MachineFiles, AlignmentComesFromTheDeviceBelow) {
  TargetFacts facts;
  facts.kind = TargetKind::file;
  describe_file_system(facts, makedev(259, 1), 30, machine_root("partitioned_nvme"));
  EXPECT_EQ(facts.filesystem, "xfs");
  EXPECT_EQ(facts.logical_block_bytes, 4096u);
  EXPECT_EQ(facts.direct_offset_align, 4096u);
  EXPECT_EQ(facts.direct_memory_align, 4096u);
  EXPECT_EQ(facts.device->partition, "nvme0n1p1");
}

// ---- who else uses it ----

TEST(MachineMounts, ADiskIsMountedWhereItsPartitionIs) {
  const TargetFacts disk = block_facts("partitioned_nvme", "259:0", "/dev/nvme0n1");
  EXPECT_EQ(disk.mounted_at, "/mnt/with space");
  EXPECT_TRUE(disk.busy) << "one partition is swap, another has a holder";
}

TEST(MachineMounts, APartitionAnswersForItselfOnly) {
  const TargetFacts mounted = block_facts("partitioned_nvme", "259:1", "/dev/nvme0n1p1");
  EXPECT_EQ(mounted.mounted_at, "/mnt/with space");
  EXPECT_FALSE(mounted.busy);
  const TargetFacts swap = block_facts("partitioned_nvme", "259:2", "/dev/nvme0n1p2");
  EXPECT_FALSE(swap.mounted_at);
  EXPECT_TRUE(swap.busy);
  const TargetFacts held = block_facts("partitioned_nvme", "259:3", "/dev/nvme0n1p3");
  EXPECT_FALSE(held.mounted_at);
  EXPECT_TRUE(held.busy);
}

TEST(MachineMounts, EitherNumberOrNameIsEnough) {
  const std::vector<Mount> mounts = {{1, "0:40", "/btrfs", "btrfs", "/dev/sdb1"},
                                     {2, "8:32", "/plain", "ext4", "/dev/root"},
                                     {3, "0:41", "/mem", "tmpfs", "sdc"}};
  EXPECT_EQ(find_mount_point(mounts, {"8:17"}, {"sdb1"}), "/btrfs");
  EXPECT_EQ(find_mount_point(mounts, {"8:32"}, {"sdc"}), "/plain")
      << "a tmpfs may be called like a device";
  EXPECT_FALSE(find_mount_point(mounts, {"8:48"}, {"sdd"}));
}

TEST(MachineMounts, AnUnusedDriveIsFree) {
  const TargetFacts facts = block_facts("good_nvme", "259:0", "/dev/nvme0n1");
  EXPECT_FALSE(facts.mounted_at);
  EXPECT_FALSE(facts.busy);
}

TEST(MachineMounts, OptionalFieldsDoNotShiftTheOthers) {
  const std::vector<Mount> mounts = read_mounts(machine_root("partitioned_nvme"));
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_EQ(mounts[1].id, 30);
  EXPECT_EQ(mounts[1].device_number, "259:1");
  EXPECT_EQ(mounts[1].filesystem, "xfs");
  EXPECT_EQ(mounts[1].source, "/dev/nvme0n1p1");
  EXPECT_TRUE(read_mounts(Root{"/nowhere"}).empty());
}

// ---- never-written block devices ----

TEST(MachineSparse, ZramCountsItsStoredPages) {
  TargetFacts facts = block_facts("zram", "252:0", "/dev/zram0");
  facts.size_bytes = 1073741824;
  EXPECT_EQ(unwritten_bytes_of_device(facts, machine_root("zram")), 1073741824u - 268435456u);
  facts.size_bytes = 268435456;
  EXPECT_EQ(unwritten_bytes_of_device(facts, machine_root("zram")), 0u);
}

TEST(MachineSparse, OtherDevicesCannotBeTold) {
  TargetFacts facts = block_facts("good_nvme", "259:0", "/dev/nvme0n1");
  facts.size_bytes = 1073741824;
  EXPECT_EQ(unwritten_bytes_of_device(facts, machine_root("good_nvme")), 0u);
}

TEST(MachineSparse, ALoopDeviceIsAsDenseAsItsFile) {
  TargetFacts facts;
  facts.kind = TargetKind::block;
  facts.size_bytes = 1 << 20;
  facts.device = DeviceFacts{};
  facts.device->name = "loop0";
  facts.device->driver = "loop";
  const test::TemporaryFolder folder;
  facts.device->backing_file = "/dense.img";
  folder.write("dense.img", test::dense_bytes(1 << 20));
  EXPECT_EQ(unwritten_bytes_of_device(facts, Root{folder.path()}), 0u);
  facts.device->backing_file = "/holes.img";
  folder.write("holes.img", "");
  std::filesystem::resize_file(folder / "holes.img", 1 << 20);
  EXPECT_EQ(unwritten_bytes_of_device(facts, Root{folder.path()}), 1u << 20);
  facts.device->backing_file = "/deleted.img (deleted)";
  EXPECT_EQ(unwritten_bytes_of_device(facts, Root{folder.path()}), 0u);
}

}  // namespace
}  // namespace uringbench::machine
