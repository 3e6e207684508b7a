// Opening real files: what is taken, what is refused, and how it is said.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "machine/inspect.hpp"
#include "machine/machine.hpp"
#include "machine/refusal.hpp"
#include "machine/sparse.hpp"
#include "machine_test_support.hpp"

namespace uringbench::machine {
namespace {

using base::ExitCode;
using base::Problem;
using test::dense_bytes;
using test::refusal_of;
using test::TemporaryFolder;

const char* const kGiveAFile =
    "give a regular file or a block device, or use --scratch 1G to measure a temporary file";

class MachineTarget : public ::testing::Test {
 protected:
  /// File systems differ in what they do directly; these tests are about files, not about that.
  OpenTarget open(const std::string& path) const { return open_target(path, false); }
  Problem refused(const std::string& path, bool direct = false) const {
    return refusal_of([&] { open_target(path, direct); });
  }
  TemporaryFolder folder_;
};

TEST_F(MachineTarget, ADenseFile) {
  const std::string path = folder_.write("f1", dense_bytes(1 << 20));
  const OpenTarget target = open(path);
  EXPECT_TRUE(target.fd);
  EXPECT_EQ(target.facts.path, path);
  EXPECT_EQ(target.facts.resolved_path, path);
  EXPECT_EQ(target.facts.kind, TargetKind::file);
  EXPECT_EQ(target.facts.size_bytes, 1u << 20);
  EXPECT_FALSE(target.facts.sparse) << "just written and not yet flushed is written all the same";
  EXPECT_EQ(target.facts.unwritten_bytes, 0u);
  EXPECT_TRUE(target.facts.filesystem);
  EXPECT_FALSE(target.facts.mounted_at) << "only block devices are mounted";
}

TEST_F(MachineTarget, IsReadOnlyClosedOnExecAndBlocking) {
  const std::string path = folder_.write("f1", dense_bytes(8192));
  const OpenTarget target = open(path);
  const int flags = ::fcntl(target.fd.get(), F_GETFL);
  EXPECT_EQ(flags & O_ACCMODE, O_RDONLY);
  EXPECT_EQ(flags & O_NONBLOCK, 0) << "the kernel would answer EAGAIN instead of waiting";
  EXPECT_NE(::fcntl(target.fd.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(MachineTarget, IsDirectWhenAsked) {
  const std::string path = folder_.write("f1", dense_bytes(8192));
  if (::open(path.c_str(), O_RDONLY | O_DIRECT) < 0) GTEST_SKIP() << "no O_DIRECT in this folder";
  const OpenTarget target = open_target(path, true);
  EXPECT_NE(::fcntl(target.fd.get(), F_GETFL) & O_DIRECT, 0);
  const Descriptor second = reopen(target, true);
  EXPECT_NE(::fcntl(second.get(), F_GETFL) & O_DIRECT, 0);
  EXPECT_EQ(::fcntl(open(path).fd.get(), F_GETFL) & O_DIRECT, 0);
  EXPECT_GE(target.facts.direct_offset_align, 1u);
  EXPECT_EQ(shape_of(target.facts, true).alignment_bytes, target.facts.direct_offset_align);
}

TEST_F(MachineTarget, HolesAreCounted) {
  const std::string path = folder_.write("holes", "");
  std::filesystem::resize_file(path, 1 << 20);
  const OpenTarget all = open(path);
  EXPECT_TRUE(all.facts.sparse);
  EXPECT_EQ(all.facts.unwritten_bytes, 1u << 20);

  // Written in the middle only.
  const Descriptor writer(::open(path.c_str(), O_WRONLY));
  const std::string bytes = dense_bytes(256 << 10);
  ASSERT_EQ(::pwrite(writer.get(), bytes.data(), bytes.size(), 256 << 10),
            static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(open(path).facts.unwritten_bytes, std::uint64_t{768} << 10);
  EXPECT_EQ(::fsync(writer.get()), 0);
  EXPECT_EQ(open(path).facts.unwritten_bytes, std::uint64_t{768} << 10);
}

TEST_F(MachineTarget, ReservedButUnwrittenCountsAsUnwritten) {
  const std::string path = folder_ / "reserved";
  const Descriptor writer(::open(path.c_str(), O_CREAT | O_RDWR, 0600));
  if (::fallocate(writer.get(), 0, 0, 1 << 20) != 0) GTEST_SKIP() << "no fallocate in this folder";
  EXPECT_EQ(open(path).facts.unwritten_bytes, 1u << 20);
  const std::string bytes = dense_bytes(512 << 10);
  ASSERT_EQ(::pwrite(writer.get(), bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  // Not flushed: the file system may still call these extents unwritten.
  EXPECT_EQ(open(path).facts.unwritten_bytes, 512u << 10);
}

TEST_F(MachineTarget, ManyExtentsAreAllLookedAt) {
  const std::string path = folder_.write("comb", "");
  const Descriptor writer(::open(path.c_str(), O_WRONLY));
  const std::string block = dense_bytes(4096);
  // More extents than one call of the kernel's map returns.
  for (int tooth = 0; tooth < 600; ++tooth) {
    ASSERT_EQ(::pwrite(writer.get(), block.data(), block.size(), tooth * 8192), 4096);
  }
  std::filesystem::resize_file(path, 600 * 8192);
  EXPECT_EQ(open(path).facts.unwritten_bytes, 600u * 4096u);
}

TEST_F(MachineTarget, AHoleInAPartialLastBlockDoesNotCount) {
  const std::string path = folder_.write("odd", dense_bytes(8192));
  std::filesystem::resize_file(path, 10000);
  EXPECT_FALSE(open(path).facts.sparse);
  std::filesystem::resize_file(path, 12288);
  EXPECT_EQ(open(path).facts.unwritten_bytes, 4096u);
}

TEST_F(MachineTarget, SmallAndOddSizesAreTaken) {
  EXPECT_EQ(open(folder_.write("one", dense_bytes(4096))).facts.size_bytes, 4096u);
  EXPECT_EQ(open(folder_.write("odd", dense_bytes(10000))).facts.size_bytes, 10000u);
  EXPECT_EQ(open(folder_.write("tiny", dense_bytes(1))).facts.size_bytes, 1u);
  EXPECT_FALSE(open(folder_ / "odd").facts.sparse);
}

TEST_F(MachineTarget, LinksKeepBothNames) {
  const std::string path = folder_.write("f1", dense_bytes(8192));
  ASSERT_EQ(::symlink("f1", (folder_ / "link").c_str()), 0);
  const OpenTarget target = open(folder_ / "link");
  EXPECT_EQ(target.facts.path, folder_ / "link");
  EXPECT_EQ(target.facts.resolved_path, path);
}

TEST_F(MachineTarget, ARelativePathStaysAsTyped) {
  folder_.write("f1", dense_bytes(8192));
  const std::string relative = std::filesystem::relative(folder_ / "f1").string();
  EXPECT_EQ(open(relative).facts.resolved_path, relative);
  EXPECT_EQ(open("./" + relative).facts.resolved_path, "./" + relative);
}

TEST_F(MachineTarget, ADeletedFileCanBeReopened) {
  const std::string path = folder_.write("f1", dense_bytes(8192));
  const OpenTarget target = open(path);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  const Descriptor second = reopen(target, false);
  ASSERT_NE(second.get(), target.fd.get());
  std::string bytes(8192, '\0');
  EXPECT_EQ(::pread(second.get(), bytes.data(), bytes.size(), 0), 8192);
  EXPECT_EQ(bytes, dense_bytes(8192));
  // A position of its own: another open file description, not a duplicate.
  EXPECT_EQ(::lseek(target.fd.get(), 4096, SEEK_SET), 4096);
  EXPECT_EQ(::lseek(second.get(), 0, SEEK_CUR), 0);
}

// ---- refusals ----

TEST_F(MachineTarget, RefusesADirectory) {
  const Problem problem = refused(folder_.path());
  EXPECT_EQ(problem.code, ExitCode::cannot);
  EXPECT_EQ(problem.what, folder_.path() + ": is a directory");
  EXPECT_EQ(problem.hint,
            "give a regular file or a block device, or use --scratch 1G@" + folder_.path());
  EXPECT_EQ(refused(folder_.path(), true).what, problem.what);
}

TEST_F(MachineTarget, RefusesAnEmptyFile) {
  const std::string path = folder_.write("empty", "");
  const Problem problem = refused(path);
  EXPECT_EQ(problem.code, ExitCode::cannot);
  EXPECT_EQ(problem.what, path + ": is an empty file");
  EXPECT_NE(problem.hint.find("--scratch"), std::string::npos);
}

TEST_F(MachineTarget, RefusesAFifoWithoutWaitingForAWriter) {
  const std::string path = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  ::alarm(5);  // ends the test program if it hangs
  EXPECT_EQ(refused(path).what, path + ": is a fifo (named pipe)");
  EXPECT_EQ(refused(path, true).hint, kGiveAFile);
  ::alarm(0);
}

TEST_F(MachineTarget, RefusesASocket) {
  // The address has room for 108 bytes only, so it is bound by a short relative name.
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, "socket");
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  std::filesystem::current_path(before);
  EXPECT_EQ(refused(folder_ / "socket").what, folder_ / "socket: is a socket");
}

TEST_F(MachineTarget, RefusesCharacterDevices) {
  EXPECT_EQ(refused("/dev/null").what, "/dev/null: a character device");
  EXPECT_EQ(refused("/dev/null").code, ExitCode::cannot);
  EXPECT_NE(refused("/dev/null").hint.find("-N1 (NOP) needs no file"), std::string::npos);
}

TEST_F(MachineTarget, NvmeControllersAndGenericDevicesAreToldByName) {
  const Root nowhere{"/nowhere"};
  const auto refused_device = [&](const std::string& name) {
    return refusal_of([&] { refuse_kind(name, name, S_IFCHR, nowhere); });
  };
  EXPECT_EQ(refused_device("/dev/nvme0").what, "/dev/nvme0: an NVMe controller, not a namespace");
  EXPECT_EQ(refused_device("/dev/nvme0").hint, "use /dev/nvme0n1");
  EXPECT_EQ(refused_device("/dev/nvme12").hint, "use /dev/nvme12n1");
  EXPECT_EQ(refused_device("/dev/ng1n2").what,
            "/dev/ng1n2: an NVMe generic device: it takes passthrough only");
  EXPECT_EQ(refused_device("/dev/ng1n2").hint, "use -u1, or /dev/nvme1n2");
  EXPECT_EQ(refused_device("/dev/nvme-fabrics").what, "/dev/nvme-fabrics: a character device");
  EXPECT_EQ(refused_device("/dev/ngx").what, "/dev/ngx: a character device");
}

TEST_F(MachineTarget, AControllersNamespaceIsLookedUp) {
  folder_.write("sys/class/block/nvme3n2/dev", "259:5\n");
  folder_.write("sys/class/block/nvme3n2p1/dev", "259:6\n");
  const Problem problem =
      refusal_of([&] { refuse_kind("/dev/nvme3", "/dev/nvme3", S_IFCHR, Root{folder_.path()}); });
  EXPECT_EQ(problem.hint, "use /dev/nvme3n2");
}

TEST_F(MachineTarget, ALinkToAControllerIsStillAController) {
  const Problem problem =
      refusal_of([&] { refuse_kind("by-id", "/dev/nvme0", S_IFCHR, Root{"/nowhere"}); });
  EXPECT_EQ(problem.what, "by-id: an NVMe controller, not a namespace");
}

TEST_F(MachineTarget, MissingFilesNameWhatIsNearby) {
  folder_.write("file1", "x");
  const Problem near = refused(folder_ / "flie1");
  EXPECT_EQ(near.code, ExitCode::cannot);
  EXPECT_EQ(near.what, folder_ / "flie1: open: ENOENT (No such file or directory)");
  EXPECT_EQ(near.hint, "did you mean " + (folder_ / "file1?"));
  EXPECT_EQ(refused(folder_ / "somethingelse").hint, kGiveAFile);
  EXPECT_EQ(refused(folder_ / "no/such/f1").hint,
            "the folder " + (folder_ / "no/such/ does not exist"));
  EXPECT_EQ(refused("").what, "an empty file name");
}

TEST_F(MachineTarget, ASlipIsForgivenOnlyWhenItIsSmall) {
  const std::vector<std::string> names = {"nvme0n1", "nvme1n1", "sda", "zram0"};
  EXPECT_EQ(nearest_name("nvme0n2", names), "nvme0n1");
  EXPECT_EQ(nearest_name("nvme1n2", names), "nvme1n1");
  EXPECT_EQ(nearest_name("sdb", names), "sda");
  EXPECT_EQ(nearest_name("xyz", names), "");
  EXPECT_EQ(nearest_name("zram", names), "zram0");
  EXPECT_EQ(nearest_name("anything", {}), "");
}

TEST_F(MachineTarget, BrokenPaths) {
  folder_.write("f1", "x");
  EXPECT_EQ(refused(folder_ / "f1/x").what, folder_ / "f1/x: open: ENOTDIR (Not a directory)");
  ASSERT_EQ(::symlink("loop", (folder_ / "loop").c_str()), 0);
  EXPECT_NE(refused(folder_ / "loop").what.find("ELOOP"), std::string::npos);
  ASSERT_EQ(::symlink("nowhere", (folder_ / "dangling").c_str()), 0);
  EXPECT_NE(refused(folder_ / "dangling").what.find("ENOENT"), std::string::npos);
  EXPECT_NE(refused(std::string(5000, 'x')).what.find("ENAMETOOLONG"), std::string::npos);
}

TEST_F(MachineTarget, NoPermissionNamesTheCure) {
  const std::string path = folder_.write("secret", dense_bytes(4096));
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  Problem problem;
  test::as_nobody([&] { problem = refused(path); });
  EXPECT_EQ(problem.code, ExitCode::cannot);
  EXPECT_EQ(problem.what, path + ": open: EACCES (Permission denied)");
  EXPECT_NE(problem.hint.find("sudo"), std::string::npos) << problem.hint;
}

TEST_F(MachineTarget, OnlyTheOwnerLeavesTheAccessTimeAlone) {
  const char* const path = "/etc/passwd";
  struct stat status {};
  if (::stat(path, &status) != 0 || status.st_uid != 0) GTEST_SKIP() << "no file of root's";
  test::as_nobody([&] {
    const OpenTarget target = open(path);
    EXPECT_EQ(::fcntl(target.fd.get(), F_GETFL) & O_NOATIME, 0);
    EXPECT_TRUE(reopen(target, false));
  });
  const OpenTarget own = open(folder_.write("own", dense_bytes(4096)));
  EXPECT_NE(::fcntl(own.fd.get(), F_GETFL) & O_NOATIME, 0);
}

TEST_F(MachineTarget, EveryErrnoOfOpenHasAHint) {
  for (int error_number = 1; error_number < 134; ++error_number) {
    const Problem problem = refusal_of([&] { refuse_open(folder_ / "x", error_number); });
    EXPECT_EQ(problem.code, ExitCode::cannot) << error_number;
    EXPECT_FALSE(problem.hint.empty()) << error_number;
  }
}

TEST_F(MachineTarget, DirectOnAFileSystemWithoutIt) {
  // A regular file of procfs, which knows no O_DIRECT.
  const Problem problem = refused("/proc/cpuinfo", true);
  EXPECT_EQ(problem.code, ExitCode::cannot);
  EXPECT_NE(problem.what.find("/proc/cpuinfo: direct I/O (-O1) is not possible"), std::string::npos)
      << problem.what;
  EXPECT_NE(problem.what.find("EINVAL"), std::string::npos);
  EXPECT_NE(problem.hint.find("-O0"), std::string::npos);
}

TEST(MachineEmptyTargets, UnconfiguredDevicesSayHowToConfigureThem) {
  TargetFacts facts;
  facts.path = "/dev/zram0";
  facts.kind = TargetKind::block;
  facts.device = DeviceFacts{};
  facts.device->name = "zram0";
  facts.device->driver = "zram";
  Problem problem = refusal_of([&] { refuse_empty(facts); });
  EXPECT_EQ(problem.what, "/dev/zram0: this zram device has no size yet (disksize is 0)");
  EXPECT_NE(problem.hint.find("echo 1G > /sys/block/zram0/disksize"), std::string::npos);
  facts.path = "/dev/loop3";
  facts.device->name = "loop3";
  facts.device->driver = "loop";
  problem = refusal_of([&] { refuse_empty(facts); });
  EXPECT_EQ(problem.what, "/dev/loop3: this loop device has no file behind it");
  EXPECT_EQ(problem.hint, "losetup /dev/loop3 FILE, or measure the file itself");
  facts.device->backing_file = "/data/my disk.img";
  problem = refusal_of([&] { refuse_empty(facts); });
  EXPECT_EQ(problem.what, "/dev/loop3: the file behind this loop device is empty");
  EXPECT_EQ(problem.hint, "fill '/data/my disk.img' and attach it again: losetup -d /dev/loop3");
  facts.device.reset();
  EXPECT_EQ(refusal_of([&] { refuse_empty(facts); }).what,
            "/dev/loop3: this block device has a size of 0");
}

// ---- what the plan gets to know ----

TEST(MachineShape, BufferedReadsNeedNoAlignment) {
  TargetFacts facts;
  facts.path = "f1";
  facts.size_bytes = 10000;
  facts.direct_offset_align = 4096;
  facts.can_poll = false;
  facts.cannot_poll_reason = "reason";
  facts.cannot_poll_hint = "hint";
  const plan::TargetShape direct = shape_of(facts, true);
  EXPECT_EQ(direct.path, "f1");
  EXPECT_EQ(direct.size_bytes, 10000u);
  EXPECT_EQ(direct.alignment_bytes, 4096u);
  EXPECT_EQ(direct.can_poll, false);
  EXPECT_EQ(direct.cannot_poll_reason, "reason");
  EXPECT_EQ(direct.cannot_poll_hint, "hint");
  EXPECT_EQ(shape_of(facts, false).alignment_bytes, 1u);
}

TEST(MachineDescriptor, MovesAndCloses) {
  Descriptor first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = first.get();
  ASSERT_GE(number, 0);
  Descriptor second(std::move(first));
  EXPECT_EQ(second.get(), number);
  {
    Descriptor third;
    EXPECT_FALSE(third);
    third = std::move(second);
    EXPECT_EQ(third.get(), number);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace uringbench::machine
