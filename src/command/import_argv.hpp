// What the command line of a t/io_uring says about the log it has printed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "result/result.hpp"

namespace uringbench::command {

/// The words of a command line as a shell takes them apart: quotes and backslashes, no expansions.
/// Throws UserError(usage) naming `flag` for a quote that does not close.
std::vector<std::string> shell_words(std::string_view flag, std::string_view text);

/// The settings of t/io_uring that this command line has given or left at their defaults, and those
/// of our own that it gives: nothing is claimed of the others. Its program and files are ignored.
/// Throws UserError(usage), naming `flag`, for what our own command line would refuse.
result::ImportHints hints_of(std::string_view flag, std::string_view command_line);

}  // namespace uringbench::command
