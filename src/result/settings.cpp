#include <algorithm>
#include <cassert>

#include "result/result.hpp"

namespace uringbench::result {

Settings& Settings::set(std::string key, Value value) {
  const auto same_key = [&](const auto& entry) { return entry.first == key; };
  const auto found = std::find_if(entries_.begin(), entries_.end(), same_key);
  assert(found == entries_.end());
  // Without assertions the last word counts: a JSON object with a key twice is worse.
  if (found != entries_.end()) {
    found->second = std::move(value);
  } else {
    entries_.emplace_back(std::move(key), std::move(value));
  }
  return *this;
}

const Settings::Value* Settings::find(const std::string& key) const {
  for (const auto& [name, value] : entries_) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace uringbench::result
