#include "result/json_text.hpp"

#include <algorithm>

namespace uringbench::result {
namespace {

using Json = nlohmann::ordered_json;

// File names and arguments are bytes, not text. Bad ones become U+FFFD instead of an exception
// that would cost a finished measurement.
std::string scalar_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_flat(const Json& array) {
  return std::none_of(array.begin(), array.end(),
                      [](const Json& item) { return item.is_structured(); });
}

void append(std::string& out, const Json& value, std::size_t indent) {
  if (!value.is_structured()) {
    out += scalar_text(value);
    return;
  }
  const bool object = value.is_object();
  const bool one_line = value.empty() || (!object && is_flat(value));
  const std::string separator = one_line ? ", " : ",\n" + std::string(indent + 2, ' ');
  out += object ? '{' : '[';
  if (!one_line) out += '\n' + std::string(indent + 2, ' ');
  bool first = true;
  for (auto item = value.begin(); item != value.end(); ++item) {
    if (!first) out += separator;
    first = false;
    if (object) out += scalar_text(item.key()) + ": ";
    append(out, *item, indent + 2);
  }
  if (!one_line) out += '\n' + std::string(indent, ' ');
  out += object ? '}' : ']';
}

}  // namespace

std::string json_text(const Json& value) {
  std::string out;
  append(out, value, 0);
  out += '\n';
  return out;
}

}  // namespace uringbench::result
