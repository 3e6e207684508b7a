// Private to result: JSON values become C++ values, or a refusal that names the place.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "result/result.hpp"

namespace uringbench::result {

/// A value inside a document, with the way to it: "base.json" and "cells[0].runs[2].ios". The way
/// is put into words only when it is needed: a place refers to the one it is in.
class Place {
 public:
  using Json = nlohmann::ordered_json;
  /// The document itself, or the item of a list in it. Value, name, and a place in which others are
  /// must outlive those.
  Place(const Json& value, const std::string& document, const char* list = "",
        std::size_t index = 0)
      : value_(value), document_(document), key_(list), index_(index) {}

  const Json& value() const { return value_; }
  const std::string& document() const { return document_; }
  std::string path() const;
  /// A member. `find`: nothing when there is none; `at` refuses then. Both refuse no objects.
  std::optional<Place> find(std::string_view key) const;
  Place at(std::string_view key) const;
  /// One after the other, in their order: a list may have millions. They refuse what is no object
  /// or no list.
  void for_members(const std::function<void(const std::string& key, const Place&)>& see) const;
  void for_items(const std::function<void(const Place&)>& see) const;

  /// Throws "<document>: <path>: must be <wanted>, is <value>".
  [[noreturn]] void refuse(const std::string& wanted) const;

 private:
  Place(const Json& value, const Place& parent, std::string_view key, std::size_t index)
      : value_(value), document_(parent.document_), parent_(&parent), key_(key), index_(index) {}
  const Json& value_;
  const std::string& document_;
  const Place* parent_ = nullptr;
  std::string_view key_;          ///< in an object
  std::size_t index_ = 0;         ///< in a list
  mutable std::size_t next_ = 0;  ///< member after the last one found: where the next one is likely
};

/// `take` turns the value at a place into what `out` is.
void take(const Place& place, bool& out);
void take(const Place& place, std::string& out);
void take(const Place& place, double& out);  ///< no figure of a document is negative
std::uint64_t take_count(const Place& place, std::uint64_t most);

template <std::integral Integer>
void take(const Place& place, Integer& out) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Integer>::max());
  out = static_cast<Integer>(take_count(place, kMost));
}

// Found by `read` and by the templates below through the namespace of Place.
void take(const Place& place, Settings& out);
void take(const Place& place, Tool& out);
void take(const Place& place, SessionInfo& out);
void take(const Place& place, Identity& out);
void take(const Place& place, Weather& out);
void take(const Place& place, Pci& out);
void take(const Place& place, Device& out);
void take(const Place& place, Target& out);
void take(const Place& place, Finding& out);
void take(const Place& place, ErrorTally& out);
void take(const Place& place, ErrorTally::First& out);
void take(const Place& place, Run::ShortRead& out);
void take(const Place& place, Interval& out);
void take(const Place& place, Latency& out);
void take(const Place& place, CpuTime& out);
void take(const Place& place, Sqpoll& out);
void take(const Place& place, Sqpoll::Poller& out);
void take(const Place& place, ThreadRun& out);
void take(const Place& place, Run& out);
void take(const Place& place, SummaryFigure& out);
void take(const Place& place, Cell& out);

template <typename T>
void take(const Place& place, std::vector<T>& out) {
  place.for_items([&](const Place& item) { take(item, out.emplace_back()); });
}

template <typename T>
void take(const Place& place, std::map<std::string, T>& out) {
  place.for_members([&](const std::string& key, const Place& item) { take(item, out[key]); });
}

/// Members that the writer always writes.
template <typename T>
void read(const Place& object, const char* key, T& out) {
  take(object.at(key), out);
}
/// Members that the writer leaves out when there is nothing to say: `out` stays as it is.
template <typename T>
void read_if_there(const Place& object, const char* key, T& out) {
  if (const auto member = object.find(key)) take(*member, out);
}
template <typename T>
void read(const Place& object, const char* key, std::optional<T>& out) {
  if (const auto member = object.find(key)) take(*member, out.emplace());
}

}  // namespace uringbench::result
