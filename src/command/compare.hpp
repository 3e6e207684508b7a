// The verb compare, and what the gate shares with it.
#pragma once

#include "command/console.hpp"
#include "compare/compare.hpp"
#include "plan/plan.hpp"

namespace uringbench::command {

/// What both verbs ask of the compare room, and the sides they ask it about.
compare::Options comparing_terms(const plan::ComparingOptions& comparing);
std::vector<compare::Side> sides_of(const plan::ComparingOptions& comparing, bool gate);

/// Can the document of --json be written, and is it none of the files that are read? Throws
/// UserError (internal, usage).
void check_output(const plan::Options& options, const std::string& also_read = "");

/// The table in the format of the options on stdout, and the document of --json. Throws what
/// save_atomically() throws.
void draw(const compare::Comparison& comparison, const compare::GateResult* gate,
          const plan::Options& options, Console& console);

/// Returns the exit code: 0 when at least one cell could be compared, else 5; with --exit-verdict
/// what the verdicts say. Throws for files that cannot be read (1) or are no results (5).
int compare_results(const plan::Options& options, Console& console);

}  // namespace uringbench::command
