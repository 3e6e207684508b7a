// A dense temporary file that nobody has to clean up.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "machine/device.hpp"
#include "machine/extended_status.hpp"
#include "machine/fill.hpp"
#include "machine/inspect.hpp"
#include "machine/machine.hpp"
#include "machine/refusal.hpp"

namespace uringbench::machine {

namespace {

using base::ExitCode;
using base::UserError;

constexpr std::uint64_t kLeastBytes = 4096;

std::string scratch_name(const plan::Scratch& scratch) {
  return fmt::format("scratch:{}@{}", base::format_size(scratch.size_bytes), scratch.directory);
}

/// Everything that can be told to be impossible before the first byte is written.
struct stat check_possible(const plan::Scratch& scratch) {
  const std::string& directory = scratch.directory;
  if (scratch.size_bytes < kLeastBytes) {
    throw UserError(ExitCode::cannot,
                    fmt::format("--scratch: {} bytes are less than one block of {}",
                                scratch.size_bytes, kLeastBytes),
                    "give a size like 1G");
  }
  struct stat status {};
  if (directory.empty() || ::stat(directory.c_str(), &status) != 0) {
    throw base::SystemError("stat", "--scratch: " + directory, directory.empty() ? ENOENT : errno,
                            "give an existing folder: --scratch 1G@DIR");
  }
  if (!S_ISDIR(status.st_mode)) {
    throw UserError(
        ExitCode::cannot, fmt::format("--scratch: {}: is not a directory", directory),
        fmt::format("give a folder, or measure the file itself: uringbench run {}", directory));
  }
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    throw base::SystemError("access", "--scratch: " + directory, errno,
                            "give a folder you may write to: --scratch 1G@DIR");
  }
  struct statvfs room {};
  // A file system that counts no blocks (ramfs) tells nothing.
  if (::statvfs(directory.c_str(), &room) == 0 && room.f_blocks != 0) {
    const std::uint64_t have = std::uint64_t{room.f_bavail} * room.f_frsize;
    if (have < scratch.size_bytes) {
      throw UserError(ExitCode::cannot,
                      fmt::format("--scratch: {}: not enough room: need {}, have {}", directory,
                                  base::format_bytes(scratch.size_bytes), base::format_bytes(have)),
                      "a smaller --scratch, or another folder: --scratch 1G@DIR");
    }
  }
  struct rlimit limit {};
  // Writing beyond this limit would end the process by SIGXFSZ.
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < scratch.size_bytes) {
    throw UserError(ExitCode::cannot,
                    fmt::format("--scratch: files may not grow beyond {} (RLIMIT_FSIZE)",
                                base::format_bytes(limit.rlim_cur)),
                    "ulimit -f unlimited, or a smaller --scratch");
  }
  return status;
}

struct ScratchFile {
  Descriptor writer, reader;
};

[[noreturn]] void refuse_scratch_open(const std::string& directory, bool direct, int error_number) {
  if (error_number == EINVAL && direct) {
    const Descriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    refuse_direct("--scratch: " + directory,
                  folder ? filesystem_by_magic(folder.get()).value_or("") : "", "O_DIRECT: EINVAL");
  }
  throw base::SystemError("open", "--scratch: " + directory, error_number,
                          "give a folder you may write to: --scratch 1G@DIR");
}

/// A file without a name from the start, so that no signal can leave it behind.
std::optional<ScratchFile> make_unnamed(const std::string& directory, bool direct) {
  ScratchFile file;
  file.writer = Descriptor(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.writer) {
    // Old kernels and some file systems do not have it, each with its own way of saying so.
    if (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL) {
      return std::nullopt;
    }
    refuse_scratch_open(directory, false, errno);
  }
  const int reader =
      open_read_only(fmt::format("/proc/self/fd/{}", file.writer.get()), direct ? O_DIRECT : 0);
  if (reader == -EINVAL) refuse_scratch_open(directory, direct, EINVAL);
  if (reader < 0) return std::nullopt;  // no /proc: then by name
  file.reader = Descriptor(reader);
  return file;
}

/// With a name for the moment between two system calls.
ScratchFile make_named(const std::string& directory, bool direct) {
  std::string name = directory + "/.uringbench-scratch-XXXXXX";
  ScratchFile file;
  file.writer = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.writer) refuse_scratch_open(directory, false, errno);
  const int reader = open_read_only(name, direct ? O_DIRECT : 0);
  ::unlink(name.c_str());
  if (reader < 0) refuse_scratch_open(directory, direct, -reader);
  file.reader = Descriptor(reader);
  return file;
}

}  // namespace

std::optional<OpenTarget> make_scratch(const plan::Scratch& scratch, bool direct,
                                       const std::function<bool()>& stop, const Root& root) {
  check_possible(scratch);
  std::optional<ScratchFile> file = make_unnamed(scratch.directory, direct);
  if (!file) file = make_named(scratch.directory, direct);

  const std::string name = scratch_name(scratch);
  if (!fill_with_random(file->writer.get(), scratch.size_bytes, name, stop)) return std::nullopt;

  OpenTarget target;
  target.facts = inspect(file->reader.get(), name, root);
  target.facts.resolved_path = name;
  if (direct && target.facts.direct_offset_align == 0) {
    refuse_direct("--scratch: " + scratch.directory, target.facts.filesystem.value_or(""),
                  "statx says so");
  }
  target.fd = std::move(file->reader);
  return target;
}

TargetFacts foresee_scratch(const plan::Scratch& scratch, const Root& root) {
  const struct stat status = check_possible(scratch);
  TargetFacts facts;
  facts.path = scratch_name(scratch);
  facts.resolved_path = facts.path;
  facts.kind = TargetKind::file;
  facts.size_bytes = scratch.size_bytes;
  const Descriptor folder(::open(scratch.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto mount_id = folder ? read_extended_status(folder.get()).mount_id : std::nullopt;
  describe_file_system(facts, status.st_dev, mount_id, root);
  if (!facts.filesystem && folder) {
    facts.filesystem = filesystem_by_magic(folder.get());
    decide_polling(facts);
  }
  return facts;
}

}  // namespace uringbench::machine
