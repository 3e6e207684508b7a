// Where targets are at home: by the device tree, through what lies between.
#include <gtest/gtest.h>

#include "machine/device.hpp"
#include "machine/inspect.hpp"
#include "machine/machine.hpp"
#include "machine_test_support.hpp"

#include <sys/sysmacros.h>

namespace uringbench::machine {
namespace {

using test::machine_root;
using test::TemporaryFolder;

/// Disks on a bus without PCI, each with a folder above it that may know the node.
class MachineHome : public ::testing::Test {
 protected:
  void disk(const std::string& name, const std::string& node, const std::string& cpus = "") {
    const std::string above = "sys/devices/platform/bus" + name;
    const std::string folder = above + "/device/block/" + name;
    machine_.write(folder + "/queue/io_poll", "0\n");
    machine_.link(above + "/device", folder + "/device");
    if (!node.empty()) machine_.write(above + "/numa_node", node + "\n");
    if (!cpus.empty()) machine_.write(above + "/local_cpulist", cpus + "\n");
    machine_.link(folder, "sys/dev/block/" + name);
    folders_[name] = folder;
  }
  /// A disk of software: made of others, when it has any.
  void virtual_disk(const std::string& name, const std::vector<std::string>& members) {
    const std::string folder = "sys/devices/virtual/block/" + name;
    machine_.write(folder + "/queue/io_poll", "0\n");
    for (const std::string& member : members) {
      machine_.link(folders_.at(member), folder + "/slaves/" + member);
    }
    machine_.link(folder, "sys/dev/block/" + name);
    folders_[name] = folder;
  }
  void partition(const std::string& disk_name, const std::string& name) {
    folders_[name] = folders_.at(disk_name) + "/" + name;
    machine_.write(folders_[name] + "/partition", "1\n");
    machine_.link(folders_[name], "sys/dev/block/" + name);
  }
  DeviceFacts facts(const std::string& name) const {
    const auto facts = read_device(name, Root{machine_.path()});
    EXPECT_TRUE(facts) << name;
    return facts.value_or(DeviceFacts{});
  }

  TemporaryFolder machine_;
  std::map<std::string, std::string> folders_;
};

TEST_F(MachineHome, TheFirstThatKnowsOnTheWayUp) {
  machine_.write("sys/devices/system/node/node1/cpulist", "4-7\n");
  disk("vda", "1");
  EXPECT_EQ(facts("vda").numa_node, 1);
  EXPECT_EQ(facts("vda").local_cpus, "4-7") << "those of the node, where the device has no list";
  // Nearer, and it does not know: the one above is asked.
  machine_.write("sys/devices/platform/busvda/device/numa_node", "-1\n");
  EXPECT_EQ(facts("vda").numa_node, 1);
  machine_.write("sys/devices/platform/busvda/device/numa_node", "0\n");
  EXPECT_EQ(facts("vda").numa_node, 0);
}

TEST_F(MachineHome, NowhereIsNotKnown) {
  disk("vda", "-1");
  disk("vdb", "");
  virtual_disk("zram0", {});
  for (const char* name : {"vda", "vdb", "zram0"}) {
    EXPECT_FALSE(facts(name).numa_node) << name;
    EXPECT_FALSE(facts(name).local_cpus) << name;
  }
}

TEST_F(MachineHome, APartitionIsWhereItsDiskIs) {
  disk("vda", "1", "4-7");
  partition("vda", "vda1");
  EXPECT_EQ(facts("vda1").numa_node, 1);
  EXPECT_EQ(facts("vda1").local_cpus, "4-7");
}

TEST_F(MachineHome, AStackIsWhereAllItsMembersAre) {
  disk("vda", "1", "4-7");
  disk("vdb", "1", "4-7");
  partition("vdb", "vdb1");
  virtual_disk("md0", {"vda", "vdb1"});
  virtual_disk("dm-0", {"md0"});
  EXPECT_EQ(facts("dm-0").numa_node, 1);
  EXPECT_EQ(facts("dm-0").local_cpus, "4-7");
  EXPECT_EQ(facts("dm-0").driver, "dm");
  EXPECT_FALSE(facts("dm-0").pci_address);
}

TEST_F(MachineHome, AStackOfDisagreeingOrUnknownMembersIsNowhere) {
  disk("vda", "0", "0-3");
  disk("vdb", "1", "4-7");
  disk("vdc", "");
  virtual_disk("md0", {"vda", "vdb"});
  virtual_disk("md1", {"vda", "vdc"});
  virtual_disk("md2", {"vdc", "vda"});
  virtual_disk("dm-0", {"vda", "md0"});
  for (const char* name : {"md0", "md1", "md2", "dm-0"}) {
    EXPECT_FALSE(facts(name).numa_node) << name;
    EXPECT_FALSE(facts(name).local_cpus) << name;
  }
}

TEST_F(MachineHome, ACircleOfSlavesEnds) {
  virtual_disk("dm-0", {});
  machine_.link(folders_["dm-0"], folders_["dm-0"] + "/slaves/dm-0");
  EXPECT_FALSE(facts("dm-0").numa_node);
}

TEST_F(MachineHome, AFileIsWhereItsDiskIs) {
  TargetFacts file;
  file.path = "f1";
  file.kind = TargetKind::file;
  describe_file_system(file, makedev(254, 0), 27, machine_root("virtio_vm"));
  const plan::TargetShape shape = shape_of(file, true);
  EXPECT_EQ(shape.disk, "vda");
  EXPECT_FALSE(shape.is_block);
  EXPECT_EQ(shape.node, -1);
  EXPECT_EQ(shape.local_cpus, (std::vector<int>{0, 1}));
}

TEST(MachineShapeHome, OfABlockDevice) {
  TargetFacts facts;
  facts.path = "/dev/nvme0n1p2";
  facts.kind = TargetKind::block;
  EXPECT_EQ(shape_of(facts, true).disk, "");
  EXPECT_EQ(shape_of(facts, true).node, -1);
  facts.device = read_device("259:0", machine_root("good_nvme"));
  const plan::TargetShape shape = shape_of(facts, true);
  EXPECT_TRUE(shape.is_block);
  EXPECT_FALSE(shape.is_nvme_generic);
  EXPECT_EQ(shape.disk, "nvme0n1");
  EXPECT_EQ(shape.node, 1);
  EXPECT_EQ(shape.local_cpus,
            (std::vector<int>{8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31}));
  EXPECT_EQ(shape.namespace_id, 0u);
  EXPECT_EQ(shape.lba_bytes, 0u) << "only where passthrough needs it";
}

}  // namespace
}  // namespace uringbench::machine
