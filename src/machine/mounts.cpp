#include "machine/mounts.hpp"

#include <algorithm>

#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

constexpr std::size_t kMostMountBytes = 4u << 20;

bool is_octal(char c) { return c >= '0' && c <= '7'; }

/// The kernel writes white space and backslashes in paths as \040 and the like.
std::string unescape(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) &&
                         is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (!escaped) {
      plain += text[i];
      continue;
    }
    plain +=
        static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return plain;
}

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// "/dev/mapper/vg-root" is a link to "/dev/dm-0" on the real machine; the kernel knows the latter.
std::string device_name_of(const std::string& path) {
  return base_name(real_path(path).value_or(path));
}

}  // namespace

std::vector<Mount> read_mounts(const Root& root) {
  std::vector<Mount> mounts;
  const auto text = read_text(root("/proc/self/mountinfo"), kMostMountBytes);
  if (!text) return mounts;
  for (const std::string& line : split(*text, '\n')) {
    // id parent major:minor root mount-point options [tags…] - type source super-options
    const std::vector<std::string> words = split_words(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 3) continue;
    mounts.push_back({to_number(words[0]).value_or(-1), words[2], unescape(words[4]), *(dash + 1),
                      unescape(*(dash + 2))});
  }
  return mounts;
}

std::optional<std::string> find_mount_point(const std::vector<Mount>& mounts,
                                            const std::vector<std::string>& device_numbers,
                                            const std::vector<std::string>& device_names) {
  for (const Mount& mount : mounts) {
    const bool by_name =
        starts_with(mount.source, "/dev/") && contains(device_names, device_name_of(mount.source));
    if (by_name || contains(device_numbers, mount.device_number)) return mount.mount_point;
  }
  return std::nullopt;
}

bool is_swap(const std::vector<std::string>& device_names, const Root& root) {
  const auto text = read_text(root("/proc/swaps"));
  if (!text) return false;
  for (const std::string& line : split(*text, '\n')) {
    const std::vector<std::string> words = split_words(line);
    if (words.size() < 2 || !starts_with(words[0], "/dev/")) continue;
    if (contains(device_names, device_name_of(unescape(words[0])))) return true;
  }
  return false;
}

}  // namespace uringbench::machine
