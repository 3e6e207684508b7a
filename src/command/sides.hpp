// From words to sides: which files a side has, what it is called, and the documents themselves.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/compare.hpp"
#include "plan/plan.hpp"

namespace uringbench::command {

/// One side as it was given.
struct SideFiles {
  std::optional<std::string> label;
  std::vector<std::string> files;
  bool operator==(const SideFiles&) const = default;
};

/// "[LABEL=]FILE[,FILE...]" taken apart; what is a file as it stands is left whole, with = and , in
/// it. `exists` says what is a file. Throws UserError(usage) for an empty label or file.
SideFiles split_word(const std::string& word,
                     const std::function<bool(const std::string&)>& exists);

/// Joins the words of each side, and sides of the same given label. Throws UserError(usage) for a
/// side with two labels.
std::vector<SideFiles> split_sides(const std::vector<std::vector<std::string>>& sides,
                                   const std::function<bool(const std::string&)>& exists);

/// What is loaded, and what is said of files that are not there.
struct Loading {
  result::ImportHints hints;
  bool gate = false;  ///< the first side is a baseline: without it the exit code is another
};
/// Loads every file, several at once, and gives every side its label: the given one, else the
/// document's, else the file's name; equal ones get the file's name appended. One document with
/// arms, or the parts of one plan, become a side per arm. Throws UserError with all that is wrong
/// with the files, the gravest first (1 before 5 before 6), or (usage) when there is nothing to
/// compare with.
std::vector<compare::Side> load_sides(const std::vector<SideFiles>& sides, const Loading& loading);

}  // namespace uringbench::command
