#include "command/help.hpp"

#include <fmt/format.h>

#include "command/flags.hpp"

namespace uringbench::command {
namespace {

constexpr std::size_t kColumn = 30;  // where the explanations begin

std::string flag_line(const std::string& names, const std::string& help) {
  const std::string left = "  " + names;
  if (left.size() < kColumn) return fmt::format("{:<{}}{}\n", left, kColumn, help);
  return fmt::format("{}\n{:<{}}{}\n", left, "", kColumn, help);
}

std::string names_of(const Flag& flag) {
  std::string names = "--" + flag.name;
  if (flag.letter != 0) names = std::string("-") + flag.letter + "," + names;
  if (!flag.value.empty()) names += " " + flag.value;
  if (!flag.default_text.empty()) names += " [" + flag.default_text + "]";
  return names;
}

}  // namespace

std::string help_text() {
  std::string text =
      "Usage: uringbench [FLAGS] FILE...       once a second, until Ctrl-C (or -r)\n"
      "       uringbench run [FLAGS] FILE...   warm-up, 6 runs of 5 s, a summary\n"
      "\n"
      "Measures reads through io_uring on files and block devices. It never writes to them.\n";
  std::string group;
  for (const Flag& flag : flag_table()) {
    if (flag.group != group) {
      group = flag.group;
      text += "\n" + group + ":\n";
      if (group == "Output") {
        text += flag_line("-h,--help", "this page");
        text += flag_line("--version", "version, commit, compiler, liburing");
      }
    }
    text += flag_line(names_of(flag), flag.help);
  }
  return text;
}

}  // namespace uringbench::command
