// Which cure is named for which answer of io_uring_setup and io_setup.
#include <gtest/gtest.h>

#include <cerrno>

#include "machine/machine.hpp"
#include "machine_test_support.hpp"

namespace uringbench::machine {
namespace {

using test::machine_root;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(MachineSetupHint, SwitchedOffForEverybody) {
  EXPECT_EQ(setup_hint(EPERM, machine_root("io_uring_off")),
            "kernel.io_uring_disabled is 2: io_uring is switched off for everybody, root too; "
            "permit it: sysctl kernel.io_uring_disabled=0");
}

TEST(MachineSetupHint, OnlyForAGroup) {
  const std::string hint = setup_hint(EPERM, machine_root("io_uring_group"));
  EXPECT_TRUE(contains(hint, "kernel.io_uring_disabled is 1")) << hint;
  EXPECT_TRUE(contains(hint, "group 1000 (kernel.io_uring_group)")) << hint;
  EXPECT_TRUE(contains(hint, "CAP_SYS_ADMIN")) << hint;
  EXPECT_TRUE(contains(setup_hint(EPERM, machine_root("virtio_vm")), "none is set"));
}

TEST(MachineSetupHint, WhoMayDoEverythingIsNotStoppedByTheGroup) {
  const test::TemporaryFolder machine;
  machine.write("proc/sys/kernel/io_uring_disabled", "1\n");
  machine.write("proc/self/status", "CapEff:\t0000000000200000\nSeccomp:\t2\n");
  const std::string hint = setup_hint(EPERM, Root{machine.path()});
  EXPECT_TRUE(contains(hint, "kernel.io_uring_disabled is 1, but a seccomp filter")) << hint;
}

TEST(MachineSetupHint, AFilterIsToldFromASecurityModule) {
  const std::string filtered = setup_hint(EPERM, machine_root("container"));
  EXPECT_TRUE(contains(filtered, "seccomp filter is at work")) << filtered;
  EXPECT_TRUE(contains(filtered, "seccomp=unconfined")) << filtered;
  EXPECT_TRUE(contains(filtered, "kernel.io_uring_disabled is 0")) << filtered;
  const std::string unfiltered = setup_hint(EPERM, machine_root("good_nvme"));
  EXPECT_TRUE(contains(unfiltered, "no seccomp filter")) << unfiltered;
  EXPECT_TRUE(contains(unfiltered, "SELinux")) << unfiltered;
  EXPECT_TRUE(contains(setup_hint(EPERM, machine_root("old_kernel")), "has no sysctl"));
}

TEST(MachineSetupHint, MissingIoUring) {
  const std::string hint = setup_hint(ENOSYS, machine_root("container"));
  EXPECT_TRUE(contains(hint, "CONFIG_IO_URING")) << hint;
  EXPECT_TRUE(contains(hint, "gVisor")) << hint;
  EXPECT_TRUE(contains(hint, "6.8.0")) << hint;
}

TEST(MachineSetupHint, MemoryIsCountedDifferentlyBefore512) {
  const std::string old_kernel = setup_hint(ENOMEM, machine_root("old_kernel"));
  EXPECT_TRUE(contains(old_kernel, "RLIMIT_MEMLOCK")) << old_kernel;
  EXPECT_TRUE(contains(old_kernel, "ulimit -l")) << old_kernel;
  const std::string new_kernel = setup_hint(ENOMEM, machine_root("good_nvme"));
  EXPECT_FALSE(contains(new_kernel, "RLIMIT_MEMLOCK")) << new_kernel;
  EXPECT_TRUE(contains(new_kernel, "--depth")) << new_kernel;
}

TEST(MachineSetupHint, FilesAndFlags) {
  EXPECT_TRUE(contains(setup_hint(EMFILE), "ulimit -n"));
  EXPECT_TRUE(contains(setup_hint(ENFILE), "fs.file-max"));
  EXPECT_TRUE(contains(setup_hint(EINVAL, machine_root("old_kernel")), "5.4.0-42-generic"));
  EXPECT_TRUE(contains(setup_hint(EACCES), "security module"));
  EXPECT_TRUE(contains(setup_hint(EOPNOTSUPP), "-p0"));
}

TEST(MachineSetupHint, NoErrnoIsWithoutAHint) {
  for (int error_number = 0; error_number < 200; ++error_number) {
    EXPECT_FALSE(setup_hint(error_number).empty()) << error_number;
    EXPECT_FALSE(setup_hint(error_number, Root{"/nowhere"}).empty()) << error_number;
  }
}

// ---- io_setup ----

TEST(MachineAioHint, TheLimitIsNamedWithItsValues) {
  const test::TemporaryFolder machine;
  const Root root{machine.path()};
  EXPECT_EQ(aio_setup_hint(EAGAIN, root),
            "the system's AIO requests are all taken (fs.aio-max-nr): sysctl "
            "fs.aio-max-nr=1048576, or a smaller --depth and fewer --threads");
  machine.write("proc/sys/fs/aio-max-nr", "65536\n");
  machine.write("proc/sys/fs/aio-nr", "65500\n");
  EXPECT_EQ(aio_setup_hint(EAGAIN, root),
            "fs.aio-max-nr is 65536, of which 65500 are taken: sysctl fs.aio-max-nr=1048576, or a "
            "smaller --depth and fewer --threads");
  machine.write("proc/sys/fs/aio-max-nr", "1048576\n");
  EXPECT_TRUE(contains(aio_setup_hint(EAGAIN, root), "sysctl fs.aio-max-nr=4194304"));
  machine.write("proc/sys/fs/aio-max-nr", "9223372036854775807\n");
  EXPECT_TRUE(contains(aio_setup_hint(EAGAIN, root), "is 9223372036854775807"));
}

TEST(MachineAioHint, WhoForbidsIt) {
  EXPECT_TRUE(contains(aio_setup_hint(ENOSYS, machine_root("container")), "CONFIG_AIO"));
  EXPECT_TRUE(contains(aio_setup_hint(ENOSYS, machine_root("container")), "6.8.0"));
  EXPECT_TRUE(contains(aio_setup_hint(EPERM, machine_root("container")), "seccomp=unconfined"));
  EXPECT_TRUE(contains(aio_setup_hint(EPERM, machine_root("good_nvme")), "SELinux"));
  EXPECT_TRUE(contains(aio_setup_hint(EINVAL), "--depth"));
  EXPECT_TRUE(contains(aio_setup_hint(ENOMEM), "memory.max"));
}

TEST(MachineAioHint, NoErrnoIsWithoutAHint) {
  for (int error_number = 0; error_number < 200; ++error_number) {
    EXPECT_FALSE(aio_setup_hint(error_number, Root{"/nowhere"}).empty()) << error_number;
  }
}

}  // namespace
}  // namespace uringbench::machine
