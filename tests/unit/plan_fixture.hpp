// What the plan's tests share: a file, a machine, and what make_plan says about them.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace uringbench::plan::testing {

inline constexpr std::uint64_t kMiB = 1048576;

inline TargetShape file_of(std::uint64_t size_bytes, std::string path = "f1") {
  TargetShape shape;
  shape.path = std::move(path);
  shape.size_bytes = size_bytes;
  shape.alignment_bytes = 512;
  shape.can_poll = false;
  shape.cannot_poll_reason = "is not supported by this filesystem";
  shape.cannot_poll_hint = "use -p0";
  return shape;
}

inline TargetShape nvme(std::string path = "/dev/nvme0n1") {
  TargetShape shape = file_of(1024 * kMiB, std::move(path));
  shape.is_block = true;
  shape.disk = "nvme0n1";
  shape.can_poll = true;
  shape.cannot_poll_reason.clear();
  shape.cannot_poll_hint.clear();
  return shape;
}

/// /dev/ngXnY of the same drive.
inline TargetShape generic(std::string path = "/dev/ng0n1", std::uint32_t lba_bytes = 512) {
  TargetShape shape = nvme(std::move(path));
  shape.is_block = false;
  shape.alignment_bytes = lba_bytes;
  shape.is_nvme_generic = true;
  shape.namespace_id = 1;
  shape.lba_bytes = lba_bytes;
  return shape;
}

inline TargetShape zram() {
  TargetShape shape = file_of(1024 * kMiB, "/dev/zram0");
  shape.is_block = true;
  shape.disk = "zram0";
  shape.alignment_bytes = 4096;
  shape.cannot_poll_reason = "is not supported by this block driver (queue/io_poll is 0)";
  shape.cannot_poll_hint = "use -p0; for NVMe, boot with nvme.poll_queues=N";
  return shape;
}

/// Options as parsed: what is set here counts as given by the user.
inline Options reading(const std::vector<TargetShape>& targets) {
  Options options;
  for (const TargetShape& target : targets) options.files.push_back(target.path);
  options.polled = PolledWish::off;
  return options;
}

inline void give(Options& options, const std::string& long_name) {
  options.given[long_name] = "command line";
}

inline RunPlan plan_of(const Options& options, const std::vector<TargetShape>& targets,
                       const Limits& limits = {}) {
  return make_plan(options, targets, limits, 7);
}

/// What is wrong with the options; empty when nothing is.
inline std::vector<base::Problem> problems_of(const Options& options,
                                              const std::vector<TargetShape>& targets,
                                              const Limits& limits = {}) {
  try {
    make_plan(options, targets, limits, 7);
  } catch (const base::UserError& error) {
    return error.problems();
  }
  return {};
}

/// The one problem there should be, as "code: what | hint".
inline std::string problem_of(const Options& options, const std::vector<TargetShape>& targets,
                              const Limits& limits = {}) {
  std::string text;
  for (const base::Problem& problem : problems_of(options, targets, limits)) {
    if (!text.empty()) text += "\n";
    text +=
        std::to_string(static_cast<int>(problem.code)) + ": " + problem.what + " | " + problem.hint;
  }
  return text;
}

}  // namespace uringbench::plan::testing
