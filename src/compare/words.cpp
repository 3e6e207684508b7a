// The words of a cell, the names that its keys go by, and patterns over them.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "compare/parts.hpp"

namespace uringbench::compare {
namespace {

using base::ExitCode;
using base::UserError;

/// What --varies takes besides the keys of a cell.
constexpr std::array kFactKeys{"kernel", "binary", "machine", "device", "runtime", "warmup"};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// Does `text` fit a wildcard pattern of * and ?, whatever the case: the tables say QD4 and 4k.
/// Linear but for the stars.
bool fits_wildcard(std::string_view pattern, std::string_view text) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || same(pattern[p], text[t]))) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// The alternatives of "qd=(1|4|32)": "qd=1", "qd=4", "qd=32". One group is enough for a part.
std::vector<std::string> alternatives(std::string_view part) {
  const auto open = part.find('(');
  const auto close = part.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return {std::string(part)};
  }
  std::vector<std::string> all;
  std::string_view inside = part.substr(open + 1, close - open - 1);
  while (true) {
    const auto bar = inside.find('|');
    all.push_back(std::string(part.substr(0, open)) + std::string(inside.substr(0, bar)) +
                  std::string(part.substr(close + 1)));
    if (bar == std::string_view::npos) return all;
    inside.remove_prefix(bar + 1);
  }
}

/// Values are written "4096" in a cell and "4k" by people.
bool fits_value(std::string_view pattern, const std::string& key, const std::string& value) {
  if (fits_wildcard(pattern, value)) return true;
  return key == "bs" && is_number(value) &&
         fits_wildcard(pattern, base::format_size(std::stoull(value)));
}

bool fits_word(std::string_view part, const std::string& key, const std::string& value) {
  const auto equals = part.find('=');
  if (equals != std::string_view::npos) {
    return canonical_key(part.substr(0, equals)) == key &&
           fits_value(part.substr(equals + 1), key, value);
  }
  return fits_value(part, key, value) || fits_wildcard(part, key + value) ||
         (lower(part).starts_with(key) && fits_value(part.substr(key.size()), key, value));
}

std::vector<std::string_view> parts_of(std::string_view pattern) {
  std::vector<std::string_view> parts;
  while (!pattern.empty()) {
    const auto end = pattern.find_first_of(" \t/");
    if (end != 0) parts.push_back(pattern.substr(0, end));
    if (end == std::string_view::npos) break;
    pattern.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace

const std::vector<Key>& keys() {
  static const std::vector<Key> all{
      {"rw", "random", {"random", "nop"}},
      {"bs", "block-size", {"block_size_bytes"}},
      {"qd", "depth", {"depth"}},
      {"submit", "batch-submit", {"batch_submit"}},
      {"complete", "batch-complete", {"batch_complete"}},
      {"threads", "threads", {"threads"}},
      {"direct", "direct", {"direct"}},
      {"polled", "polled", {"polled"}},
      {"fixedbufs", "fixed-buffers", {"fixed_buffers"}},
      {"regfiles", "register-files", {"register_files"}},
      {"engine", "engine", {"engine"}},
      {"regring", "register-ring", {"register_ring"}},
      {"vectored", "vectored", {"vectored"}},
      {"latency", "latency", {"latency"}},
      {"targets", "targets", {}},
      {"cpus", "cpus", {"cpus", "nodes"}},
      {"passthrough", "passthrough", {"passthrough"}},
      {"restrict", "restrict", {"restrict", "restrictions"}},
      {"hugepages", "hugetlb", {"hugetlb", "buffer_page_bytes"}},
      {"numa", "numa", {"numa"}},
      {"taskrun", "taskrun", {"taskrun"}},
      {"hybrid", "hybrid-iopoll", {"hybrid_iopoll"}},
      {"sqpoll", "sqpoll", {"sqpoll"}},
      {"sqpoll_cpu", "sqpoll-cpu", {"sqpoll_cpu"}},
      {"sqpoll_idle", "sqpoll-idle", {"sqpoll_idle_ms"}},
      {"sqpoll_share", "sqpoll-share", {"sqpoll_share"}},
      {"sqstats",
       "no-sqthread-stats",
       {"no_sqthread_stats", "sqthread_stats", "sqthread_stats_bit"}},
      {"queue", "queue", {"queue"}},
  };
  return all;
}

std::string canonical_key(std::string_view name) {
  const std::string wanted = lower(name);
  for (const Key& key : keys()) {
    if (wanted == key.word || wanted == key.flag) return key.word;
    for (const char* setting : key.settings) {
      if (wanted == setting) return key.word;
    }
  }
  return wanted;
}

std::string key_title(const std::string& name) {
  const std::string word = canonical_key(name);
  for (const Key& one : keys()) {
    if (word == one.word) return one.flag;
  }
  return word;
}

Words words_of(std::string_view cell_id) {
  Words words;
  for (const std::string_view part : parts_of(cell_id)) {
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) {
      words.emplace_back(words.empty() ? "rw" : std::string(part),
                         words.empty() ? std::string(part) : "");
    } else {
      words.emplace_back(std::string(part.substr(0, equals)), std::string(part.substr(equals + 1)));
    }
  }
  return words;
}

bool fits(std::string_view pattern, const Words& words) {
  for (const std::string_view part : parts_of(pattern)) {
    const auto choices = alternatives(part);
    const bool some = std::any_of(words.begin(), words.end(), [&](const auto& word) {
      return std::any_of(choices.begin(), choices.end(), [&](const std::string& choice) {
        return fits_word(choice, word.first, word.second);
      });
    });
    if (!some) return false;
  }
  return true;
}

void check_pattern(std::string_view flag, std::string_view pattern) {
  const std::string hint = "write settings of cells, for example 'randread qd=(1|4|32)'";
  const auto parts = parts_of(pattern);
  if (parts.empty()) {
    throw UserError(ExitCode::usage, fmt::format("{}: a cell pattern must not be empty", flag),
                    hint);
  }
  std::vector<std::string> known;
  for (const Key& key : keys()) {
    known.emplace_back(key.word);
    known.emplace_back(key.flag);
  }
  for (const std::string_view part : parts) {
    const auto count = [&](char c) { return std::count(part.begin(), part.end(), c); };
    if (count('(') != count(')') || count('(') > 1 || part.find(')') < part.find('(')) {
      throw UserError(ExitCode::usage,
                      fmt::format("{}: the parentheses of \"{}\" do not close", flag, part), hint);
    }
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string key = canonical_key(part.substr(0, equals));
    const bool there =
        std::any_of(keys().begin(), keys().end(), [&](const Key& one) { return key == one.word; });
    if (there) continue;
    const auto near = base::nearest(key, known, 2);
    throw UserError(ExitCode::usage, fmt::format("{}: no setting is called \"{}\"", flag, key),
                    near ? "did you mean " + *near + "?" : hint);
  }
}

std::string parse_varies(std::string_view text) {
  const std::string key = canonical_key(text);
  std::vector<std::string> known(kFactKeys.begin(), kFactKeys.end());
  for (const Key& one : keys()) {
    known.emplace_back(one.word);
    known.emplace_back(one.flag);
  }
  if (std::find(known.begin(), known.end(), key) != known.end()) return key;
  const auto near = base::nearest(key, known, 2);
  throw UserError(ExitCode::usage, fmt::format("--varies: nothing is called \"{}\"", text),
                  near ? "did you mean " + *near + "?"
                       : "kernel, binary, machine, device, runtime, warmup, or a setting of the "
                         "cells by its flag's name");
}

std::string setting_text(const result::Settings::Value& value) {
  struct {
    std::string operator()(bool flag) const { return flag ? "1" : "0"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(std::uint64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<std::string>& texts) const {
      return texts.empty() ? "none" : joined(texts, ",");
    }
    std::string operator()(const std::vector<std::int64_t>& numbers) const {
      std::vector<std::string> texts;
      for (const std::int64_t number : numbers) texts.push_back(std::to_string(number));
      return joined(texts, ",");
    }
  } as_text;
  return std::visit(as_text, value);
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 16 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (!a.empty() && !b.empty()) {
    if (digit(a[0]) && digit(b[0])) {
      const auto take = [&](std::string_view& text) {
        const auto end = std::find_if_not(text.begin(), text.end(), digit);
        std::string_view number = text.substr(0, static_cast<std::size_t>(end - text.begin()));
        text.remove_prefix(number.size());
        while (number.size() > 1 && number[0] == '0') number.remove_prefix(1);
        return number;
      };
      const std::string_view left = take(a), right = take(b);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string count_of(std::size_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

std::string percent(double fraction, bool with_sign) {
  const double value = 100 * fraction;
  const int decimals = std::fabs(value) < 0.995 ? 2 : std::fabs(value) < 99.5 ? 1 : 0;
  std::string text = with_sign ? fmt::format("{:+.{}f}", value, decimals)
                               : fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text + "%";
}

}  // namespace uringbench::compare
