// Why io_uring_setup or io_setup said no, as far as it can be told from outside.
#include <sys/utsname.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "machine/capabilities.hpp"
#include "machine/machine.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

const char* const kSwitchOn = "sysctl kernel.io_uring_disabled=0";

std::string kernel_release(const Root& root) {
  utsname names{};
  (void)::uname(&names);
  return read_fact(root("/proc/sys/kernel/osrelease")).value_or(names.release);
}

/// Is the kernel older than this? False when its release is not understood.
bool is_older(const std::string& release, int major, int minor) {
  int has_major = 0;
  int has_minor = 0;
  if (std::sscanf(release.c_str(), "%d.%d", &has_major, &has_minor) != 2) return false;
  return has_major < major || (has_major == major && has_minor < minor);
}

bool is_filtered(const Root& root) {
  const auto status = read_text(root("/proc/self/status"));
  const auto seccomp = status ? value_of_key(*status, "Seccomp") : std::nullopt;
  return seccomp && *seccomp != "0";
}

std::string hint_for_filter(const Root& root, const std::string& sysctl) {
  if (is_filtered(root)) {
    return fmt::format(
        "{}, but a seccomp filter is at work on this process: container runtimes "
        "forbid io_uring by default; run the container with --security-opt "
        "seccomp=unconfined, or with a profile that permits io_uring_setup, "
        "io_uring_enter and io_uring_register",
        sysctl);
  }
  return fmt::format(
      "{} and there is no seccomp filter: a security module (SELinux, AppArmor) may "
      "forbid it, see dmesg or the audit log; kernels before 5.13 want root for "
      "SQPOLL",
      sysctl);
}

std::string hint_for_eperm(const Root& root) {
  const auto disabled = read_number(root("/proc/sys/kernel/io_uring_disabled"));
  if (!disabled) return hint_for_filter(root, "this kernel has no sysctl against io_uring");
  if (*disabled == 2) {
    return fmt::format(
        "kernel.io_uring_disabled is 2: io_uring is switched off for everybody, "
        "root too; permit it: {}",
        kSwitchOn);
  }
  if (*disabled == 1 && !has_capability(kCapSysAdmin, root)) {
    const auto group = read_number(root("/proc/sys/kernel/io_uring_group")).value_or(-1);
    const std::string members =
        group >= 0 ? fmt::format("the members of group {} (kernel.io_uring_group)", group)
                   : std::string("the members of kernel.io_uring_group (none is set)");
    return fmt::format(
        "kernel.io_uring_disabled is 1: io_uring is only for CAP_SYS_ADMIN and {}; "
        "run it with sudo, or permit it: {}",
        members, kSwitchOn);
  }
  return hint_for_filter(root, fmt::format("kernel.io_uring_disabled is {}", *disabled));
}

std::string hint_for_enomem(const std::string& release) {
  if (is_older(release, 5, 12)) {
    return fmt::format(
        "kernel {} counts rings as locked memory (RLIMIT_MEMLOCK; 5.12 and later do "
        "not): ulimit -l unlimited, run it with sudo, or a smaller --depth and "
        "fewer --threads",
        release);
  }
  return "not enough memory for the rings, or a limit is reached: that of locked memory, which "
         "some "
         "kernels count rings by (ulimit -l), or the control group's (memory.max); a smaller "
         "--depth "
         "or fewer --threads";
}

/// io_setup counts what all processes asked for against one sysctl.
std::string hint_for_aio_limit(const Root& root) {
  const auto most = read_number(root("/proc/sys/fs/aio-max-nr"));
  const auto used = read_number(root("/proc/sys/fs/aio-nr"));
  const std::string state =
      most && used ? fmt::format("fs.aio-max-nr is {}, of which {} are taken", *most, *used)
                   : std::string("the system's AIO requests are all taken (fs.aio-max-nr)");
  const std::int64_t enough =
      std::max<std::int64_t>(1048576, std::min<std::int64_t>(most.value_or(0), 1 << 28) * 4);
  return fmt::format("{}: sysctl fs.aio-max-nr={}, or a smaller --depth and fewer --threads", state,
                     enough);
}

}  // namespace

std::string setup_hint(int error_number, const Root& root) {
  const std::string release = kernel_release(root);
  switch (error_number) {
    case EPERM:
      return hint_for_eperm(root);
    case EACCES:
      return "a security module (SELinux, AppArmor) forbids io_uring to this process: see dmesg or "
             "the audit log";
    case ENOSYS:
      return fmt::format(
          "kernel {} was built without io_uring (CONFIG_IO_URING), is older than "
          "5.1, or a sandbox such as gVisor or a seccomp filter hides it; -S1 "
          "(preadv2) works without",
          release);
    case ENOMEM:
      return hint_for_enomem(release);
    case EINVAL:
      return fmt::format(
          "kernel {} does not know one of the set-up flags, or not together: a "
          "newer kernel, or fewer flags (-p0, -X0)",
          release);
    case EMFILE:
      return "too many open files in this process: raise ulimit -n, or fewer --threads";
    case ENFILE:
      return "too many open files in the whole system: sysctl fs.file-max, or fewer --threads";
    case EOPNOTSUPP:
      return fmt::format(
          "kernel {} or its sandbox does not support this kind of ring: try -p0; -S1 "
          "(preadv2) works without io_uring",
          release);
    case EFAULT:
    case EBADF:
      return "not to be expected from a real kernel: a sandbox or an emulator may be in between";
    case EAGAIN:
    case EBUSY:
      return "the kernel had no resources for it at this moment (threads, memory): try again, with "
             "fewer --threads";
    default:
      return fmt::format(
          "not a usual answer of io_uring_setup (kernel {}): dmesg may tell more; -S1 "
          "(preadv2) works without io_uring",
          release);
  }
}

std::string aio_setup_hint(int error_number, const Root& root) {
  const std::string release = kernel_release(root);
  switch (error_number) {
    case EAGAIN:
      return hint_for_aio_limit(root);
    case ENOMEM:
      return "not enough memory for the AIO ring, or the control group's memory limit is reached: "
             "a smaller --depth or fewer --threads (free -m, memory.max)";
    case ENOSYS:
      return fmt::format(
          "kernel {} was built without AIO (CONFIG_AIO), or a sandbox or seccomp filter hides it: "
          "leave out -a1 for io_uring, or -S1 (preadv2)",
          release);
    case EPERM:
    case EACCES:
      return is_filtered(root)
                 ? "a seccomp filter is at work on this process and forbids io_setup: run the "
                   "container with --security-opt seccomp=unconfined, or -S1 (preadv2)"
                 : "a security module (SELinux, AppArmor) may forbid io_setup: see dmesg or the "
                   "audit log; -S1 (preadv2) works without";
    case EINVAL:
      return "more requests than the kernel has in one AIO context: a smaller --depth";
    case EFAULT:
      return "not to be expected from a real kernel: a sandbox or an emulator may be in between";
    default:
      return fmt::format(
          "not a usual answer of io_setup (kernel {}): dmesg may tell more; leave out -a1 for "
          "io_uring, or -S1 (preadv2)",
          release);
  }
}

}  // namespace uringbench::machine
