// Lists like "0-3,8" as sysfs writes them.
#pragma once

#include <string>

namespace uringbench::machine {

/// How many numbers a list names; 0 for an empty one or one that is none.
int count_listed(const std::string& list);

}  // namespace uringbench::machine
