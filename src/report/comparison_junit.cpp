// A comparison as JUnit XML: a suite per label, a case per cell and gated metric.
//
// What a case becomes follows the exit code of the same rows, since a pipeline shall not be green
// in one place and red in the other. REGRESSED and UNKNOWN are failures: a change is shown, or was
// looked for and could not be excluded. INSUFFICIENT, MISSING and NOT-COMPARABLE are errors: there
// is nothing to judge. "Skipped" is green in most viewers, so it is only for what was explicitly
// forgiven (--allow-inconclusive, --warn-only). A suite without cases would be green too; it gets
// one that says that nothing was compared.
#include <fmt/format.h>

#include <pugixml.hpp>

#include "report/comparison_view.hpp"
#include "report/comparison_words.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace uringbench::report {
namespace {

using compare::Comparison;
using compare::Contrast;
using compare::MetricRow;
using compare::Outcome;
using compare::Verdict;

enum class Kind { passed, failure, error, skipped };

struct Case {
  std::string name;
  Kind kind = Kind::passed;
  std::string type;     ///< "REGRESSED"
  std::string message;  ///< one line
  std::string figures;
};
struct Suite {
  std::string name;
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<Case> cases;
};

Kind kind_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::not_comparable:
    case Verdict::missing:
    case Verdict::insufficient:
      return Kind::error;
    case Verdict::regressed:
    case Verdict::unknown:
      return Kind::failure;
    case Verdict::improved:
    case Verdict::small:
    case Verdict::same:
      return Kind::passed;
  }
  return Kind::error;
}

Kind kind_of(Outcome outcome, bool forgiven) {
  switch (outcome) {
    case Outcome::passed:
      return Kind::passed;
    case Outcome::regression:
    case Outcome::inconclusive:
      return forgiven ? Kind::skipped : Kind::failure;
    case Outcome::not_comparable:
    case Outcome::missing:
      return Kind::error;
  }
  return Kind::error;
}

// XML 1.0 has no place for U+FFFE and U+FFFF either.
std::string xml_text(std::string_view text) {
  std::string out = unglued(printable(text));
  for (const char* refused : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at; (at = out.find(refused)) != std::string::npos;) out.replace(at, 3, "?");
  }
  return out;
}

std::string row_name(const Comparison& comparison, const compare::CellRow& cell,
                     const MetricRow& row) {
  return cell_words(cell) + ' ' + comparison.metrics.at(row.metric).title;
}

std::vector<std::pair<std::string, std::string>> properties_of(const Comparison& comparison,
                                                               std::size_t label) {
  std::vector<std::pair<std::string, std::string>> properties{
      {"from", comparison.labels.at(0).name},
      {"to", comparison.labels.at(label).name},
      {"unit", "run"},
      {"design", comparison.paired ? "paired by block" : "independent"},
      {"alpha", fmt::format("{:g}", comparison.options.alpha)},
      {"confidence", fmt::format("{:g}", comparison.options.confidence)},
      {"family", std::to_string(comparison.family)}};
  for (std::size_t i = 0; i < comparison.metrics.size(); ++i) {
    if (!comparison.metrics[i].gated) continue;
    const auto [smallest, largest] = effects_of(comparison, i);
    properties.emplace_back("min_effect " + comparison.metrics[i].name,
                            smallest == largest ? fmt::format("{:g}", smallest)
                                                : fmt::format("{:g} to {:g}", smallest, largest));
  }
  for (const compare::Difference& difference : comparison.differences) {
    properties.emplace_back("differs", difference_words(difference));
  }
  return properties;
}

Suite verdict_suite(const Comparison& comparison, std::size_t label) {
  Suite suite{label_words(comparison, label) + " against " + label_words(comparison, 0),
              properties_of(comparison, label),
              {}};
  for (const compare::CellRow& cell : comparison.cells) {
    for (const MetricRow& row : cell.metrics) {
      const Contrast* contrast = contrast_to(row.contrasts, label);
      if (!comparison.metrics.at(row.metric).gated || contrast == nullptr) continue;
      const std::string word = compare::verdict_word(contrast->verdict, row.min_effect);
      const std::string figures = figures_words(comparison, row, *contrast);
      const std::string reason = reason_words(comparison, row, *contrast);
      suite.cases.push_back({row_name(comparison, cell, row), kind_of(contrast->verdict), word,
                             reason.empty() ? figures : reason, figures + ": " + word});
    }
  }
  return suite;
}

Suite gate_suite(const Comparison& comparison, const compare::GateResult& gate) {
  Suite suite{"gate", {}, {}};
  if (comparison.labels.size() > 1) {
    suite.name = label_words(comparison, 1) + " against " + label_words(comparison, 0);
    suite.properties = properties_of(comparison, 1);
  }
  suite.properties.emplace_back("exit_code", std::to_string(static_cast<int>(gate.code)));
  const bool forgiven = gate.code == base::ExitCode::done && gate.strict_code != gate.code;
  for (const compare::GateRow& row : gate.rows) {
    Case one{gate_row_words(comparison, row), kind_of(row.outcome, forgiven),
             compare::outcome_word(row.outcome), row.reason, ""};
    one.figures = fmt::format("margin {}", effect_words(row.margin));
    if (row.cell && *row.cell < comparison.cells.size()) {
      const MetricRow* figures = row_of(comparison.cells[*row.cell], row.metric);
      const Contrast* contrast = figures != nullptr ? contrast_to(figures->contrasts, 1) : nullptr;
      if (contrast != nullptr) {
        one.figures += ", " + figures_words(comparison, *figures, *contrast);
      }
    }
    if (one.message.empty()) one.message = one.figures;
    suite.cases.push_back(std::move(one));
  }
  for (const compare::Note& note : gate.notes) {
    suite.properties.emplace_back("note", note.message);
  }
  return suite;
}

void add_case(pugi::xml_node& parent, const Suite& suite, const Case& one) {
  pugi::xml_node node = parent.append_child("testcase");
  const auto attribute = [](pugi::xml_node& to, const char* name, const std::string& value) {
    to.append_attribute(name) = xml_text(value).c_str();
  };
  attribute(node, "classname", suite.name);
  attribute(node, "name", one.name);
  node.append_attribute("time") = "0";
  if (one.kind != Kind::passed) {
    const char* element = one.kind == Kind::failure ? "failure"
                          : one.kind == Kind::error ? "error"
                                                    : "skipped";
    pugi::xml_node child = node.append_child(element);
    attribute(child, "message", one.type + ": " + one.message);
    if (one.kind == Kind::skipped) return;
    attribute(child, "type", one.type);
    child.text() = xml_text(one.figures + '.').c_str();
    return;
  }
  node.append_child("system-out").text() = xml_text(one.figures).c_str();
}

struct Counts {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  void add(Kind kind) {
    ++tests;
    failures += kind == Kind::failure ? 1 : 0;
    errors += kind == Kind::error ? 1 : 0;
    skipped += kind == Kind::skipped ? 1 : 0;
  }
  void add(const Counts& more) {
    tests += more.tests;
    failures += more.failures;
    errors += more.errors;
    skipped += more.skipped;
  }
  void write_to(pugi::xml_node& node) const {
    const auto write = [&](const char* name, std::size_t count) {
      node.append_attribute(name) = std::to_string(count).c_str();
    };
    write("tests", tests);
    write("failures", failures);
    write("errors", errors);
    write("skipped", skipped);
  }
};

Counts add_suite(pugi::xml_node& parent, Suite suite) {
  if (suite.cases.empty()) {
    suite.cases.push_back({"nothing was compared", Kind::error, "MISSING",
                           "no cell has a gated metric", "nothing was measured"});
  }
  Counts counts;
  for (const Case& one : suite.cases) counts.add(one.kind);
  pugi::xml_node node = parent.append_child("testsuite");
  node.append_attribute("name") = xml_text(suite.name).c_str();
  counts.write_to(node);
  node.append_attribute("time") = "0";
  pugi::xml_node properties = node.append_child("properties");
  for (const auto& [name, value] : suite.properties) {
    pugi::xml_node property = properties.append_child("property");
    property.append_attribute("name") = xml_text(name).c_str();
    property.append_attribute("value") = xml_text(value).c_str();
  }
  for (const Case& one : suite.cases) add_case(node, suite, one);
  return counts;
}

struct StringWriter : pugi::xml_writer {
  std::string text;
  void write(const void* data, std::size_t size) override {
    text.append(static_cast<const char*>(data), size);
  }
};

}  // namespace

std::string comparison_junit(const Comparison& comparison, const compare::GateResult* gate) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("testsuites");
  root.append_attribute("name") = gate != nullptr ? "uringbench gate" : "uringbench compare";
  Counts counts;
  if (gate != nullptr) {
    counts.add(add_suite(root, gate_suite(comparison, *gate)));
  } else {
    for (std::size_t label = 1; label < comparison.labels.size(); ++label) {
      counts.add(add_suite(root, verdict_suite(comparison, label)));
    }
    if (comparison.labels.size() < 2) counts.add(add_suite(root, {"compare", {}, {}}));
  }
  counts.write_to(root);
  StringWriter writer;
  document.save(writer, "  ", pugi::format_default, pugi::encoding_utf8);
  return writer.text;
}

}  // namespace uringbench::report
