#include "machine/fill.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <vector>

#include "base/base.hpp"

namespace uringbench::machine {

namespace {

constexpr std::size_t kChunkBytes = 1u << 20;
/// How much may be on its way to the disk: keeps the last sync, which nothing can interrupt, short.
constexpr std::uint64_t kWindowBytes = 16u << 20;

/// SplitMix64 (Steele, Lea, Flood 2014): one addition and three mixing steps per eight bytes.
class RandomBytes {
 public:
  RandomBytes() {
    if (::getrandom(&state_, sizeof state_, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof state_)) {
      state_ =
          static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    }
  }
  void fill(std::vector<std::uint64_t>& words) noexcept {
    for (std::uint64_t& word : words) {
      state_ += 0x9e3779b97f4a7c15u;
      std::uint64_t mixed = state_;
      mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
      word = mixed ^ (mixed >> 31);
    }
  }

 private:
  std::uint64_t state_ = 0;
};

[[noreturn]] void refuse_write(const char* operation, const std::string& subject,
                               int error_number) {
  std::string hint = "another folder: --scratch 1G@DIR; dmesg tells more";
  if (error_number == ENOSPC) hint = "the disk is full: a smaller --scratch, or another folder";
  if (error_number == EDQUOT) hint = "your quota is used up: a smaller --scratch";
  if (error_number == EFBIG) hint = "the file system or ulimit -f allows no file of this size";
  throw base::SystemError(operation, subject, error_number, hint);
}

void write_whole(int fd, const std::byte* bytes, std::size_t count, std::uint64_t offset,
                 const std::string& subject) {
  while (count > 0) {
    const ssize_t written = ::pwrite(fd, bytes, count, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) refuse_write("write", subject, written < 0 ? errno : EIO);
    bytes += written;
    count -= static_cast<std::size_t>(written);
    offset += static_cast<std::uint64_t>(written);
  }
}

/// Starts writing out the window that ends here and waits for the one before. A failed write-out
/// is reported once per descriptor, so it has to be caught here or fsync would say that all is
/// well.
void pace(int fd, std::uint64_t end, const std::string& subject) {
  if (end % kWindowBytes != 0) return;
  const auto window = static_cast<off_t>(kWindowBytes);
  const auto begin = static_cast<off_t>(end) - window;
  int result = ::sync_file_range(fd, begin, window, SYNC_FILE_RANGE_WRITE);
  if (result == 0 && begin >= window) {
    result = ::sync_file_range(
        fd, begin - window, window,
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  }
  // A file that knows no ranges (ESPIPE, EINVAL, ENOSYS) is only filled at its own pace.
  const bool lost = result != 0 && (errno == EIO || errno == ENOSPC || errno == EDQUOT);
  if (lost) refuse_write("write-out", subject, errno);
}

}  // namespace

bool fill_with_random(int fd, std::uint64_t size_bytes, const std::string& subject,
                      const std::function<bool()>& stop) {
  RandomBytes random;
  std::vector<std::uint64_t> chunk(kChunkBytes / sizeof(std::uint64_t));
  for (std::uint64_t offset = 0; offset < size_bytes;) {
    if (stop && stop()) return false;
    random.fill(chunk);
    const std::size_t count =
        static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, size_bytes - offset));
    write_whole(fd, reinterpret_cast<const std::byte*>(chunk.data()), count, offset, subject);
    offset += count;
    pace(fd, offset, subject);
  }
  if (stop && stop()) return false;
  while (::fsync(fd) != 0) {
    if (errno != EINTR) refuse_write("fsync", subject, errno);
  }
  (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  return true;
}

}  // namespace uringbench::machine
