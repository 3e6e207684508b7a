// Block-queue attributes for the time of a run: what may be set, setting, and what is to be put
// back afterwards. The guardian does the putting back.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "machine/guardian.hpp"
#include "machine/machine.hpp"
#include "machine/refusal.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

using base::ExitCode;
using base::Problem;
using base::UserError;
using plan::QueueSetting;
using Problems = std::vector<Problem>;

std::string queue_folder(const std::string& disk, const Root& root) {
  return root("/sys/block/" + disk + "/queue");
}

/// How an attribute is called in messages: "--queue: vda/queue/iostats".
std::string subject(const std::string& disk, const std::string& key) {
  return fmt::format("--queue: {}/queue/{}", disk, key);
}

/// By its mode: root may open any file for writing, but the kernel then has nothing to do with it.
bool has_write_bit(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         (status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) != 0;
}

std::vector<std::string> writable_names(const std::string& folder) {
  std::vector<std::string> names = list_names(folder);
  names.erase(std::remove_if(names.begin(), names.end(),
                             [&](const auto& name) { return !has_write_bit(folder + "/" + name); }),
              names.end());
  return names;
}

std::string writable_hint(const std::string& folder) {
  return fmt::format("can be set here: {}", fmt::join(writable_names(folder), ", "));
}

// --- check -----------------------------------------------------------------------------------

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
    problems.push_back({ExitCode::cannot, subject(disk, key) + ": there is no such attribute",
                        near.empty() ? writable_hint(folder) : "did you mean " + near + "?"});
    return;
  }
  if (!has_write_bit(path)) {
    problems.push_back(
        {ExitCode::cannot, subject(disk, key) + ": is read-only", writable_hint(folder)});
    return;
  }
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
    denied[errno].push_back(fmt::format("{}/queue/{}", disk, key));
    return;
  }
  const AttributeText now(AT_FDCWD, path);
  if (now.error_number() != 0) {
    problems.push_back({ExitCode::cannot,
                        fmt::format("{}: cannot be read, and so not be restored: {}",
                                    subject(disk, key), base::describe_errno(now.error_number())),
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

Problems problems_with(const std::vector<std::string>& disks,
                       const std::vector<QueueSetting>& settings, const Root& root) {
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

// --- what there is to restore ----------------------------------------------------------------

/// Changing the scheduler gives other attributes their defaults, so it comes first both ways.
bool is_scheduler(const std::string& name) { return name == "scheduler"; }

/// Changing another attribute, like iostats, may give it its default (on Linux 6.12 and newer, not
/// on 6.1), so it comes last both ways.
const char* const kReadAhead = "read_ahead_kb";
bool is_no_read_ahead(const std::string& name) { return name != kReadAhead; }

/// What the kernel resets besides when it gets a new scheduler or number of requests: the
/// scheduler's own parameters, and these where they exist.
std::vector<std::string> names_reset_besides(const std::string& folder) {
  std::vector<std::string> names;
  for (const char* name : {"nr_requests", "wbt_lat_usec", "async_depth"}) {
    if (has_write_bit(folder + "/" + name)) names.emplace_back(name);
  }
  for (const std::string& name : writable_names(folder + "/iosched")) {
    names.push_back("iosched/" + name);
  }
  return names;
}

/// Appends what one disk's queue is to be restored to, in the order of restoring: the scheduler,
/// the other settings from the last to the first, and what is reset besides, with the read-ahead at
/// the end. Throws SystemError when a setting cannot be read.
void keep_values(const std::string& disk, int folder, const std::vector<QueueSetting>& settings,
                 const Root& root, std::vector<KeptValue>& values) {
  std::vector<std::string> names;
  for (auto setting = settings.rbegin(); setting != settings.rend(); ++setting) {
    names.push_back(setting->key);
  }
  std::stable_partition(names.begin(), names.end(), is_scheduler);
  if (std::any_of(names.begin(), names.end(), [](const std::string& name) {
        return is_scheduler(name) || name == "nr_requests";
      })) {
    const auto more = names_reset_besides(queue_folder(disk, root));
    names.insert(names.end(), more.begin(), more.end());
  }
  if (has_write_bit(queue_folder(disk, root) + "/" + kReadAhead)) names.emplace_back(kReadAhead);
  std::stable_partition(names.begin(), names.end(), is_no_read_ahead);
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) continue;
    const AttributeText now(folder, name);
    if (now.error_number() == 0) {
      values.push_back({disk, folder, name, std::string(now.value())});
    } else if (std::any_of(settings.begin(), settings.end(),
                           [&](const QueueSetting& setting) { return setting.key == name; })) {
      throw base::SystemError("read", subject(disk, name), now.error_number());
    }
  }
}

/// What is not as it was.
Problems not_restored(const std::vector<KeptValue>& values) {
  Problems problems;
  std::set<std::string> gone;
  for (const KeptValue& kept : values) {
    const AttributeText now(kept.folder, kept.name);
    const int error_number = now.error_number();
    if (error_number == 0 && now.value() == kept.value) continue;
    if (error_number == ENOENT || error_number == ENODEV) {
      // A scheduler's parameters are only there while it is; that it is not, is said of itself.
      if (kept.name.find('/') != kept.name.npos || !gone.insert(kept.disk).second) continue;
      problems.push_back(
          {ExitCode::cannot,
           fmt::format("{}: not restored: the disk is gone: {}", subject(kept.disk, kept.name),
                       base::describe_errno(error_number)),
           "a disk that comes back begins with its driver's values"});
      continue;
    }
    problems.push_back({ExitCode::cannot,
                        fmt::format("{}: not restored: {}", subject(kept.disk, kept.name),
                                    error_number == 0 ? fmt::format("it is {}, and was {}",
                                                                    now.value(), kept.value)
                                                      : base::describe_errno(error_number)),
                        fmt::format("echo {} > /sys/block/{}/queue/{}", shell_quoted(kept.value),
                                    kept.disk, kept.name)});
  }
  return problems;
}

Problem still_restoring(const std::vector<KeptValue>& values, pid_t guardian) {
  std::set<std::string> disks;
  for (const KeptValue& kept : values) disks.insert(kept.disk);
  return {ExitCode::cannot,
          fmt::format("--queue: {}: not restored yet: the disk does not answer",
                      fmt::join(disks, ", ")),
          fmt::format("process {} (queue-guardian) waits for it and restores then", guardian)};
}

// --- setting ---------------------------------------------------------------------------------

/// Does the attribute say what was asked for, in these words or as this number?
bool says(std::string_view is, const QueueSetting& asked) {
  const auto number = to_number(asked.value);
  return is == asked.value || (number && number == to_number(is));
}

/// A negative latency asks for the kernel's default, whatever that is.
bool has_taken(std::string_view is, const QueueSetting& asked) {
  const bool wants_default = asked.key == "wbt_lat_usec" && to_number(asked.value).value_or(0) < 0;
  return wants_default ? to_number(is).value_or(-1) >= 0 : says(is, asked);
}

std::string hint_for_value(const std::string& key, int folder, const std::string& before) {
  if (is_scheduler(key)) {
    const AttributeText now(folder, key);
    std::string names(now.whole());
    names.erase(
        std::remove_if(names.begin(), names.end(), [](char c) { return c == '[' || c == ']'; }),
        names.end());
    return fmt::format("available: {}", fmt::join(split_words(names), ", "));
  }
  static const std::map<std::string, const char*> kRanges = {
      {"iostats", "0 or 1"},        {"nomerges", "0, 1 or 2"}, {"rq_affinity", "0, 1 or 2"},
      {"nr_requests", "4 or more"}, {"add_random", "0 or 1"},
  };
  const auto range = kRanges.find(key);
  const std::string was = fmt::format("it was {}", before);
  return range == kRanges.end() ? was : fmt::format("possible: {}; {}", range->second, was);
}

/// Sets one attribute of one disk, whose queue folder is open as `folder`; returns it as read back.
std::string set(const std::string& disk, int folder, const QueueSetting& asked,
                const std::string& before) {
  const auto refuse = [&](const std::string& reason) {
    return UserError(ExitCode::cannot, fmt::format("{}: {}", subject(disk, asked.key), reason),
                     hint_for_value(asked.key, folder, before));
  };
  if (const AttributeText now(folder, asked.key); says(now.value(), asked)) {
    return std::string(now.value());
  }
  if (const int error_number = write_attribute(folder, asked.key, asked.value)) {
    throw refuse(fmt::format("the kernel refuses {}: {}", shell_quoted(asked.value),
                             base::describe_errno(error_number)));
  }
  const AttributeText now(folder, asked.key);
  if (has_taken(now.value(), asked)) return std::string(now.value());
  throw refuse(
      fmt::format("reads back {} after {} was written", now.value(), shell_quoted(asked.value)));
}

}  // namespace

/// All there is to restore, and who does it. Restores when it goes.
struct QueueSettings::Guardian {
  std::vector<Descriptor> folders;  ///< by disk
  std::vector<KeptValue> values;
  std::unique_ptr<GuardianProcess> process;  ///< uses both, so it goes first

  Guardian(const std::vector<std::string>& disks, const std::vector<QueueSetting>& settings,
           const Root& root) {
    for (const std::string& disk : disks) {
      const std::string path = queue_folder(disk, root);
      folders.emplace_back(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      if (!folders.back()) throw base::SystemError("open", "--queue: " + path, errno);
      keep_values(disk, folders.back().get(), settings, root, values);
    }
    process = std::make_unique<GuardianProcess>(values);
  }

  const std::string& before(int folder, const std::string& key) const {
    const auto is_it = [&](const KeptValue& kept) {
      return kept.folder == folder && kept.name == key;
    };
    return std::find_if(values.begin(), values.end(), is_it)->value;
  }
};

void QueueSettings::check(const std::vector<std::string>& disks,
                          const std::vector<QueueSetting>& settings, const Root& root) {
  Problems problems = problems_with(disks, settings, root);
  if (!problems.empty()) throw UserError(std::move(problems));
}

QueueSettings::QueueSettings(const std::vector<std::string>& disks,
                             const std::vector<QueueSetting>& settings, const Root& root) {
  check(disks, settings, root);
  if (disks.empty() || settings.empty()) return;
  guardian_ = std::make_unique<Guardian>(disks, settings, root);

  std::vector<QueueSetting> ordered = settings;
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const QueueSetting& setting) { return is_scheduler(setting.key); });
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const QueueSetting& setting) { return is_no_read_ahead(setting.key); });
  try {
    for (std::size_t i = 0; i < disks.size(); ++i) {
      const int folder = guardian_->folders[i].get();
      for (const QueueSetting& setting : ordered) {
        const std::string& before = guardian_->before(folder, setting.key);
        changes_.push_back({disks[i], setting.key, before, set(disks[i], folder, setting, before)});
      }
    }
  } catch (const UserError& error) {
    Problems problems = error.problems();
    const Problems more = restore();
    problems.insert(problems.end(), more.begin(), more.end());
    throw UserError(std::move(problems));
  }
}

QueueSettings::~QueueSettings() = default;

Problems QueueSettings::restore() {
  if (!guardian_) return {};
  const auto guardian = std::move(guardian_);
  if (guardian->process->restore()) return not_restored(guardian->values);
  return {still_restoring(guardian->values, guardian->process->pid())};
}

}  // namespace uringbench::machine
