// The flags that say how the ring works: polling, the submission thread, registration, and the
// settings of the device's queue.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/base.hpp"
#include "command/flag_parts.hpp"
#include "machine/machine.hpp"

namespace uringbench::command {
namespace {

using base::ExitCode;
using base::UserError;
using plan::Options;

/// A file below the queue's folder ("iostats", "iosched/read_expire"), and nowhere else.
bool is_attribute(const std::string& key) {
  const bool known_letters = std::all_of(key.begin(), key.end(), [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '-' || letter == '/';
  });
  return known_letters && !key.empty() && key.front() != '/' && key.back() != '/';
}

plan::QueueSetting parse_queue_setting(const std::string& text) {
  const char* hint =
      "write e.g. --queue iostats=0,nomerges=2; the keys are the files in /sys/block/DISK/queue";
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw UserError(ExitCode::usage,
                    fmt::format("--queue: must be KEY=VALUE[,...], got \"{}\"", text), hint);
  }
  plan::QueueSetting setting{text.substr(0, equals), text.substr(equals + 1)};
  if (!is_attribute(setting.key)) {
    throw UserError(ExitCode::usage,
                    fmt::format("--queue: \"{}\" is no name of a queue attribute", setting.key),
                    hint);
  }
  return setting;
}

plan::QueueSetting* find_key(std::vector<plan::QueueSetting>& settings, const std::string& key) {
  const auto same = std::find_if(settings.begin(), settings.end(),
                                 [&](const auto& setting) { return setting.key == key; });
  return same == settings.end() ? nullptr : &*same;
}

/// A list that says two things of one key contradicts itself. Of several lists the last counts, as
/// with flags.
void set_queue(Options& options, const std::string& text) {
  std::vector<plan::QueueSetting> list;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const plan::QueueSetting setting = parse_queue_setting(text.substr(begin, comma - begin));
    const plan::QueueSetting* same = find_key(list, setting.key);
    if (same != nullptr && same->value != setting.value) {
      throw UserError(ExitCode::usage,
                      fmt::format("--queue: {} is to be {} as well as {}", setting.key, same->value,
                                  setting.value),
                      "give one value for it");
    }
    if (same == nullptr) list.push_back(setting);
    begin = comma + 1;
  }
  for (const plan::QueueSetting& setting : list) {
    plan::QueueSetting* known = find_key(options.queue, setting.key);
    if (known != nullptr) {
      known->value = setting.value;
    } else {
      options.queue.push_back(setting);
    }
  }
}

/// What is no CPU number is refused with those that would do.
std::int64_t parse_cpu(const std::string& text) {
  try {
    return base::parse_integer("--sqpoll-cpu", text, 0, 65535);
  } catch (const UserError& error) {
    const std::vector<int> allowed = machine::read_limits().allowed_cpus;
    throw UserError(ExitCode::usage, error.problems().front().what,
                    "this process may run on CPU " + base::format_cpu_list(allowed));
  }
}

void set_taskrun(Options& options, const std::string& text) {
  options.taskrun = text == "defer"  ? plan::TaskRun::defer
                    : text == "coop" ? plan::TaskRun::coop
                                     : plan::TaskRun::plain;
}

}  // namespace

std::vector<Entry> polling_flags() {
  return {
      custom('p', "polled", "0/1", "polled completion; not given: polled if the target can",
             [](Options& o, const std::string& t) {
               o.polled =
                   base::parse_switch("--polled", t) ? plan::PolledWish::on : plan::PolledWish::off;
             })
          .default_is("auto")
          .choices({"0", "1"})
          .more("With 1, a target that cannot poll is refused before the run."),
      custom(0, "taskrun", "MODE", "how completions reach a thread: defer, coop or plain",
             set_taskrun)
          .default_is("best there is")
          .choices({"defer", "coop", "plain"})
          .more("defer: SINGLE_ISSUER and DEFER_TASKRUN; coop: COOP_TASKRUN; plain: neither, the "
                "thread is interrupted. A mode that was asked for and that the kernel does not "
                "have is refused."),
      plain("hybrid-iopoll", &Options::hybrid_iopoll,
            "HYBRID_IOPOLL: sleep for a while, then poll"),
  };
}

std::vector<Entry> sqpoll_flags() {
  Entry sqpoll = on_off(0, "sqpoll", &Options::sqpoll, "a kernel thread submits (SQPOLL)");
  sqpoll.flag.value_optional = true;
  return {
      std::move(sqpoll).more("The value is attached by = or left out, which means 1."),
      custom(0, "sqpoll-cpu", "N", "CPU of the submission thread",
             [](Options& o, const std::string& t) { o.sqpoll_cpu = parse_cpu(t); })
          .default_is("any"),
      integer(0, "sqpoll-idle", "MS", &Options::sqpoll_idle_ms, 0, UINT32_MAX,
              "idle ms before the thread sleeps; 0: the kernel's default, 1 s"),
      plain("sqpoll-share", &Options::sqpoll_share, "one submission thread for all rings"),
      plain("no-sqthread-stats", &Options::no_sqthread_stats,
            "stats-off set-up flag: no statistics of the submission thread")
          .more("Not every kernel has it. Whether it is in force is read from "
                "the ring's fdinfo; accepted without effect is refused, unless --force is given."),
      integer(0, "sqthread-stats-bit", "N", &Options::sqthread_stats_bit, 0, 31,
              "which bit of the set-up flags the stats-off flag is"),
      plain("force", &Options::force, "run although the stats-off flag is accepted without effect"),
  };
}

std::vector<Entry> memory_flags() {
  return {
      on_off('B', "fixed-buffers", &Options::fixed_buffers, "registered buffers"),
      on_off('F', "register-files", &Options::register_files, "registered files"),
      on_off('X', "register-ring", &Options::register_ring, "registered ring descriptor"),
      on_off('e', "restrict", &Options::restrict_ring,
             "restriction filter that permits what the run needs, no more"),
      text('H', "hugetlb", "PATH", &Options::hugetlb,
           "buffers in this file on hugetlbfs; anon: anonymous huge pages")
          .examples({"anon"}),
  };
}

std::vector<Entry> queue_flags() {
  return {
      custom(0, "queue", "KEY=VALUE[,...]",
             "set attributes of the block queue for the run, then restore them", set_queue)
          .repeatable()
          .examples({"iostats=0", "nomerges=2", "rq_affinity=2", "scheduler=none"})
          .more("The keys are the files in /sys/block/DISK/queue: iostats, nomerges, rq_affinity, "
                "scheduler and others. Several flags add up. What was there is written back in any "
                "case, also after a signal or a crash; both values are recorded."),
  };
}

}  // namespace uringbench::command
