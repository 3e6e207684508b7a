// A comparison as Markdown that reads well as plain text too: mails show it as it is.
#include <fmt/format.h>

#include <algorithm>

#include "report/comparison_view.hpp"
#include "report/comparison_words.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace uringbench::report {
namespace {

using compare::Comparison;
using compare::Contrast;
using compare::MetricRow;

constexpr std::size_t kMostItems = 15;

using Table = std::vector<std::vector<std::string>>;  ///< the first row is the head

// Pipes under each other.
std::string aligned(const Table& table) {
  std::vector<std::size_t> widths(table.front().size(), 3);
  for (const auto& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string out;
  for (const auto& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) out += "| " + pad(row[i], widths[i]) + ' ';
    out += "|\n";
    if (&row != &table.front()) continue;
    for (const std::size_t width : widths) out += '|' + std::string(width + 2, '-');
    out += "|\n";
  }
  return out;
}

std::string name_of(const Comparison& comparison, std::size_t label) {
  return markdown(label_words(comparison, label));
}

// "2.190 (+16.4% [+15.9,+16.9]) IMPROVED"; without the median where there is no scale.
std::string contrast_cell(const MetricRow& row, const Contrast* contrast, const Scale* scale) {
  if (contrast == nullptr) return "";
  std::vector<std::string> words;
  if (scale != nullptr) {
    const std::optional<double>& median = row.figures.at(contrast->to).median;
    words.push_back(median ? figure(*median, *scale) : "-");
  }
  if (contrast->estimate) {
    const ChangeWords change = change_words(*contrast, row.min_effect);
    const std::string both = change.change + ' ' + change.interval;
    words.push_back(scale != nullptr ? '(' + both + ')' : both);
  }
  words.push_back(compare::verdict_word(contrast->verdict, row.min_effect));
  return join(words, " ");
}

struct NamedRow {
  std::string name;
  const MetricRow* row;
};

Table main_table(const Comparison& comparison, const std::vector<NamedRow>& rows) {
  std::vector<const MetricRow*> all;
  for (const NamedRow& one : rows) all.push_back(one.row);
  const std::optional<Scale> common = common_scale(comparison, all);
  Table table(1, {common ? common->name : "cell", name_of(comparison, 0)});
  for (std::size_t label = 1; label < comparison.labels.size(); ++label) {
    table[0].push_back(name_of(comparison, label));
  }
  for (const auto& [name, row] : rows) {
    const Scale scale = common ? *common : row_scale(comparison, *row);
    const std::optional<double>& base = row->figures.at(0).median;
    const std::string unit = common ? "" : ' ' + scale.name;
    table.push_back({name, base ? figure(*base, scale) + unit : "-"});
    for (std::size_t label = 1; label < comparison.labels.size(); ++label) {
      table.back().push_back(contrast_cell(*row, contrast_to(row->contrasts, label), &scale));
    }
  }
  return table;
}

Table step_table(const Comparison& comparison, const std::vector<NamedRow>& rows) {
  Table table(1, {"cell"});
  for (const NamedRow& one : rows) table.push_back({one.name});
  for (std::size_t label = 2; label < comparison.labels.size(); ++label) {
    const Contrast* named = nullptr;
    std::vector<std::string> cells;
    for (const NamedRow& one : rows) {
      const Contrast* step = contrast_to(one.row->steps, label);
      if (step != nullptr) named = step;
      cells.push_back(contrast_cell(*one.row, step, nullptr));
    }
    if (named == nullptr) continue;
    table[0].push_back(name_of(comparison, named->from) + " -> " + name_of(comparison, named->to));
    for (std::size_t i = 0; i < rows.size(); ++i) table[i + 1].push_back(cells[i]);
  }
  return table;
}

// "geomean over 3 of 3 cells: patch1-10 +9.7%, patch11 +12.3%".
std::string geomean_line(const Comparison& comparison, std::size_t metric) {
  Gathered means;
  if (comparison.cells.size() < 2) return "";  // the mean of one cell is that cell
  for (const compare::Geomean& one : comparison.geomeans) {
    if (one.metric != metric || one.from != 0 || !one.change) continue;
    const ChangeWords words = change_words(*one.change, one.low, one.high, 0);
    means.add("", fmt::format("geomean over {} of {}: ", one.cells, count_of(one.of, "cell")),
              name_of(comparison, one.to) + ' ' + words.change +
                  (one.low || one.high ? ' ' + words.interval : ""));
  }
  std::string out;
  for (const Gathered::Entry& entry : means.entries()) {
    out += wrap("", entry.what + list(entry.places), 0);
  }
  return out.empty() ? "" : '\n' + out;
}

std::string item(const std::string& text) { return wrap("- ", markdown(text), 2); }

std::string more_items(std::size_t more) {
  return more == 0 ? "" : fmt::format("- and {} more: `--format csv` shows all\n", more);
}

std::string gate_items(const Comparison& comparison, const compare::GateResult& gate) {
  Gathered rows;
  for (const compare::GateRow& row : gate.rows) {
    if (row.outcome == compare::Outcome::passed) continue;
    rows.add(compare::outcome_word(row.outcome),
             fmt::format(", margin {}: {}", effect_words(row.margin), printable(row.reason)),
             gate_row_words(comparison, row));
  }
  std::string out = item("gate: " + gate_summary(gate));
  for (const Gathered::Entry& entry : rows.entries()) {
    out += item(entry.word + ' ' + places_words(entry.places) + entry.what);
  }
  for (const compare::Note& note : gate.notes) out += item(printable(note.message));
  return out;
}

// What somebody must do something about.
std::string items(const Comparison& comparison, const compare::GateResult* gate) {
  std::string out = gate != nullptr ? gate_items(comparison, *gate) : "";
  for (const compare::Difference& difference : comparison.differences) {
    const bool fatal = difference.kind == compare::Difference::Kind::fatal;
    if (!fatal && difference.kind != compare::Difference::Kind::warning) continue;
    out += item((fatal ? "not comparable: " : "warning: ") + difference_words(difference));
  }
  std::size_t shown = 0, more = 0;
  // What the gate says of a row, it has said already.
  for (const Remark& remark : gate == nullptr ? remarks_of(comparison) : std::vector<Remark>{}) {
    if (++shown > kMostItems) {
      more += remark.rows;
    } else {
      out += item(remark.word + ' ' + remark.places + ": " + remark.words);
    }
  }
  for (const Gathered::Entry& loss : losses_of(comparison)) {
    if (++shown > kMostItems) {
      ++more;
    } else {
      out += item(loss.word + ' ' + loss.what + ", in " + places_words(loss.places));
    }
  }
  out += more_items(more);
  for (const compare::Note& note : comparison.notes) out += item(printable(note.message));
  return out;
}

}  // namespace

namespace {

// "randread, 4k, 1 thread, …; runs a cell: base 12, new 12".
std::string measured_words(const Comparison& comparison) {
  std::vector<std::string> words;
  for (const std::string& same : comparison.same) words.push_back(printable(same));
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < comparison.labels.size(); ++i) {
    runs.push_back(fmt::format("{} {}", label_words(comparison, i), comparison.labels[i].counted));
  }
  words.push_back("runs that count in each cell: " + join(runs, ", "));
  return join(words, "; ");
}

}  // namespace

std::string comparison_markdown(const Comparison& comparison, const compare::GateResult* gate) {
  std::string out;
  for (const std::size_t metric : metrics_in_full(comparison)) {
    std::vector<NamedRow> rows;
    for (const compare::CellRow& cell : comparison.cells) {
      const MetricRow* row = row_of(cell, metric);
      if (row != nullptr) rows.push_back({markdown(cell_words(cell)), row});
    }
    if (rows.empty()) continue;
    out += fmt::format("{}{} ({})\n\n", out.empty() ? "" : "\n",
                       markdown(printable(comparison.metrics[metric].title)),
                       direction_words(comparison.metrics[metric]));
    out += aligned(main_table(comparison, rows));
    const Table steps = step_table(comparison, rows);
    if (steps.front().size() > 1) out += '\n' + aligned(steps);
    out += geomean_line(comparison, metric);
  }
  if (out.empty()) {
    out = "Nothing to compare: there is no cell.\n";
  } else {
    out += '\n' + wrap("", markdown("Medians over runs; " + method_words(comparison) + '.'), 0);
  }
  std::vector<std::string> varies;
  for (const compare::Difference& difference : comparison.differences) {
    if (difference.kind == compare::Difference::Kind::free ||
        difference.kind == compare::Difference::Kind::declared) {
      varies.push_back(difference_words(difference));
    }
  }
  if (const std::string words = measured_words(comparison); !words.empty()) {
    out += wrap("", markdown("Measured: " + words + '.'), 0);
  }
  if (!varies.empty()) out += wrap("", markdown("Varies: " + join(varies, "; ") + '.'), 0);
  const std::string to_do = items(comparison, gate);
  if (!to_do.empty()) out += '\n' + to_do;
  return out + '\n' + wrap("", verdict_line(comparison), 0);
}

}  // namespace uringbench::report
