#include "result/reading.hpp"

#include <fmt/format.h>

#include "result/json_input.hpp"

namespace uringbench::result {
namespace {

using Json = Place::Json;

// For a message: short, and with nothing in it that could drive a terminal.
std::string words_for(const Json& value) {
  constexpr std::size_t kMost = 40;
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  const Json shown = text.substr(0, kMost);
  return shown.dump(-1, ' ', true, Json::error_handler_t::replace) +
         (text.size() > kMost ? "…" : "");
}

}  // namespace

void Place::refuse(const std::string& wanted) const {
  const std::string place = path_.empty() ? "" : path_ + ": ";
  throw base::UserError(
      base::ExitCode::not_comparable,
      fmt::format("{}: {}must be {}, is {}", document_, place, wanted, words_for(value_)),
      "uringbench did not write this: take the file as it was, or measure again");
}

std::optional<Place> Place::find(const std::string& key) const {
  if (!value_.is_object()) refuse("an object");
  const auto member = value_.find(key);
  if (member == value_.end()) return std::nullopt;
  return Place(*member, document_, with_key(path_, key));
}

Place Place::at(const std::string& key) const {
  if (const auto member = find(key)) return *member;
  throw base::UserError(base::ExitCode::not_comparable,
                        fmt::format("{}: {}: is missing", document_, with_key(path_, key)),
                        "a result has it: take the file as it was, or measure again");
}

void Place::for_members(
    const std::function<void(const std::string& key, const Place&)>& see) const {
  if (!value_.is_object()) refuse("an object");
  for (const auto& [key, value] : value_.items()) {
    see(key, Place(value, document_, with_key(path_, key)));
  }
}

void Place::for_items(const std::function<void(const Place&)>& see) const {
  if (!value_.is_array()) refuse("a list");
  std::size_t index = 0;
  for (const Json& value : value_) see(Place(value, document_, with_index(path_, index++)));
}

void take(const Place& place, bool& out) {
  if (!place.value().is_boolean()) place.refuse("true or false");
  out = place.value().get<bool>();
}

void take(const Place& place, std::string& out) {
  if (!place.value().is_string()) place.refuse("a text");
  out = place.value().get<std::string>();
}

void take(const Place& place, double& out) {
  if (!place.value().is_number()) place.refuse("a number");
  out = place.value().get<double>();
  if (out < 0) place.refuse("0 or more");
}

std::uint64_t take_count(const Place& place, std::uint64_t most) {
  if (!place.value().is_number_unsigned() || place.value().get<std::uint64_t>() > most) {
    place.refuse(fmt::format("a whole number from 0 to {}", most));
  }
  return place.value().get<std::uint64_t>();
}

}  // namespace uringbench::result
