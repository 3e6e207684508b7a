#include "machine/sparse.hpp"

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <vector>

#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

constexpr std::uint64_t kBlockBytes = 4096;
constexpr std::uint32_t kExtentsPerCall = 256;
constexpr std::uint32_t kMostSteps = 20000;

/// Written bytes in [0, end), by the file system's map of extents. Absent when it has none.
std::optional<std::uint64_t> written_by_extents(int fd, std::uint64_t end, std::uint32_t flags) {
  std::vector<std::uint64_t> memory(
      (sizeof(fiemap) + kExtentsPerCall * sizeof(fiemap_extent)) / sizeof(std::uint64_t) + 1);
  std::uint64_t written = 0;
  std::uint64_t position = 0;
  for (std::uint32_t steps = 0; steps < kMostSteps && position < end; steps += kExtentsPerCall) {
    std::fill(memory.begin(), memory.end(), 0);
    auto* map = reinterpret_cast<fiemap*>(memory.data());
    map->fm_start = position;
    map->fm_length = end - position;
    map->fm_flags = flags;
    map->fm_extent_count = kExtentsPerCall;
    if (::ioctl(fd, FS_IOC_FIEMAP, map) != 0) return std::nullopt;
    if (map->fm_mapped_extents == 0) return written;

    const auto* extents = reinterpret_cast<const fiemap_extent*>(
        reinterpret_cast<const std::byte*>(map) + sizeof(fiemap));
    for (std::uint32_t i = 0; i < map->fm_mapped_extents; ++i) {
      const fiemap_extent& extent = extents[i];
      const std::uint64_t first = std::max<std::uint64_t>(extent.fe_logical, position);
      const std::uint64_t last = std::min<std::uint64_t>(extent.fe_logical + extent.fe_length, end);
      if (last <= first) continue;
      if ((extent.fe_flags & FIEMAP_EXTENT_UNWRITTEN) == 0) written += last - first;
      position = last;
      if ((extent.fe_flags & FIEMAP_EXTENT_LAST) != 0) return written;
    }
  }
  return written + (end - std::min(position, end));
}

/// Written bytes in [0, end), by seeking from hole to data. A file system that knows no holes
/// answers that all is data.
std::uint64_t written_by_seeking(int fd, std::uint64_t end) {
  std::uint64_t written = 0;
  std::uint64_t position = 0;
  for (std::uint32_t step = 0; step < kMostSteps && position < end; ++step) {
    const off_t data = ::lseek(fd, static_cast<off_t>(position), SEEK_DATA);
    if (data < 0) return errno == ENXIO ? written : written + (end - position);
    const std::uint64_t first = std::min(static_cast<std::uint64_t>(data), end);
    const off_t hole = ::lseek(fd, data, SEEK_HOLE);
    if (hole < 0) return written + (end - first);
    const std::uint64_t last = std::min(static_cast<std::uint64_t>(hole), end);
    written += last - first;
    position = last;
  }
  return written + (end - std::min(position, end));
}

std::uint64_t unwritten_zram_bytes(const TargetFacts& facts, const Root& root) {
  const auto text = read_fact(root("/sys/block/" + facts.device->name + "/mm_stat"));
  if (!text) return 0;
  // The first column is orig_data_size: the uncompressed bytes of all pages that were stored.
  const auto stored = to_number(split_words(*text).front());
  if (!stored || *stored < 0) return 0;
  return facts.size_bytes - std::min(facts.size_bytes, static_cast<std::uint64_t>(*stored));
}

std::uint64_t unwritten_loop_bytes(const TargetFacts& facts, const Root& root) {
  if (!facts.device->backing_file) return 0;
  Descriptor file(
      ::open(root(*facts.device->backing_file).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  // The offset of the loop device in its file is not looked at: the file stands for the device.
  return std::min(unwritten_bytes_of_file(file.get(), size), facts.size_bytes);
}

}  // namespace

std::uint64_t unwritten_bytes_of_file(int fd, std::uint64_t size_bytes) {
  const std::uint64_t end =
      size_bytes < kBlockBytes ? size_bytes : size_bytes / kBlockBytes * kBlockBytes;
  std::optional<std::uint64_t> written = written_by_extents(fd, end, 0);
  // Data that was just written may still show as unwritten until it has reached the disk, so that
  // only an answer after a flush counts against the file.
  if (written && *written < end) written = written_by_extents(fd, end, FIEMAP_FLAG_SYNC);
  if (!written) written = written_by_seeking(fd, end);
  return end - std::min(*written, end);
}

std::uint64_t unwritten_bytes_of_device(const TargetFacts& facts, const Root& root) {
  if (!facts.device) return 0;
  const std::string driver = facts.device->driver.value_or("");
  if (driver == "zram") return unwritten_zram_bytes(facts, root);
  if (driver == "loop") return unwritten_loop_bytes(facts, root);
  return 0;
}

}  // namespace uringbench::machine
