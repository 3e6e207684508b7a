#include "command/nearest.hpp"

#include <algorithm>

#include "base/base.hpp"

namespace uringbench::command {

std::optional<std::string> nearest(const std::string& word,
                                   const std::vector<std::string>& candidates,
                                   std::size_t most_edits) {
  std::optional<std::string> best;
  std::size_t best_distance = most_edits + 1;
  for (const auto& candidate : candidates) {
    const bool begins = !word.empty() && candidate.starts_with(word);
    const std::size_t distance = begins ? 1 : base::edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string listed(const std::vector<std::string>& words, const std::string& last_link) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " " + last_link + " " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace uringbench::command
