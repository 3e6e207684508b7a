// Opening targets: for reading, always, and only what is a regular file or a block device.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "machine/cpu_lists.hpp"
#include "machine/inspect.hpp"
#include "machine/machine.hpp"
#include "machine/refusal.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

/// The kind is looked up before opening, because opening a fifo waits for its writer and opening
/// some devices does things.
mode_t mode_before_open(const std::string& path, const Root& root) {
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) refuse_open(path, errno);
  refuse_kind(path, real_path(path).value_or(path), status.st_mode, root);
  return status.st_mode;
}

/// Non-blocking requests fail instead of waiting; the flag was for the opening only.
void clear_non_blocking(int fd, const std::string& path) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0) {
    throw base::SystemError("fcntl(F_SETFL)", path, errno);
  }
}

Descriptor open_target_file(const std::string& path, mode_t mode, bool direct) {
  // Block devices take O_NONBLOCK as "I don't care for the medium", so they are opened without.
  const int extra = (S_ISREG(mode) ? O_NONBLOCK : 0) | (direct ? O_DIRECT : 0);
  const int fd = open_read_only(path, extra);
  if (fd >= 0) return Descriptor(fd);
  if (fd == -EINVAL && direct) {
    // Is it O_DIRECT that is refused, or the file?
    const Descriptor buffered(open_read_only(path, extra & ~O_DIRECT));
    if (buffered) {
      refuse_direct(path, filesystem_by_magic(buffered.get()).value_or(""), "O_DIRECT: EINVAL");
    }
  }
  refuse_open(path, -fd);
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

const char* kind_name(TargetKind kind) noexcept {
  switch (kind) {
    case TargetKind::file:
      return "file";
    case TargetKind::block:
      return "block";
    case TargetKind::nvme_generic:
      return "nvme-generic";
    case TargetKind::none:
      break;
  }
  return "none";
}

OpenTarget open_target(const std::string& path, bool direct, const Root& root) {
  const mode_t mode = mode_before_open(path, root);
  OpenTarget target;
  target.fd = open_target_file(path, mode, direct);

  // Somebody may have put another thing in its place in the meantime.
  struct stat status {};
  if (::fstat(target.fd.get(), &status) != 0) throw base::SystemError("fstat", path, errno);
  refuse_kind(path, path, status.st_mode, root);
  if (S_ISREG(status.st_mode)) clear_non_blocking(target.fd.get(), path);

  target.facts = inspect(target.fd.get(), path, root);
  refuse_empty(target.facts);
  if (direct && target.facts.direct_offset_align == 0) {
    refuse_direct(path, target.facts.filesystem.value_or(""), "statx says so");
  }
  return target;
}

Descriptor reopen(const OpenTarget& target, bool direct) {
  const std::string link = fmt::format("/proc/self/fd/{}", target.fd.get());
  // Generic devices know no O_DIRECT: passthrough is nothing else.
  const bool with_flag = direct && target.facts.kind != TargetKind::nvme_generic;
  int fd = open_read_only(link, with_flag ? O_DIRECT : 0);
  if (fd == -ENOENT || fd == -ENOTDIR || fd == -EACCES) {
    fd = ::fcntl(target.fd.get(), F_DUPFD_CLOEXEC, 0);
    if (fd < 0) fd = -errno;
  }
  if (fd < 0) refuse_open(target.facts.path, -fd);
  return Descriptor(fd);
}

plan::TargetShape shape_of(const TargetFacts& facts, bool direct) {
  plan::TargetShape shape;
  shape.path = facts.path;
  shape.size_bytes = facts.size_bytes;
  shape.is_block = facts.kind == TargetKind::block;
  shape.is_nvme_generic = facts.kind == TargetKind::nvme_generic;
  // Passthrough addresses whole LBAs, whatever was said of direct I/O.
  const bool aligned = direct || shape.is_nvme_generic;
  shape.alignment_bytes = aligned ? std::max(facts.direct_offset_align, 1u) : 1;
  shape.can_poll = facts.can_poll;
  shape.cannot_poll_reason = facts.cannot_poll_reason;
  shape.cannot_poll_hint = facts.cannot_poll_hint;
  if (shape.is_nvme_generic) {
    shape.namespace_id = facts.namespace_id;
    shape.lba_bytes = facts.logical_block_bytes;
  }
  if (facts.device) {
    shape.disk = facts.device->name;
    shape.node = facts.device->numa_node.value_or(-1);
    shape.local_cpus = listed_numbers(facts.device->local_cpus.value_or(""));
  }
  return shape;
}

}  // namespace uringbench::machine
