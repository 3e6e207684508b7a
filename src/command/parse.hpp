// From argv to Options. The only user of CLI11.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace uringbench::command {

struct Parsed {
  enum class Action { run, show, doctor, compare, gate, help, version } action = Action::run;
  plan::Options options;
};

/// `arguments` without the program's name. Throws UserError(usage) with all that is wrong with the
/// values given.
Parsed parse(const std::vector<std::string>& arguments);

}  // namespace uringbench::command
