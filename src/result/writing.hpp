// Private to result: C++ values become JSON, in the same way for results and checkups.
#pragma once

#include <cassert>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "result/result.hpp"

namespace uringbench::result {

using Json = nlohmann::ordered_json;

// Each `put` leaves a key out when there is nothing to say: a reader then sees that a thing was not
// measured, where null, NaN or 0 would look like an answer.

inline void put(Json& object, const char* key, double value) {
  assert(std::isfinite(value));
  if (std::isfinite(value)) object[key] = value;
}

template <typename T>
void put(Json& object, const char* key, const std::optional<T>& value) {
  if (!value) return;
  if constexpr (std::is_same_v<T, double>) {
    put(object, key, *value);
  } else {
    object[key] = *value;
  }
}

inline void put_text(Json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

template <typename Integer>
void put_positive(Json& object, const char* key, Integer value) {
  if (value > 0) object[key] = value;
}

template <typename T>
void put_map(Json& object, const char* key, const std::map<std::string, T>& values) {
  if (values.empty()) return;
  Json members = Json::object();
  for (const auto& [name, value] : values) {
    if constexpr (std::is_same_v<T, double>) {
      put(members, name.c_str(), value);
    } else {
      members[name] = value;
    }
  }
  object[key] = std::move(members);
}

Json to_value(const Tool& tool);
Json to_value(const Identity& identity);
Json to_value(const Weather& weather);
// What stands in arrays: found by to_array() through its argument's namespace.
Json to_value(const Target& target);
Json to_value(const Finding& finding);
Json to_value(const Cell& cell);
Json to_value(const Run& run);
Json to_value(const Interval& interval);
Json to_value(const ThreadRun& thread);
Json to_value(const Sqpoll::Poller& poller);
Json to_value(const Checkup::Ability& ability);
Json to_value(const Checkup::Problem& problem);
Json to_value(const Checkup::TargetCheck& check);

template <typename T>
Json to_array(const std::vector<T>& items) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(to_value(item));
  return array;
}

}  // namespace uringbench::result
