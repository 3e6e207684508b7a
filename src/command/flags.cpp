#include "command/flags.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/base.hpp"
#include "command/flag_parts.hpp"
#include "command/nearest.hpp"

namespace uringbench::command {
namespace {

using base::ExitCode;
using base::UserError;
using plan::Options;

std::string dashed(const std::string& name) { return "--" + name; }

/// What to write instead of a word that the flag does not take; empty when nothing is near.
std::string meant(const std::string& text, const std::vector<std::string>& words) {
  const auto best = nearest(text, words, std::min<std::size_t>(2, text.size() / 2));
  return best && best->size() > 1 ? "did you mean " + *best + "?" : "";
}

void require_choice(const Flag& flag, const Verb& verb, const std::string& text) {
  const auto& choices = choices_of(flag, verb);
  if (choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end()) return;
  std::string hint = meant(text, choices);
  if (flag.name == "format" && verb.name == "show" && text == "json") {
    hint = "RESULT.json itself is the JSON";
  }
  throw UserError(
      ExitCode::usage,
      fmt::format("{}: must be {}, got \"{}\"", dashed(flag.name), listed(choices), text), hint);
}

void require_verb(const Flag& flag, const Verb& verb) {
  if ((flag.verbs & verb.bit) != 0) return;
  if (flag.verbs == 0) {
    throw UserError(ExitCode::usage, dashed(flag.name) + ": not available in this version",
                    "leave it out");
  }
  std::string hint;
  if (flag.name == "format") {
    hint = "uringbench show RESULT.json --format md draws it, --json writes the document";
  } else {
    std::vector<std::string> own;
    for (const Flag& other : flag_table()) {
      if ((other.verbs & verb.bit) != 0) own.push_back(dashed(other.name));
    }
    own.push_back("--help");
    hint = verb.name + " takes " + listed(own, "and");
  }
  throw UserError(ExitCode::usage,
                  fmt::format("{}: not a flag of {}", dashed(flag.name),
                              verb.name.empty() ? "a measurement" : verb.name),
                  hint);
}

}  // namespace

Entry custom(char letter, std::string name, std::string value, std::string help, Setter set) {
  Entry entry;
  entry.flag.letter = letter;
  entry.flag.name = std::move(name);
  entry.flag.value = std::move(value);
  entry.flag.help = std::move(help);
  entry.flag.set = std::move(set);
  return entry;
}

Entry integer(char letter, const std::string& name, std::string value,
              std::int64_t Options::*member, std::int64_t least, std::int64_t most,
              std::string help) {
  return custom(letter, name, std::move(value), std::move(help),
                [=](Options& options, const std::string& given) {
                  options.*member = base::parse_integer(dashed(name), given, least, most);
                })
      .default_is(std::to_string(Options{}.*member));
}

Entry on_off(char letter, const std::string& name, bool Options::*member, std::string help) {
  return custom(letter, name, "0/1", std::move(help),
                [=](Options& options, const std::string& given) {
                  options.*member = base::parse_switch(dashed(name), given);
                })
      .default_is(Options{}.*member ? "1" : "0")
      .choices({"0", "1"});
}

Entry plain(std::string name, bool Options::*member, std::string help) {
  return custom(0, std::move(name), "", std::move(help),
                [=](Options& options, const std::string&) { options.*member = true; });
}

Entry duration(std::string name, std::int64_t Options::*member, std::int64_t least_ns,
               std::string help) {
  const std::string flag = dashed(name);
  return custom(0, std::move(name), "DUR", std::move(help),
                [=](Options& options, const std::string& given) {
                  options.*member = base::parse_duration(flag, given, least_ns, kLongestDurationNs);
                });
}

Entry text(char letter, const std::string& name, std::string value, std::string Options::*member,
           std::string help) {
  return custom(letter, name, std::move(value), std::move(help),
                [=](Options& options, const std::string& given) {
                  if (given.empty()) {
                    throw UserError(ExitCode::usage, dashed(name) + ": must not be empty");
                  }
                  options.*member = given;
                });
}

const std::vector<Verb>& verb_table() {
  static const std::vector<Verb> table = {
      {"",
       kMeasuring,
       "FILE...",
       "a line a second until Ctrl-C (or -r), as t/io_uring",
       "Without a verb, uringbench stands in for fio's t/io_uring: the same letters, the same "
       "lines on standard output, and then a summary. It runs until Ctrl-C, which is then its "
       "normal end, or for the time given by -r.",
       {}},
      {"run",
       kMeasuring,
       "FILE...",
       fmt::format("warm-up, {} runs of {}, a summary with an interval", kRunRepeats,
                   base::format_duration(kRunRuntimeNs)),
       "Measures several times with fresh rings and threads, after a warm-up that does not "
       "count, and gives the median with a confidence interval.",
       {}},
      {"show",
       kShow,
       "RESULT.json",
       "draws a stored result again",
       "Draws the summary of a document that --json has written: as text, as a Markdown table, "
       "or as CSV with a line per cell.",
       {"text", "md", "csv"}},
      {"doctor",
       kDoctor,
       "[FILE...]",
       "what machine, kernel and target allow, what to change",
       "Says what this machine and its kernel can do, and for each FILE whether a run with "
       "default flags would work and what would spoil its figures, each with the command that "
       "cures it. Nothing is changed.",
       {"text", "json"}},
      {"compare",
       kCompare,
       "[LABEL=]FILE[,FILE]...",
       "results side by side: changes, intervals, verdicts",
       "Compares results: each argument is a side, the first is the base. Several files of a side "
       "are joined, and so are the files between two --. The label is what stands before the =, "
       "else the one in the document, else the file's name. One document of an A/B comparison "
       "compares its arms. Takes documents of --json, fio's JSON (json, json+), and saved logs of "
       "t/io_uring and of the classic door; - is standard input.",
       {"text", "md", "csv", "json", "junit"}},
      {"gate",
       kGate,
       "BASE[,FILE] NEW[,FILE]",
       "passes unless NEW may be worse than BASE by the margin",
       "Takes two sides, as compare does, and decides whether NEW is good enough: it passes when "
       "the data exclude, for every cell, a change for the worse beyond the margin. The table "
       "goes to standard output, and one line with the decision to standard error, also with "
       "--quiet.",
       {"text", "md", "csv", "json", "junit"}}};
  return table;
}

const std::vector<Flag>& flag_table() {
  static const std::vector<Flag> table = [] {
    std::vector<Flag> all;
    for (auto& [group, part] : std::vector<std::pair<std::string, std::vector<Entry>>>{
             {"Workload", workload_flags()},
             {"Queueing", queueing_flags()},
             {"Polling and task-run", polling_flags()},
             {"SQPOLL", sqpoll_flags()},
             {"Memory and registration", memory_flags()},
             {"Device queue", queue_flags()},
             {"Time and repeats", time_flags()},
             {"Placement", placement_flags()},
             {"Comparing", comparing_flags()},
             {"Gate", gate_flags()},
             {"Output", output_flags()},
             {"Other", other_flags()}}) {
      for (auto& entry : part) {
        entry.flag.group = group;
        all.push_back(std::move(entry.flag));
      }
    }
    return all;
  }();
  return table;
}

const std::vector<std::string>& choices_of(const Flag& flag, const Verb& verb) {
  return flag.name == "format" ? verb.formats : flag.choices;
}

void apply(const Flag& flag, const Verb& verb, Options& options, const std::string& text) {
  require_verb(flag, verb);
  require_choice(flag, verb, text);
  try {
    flag.set(options, text);
  } catch (const UserError& error) {
    std::vector<base::Problem> problems = error.problems();
    if (problems[0].hint.empty() && !flag.examples.empty()) {
      const std::string near = meant(text, flag.examples);
      const char* also = flag.examples.size() == 1 ? " is possible, too" : " are possible, too";
      problems[0].hint = near.empty() ? listed(flag.examples, "and") + also : near;
    }
    throw UserError(std::move(problems));
  }
}

}  // namespace uringbench::command
