// The one table of flags: both doors, help and messages are made from it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace uringbench::command {

/// The verbs that a flag belongs to, as bits.
enum Verbs : unsigned { kMeasuring = 1, kShow = 2, kDoctor = 4, kEveryVerb = 7 };

struct Flag {
  char letter = 0;           ///< 0: long form only
  std::string name;          ///< without dashes
  std::string value;         ///< "N", "SIZE", "0/1"; empty: takes none
  std::string default_text;  ///< compile-time default, as help shows it
  std::string group;
  std::string help;
  /// Parses and stores; throws UserError naming the flag. Takes "" for flags without a value.
  std::function<void(plan::Options&, const std::string&)> set;
  std::vector<std::string> choices =
      {};                       ///< all possible values, where there are few; for completion
  bool value_optional = false;  ///< "--sqpoll" means "--sqpoll=1"; never takes the next word
  unsigned verbs = kMeasuring;
};

const std::vector<Flag>& flag_table();

}  // namespace uringbench::command
