// Private to result: how text from anywhere becomes a JSON value.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "result/result.hpp"

namespace uringbench::result {

/// What becomes of a text that is parsed.
struct Parsing {
  /// With `figures`, the lists of a run that no comparison looks at are left empty. What stands in
  /// them must be JSON within the limits all the same.
  Detail detail = Detail::everything;
  /// Gets each item of the document's list "cells" as soon as it is complete; the item is gone
  /// afterwards. Cells are nearly all of a document: so no tree of all of it ever stands.
  std::function<void(const nlohmann::ordered_json& cell, std::size_t index)> see_cell = {};
  std::size_t most_members = 1000;  ///< of an object
  /// Of a key that begins with a digit the last value counts: older versions of fio write such keys
  /// twice.
  bool numbers_may_repeat = false;
  std::size_t lines_before = 0;  ///< of the file, before the text begins
  const char* what = "result of uringbench";
  const char* hint = "a result is what uringbench writes with --json";
};

/// Parses under limits, so that no file can exhaust memory or stack: size, nesting, members of an
/// object. Throws UserError naming `name`: internal for what is no JSON or exceeds a limit,
/// not_comparable for a key that stands twice and for a number that is none.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& name,
                                  const Parsing& parsing = {});

/// The whole of a file, which is no block device. Throws SystemError(internal) when it cannot be
/// read, UserError(internal) when it is too large.
std::string read_file(const std::string& path);
/// The same without its histograms, which must not stand in memory either; `squeezed`: were there
/// any?
std::string read_file_without_histograms(const std::string& path, bool& squeezed);

/// The most bytes that are read.
inline constexpr std::size_t kMostBytes = std::size_t{512} << 20;
[[noreturn]] void refuse_size(const std::string& name);

/// `path` with one step more, for messages: "cells[0].runs" and "ios" is "cells[0].runs.ios".
/// Keys come from the file: those that are no plain words are quoted and cut.
std::string with_key(const std::string& path, std::string_view key);
std::string with_index(const std::string& path, std::size_t index);

}  // namespace uringbench::result
