#include <fmt/format.h>
#include <signal.h>

#include <exception>
#include <string>
#include <vector>

#include "base/base.hpp"
#include "command/command.hpp"
#include "command/console.hpp"
#include "command/doctor.hpp"
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
    default:
      return run(options, argv, console);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Console console;
  try {
    Console::open_standard_streams();
    std::vector<std::string> arguments(argv, argv + argc);
    if (arguments.empty()) arguments.emplace_back("uringbench");
    return dispatch(arguments, console);
  } catch (const base::UserError& error) {
    for (const auto& problem : error.problems()) console.error(problem);
    return static_cast<int>(error.code());
  } catch (const base::SystemError& error) {
    console.error(error.problem());
    return static_cast<int>(error.problem().code);
  } catch (const std::bad_alloc&) {
    console.error({base::ExitCode::cannot, "out of memory", "use a smaller --depth"});
    return static_cast<int>(base::ExitCode::cannot);
  } catch (const std::exception& error) {
    console.error({base::ExitCode::internal, fmt::format("internal error: {}", error.what()), ""});
    return static_cast<int>(base::ExitCode::internal);
  }
}

}  // namespace uringbench::command
