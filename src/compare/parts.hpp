// Private to compare: what its steps hand on to each other.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compare/compare.hpp"

namespace uringbench::compare {

/// A key of a cell, the flag that sets it, and the settings that hold it in a document.
struct Key {
  const char* word;
  const char* flag;
  std::vector<const char*> settings;
};
const std::vector<Key>& keys();
/// The canonical word for a key by any of its names; the name itself when it is none.
std::string canonical_key(std::string_view name);

/// The flag that sets a key, by any of its names: what a message calls it.
std::string key_title(const std::string& name);

/// "5000000000" of "runtime_ns" and the like, for people.
std::string setting_text(const result::Settings::Value& value);

/// Digits only, and few enough for 64 bits.
bool is_number(const std::string& text);

/// Text compared with its numbers as numbers: "QD4" before "QD32".
bool natural_less(std::string_view a, std::string_view b);

std::string joined(const std::vector<std::string>& words, std::string_view separator = ", ");
/// "3 runs", "1 run".
std::string count_of(std::size_t count, std::string_view singular);
/// "+1.2%", "12%": few digits, for a fraction.
std::string percent(double fraction, bool with_sign = false);

// --- metrics.cpp ---

/// The figure of a run; nothing when it has none.
std::optional<double> figure_of(const Metric& metric, const result::Run& run);
/// Why a metric cannot be judged in this run: fewer than 100 events lie beyond the percentile.
bool tail_too_thin(const Metric& metric, const result::Run& run);
/// The least effect or margin in force for a cell; nothing when no limit fits.
std::optional<double> limit_for(const std::vector<Limit>& limits, const Metric& metric,
                                const Words& words);
/// What is shown: the gated ones, and those asked for or present.
std::vector<Metric> chosen_metrics(const std::vector<Side>& sides, const Options& options);

// --- match.cpp ---

struct CellRef {
  const Source* source;
  const result::Cell* cell;
};
/// One cell over all sides, in the order of the sides; a side without it has no references.
struct Match {
  Words words;  ///< all of them, as the base has them
  std::vector<std::vector<CellRef>> sides;
  /// Per side: keys that differ although the cell was taken for its counterpart, because no cell
  /// has a counterpart. Not comparable.
  std::vector<std::vector<std::string>> unlike;
  /// Per side without this cell: what the nearest cell left over there differs in, if it is little.
  std::vector<std::string> nearest;
  /// Keys that some side does not state.
  std::set<std::string> unstated;
};
struct Matching {
  std::vector<Match> cells;
  std::vector<std::string> extra;  ///< "LABEL: ID"
};
Matching match_cells(const std::vector<Side>& sides, const Options& options,
                     const std::set<std::string>& varies);
/// Gives each row its name and puts them in order.
void name_cells(std::vector<Match>& matches, std::vector<std::string>& names);

/// Are all sides arms of ab documents?
bool are_arms(const std::vector<Side>& sides);

// --- unlike.cpp, differences.cpp ---

/// "batch-submit 32 vs 16": settings of two matched cells that must be equal and are not.
std::vector<std::string> unlike_settings(const CellRef& a, const CellRef& b,
                                         const std::set<std::string>& varies);
/// Targets, runtime, machine, kernel… of all sides, each with its kind. `fatal_with_base`: for
/// each side what makes it not comparable with the first.
struct Facts {
  std::vector<Difference> differences;
  std::vector<std::string> same;
  std::vector<std::vector<std::string>> fatal_with_base;
};
Facts compare_facts(const std::vector<Side>& sides, const Options& options,
                    const std::set<std::string>& varies);

// --- gather.cpp ---

/// Beyond this no figure comes from a machine, and arithmetic loses its footing.
bool is_measurable(double value);

/// A run that counts.
struct CountedRun {
  const result::Run* run;
  const Source* source;
};
struct Gathered {
  std::vector<CellRef> refs;
  std::string nearest;  ///< Match::nearest
  CellSide side;
  std::vector<CountedRun> runs;
};
Gathered gather(const std::vector<CellRef>& refs);

/// Paired by block: both sides belong to one plan and have the same blocks.
bool can_pair(const Gathered& a, const Gathered& b, bool arms);

/// What is missing where one plan should have paired them; empty otherwise.
std::string pairing_fault(const Gathered& a, const Gathered& b);

// --- judge.cpp ---

/// Figures and, where both sides have figures, the estimate. No verdict yet.
Figure figure_over(const Metric& metric, const Gathered& gathered);
std::optional<Estimate> estimate(const Metric& metric, const Gathered& from, const Gathered& to,
                                 bool paired, const Options& options);
/// Verdicts of one family, after Holm when it is one (`family` > 0).
void conclude(const Metric& metric, double min_effect, bool tail_thin, std::size_t family,
              const Options& options, const std::vector<Figure>& figures, Contrast& contrast);
/// By how much worse a change is, as a fraction: the sign of good and bad.
double worse_by(const Metric& metric, double change);
/// The test says so and so does the interval: with ties, and few runs, one may without the other.
bool is_established(const Estimate& estimate, double alpha);
/// How many runs a side (or blocks) an answer takes, and the words for it; no number where there is
/// no practical one.
std::pair<std::optional<std::size_t>, std::string> runs_that_answer(std::size_t n,
                                                                    std::size_t needed,
                                                                    bool paired);
std::size_t family_of(const std::vector<Contrast*>& contrasts);
void adjust(const std::vector<Contrast*>& family);

/// ln(to / from) per block, for the blocks that both have: the pairs.
std::map<std::uint64_t, double> log_changes_by_block(const Metric& metric, const Gathered& from,
                                                     const Gathered& to);

// --- describe.cpp ---

/// Labels, whether all is paired, and notes, from what stands there already.
void describe(const std::vector<Side>& sides, Comparison& comparison);

}  // namespace uringbench::compare
