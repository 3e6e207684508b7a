#include "result/squeeze.hpp"

#include <algorithm>
#include <cstddef>

namespace uringbench::result {
namespace {

constexpr std::string_view kKey = "\"buckets\"";
/// A histogram has 3776 buckets; what is longer than this is none.
constexpr std::size_t kLongest = std::size_t{1} << 20;

/// Walks over text; `ended` when it ran out, which is no fault as long as there is more to come.
struct Walker {
  std::string_view text;
  std::size_t at = 0;
  bool ended = false;

  char peek() {
    if (at < text.size()) return text[at];
    ended = true;
    return '\0';
  }
  void skip_blanks() {
    while (at < text.size() &&
           (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r')) {
      ++at;
    }
  }
  bool take(char wanted) {
    skip_blanks();
    if (peek() != wanted) return false;
    ++at;
    return true;
  }
  /// A whole number that fits 64 bits for sure.
  bool take_number() {
    skip_blanks();
    const std::size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    if (at == text.size()) ended = true;
    const std::size_t digits = at - begin;
    return digits == 1 || (digits > 1 && digits < 19 && text[begin] != '0');
  }
  bool take_pair() { return take('[') && take_number() && take(',') && take_number() && take(']'); }
  /// ": [[1, 2], [3, 4]]"
  bool take_buckets() {
    if (!take(':') || !take('[')) return false;
    if (take(']')) return true;
    if (ended) return false;
    do {
      if (!take_pair()) return false;
    } while (take(','));
    return !ended && take(']');
  }
};

}  // namespace

void Squeezer::feed(std::string_view chunk, std::string& out) {
  pending_ += chunk;
  go_on(out, false);
}

void Squeezer::finish(std::string& out) { go_on(out, true); }

void Squeezer::go_on(std::string& out, bool last) {
  std::size_t done = 0;
  while (true) {
    const std::size_t key = pending_.find(kKey, done);
    if (key == std::string::npos) break;
    const std::size_t after = key + kKey.size();
    out.append(pending_, done, after - done);
    done = after;
    Walker walker{std::string_view(pending_).substr(after)};
    if (walker.take_buckets()) {
      out += ":[]";
      done += walker.at;
      squeezed_ = true;
    } else if (walker.ended && !last && pending_.size() - after < kLongest) {
      // The rest of it is still to come; the key is looked at again.
      out.resize(out.size() - kKey.size());
      pending_.erase(0, key);
      return;
    }
  }
  // The end may be the begin of a key.
  const std::size_t kept = last ? 0 : std::min(kKey.size() - 1, pending_.size() - done);
  const std::size_t end = pending_.size() - kept;
  out.append(pending_, done, end - done);
  pending_.erase(0, end);
}

}  // namespace uringbench::result
