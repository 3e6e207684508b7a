// The help page, made from the table of flags and verbs.
#pragma once

#include <string>
#include <vector>

#include "command/flags.hpp"

namespace uringbench::command {

/// One page, at most 100 columns, compile-time defaults in brackets. Ends in a newline.
std::string help_text();

struct ExitCodeRow {
  std::string code;  ///< "8", "128+N"
  std::string meaning;
};
/// Every code of every verb, as help and man page show them.
const std::vector<ExitCodeRow>& exit_code_rows();

/// The flags that stand in no table, because they end the program before any verb: help, version.
struct EarlyFlag {
  char letter;
  std::string name, help;
};
const std::vector<EarlyFlag>& early_flags();

/// "uringbench run [FLAGS] FILE..."
std::string synopsis(const Verb& verb);

}  // namespace uringbench::command
