#include "machine/huge_pages.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "machine/mounts.hpp"
#include "machine/refusal.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

using base::ExitCode;
using base::SystemError;
using base::UserError;

constexpr std::uint32_t kHugetlbfsMagic = 0x958458f6;

std::uint64_t difference(std::uint64_t from, std::uint64_t less) {
  return from - std::min(from, less);
}

std::uint64_t read_count(const std::string& path) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, read_number(path).value_or(0)));
}

std::uint64_t first_number(const std::optional<std::string>& value) {
  if (!value || value->empty()) return 0;
  const auto number = to_number(split_words(*value).front());
  return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

std::string pool_folder(std::uint64_t page_bytes, const Root& root) {
  return root(fmt::format("/sys/kernel/mm/hugepages/hugepages-{}kB/", page_bytes / 1024));
}

/// What the kernel may still add to the pool when somebody needs it.
std::uint64_t makeable_pages(const std::string& folder) {
  return difference(read_count(folder + "nr_overcommit_hugepages"),
                    read_count(folder + "surplus_hugepages"));
}

bool is_on_hugetlbfs(const std::string& path) {
  struct statfs status {};
  return ::statfs(path.c_str(), &status) == 0 &&
         static_cast<std::uint32_t>(status.f_type) == kHugetlbfsMagic;
}

std::string parent_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// Where to get a file on hugetlbfs from: where it is mounted already, or how to mount it.
std::string cure(const Root& root) {
  for (const Mount& mount : read_mounts(root)) {
    if (mount.filesystem != "hugetlbfs") continue;
    return fmt::format(
        "{0} is: truncate -s SIZE {0}/buffers makes a file there; another one: mount -t hugetlbfs "
        "none DIR; or -H anon for huge pages without a file",
        shell_quoted(mount.mount_point));
  }
  return "mkdir -p /dev/hugepages; mount -t hugetlbfs none /dev/hugepages; truncate -s SIZE "
         "/dev/hugepages/buffers; or -H anon for huge pages without a file";
}

[[noreturn]] void refuse_access(const std::string& path, int error_number, const Root& root) {
  std::string hint;
  if (error_number == ENOENT) {
    hint = is_on_hugetlbfs(parent_folder(path))
               ? fmt::format("make it: truncate -s SIZE {}", shell_quoted(path))
               : cure(root);
  } else if (error_number == EACCES || error_number == EPERM || error_number == EROFS) {
    hint =
        "buffers are written to: run it with sudo, or as a user who may read and write this "
        "file (ls -l tells whom it belongs to)";
  }
  if (path.empty() || hint.empty()) refuse_open(path, error_number);
  throw SystemError(error_number == ENOENT ? "open" : "read and write", path, error_number, hint);
}

}  // namespace

HugePool read_huge_pool(std::uint64_t page_bytes, const Root& root) {
  const std::string folder = pool_folder(page_bytes, root);
  return {page_bytes,
          difference(read_count(folder + "free_hugepages"), read_count(folder + "resv_hugepages")) +
              makeable_pages(folder)};
}

HugePool read_default_huge_pool(const Root& root) {
  const std::string text = read_text(root("/proc/meminfo")).value_or("");
  const auto number = [&](const char* key) { return first_number(value_of_key(text, key)); };
  HugePool pool;
  pool.page_bytes = number("Hugepagesize") * 1024;
  if (pool.page_bytes == 0) return pool;
  pool.pages_free = difference(number("HugePages_Free"), number("HugePages_Rsvd")) +
                    makeable_pages(pool_folder(pool.page_bytes, root));
  return pool;
}

plan::Limits::HugeFile read_huge_file(const std::string& path, const Root& root) {
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) refuse_access(path, errno, root);
  if (!is_on_hugetlbfs(path)) {
    throw UserError(ExitCode::cannot, fmt::format("{}: is not on hugetlbfs (-H)", path),
                    cure(root));
  }
  if (S_ISDIR(status.st_mode)) {
    const std::string folder = path.substr(0, path.find_last_not_of('/') + 1);
    throw UserError(ExitCode::cannot, fmt::format("{}: is a directory (-H)", path),
                    fmt::format("name a file in it: truncate -s SIZE {0}/buffers, then -H "
                                "{0}/buffers",
                                shell_quoted(folder)));
  }
  if (!S_ISREG(status.st_mode)) {
    throw UserError(ExitCode::cannot, fmt::format("{}: is not a regular file (-H)", path),
                    cure(root));
  }
  // Asked, not tried: opening files for writing is the engine's business.
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) != 0) {
    refuse_access(path, errno, root);
  }
  struct statfs filesystem {};
  if (::statfs(path.c_str(), &filesystem) != 0) throw SystemError("statfs", path, errno);
  const HugePool pool = read_huge_pool(static_cast<std::uint64_t>(filesystem.f_bsize), root);
  plan::Limits::HugeFile facts;
  facts.page_bytes = pool.page_bytes;
  facts.size_bytes = static_cast<std::uint64_t>(status.st_size);
  // What an earlier run left in the file is taken from the pool, but is there for this one.
  const std::uint64_t own_bytes = static_cast<std::uint64_t>(status.st_blocks) * 512;
  facts.pages_free = pool.pages_free + own_bytes / pool.page_bytes;
  return facts;
}

}  // namespace uringbench::machine
