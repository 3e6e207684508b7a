// Other programs' results: what kind of file it is, and what they have in common.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include "result/importing.hpp"
#include "result/json_input.hpp"

namespace uringbench::result {
namespace {

using base::ExitCode;
using base::UserError;

/// The words of a cell's identity in their order, and what `asked` calls them.
struct Word {
  enum Kind { number, flag, text };
  const char* name;
  const char* setting;  ///< null where `asked` puts it otherwise
  Kind kind;
};
constexpr std::array kWords = {
    Word{"rw", nullptr, Word::text},
    Word{"bs", "block_size_bytes", Word::number},
    Word{"qd", "depth", Word::number},
    Word{"submit", "batch_submit", Word::number},
    Word{"complete", "batch_complete", Word::number},
    Word{"threads", "threads", Word::number},
    Word{"direct", "direct", Word::flag},
    Word{"polled", "polled", Word::flag},
    Word{"fixedbufs", "fixed_buffers", Word::flag},
    Word{"regfiles", "register_files", Word::flag},
    Word{"engine", nullptr, Word::text},
    Word{"regring", "register_ring", Word::flag},
    Word{"vectored", "vectored", Word::flag},
    Word{"latency", "latency", Word::flag},
    Word{"targets", nullptr, Word::number},
    Word{"cpus", nullptr, Word::text},
    Word{"passthrough", "passthrough", Word::flag},
    Word{"restrict", "restrict", Word::flag},
    Word{"hugepages", nullptr, Word::text},
    Word{"numa", "numa", Word::flag},
    Word{"taskrun", "taskrun", Word::text},
    Word{"hybrid", "hybrid_iopoll", Word::flag},
    Word{"sqpoll", "sqpoll", Word::flag},
    Word{"sqpoll_cpu", nullptr, Word::text},
    Word{"sqpoll_idle", "sqpoll_idle_ms", Word::number},
    Word{"sqpoll_share", "sqpoll_share", Word::flag},
    Word{"sqstats", nullptr, Word::text},
    Word{"queue", nullptr, Word::text},
};

/// One word: identities are divided by blanks, and go to terminals.
std::string as_word(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; }, '_');
  return text;
}

}  // namespace

void KnownSettings::set_foreign(std::string word, std::string value) {
  foreign_.emplace_back(as_word(std::move(word)), as_word(std::move(value)));
}

std::optional<std::string> KnownSettings::find(const std::string& word) const {
  const auto found = values_.find(word);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

void KnownSettings::set_asked(const std::string& key, Settings::Value value) {
  if (!others_.find(key)) others_.set(key, std::move(value));
}

void KnownSettings::add(const ImportHints& hints, const std::string& document) {
  for (const auto& [key, value] : hints.asked.entries()) set_asked(key, value);
  std::string_view rest = hints.cell_id;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (part.empty()) continue;
    const auto equals = part.find('=');
    const bool named = equals != std::string_view::npos;
    const std::string word(named ? part.substr(0, equals) : "rw");
    const std::string value(named ? part.substr(equals + 1) : part);
    const auto [known, is_new] = values_.try_emplace(word, value);
    if (is_new || known->second == value) continue;
    const char* sign = named ? "=" : " ";
    throw UserError(ExitCode::not_comparable,
                    fmt::format("{}: says {}{}{}, but {}{}{} was stated for it", document, word,
                                sign, known->second, word, sign, value),
                    "state only what the file does not say, and as it was");
  }
}

std::string KnownSettings::id() const {
  std::string id;
  const auto append = [&](const std::string& part) { id += (id.empty() ? "" : " ") + part; };
  for (const Word& word : kWords) {
    const auto found = values_.find(word.name);
    if (found == values_.end()) continue;
    append(found->first == "rw" ? found->second : found->first + '=' + found->second);
  }
  for (const auto& [word, value] : values_) {
    const bool ours = std::any_of(kWords.begin(), kWords.end(),
                                  [&](const Word& one) { return one.name == word; });
    if (!ours) append(word + '=' + value);
  }
  for (const auto& [word, value] : foreign_) append(word + '=' + value);
  return id;
}

Settings KnownSettings::asked() const {
  Settings asked;
  for (const Word& word : kWords) {
    const auto found = values_.find(word.name);
    if (found == values_.end()) continue;
    const std::string& value = found->second;
    const std::string_view name = word.name;
    if (name == "rw") {
      asked.set("nop", value == "nop");
      if (value != "nop") asked.set("random", value == "randread");
    } else if (name == "engine") {
      asked.set("engine", value == "sync" ? "preadv2" : value);
    }
    if (!word.setting) continue;
    std::int64_t number = 0;
    const auto end = value.data() + value.size();
    const bool is_number = std::from_chars(value.data(), end, number).ptr == end && !value.empty();
    if (word.kind == Word::flag && (value == "0" || value == "1")) {
      asked.set(word.setting, value == "1");
    } else if (word.kind == Word::number && is_number) {
      asked.set(word.setting, number);
    } else {
      asked.set(word.setting, value);
    }
  }
  const auto append = [&](const std::string& key, const Settings::Value& value) {
    if (!asked.find(key)) asked.set(key, value);
  };
  for (const auto& [word, value] : foreign_) append(word, value);
  for (const auto& [key, value] : others_.entries()) append(key, value);
  return asked;
}

Document imported_document(std::string program, std::string_view text) {
  Document document;
  document.tool.version = std::move(program);
  document.session.id = fmt::format("imported-{:016x}", std::hash<std::string_view>{}(text));
  document.session.verb = "import";
  return document;
}

void add_unknown_settings(Document& document, const std::vector<KnownSettings>& cells,
                          const std::string& source) {
  std::vector<std::string> unknown;  // in the order of the words
  for (const Word& word : kWords) {
    const bool missing = std::any_of(cells.begin(), cells.end(), [&](const KnownSettings& cell) {
      return !cell.find(word.name);
    });
    if (missing) unknown.emplace_back(word.name);
  }
  if (unknown.empty()) return;
  document.findings.push_back(
      {"info", "unknown-settings",
       fmt::format("settings that {} does not state: {}", source, fmt::join(unknown, ", ")),
       "state them with --import-argv"});
}

namespace {

Document document_of(const std::string& text, const std::string& path, Detail detail,
                     const ImportHints& hints) {
  constexpr std::string_view kOurs = "\"uringbench.result\"";
  constexpr std::string_view kFio = "\"fio version\"";
  constexpr std::size_t kHead = 4096;  // where our writer puts it
  if (std::string_view(text).substr(0, kHead).find(kOurs) != std::string_view::npos) {
    return from_json(text, path, detail);
  }
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) {
    throw UserError(ExitCode::internal, path + ": is empty", "measure again");
  }
  if (text.find(kFio) != std::string::npos && text.find(kOurs) == std::string::npos) {
    return from_fio(text, path, hints);
  }
  if (text[begin] == '{' || text[begin] == '[') return from_json(text, path, detail);
  return from_log(text, path, hints);
}

}  // namespace

Document load_any(const std::string& path, Detail detail, const ImportHints& hints) {
  if (detail == Detail::everything) return document_of(read_file(path), path, detail, hints);
  bool squeezed = false;
  const std::string text = read_file_without_histograms(path, squeezed);
  try {
    return document_of(text, path, detail, hints);
  } catch (const UserError&) {
    // What is wrong stands elsewhere in the text as it is: the message must name that place.
    if (!squeezed) throw;
  }
  return document_of(read_file(path), path, detail, hints);
}

std::string imported_from(const Document& document) {
  const std::string& version = document.tool.version;
  if (version.starts_with("fio-")) return "fio";
  return version == "t/io_uring" ? version : "";
}

}  // namespace uringbench::result
