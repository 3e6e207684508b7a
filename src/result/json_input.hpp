// Private to result: how text from anywhere becomes a JSON value.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace uringbench::result {

/// Parses under limits, so that no file can exhaust memory or stack: size, nesting, members of an
/// object. Throws UserError naming `name`: internal for what is no JSON or exceeds a limit,
/// not_comparable for a key that stands twice and for a number that is none.
nlohmann::ordered_json parse_json(const std::string& text, const std::string& name);

/// The most bytes that are read.
inline constexpr std::size_t kMostBytes = std::size_t{512} << 20;
[[noreturn]] void refuse_size(const std::string& name);

/// `path` with one step more, for messages: "cells[0].runs" and "ios" is "cells[0].runs.ios".
/// Keys come from the file: those that are no plain words are quoted and cut.
std::string with_key(const std::string& path, std::string_view key);
std::string with_index(const std::string& path, std::size_t index);

}  // namespace uringbench::result
