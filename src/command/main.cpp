#include <fmt/format.h>
#include <signal.h>

#include <exception>
#include <string>
#include <vector>

#include "base/base.hpp"
#include "command/command.hpp"
#include "command/compare.hpp"
#include "command/console.hpp"
#include "command/doctor.hpp"
#include "command/gate.hpp"
#include "command/help.hpp"
#include "command/parse.hpp"
#include "command/run.hpp"
#include "command/show.hpp"
#include "command/signals.hpp"
#include "command/version.hpp"

namespace uringbench::command {
namespace {

int dispatch(const std::vector<std::string>& argv, Console& console) {
  using Action = Parsed::Action;
  const auto [action, options] = parse({argv.begin() + 1, argv.end()});
  if (action == Action::help || action == Action::version) {
    console.text(action == Action::help ? help_text() : version_text());
    return console.reader_left() ? 128 + SIGPIPE : console.failed() ? 1 : 0;
  }
  // The other verbs have nothing to finish or clean up: a signal simply ends them.
  if (action == Action::run) signals::install();
  console.configure(options.json_path == "-" || options.format == "json", options.quiet,
                    options.log_level);
  switch (action) {
    case Action::show:
      return show(options, console);
    case Action::doctor:
      return doctor(options, console);
    case Action::compare:
      signals::survive_failing_writes();
      return compare_results(options, console);
    case Action::gate:
      signals::survive_failing_writes();
      return gate(options, console);
    default:
      return run(options, argv, console);
  }
}

/// Only while an exception is being handled.
std::vector<base::Problem> problems_of_current_exception() {
  try {
    throw;
  } catch (const base::UserError& error) {
    return error.problems();
  } catch (const base::SystemError& error) {
    return {error.problem()};
  } catch (const std::bad_alloc&) {
    return {{base::ExitCode::cannot, "out of memory",
             "use a smaller --depth, or compare smaller results"}};
  } catch (const std::exception& error) {
    return {{base::ExitCode::internal, fmt::format("internal error: {}", error.what()), ""}};
  }
}

}  // namespace

int main(int argc, char** argv) {
  Console console;
  std::vector<std::string> arguments(argv, argv + argc);
  if (arguments.empty()) arguments.emplace_back("uringbench");
  try {
    Console::open_standard_streams();
    return dispatch(arguments, console);
  } catch (...) {
    const base::UserError error(problems_of_current_exception());
    for (const auto& problem : error.problems()) console.error(problem);
    // Whoever waits for the gate's line gets one, also when nothing could be decided.
    if (arguments.size() > 1 && arguments[1] == "gate") {
      console.verdict(failed_gate_line(error));
    }
    return static_cast<int>(error.code());
  }
}

}  // namespace uringbench::command
