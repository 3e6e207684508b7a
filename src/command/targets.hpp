// The targets of a run, before anything is measured: opened, inspected, kept from harm.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "plan/plan.hpp"

namespace uringbench::command {

struct Targets {
  std::vector<machine::OpenTarget> open;  ///< without a scratch file that is still to be made
  std::vector<machine::TargetFacts> facts;
  std::vector<plan::TargetShape> shapes;
};

/// Opens and inspects every file of the options; foresees the scratch file. Throws UserError with
/// all that is wrong.
Targets look_at_targets(const plan::Options& options);

/// Targets are only ever read: the document at `json_path` must not take the place of one.
void keep_from_the_document(const Targets& targets, const std::string& json_path);

}  // namespace uringbench::command
