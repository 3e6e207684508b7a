// Words that were probably meant.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace uringbench::base {

/// Edits (insertions, deletions, replacements of one byte) from one word to the other.
std::size_t edit_distance(const std::string& a, const std::string& b);

/// The candidate with the fewest edits from `word`, if there are no more than `most_edits`. A word
/// that begins a candidate is near, however much is missing.
std::optional<std::string> nearest(const std::string& word,
                                   const std::vector<std::string>& candidates,
                                   std::size_t most_edits);

}  // namespace uringbench::base
