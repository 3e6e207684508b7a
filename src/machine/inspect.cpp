#include "machine/inspect.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "machine/device.hpp"
#include "machine/extended_status.hpp"
#include "machine/mounts.hpp"
#include "machine/small_files.hpp"
#include "machine/sparse.hpp"

namespace uringbench::machine {

namespace {

constexpr std::array<std::pair<long, const char*>, 10> kMagics = {{{0xef53, "ext4"},
                                                                   {0x58465342, "xfs"},
                                                                   {0x9123683e, "btrfs"},
                                                                   {0xf2f52010, "f2fs"},
                                                                   {0x01021994, "tmpfs"},
                                                                   {0x794c7630, "overlay"},
                                                                   {0x6969, "nfs"},
                                                                   {0x65735546, "fuse"},
                                                                   {0x01021997, "9p"},
                                                                   {0x2fc12fc1, "zfs"}}};

void inspect_block_device(TargetFacts& facts, int fd, dev_t device, const Root& root) {
  std::uint64_t size = 0;
  if (::ioctl(fd, BLKGETSIZE64, &size) != 0) {
    throw base::SystemError("ioctl(BLKGETSIZE64)", facts.path, errno);
  }
  int logical_block = 0;
  if (::ioctl(fd, BLKSSZGET, &logical_block) != 0 || logical_block <= 0) {
    throw base::SystemError("ioctl(BLKSSZGET)", facts.path, errno);
  }
  facts.kind = TargetKind::block;
  facts.size_bytes = size;
  facts.logical_block_bytes = static_cast<std::uint32_t>(logical_block);
  facts.direct_offset_align = facts.logical_block_bytes;
  facts.direct_memory_align = facts.logical_block_bytes;
  const ExtendedStatus extended = read_extended_status(fd);
  if (extended.direct_memory_align.value_or(0) > 0) {
    facts.direct_memory_align = *extended.direct_memory_align;
  }
  describe_block_device(facts, device_number_text(device), root);
  facts.unwritten_bytes = unwritten_bytes_of_device(facts, root);
}

void inspect_file(TargetFacts& facts, int fd, const struct stat& status, const Root& root) {
  facts.kind = TargetKind::file;
  facts.size_bytes = static_cast<std::uint64_t>(status.st_size);
  const ExtendedStatus extended = read_extended_status(fd);
  describe_file_system(facts, status.st_dev, extended.mount_id, root);
  if (!facts.filesystem) {
    facts.filesystem = filesystem_by_magic(fd);
    decide_polling(facts);
  }
  if (extended.direct_offset_align) {
    facts.direct_offset_align = *extended.direct_offset_align;
    facts.direct_memory_align = extended.direct_memory_align.value_or(facts.direct_memory_align);
  }
  facts.unwritten_bytes = unwritten_bytes_of_file(fd, facts.size_bytes);
}

/// File systems like btrfs give their files a number no block device has; what is mounted tells.
std::optional<std::string> device_number_of_mount(const Mount& mount, const Root& root) {
  if (!starts_with(mount.source, "/dev/")) return std::nullopt;
  const std::string node = real_path(mount.source).value_or(mount.source);
  return device_number_of_name(base_name(node), root);
}

}  // namespace

std::string resolve_links(const std::string& path) {
  const auto real = real_path(path);
  if (!real) return path;
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error || absolute.lexically_normal() == std::filesystem::path(*real)) return path;
  return *real;
}

std::string device_number_text(dev_t device) {
  return fmt::format("{}:{}", major(device), minor(device));
}

int open_read_only(const std::string& path, int extra_flags) noexcept {
  const int flags = O_RDONLY | O_CLOEXEC | extra_flags;
  // Only the owner may leave the access time alone; everybody else reads with it.
  int fd = ::open(path.c_str(), flags | O_NOATIME);
  if (fd < 0 && errno == EPERM) fd = ::open(path.c_str(), flags);
  return fd >= 0 ? fd : -errno;
}

std::optional<std::string> filesystem_by_magic(int fd) {
  struct statfs status {};
  if (::fstatfs(fd, &status) != 0) return std::nullopt;
  for (const auto& [magic, name] : kMagics) {
    if (static_cast<long>(status.f_type) == magic) return name;
  }
  return std::nullopt;
}

void describe_file_system(TargetFacts& facts, dev_t device, std::optional<std::uint64_t> mount_id,
                          const Root& root) {
  const std::string number = device_number_text(device);
  facts.device = read_device(number, root);
  for (const Mount& mount : read_mounts(root)) {
    const bool matches =
        mount_id ? mount.id == static_cast<std::int64_t>(*mount_id) : mount.device_number == number;
    if (!matches) continue;
    facts.filesystem = mount.filesystem;
    if (facts.device) break;
    const auto source = device_number_of_mount(mount, root);
    if (source) facts.device = read_device(*source, root);
    break;
  }
  if (facts.device) {
    const auto block = facts.device->queue.find("logical_block_size");
    const auto bytes = block == facts.device->queue.end() ? std::nullopt : to_number(block->second);
    if (bytes && *bytes > 0) {
      facts.logical_block_bytes = static_cast<std::uint32_t>(*bytes);
      facts.direct_offset_align = facts.logical_block_bytes;
      facts.direct_memory_align = facts.logical_block_bytes;
    }
  }
  decide_polling(facts);
}

TargetFacts inspect(int fd, const std::string& path, const Root& root) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) throw base::SystemError("fstat", path, errno);
  TargetFacts facts;
  facts.path = path;
  facts.resolved_path = resolve_links(path);
  if (S_ISBLK(status.st_mode)) {
    inspect_block_device(facts, fd, status.st_rdev, root);
  } else {
    inspect_file(facts, fd, status, root);
  }
  facts.sparse = facts.unwritten_bytes > 0;
  return facts;
}

}  // namespace uringbench::machine
