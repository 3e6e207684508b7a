// Lists like "0-3,8" as sysfs writes them.
#pragma once

#include <string>
#include <vector>

namespace uringbench::machine {

/// How many numbers a list names; 0 for an empty one or one that is none.
int count_listed(const std::string& list);

/// The numbers themselves, in the list's order. Empty for an empty list, one that is none, or one
/// of more CPUs than any kernel has.
std::vector<int> listed_numbers(const std::string& list);

}  // namespace uringbench::machine
