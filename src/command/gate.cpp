#include "command/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "command/compare.hpp"
#include "command/nearest.hpp"
#include "compare/compare.hpp"
#include "result/result.hpp"

namespace uringbench::command {
namespace {

using base::ExitCode;
using base::UserError;
using plan::ComparingOptions;
using plan::Options;

std::string read_text(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             &std::fclose);
  if (!file) throw base::SystemError("open", path, errno, "", ExitCode::internal);
  std::string text;
  char part[4096];
  while (const std::size_t size = std::fread(part, 1, sizeof(part), file.get())) {
    text.append(part, size);
  }
  if (std::ferror(file.get()) != 0) {
    throw base::SystemError("read", path, errno, "", ExitCode::internal);
  }
  return text;
}

/// The rules of the file with those of the command line after them.
struct Rules {
  compare::GateRules gate;
  compare::Options terms;
  std::vector<std::string> expected;
  std::string expect_file;
};

void add(const std::vector<std::string>& from, std::vector<std::string>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

void take_gate_file(const ComparingOptions& comparing, Rules& rules) {
  const std::string& path = comparing.gate_file;
  compare::GateFile file = compare::read_gate_file(read_text(path), path);
  rules.gate.margins = std::move(file.margins);
  rules.gate.allow_inconclusive |= file.allow_inconclusive;
  rules.gate.warn_only |= file.warn_only;
  rules.terms.strict_environment |= file.strict_environment;
  add(file.varies, rules.terms.varies);
  add(file.filters, rules.terms.filters);
  if (comparing.gate_metrics.empty()) rules.terms.gate_metrics = std::move(file.metrics);
  if (!comparing.expect.empty()) return;
  rules.expected = std::move(file.expected);
  if (!file.expect_file.empty()) {
    rules.expect_file = std::filesystem::path(path).parent_path() / file.expect_file;
  }
}

/// Without a wish all metrics that have a margin are gated; a wish chooses among them.
void settle_metrics(Rules& rules) {
  const auto with_margin = compare::gated_metrics(rules.gate);
  auto& wanted = rules.terms.gate_metrics;
  if (wanted.empty()) wanted = with_margin;
  for (const auto& metric : wanted) {
    if (std::find(with_margin.begin(), with_margin.end(), metric) != with_margin.end()) continue;
    throw UserError(ExitCode::usage,
                    fmt::format("--gate-metrics: {} has no margin; there is one for {}", metric,
                                listed(with_margin, "and")),
                    fmt::format("give it one, e.g. --margin {}=5%", metric));
  }
}

Rules settle(const ComparingOptions& comparing) {
  Rules rules;
  rules.terms = comparing_terms(comparing);
  rules.terms.gate_metrics = comparing.gate_metrics;
  rules.terms.strict_environment = comparing.strict_env;
  rules.terms.bad_runs_spoil_a_cell = true;
  rules.gate.allow_inconclusive = comparing.allow_inconclusive;
  rules.gate.warn_only = comparing.warn_only;
  rules.expect_file = comparing.expect;
  if (!comparing.gate_file.empty()) take_gate_file(comparing, rules);
  for (const auto& text : comparing.margins) {
    const auto limits = compare::parse_limits("--margin", text);
    rules.gate.margins.insert(rules.gate.margins.end(), limits.begin(), limits.end());
  }
  settle_metrics(rules);
  if (!rules.expect_file.empty()) {
    const auto document = result::load_any(rules.expect_file, result::Detail::figures);
    for (const auto& cell : document.cells) rules.expected.push_back(cell.id);
    if (rules.expected.empty()) {
      throw UserError(ExitCode::missing, rules.expect_file + ": has no cells to expect");
    }
  }
  return rules;
}

}  // namespace

int gate(const Options& options, Console& console) {
  const Rules rules = settle(options.comparing);
  check_output(options, rules.expect_file);
  const auto comparison = compare::compare(sides_of(options.comparing, true), rules.terms);
  const auto result = compare::gate(comparison, rules.gate, rules.expected);
  draw(comparison, &result, options, console);
  if (console.failed()) {
    throw UserError(ExitCode::internal, "the table could not be written to standard output");
  }
  // Other notes stand in the table. This one must not be missed by whoever keeps only stderr.
  for (const auto& note : result.notes) {
    if (note.code == "lenient" || note.code == "no-cell-fits") console.warning(note.message);
  }
  console.verdict(result.line);
  return static_cast<int>(result.code);
}

std::string failed_gate_line(const UserError& error) {
  const auto& problems = error.problems();
  const auto first = std::find_if(problems.begin(), problems.end(), [&](const auto& problem) {
    return problem.code == error.code();
  });
  return fmt::format("uringbench-gate: FAIL code={} cells=0/0 reason={}",
                     static_cast<int>(error.code()), first->what.substr(0, first->what.find('\n')));
}

}  // namespace uringbench::command
