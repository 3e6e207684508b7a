// What may be set in a block queue, and the words for what may not.
#include "machine/queue_check.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "machine/guardian.hpp"
#include "machine/refusal.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

using base::ExitCode;
using base::Problem;
using plan::QueueSetting;
using Problems = std::vector<Problem>;

/// The kernel takes only whole multiples of the discard granularity, which the largest value it
/// starts with need not be, and it drops the granularity with the last discard.
bool cannot_be_put_back(const std::string& name) { return name == "discard_max_bytes"; }

}  // namespace

std::string queue_folder(const std::string& disk, const Root& root) {
  return root("/sys/block/" + disk + "/queue");
}

std::string queue_subject(const std::string& disk, const std::string& key) {
  return fmt::format("--queue: {}/queue/{}", disk, key);
}

bool has_write_bit(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         (status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) != 0;
}

std::vector<std::string> writable_names(const std::string& folder) {
  std::vector<std::string> names = list_names(folder);
  names.erase(std::remove_if(names.begin(), names.end(),
                             [&](const auto& name) {
                               return cannot_be_put_back(name) ||
                                      !has_write_bit(folder + "/" + name);
                             }),
              names.end());
  return names;
}

namespace {

std::string writable_hint(const std::string& folder) {
  return fmt::format("can be set here: {}", fmt::join(writable_names(folder), ", "));
}

bool is_well_formed(const std::string& key) {
  return !key.empty() && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == key.npos;
}

/// Attributes that this process may not write, by the reason. One of them is one thing that is
/// wrong, not one per attribute.
using Denied = std::map<int, std::vector<std::string>>;

void check_attribute(const std::string& disk, const std::string& key, const Root& root,
                     Problems& problems, Denied& denied) {
  const std::string folder = queue_folder(disk, root);
  const std::string path = folder + "/" + key;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    const std::string near = nearest_name(key, list_names(folder));
    problems.push_back({ExitCode::cannot, queue_subject(disk, key) + ": there is no such attribute",
                        near.empty() ? writable_hint(folder) : "did you mean " + near + "?"});
    return;
  }
  if (cannot_be_put_back(key)) {
    problems.push_back({ExitCode::cannot,
                        queue_subject(disk, key) + ": cannot be put back once it is changed",
                        writable_hint(folder)});
    return;
  }
  if (!has_write_bit(path)) {
    problems.push_back(
        {ExitCode::cannot, queue_subject(disk, key) + ": is read-only", writable_hint(folder)});
    return;
  }
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
    denied[errno].push_back(fmt::format("{}/queue/{}", disk, key));
    return;
  }
  const AttributeText now(AT_FDCWD, path);
  if (now.error_number() != 0) {
    problems.push_back(
        {ExitCode::cannot,
         fmt::format("{}: cannot be read, and so not be restored: {}", queue_subject(disk, key),
                     base::describe_errno(now.error_number())),
         "leave it out of --queue"});
  }
}

Problem refuse_denied(int error_number, const std::vector<std::string>& names) {
  const std::string list = fmt::format("{}", fmt::join(names, ", "));
  const std::string reason = base::describe_errno(error_number);
  if (error_number == EROFS) {
    return {ExitCode::cannot,
            fmt::format("--queue: {}: /sys is mounted read-only: {}", list, reason),
            "run it outside of the container, or start the container with --privileged"};
  }
  return {ExitCode::cannot, fmt::format("--queue: {}: needs root: {}", list, reason),
          "run it with sudo (root of a container may not be enough)"};
}

}  // namespace

std::vector<Problem> problems_with_settings(const std::vector<std::string>& disks,
                                            const std::vector<QueueSetting>& settings,
                                            const Root& root) {
  Problems problems;
  for (const QueueSetting& setting : settings) {
    if (is_well_formed(setting.key)) continue;
    problems.push_back({ExitCode::usage,
                        fmt::format("--queue: \"{}\" is no attribute's name", setting.key),
                        "KEY=VALUE, as in --queue iostats=0,nomerges=2"});
  }
  Denied denied;
  for (const std::string& disk : disks) {
    if (!exists(queue_folder(disk, root))) {
      problems.push_back({ExitCode::cannot,
                          fmt::format("--queue: {}: has no block queue that could be set (no "
                                      "/sys/block/{}/queue)",
                                      disk, disk),
                          "leave --queue out"});
      continue;
    }
    for (const QueueSetting& setting : settings) {
      if (is_well_formed(setting.key)) {
        check_attribute(disk, setting.key, root, problems, denied);
      }
    }
  }
  for (const auto& [error_number, names] : denied) {
    problems.push_back(refuse_denied(error_number, names));
  }
  return problems;
}

}  // namespace uringbench::machine
