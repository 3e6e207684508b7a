// Reading the small text files of sysfs and procfs. Nothing in here throws: a fact that cannot be
// read is an absent fact. And the few things such texts need done to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uringbench::machine {

/// At most `most_bytes` of a file, without white space at the end. Absent when it cannot be read.
std::optional<std::string> read_text(const std::string& path, std::size_t most_bytes = 65536);
/// As read_text, and an empty file is absent too: for facts an empty word says nothing.
std::optional<std::string> read_fact(const std::string& path);
/// A decimal number that fills the whole file.
std::optional<std::int64_t> read_number(const std::string& path);
/// A decimal number that fills the whole text.
std::optional<std::int64_t> to_number(std::string_view text);

/// Names in a directory without the dotted ones, sorted. Empty when it cannot be read.
std::vector<std::string> list_names(const std::string& directory);
bool exists(const std::string& path);
/// The absolute path after all symbolic links. Absent when something on the way is missing.
std::optional<std::string> real_path(const std::string& path);

/// The part behind the last slash.
std::string base_name(const std::string& path);
bool starts_with(std::string_view text, std::string_view start);
std::string trim(std::string_view text);
std::vector<std::string> split(std::string_view text, char separator);
/// Words between any white space.
std::vector<std::string> split_words(std::string_view text);
/// The word as it must be typed in a command line, for hints that can be copied as they stand.
std::string shell_quoted(const std::string& word);
/// The value behind "<key>:" at the start of a line, as in /proc/self/status and /proc/cpuinfo.
std::optional<std::string> value_of_key(std::string_view text, std::string_view key);

}  // namespace uringbench::machine
