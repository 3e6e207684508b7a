// What is left on the terminal when a run is over.
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
using result::Run;

// Counts are added up, unlike the medians around them, so they say over what.
std::string in_all_runs(const Shown& shown) {
  return shown.runs.size() < 2 ? "" : glue(fmt::format("; in {} runs", shown.runs.size()));
}

std::string headline(const Cell& cell, const Shown& shown, const Figures& figures) {
  const auto& iops = figures.several;
  if (!iops) {
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

std::string latency_row(const Figures& figures) {
  std::vector<std::string> words;
  const auto add = [&](const char* name, const std::optional<double>& nanoseconds) {
    if (nanoseconds)
      words.push_back(fmt::format("{} {}", name, base::format_duration(*nanoseconds)));
  };
  add("mean", figures.latency_mean_ns);
  add("p50", figures.latency_p50_ns);
  add("p99", figures.latency_p99_ns);
  add("p99.9", figures.latency_p999_ns);
  add("max", figures.latency_max_ns);
  return words.empty() ? "" : row("Latency", list(words));
}

std::string cpu_row(const Shown& shown, const Figures& figures) {
  const double user_ns =
      static_cast<double>(total_of(shown, [](const Run& run) { return run.cpu.user_ns; }));
  const double system_ns =
      static_cast<double>(total_of(shown, [](const Run& run) { return run.cpu.system_ns; }));
  const double elapsed_ns =
      static_cast<double>(total_of(shown, [](const Run& run) { return run.elapsed_ns; }));
  std::string out;
  const auto& per_io = figures.cpu_per_io_ns;
  if (per_io && user_ns + system_ns > 0) {
    // The median belongs to one run, its parts are those of all: shares make them add up.
    const double user = *per_io * user_ns / (user_ns + system_ns);
    std::string words = fmt::format("user {}, system {}", cpu_per_io_bare(user, *per_io),
                                    cpu_per_io_bare(*per_io - user, *per_io));
    if (elapsed_ns > 0) {
      words += fmt::format("; {:.2f} CPUs busy", (user_ns + system_ns) / elapsed_ns);
    }
    out += row("CPU", cpu_per_io(*per_io), words);
    // With SQPOLL the submitting thread's own time says little: the work is done elsewhere.
    if (figures.poller_per_io_ns && figures.submitters_per_io_ns) {
      out +=
          row("", "",
              list({"submitting threads " + cpu_per_io_bare(*figures.submitters_per_io_ns, *per_io),
                    "SQPOLL threads " + cpu_per_io_bare(*figures.poller_per_io_ns, *per_io)}));
    }
  }
  return out;
}

// "thread 4242 on CPU 1", as far as it is the same in all runs: each has new threads.
std::string pollers_words(const Shown& shown) {
  const auto cpu_of = [](const Run* run) {
    return run->sqpoll ? run->sqpoll->cpu : std::optional<int>();
  };
  const Run* first = shown.runs.front();
  const bool one_place = std::all_of(shown.runs.begin(), shown.runs.end(),
                                     [&](const Run* run) { return cpu_of(run) == cpu_of(first); });
  const std::size_t pollers = first->sqpoll ? first->sqpoll->pollers.size() : 0;
  if (pollers > 1) return count_of(pollers, "thread");
  std::string words;
  if (shown.runs.size() == 1) words = fmt::format("thread {}", first->sqpoll->thread_id);
  if (one_place && cpu_of(first)) {
    words += fmt::format("{}on CPU {}", words.empty() ? "" : " ", *cpu_of(first));
  }
  return words;
}

std::string sqpoll_row(const Shown& shown, const Figures& figures) {
  const bool any = std::any_of(shown.runs.begin(), shown.runs.end(),
                               [](const Run* run) { return run->sqpoll.has_value(); });
  if (!any) return "";
  const auto& busy = figures.poller_utilisation;
  std::string words = pollers_words(shown);
  if (!words.empty()) words += "; ";
  std::vector<std::string> facts;
  // The share is the kernel's own count and can be far off; its CPU time is exact and comes first.
  if (busy) facts.push_back(percent(*busy) + " of it with work (kernel's count)");
  const auto wakeups =
      total_of(shown, [](const Run& run) { return run.sqpoll ? run.sqpoll->wakeups : 0; });
  facts.push_back(count_of(static_cast<std::uint64_t>(wakeups), "wake-up"));
  return row("SQPOLL", figures.poller_per_io_ns ? cpu_per_io(*figures.poller_per_io_ns) : "on",
             words + list(facts) + in_all_runs(shown));
}

std::string switches_row(const Shown& shown) {
  const auto voluntary = total_of(shown, [](const Run& r) { return r.cpu.voluntary_switches; });
  const auto forced = total_of(shown, [](const Run& r) { return r.cpu.involuntary_switches; });
  return row(
      "Switches",
      fmt::format("{}", static_cast<std::uint64_t>(voluntary) + static_cast<std::uint64_t>(forced)),
      list({fmt::format("{} voluntary", voluntary), fmt::format("{} involuntary", forced)}) +
          in_all_runs(shown));
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

std::string error_rows(const Document& document, const Cell& cell, const Trouble& trouble) {
  std::string out;
  const std::size_t runs = cell.runs.size();
  if (trouble.errors.count > 0) {
    std::string words = list(errno_counts(trouble.errors)) + in_runs(trouble.with_errors, runs);
    if (const auto& first = trouble.errors.first) {
      words += "; first " + printable(first->errno_name) +
               place(document, first->target, first->offset_bytes);
    }
    out += row("Errors", fmt::format("{}", trouble.errors.count), words + "; not counted as I/Os");
  }
  if (trouble.short_reads > 0) {
    std::string words = "not counted as I/Os" + in_runs(trouble.with_short_reads, runs);
    if (const auto& first = trouble.first_short_read) {
      words += "; first" + place(document, first->target, first->offset_bytes);
    }
    out += row("Short reads", fmt::format("{}", trouble.short_reads), words);
  }
  if (trouble.retries > 0) {
    out += row("Retries", fmt::format("{}", trouble.retries), "after EAGAIN, EINTR or EBUSY");
  }
  return out;
}

std::string doubt_rows(const Document& document, const Cell& cell, const Trouble& trouble) {
  std::string out;
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
  }
  if (trouble.unsteady > 0) {
    out += row("Unsteady", "IOPS drifted or jumped" + in_runs(trouble.unsteady, cell.runs.size()));
  }
  if (trouble.io_workers > 0) {
    out += row("Workers", fmt::format("{}", trouble.io_workers),
               "kernel threads (iou-wrk) took over requests that would have blocked");
  }
  for (const auto& [warning, count] : trouble.warnings) {
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
  const Figures figures = figures_of(cell, shown);
  const Trouble trouble = trouble_of(cell);
  out += headline(cell, shown, figures);
  if (figures.bytes_per_second) {
    out += row("Bandwidth", base::format_bandwidth(*figures.bytes_per_second));
  }
  return out + latency_row(figures) + cpu_row(shown, figures) + sqpoll_row(shown, figures) +
         switches_row(shown) + batching_rows(shown) + time_row(shown) +
         error_rows(document, cell, trouble) + doubt_rows(document, cell, trouble);
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
  if (const std::string words = machine_words(document.identity); !words.empty()) {
    out += row("Machine", words);
  }
  for (const auto& [label, codes] : finding_codes(document.findings)) {
    out += row(label, join(codes, ", "));
  }
  return out;
}

}  // namespace uringbench::report
