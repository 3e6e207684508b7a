// What is left on the terminal when a run is over.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/cell_view.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace uringbench::report {
namespace {

using result::Cell;
using result::Document;
using result::Run;
using result::SummaryFigure;

// The runs behind the figures of a block. Unfinished ones stay out of medians (summarize() left
// them out), but when there is nothing else, what they measured is shown and marked.
struct Shown {
  std::vector<const Run*> runs;
  bool finished = true;
};

Shown shown_runs(const Cell& cell) {
  Shown shown;
  for (const Run& run : cell.runs) {
    if (!run.interrupted && !run.stalled) shown.runs.push_back(&run);
  }
  if (shown.runs.empty() && !cell.runs.empty()) shown = {{&cell.runs.back()}, false};
  return shown;
}

template <typename Figure>
std::optional<double> median_of(const Shown& shown, Figure figure_of_run) {
  std::vector<double> values;
  for (const Run* run : shown.runs) {
    const std::optional<double> value = figure_of_run(*run);
    if (value) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  return stats::median(values);
}

template <typename Figure>
std::int64_t total_of(const Shown& shown, Figure figure_of_run) {
  std::int64_t total = 0;
  for (const Run* run : shown.runs) total += static_cast<std::int64_t>(figure_of_run(*run));
  return total;
}

const SummaryFigure* figure_named(const Cell& cell, const std::string& name) {
  for (const auto& [key, figure] : cell.summary) {
    if (key == name) return &figure;
  }
  return nullptr;
}

// Counts are added up, unlike the medians around them, so they say over what.
std::string in_all_runs(const Shown& shown) {
  return shown.runs.size() < 2 ? "" : fmt::format("; in {} runs", shown.runs.size());
}

std::string percent(double fraction) { return fmt::format("{:.1f}%", fraction * 100); }

std::string headline(const Cell& cell, const Shown& shown) {
  const SummaryFigure* iops = figure_named(cell, "iops");
  if (iops == nullptr || iops->n < 2) {
    const Run& run = *shown.runs.front();
    return row("IOPS", base::format_iops(run.iops),
               fmt::format("total / time: {} in {:.3f} s{}", count_of(run.ios, "I/O"),
                           static_cast<double>(run.elapsed_ns) / 1e9,
                           !shown.finished        ? ", unfinished"
                           : cell.runs.size() > 1 ? ", only finished run"
                                                  : ""));
  }
  std::vector<std::string> words{fmt::format("median of {} runs", iops->n)};
  if (iops->cv) words.push_back("CV " + percent(*iops->cv));
  words.push_back("min " + base::format_iops(iops->min));
  words.push_back("max " + base::format_iops(iops->max));
  std::string doubt = "no 95% CI below 6 runs";
  if (iops->ci95) {
    doubt = fmt::format("95% CI {} … {} (covers {})", base::format_iops(iops->ci95->low),
                        base::format_iops(iops->ci95->high), percent(iops->ci95->coverage));
  }
  return row("IOPS", base::format_iops(iops->median), list(words)) + row("", "", doubt);
}

std::string latency_row(const Shown& shown) {
  std::vector<std::string> words;
  const auto add = [&](const std::string& name, const std::optional<double>& nanoseconds) {
    if (nanoseconds) words.push_back(name + ' ' + base::format_duration(*nanoseconds));
  };
  add("mean", median_of(shown, [](const Run& run) {
        return run.latency ? std::optional(run.latency->mean) : std::nullopt;
      }));
  for (const std::string name : {"p50", "p99", "p99.9"}) {
    add(name, median_of(shown, [&](const Run& run) -> std::optional<double> {
          if (!run.latency) return std::nullopt;
          for (const auto& [key, value] : run.latency->percentiles) {
            if (key == name) return static_cast<double>(value);
          }
          return std::nullopt;
        }));
  }
  std::optional<double> max;
  for (const Run* run : shown.runs) {
    if (run->latency) max = std::max(max.value_or(0), static_cast<double>(run->latency->max));
  }
  add("max", max);
  return words.empty() ? "" : row("Latency", list(words));
}

std::string cpu_rows(const Shown& shown) {
  const double user_ns =
      static_cast<double>(total_of(shown, [](const Run& run) { return run.cpu.user_ns; }));
  const double system_ns =
      static_cast<double>(total_of(shown, [](const Run& run) { return run.cpu.system_ns; }));
  const double elapsed_ns =
      static_cast<double>(total_of(shown, [](const Run& run) { return run.elapsed_ns; }));
  std::string out;
  const auto per_io = median_of(shown, [](const Run& run) { return run.cpu.per_io_ns; });
  if (per_io && user_ns + system_ns > 0) {
    // The median belongs to one run, its parts are those of all: shares make them add up.
    const double user = *per_io * user_ns / (user_ns + system_ns);
    std::string words = fmt::format("user {}, system {}", cpu_per_io_bare(user, *per_io),
                                    cpu_per_io_bare(*per_io - user, *per_io));
    if (elapsed_ns > 0) {
      words += fmt::format("; {:.2f} CPUs busy", (user_ns + system_ns) / elapsed_ns);
    }
    out += row("CPU", cpu_per_io(*per_io), words);
  }
  const auto voluntary = total_of(shown, [](const Run& r) { return r.cpu.voluntary_switches; });
  const auto forced = total_of(shown, [](const Run& r) { return r.cpu.involuntary_switches; });
  out += row("Switches", fmt::format("{}", voluntary + forced),
             list({fmt::format("{} voluntary", voluntary), fmt::format("{} involuntary", forced)}) +
                 in_all_runs(shown));
  return out;
}

std::string batching_rows(const Shown& shown) {
  std::vector<std::string> words;
  const auto add = [&](const char* name, const std::optional<double>& figure) {
    const char* what = words.empty() ? " I/Os" : "";
    if (figure) words.push_back(fmt::format("{:.1f}{} per {}", *figure, what, name));
  };
  add("submit call", median_of(shown, [](const Run& run) { return run.ios_per_submit_call; }));
  add("reap", median_of(shown, [](const Run& run) { return run.ios_per_reap; }));
  const auto syscalls = total_of(shown, [](const Run& run) { return run.syscalls; });
  std::string out = row("Syscalls", fmt::format("{}", syscalls), list(words) + in_all_runs(shown));
  if (const auto mean = median_of(shown, [](const Run& run) { return run.inflight_mean; })) {
    std::uint32_t most = 0;
    for (const Run* run : shown.runs) most = std::max(most, run->inflight_max);
    const auto& method = shown.runs.front()->inflight_mean_method;
    out +=
        row("In flight", fmt::format("{:.1f}", *mean),
            fmt::format("mean{}, max {}{}", method ? fmt::format(" ({})", printable(*method)) : "",
                        most, shown.runs.front()->threads.size() > 1 ? " in one thread" : ""));
  }
  return out;
}

std::string time_row(const Shown& shown) {
  const auto elapsed = median_of(
      shown, [](const Run& run) { return std::optional(static_cast<double>(run.elapsed_ns)); });
  const std::int64_t warmup_ns = shown.runs.front()->warmup_ns;
  const bool several = shown.runs.size() > 1;
  if (!several && warmup_ns == 0) return "";  // the headline has said it
  std::string value = base::format_duration(elapsed.value_or(0));
  if (several) value = fmt::format("{} x {}", shown.runs.size(), value);
  std::string words = "measured";
  if (warmup_ns > 0) {
    words +=
        fmt::format(", after {} of warm-up{}",
                    base::format_duration(static_cast<double>(warmup_ns)), several ? " each" : "");
  }
  return row("Time", value, words);
}

// " in 2 of 6 runs", or nothing when there is only one.
std::string in_runs(std::size_t some, std::size_t all) {
  return all < 2 ? "" : fmt::format(" in {} of {} runs", some, all);
}

std::string place(const Document& document, std::uint32_t target, std::uint64_t offset_bytes) {
  std::string words = fmt::format(" at offset {}", offset_bytes);
  if (target < document.targets.size()) {
    words += " of " + cut_front(printable(document.targets[target].path), 50);
  }
  return words;
}

std::string error_rows(const Document& document, const Cell& cell) {
  result::ErrorTally total;
  std::optional<Run::ShortRead> first_short;
  std::uint64_t short_reads = 0, retries = 0;
  std::size_t runs_with_errors = 0, runs_with_short_reads = 0;
  for (const Run& run : cell.runs) {
    total.count += run.errors.count;
    for (const auto& [name, count] : run.errors.by_errno) total.by_errno[name] += count;
    if (!total.first) total.first = run.errors.first;
    if (!first_short) first_short = run.first_short_read;
    runs_with_errors += run.errors.count > 0 ? 1 : 0;
    runs_with_short_reads += run.short_reads > 0 ? 1 : 0;
    short_reads += run.short_reads;
    retries += run.retries_eagain;
  }
  std::string out;
  if (total.count > 0) {
    std::string words = list(errno_counts(total)) + in_runs(runs_with_errors, cell.runs.size());
    if (total.first) {
      words += "; first " + printable(total.first->errno_name) +
               place(document, total.first->target, total.first->offset_bytes);
    }
    out += row("Errors", fmt::format("{}", total.count), words + "; not counted as I/Os");
  }
  if (short_reads > 0) {
    std::string words = "not counted as I/Os" + in_runs(runs_with_short_reads, cell.runs.size());
    if (first_short)
      words += "; first" + place(document, first_short->target, first_short->offset_bytes);
    out += row("Short reads", fmt::format("{}", short_reads), words);
  }
  if (retries > 0)
    out += row("Retries", fmt::format("{}", retries), "after EAGAIN, EINTR or EBUSY");
  return out;
}

std::string doubt_rows(const Document& document, const Cell& cell) {
  std::string out;
  std::size_t unsteady = 0;
  std::uint32_t io_workers = 0;
  std::vector<std::pair<std::string, std::size_t>> warnings;  // in order of appearance, with count
  for (const Run& run : cell.runs) {
    const std::string which = cell.runs.size() < 2 ? "" : fmt::format("run {}, ", run.index + 1);
    const std::string elapsed = base::format_duration(static_cast<double>(run.elapsed_ns));
    if (run.stalled) {
      out += row("Stalled", fmt::format("{}given up after {}; {} never completed", which, elapsed,
                                        count_of(run.never_completed, "request")));
    }
    if (run.interrupted) {
      const std::string by =
          document.session.signal ? "by " + printable(*document.session.signal) + ' ' : "";
      out += row("Interrupted", fmt::format("{}{}after {}: partial result", which, by, elapsed));
    }
    unsteady += run.steady && !*run.steady ? 1 : 0;
    io_workers = std::max(io_workers, run.io_workers);
    for (const std::string& warning : run.warnings) {
      const auto same = [&](const auto& known) { return known.first == warning; };
      const auto known = std::find_if(warnings.begin(), warnings.end(), same);
      if (known != warnings.end()) {
        ++known->second;
      } else {
        warnings.emplace_back(warning, 1);
      }
    }
  }
  if (unsteady > 0) {
    out += row("Unsteady", "IOPS drifted or jumped" + in_runs(unsteady, cell.runs.size()));
  }
  if (io_workers > 0) {
    out += row("Workers", fmt::format("{}", io_workers),
               "kernel threads (iou-wrk) took over requests that would have blocked");
  }
  for (const auto& [warning, count] : warnings) {
    const std::string where = in_runs(count, cell.runs.size());
    out += row("Warning", printable(warning) + (where.empty() ? "" : " (" + where.substr(1) + ')'));
  }
  return out;
}

std::string cell_block(const Document& document, const Cell& cell) {
  std::string out = wrap("", cell_title(cell), 2);
  if (const std::string words = engine_words(cell); !words.empty()) out += row("Engine", words);
  if (const auto words = adjustments(cell); !words.empty()) {
    out += row("Adjusted", list(words));
  }
  const Shown shown = shown_runs(cell);
  if (shown.runs.empty()) {
    out += row("IOPS", "none: no run took place");
    return out;
  }
  out += headline(cell, shown);
  const auto bandwidth = median_of(shown, [](const Run& run) { return run.bytes_per_second; });
  if (bandwidth) out += row("Bandwidth", base::format_bandwidth(*bandwidth));
  return out + latency_row(shown) + cpu_rows(shown) + batching_rows(shown) + time_row(shown) +
         error_rows(document, cell) + doubt_rows(document, cell);
}

std::string finding_rows(const Document& document) {
  std::map<std::string, std::vector<std::string>> codes;
  for (const result::Finding& finding : document.findings) {
    auto& known = codes[finding.severity];
    const std::string code = printable(finding.code);
    if (std::find(known.begin(), known.end(), code) == known.end()) known.push_back(code);
  }
  std::string out;
  for (const auto& [severity, names] : codes) {
    const std::string label = severity == "warning" ? "Warnings"
                              : severity == "info"  ? "Notes"
                                                    : printable(severity);
    out = row(label, join(names, ", ")) + out;  // warnings before notes: the map has them after
  }
  return out;
}

}  // namespace

std::string summary(const Document& document) {
  std::string out;
  constexpr std::size_t kMostTargets = 4;
  for (const Cell& cell : document.cells) {
    out += cell_block(document, cell);
    if (document.cells.size() > 1) out += '\n';
  }
  for (std::size_t i = 0; i < document.targets.size(); ++i) {
    if (i == kMostTargets) {
      out += row("", fmt::format("and {} more", document.targets.size() - i));
      break;
    }
    out += row(i == 0 ? "Target" : "", target_words(document.targets[i]));
  }
  std::vector<std::string> machine;
  if (!document.identity.kernel_release.empty()) {
    machine.push_back("Linux " + printable(document.identity.kernel_release));
  }
  if (!document.identity.cpu_model.empty()) {
    machine.push_back(printable(document.identity.cpu_model));
  }
  if (document.identity.cpus_online > 0) {
    machine.push_back(count_of(static_cast<std::uint64_t>(document.identity.cpus_online), "CPU"));
  }
  if (!machine.empty()) out += row("Machine", join(machine, ", "));
  return out + finding_rows(document);
}

}  // namespace uringbench::report
