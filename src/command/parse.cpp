#include "command/parse.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

#include "base/base.hpp"
#include "command/flags.hpp"

namespace uringbench::command {
namespace {

using base::ExitCode;
using base::UserError;

constexpr const char* kVerbs[] = {"run",     "sweep", "ab",   "regbench",
                                  "compare", "gate",  "show", "doctor"};

/// Edits (insertions, deletions, replacements) from one word to the other.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

/// "use --depth" for "--dpeth"; for a letter, the same letter in the other case; else the help.
std::string nearest_flag(const std::string& unknown) {
  if (unknown.size() >= 2 && unknown[1] != '-') {
    const char letter = unknown[1];
    for (const Flag& flag : flag_table()) {
      if (flag.letter != 0 && std::tolower(flag.letter) == std::tolower(letter)) {
        return std::string("did you mean -") + flag.letter + " (--" + flag.name +
               ")? uringbench --help lists all";
      }
    }
    return "uringbench --help lists all flags";
  }
  const std::string word = unknown.substr(2, unknown.find('=') - 2);
  std::string best;
  std::size_t best_distance = SIZE_MAX;
  std::vector<std::string> names = {"help", "version"};
  for (const Flag& flag : flag_table()) names.push_back(flag.name);
  for (const auto& name : names) {
    // A word that begins a name is near, however much is missing.
    const std::size_t distance =
        !word.empty() && name.starts_with(word) ? 1 : edit_distance(word, name);
    if (distance < best_distance) {
      best_distance = distance;
      best = name;
    }
  }
  if (best_distance > std::max<std::size_t>(2, word.size() / 3)) {
    return "uringbench --help lists all flags";  // nothing is near
  }
  return "did you mean --" + best + "? uringbench --help lists all";
}

const Flag* find_flag(const std::string& argument) {
  for (const Flag& flag : flag_table()) {
    if (argument == "--" + flag.name) return &flag;
    if (flag.letter != 0 && argument == std::string("-") + flag.letter) return &flag;
  }
  return nullptr;
}

/// "--json=": the value is there, and it is empty.
const Flag* flag_with_empty_value(const std::string& argument) {
  if (!argument.ends_with('=')) return nullptr;
  const Flag* flag = find_flag(argument.substr(0, argument.size() - 1));
  return flag != nullptr && !flag->value.empty() && argument.starts_with("--") ? flag : nullptr;
}

/// "--dry-run=0" would be read as a wish to measure for real.
void refuse_value_of_a_plain_flag(const std::string& argument) {
  const auto equals = argument.find('=');
  if (!argument.starts_with("--") || equals == std::string::npos) return;
  const std::string word = argument.substr(0, equals);
  const Flag* flag = find_flag(word);
  if (word == "--help" || word == "--version" || (flag != nullptr && flag->value.empty())) {
    throw UserError(ExitCode::usage, word + ": takes no value",
                    "leave out " + argument.substr(equals));
  }
}

/// Binds separated values ("-s -5", "--label --x") to their flags, so that a value may begin with a
/// dash. Attached and "=" forms stay as they are; CLI11 reads the result. Empty values are kept
/// from CLI11, which would take the next argument instead (a target as the document's name).
std::vector<std::string> bind_values(const std::vector<std::string>& arguments,
                                     std::vector<const Flag*>& given_empty) {
  std::vector<std::string> bound;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      bound.insert(bound.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i),
                   arguments.end());
      break;
    }
    if (arguments[i].starts_with("---")) {
      throw UserError(ExitCode::usage, "unknown flag " + arguments[i],
                      nearest_flag(arguments[i].substr(1)));
    }
    if (const Flag* empty = flag_with_empty_value(arguments[i])) {
      given_empty.push_back(empty);
      continue;
    }
    refuse_value_of_a_plain_flag(arguments[i]);
    const Flag* flag = find_flag(arguments[i]);
    if (flag == nullptr || flag->value.empty()) {
      bound.push_back(arguments[i]);
      continue;
    }
    if (i + 1 == arguments.size()) {
      throw UserError(ExitCode::usage, "--" + flag->name + ": needs a value (" + flag->value + ")",
                      "uringbench --help");
    }
    if (arguments[++i].empty()) {
      given_empty.push_back(flag);
    } else {
      bound.push_back("--" + flag->name + "=" + arguments[i]);
    }
  }
  return bound;
}

struct Collected {
  std::vector<std::pair<const Flag*, std::string>> flags;  // in the table's order
  std::vector<std::string> files;
  bool help = false;
  bool version = false;
};

void describe(CLI::App& app, Collected& collected) {
  app.set_help_flag();
  app.add_option("FILE", collected.files);
  for (const Flag& flag : flag_table()) {
    std::string names = "--" + flag.name;
    if (flag.letter != 0) names = std::string("-") + flag.letter + "," + names;
    if (flag.value.empty()) {
      app.add_flag_callback(names,
                            [&collected, &flag] { collected.flags.emplace_back(&flag, ""); });
    } else {
      const auto keep = [&collected, &flag](const std::string& text) {
        collected.flags.emplace_back(&flag, text);
      };
      // The last of several wins, as getopt programs have it.
      app.add_option_function<std::string>(names, keep)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }
  app.add_flag("-h,--help", collected.help);
  app.add_flag("--version", collected.version);
}

/// What CLI11 found wrong, in our words.
[[noreturn]] void rethrow(const CLI::ParseError& error, const CLI::App& app) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto remaining = app.remaining();
    const std::string unknown = remaining.empty() ? std::string(error.what()) : remaining.front();
    throw UserError(ExitCode::usage, "unknown flag " + unknown,
                    unknown.size() < 2 ? "" : nearest_flag(unknown));
  }
  throw UserError(ExitCode::usage, error.what(), "uringbench --help");
}

}  // namespace

Parsed parse(const std::vector<std::string>& arguments) {
  Parsed parsed;
  plan::Options& options = parsed.options;
  std::vector<std::string> rest = arguments;
  if (!rest.empty() &&
      std::find(std::begin(kVerbs), std::end(kVerbs), rest[0]) != std::end(kVerbs)) {
    if (rest[0] != "run") {
      throw UserError(ExitCode::usage, rest[0] + ": this verb is not available in this version",
                      "a file of that name is reached as ./" + rest[0]);
    }
    options.door = plan::Door::run;
    options.runtime_ns = 5'000'000'000;
    options.warmup_ns = 1'000'000'000;
    options.repeats = 6;
    rest.erase(rest.begin());
  }

  Collected collected;
  CLI::App app;
  describe(app, collected);
  std::vector<const Flag*> given_empty;
  std::vector<std::string> bound = bind_values(rest, given_empty);
  for (const Flag* flag : given_empty) collected.flags.emplace_back(flag, "");
  std::reverse(bound.begin(), bound.end());  // CLI11 takes them from the back
  try {
    app.parse(bound);
  } catch (const CLI::ParseError& error) {
    rethrow(error, app);
  }
  if (collected.help) {
    parsed.action = Parsed::Action::help;
    return parsed;
  }
  if (collected.version) {
    parsed.action = Parsed::Action::version;
    return parsed;
  }
  options.files = collected.files;
  std::vector<base::Problem> problems;
  for (const auto& [flag, text] : collected.flags) {
    try {
      flag->set(options, text);
      options.given[flag->name] = "command line";
    } catch (const UserError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  if (!problems.empty()) throw UserError(std::move(problems));
  return parsed;
}

}  // namespace uringbench::command
