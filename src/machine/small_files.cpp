#include "machine/small_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>

namespace uringbench::machine {

namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";

}  // namespace

std::optional<std::string> read_text(const std::string& path, std::size_t most_bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  std::string text(std::min<std::size_t>(most_bytes, 4096), '\0');
  std::size_t used = 0;
  bool failed = false;
  while (used < most_bytes) {
    if (used == text.size()) text.resize(std::min(most_bytes, text.size() * 4));
    const ssize_t got = ::read(fd, text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    failed = got < 0;
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
  }
  ::close(fd);
  if (failed) return std::nullopt;
  text.resize(used);
  text.erase(text.find_last_not_of(kWhiteSpace) + 1);
  return text;
}

std::optional<std::string> read_fact(const std::string& path) {
  std::optional<std::string> text = read_text(path);
  if (!text || trim(*text).empty()) return std::nullopt;
  return trim(*text);
}

std::optional<std::int64_t> to_number(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<std::int64_t> read_number(const std::string& path) {
  const std::optional<std::string> text = read_fact(path);
  return text ? to_number(*text) : std::nullopt;
}

std::vector<std::string> list_names(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(directory.c_str()), &::closedir);
  std::vector<std::string> names;
  if (!folder) return names;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::optional<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr), &::free);
  if (!resolved) return std::nullopt;
  return std::string(resolved.get());
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

std::string trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::size_t begin = text.find_first_not_of(kWhiteSpace);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kWhiteSpace, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kWhiteSpace, end);
  }
  return words;
}

std::string shell_quoted(const std::string& word) {
  const bool plain = word.find_first_of(" \t\n'\"\\$`*?[]();&|<>#!{}~") == std::string::npos;
  if (plain && !word.empty()) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::optional<std::string> value_of_key(std::string_view text, std::string_view key) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key) {
      return trim(line.substr(colon + 1));
    }
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace uringbench::machine
