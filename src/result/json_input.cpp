#include "result/json_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/base.hpp"

namespace uringbench::result {
namespace {

using Json = nlohmann::ordered_json;
using base::ExitCode;
using base::UserError;

constexpr std::size_t kMostLevels = 64;
constexpr std::size_t kMostMembers = 1000;
// A result takes about eight times its size; a list of nothing but "" would take thirty.
constexpr std::size_t kMostMemoryPerByte = 20;

constexpr const char* kNoResult = "no result of uringbench";
constexpr const char* kNotOurs =
    "uringbench did not write this: take the file as it was, or measure again";

// "NaN" and "Infinity" are no JSON, but some programs write them; "-Infinity" is met at its "I".
bool is_no_number(std::string_view rest) {
  return rest.starts_with("NaN") || rest.starts_with("Infinity");
}

[[noreturn]] void refuse_text(const std::string& text, const std::string& name, std::size_t byte,
                              const std::string& path) {
  const bool blank = std::all_of(text.begin(), text.end(), [](char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
  });
  if (blank) {
    throw UserError(ExitCode::internal, name + ": is empty", "measure again with --json");
  }
  const std::string where = path.empty() ? "" : " (" + path + ')';
  if (byte > text.size()) {
    throw UserError(ExitCode::internal,
                    fmt::format("{}: is not complete: it ends in the middle{}", name, where),
                    "copy it again, or measure again");
  }
  const std::string_view before = std::string_view(text).substr(0, byte - 1);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  throw UserError(ExitCode::internal,
                  fmt::format("{}: is not JSON: line {}, column {} cannot be read{}", name, line,
                              byte - line_begin, where),
                  "a result is what uringbench writes with --json");
}

// Makes values of what the parser sees, which by itself takes any depth and lets a later key hide
// an earlier one. A list's item is counted twice because vectors grow by doubling, a text's memory
// because the document that is made of it has it once more.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(const std::string& text, const std::string& name) : text_(text), name_(name) {}
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override {
    charge(2 * (sizeof(std::string) + 16) + value.size());
    return add(std::move(value));
  }
  bool binary(Json::binary_t&) override { return false; }  // not in JSON text
  bool start_object(std::size_t) override { return enter(Json::object()); }
  bool start_array(std::size_t) override { return enter(Json::array()); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }

  bool key(std::string& key) override {
    Level& level = levels_.back();
    level.key = key;
    if (level.value->contains(key)) {
      throw UserError(ExitCode::not_comparable,
                      fmt::format("{}: {}: stands there twice", name_, path()),
                      "remove the one that is wrong, or measure again");
    }
    if (level.value->size() == kMostMembers) {
      refuse(fmt::format("an object has more than {} members", kMostMembers));
    }
    charge(sizeof(std::string) + key.size());
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&, const Json::exception& error) override {
    constexpr int kOutOfRange = 406;  // of a double: infinite, to a reader
    byte = std::max<std::size_t>(byte, 1);
    const bool inside = byte <= text_.size();
    if (error.id == kOutOfRange ||
        (inside && is_no_number(std::string_view(text_).substr(byte - 1)))) {
      throw UserError(ExitCode::not_comparable,
                      fmt::format("{}: {}: is not a finite number", name_, path()), kNotOurs);
    }
    refuse_text(text_, name_, byte, path());
  }

 private:
  struct Level {
    Json* value;
    std::string key;  ///< of the member that is being read, in an object
  };

  bool add(Json value) {
    place(std::move(value));
    return true;
  }

  Json& place(Json value) {
    charge(2 * sizeof(Json));
    if (levels_.empty()) return root_ = std::move(value);
    Level& level = levels_.back();
    if (level.value->is_object()) return (*level.value)[level.key] = std::move(value);
    level.value->push_back(std::move(value));
    return level.value->back();
  }

  bool enter(Json container) {
    if (levels_.size() == kMostLevels) {
      refuse(fmt::format("it is nested more than {} deep", kMostLevels));
    }
    charge(sizeof(std::vector<Json>) + 16);
    levels_.push_back({&place(std::move(container)), {}});
    return true;
  }

  bool leave() {
    levels_.pop_back();
    return true;
  }

  void charge(std::size_t bytes) {
    constexpr std::size_t kFree = std::size_t{1} << 20;
    charged_ += bytes;
    if (charged_ > kFree + kMostMemoryPerByte * text_.size()) {
      refuse("it is made of very many very small values");
    }
  }

  [[noreturn]] void refuse(const std::string& reason) const {
    const std::string where = path();
    throw UserError(ExitCode::internal,
                    fmt::format("{}: is {}: {}{}", name_, kNoResult, reason,
                                where.empty() || where.size() > 60 ? "" : " (" + where + ')'));
  }

  /// Of the value that is being read.
  std::string path() const {
    std::string path;
    for (const Level& level : levels_) {
      // A list that holds the list or object being read has counted it already.
      const bool inner = &level == &levels_.back();
      path = level.value->is_object() ? with_key(path, level.key)
                                      : with_index(path, level.value->size() - (inner ? 0 : 1));
    }
    return path;
  }

  const std::string& text_;
  const std::string& name_;
  Json root_;
  std::vector<Level> levels_;
  std::size_t charged_ = 0;
};

}  // namespace

std::string with_key(const std::string& path, std::string_view key) {
  constexpr std::size_t kMost = 60;
  const bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  if (plain && key.size() <= kMost)
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
  const Json text = std::string(key.substr(0, kMost));
  const std::string quoted = text.dump(-1, ' ', true, Json::error_handler_t::replace);
  return fmt::format("{}[{}{}]", path, quoted, key.size() > kMost ? "…" : "");
}

std::string with_index(const std::string& path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

void refuse_size(const std::string& name) {
  throw UserError(ExitCode::internal, fmt::format("{}: is larger than {}: no result of uringbench",
                                                  name, base::format_bytes(kMostBytes)));
}

Json parse_json(const std::string& text, const std::string& name) {
  if (text.size() > kMostBytes) refuse_size(name);
  Builder builder(text, name);
  Json::sax_parse(text, &builder);
  return builder.take();
}

}  // namespace uringbench::result
