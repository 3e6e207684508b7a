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

std::string Place::path() const {
  const std::string way = parent_ ? parent_->path() : std::string(key_);
  if (!parent_) return way.empty() ? way : with_index(way, index_);
  return parent_->value_.is_object() ? with_key(way, key_) : with_index(way, index_);
}

void Place::refuse(const std::string& wanted) const {
  const std::string way = path();
  throw base::UserError(base::ExitCode::not_comparable,
                        fmt::format("{}: {}{}must be {}, is {}", document_, way,
                                    way.empty() ? "" : ": ", wanted, words_for(value_)),
                        "take the file as it was written, or measure again");
}

std::optional<Place> Place::find(std::string_view key) const {
  if (!value_.is_object()) refuse("an object");
  const auto& members = value_.get_ref<const Json::object_t&>();
  for (std::size_t i = 0; i < members.size(); ++i, ++next_) {
    if (next_ >= members.size()) next_ = 0;
    const auto& [name, member] = *(members.begin() + static_cast<std::ptrdiff_t>(next_));
    if (name == key) return Place(member, *this, name, next_++);
  }
  return std::nullopt;
}

Place Place::at(std::string_view key) const {
  if (const auto member = find(key)) return *member;
  throw base::UserError(base::ExitCode::not_comparable,
                        fmt::format("{}: {}: is missing", document_, with_key(path(), key)),
                        "take the file as it was written, or measure again");
}

void Place::for_members(
    const std::function<void(const std::string& key, const Place&)>& see) const {
  if (!value_.is_object()) refuse("an object");
  for (const auto& [key, value] : value_.get_ref<const Json::object_t&>()) {
    see(key, Place(value, *this, key, 0));
  }
}

void Place::for_items(const std::function<void(const Place&)>& see) const {
  if (!value_.is_array()) refuse("a list");
  std::size_t index = 0;
  for (const Json& value : value_) see(Place(value, *this, {}, index++));
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
