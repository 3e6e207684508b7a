// The help page, made from the one table of flags.
#pragma once

#include <string>

namespace uringbench::command {

/// One page, at most 100 columns, compile-time defaults in brackets. Ends in a newline.
std::string help_text();

}  // namespace uringbench::command
