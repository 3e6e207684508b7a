// Comparing: result documents in, a table with intervals and verdicts out; and the gate's decision.
//
// Knows result (what was measured) and stats (what numbers can say). Must not know terminals,
// files or rings: documents come loaded, text is made by report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/base.hpp"
#include "result/result.hpp"
#include "stats/stats.hpp"

namespace uringbench::compare {

// --- what is compared ---

enum class Direction { higher_is_better, lower_is_better };
enum class Unit { per_second, bytes_per_second, nanoseconds, fraction };

/// A figure that every run has or has not, and what of it counts as an effect.
struct Metric {
  std::string name;   ///< "iops", "bw", "cpu", "p50", "p99.9", "mean", "max", "sqpoll-cpu"…
  std::string title;  ///< "IOPS", "CPU per I/O", "latency p99"
  Direction direction = Direction::higher_is_better;
  Unit unit = Unit::per_second;
  double min_effect = 0;             ///< default, as a fraction: 0.01 is 1 %
  std::optional<double> percentile;  ///< 0.999 for p99.9
  bool gated = false;  ///< its verdicts form the family and decide; others are advisory
};
/// By name or alias ("bandwidth", "cpu_per_io_ns", "latency_p99_ns"); nothing when unknown.
std::optional<Metric> find_metric(std::string_view name);
/// Names for messages and completion: percentiles stand for their kind.
std::vector<std::string> metric_names();

/// One entry of "iops=1%,p99=5%" or "iops=1%,*/qd1:iops=2%,p99=9%": a pattern counts from its entry
/// on. Of several that fit a cell, the last one counts.
struct Limit {
  std::string cells;    ///< a cell pattern; empty: every cell
  std::string metric;   ///< canonical name
  double fraction = 0;  ///< 0.02 for 2 %; finite, >= 0
};
/// Throws UserError(usage) naming `flag`: unknown metric (with the nearest), a number without '%',
/// negative, not a number.
std::vector<Limit> parse_limits(std::string_view flag, std::string_view text);

/// A cell's canonical words: {"rw", "randread"}, {"bs", "4096"}, {"qd", "128"}…
using Words = std::vector<std::pair<std::string, std::string>>;
Words words_of(std::string_view cell_id);

/// Does a cell fit a pattern? Parts are divided by blanks or '/', and all must fit: "qd=32",
/// "qd=(1|4|32)", "randread", "*/qd1", "engine=io*". A part is KEY=VALUE, KEYVALUE or VALUE; keys
/// may be named like the flags ("depth=32"); VALUE may hold *, ? and (a|b).
bool fits(std::string_view pattern, const Words& words);
/// Throws UserError(usage) naming `flag` for an empty pattern or parentheses that do not close.
void check_pattern(std::string_view flag, std::string_view pattern);

/// Canonical word for what --varies takes: a key of a cell ("qd"), a flag's name ("depth"), or one
/// of "kernel", "binary", "machine", "device", "runtime", "warmup". Throws UserError(usage) naming
/// the nearest one.
std::string parse_varies(std::string_view text);

// --- what goes in ---

struct Source {
  std::string name;  ///< as the user gave it
  result::Document document;
};
/// One column: the runs of one or several documents.
struct Side {
  std::string label;
  std::vector<Source> sources;
};
/// The arms of an ab document as sides, in order of their names; nothing when it has none.
std::vector<Side> split_arms(const Source& source);

struct Options {
  std::vector<std::string> varies;   ///< by parse_varies()
  std::vector<std::string> metrics;  ///< shown besides the gated ones; empty: what is there
  std::vector<std::string> gate_metrics{"iops"};
  std::vector<Limit> min_effects;
  std::vector<std::string> filters;   ///< patterns; a cell must fit all
  bool baseline_is_previous = false;  ///< adds steps: each label against the one before
  bool strict_environment = false;    ///< kernel, binary and machine must be equal or declared
  /// gate: a failed or interrupted run, a run without the figure, or a block without its partner
  /// makes its cell MISSING.
  bool bad_runs_spoil_a_cell = false;
  double alpha = 0.05;
  double confidence = 0.95;
  std::optional<std::uint64_t> bootstrap_seed;  ///< a second opinion where n >= 15
};

// --- what comes out ---

enum class Verdict {
  not_comparable,
  missing,
  insufficient,  ///< too few runs to reach alpha in this family
  regressed,
  improved,
  small,  ///< "<1%": real, and smaller than the least effect of interest
  same,   ///< the interval lies inside it
  unknown
};
/// "NOT-COMPARABLE", "MISSING", "INSUFFICIENT", "REGRESSED", "IMPROVED", "SAME", "UNKNOWN"; for
/// `small` "<1%" with the least effect in force.
std::string verdict_word(Verdict verdict, double min_effect);

/// A change from one label to another, as fractions with its natural sign: +0.02 is 2 % more.
struct Estimate {
  double change = 0;
  std::optional<double> low, high;   ///< absent: unbounded, too few runs
  double coverage = 0;               ///< what the interval truly has
  double p = 1;                      ///< two-sided
  std::optional<double> p_holm;      ///< only in a family
  double statistic = 0;              ///< U or W+
  std::size_t n_from = 0, n_to = 0;  ///< runs; of pairs: both the number of pairs
  std::size_t zeros = 0;             ///< pairs without any difference
  bool paired = false;               ///< signed-rank over blocks; else Mann-Whitney
  bool exact = true;
  std::optional<stats::BootstrapInterval> second_opinion;  ///< fractions
};

struct Contrast {
  std::size_t from = 0, to = 0;  ///< labels
  Verdict verdict = Verdict::unknown;
  std::optional<Estimate> estimate;  ///< absent where there is nothing to calculate from
  /// Why, in one sentence, where the verdict alone does not say: what differs, what is absent, how
  /// many runs it takes.
  std::string reason;
  bool thin_tail = false;                  ///< too few events beyond the percentile to judge it
  std::optional<std::size_t> runs_needed;  ///< per side, or pairs, to answer at the least effect
};

/// A metric of a cell under one label.
struct Figure {
  std::size_t n = 0;  ///< runs that count and have it
  std::optional<double> median, cv;
  std::optional<stats::MedianInterval> interval;
  std::optional<double> within_run_cv;  ///< only n = 1: of its intervals, "within one run"
  std::optional<double>
      within_run_r1;           ///< likewise, from 10 intervals on: how alike neighbours are
  std::size_t outliers = 0;    ///< shown, never dropped
  std::vector<double> values;  ///< in the order of the runs
};

/// What a label has of a cell.
struct CellSide {
  bool present = false;
  std::size_t runs = 0, counted = 0;
  std::vector<std::string> left_out = {};  ///< "2 with I/O errors (EIO 13)", "1 interrupted"
  std::vector<std::string> doubts = {};    ///< counted all the same: "3 unsteady", "1 outlier"
  bool spoilt = false;  ///< a run failed or was interrupted, or the whole session was
};

struct MetricRow {
  std::size_t metric = 0;  ///< index into Comparison::metrics
  double min_effect = 0;
  std::vector<Figure> figures;      ///< one per label
  std::vector<Contrast> contrasts;  ///< each label but the first against the first
  std::vector<Contrast> steps;      ///< each label but the first two against the one before
};

struct CellRow {
  std::string id;    ///< canonical words
  std::string name;  ///< what tells it from the others: "QD32", or "randread 4k QD128"
  Words words;
  std::vector<CellSide> sides;        ///< one per label
  std::vector<std::string> unstated;  ///< settings that some side does not state
  std::vector<MetricRow> metrics;
};

struct Label {
  std::string name;
  std::vector<std::string> files;
  std::size_t runs = 0;     ///< of a cell, the most
  std::size_t counted = 0;  ///< of a cell, the fewest
  std::size_t blocks = 0, boots = 0;
  std::vector<std::string> kernels, binaries, machines;  ///< each once
  std::string first_start, last_start;                   ///< of its runs, UTC
  std::string imported_from;                             ///< "fio", "t/io_uring"; empty: our own
};

/// Something that is not the same everywhere, and what follows from it.
struct Difference {
  enum class Kind { fatal, free, declared, warning, unknown } kind = Kind::warning;
  std::string what;                 ///< "kernel", "device model", "governor"
  std::vector<std::string> values;  ///< one per label; "unknown" where it is absent
};

struct Note {
  std::string code;  ///< "not-interleaved", "old-baseline", "same-session", "extra-cell"…
  std::string message;
};

/// Over the cells where every figure is there; never across metrics.
struct Geomean {
  std::size_t metric = 0, from = 0, to = 0;
  std::size_t cells = 0, of = 0;
  std::optional<double> change, low, high;  ///< fractions; an interval only for pairs of blocks
};

struct Comparison {
  Options options;
  std::vector<Label> labels;    ///< the first is the base
  std::vector<Metric> metrics;  ///< the gated ones first
  std::vector<CellRow> cells;   ///< in natural order: QD1, QD4, QD32
  std::vector<Geomean> geomeans;
  std::vector<std::string> same;  ///< what all have in common, in words
  std::vector<Difference> differences;
  std::vector<Note> notes;
  std::vector<std::string> extra_cells;  ///< not in the base: "new, not compared", with the label
  bool paired = false;
  std::size_t family = 0, step_family = 0;  ///< number of tests that Holm corrects for
  std::size_t cells_compared = 0;           ///< cells with an estimate of a gated metric

  /// How often each verdict stands in the gated contrasts.
  std::size_t count(Verdict verdict) const;
};

/// Never throws for what documents hold: what cannot be compared is said in verdicts and notes.
/// Throws UserError(usage) for fewer than two sides, equal labels, or cells that --varies makes
/// indistinguishable. Two documents of one label that cannot be joined: their cells are
/// NOT-COMPARABLE.
Comparison compare(const std::vector<Side>& sides, const Options& options);

/// What --exit-verdict makes of it: 5 > 6 > 3 > 4 > 0 over the gated metrics.
base::ExitCode exit_code_of(const Comparison& comparison);

// --- the gate ---

struct GateRules {
  std::vector<Limit> margins;  ///< later ones count; iops=2% stands before them
  bool allow_inconclusive = false;
  bool warn_only = false;
};

enum class Outcome { passed, regression, inconclusive, not_comparable, missing };
std::string outcome_word(Outcome outcome);  ///< "PASS", "REGRESSION", "INCONCLUSIVE"…

struct GateRow {
  std::string name;                 ///< of the cell, or the pattern that no cell fits
  std::optional<std::size_t> cell;  ///< index into Comparison::cells
  std::size_t metric = 0;
  Outcome outcome = Outcome::inconclusive;
  double margin = 0;
  std::string reason;                           ///< one sentence with the figures
  std::optional<double> chance_of_false_alarm;  ///< of this margin against this noise
};
struct GateResult {
  base::ExitCode code = base::ExitCode::missing;
  base::ExitCode strict_code = base::ExitCode::missing;  ///< without leniency
  std::vector<GateRow> rows;
  std::vector<Note> notes;  ///< "stale-baseline", "allowed-inconclusive"…
  std::size_t count(Outcome outcome) const;
  /// "uringbench-gate: FAIL code=3 cells=1/12 regression=1 inconclusive=0 … worst=…"
  std::string line;
};

/// Rules of a gate as a file has them.
struct GateFile {
  std::vector<Limit> margins;  ///< those for all cells, then those for some, in the file's order
  std::vector<std::string> metrics, varies, filters;  ///< canonical names; empty: not said
  std::vector<std::string> expected;                  ///< patterns of cells that must be there
  std::string expect_file;                            ///< instead: a result whose cells must be
  bool allow_inconclusive = false, warn_only = false, strict_environment = false;
};
/// Reads the JSON text of a gate file, in which comments are allowed:
///   {"schema": {"name": "uringbench.gate", "version": 1},
///    "margins": {"iops": "2%"},                                     // all cells
///    "cells": [{"match": "qd=1", "margins": {"iops": "5%"}}],       // those that fit
///    "metrics": ["iops"], "varies": ["kernel"], "filters": ["randread"],
///    "expect": ["qd=1", "qd=32"],                                   // or "FILE"
///    "allow_inconclusive": false, "warn_only": false, "strict_env": false}
/// Only the schema must be there. Throws UserError(usage) naming `name` and the member: no JSON,
/// another schema, a key that is unknown (with the nearest) or stands twice, an impossible value.
GateFile read_gate_file(const std::string& text, const std::string& name);

/// Metrics that are gated under these rules: those that have a margin; iops too unless there is a
/// margin for every cell and none is for iops.
std::vector<std::string> gated_metrics(const GateRules& rules);
/// Of a comparison of exactly two labels, made with the metrics of gated_metrics(). `expected`:
/// patterns (a cell's id is one) of the cells that must be there; empty: all cells of the baseline.
/// Nothing measured is never passed.
GateResult gate(const Comparison& comparison, const GateRules& rules,
                const std::vector<std::string>& expected = {});

/// JSON text of schema "uringbench.comparison" version 1 (docs/schema), with every number, its n,
/// test and coverage; the gate's decision when there is one.
std::string to_json(const Comparison& comparison, const GateResult* gate = nullptr);

}  // namespace uringbench::compare
