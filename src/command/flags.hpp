// The one table of flags and verbs: parsing, help, man page and completion are made from it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace uringbench::command {

/// The verbs that a flag belongs to, as bits. The classic door and `run` take the same flags.
enum Verbs : unsigned {
  kMeasuring = 1,
  kShow = 2,
  kDoctor = 4,
  kCompare = 8,
  kGate = 16,
  kComparing = kCompare | kGate,
  kEveryVerb = 31
};

/// What `run` has in place of the classic door's defaults.
inline constexpr std::int64_t kRunRuntimeNs = 5'000'000'000;
inline constexpr std::int64_t kRunWarmupNs = 1'000'000'000;
inline constexpr std::int64_t kRunRepeats = 6;

struct Verb {
  std::string name;  ///< empty: the classic door, which has no verb
  unsigned bit = kMeasuring;
  std::string files;                 ///< as the synopsis shows them: "FILE..."
  std::string help;                  ///< one line
  std::string more;                  ///< what the man page adds, in sentences
  std::vector<std::string> formats;  ///< choices of --format
};

/// The classic door first.
const std::vector<Verb>& verb_table();

struct Flag {
  char letter = 0;           ///< 0: long form only
  std::string name;          ///< without dashes
  std::string value;         ///< "N", "SIZE", "0/1"; empty: takes none
  std::string default_text;  ///< compile-time default, as help shows it
  std::string group;
  std::string help;  ///< one line, no full stop
  std::string more;  ///< what the man page adds, in sentences
  /// Parses and stores; throws UserError naming the flag. Takes "" for flags without a value, and
  /// one of `choices` where there are any. Callers go through apply().
  std::function<void(plan::Options&, const std::string&)> set;
  std::vector<std::string> choices;   ///< all possible values, where there are few
  std::vector<std::string> examples;  ///< words that are possible among many other values
  bool value_optional = false;        ///< the value may be left out; never takes the next word
  std::string bare_value = "1";       ///< what "--x" then means
  bool repeatable = false;            ///< several add up: `set` is called for each
  unsigned verbs = kMeasuring;        ///< 0: known, and of a later version
};

/// In the order of the help page; flags of one group stand together.
const std::vector<Flag>& flag_table();

/// All possible values of a flag where there are few; those of --format depend on the verb.
const std::vector<std::string>& choices_of(const Flag& flag, const Verb& verb);

/// Stores what was given. Throws UserError(usage) that names the flag, what is possible and, where
/// something is near, what was probably meant: also for a flag that is not one of this verb's.
void apply(const Flag& flag, const Verb& verb, plan::Options& options, const std::string& text);

}  // namespace uringbench::command
