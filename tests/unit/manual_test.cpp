// Man page and completion: the files in docs/ are what the table of flags makes.
#include "command/manual.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "command/flags.hpp"
#include "command/help.hpp"
#include "golden.hpp"

namespace uringbench::command {
namespace {

TEST(Manual, ManPageIsWhatTheTableMakes) {
  testing::expect_golden("../../docs/uringbench.1", man_page());
}

TEST(Manual, CompletionIsWhatTheTableMakes) {
  testing::expect_golden("../../docs/completion/uringbench.bash", bash_completion());
}

TEST(Manual, NoLineOfRunningTextIsTakenForARequest) {
  // A dot or an apostrophe at the beginning of a line would make roff swallow it.
  const std::vector<std::string> known = {".\\\"", ".TH", ".SH", ".SS", ".TP", ".PP", ".RS",
                                          ".RE",   ".EX", ".EE", ".BR", ".nf", ".fi"};
  std::istringstream lines(man_page());
  for (std::string line; std::getline(lines, line);) {
    EXPECT_FALSE(line.empty()) << "an empty line is a fault in man(7)";
    const bool is_request = line.starts_with('.') || line.starts_with('\'');
    const std::string request = line.substr(0, std::min(line.find(' '), line.size()));
    EXPECT_EQ(is_request, std::find(known.begin(), known.end(), request) != known.end()) << line;
  }
}

TEST(Manual, EveryFlagAndVerbIsInAllThree) {
  const std::string help = help_text(), completion = bash_completion();
  for (const Flag& flag : flag_table()) {
    EXPECT_NE(help.find("--" + flag.name), std::string::npos) << flag.name;
    const bool offered = completion.find("--" + flag.name) != std::string::npos;
    EXPECT_EQ(offered, flag.verbs != 0) << flag.name << ": what is refused is not offered";
  }
  for (const Verb& verb : verb_table()) {
    EXPECT_NE(help.find(synopsis(verb)), std::string::npos) << verb.name;
    EXPECT_NE(completion.find(verb.name), std::string::npos) << verb.name;
  }
}

TEST(Help, GroupsStandTogetherInTheirOrder) {
  std::vector<std::string> groups;
  for (const Flag& flag : flag_table()) {
    if (groups.empty() || groups.back() != flag.group) groups.push_back(flag.group);
  }
  EXPECT_EQ(groups,
            (std::vector<std::string>{"Workload", "Queueing", "Polling and task-run", "SQPOLL",
                                      "Memory and registration", "Device queue", "Time and repeats",
                                      "Placement", "Comparing", "Gate", "Output", "Other"}));
}

TEST(Help, EveryFlagHasOneLine) {
  std::istringstream lines(help_text());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  for (const Flag& flag : flag_table()) {
    EXPECT_NE(help_text().find(flag.help), std::string::npos) << flag.name;
    EXPECT_FALSE(flag.help.ends_with('.')) << flag.name;
  }
}

TEST(Flags, NamesAndLettersAreThereOnce) {
  std::vector<std::string> seen = {"help", "version", "h"};
  for (const Flag& flag : flag_table()) {
    std::vector<std::string> names = {flag.name};
    if (flag.letter != 0) names.push_back(std::string(1, flag.letter));
    for (const auto& name : names) {
      EXPECT_EQ(std::count(seen.begin(), seen.end(), name), 0) << name;
      seen.push_back(name);
    }
  }
}

}  // namespace
}  // namespace uringbench::command
