#include "machine/refusal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "machine/nvme_names.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

using base::ExitCode;
using base::SystemError;
using base::UserError;

constexpr std::size_t kMostNames = 5000;

const char* const kGiveAFile =
    "give a regular file or a block device, or use --scratch 1G to measure a temporary file";

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return "";
  return path.substr(0, slash + 1);
}

std::string hint_for_missing(const std::string& path) {
  const std::string folder = folder_of(path);
  const std::string listed = folder.empty() ? "." : folder;
  if (!exists(listed)) return fmt::format("the folder {} does not exist", listed);
  if (folder == "/dev/" && nvme_numbers(base_name(path), "nvme").size() == 1) {
    return fmt::format("NVMe namespaces are called like {}n1", path);
  }
  const bool is_generic = folder == "/dev/" && starts_with(base_name(path), "ng");
  // Among devices only those help that can be measured.
  const std::string devices = is_generic ? "/sys/class/nvme-generic" : "/sys/class/block";
  const std::string choice = folder == "/dev/" ? devices : listed;
  const std::string near = nearest_name(base_name(path), list_names(choice));
  if (!near.empty()) return fmt::format("did you mean {}{}?", folder, near);
  if (is_generic) {
    return "NVMe generic devices are called /dev/ngXnY and come with Linux 5.13 and later: ls "
           "/dev/ng*";
  }
  return kGiveAFile;
}

std::string hint_for_denied(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISBLK(status.st_mode)) {
    return "run it with sudo, or as a member of the group the device belongs to (mostly disk)";
  }
  return "run it with sudo, or as a user who may read it (ls -l tells whom the file belongs to)";
}

std::string hint_for_forbidden(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISBLK(status.st_mode)) {
    return fmt::format(
        "a device controller or security module forbids it; for a container, pass the device in "
        "(docker run --device={})",
        path);
  }
  return "a security module (SELinux, AppArmor) forbids it: see dmesg or the audit log";
}

std::string hint_for_open(const std::string& path, int error_number) {
  switch (error_number) {
    case ENOENT:
      return hint_for_missing(path);
    case ENOTDIR:
      return "a part of the path is a file, not a folder";
    case ELOOP:
      return "the symbolic links lead in a circle: readlink -f tells where";
    case ENAMETOOLONG:
      return "a shorter path to the same file, for example from its folder";
    case EACCES:
      return hint_for_denied(path);
    case EPERM:
      return hint_for_forbidden(path);
    case ENXIO:
    case ENODEV:
      return "the node is there but no device is behind it: is the driver loaded, the drive in "
             "place (lsblk)?";
    case ENOMEDIUM:
      return "there is no medium in the drive";
    case EBUSY:
      return "somebody holds it exclusively: lsof, or it is being set up right now";
    case EMFILE:
    case ENFILE:
      return "too many open files: raise ulimit -n, or use fewer threads or targets";
    case EIO:
      return "the device does not answer properly: dmesg tells more";
    default:
      return kGiveAFile;
  }
}

void refuse_character_device(const std::string& path, const std::string& resolved,
                             const Root& root) {
  const std::string name = base_name(resolved);
  const std::vector<std::int64_t> controller = nvme_numbers(name, "nvme");
  if (controller.size() == 1) {
    throw UserError(ExitCode::cannot, fmt::format("{}: an NVMe controller, not a namespace", path),
                    fmt::format("use /dev/{}", first_namespace(controller[0], root)));
  }
  const auto block = block_of_generic(name);
  if (block) {
    throw UserError(ExitCode::cannot,
                    fmt::format("{}: an NVMe generic device: it takes passthrough only", path),
                    fmt::format("use -u1, or /dev/{}", *block));
  }
  throw UserError(ExitCode::cannot, fmt::format("{}: a character device", path),
                  name == "null" || name == "zero"
                      ? std::string("-N1 (NOP) needs no file; else ") + kGiveAFile
                      : std::string(kGiveAFile));
}

}  // namespace

void refuse_open(const std::string& path, int error_number) {
  if (path.empty()) throw UserError(ExitCode::cannot, "an empty file name", kGiveAFile);
  throw SystemError("open", path, error_number, hint_for_open(path, error_number));
}

void refuse_kind(const std::string& path, const std::string& resolved, mode_t mode,
                 const Root& root) {
  switch (mode & S_IFMT) {
    case S_IFREG:
    case S_IFBLK:
      return;
    case S_IFDIR:
      throw UserError(
          ExitCode::cannot, fmt::format("{}: is a directory", path),
          fmt::format("give a regular file or a block device, or use --scratch 1G@{}", path));
    case S_IFIFO:
      throw UserError(ExitCode::cannot, fmt::format("{}: is a fifo (named pipe)", path),
                      kGiveAFile);
    case S_IFSOCK:
      throw UserError(ExitCode::cannot, fmt::format("{}: is a socket", path), kGiveAFile);
    case S_IFCHR:
      refuse_character_device(path, resolved, root);
      return;
    default:
      throw UserError(ExitCode::cannot,
                      fmt::format("{}: neither a regular file nor a block device", path),
                      kGiveAFile);
  }
}

void refuse_empty(const TargetFacts& facts) {
  if (facts.size_bytes > 0) return;
  const std::string& path = facts.path;
  if (facts.kind == TargetKind::file) {
    throw UserError(ExitCode::cannot, fmt::format("{}: is an empty file", path),
                    "choose a file with data in it, or use --scratch 1G");
  }
  const std::string driver = facts.device ? facts.device->driver.value_or("") : "";
  const std::string name = facts.device ? facts.device->name : base_name(path);
  if (driver == "zram") {
    throw UserError(ExitCode::cannot,
                    fmt::format("{}: this zram device has no size yet (disksize is 0)", path),
                    fmt::format("echo 1G > /sys/block/{}/disksize, then fill it: dd "
                                "if=/dev/urandom of=/dev/{} bs=1M",
                                name, name));
  }
  if (driver == "loop" && facts.device->backing_file) {
    throw UserError(ExitCode::cannot,
                    fmt::format("{}: the file behind this loop device is empty", path),
                    fmt::format("fill {} and attach it again: losetup -d /dev/{}",
                                shell_quoted(*facts.device->backing_file), name));
  }
  if (driver == "loop") {
    throw UserError(ExitCode::cannot,
                    fmt::format("{}: this loop device has no file behind it", path),
                    fmt::format("losetup /dev/{} FILE, or measure the file itself", name));
  }
  throw UserError(ExitCode::cannot, fmt::format("{}: this block device has a size of 0", path),
                  "no medium, or not set up yet: lsblk and dmesg tell more");
}

void refuse_direct(const std::string& path, const std::string& filesystem,
                   const std::string& reason) {
  throw UserError(ExitCode::cannot,
                  fmt::format("{}: direct I/O (-O1) is not possible on this file ({}: {})", path,
                              filesystem.empty() ? "its file system" : filesystem, reason),
                  "use -O0, which measures the page cache, or a file on ext4 or xfs or a block "
                  "device");
}

std::string nearest_name(const std::string& name, const std::vector<std::string>& names) {
  // One slip in a short name, two in a longer one; more would be guessing.
  std::size_t best_distance = name.size() < 4 ? 1 : 2;
  std::string best;
  if (names.size() > kMostNames) return best;
  for (const std::string& candidate : names) {
    const std::size_t longer = std::max(candidate.size(), name.size());
    if (longer - std::min(candidate.size(), name.size()) > best_distance) continue;
    const std::size_t distance = base::edit_distance(name, candidate);
    if (distance > best_distance || (distance == best_distance && !best.empty())) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

}  // namespace uringbench::machine
