#include "command/nearest.hpp"

namespace uringbench::command {

std::string listed(const std::vector<std::string>& words, const std::string& last_link) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " " + last_link + " " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace uringbench::command
