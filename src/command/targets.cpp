#include "command/targets.hpp"

#include <sys/stat.h>

#include <utility>

namespace uringbench::command {

Targets look_at_targets(const plan::Options& options) {
  Targets targets;
  std::vector<base::Problem> problems;
  for (const std::string& path : options.files) {
    try {
      targets.open.push_back(options.passthrough
                                 ? machine::open_generic(path)
                                 : machine::open_target(path, options.direct && !options.nop));
      targets.facts.push_back(targets.open.back().facts);
    } catch (const base::UserError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    } catch (const base::SystemError& error) {
      problems.push_back(error.problem());
    }
  }
  if (!problems.empty()) throw base::UserError(std::move(problems));
  if (options.scratch) targets.facts.push_back(machine::foresee_scratch(*options.scratch));
  for (const auto& facts : targets.facts) {
    targets.shapes.push_back(shape_of(facts, options.direct));
  }
  return targets;
}

void keep_from_the_document(const Targets& targets, const std::string& json_path) {
  struct stat document {};
  if (json_path.empty() || json_path == "-" || stat(json_path.c_str(), &document) != 0) return;
  const auto is_document = [&](const struct stat& file) {
    return file.st_dev == document.st_dev && file.st_ino == document.st_ino;
  };
  for (const auto& target : targets.open) {
    struct stat file {};
    bool same = fstat(target.fd.get(), &file) == 0 && is_document(file);
    if (const auto& device = target.facts.device; device && device->backing_file) {
      same |= stat(device->backing_file->c_str(), &file) == 0 && is_document(file);
    }
    if (same) {
      throw base::UserError(base::ExitCode::usage, "--json: " + json_path + " is the target itself",
                            "choose another name for the document");
    }
  }
}

}  // namespace uringbench::command
