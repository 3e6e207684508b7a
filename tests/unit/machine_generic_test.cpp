// NVMe generic devices: Identify data, what is refused and how, and the facts that follow.
#include "machine/generic.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <limits>

#include "machine/device.hpp"
#include "machine/machine.hpp"
#include "machine/nvme_names.hpp"
#include "machine_test_support.hpp"

namespace uringbench::machine {
namespace {

using base::ExitCode;
using base::Problem;
using test::machine_root;
using test::refusal_of;
using test::TemporaryFolder;

/// Identify Namespace data of a drive that was made up.
class Drive {
 public:
  explicit Drive(std::uint64_t lbas) {
    for (std::size_t i = 0; i < 8; ++i) data[i] = static_cast<std::uint8_t>(lbas >> (8 * i));
  }
  Drive& format(std::size_t index, unsigned shift, unsigned metadata = 0) {
    data[128 + index * 4] = static_cast<std::uint8_t>(metadata & 0xff);
    data[128 + index * 4 + 1] = static_cast<std::uint8_t>(metadata >> 8);
    data[128 + index * 4 + 2] = static_cast<std::uint8_t>(shift);
    data[128 + index * 4 + 3] = 0x2;  // relative performance: means nothing here
    return *this;
  }
  Drive& formats(unsigned count) {
    data[25] = static_cast<std::uint8_t>(count - 1);
    return *this;
  }
  Drive& in_use(unsigned field) {
    data[26] = static_cast<std::uint8_t>(field);
    return *this;
  }
  NamespaceShape shape() const { return parse_identify_namespace(data, "/dev/ng0n1"); }
  Problem refused() const {
    return refusal_of([&] { (void)shape(); });
  }

  std::vector<std::uint8_t> data = std::vector<std::uint8_t>(4096);
};

TEST(MachineIdentify, BlocksOf512And4096) {
  const NamespaceShape small = Drive(1953525168).format(0, 9).shape();
  EXPECT_EQ(small.lba_count, 1953525168u);
  EXPECT_EQ(small.lba_bytes, 512u);
  EXPECT_EQ(small.metadata_bytes, 0u);
  const NamespaceShape large = Drive(3).formats(2).format(0, 9).format(1, 12).in_use(1).shape();
  EXPECT_EQ(large.lba_count, 3u);
  EXPECT_EQ(large.lba_bytes, 4096u);
}

TEST(MachineIdentify, CountsAreOfEightBytesLittleEndian) {
  const std::uint64_t most = std::uint64_t{INT64_MAX} >> 9;
  EXPECT_EQ(Drive(most).format(0, 9).shape().lba_count, most);
  const Problem problem = Drive(most + 1).format(0, 9).refused();
  EXPECT_EQ(problem.what, "/dev/ng0n1: Identify Namespace: 18014398509481984 LBAs of 512 bytes");
  EXPECT_EQ(problem.code, ExitCode::cannot);
  Drive(UINT64_MAX).format(0, 9).refused();
}

TEST(MachineIdentify, OnlyTheFormatInUseCounts) {
  // With bit 4, metadata would be at the end of each block: nothing without metadata.
  const Drive drive = Drive(8).formats(16).format(0, 9, 8).format(15, 12).in_use(0x1f);
  EXPECT_EQ(drive.shape().lba_bytes, 4096u);
  EXPECT_EQ(drive.shape().metadata_bytes, 0u);
}

TEST(MachineIdentify, TheUpperBitsOfTheIndexCountInLargeTablesOnly) {
  // Bits 5 and 6 with the low four at 1: 1, 17, 33, 49.
  Drive drive(8);
  drive.format(1, 9).format(17, 10).format(33, 11).format(49, 12);
  for (const unsigned upper : {0u, 1u, 2u, 3u}) {
    drive.in_use(upper << 5 | 1);
    EXPECT_EQ(drive.formats(64).shape().lba_bytes, 512u << upper);
    EXPECT_EQ(drive.formats(16).shape().lba_bytes, 512u) << "not with 16 formats";
  }
  EXPECT_EQ(drive.formats(18).in_use(0x21).shape().lba_bytes, 1024u);
  EXPECT_EQ(drive.formats(17).in_use(0x21).refused().what,
            "/dev/ng0n1: Identify Namespace: format 17 is in use, of 17");
  drive.data[82] = 1;  // one with capabilities of its own behind them
  EXPECT_EQ(drive.shape().lba_bytes, 1024u);
}

TEST(MachineIdentify, MetadataWouldNeedABuffer) {
  const Problem problem = Drive(8).format(0, 9, 8).refused();
  EXPECT_EQ(problem.code, ExitCode::cannot);
  EXPECT_EQ(
      problem.what,
      "/dev/ng0n1: is formatted with 8 bytes of metadata per LBA, and passthrough (-u1) would "
      "need a buffer for them");
  EXPECT_NE(problem.hint.find("nvme format"), std::string::npos);
  EXPECT_NE(problem.hint.find("destroys"), std::string::npos);
  EXPECT_NE(Drive(8).format(0, 12, 0x140).refused().what.find("320 bytes"), std::string::npos);
}

TEST(MachineIdentify, Nonsense) {
  EXPECT_EQ(Drive(0).format(0, 9).refused().what, "/dev/ng0n1: this namespace has a size of 0");
  for (const unsigned shift : {0u, 8u, 31u, 64u, 255u}) {
    const Problem problem = Drive(8).format(0, shift).refused();
    EXPECT_EQ(problem.what,
              "/dev/ng0n1: Identify Namespace: an LBA of 2^" + std::to_string(shift) + " bytes");
    EXPECT_FALSE(problem.hint.empty());
  }
  EXPECT_EQ(Drive(8).format(0, 30).shape().lba_bytes, 1u << 30);
  Drive all_ones(0);
  all_ones.data.assign(4096, 0xff);
  all_ones.refused();
}

TEST(MachineIdentify, TooFewBytes) {
  Drive drive(8);
  drive.format(0, 9).data.resize(4095);
  EXPECT_EQ(drive.refused().what, "/dev/ng0n1: Identify Namespace: 4095 bytes instead of 4096");
  drive.data.clear();
  EXPECT_EQ(drive.refused().code, ExitCode::cannot);
}

// ---- names ----

TEST(MachineNvmeNames, ThereAndBack) {
  EXPECT_EQ(block_of_generic("ng12n3"), "nvme12n3");
  EXPECT_FALSE(block_of_generic("ng0"));
  EXPECT_FALSE(block_of_generic("ngx"));
  EXPECT_FALSE(block_of_generic("nvme0n1"));
  EXPECT_EQ(generic_of_block("nvme12n3"), "ng12n3");
  EXPECT_EQ(generic_of_block("nvme0n1p2"), "ng0n1");
  EXPECT_FALSE(generic_of_block("nvme0"));
  EXPECT_FALSE(generic_of_block("sda1"));
  EXPECT_FALSE(generic_of_block("zram0"));
}

// ---- what is none ----

struct stat node(mode_t kind, unsigned major_number, unsigned minor_number) {
  struct stat status {};
  status.st_mode = kind;
  status.st_rdev = makedev(major_number, minor_number);
  return status;
}

TEST(MachineGeneric, IsToldByNumberOrByName) {
  const Root root = machine_root("good_nvme");
  EXPECT_EQ(generic_name("/dev/ng0n1", node(S_IFCHR, 238, 0), root), "ng0n1");
  EXPECT_EQ(generic_name("/tmp/mine", node(S_IFCHR, 238, 0), root), "ng0n1") << "by number";
  EXPECT_EQ(generic_name("/dev/ng0n1", node(S_IFCHR, 99, 9), root), "ng0n1") << "by name";
  EXPECT_FALSE(generic_name("/tmp/ng0n7", node(S_IFCHR, 99, 9), root)) << "not in sysfs";
  EXPECT_FALSE(generic_name("/dev/ng0n1", node(S_IFBLK, 238, 0), root));
  EXPECT_FALSE(generic_name("/dev/ng0n1", node(S_IFCHR, 238, 0), Root{"/nowhere"}));
}

Problem refused_node(const std::string& path, mode_t kind, unsigned minor_number = 99,
                     const std::string& machine = "partitioned_nvme") {
  return refusal_of([&] {
    refuse_not_generic(path, path, node(kind, 259, minor_number), machine_root(machine));
  });
}

TEST(MachineGeneric, ABlockDeviceNamesItsGenericDevice) {
  const Problem problem = refused_node("/dev/nvme0n1", S_IFBLK, 0);
  EXPECT_EQ(problem.code, ExitCode::cannot);
  EXPECT_EQ(problem.what,
            "/dev/nvme0n1: a block device: passthrough (-u1) goes through its generic device");
  EXPECT_EQ(problem.hint, "use /dev/ng0n1");
  EXPECT_EQ(refused_node("/dev/disk/by-id/x", S_IFBLK, 0).hint, "use /dev/ng0n1") << "by number";
  EXPECT_EQ(refused_node("/dev/nvme7n3", S_IFBLK).hint, "use /dev/ng7n3") << "by name";
}

TEST(MachineGeneric, APartitionIsNoNamespace) {
  for (const unsigned minor_number : {2u, 99u}) {  // known to sysfs, and by name only
    const Problem problem = refused_node("/dev/nvme0n1p2", S_IFBLK, minor_number);
    EXPECT_EQ(problem.what,
              "/dev/nvme0n1p2: a partition: passthrough (-u1) knows no partitions and addresses "
              "the whole namespace");
    EXPECT_EQ(problem.hint, "use /dev/ng0n1 for the whole namespace, or leave out -u1");
  }
}

TEST(MachineGeneric, AControllerNamesANamespace) {
  EXPECT_EQ(refused_node("/dev/nvme0", S_IFCHR).what,
            "/dev/nvme0: an NVMe controller, not a namespace");
  EXPECT_EQ(refused_node("/dev/nvme0", S_IFCHR, 99, "good_nvme").hint, "use /dev/ng0n1");
  EXPECT_EQ(refused_node("/dev/nvme12", S_IFCHR).hint, "use /dev/ng12n1");
}

TEST(MachineGeneric, EverythingElseIsNone) {
  EXPECT_EQ(refused_node("/dev/zram0", S_IFBLK).what,
            "/dev/zram0: passthrough (-u1) is for NVMe drives only");
  EXPECT_EQ(refused_node("f1", S_IFREG).what,
            "f1: a file: passthrough (-u1) goes past file systems");
  EXPECT_EQ(refused_node("/tmp", S_IFDIR).what, "/tmp: is a directory");
  EXPECT_EQ(refused_node("fifo", S_IFIFO).what, "fifo: no device");
  EXPECT_EQ(refused_node("/dev/tty", S_IFCHR).what,
            "/dev/tty: a character device, and no NVMe generic device by sysfs");
  for (const mode_t kind : {S_IFBLK, S_IFREG, S_IFDIR, S_IFIFO, S_IFCHR}) {
    const Problem problem = refused_node("/dev/x", kind);
    EXPECT_EQ(problem.code, ExitCode::cannot);
    EXPECT_NE(problem.hint.find("/dev/ng0n1"), std::string::npos) << problem.hint;
  }
}

TEST(MachineGeneric, OpeningRefusesWhatIsThere) {
  const TemporaryFolder folder;
  const std::string file = folder.write("f1", "x");
  const auto refused = [](const std::string& path) {
    return refusal_of([&] { (void)open_generic(path); });
  };
  EXPECT_EQ(refused(file).what, file + ": a file: passthrough (-u1) goes past file systems");
  EXPECT_EQ(refused(folder.path()).what, folder.path() + ": is a directory");
  EXPECT_EQ(refused(folder / "f2").what, folder / "f2: open: ENOENT (No such file or directory)");
  EXPECT_EQ(refused("").what, "an empty file name");
  EXPECT_EQ(refused("/dev/null").what,
            "/dev/null: a character device, and no NVMe generic device by sysfs");
  const Problem missing = refused("/dev/ng77n7");
  EXPECT_NE(missing.what.find("ENOENT"), std::string::npos) << missing.what;
  EXPECT_NE(missing.hint.find("5.13"), std::string::npos) << missing.hint;
}

TEST(MachineGeneric, WhatSysfsTakesForOneMayStillBeNone) {
  // A machine where /dev/null is called so: the device itself has the last word.
  const TemporaryFolder machine;
  machine.write("sys/devices/ng0n1/dev", "1:3\n");
  machine.link("sys/devices/ng0n1", "sys/dev/char/1:3");
  machine.link("sys/devices/ng0n1", "sys/class/nvme-generic/ng0n1");
  const Problem problem =
      refusal_of([&] { (void)open_generic("/dev/null", Root{machine.path()}); });
  EXPECT_EQ(problem.what,
            "/dev/null: ioctl(NVME_IOCTL_ID): ENOTTY (Inappropriate ioctl for device)");
  EXPECT_EQ(problem.hint.find("this is no NVMe device"), 0u) << problem.hint;
}

TEST(MachineGeneric, ADriveThatDoesNotAnswer) {
  const auto refused = [](int error_number) {
    return refusal_of([&] { refuse_identify("/dev/ng0n1", "ioctl(X)", error_number); });
  };
  for (const int error_number : {EACCES, EPERM}) {
    EXPECT_EQ(refused(error_number).hint.find("run it with sudo"), 0u);
  }
  EXPECT_EQ(refused(EIO).what, "/dev/ng0n1: ioctl(X): EIO (Input/output error)");
  EXPECT_NE(refused(EIO).hint.find("dmesg"), std::string::npos);
  EXPECT_NE(refused(ENODEV).hint.find("gone"), std::string::npos);
  EXPECT_EQ(refused(EIO).code, ExitCode::cannot);
}

// ---- facts ----

TargetFacts generic_facts(const std::string& machine, const NamespaceShape& shape) {
  TargetFacts facts;
  facts.path = facts.resolved_path = "/dev/ng0n1";
  describe_generic(facts, "ng0n1", 1, shape, machine_root(machine));
  return facts;
}

TEST(MachineGeneric, FactsAreOfTheNamespaceAndItsDisk) {
  const TargetFacts facts = generic_facts("good_nvme", {1000, 4096, 0});
  EXPECT_EQ(facts.kind, TargetKind::nvme_generic);
  EXPECT_EQ(facts.namespace_id, 1u);
  EXPECT_EQ(facts.size_bytes, 4096000u);
  EXPECT_EQ(facts.logical_block_bytes, 4096u);
  EXPECT_EQ(facts.direct_offset_align, 4096u);
  EXPECT_EQ(facts.direct_memory_align, 4u);
  EXPECT_FALSE(facts.sparse);
  EXPECT_FALSE(facts.filesystem);
  ASSERT_TRUE(facts.device);
  EXPECT_EQ(facts.device->name, "nvme0n1");
  EXPECT_EQ(facts.device->numa_node, 1);
  EXPECT_EQ(facts.can_poll, true);

  const plan::TargetShape shape = shape_of(facts, false);
  EXPECT_EQ(shape.alignment_bytes, 4096u) << "LBAs are whole, buffered or not";
  EXPECT_TRUE(shape.is_nvme_generic);
  EXPECT_FALSE(shape.is_block);
  EXPECT_EQ(shape.disk, "nvme0n1");
  EXPECT_EQ(shape.namespace_id, 1u);
  EXPECT_EQ(shape.lba_bytes, 4096u);
  EXPECT_EQ(shape.node, 1);
}

TEST(MachineGeneric, WithoutABlockDeviceItIsStillDescribed) {
  const TargetFacts facts = generic_facts("zram", {8, 512, 0});
  EXPECT_EQ(facts.size_bytes, 4096u);
  EXPECT_FALSE(facts.device);
  EXPECT_EQ(shape_of(facts, true).disk, "");
}

TEST(MachineGeneric, PolledOnlyWherePollQueuesAreKnownToBe) {
  const NamespaceShape shape{8, 512, 0};
  EXPECT_EQ(generic_facts("good_nvme", shape).can_poll, true);

  const TargetFacts multipath = generic_facts("multipath_nvme", shape);
  EXPECT_EQ(multipath.can_poll, false);
  EXPECT_EQ(multipath.cannot_poll_reason,
            "is not possible without poll queues (nvme.poll_queues is 0), and the kernel would "
            "silently complete through interrupts");
  EXPECT_EQ(multipath.cannot_poll_hint,
            "use -p0; for NVMe, boot with nvme.poll_queues=N or reload the module with "
            "poll_queues=N");

  TargetFacts off = generic_facts("good_nvme", shape);
  off.device->queue["io_poll"] = "0";
  decide_polling(off);
  EXPECT_EQ(off.can_poll, false);
  EXPECT_EQ(off.cannot_poll_reason,
            "is not possible without poll queues (nvme0n1: queue/io_poll is 0), and the kernel "
            "would silently complete through interrupts");

  const TargetFacts unknown = generic_facts("zram", shape);
  EXPECT_EQ(unknown.can_poll, false) << "nothing else would tell";
  EXPECT_EQ(unknown.cannot_poll_reason.find("cannot be established"), 0u);
}

TEST(MachineGeneric, IsReopenedWithoutDirect) {
  // /dev/null refuses O_DIRECT as generic devices do.
  OpenTarget target;
  target.fd = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  target.facts.path = "/dev/null";
  target.facts.kind = TargetKind::nvme_generic;
  EXPECT_TRUE(reopen(target, true));
  target.facts.kind = TargetKind::file;
  EXPECT_NE(refusal_of([&] { (void)reopen(target, true); }).what.find("EINVAL"), std::string::npos);
}

}  // namespace
}  // namespace uringbench::machine
