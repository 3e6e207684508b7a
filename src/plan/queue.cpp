// --queue: which attributes, and of which disks.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "plan/rules.hpp"
#include "plan/settle.hpp"

namespace uringbench::plan {

namespace {

using base::ExitCode;

bool has_queue(const TargetShape& target) { return target.is_block || target.is_nvme_generic; }

template <typename Value>
void add_once(std::vector<Value>& values, const Value& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

}  // namespace

void settle_queue(const Options& options, const std::vector<TargetShape>& targets, RunPlan& plan) {
  if (options.queue.empty()) return;
  for (const QueueSetting& setting : options.queue) add_once(plan.queue, setting);
  std::vector<std::string> files;
  for (const TargetShape& target : targets) {
    if (!has_queue(target)) {
      files.push_back(target.path);
    } else if (!target.disk.empty()) {
      add_once(plan.queue_disks, target.disk);
    }
  }
  if (files.empty()) return;
  plan.notes.push_back(
      fmt::format("--queue is for block devices: the disk below {} is left as it is",
                  rules::name_paths(files)));
}

void rules::check_queue(const RunPlan& plan, const std::vector<TargetShape>& targets,
                        Problems& problems) {
  if (plan.queue.empty()) return;
  std::map<std::string, std::vector<std::string>> values;
  for (const QueueSetting& setting : plan.queue) values[setting.key].push_back(setting.value);
  for (const auto& [key, given] : values) {
    if (given.size() == 1) continue;
    problems.push_back(
        {ExitCode::usage,
         fmt::format("--queue: {} cannot be {} and {} at once", key, given[0], given[1]),
         "give each attribute once"});
  }
  std::vector<std::string> unknown;
  for (const TargetShape& target : targets) {
    if (has_queue(target) && target.disk.empty()) unknown.push_back(target.path);
  }
  if (!unknown.empty()) {
    problems.push_back(
        {ExitCode::cannot,
         fmt::format("{}: --queue: the disk that serves it is not known", name_paths(unknown)),
         "name the whole disk, or leave out --queue"});
  } else if (plan.queue_disks.empty() && (plan.nop || !targets.empty())) {
    problems.push_back({ExitCode::cannot, "--queue: no target is a block device",
                        "name a block device, or leave out --queue"});
  }
}

}  // namespace uringbench::plan
