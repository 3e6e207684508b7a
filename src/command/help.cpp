#include "command/help.hpp"

#include <fmt/format.h>

namespace uringbench::command {
namespace {

constexpr std::size_t kColumn = 30;       // where the explanations begin
constexpr std::size_t kUsageColumn = 45;  // of flags, and of verbs

std::string flag_line(const std::string& names, const std::string& help) {
  const std::string left = "  " + names;
  if (left.size() < kColumn) return fmt::format("{:<{}}{}\n", left, kColumn, help);
  return fmt::format("{}\n{:<{}}{}\n", left, "", kColumn, help);
}

std::string names_of(char letter, const std::string& name) {
  return (letter != 0 ? std::string("-") + letter + "," : "") + "--" + name;
}

std::string flag_line(const Flag& flag) {
  std::string names = names_of(flag.letter, flag.name);
  if (flag.value_optional) {
    names += "[=" + flag.value + "]";
  } else if (!flag.value.empty()) {
    names += " " + flag.value;
  }
  const std::string shown = flag.default_text.empty() ? "" : " [" + flag.default_text + "]";
  return flag_line(names, flag.help + shown);
}

}  // namespace

const std::vector<ExitCodeRow>& exit_code_rows() {
  static const std::vector<ExitCodeRow> rows = {
      {"0", "done; gate: passed"},
      {"1", "internal error, or a file that cannot be read or written"},
      {"2", "usage: bad flag, bad profile, nothing to do"},
      {"3", "gate: a regression is demonstrated"},
      {"4", "gate: inconclusive, the data cannot exclude a regression of the margin"},
      {"5", "not comparable: different settings or device, unknown schema"},
      {"6", "gate: missing baseline, missing cells, too few runs, failed or interrupted cells"},
      {"7", "this machine, kernel or target cannot do what was asked"},
      {"8", "I/O errors, short reads or a stall during the run; the result is written and flagged"},
      {"128+N", "ended early by signal N; the partial result is written and flagged"},
  };
  return rows;
}

const std::vector<EarlyFlag>& early_flags() {
  static const std::vector<EarlyFlag> flags = {
      {'h', "help", "this page"}, {0, "version", "version, commit, compiler, liburing"}};
  return flags;
}

std::string synopsis(const Verb& verb) {
  return "uringbench " + (verb.name.empty() ? "" : verb.name + " ") + "[FLAGS] " + verb.files;
}

std::string help_text() {
  std::string text;
  for (const Verb& verb : verb_table()) {
    const std::string usage = (text.empty() ? "Usage: " : "       ") + synopsis(verb);
    const bool fits = usage.size() < kUsageColumn;
    text += fits ? fmt::format("{:<{}}{}\n", usage, kUsageColumn, verb.help)
                 : fmt::format("{}\n{:<{}}{}\n", usage, "", kUsageColumn, verb.help);
  }
  text +=
      "\nMeasures reads through io_uring on files and block devices. It never writes to them.\n"
      "Defaults are in brackets. A file that is named like a verb is reached as ./run.\n";
  std::string group;
  for (const Flag& flag : flag_table()) {
    if (flag.group != group) {
      group = flag.group;
      text += "\n" + group + ":\n";
    }
    text += flag_line(flag);
  }
  for (const EarlyFlag& flag : early_flags()) {
    text += flag_line(names_of(flag.letter, flag.name), flag.help);
  }
  text += "\nExit codes:\n";
  for (const auto& [code, meaning] : exit_code_rows()) {
    text += fmt::format("  {:<7}{}\n", code, meaning);
  }
  return text;
}

}  // namespace uringbench::command
