// Block-queue attributes for the time of a run: what may be set, setting, and what is to be put
// back afterwards. The guardian does the putting back.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "machine/guardian.hpp"
#include "machine/machine.hpp"
#include "machine/queue_check.hpp"
#include "machine/refusal.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

using base::ExitCode;
using base::Problem;
using base::UserError;
using plan::QueueSetting;
using Problems = std::vector<Problem>;

// --- what there is to restore ----------------------------------------------------------------

bool is_scheduler(const std::string& name) { return name == "scheduler"; }

/// In which order to set and to restore. Changing the scheduler gives other attributes their
/// defaults, so it comes first. A change of any of the queue's limits (iostats is one too) may
/// raise read_ahead_kb, so that comes last.
int rank(const std::string& name) {
  return is_scheduler(name) ? 0 : name == "read_ahead_kb" ? 2 : 1;
}

/// What the kernel resets besides when it gets these settings: read_ahead_kb, and for a new
/// scheduler or number of requests the scheduler's own parameters and some more.
std::vector<std::string> names_reset_besides(const std::vector<QueueSetting>& settings,
                                             const std::string& folder) {
  std::vector<std::string> names = {"read_ahead_kb"};
  if (std::any_of(settings.begin(), settings.end(), [](const QueueSetting& setting) {
        return is_scheduler(setting.key) || setting.key == "nr_requests";
      })) {
    names.insert(names.end(), {"nr_requests", "wbt_lat_usec", "async_depth"});
    for (const std::string& name : writable_names(folder + "/iosched")) {
      names.push_back("iosched/" + name);
    }
  }
  names.erase(std::remove_if(names.begin(), names.end(),
                             [&](const auto& name) { return !has_write_bit(folder + "/" + name); }),
              names.end());
  return names;
}

/// Appends what one disk's queue is to be restored to, in the order of restoring: by rank, and
/// in it the settings from the last to the first before what is reset besides. Throws SystemError
/// when a setting cannot be read.
void keep_values(const std::string& disk, int folder, const std::vector<QueueSetting>& settings,
                 const Root& root, std::vector<KeptValue>& values) {
  std::vector<std::string> names;
  for (auto setting = settings.rbegin(); setting != settings.rend(); ++setting) {
    names.push_back(setting->key);
  }
  const std::set<std::string> asked(names.begin(), names.end());
  const auto more = names_reset_besides(settings, queue_folder(disk, root));
  names.insert(names.end(), more.begin(), more.end());
  std::stable_sort(names.begin(), names.end(),
                   [](const auto& a, const auto& b) { return rank(a) < rank(b); });
  std::set<std::string> seen;
  for (const std::string& name : names) {
    const AttributeText now(folder, name);
    if (now.error_number() != 0 && asked.count(name) != 0) {
      throw base::SystemError("read", queue_subject(disk, name), now.error_number());
    }
    if (now.error_number() != 0 || !seen.insert(name).second) continue;
    values.push_back({disk, folder, name, std::string(now.value())});
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
           fmt::format("{}: not restored: the disk is gone: {}",
                       queue_subject(kept.disk, kept.name), base::describe_errno(error_number)),
           "a disk that comes back begins with its driver's values"});
      continue;
    }
    problems.push_back({ExitCode::cannot,
                        fmt::format("{}: not restored: {}", queue_subject(kept.disk, kept.name),
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
          fmt::format("--queue: {}: not restored in time: the disk does not answer, or the "
                      "process that restores does not get to run",
                      fmt::join(disks, ", ")),
          fmt::format("process {} (queue-guardian) restores as soon as it can", guardian)};
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

/// Throws when the kernel would not take back what an attribute holds now, which must be known
/// before it is changed.
void try_to_put_back(const QueueSetting& asked, const KeptValue& kept) {
  if (says(kept.value, asked)) return;  // will not be written to
  const int error_number = write_attribute(kept.folder, kept.name, kept.value);
  if (error_number == 0) return;
  throw UserError(ExitCode::cannot,
                  fmt::format("{}: its present value could not be put back: the kernel refuses {}: "
                              "{}",
                              queue_subject(kept.disk, kept.name), shell_quoted(kept.value),
                              base::describe_errno(error_number)),
                  "leave it out of --queue");
}

/// Sets one attribute of one disk, whose queue folder is open as `folder`; returns it as read back.
std::string set(const std::string& disk, int folder, const QueueSetting& asked,
                const std::string& before) {
  const auto refuse = [&](const std::string& reason) {
    return UserError(ExitCode::cannot,
                     fmt::format("{}: {}", queue_subject(disk, asked.key), reason),
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

// --- one run at a time -----------------------------------------------------------------------

/// Opens each disk's queue folder and locks it. Nothing else may be taken for the original value
/// than what is there while nobody else has changed it. The lock belongs to the open file, which
/// the guardian has too: it lasts until both are through. Throws UserError for the disks that
/// others have locked.
std::vector<Descriptor> lock_queues(const std::vector<std::string>& disks, const Root& root) {
  std::vector<Descriptor> folders;
  Problems problems;
  for (const std::string& disk : disks) {
    const std::string path = queue_folder(disk, root);
    Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) throw base::SystemError("open", "--queue: " + path, errno);
    if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) throw base::SystemError("flock", "--queue: " + path, errno);
      problems.push_back(
          {ExitCode::cannot,
           fmt::format("--queue: {}: another run has changed this disk's queue and will restore it",
                       disk),
           "wait until it has ended, and the process queue-guardian with it"});
    }
    folders.push_back(std::move(folder));
  }
  if (!problems.empty()) throw UserError(std::move(problems));
  return folders;
}

}  // namespace

/// All there is to restore, and who does it. Restores when it goes.
struct QueueSettings::Guardian {
  std::vector<Descriptor> folders;  ///< by disk
  std::vector<KeptValue> values;
  std::unique_ptr<GuardianProcess> process;  ///< uses both, so it goes first

  Guardian(const std::vector<std::string>& disks, const std::vector<QueueSetting>& settings,
           const Root& root)
      : folders(lock_queues(disks, root)) {
    for (std::size_t i = 0; i < disks.size(); ++i) {
      keep_values(disks[i], folders[i].get(), settings, root, values);
    }
    process = std::make_unique<GuardianProcess>(values);
  }

  const KeptValue& kept(int folder, const std::string& key) const {
    const auto is_it = [&](const KeptValue& value) {
      return value.folder == folder && value.name == key;
    };
    return *std::find_if(values.begin(), values.end(), is_it);
  }
};

void QueueSettings::check(const std::vector<std::string>& disks,
                          const std::vector<QueueSetting>& settings, const Root& root) {
  Problems problems = problems_with_settings(disks, settings, root);
  if (!problems.empty()) throw UserError(std::move(problems));
}

QueueSettings::QueueSettings(const std::vector<std::string>& disks,
                             const std::vector<QueueSetting>& settings, const Root& root) {
  check(disks, settings, root);
  if (disks.empty() || settings.empty()) return;
  guardian_ = std::make_unique<Guardian>(disks, settings, root);

  std::vector<QueueSetting> ordered = settings;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return rank(a.key) < rank(b.key); });
  try {
    for (const Descriptor& folder : guardian_->folders) {
      for (const QueueSetting& setting : ordered) {
        try_to_put_back(setting, guardian_->kept(folder.get(), setting.key));
      }
    }
    for (std::size_t i = 0; i < disks.size(); ++i) {
      const int folder = guardian_->folders[i].get();
      for (const QueueSetting& setting : ordered) {
        const std::string& before = guardian_->kept(folder, setting.key).value;
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
  const bool done = guardian->process->restore();
  const auto& found = guardian->process->found();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const KeptValue& kept = guardian->values[i];
    const auto change = std::find_if(changes_.begin(), changes_.end(), [&](const Change& c) {
      return c.disk == kept.disk && c.key == kept.name;
    });
    if (!found[i] || change == changes_.end()) continue;
    if (*found[i] == change->after || *found[i] == change->before) continue;
    changed_meanwhile_.push_back(
        fmt::format("{}/queue/{} was changed to {} by somebody else during the run", kept.disk,
                    kept.name, *found[i]));
  }
  if (done) return not_restored(guardian->values);
  return {still_restoring(guardian->values, guardian->process->pid())};
}

}  // namespace uringbench::machine
