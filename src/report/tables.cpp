// The summary as a table to paste and as a table to calculate with.
#include <fmt/format.h>

#include <algorithm>

#include "report/cell_view.hpp"
#include "report/figures.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace uringbench::report {
namespace {

using result::Cell;
using result::Document;

// --- Markdown ---

struct Column {
  std::string title;
  std::vector<std::string> values;  ///< one per cell; "" where there is none
  bool always = false;              ///< also when no cell has a value
};

std::string interval_words(const Figures& figures) {
  if (!figures.several) return "";
  const auto& interval = figures.several->ci95;
  if (!interval) return fmt::format("none below 6 runs");
  return base::format_iops(interval->low) + " … " + base::format_iops(interval->high);
}

std::string runs_words(const Cell& cell, const Shown& shown) {
  if (!shown.finished) return fmt::format("{}, none finished", cell.runs.size());
  if (shown.runs.size() == cell.runs.size()) return std::to_string(cell.runs.size());
  return fmt::format("{} of {}", shown.runs.size(), cell.runs.size());
}

std::string trouble_words(const Cell& cell, const Trouble& trouble) {
  std::vector<std::string> words;
  if (trouble.errors.count > 0) {
    words.push_back(
        fmt::format("{} ({})", trouble.errors.count, join(errno_counts(trouble.errors), ", ")));
  }
  if (trouble.short_reads > 0) words.push_back(count_of(trouble.short_reads, "short read"));
  const auto runs = [&](std::size_t some, const char* what) {
    if (some > 0) words.push_back(fmt::format("{} of {} runs {}", some, cell.runs.size(), what));
  };
  runs(trouble.stalled, "stalled");
  runs(trouble.interrupted, "interrupted");
  runs(trouble.unsteady, "unsteady");
  return words.empty() ? "none" : join(words, ", ");
}

std::vector<Column> columns_of(const Document& document) {
  std::vector<Column> columns{{"cell", {}, true},
                              {"runs", {}, true},
                              {"IOPS, median", {}, true},
                              {"95% CI", {}},
                              {"bandwidth", {}},
                              {"p50", {}},
                              {"p99", {}},
                              {"CPU per I/O", {}},
                              {"SQPOLL with work", {}},
                              {"its CPU per I/O", {}},
                              {"errors, doubts", {}, true}};
  const auto duration = [](const std::optional<double>& nanoseconds) {
    return nanoseconds ? base::format_duration(*nanoseconds) : "";
  };
  for (const Cell& cell : document.cells) {
    const Shown shown = shown_runs(cell);
    const Figures figures = figures_of(cell, shown);
    const auto& bandwidth = figures.bytes_per_second;
    const auto& busy = figures.poller_utilisation;
    const std::vector<std::string> values{cell_title(cell),
                                          runs_words(cell, shown),
                                          figures.iops ? base::format_iops(*figures.iops) : "none",
                                          interval_words(figures),
                                          bandwidth ? base::format_bandwidth(*bandwidth) : "",
                                          duration(figures.latency_p50_ns),
                                          duration(figures.latency_p99_ns),
                                          duration(figures.cpu_per_io_ns),
                                          busy ? percent(*busy) : "",
                                          duration(figures.poller_per_io_ns),
                                          trouble_words(cell, trouble_of(cell))};
    for (std::size_t i = 0; i < columns.size(); ++i) {
      columns[i].values.push_back(markdown(values[i]));
    }
  }
  return columns;
}

// Of several cells with the same engine, one line is enough.
std::string engine_lines(const Document& document) {
  std::vector<std::pair<std::string, std::string>> lines;  // title, words
  for (const Cell& cell : document.cells) {
    const std::string words = engine_words(cell);
    if (!words.empty()) lines.emplace_back(cell_title(cell), words);
  }
  const bool all_same = std::all_of(lines.begin(), lines.end(), [&](const auto& line) {
    return line.second == lines.front().second;
  });
  if (all_same && !lines.empty()) lines = {{"", lines.front().second}};
  std::string out;
  for (const auto& [title, words] : lines) {
    const std::string which = title.empty() ? "" : fmt::format(" of {}", markdown(title));
    out += fmt::format("- Engine{}: {}\n", which, markdown(words));
  }
  return out;
}

// --- CSV ---

using Field = std::pair<std::string, std::string>;  ///< head, value

void add_settings(std::vector<Field>& fields, const Cell& cell) {
  fields.emplace_back("engine", csv(text_in_force(cell, "engine").value_or("")));
  for (const char* key :
       {"depth", "batch_submit", "batch_complete", "block_size_bytes", "threads"}) {
    const auto number = number_in_force(cell, key);
    fields.emplace_back(key, number ? std::to_string(*number) : "");
  }
  for (const char* key : {"random", "polled", "direct", "sqpoll"}) {
    const auto flag = flag_in_force(cell, key);
    fields.emplace_back(key, !flag ? "" : *flag ? "1" : "0");
  }
}

void add_figures(std::vector<Field>& fields, const Figures& figures) {
  const auto add = [&](const char* head, const std::optional<double>& figure) {
    fields.emplace_back(head, figure ? fmt::format("{}", *figure) : "");
  };
  const auto& several = figures.several;
  const auto of_several = [&](const char* head, double result::SummaryFigure::*member) {
    add(head, several ? std::optional((*several).*member) : std::nullopt);
  };
  const auto of_interval = [&](const char* head, double stats::MedianInterval::*member) {
    const bool there = several && several->ci95;
    add(head, there ? std::optional((*several->ci95).*member) : std::nullopt);
  };
  add("iops_median", figures.iops);
  of_several("iops_mean", &result::SummaryFigure::mean);
  of_several("iops_min", &result::SummaryFigure::min);
  of_several("iops_max", &result::SummaryFigure::max);
  add("iops_cv", several ? several->cv : std::nullopt);
  of_interval("iops_ci95_low", &stats::MedianInterval::low);
  of_interval("iops_ci95_high", &stats::MedianInterval::high);
  of_interval("iops_ci95_coverage", &stats::MedianInterval::coverage);
  add("bandwidth_bytes_per_second", figures.bytes_per_second);
  add("latency_mean_ns", figures.latency_mean_ns);
  add("latency_p50_ns", figures.latency_p50_ns);
  add("latency_p99_ns", figures.latency_p99_ns);
  add("latency_p99.9_ns", figures.latency_p999_ns);
  add("latency_max_ns", figures.latency_max_ns);
  add("cpu_per_io_ns", figures.cpu_per_io_ns);
  add("submitters_cpu_per_io_ns", figures.submitters_per_io_ns);
  add("sqpoll_cpu_per_io_ns", figures.poller_per_io_ns);
  add("sqpoll_utilisation", figures.poller_utilisation);
}

std::vector<Field> csv_fields(const Document& document, const Cell& cell) {
  const Shown shown = shown_runs(cell);
  const Trouble trouble = trouble_of(cell);
  std::vector<Field> fields{{"cell", csv(cell.id)},
                            {"arm", csv(cell.arm.value_or(""))},
                            {"label", csv(document.session.label)}};
  add_settings(fields, cell);
  const auto add = [&](const char* head, std::uint64_t count) {
    fields.emplace_back(head, std::to_string(count));
  };
  add("runs", cell.runs.size());
  add("runs_finished", shown.finished ? shown.runs.size() : 0);
  add_figures(fields, figures_of(cell, shown));
  add("errors", trouble.errors.count);
  add("short_reads", trouble.short_reads);
  add("retries", trouble.retries);
  add("runs_stalled", trouble.stalled);
  add("runs_interrupted", trouble.interrupted);
  add("runs_unsteady", trouble.unsteady);
  std::vector<std::string> targets;
  for (const result::Target& target : document.targets) targets.push_back(target.path);
  fields.emplace_back("targets", csv(join(targets, " ")));
  fields.emplace_back("kernel", csv(document.identity.kernel_release));
  return fields;
}

std::string csv_line(const std::vector<Field>& fields, std::string Field::*part) {
  std::vector<std::string> words;
  for (const Field& field : fields) words.push_back(field.*part);
  return report::csv_line(words);
}

}  // namespace

std::string summary_markdown(const Document& document) {
  std::vector<Column> columns = columns_of(document);
  std::erase_if(columns, [](const Column& column) {
    return !column.always && std::all_of(column.values.begin(), column.values.end(),
                                         [](const std::string& value) { return value.empty(); });
  });
  std::string head, rule = "|";
  for (const Column& column : columns) {
    head += "| " + column.title + ' ';
    rule += column.title == "cell" ? "---|" : "--:|";
  }
  std::string out = head + "|\n" + rule + '\n';
  for (std::size_t i = 0; i < document.cells.size(); ++i) {
    for (const Column& column : columns) {
      out += column.values[i].empty() ? "| " : "| " + column.values[i] + ' ';
    }
    out += "|\n";
  }
  out += '\n' + engine_lines(document);
  for (const result::Target& target : document.targets) {
    out += fmt::format("- Target: {}\n", markdown(target_words(target)));
  }
  if (const std::string words = machine_words(document.identity); !words.empty()) {
    out += fmt::format("- Machine: {}\n", markdown(words));
  }
  for (const auto& [label, codes] : finding_codes(document.findings)) {
    out += fmt::format("- {}: {}\n", markdown(label), markdown(join(codes, ", ")));
  }
  return out;
}

std::string summary_csv(const Document& document) {
  // Without cells there is still a head: a table of no lines.
  std::string out =
      csv_line(csv_fields(document, document.cells.empty() ? Cell{} : document.cells.front()),
               &Field::first);
  for (const Cell& cell : document.cells) {
    out += csv_line(csv_fields(document, cell), &Field::second);
  }
  return out;
}

}  // namespace uringbench::report
