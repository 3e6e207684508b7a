#include "command/compare.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string_view>

#include "base/base.hpp"
#include "command/import_argv.hpp"
#include "command/sides.hpp"
#include "report/report.hpp"
#include "result/result.hpp"

namespace uringbench::command {
namespace {

using base::ExitCode;
using plan::ComparingOptions;
using plan::Options;

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Of the page: as wide as the terminal where there is one, within what the tables are made for.
std::size_t page_columns() {
  constexpr std::size_t kLeast = 80, kMost = 100;
  const char* text = std::getenv("COLUMNS");
  const std::string_view given = text != nullptr ? text : "";
  std::size_t columns = 0;
  std::from_chars(given.data(), given.data() + given.size(), columns);
  winsize size{};
  if (columns == 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return std::clamp(columns, kLeast, kMost);
}

bool may_color() {
  const char* refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') && isatty(STDOUT_FILENO) != 0;
}

std::string drawn(const compare::Comparison& comparison, const compare::GateResult* gate,
                  const Options& options, bool color) {
  if (options.format == "md") return report::comparison_markdown(comparison, gate);
  if (options.format == "csv") return report::comparison_csv(comparison, gate);
  if (options.format == "junit") return report::comparison_junit(comparison, gate);
  if (options.format == "json") return compare::to_json(comparison, gate);
  return report::comparison_text(
      comparison, {.columns = page_columns(), .color = color, .explain = options.comparing.explain},
      gate);
}

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

compare::Options comparing_terms(const ComparingOptions& comparing) {
  compare::Options terms;
  terms.varies = comparing.varies;
  terms.metrics = comparing.metrics;
  if (!comparing.gate_metrics.empty()) terms.gate_metrics = comparing.gate_metrics;
  for (const auto& text : comparing.min_effects) {
    const auto limits = compare::parse_limits("--min-effect", text);
    terms.min_effects.insert(terms.min_effects.end(), limits.begin(), limits.end());
  }
  terms.filters = comparing.filters;
  terms.baseline_is_previous = comparing.baseline_is_previous;
  if (comparing.bootstrap) {
    terms.bootstrap_seed = comparing.bootstrap_seed ? *comparing.bootstrap_seed : random_seed();
  }
  return terms;
}

std::vector<compare::Side> sides_of(const ComparingOptions& comparing, bool gate) {
  Loading loading;
  loading.gate = gate;
  if (!comparing.import_argv.empty()) {
    loading.hints = hints_of("--import-argv", comparing.import_argv);
  }
  return load_sides(split_sides(comparing.sides, exists), loading);
}

void check_output(const Options& options, const std::string& also_read) {
  const std::string& output = options.json_path;
  if (output.empty() || output == "-") return;
  std::vector<std::string> inputs = {options.comparing.gate_file, options.comparing.expect,
                                     also_read};
  for (const auto& side : split_sides(options.comparing.sides, exists)) {
    inputs.insert(inputs.end(), side.files.begin(), side.files.end());
  }
  for (const auto& input : inputs) {
    std::error_code ignored;
    if (!input.empty() && std::filesystem::equivalent(input, output, ignored)) {
      throw base::UserError(ExitCode::usage, "--json: " + output + " is one of the files to read",
                            "give the comparison a file of its own");
    }
  }
  result::check_writable(output);
}

void draw(const compare::Comparison& comparison, const compare::GateResult* gate,
          const Options& options, Console& console) {
  if (comparison.options.bootstrap_seed) {
    console.note(fmt::format("--bootstrap: seed {}", *comparison.options.bootstrap_seed));
  }
  const bool document_on_stdout = options.json_path == "-";
  if (document_on_stdout) console.document(compare::to_json(comparison, gate));
  if (!document_on_stdout || options.format != "json") {
    const bool color = options.format == "text" && !document_on_stdout && may_color();
    const std::string text = drawn(comparison, gate, options, color);
    // What programs read goes out as it is: line ends and all.
    const bool for_programs = options.format != "text" && options.format != "md";
    if (for_programs && !document_on_stdout) {
      console.document(text);
    } else if (color) {
      console.colored(text);
    } else {
      console.text(text);
    }
  }
  if (!options.json_path.empty() && !document_on_stdout) {
    result::save_atomically(options.json_path, compare::to_json(comparison, gate));
  }
}

int compare_results(const Options& options, Console& console) {
  check_output(options);
  const auto comparison =
      compare::compare(sides_of(options.comparing, false), comparing_terms(options.comparing));
  draw(comparison, nullptr, options, console);
  if (console.failed()) return static_cast<int>(ExitCode::internal);
  // A verdict that was asked for counts also when nobody reads the table to its end.
  if (console.reader_left() && !options.comparing.exit_verdict) return 128 + SIGPIPE;
  if (options.comparing.exit_verdict) return static_cast<int>(compare::exit_code_of(comparison));
  return static_cast<int>(comparison.cells_compared > 0 ? ExitCode::done
                                                        : ExitCode::not_comparable);
}

}  // namespace uringbench::command
