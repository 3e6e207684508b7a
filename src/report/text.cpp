#include "report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace uringbench::report {
namespace {

constexpr std::size_t kTextColumn = 15;
constexpr std::size_t kRemarkColumn = 28;
// Stands for a space at which a line must not break. A control character, so that it cannot be part
// of a name that went through printable().
constexpr char kGlue = '\x1f';

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// The character at the front of a text: how many bytes, and whether it may be shown as it is.
// Ranges: Unicode standard, table 3-7. Of a malformed one, the bytes that could have begun one are
// taken together: a JSON document has one U+FFFD in their place, and it shall look the same.
struct Front {
  std::size_t bytes;
  bool shown;
};

Front front_of(std::string_view text) {
  const auto within = [&](std::size_t i, unsigned low, unsigned high) {
    const unsigned byte = i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    return byte >= low && byte <= high;
  };
  const unsigned lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {1, lead >= 0x20 && lead != 0x7F};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (!within(1, low, high)) return {1, false};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (std::size_t i = 2; i < length; ++i) {
    if (!within(i, 0x80, 0xBF)) return {i, false};
  }
  const bool control = lead == 0xC2 && within(1, 0x80, 0x9F);  // U+0080 to U+009F
  return {length, !control && text.substr(0, length) != "\xEF\xBF\xBD"};
}

// Bytes that the first `most` columns take.
std::size_t bytes_of_columns(std::string_view text, std::size_t most) {
  std::size_t bytes = 0;
  for (std::size_t seen = 0; bytes < text.size(); ++bytes) {
    if (!is_continuation(text[bytes]) && seen++ == most) break;
  }
  return bytes;
}

// Of "[-1.1,+1.6]" at the front, which is no markup as long as no target of a link follows: mails
// show Markdown as it is, and backslashes in front of every interval are hard to read. 0 if it is
// something else.
std::size_t interval_length(std::string_view text) {
  if (text.size() < 3 || text[0] != '[' || (text[1] != '+' && text[1] != '-')) return 0;
  const std::size_t end = text.find_first_not_of("0123456789.,+-% ", 1);
  if (end == std::string_view::npos || text[end] != ']') return 0;
  const bool link =
      end + 1 < text.size() && std::string_view("([").find(text[end + 1]) != std::string_view::npos;
  return link ? 0 : end + 1;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Front front = front_of(text);
    out += front.shown ? text.substr(0, front.bytes) : "?";
    text.remove_prefix(front.bytes);
  }
  return out;
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) count += is_continuation(byte) ? 0 : 1;
  return count;
}

std::string cut_front(std::string_view text, std::size_t most) {
  const std::size_t have = columns(text);
  if (have <= most) return std::string(text);
  return "…" + std::string(text.substr(bytes_of_columns(text, have - most + 1)));
}

std::string pad(std::string text, std::size_t width) {
  const std::size_t have = columns(text);
  if (have < width) text.append(width - have, ' ');
  return text;
}

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string glue(std::string phrase) {
  std::replace(phrase.begin(), phrase.end(), ' ', kGlue);
  return phrase;
}

std::string unglued(std::string phrase) {
  std::replace(phrase.begin(), phrase.end(), kGlue, ' ');
  return phrase;
}

std::string list(const std::vector<std::string>& phrases) {
  std::vector<std::string> glued;
  for (const std::string& phrase : phrases) glued.push_back(glue(phrase));
  return join(glued, ", ");
}

std::string wrap(std::string_view prefix, std::string_view source, std::size_t hanging,
                 std::size_t page) {
  // A phrase that fits on no line must break after all.
  std::string loosened(source);
  for (std::size_t begin = 0; begin < loosened.size();) {
    const std::size_t end = std::min(loosened.find(' ', begin), loosened.size());
    const auto word = std::string_view(loosened).substr(begin, end - begin);
    if (hanging + columns(word) > page) {
      std::replace(loosened.begin() + static_cast<std::ptrdiff_t>(begin),
                   loosened.begin() + static_cast<std::ptrdiff_t>(end), kGlue, ' ');
    }
    begin = end + 1;
  }
  std::string_view text = loosened;
  std::string out(prefix);
  std::size_t column = columns(prefix);
  bool line_has_words = false;
  const auto new_line = [&] {
    out += '\n' + std::string(hanging, ' ');
    column = hanging;
    line_has_words = false;
  };
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line_has_words && column + 1 + columns(word) > page) new_line();
    if (line_has_words) {
      out += ' ';
      ++column;
    }
    while (column + columns(word) > page) {
      const std::size_t fits = bytes_of_columns(word, page - column);
      out += word.substr(0, fits);
      word.remove_prefix(fits);
      new_line();
    }
    out += word;
    column += columns(word);
    line_has_words = true;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return unglued(std::move(out)) + '\n';
}

std::string row(std::string_view label, std::string_view text) {
  return wrap(pad(fmt::format("  {}", label), kTextColumn), text, kTextColumn);
}

std::string row(std::string_view label, std::string_view value, std::string_view text) {
  std::string prefix = pad(fmt::format("  {}", label), kTextColumn);
  prefix = pad(fmt::format("{}{}", prefix, value), kRemarkColumn - 1) + ' ';
  return wrap(prefix, text, kRemarkColumn);
}

std::string markdown(std::string text) {
  std::string out;
  std::size_t as_it_is = 0;
  text = unglued(std::move(text));
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (as_it_is == 0) as_it_is = interval_length(std::string_view(text).substr(i));
    const bool special = std::string_view("\\`*|<>[]&~").find(text[i]) != std::string_view::npos;
    if (special && as_it_is == 0) out += '\\';
    if (as_it_is > 0) --as_it_is;
    out += text[i];
  }
  return out;
}

std::string csv(const std::string& text) {
  const std::string shown = printable(text);
  if (shown.find_first_of(",\"") == std::string::npos) return shown;
  std::string out = "\"";
  for (const char c : shown) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

std::string csv_line(const std::vector<std::string>& fields) { return join(fields, ",") + "\r\n"; }

std::string count_of(std::uint64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

}  // namespace uringbench::report
