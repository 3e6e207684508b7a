// The measuring verbs.
#pragma once

#include <string>
#include <vector>

#include "command/console.hpp"
#include "plan/plan.hpp"

namespace uringbench::command {

/// Classic door and `run`. `argv` is stored in the document. Returns the exit code; throws what
/// cannot begin.
int run(const plan::Options& options, const std::vector<std::string>& argv, Console& console);

}  // namespace uringbench::command
