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
// A result takes about eight times its size; a list of nothing but "" would take thirty.
constexpr std::size_t kMostMemoryPerByte = 20;

constexpr const char* kSpoilt = "take the file as it was written, or measure again";

// "NaN" and "Infinity" are no JSON, but some programs write them; "-Infinity" is met at its "I".
bool is_no_number(std::string_view rest) {
  return rest.starts_with("NaN") || rest.starts_with("Infinity");
}

[[noreturn]] void refuse_text(std::string_view text, const std::string& name, std::size_t byte,
                              const std::string& path, const Parsing& parsing) {
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
  const std::string_view before = text.substr(0, byte - 1);
  const auto line = parsing.lines_before + 1 +
                    static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  throw UserError(ExitCode::internal,
                  fmt::format("{}: is not JSON: line {}, column {} cannot be read{}", name, line,
                              byte - line_begin, where),
                  parsing.hint);
}

// Makes values of what the parser sees, which by itself takes any depth and lets a later key hide
// an earlier one. A list's item is counted twice because vectors grow by doubling, a text's memory
// because the document that is made of it has it once more.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const std::string& name, const Parsing& parsing)
      : text_(text), name_(name), parsing_(parsing) {}
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
  bool start_object(std::size_t) override { return enter(Json::value_t::object); }
  bool start_array(std::size_t) override { return enter(Json::value_t::array); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }

  bool key(std::string& key) override {
    Level& level = levels_.back();
    level.key = key;
    const bool number = key[0] >= '0' && key[0] <= '9';  // the terminator of an empty key is none
    if (level.has(key) && parsing_.numbers_may_repeat && number) {
      level.value->erase(key);
      --level.items;
    } else if (level.has(key)) {
      throw UserError(ExitCode::not_comparable,
                      fmt::format("{}: {}: stands there twice", name_, path()),
                      "remove the one that is wrong, or measure again");
    }
    if (level.items == parsing_.most_members) {
      refuse(fmt::format("an object has more than {} members", parsing_.most_members));
    }
    charge(sizeof(std::string) + key.size());
    ++level.items;
    if (!level.value) level.keys_left_out.push_back(key);
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&, const Json::exception& error) override {
    constexpr int kOutOfRange = 406;  // of a double: infinite, to a reader
    byte = std::max<std::size_t>(byte, 1);
    const bool inside = byte <= text_.size();
    if (error.id == kOutOfRange || (inside && is_no_number(text_.substr(byte - 1)))) {
      throw UserError(ExitCode::not_comparable,
                      fmt::format("{}: {}: is not a finite number", name_, path()), kSpoilt);
    }
    refuse_text(text_, name_, byte, path(), parsing_);
  }

 private:
  struct Level {
    Json* value;  ///< null: it is left out
    bool is_object;
    std::size_t items = 0;  ///< or members, up to the one that is being read
    std::string key = {};   ///< of that member
    std::vector<std::string> keys_left_out = {};

    bool has(const std::string& wanted) const {
      return value ? value->contains(wanted)
                   : std::find(keys_left_out.begin(), keys_left_out.end(), wanted) !=
                         keys_left_out.end();
    }
  };

  bool add(Json value) {
    place(std::move(value));
    finish();
    return true;
  }

  /// Where the value stands now; null where it is left out.
  Json* place(Json value) {
    charge(2 * sizeof(Json));
    if (levels_.empty()) return &(root_ = std::move(value));
    Level& level = levels_.back();
    if (!level.is_object) ++level.items;
    if (!level.value) return nullptr;
    if (!level.is_object) {
      level.value->push_back(std::move(value));
      return &level.value->back();
    }
    // Not through operator[], which would look for the key once more.
    auto& members = level.value->get_ref<Json::object_t&>();
    return &members.emplace_back(level.key, std::move(value)).second;
  }

  bool enter(Json::value_t kind) {
    if (levels_.size() == kMostLevels) {
      refuse(fmt::format("it is nested more than {} deep", kMostLevels));
    }
    charge(sizeof(std::vector<Json>) + 16);
    const bool left_out = kind == Json::value_t::array && leaves_out_list();
    Json* const value = place(kind);
    levels_.push_back({left_out ? nullptr : value, kind == Json::value_t::object});
    return true;
  }

  bool leave() {
    levels_.pop_back();
    finish();
    return true;
  }

  /// After a value is complete.
  void finish() {
    if (levels_.size() != 2 || !parsing_.see_cell || levels_[1].is_object || !in_cells()) return;
    auto& cells = levels_[1].value->get_ref<Json::array_t&>();
    parsing_.see_cell(cells.back(), levels_[1].items - 1);
    cells.clear();
  }

  bool in_cells() const { return levels_[0].is_object && levels_[0].key == "cells"; }

  /// Is it cells[…].runs[…].<name>, or one level below, and of no use for a comparison? Only a cell
  /// with a single run is judged by its intervals.
  bool leaves_out_list() const {
    if (parsing_.detail == Detail::everything || levels_.size() < 5 || levels_.size() > 6)
      return false;
    if (!in_cells() || levels_[2].key != "runs") return false;
    const std::string& name = levels_.back().key;
    if (levels_.size() == 6) return name == "buckets" || name == "pollers";
    return name == "threads" || name == "warnings" || (name == "intervals" && levels_[3].items > 1);
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
                    fmt::format("{}: is no {}: {}{}", name_, parsing_.what, reason,
                                where.empty() || where.size() > 60 ? "" : " (" + where + ')'));
  }

  /// Of the value that is being read.
  std::string path() const {
    std::string path;
    for (const Level& level : levels_) {
      // A list that holds the list or object being read has counted it already.
      const bool inner = &level == &levels_.back();
      path = level.is_object ? with_key(path, level.key)
                             : with_index(path, level.items - (inner ? 0 : 1));
    }
    return path;
  }

  const std::string_view text_;
  const std::string& name_;
  const Parsing& parsing_;
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

Json parse_json(std::string_view text, const std::string& name, const Parsing& parsing) {
  if (text.size() > kMostBytes) refuse_size(name);
  Builder builder(text, name, parsing);
  Json::sax_parse(text.data(), text.data() + text.size(), &builder);
  return builder.take();
}

}  // namespace uringbench::result
