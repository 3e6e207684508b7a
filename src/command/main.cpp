#include <fmt/format.h>

#include <exception>
#include <string>
#include <vector>

#include "base/base.hpp"
#include "command/command.hpp"
#include "command/console.hpp"
#include "command/help.hpp"
#include "command/parse.hpp"
#include "command/run.hpp"
#include "command/signals.hpp"
#include "command/version.hpp"

namespace uringbench::command {
namespace {

int dispatch(const std::vector<std::string>& argv, Console& console) {
  const Parsed parsed = parse({argv.begin() + 1, argv.end()});
  switch (parsed.action) {
    case Parsed::Action::help:
      console.text(help_text());
      return console.failed() ? 1 : 0;
    case Parsed::Action::version:
      console.text(version_text());
      return console.failed() ? 1 : 0;
    case Parsed::Action::run:
      break;
  }
  signals::install();
  console.configure(parsed.options.json_path == "-", parsed.options.quiet,
                    parsed.options.log_level);
  return run(parsed.options, argv, console);
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
