// A real block device: a loop device, where root may make one.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "machine/machine.hpp"
#include "machine_test_support.hpp"

namespace uringbench::machine {
namespace {

using test::dense_bytes;
using test::refusal_of;
using test::TemporaryFolder;

/// Attached in the constructor where possible, detached again in the destructor.
class LoopDevice {
 public:
  LoopDevice(const std::string& file, bool read_only) {
    const Descriptor control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
    const int mode = read_only ? O_RDONLY : O_RDWR;
    const Descriptor backing(::open(file.c_str(), mode | O_CLOEXEC));
    // Between asking for a free one and taking it, somebody else may have taken it.
    for (int attempt = 0; control && backing && attempt < 20; ++attempt) {
      const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
      if (number < 0) return;
      const std::string node = "/dev/loop" + std::to_string(number);
      Descriptor device(::open(node.c_str(), mode | O_CLOEXEC));
      loop_config config{};
      config.fd = static_cast<std::uint32_t>(backing.get());
      config.info.lo_flags = read_only ? std::uint32_t{LO_FLAGS_READ_ONLY} : 0u;
      file.copy(reinterpret_cast<char*>(config.info.lo_file_name), LO_NAME_SIZE - 1);
      if (device && ::ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) {
        device_ = std::move(device);
        path_ = node;
        return;
      }
      if (errno != EBUSY) return;
    }
  }
  ~LoopDevice() { detach(); }
  LoopDevice(const LoopDevice&) = delete;
  LoopDevice& operator=(const LoopDevice&) = delete;

  void detach() {
    if (device_) (void)::ioctl(device_.get(), LOOP_CLR_FD, 0);
    device_ = Descriptor();
  }
  const std::string& path() const { return path_; }  ///< empty: could not be made

 private:
  Descriptor device_;
  std::string path_;
};

#define SKIP_WITHOUT(loop) \
  if ((loop).path().empty()) GTEST_SKIP() << "no loop device can be made here (needs root)"

TEST(MachineBlock, ALoopDeviceOnADenseFile) {
  const TemporaryFolder folder;
  const std::string file = folder.write("disk.img", dense_bytes(1 << 20));
  const LoopDevice loop(file, false);
  SKIP_WITHOUT(loop);
  const OpenTarget target = open_target(loop.path(), true);
  EXPECT_EQ(target.facts.kind, TargetKind::block);
  EXPECT_EQ(target.facts.size_bytes, 1u << 20) << "the size of the device, not of its node";
  EXPECT_EQ(target.facts.logical_block_bytes, 512u);
  EXPECT_EQ(target.facts.direct_offset_align, 512u);
  EXPECT_FALSE(target.facts.filesystem) << "the node's file system says nothing of the device";
  EXPECT_FALSE(target.facts.sparse);
  ASSERT_TRUE(target.facts.device);
  EXPECT_EQ("/dev/" + target.facts.device->name, loop.path());
  EXPECT_EQ(target.facts.device->driver, "loop");
  EXPECT_EQ(target.facts.device->backing_file, file);
  EXPECT_EQ(target.facts.can_poll, false);
  EXPECT_EQ(target.facts.cannot_poll_reason,
            "is not supported by this block driver (queue/io_poll is 0)");
  EXPECT_FALSE(target.facts.mounted_at);
  EXPECT_FALSE(target.facts.busy);
  const int flags = ::fcntl(target.fd.get(), F_GETFL);
  EXPECT_EQ(flags & O_ACCMODE, O_RDONLY);
  EXPECT_NE(flags & O_DIRECT, 0);
  EXPECT_EQ(flags & O_NONBLOCK, 0);
  EXPECT_TRUE(reopen(target, true));
}

TEST(MachineBlock, AReadOnlyDeviceIsEnough) {
  const TemporaryFolder folder;
  const LoopDevice loop(folder.write("disk.img", dense_bytes(1 << 20)), true);
  SKIP_WITHOUT(loop);
  EXPECT_EQ(open_target(loop.path(), true).facts.size_bytes, 1u << 20);
}

TEST(MachineBlock, ALoopDeviceOnHolesIsSparse) {
  const TemporaryFolder folder;
  const std::string file = folder.write("holes.img", dense_bytes(256 << 10));
  std::filesystem::resize_file(file, 1 << 20);
  const LoopDevice loop(file, false);
  SKIP_WITHOUT(loop);
  const OpenTarget target = open_target(loop.path(), false);
  EXPECT_TRUE(target.facts.sparse);
  EXPECT_EQ(target.facts.unwritten_bytes, std::uint64_t{768} << 10);
}

TEST(MachineBlock, ALinkToADeviceKeepsBothNames) {
  const TemporaryFolder folder;
  const LoopDevice loop(folder.write("disk.img", dense_bytes(1 << 20)), false);
  SKIP_WITHOUT(loop);
  ASSERT_EQ(::symlink(loop.path().c_str(), (folder / "by-id").c_str()), 0);
  const OpenTarget target = open_target(folder / "by-id", false);
  EXPECT_EQ(target.facts.path, folder / "by-id");
  EXPECT_EQ(target.facts.resolved_path, loop.path());
  EXPECT_EQ(target.facts.kind, TargetKind::block);
}

}  // namespace
}  // namespace uringbench::machine
