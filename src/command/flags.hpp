// The one table of flags: both doors, help and messages are made from it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace uringbench::command {

struct Flag {
  char letter = 0;           ///< 0: long form only
  std::string name;          ///< without dashes
  std::string value;         ///< "N", "SIZE", "0/1"; empty: takes none
  std::string default_text;  ///< compile-time default, as help shows it
  std::string group;
  std::string help;
  /// Parses and stores; throws UserError naming the flag. Takes "" for flags without a value.
  std::function<void(plan::Options&, const std::string&)> set;
};

const std::vector<Flag>& flag_table();

}  // namespace uringbench::command
