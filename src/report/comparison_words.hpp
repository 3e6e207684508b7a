// Private to report: what stands around the tables of a comparison.
#pragma once

#include <string>

#include "compare/compare.hpp"
#include "report/report.hpp"

namespace uringbench::report {

/// Who is compared, what they have in common, what differs, what counts as an effect.
std::string comparison_head(const compare::Comparison& comparison, const ComparisonStyle& style,
                            bool gate);
/// What could not be answered and what to do (unless a gate says so); what was left out; notes.
std::string comparison_remarks(const compare::Comparison& comparison, const ComparisonStyle& style,
                               bool gate);
/// The gate's rows that did not pass.
std::string gate_rows(const compare::Comparison& comparison, const compare::GateResult& gate,
                      const ComparisonStyle& style);
/// What the words and figures mean, those that occur.
std::string comparison_legend(const compare::Comparison& comparison, const ComparisonStyle& style);
/// A paragraph per kind of verdict that occurs: what follows from it, and the next experiment.
std::string comparison_explained(const compare::Comparison& comparison,
                                 const ComparisonStyle& style);

/// "2 of 12 rows did not pass".
std::string gate_summary(const compare::GateResult& gate);
/// Name of a gate's row: "QD32 IOPS".
std::string gate_row_words(const compare::Comparison& comparison, const compare::GateRow& row);

}  // namespace uringbench::report
