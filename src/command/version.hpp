// Which build this is.
#pragma once

#include <string>

#include "result/result.hpp"

namespace uringbench::command {

result::Tool tool_info();
/// "uringbench 0.1.0 (commit …, g++ …, Release, liburing 2.3)\n"
std::string version_text();

}  // namespace uringbench::command
