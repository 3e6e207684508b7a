// Private to result: documents made of what other programs wrote.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "result/result.hpp"

namespace uringbench::result {

/// The settings of a cell as far as they are known, by the words of its identity: "qd", "bs", and
/// "rw" for the first one, which stands there without a name.
class KnownSettings {
 public:
  void set(const std::string& word, std::string value) { values_[word] = std::move(value); }
  void set(const std::string& word, std::uint64_t value) { set(word, std::to_string(value)); }
  /// Something that only the other program has: stands behind our own words, and in `asked`.
  void set_foreign(std::string word, std::string value);
  std::optional<std::string> find(const std::string& word) const;

  /// A member of `asked` that belongs to no word.
  void set_asked(const std::string& key, Settings::Value value);

  /// Adds what was stated elsewhere. Throws UserError(not_comparable) naming `document` and both
  /// values when that contradicts what is known.
  void add(const ImportHints& hints, const std::string& document);

  std::string id() const;
  Settings asked() const;

 private:
  std::map<std::string, std::string> values_;
  std::vector<std::pair<std::string, std::string>> foreign_;
  Settings others_;  ///< of `asked`
};

/// `text` is a whole file. Both throw UserError: internal for what cannot be read,
/// not_comparable for what holds no figures of reads.
Document from_fio(std::string_view text, const std::string& name, const ImportHints& hints);
Document from_log(std::string_view text, const std::string& name, const ImportHints& hints);

/// What both have in common: a session that is told from others by its text.
Document imported_document(std::string program, std::string_view text);
/// Says which settings the cells do not know, if any.
void add_unknown_settings(Document& document, const std::vector<KnownSettings>& cells,
                          const std::string& source);

}  // namespace uringbench::result
