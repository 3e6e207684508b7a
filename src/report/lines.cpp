// Single lines and small blocks that appear while a run goes on.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/cell_view.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace uringbench::report {
namespace {

std::string per_call(const std::optional<double>& figure) {
  if (!figure || !std::isfinite(*figure)) return "-1";
  return fmt::format("{:.0f}", std::round(*figure));
}

}  // namespace

std::string header(const Header& header) {
  std::string out;
  for (const HeaderThread& thread : header.threads) {
    out += fmt::format("submitter={}, tid={}, file={}, nfiles={}, node={}\n", thread.index,
                       thread.tid, printable(thread.file), thread.nfiles, thread.node);
  }
  out += fmt::format("polled={:d}, fixedbufs={:d}, register_files={:d}, buffered={:d}, QD={}\n",
                     header.polled, header.fixed_buffers, header.register_files, header.buffered,
                     header.depth);
  out += fmt::format("Engine={}", header.engine);
  if (header.sq_ring) out += fmt::format(", sq_ring={}", *header.sq_ring);
  if (header.cq_ring) out += fmt::format(", cq_ring={}", *header.cq_ring);
  return out + '\n';
}

std::string rate_line(const Rate& rate) {
  std::string out = "IOPS=" + base::format_iops(rate.iops);
  if (rate.bytes_per_second) out += ", BW=" + base::format_bandwidth(*rate.bytes_per_second);
  return out + fmt::format(", IOS/call={}/{}\n", per_call(rate.ios_per_submit_call),
                           per_call(rate.ios_per_reap));
}

std::string maximum_line(double iops) {
  return fmt::format("Maximum IOPS={}\n", base::format_iops(iops));
}

std::string run_line(const result::Run& run, std::uint32_t repeats) {
  std::string out =
      fmt::format("run {}/{}: IOPS={}", run.index + 1, repeats, base::format_iops(run.iops));
  if (run.bytes_per_second) out += ", BW=" + base::format_bandwidth(*run.bytes_per_second);
  if (run.cpu.per_io_ns) out += ", CPU=" + cpu_per_io(*run.cpu.per_io_ns);
  if (run.errors.count > 0) {
    out += fmt::format(", {} ({})", count_of(run.errors.count, "error"),
                       join(errno_counts(run.errors), ", "));
  }
  if (run.short_reads > 0) out += ", " + count_of(run.short_reads, "short read");
  if (run.steady && !*run.steady) out += ", unsteady";
  if (run.stalled) {
    out += ", stalled";
    if (run.never_completed > 0) {
      out += fmt::format(" ({} never completed)", count_of(run.never_completed, "request"));
    }
  }
  if (run.interrupted) {
    out += fmt::format(", interrupted after {}",
                       base::format_duration(static_cast<double>(run.elapsed_ns)));
  }
  return out + '\n';
}

std::string latency_block(const result::Latency& latency) {
  if (latency.count == 0) return "";
  // Microseconds read easier, but below ten of them one decimal would hide the difference.
  const bool micro = latency.mean >= 10'000;
  const auto figure = [&](double nanoseconds) {
    return fmt::format("{:.{}f}", micro ? nanoseconds / 1e3 : nanoseconds, micro ? 1 : 0);
  };
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [name, nanoseconds] : latency.percentiles) {
    entries.emplace_back(name, figure(static_cast<double>(nanoseconds)));
  }
  const std::size_t percentiles = entries.size();
  entries.emplace_back("min", figure(static_cast<double>(latency.min)));
  entries.emplace_back("mean", figure(latency.mean));
  entries.emplace_back("max", figure(static_cast<double>(latency.max)));
  std::size_t width = 0;
  for (const auto& entry : entries) width = std::max(width, entry.second.size());

  std::string out = fmt::format("Latency in {}, submit to completion seen, of {}:\n",
                                micro ? "µs" : "ns", count_of(latency.count, "I/O"));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t in_line = i < percentiles ? i % 4 : i - percentiles;
    if (in_line == 0 && i > 0) out += '\n';
    out += fmt::format("  {:<6} {:>{}}", entries[i].first, entries[i].second, width);
  }
  return out + '\n';
}

std::string finding(const result::Finding& finding) {
  std::string out =
      fmt::format("{}: {}\n", printable(finding.severity), printable(finding.message));
  std::string_view hint = finding.hint;
  for (const char* prefix = "  hint: "; !hint.empty(); prefix = "        ") {
    const std::size_t end = hint.find('\n');
    out += prefix + printable(hint.substr(0, end)) + '\n';
    hint.remove_prefix(end == std::string_view::npos ? hint.size() : end + 1);
  }
  return out;
}

}  // namespace uringbench::report
