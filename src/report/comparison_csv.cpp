// A comparison as CSV: every number, one line per cell, metric and contrast.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "report/comparison_view.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace uringbench::report {
namespace {

using compare::Comparison;
using compare::Contrast;
using compare::Estimate;
using compare::Figure;
using compare::MetricRow;

std::string number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

const char* unit_word(compare::Unit unit) {
  switch (unit) {
    case compare::Unit::per_second:
      return "per_second";
    case compare::Unit::bytes_per_second:
      return "bytes_per_second";
    case compare::Unit::nanoseconds:
      return "nanoseconds";
    case compare::Unit::fraction:
      return "fraction";
  }
  return "";
}

using Fields = std::vector<std::pair<std::string, std::string>>;  ///< head, value

// One line under construction: every kind of line has the same heads in the same order.
class Line {
 public:
  void add(std::string head, std::string value) {
    fields_.emplace_back(std::move(head), std::move(value));
  }
  void add(std::string head, const std::optional<double>& value) {
    add(std::move(head), number(value));
  }
  void count(std::string head, std::optional<std::size_t> value) {
    add(std::move(head), value ? std::to_string(*value) : "");
  }
  void flag(std::string head, std::optional<bool> value) {
    add(std::move(head), std::string(!value ? "" : *value ? "1" : "0"));
  }
  std::string heads() const { return joined(&Fields::value_type::first); }
  std::string values() const { return joined(&Fields::value_type::second); }

 private:
  std::string joined(std::string Fields::value_type::*part) const {
    std::vector<std::string> words;
    for (const auto& field : fields_) words.push_back(field.*part);
    return csv_line(words);
  }
  Fields fields_;
};

// What a line is about; what is absent leaves its fields empty.
struct Subject {
  const char* kind = "";
  const compare::CellRow* cell = nullptr;
  std::string cell_name;
  std::optional<std::size_t> metric;
  const MetricRow* row = nullptr;
  std::optional<std::size_t> from, to;
  const Contrast* contrast = nullptr;
  const compare::Geomean* geomean = nullptr;
  const compare::GateRow* gate = nullptr;
};

void add_identity(Line& line, const Comparison& comparison, const Subject& subject) {
  const compare::Metric* metric = subject.metric && *subject.metric < comparison.metrics.size()
                                      ? &comparison.metrics[*subject.metric]
                                      : nullptr;
  const auto label = [&](const std::optional<std::size_t>& index) {
    return index ? csv(comparison.labels.at(*index).name) : "";
  };
  line.add("kind", subject.kind);
  line.add("cell", subject.cell != nullptr ? csv(subject.cell->id) : "");
  line.add("cell_name", csv(subject.cell_name));
  line.add("metric", metric != nullptr ? csv(metric->name) : "");
  line.add("unit", metric != nullptr ? std::string(unit_word(metric->unit)) : "");
  line.add("direction", metric == nullptr
                            ? ""
                            : std::string(metric->direction == compare::Direction::higher_is_better
                                              ? "higher-is-better"
                                              : "lower-is-better"));
  line.flag("gated", metric != nullptr ? std::optional(metric->gated) : std::nullopt);
  line.add("from", label(subject.from));
  line.add("to", label(subject.to));
}

void add_estimate(Line& line, const Comparison& comparison, const Subject& subject) {
  const Contrast* contrast = subject.contrast;
  const Estimate* estimate =
      contrast != nullptr && contrast->estimate ? &*contrast->estimate : nullptr;
  const compare::Geomean* geomean = subject.geomean;
  const auto real = [&](double Estimate::*member) {
    return estimate != nullptr ? std::optional(estimate->*member) : std::nullopt;
  };
  const auto size = [&](std::size_t Estimate::*member) {
    return estimate != nullptr ? std::optional(estimate->*member) : std::nullopt;
  };
  const double effect = subject.row != nullptr ? subject.row->min_effect : 0;
  // As in JSON: "<1%" would be another word for every limit.
  line.add("verdict", contrast == nullptr ? std::string()
                      : contrast->verdict == compare::Verdict::small
                          ? std::string("SMALL")
                          : compare::verdict_word(contrast->verdict, 0));
  line.add("min_effect", subject.row != nullptr ? std::optional(effect) : std::nullopt);
  line.add("change", geomean != nullptr ? geomean->change : real(&Estimate::change));
  line.add("ci_low", geomean != nullptr    ? geomean->low
                     : estimate != nullptr ? estimate->low
                                           : std::nullopt);
  line.add("ci_high", geomean != nullptr    ? geomean->high
                      : estimate != nullptr ? estimate->high
                                            : std::nullopt);
  line.add("confidence", std::optional(comparison.options.confidence));
  line.add("coverage", real(&Estimate::coverage));
  line.add("p", real(&Estimate::p));
  line.add("p_holm", estimate != nullptr ? estimate->p_holm : std::nullopt);
  line.add("test", estimate == nullptr
                       ? std::string()
                       : std::string(estimate->paired ? "wilcoxon-signed-rank" : "mann-whitney"));
  line.flag("exact", estimate != nullptr ? std::optional(estimate->exact) : std::nullopt);
  line.add("statistic", real(&Estimate::statistic));
  line.count("n_from", size(&Estimate::n_from));
  line.count("n_to", size(&Estimate::n_to));
  line.count("zeros",
             estimate != nullptr && estimate->paired ? size(&Estimate::zeros) : std::nullopt);
  const bool second = estimate != nullptr && estimate->second_opinion;
  line.add("bootstrap_low", second ? std::optional(estimate->second_opinion->low) : std::nullopt);
  line.add("bootstrap_high", second ? std::optional(estimate->second_opinion->high) : std::nullopt);
  line.count("runs_needed", contrast != nullptr ? contrast->runs_needed : std::nullopt);
  line.add("reason", contrast != nullptr ? csv(contrast->reason) : "");
}

void add_side(Line& line, const Subject& subject, const std::string& side,
              const std::optional<std::size_t>& label) {
  const Figure* one = subject.row != nullptr && label ? &subject.row->figures.at(*label) : nullptr;
  const compare::CellSide* cell =
      subject.cell != nullptr && label && *label < subject.cell->sides.size()
          ? &subject.cell->sides[*label]
          : nullptr;
  line.add("median_" + side, one != nullptr ? one->median : std::nullopt);
  line.add("cv_" + side, one != nullptr ? one->cv : std::nullopt);
  line.add("within_run_cv_" + side, one != nullptr ? one->within_run_cv : std::nullopt);
  line.count("outliers_" + side, one != nullptr ? std::optional(one->outliers) : std::nullopt);
  line.count("runs_" + side, cell != nullptr ? std::optional(cell->runs) : std::nullopt);
  line.count("counted_" + side, cell != nullptr ? std::optional(cell->counted) : std::nullopt);
  line.add("left_out_" + side, cell != nullptr ? csv(join(cell->left_out, "; ")) : "");
  line.add("doubts_" + side, cell != nullptr ? csv(join(cell->doubts, "; ")) : "");
}

Line line_of(const Comparison& comparison, const Subject& subject) {
  Line line;
  add_identity(line, comparison, subject);
  add_estimate(line, comparison, subject);
  add_side(line, subject, "from", subject.from);
  add_side(line, subject, "to", subject.to);
  const compare::Geomean* geomean = subject.geomean;
  line.count("cells", geomean != nullptr ? std::optional(geomean->cells) : std::nullopt);
  line.count("cells_of", geomean != nullptr ? std::optional(geomean->of) : std::nullopt);
  const compare::GateRow* gate = subject.gate;
  line.add("gate_outcome", gate != nullptr ? compare::outcome_word(gate->outcome) : "");
  line.add("gate_margin", gate != nullptr ? std::optional(gate->margin) : std::nullopt);
  line.add("gate_chance_of_false_alarm",
           gate != nullptr ? gate->chance_of_false_alarm : std::nullopt);
  line.add("gate_reason", gate != nullptr ? csv(gate->reason) : "");
  return line;
}

std::string cell_lines(
    const Comparison& comparison, std::size_t index,
    const std::map<std::pair<std::size_t, std::size_t>, const compare::GateRow*>& gates) {
  const compare::CellRow& cell = comparison.cells[index];
  std::string out;
  for (const MetricRow& row : cell.metrics) {
    Subject subject{"contrast", &cell, cell_words(cell), row.metric, &row,
                    {},         {},    nullptr,          nullptr,    nullptr};
    const auto gate = gates.find({index, row.metric});
    if (gate != gates.end()) subject.gate = gate->second;
    const auto add = [&](const Contrast& contrast) {
      subject.contrast = &contrast;
      subject.from = contrast.from;
      subject.to = contrast.to;
      out += line_of(comparison, subject).values();
    };
    for (const Contrast& contrast : row.contrasts) add(contrast);
    subject.kind = "step";
    subject.gate = nullptr;
    for (const Contrast& step : row.steps) add(step);
  }
  return out;
}

}  // namespace

std::string comparison_csv(const Comparison& comparison, const compare::GateResult* gate) {
  std::string out = line_of(comparison, {}).heads();
  std::map<std::pair<std::size_t, std::size_t>, const compare::GateRow*> gates;
  std::vector<const compare::GateRow*> elsewhere;  // expected, but in neither result
  if (gate != nullptr) {
    for (const compare::GateRow& row : gate->rows) {
      if (row.cell) {
        gates[{*row.cell, row.metric}] = &row;
      } else {
        elsewhere.push_back(&row);
      }
    }
  }
  for (std::size_t i = 0; i < comparison.cells.size(); ++i) {
    out += cell_lines(comparison, i, gates);
  }
  for (const compare::Geomean& geomean : comparison.geomeans) {
    Subject subject;
    subject.kind = "geomean";
    subject.metric = geomean.metric;
    subject.from = geomean.from;
    subject.to = geomean.to;
    subject.geomean = &geomean;
    out += line_of(comparison, subject).values();
  }
  for (const compare::GateRow* row : elsewhere) {
    Subject subject;
    subject.kind = "expected";
    subject.cell_name = row->name;
    subject.metric = row->metric;
    subject.gate = row;
    out += line_of(comparison, subject).values();
  }
  return out;
}

}  // namespace uringbench::report
