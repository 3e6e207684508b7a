// Words that were probably meant.
#pragma once

#include <cstddef>
#include <string>

namespace uringbench::base {

/// Edits (insertions, deletions, replacements of one byte) from one word to the other.
std::size_t edit_distance(const std::string& a, const std::string& b);

}  // namespace uringbench::base
