// The document's way to disk, complete under its name or not there at all, and the way back.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "result/json_input.hpp"
#include "result/result.hpp"
#include "result/squeeze.hpp"

namespace uringbench::result {
namespace {

using base::ExitCode;
using base::SystemError;
using base::UserError;

constexpr int kMostLinks = 40;  // as many as the kernel follows

// What a signal handler needs to clean up: a name in static storage, and whether it is in use.
std::array<char, PATH_MAX> unfinished_name{};
std::atomic<bool> unfinished{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the signal handler reads it");

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  /// 0 or -1 with errno, as close(2): network filesystems report a failed write only here.
  int close() { return fd_ < 0 ? 0 : ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string in_folder(const std::string& folder, const std::string& name) {
  return folder.back() == '/' ? folder + name : folder + '/' + name;
}

[[noreturn]] void fail(const char* operation, const std::string& subject, int error_number) {
  std::string hint;
  if (error_number == ENOSPC || error_number == EDQUOT) hint = "make room, or write elsewhere";
  throw SystemError(operation, subject, error_number, hint, ExitCode::internal);
}

[[noreturn]] void refuse(const std::string& path, const std::string& reason,
                         std::string hint = {}) {
  throw UserError(ExitCode::internal, path + ": cannot write the result document: " + reason,
                  std::move(hint));
}

/// "/dev/fd/3" and "/proc/self/fd/3" name an open descriptor. Opening such a name again would start
/// at offset 0 of a file that our own standard output is writing to.
std::optional<int> descriptor_named(std::string_view path) {
  for (const std::string_view prefix : {"/proc/self/fd/", "/dev/fd/"}) {
    if (!path.starts_with(prefix)) continue;
    const std::string_view digits = path.substr(prefix.size());
    int fd = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), fd);
    if (error == std::errc{} && end == digits.data() + digits.size() && fd >= 0) return fd;
  }
  return std::nullopt;
}

/// Where writing to `path` leads: a descriptor this process has open, or a name that is no symbolic
/// link. The name need not exist: a dangling link is a fine place for a new file.
struct Destination {
  std::optional<int> fd;
  std::string name;
};

Destination follow_links(const std::string& path) {
  std::string name = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    if (const auto fd = descriptor_named(name)) return {fd, name};
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlink(name.c_str(), target.data(), target.size());
    if (length < 0) return {std::nullopt, name};  // no link, or not there: stat tells which
    const std::string next(target.data(), static_cast<std::size_t>(length));
    name = next.starts_with('/') ? next : in_folder(folder_of(name), next);
  }
  fail("follow symbolic links", path, ELOOP);
}

/// The file at `name`, or nothing when there is none yet. Throws for what must not be written to.
std::optional<struct stat> inspect(const std::string& path, const std::string& name) {
  if (path.empty()) refuse("''", "the name is empty");
  struct stat facts {};
  if (::stat(name.c_str(), &facts) != 0) {
    if (errno != ENOENT) refuse(path, base::describe_errno(errno));
    const std::string folder = folder_of(name);
    struct stat folder_facts {};
    if (::stat(folder.c_str(), &folder_facts) != 0) {
      refuse(path, "there is no folder " + folder, "make it first: mkdir -p " + folder);
    }
    return std::nullopt;
  }
  if (S_ISDIR(facts.st_mode)) refuse(path, "it is a directory", "add a file name");
  if (S_ISBLK(facts.st_mode)) {
    refuse(path, "it is a block device, whose data would be overwritten", "name a file");
  }
  // Renaming over it would work all the same, but who took the write permission away meant it.
  if (::faccessat(AT_FDCWD, name.c_str(), W_OK, AT_EACCESS) != 0) {
    refuse(path, base::describe_errno(errno));
  }
  return facts;
}

/// Creates a new file beside its later name, so that rename cannot cross filesystems. The name is
/// short and its own: a long document name would leave no room for a suffix. Process and time make
/// it unique, so it may be announced to the signal handler before the file exists.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& folder) : fd_(create(folder)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { remove_unfinished_file(); }

  Descriptor& fd() { return fd_; }
  /// 0, or errno. Looks at the name once more: the write took its time, and for root a rename would
  /// put a plain file in the place of any device node.
  int rename_to(const std::string& name) {
    struct stat facts {};
    if (::lstat(name.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) return EEXIST;
    if (::rename(unfinished_name.data(), name.c_str()) != 0) return errno;
    unfinished.store(false);
    return 0;
  }

 private:
  /// A descriptor, or a negative errno.
  static int create(const std::string& folder) {
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    const std::string name = in_folder(
        folder, ".uringbench-" + std::to_string(::getpid()) + '-' + std::to_string(now) + ".tmp");
    if (name.size() >= unfinished_name.size()) return -ENAMETOOLONG;
    std::memcpy(unfinished_name.data(), name.c_str(), name.size() + 1);
    unfinished.store(true);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) return fd;
    const int error_number = errno;
    unfinished.store(false);
    return -error_number;
  }

  Descriptor fd_;
};

/// 0, or errno.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

void write_directly(const std::string& path, const Destination& destination, int flags,
                    const std::string& text) {
  if (destination.fd) {
    const int error_number = write_all(*destination.fd, text);
    if (error_number != 0) fail("write", path, error_number);
    return;
  }
  Descriptor file(::open(destination.name.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | flags));
  if (file.get() < 0) fail("open", path, errno);
  if (const int error_number = write_all(file.get(), text)) fail("write", path, error_number);
  if (file.close() != 0) fail("close", path, errno);
}

/// The rename is on disk only once the folder is. Some filesystems and some permissions do not
/// allow that, and then the document is still complete: only a true I/O error is worth a word.
void sync_folder(const std::string& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0 && ::fsync(fd.get()) != 0 && errno == EIO) fail("fsync", folder, EIO);
}

void keep_owner_and_mode(int fd, const struct stat& replaced) {
  // Only root may give files away; for others a new owner is the price of an atomic replacement.
  if (::fchown(fd, replaced.st_uid, replaced.st_gid) != 0) errno = 0;
  if (::fchmod(fd, replaced.st_mode & 0777) != 0) errno = 0;
}

}  // namespace

bool can_replace(const std::string& path) {
  if (path == "-") return false;
  const Destination destination = follow_links(path);
  struct stat facts {};
  if (destination.fd) return false;
  return ::stat(destination.name.c_str(), &facts) != 0 || S_ISREG(facts.st_mode);
}

void check_writable(const std::string& path) {
  if (path == "-") return;
  const Destination destination = follow_links(path);
  if (destination.fd) {
    const int flags = ::fcntl(*destination.fd, F_GETFL);
    if (flags < 0) refuse(path, base::describe_errno(errno));
    if ((flags & O_ACCMODE) == O_RDONLY) refuse(path, "it is open for reading only");
    return;
  }
  const auto existing = inspect(path, destination.name);
  if (existing && !S_ISREG(existing->st_mode)) return;
  // Only trying tells: read-only mounts, quotas and access control lists all have their say.
  const std::string folder = folder_of(destination.name);
  TemporaryFile trial(folder);
  if (trial.fd().get() < 0) {
    refuse(path,
           "no file can be made in " + folder + ": " + base::describe_errno(-trial.fd().get()));
  }
}

void save_atomically(const std::string& path, const std::string& text) {
  const Destination destination = follow_links(path);
  if (destination.fd) return write_directly(path, destination, 0, text);
  const auto existing = inspect(path, destination.name);
  if (existing && !S_ISREG(existing->st_mode)) return write_directly(path, destination, 0, text);

  const std::string folder = folder_of(destination.name);
  int rename_error = 0;
  {
    TemporaryFile temporary(folder);
    Descriptor& file = temporary.fd();
    if (file.get() < 0) fail("create a temporary file", folder, -file.get());
    if (existing) keep_owner_and_mode(file.get(), *existing);
    if (const int error_number = write_all(file.get(), text)) fail("write", path, error_number);
    if (::fsync(file.get()) != 0) fail("fsync", path, errno);
    if (file.close() != 0) fail("close", path, errno);
    rename_error = temporary.rename_to(destination.name);
  }
  if (rename_error == EBUSY && existing) {
    // A single file mounted into a container cannot be replaced, only filled. A document that is
    // not written atomically is better than a lost measurement.
    return write_directly(path, destination, O_TRUNC, text);
  }
  if (rename_error != 0) fail("rename", path, rename_error);
  sync_folder(folder);
}

namespace {

/// Gives the bytes of a file in pieces.
template <typename Take>
void read_pieces(const std::string& path, Take take) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0) fail("open", path, errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) fail("stat", path, errno);
  if (facts.st_size > off_t{kMostBytes}) refuse_size(path);
  if (S_ISBLK(facts.st_mode)) {
    throw UserError(ExitCode::internal, path + ": is a block device, not a result document",
                    "name the file that --json wrote");
  }
  std::string piece(std::size_t{1} << 20, '\0');
  std::size_t total = 0;
  while (true) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    if (got == 0) return;
    total += static_cast<std::size_t>(got);
    if (total > kMostBytes) refuse_size(path);
    take(std::string_view(piece.data(), static_cast<std::size_t>(got)), facts);
  }
}

}  // namespace

std::string read_file(const std::string& path) {
  std::string text;
  read_pieces(path, [&](std::string_view piece, const struct stat& facts) {
    const auto size = static_cast<std::size_t>(facts.st_size);
    if (text.empty()) text.reserve(std::max(size, piece.size()));  // growing would copy
    text += piece;
  });
  return text;
}

std::string read_file_without_histograms(const std::string& path, bool& squeezed) {
  Squeezer squeezer;
  std::string text;
  read_pieces(path, [&](std::string_view piece, const struct stat& facts) {
    // What is not well may have to be read again for the message, which a pipe cannot be.
    if (S_ISREG(facts.st_mode)) {
      squeezer.feed(piece, text);
    } else {
      text += piece;
    }
  });
  squeezer.finish(text);
  squeezed = squeezer.squeezed();
  return text;
}

Document load(const std::string& path) { return from_json(read_file(path), path); }

void remove_unfinished_file() noexcept {
  if (unfinished.exchange(false)) ::unlink(unfinished_name.data());
}

}  // namespace uringbench::result
