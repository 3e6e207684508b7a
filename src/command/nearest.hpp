// Typing errors met half-way.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace uringbench::command {

/// The candidate with the fewest edits from `word`, if there are no more than `most_edits`. A word
/// that begins a candidate is near, however much is missing.
std::optional<std::string> nearest(const std::string& word,
                                   const std::vector<std::string>& candidates,
                                   std::size_t most_edits);

/// "text, md or csv".
std::string listed(const std::vector<std::string>& words, const std::string& last_link = "or");

}  // namespace uringbench::command
