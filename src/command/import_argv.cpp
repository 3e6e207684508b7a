#include "command/import_argv.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "base/base.hpp"
#include "command/parse.hpp"
#include "command/translate.hpp"
#include "plan/plan.hpp"

namespace uringbench::command {
namespace {

using base::ExitCode;
using base::UserError;

/// A word of a cell, the flag it comes from, and what the document calls it.
struct Setting {
  const char* word;
  const char* flag;
  const char* key;
  bool always = true;  ///< t/io_uring has this flag, so that its command line settles it
};
constexpr Setting kSettings[] = {
    {"bs", "block-size", "block_size_bytes"},
    {"qd", "depth", "depth"},
    {"submit", "batch-submit", "batch_submit"},
    {"complete", "batch-complete", "batch_complete"},
    {"threads", "threads", "threads"},
    {"direct", "direct", "direct"},
    {"polled", "polled", "polled"},
    {"fixedbufs", "fixed-buffers", "fixed_buffers"},
    {"regfiles", "register-files", "register_files"},
    {"engine", "sync", "engine"},
    {"regring", "register-ring", "register_ring"},
    {"vectored", "vectored", "vectored"},
    {"latency", "latency", "latency"},
    {"passthrough", "passthrough", "passthrough"},
    {"restrict", "restrict", "restrict"},
    {"numa", "numa", "numa"},
    {"", "random", "random"},
    {"", "nop", "nop"},
    {"", "runtime", "runtime_ns", false},
    {"cpus", "cpus", "cpus", false},
    {"hugepages", "hugetlb", "hugetlb", false},
    {"taskrun", "taskrun", "taskrun", false},
    {"hybrid", "hybrid-iopoll", "hybrid_iopoll", false},
    {"sqpoll", "sqpoll", "sqpoll", false},
    {"sqpoll_cpu", "sqpoll-cpu", "sqpoll_cpu", false},
    {"sqpoll_idle", "sqpoll-idle", "sqpoll_idle_ms", false},
    {"sqpoll_share", "sqpoll-share", "sqpoll_share", false},
    {"sqstats", "no-sqthread-stats", "no_sqthread_stats", false},
    {"queue", "queue", "queue", false},
};

bool is_known(const plan::Options& options, const Setting& setting) {
  return setting.always || options.was_given(setting.flag);
}

/// Whether -P1 found a node only the machine knew on which it ran.
bool is_word_known(const plan::Options& options, const Setting& setting) {
  return is_known(options, setting) && !(options.numa && setting.key == std::string_view("numa"));
}

/// t/io_uring polls unless told otherwise, and never what cannot be polled.
void poll_as_there(plan::Options& options) {
  if (options.nop || options.aio || options.sync) {
    options.polled = plan::PolledWish::off;
  } else if (options.polled == plan::PolledWish::automatic) {
    options.polled = plan::PolledWish::on;
  }
}

/// A target that takes whatever t/io_uring may have been told: what is asked here is how settings
/// settle, not whether this machine could do it.
plan::TargetShape any_target(const plan::Options& options) {
  plan::TargetShape target;
  target.path = "FILE";
  target.size_bytes = std::uint64_t{1} << 50;
  target.can_poll = true;
  target.is_block = true;
  target.disk = "disk";
  if (options.passthrough) {
    target.is_block = false;
    target.is_nvme_generic = true;
    target.lba_bytes = 512;
  }
  return target;
}

/// Words of the cell that our own program would call this, without those that nobody has stated.
std::string cell_words(const plan::Options& options) {
  plan::Options asked = options;
  asked.files = {"FILE"};
  plan::Limits limits;
  if (!options.hugetlb.empty()) {  // enough of them, wherever they were
    limits.huge_page_bytes = std::uint64_t{2} << 20;
    limits.huge_pages_free = UINT64_MAX / limits.huge_page_bytes;
    limits.huge_file = plan::Limits::HugeFile{limits.huge_page_bytes, 0, limits.huge_pages_free};
  }
  const std::string id = plan::cell_id(
      plan::make_plan(asked, {any_target(options)}, limits, options.seed.value_or(0)));
  std::istringstream words(id);
  std::string kept;
  for (std::string word; words >> word;) {
    const std::string key = word.substr(0, word.find('='));
    const bool known =
        key == word ||  // "randread"
        std::any_of(std::begin(kSettings), std::end(kSettings), [&](const Setting& setting) {
          return key == setting.word && is_word_known(options, setting);
        });
    if (known) kept += (kept.empty() ? "" : " ") + word;
  }
  return kept;
}

[[noreturn]] void rethrow_as(std::string_view flag, std::vector<base::Problem> problems) {
  for (auto& problem : problems) {
    problem.code = ExitCode::usage;  // whether this machine can is not the question
    problem.what = std::string(flag) + ": " + problem.what;
  }
  throw UserError(std::move(problems));
}

}  // namespace

std::vector<std::string> shell_words(std::string_view flag, std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == 0 && blank) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      *word += text[++i];
    } else {
      *word += c;
    }
  }
  if (quote != 0) {
    throw UserError(ExitCode::usage, std::string(flag) + ": a quote is not closed: " + quote);
  }
  if (word) words.push_back(*word);
  return words;
}

result::ImportHints hints_of(std::string_view flag, std::string_view command_line) {
  const std::vector<std::string> words = shell_words(flag, command_line);
  try {
    Parsed parsed = parse(words);
    if (parsed.action != Parsed::Action::run) {
      throw UserError(ExitCode::usage, "is no command line that measures");
    }
    poll_as_there(parsed.options);
    result::ImportHints hints;
    hints.cell_id = cell_words(parsed.options);
    const result::Settings asked = asked_settings(parsed.options);
    for (const auto& [key, value] : asked.entries()) {
      const bool known = std::any_of(
          std::begin(kSettings), std::end(kSettings), [&, &name = key](const Setting& setting) {
            return name == setting.key && is_known(parsed.options, setting);
          });
      if (known) hints.asked.set(key, value);
    }
    return hints;
  } catch (const UserError& error) {
    rethrow_as(flag, error.problems());
  }
}

}  // namespace uringbench::command
