// Private to report: what of a comparison every form shows, looked up once and put into words.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/compare.hpp"

namespace uringbench::report {

/// A unit that makes figures readable, and how many decimals they get in it.
struct Scale {
  double unit = 1;
  std::string name;  ///< "MIOPS", "µs"
  int decimals = 0;
};
/// For figures up to `largest`: four significant digits or more.
Scale scale_for(const compare::Metric& metric, double largest);
/// Does a smaller figure keep three significant digits in it?
bool suits(const Scale& scale, double smallest);
std::string figure(double value, const Scale& scale);
/// "higher is better".
std::string direction_words(const compare::Metric& metric);

/// "1%", "0.5%".
std::string effect_words(double fraction);
/// "95% CI".
std::string confidence_words(const compare::Comparison& comparison);

/// "+16.4%" and "[+15.9,+16.9]"; "[too few runs]" where the interval is unbounded. With as many
/// decimals as it takes for nobody to read a figure on the wrong side of the least effect.
struct ChangeWords {
  std::string change, interval;
};
ChangeWords change_words(double change, std::optional<double> low, std::optional<double> high,
                         double min_effect);
ChangeWords change_words(const compare::Contrast& contrast, double min_effect);

const compare::MetricRow* row_of(const compare::CellRow& cell, std::size_t metric);
/// The contrast that ends in `label`; nullptr when there is none.
const compare::Contrast* contrast_to(const std::vector<compare::Contrast>& contrasts,
                                     std::size_t label);
std::string label_words(const compare::Comparison& comparison, std::size_t label);
std::string cell_words(const compare::CellRow& cell);
/// "patch11", or "patch1-10 -> patch11" for a step.
std::string contrast_words(const compare::Comparison& comparison, const compare::Contrast& contrast,
                           bool step);
/// "QD32", "QD32/patch11": which label only where there are several to choose from.
std::string place_words(const compare::Comparison& comparison, const compare::CellRow& cell,
                        const compare::Contrast& contrast, bool step);

/// Indices of the metrics that are drawn in full: the gated ones and those asked for by name.
std::vector<std::size_t> metrics_in_full(const compare::Comparison& comparison);
/// Least effects in force, of a metric's rows: the smallest and the largest.
std::pair<double, double> effects_of(const compare::Comparison& comparison, std::size_t metric);
/// The least effect of all rows of the gated metrics, when it is the same.
std::optional<double> common_effect(const compare::Comparison& comparison);
/// The row's own unit.
Scale row_scale(const compare::Comparison& comparison, const compare::MetricRow& row);
/// The unit of all these rows of one metric, when one suits them all.
std::optional<Scale> common_scale(const compare::Comparison& comparison,
                                  const std::vector<const compare::MetricRow*>& rows);

/// Contrasts of the gated metrics, the steps among them, in the order of the table.
using VisitContrast = std::function<void(const compare::CellRow&, const compare::MetricRow&,
                                         const compare::Contrast&, bool step)>;
void for_each_gated(const compare::Comparison& comparison, const VisitContrast& visit);

/// Why a contrast has no answer; the room's own words where compare gives none. Printable.
std::string reason_words(const compare::Comparison& comparison, const compare::MetricRow& row,
                         const compare::Contrast& contrast);
/// Estimate, interval, test, correction and unit: one sentence.
std::string method_words(const compare::Comparison& comparison);
/// "verdict: 3 improved, 1 changed <1%, 2 unknown, 0 regressed, 0 missing".
std::string verdict_line(const compare::Comparison& comparison);

/// Things said of many places: each said once, with the places, in order of appearance.
class Gathered {
 public:
  void add(const std::string& word, const std::string& what, std::string place);
  struct Entry {
    std::string word, what;
    std::vector<std::string> places;
  };
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> index_;
};
/// "QD1, QD4, QD8 and 9 more".
std::string places_words(const std::vector<std::string>& places);

/// What a row without an answer needs; rows of the same kind together, the gravest first.
struct Remark {
  compare::Verdict verdict = compare::Verdict::unknown;
  std::string word;    ///< "UNKNOWN"
  std::string places;  ///< "QD1, QD4"
  std::size_t rows = 0;
  std::string words;  ///< reason and advice
};
std::vector<Remark> remarks_of(const compare::Comparison& comparison);
/// {"left out", "patch11: 2 with I/O errors (EIO 13)", {"QD32"}}; doubts behind.
std::vector<Gathered::Entry> losses_of(const compare::Comparison& comparison);

/// "base 1.880 MIOPS, patch11 2.190 MIOPS, +16.4% [+15.9,+16.9]", as far as it is there.
std::string figures_words(const compare::Comparison& comparison, const compare::MetricRow& row,
                          const compare::Contrast& contrast);

/// "kernel 6.17 vs 6.18", the values in the order of the labels.
std::string difference_words(const compare::Difference& difference);

}  // namespace uringbench::report
