// The verb show: a stored result, drawn again.
#pragma once

#include "command/console.hpp"
#include "plan/plan.hpp"

namespace uringbench::command {

/// Draws the one file of the options in their format. Returns the exit code; throws for a file that
/// cannot be read (1) or is no result document that this program knows (5).
int show(const plan::Options& options, Console& console);

}  // namespace uringbench::command
