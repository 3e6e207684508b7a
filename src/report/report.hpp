// Drawing: plain data in, bytes out.
//
// Knows result and compare (what it draws) and units. Must not know files, terminals or how
// anything was measured: every function returns a string.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/base.hpp"
#include "compare/compare.hpp"
#include "result/result.hpp"

namespace uringbench::report {

/// t/io_uring's header, one line per thread and two for the engine, as granted.
struct HeaderThread {
  std::uint32_t index = 0;
  std::int64_t tid = 0;
  std::string file;  ///< first target; "(none)" for a bare NOP
  std::uint32_t nfiles = 0;
  int node = -1;
};
struct Header {
  std::vector<HeaderThread> threads;
  bool polled = false, fixed_buffers = false, register_files = false, buffered = false;
  std::uint32_t depth = 0;
  std::string engine;                             ///< "io_uring", "preadv2"
  std::optional<std::uint32_t> sq_ring, cq_ring;  ///< rings only
};
/// "submitter=0, tid=1234, file=f1, nfiles=1, node=-1\n…polled=0, fixedbufs=1, register_files=1,
/// buffered=0, QD=128\nEngine=io_uring, sq_ring=128, cq_ring=256\n"
std::string header(const Header& header);

struct Rate {
  double iops = 0;
  std::optional<double> bytes_per_second;                   ///< no BW without
  std::optional<double> ios_per_submit_call, ios_per_reap;  ///< "-1" without, as there
};
/// "IOPS=93210, BW=364MiB/s, IOS/call=32/31\n": the figures of IOS/call rounded to the nearest.
std::string rate_line(const Rate& rate);
/// "Maximum IOPS=193.21K\n"
std::string maximum_line(double iops);
/// One line per finished repeat of `run`: "run 1/6: IOPS=…, BW=…, CPU=1.90 µs/IO\n", with errors,
/// short reads, unsteadiness, stall and interruption in words when there are any.
std::string run_line(const result::Run& run, std::uint32_t repeats);

/// Latency block of one run in ns or µs: heading with the unit and what is measured, then
/// percentiles four a line, then min/mean/max. Empty without samples.
std::string latency_block(const result::Latency& latency);

/// Our own summary, the last thing on stdout, drawn from the document alone so that `show` can draw
/// it again: per cell what ran and how it was granted, the headline (total ÷ time; for several runs
/// the median with its interval, its true coverage and n, "95% CI" named), bandwidth, latency when
/// timed, CPU time per I/O, context switches, system calls; then errors, short reads, retries,
/// stall, interruption and warnings; at the end targets, machine and the findings' codes. At most
/// 80 columns, aligned, no "IOPS=" that a parser of t/io_uring's lines could take for a sample.
///
/// Settings it reads, of `granted` where they are there and else of `asked`: strings "engine";
/// integers "depth", "batch_submit", "batch_complete", "block_size_bytes", "threads"; flags (bool,
/// or 0 and 1) "nop", "random", "polled", "direct", "fixed_buffers", "register_files", "vectored",
/// "passthrough"; lists "setup_flags", "restrictions", "nodes"; further the integer
/// "buffer_page_bytes" and the strings "taskrun" and "sqthread_stats". A key in both with different
/// values is reported as adjusted, unless "auto" or a "local-…" place was asked. Figures over
/// several runs come from Cell::summary and Cell::runs. The same text for a document that was
/// stored and read again, whatever bytes its names hold.
std::string summary(const result::Document& document);

/// The same figures as a Markdown table to paste into a mail or pull request, and as CSV (RFC 4180:
/// lines end in CR LF; one header line, one line per cell; plain numbers with the unit in the
/// header, empty where there is none).
std::string summary_markdown(const result::Document& document);
std::string summary_csv(const result::Document& document);

/// How a comparison is drawn as text.
struct ComparisonStyle {
  std::size_t columns = 80;  ///< of the page; 80 to 100 are used
  bool color = false;        ///< only of words that say it without
  bool explain = false;      ///< a paragraph per kind of verdict, in plain words
};
/// Labels and what they have in common, a table per metric (cells × labels, one unit per row), the
/// geometric mean, steps, advisory metrics, what to do about each UNKNOWN, checks, the legend, and
/// a verdict line; with the gate's rows when there is a gate.
std::string comparison_text(const compare::Comparison& comparison, const ComparisonStyle& style,
                            const compare::GateResult* gate = nullptr);
/// A table to paste into a mail or pull request, with one sentence of method under it.
std::string comparison_markdown(const compare::Comparison& comparison,
                                const compare::GateResult* gate = nullptr);
/// RFC 4180: a line per cell, metric and contrast; plain numbers.
std::string comparison_csv(const compare::Comparison& comparison,
                           const compare::GateResult* gate = nullptr);
/// JUnit XML: a test case per cell and gated metric; failures and errors as CI shows them.
std::string comparison_junit(const compare::Comparison& comparison,
                             const compare::GateResult* gate = nullptr);

/// What doctor shows: one screen, at most 100 columns, every problem with the command that cures
/// it.
std::string checkup(const result::Checkup& checkup);

/// "warning: <message>\n  hint: <hint>\n" and the like, for stderr. No colour.
std::string finding(const result::Finding& finding);

/// --dry-run: the plan's settings (asked → will be), targets and findings.
std::string dry_run(const result::Document& document);

}  // namespace uringbench::report
