// Typing errors met half-way.
#pragma once

#include <string>
#include <vector>

#include "base/base.hpp"

namespace uringbench::command {

using base::nearest;

/// "text, md or csv".
std::string listed(const std::vector<std::string>& words, const std::string& last_link = "or");

}  // namespace uringbench::command
