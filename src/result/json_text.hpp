// Private to result: how a JSON value becomes text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace uringbench::result {

/// Two-space indent, but an array of plain values stays on one line: a histogram has thousands of
/// [lower bound, count] pairs, and nobody wants to scroll past four lines for each of them.
std::string json_text(const nlohmann::ordered_json& value);

}  // namespace uringbench::result
