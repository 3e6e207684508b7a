#include "command/parse.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "base/base.hpp"
#include "command/flags.hpp"
#include "command/nearest.hpp"

namespace uringbench::command {
namespace {

using base::ExitCode;
using base::UserError;

/// Verbs of the contract that this version does not have.
constexpr const char* kLaterVerbs[] = {"sweep", "ab", "regbench"};

/// "did you mean --depth?" for "--dpeth"; for a letter, the same letter in the other case.
std::string meant_flag(const std::string& unknown, const Verb& verb) {
  std::vector<std::string> names = {"help", "version"};
  for (const Flag& flag : flag_table()) {
    if ((flag.verbs & verb.bit) == 0) continue;
    names.push_back(flag.name);
    if (unknown[1] != '-' && flag.letter != 0 &&
        std::tolower(flag.letter) == std::tolower(unknown[1])) {
      return std::string("did you mean -") + flag.letter + " (--" + flag.name +
             ")? uringbench --help lists all";
    }
  }
  std::optional<std::string> best;
  if (unknown[1] == '-') {
    const std::string word = unknown.substr(2, unknown.find('=') - 2);
    best = nearest(word, names, std::max<std::size_t>(2, word.size() / 3));
  }
  return best ? "did you mean --" + *best + "? uringbench --help lists all"
              : "uringbench --help lists all flags";
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

/// What "--" between the files of two sides becomes, so that CLI11 takes it for a word.
const std::string kBetweenSides = "\n--\n";

/// Ends the options with the "--" at `begin`. Of compare and gate it, too, may stand between sides.
void bind_files(std::vector<std::string>::const_iterator begin,
                std::vector<std::string>::const_iterator end, const Verb& verb,
                std::vector<std::string>& bound) {
  bound.push_back(*begin);
  for (++begin; begin != end; ++begin) {
    const bool between = *begin == "--" && (verb.bit & kComparing) != 0;
    bound.push_back(between ? kBetweenSides : *begin);
  }
}

/// Binds separated values ("-s -5", "--label --x") to their flags, so that a value may begin with a
/// dash. Attached and "=" forms stay as they are; CLI11 reads the result. Empty values are kept
/// from CLI11, which would take the next argument instead (a target as the document's name).
std::vector<std::string> bind_values(const std::vector<std::string>& arguments, const Verb& verb,
                                     std::vector<const Flag*>& given_empty) {
  std::vector<std::string> bound;
  bool any_file = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      if (any_file && (verb.bit & kComparing) != 0) {
        bound.push_back(kBetweenSides);
        continue;
      }
      bind_files(arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end(), verb, bound);
      break;
    }
    any_file |= !arguments[i].starts_with('-');
    if (arguments[i].starts_with("---")) {
      throw UserError(ExitCode::usage, "unknown flag " + arguments[i],
                      meant_flag(arguments[i].substr(1), verb));
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
    if (flag->value_optional) {
      bound.push_back(arguments[i] + "=" + flag->bare_value);
      continue;
    }
    if (i + 1 == arguments.size()) {
      if ((flag->verbs & verb.bit) == 0) {  // that, and not the value, is what is wrong
        given_empty.push_back(flag);
        continue;
      }
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
        std::size_t begin = 0;
        if (flag.repeatable) {
          for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos;) {
            collected.flags.emplace_back(&flag, text.substr(begin, end - begin));
            begin = end + 1;
          }
        }
        collected.flags.emplace_back(&flag, text.substr(begin));
      };
      // The last of several wins, as getopt programs have it. Those that add up CLI11 joins by line
      // breaks; given a comma to join by, it would drop empty parts and take the next word instead.
      app.add_option_function<std::string>(names, keep)
          ->multi_option_policy(flag.repeatable ? CLI::MultiOptionPolicy::Join
                                                : CLI::MultiOptionPolicy::TakeLast);
    }
  }
  app.add_flag("-h,--help", collected.help);
  app.add_flag("--version", collected.version);
}

/// What CLI11 found wrong, in our words.
[[noreturn]] void rethrow(const CLI::ParseError& error, const CLI::App& app, const Verb& verb) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto remaining = app.remaining();
    const std::string unknown = remaining.empty() ? std::string(error.what()) : remaining.front();
    throw UserError(ExitCode::usage, "unknown flag " + unknown,
                    unknown.size() < 2 ? "" : meant_flag(unknown, verb));
  }
  throw UserError(ExitCode::usage, error.what(), "uringbench --help");
}

/// The verb that the first word names; the classic door else.
const Verb& find_verb(const std::vector<std::string>& arguments) {
  const std::string word = arguments.empty() ? "" : arguments[0];
  for (const char* later : kLaterVerbs) {
    if (word == later) {
      throw UserError(ExitCode::usage, word + ": this verb is not available in this version",
                      "a file of that name is reached as ./" + word);
    }
  }
  for (const Verb& verb : verb_table()) {
    if (word == verb.name) return verb;
  }
  return verb_table().front();
}

Parsed::Action action_of(const Verb& verb) {
  switch (verb.bit) {
    case kShow:
      return Parsed::Action::show;
    case kDoctor:
      return Parsed::Action::doctor;
    case kCompare:
      return Parsed::Action::compare;
    case kGate:
      return Parsed::Action::gate;
    default:
      return Parsed::Action::run;
  }
}

plan::Options defaults_of(const Verb& verb) {
  plan::Options options;
  if (verb.name == "run") {
    options.door = plan::Door::run;
    options.runtime_ns = kRunRuntimeNs;
    options.warmup_ns = kRunWarmupNs;
    options.repeats = kRunRepeats;
  }
  return options;
}

/// The words of each side: those between two "--", or each for itself where nothing divides them.
std::vector<std::vector<std::string>> divide_into_sides(const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> groups = {{}};
  for (const auto& word : words) {
    if (word == kBetweenSides) {
      groups.emplace_back();
    } else {
      groups.back().push_back(word);
    }
  }
  if (groups.size() > 1) return groups;
  std::vector<std::vector<std::string>> sides;
  for (const auto& word : words) sides.push_back({word});
  return sides;
}

/// One document may hold two arms: whether one side suffices is seen when it has been read.
void check_sides(const Verb& verb, const std::vector<std::vector<std::string>>& sides,
                 std::vector<base::Problem>& problems) {
  const std::string way = "uringbench " + verb.name + " BASE.json NEW.json";
  if (sides.empty()) {
    problems.push_back({ExitCode::usage, verb.name + ": no result is given",
                        way + "; uringbench run --json BASE.json FILE writes one"});
  }
  for (const auto& side : sides) {
    if (side.empty()) {
      problems.push_back({ExitCode::usage, verb.name + ": no file on one side of --",
                          "uringbench " + verb.name + " base*.json -- new*.json joins the files " +
                              "of each side; does the pattern match any?"});
    }
  }
  if (verb.bit == kGate && sides.size() > 2) {
    problems.push_back(
        {ExitCode::usage, "gate: takes two sides, got " + std::to_string(sides.size()),
         way + "; several files of a side are joined by commas, or by -- between the sides"});
  }
}

/// How many files a measurement needs is for the plan to say.
void check_files(const Verb& verb, const std::vector<std::string>& files,
                 std::vector<base::Problem>& problems) {
  if (verb.bit != kShow || files.size() == 1) return;
  problems.push_back({ExitCode::usage,
                      files.empty() ? "show: no RESULT.json is given"
                                    : "show: draws one RESULT.json, got " +
                                          std::to_string(files.size()) + " files",
                      "uringbench show RESULT.json; --json RESULT.json writes one"});
}

}  // namespace

Parsed parse(const std::vector<std::string>& arguments) {
  const Verb& verb = find_verb(arguments);
  std::vector<std::string> rest = arguments;
  if (!verb.name.empty()) rest.erase(rest.begin());

  Collected collected;
  CLI::App app;
  describe(app, collected);
  std::vector<const Flag*> given_empty;
  std::vector<std::string> bound = bind_values(rest, verb, given_empty);
  for (const Flag* flag : given_empty) collected.flags.emplace_back(flag, "");
  std::reverse(bound.begin(), bound.end());  // CLI11 takes them from the back
  try {
    app.parse(bound);
  } catch (const CLI::ParseError& error) {
    rethrow(error, app, verb);
  }
  if (collected.help) return {.action = Parsed::Action::help, .options = {}};
  if (collected.version) return {.action = Parsed::Action::version, .options = {}};

  Parsed parsed{.action = action_of(verb), .options = defaults_of(verb)};
  parsed.options.files = collected.files;
  std::vector<base::Problem> problems;
  for (const auto& [flag, text] : collected.flags) {
    try {
      apply(*flag, verb, parsed.options, text);
      parsed.options.given[flag->name] = "command line";
    } catch (const UserError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  check_files(verb, collected.files, problems);
  if ((verb.bit & kComparing) != 0) {
    parsed.options.files.clear();
    parsed.options.comparing.sides = divide_into_sides(collected.files);
    check_sides(verb, parsed.options.comparing.sides, problems);
  }
  if (!problems.empty()) throw UserError(std::move(problems));
  return parsed;
}

}  // namespace uringbench::command
