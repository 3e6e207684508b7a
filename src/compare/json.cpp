// A comparison as JSON; docs/schema/comparison-v1.schema.json is the same thing for machines.
#include <cmath>
#include <nlohmann/json.hpp>

#include "compare/compare.hpp"

namespace uringbench::compare {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

// As in result documents: a key is left out where there is nothing to say, because null, NaN or 0
// would look like an answer.

void put(Json& object, const char* key, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) object[key] = *value;
}

void put_text(Json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

// Both sides, or the one that is there by its name: an unbounded side is absent.
void put_interval(Json& object, const char* key, const std::optional<double>& low,
                  const std::optional<double>& high) {
  const bool has_low = low && std::isfinite(*low), has_high = high && std::isfinite(*high);
  if (has_low && has_high) {
    object[key] = {*low, *high};
  } else if (has_low) {
    object[std::string(key) + "_low"] = *low;
  } else if (has_high) {
    object[std::string(key) + "_high"] = *high;
  }
}

template <typename T, typename ToValue>
Json to_array(const std::vector<T>& items, ToValue to_value) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(to_value(item));
  return array;
}

const char* unit_name(Unit unit) {
  switch (unit) {
    case Unit::per_second:
      return "per_second";
    case Unit::bytes_per_second:
      return "bytes_per_second";
    case Unit::nanoseconds:
      return "nanoseconds";
    case Unit::fraction:
      return "fraction";
  }
  return "";
}

// The word of the tables, but for "<1%", which would be another word for every limit.
std::string verdict_name(Verdict verdict) {
  return verdict == Verdict::small ? "SMALL" : verdict_word(verdict, 0);
}

const char* kind_name(Difference::Kind kind) {
  switch (kind) {
    case Difference::Kind::fatal:
      return "fatal";
    case Difference::Kind::free:
      return "free";
    case Difference::Kind::declared:
      return "declared";
    case Difference::Kind::warning:
      return "warning";
    case Difference::Kind::unknown:
      return "unknown";
  }
  return "";
}

Json limit_value(const Limit& limit) {
  Json object;
  put_text(object, "cells", limit.cells);
  object["metric"] = limit.metric;
  object["fraction"] = limit.fraction;
  return object;
}

Json options_value(const Options& options) {
  Json object;
  object["alpha"] = options.alpha;
  object["confidence"] = options.confidence;
  object["gate_metrics"] = options.gate_metrics;
  object["metrics"] = options.metrics;
  object["min_effects"] = to_array(options.min_effects, limit_value);
  object["varies"] = options.varies;
  object["filters"] = options.filters;
  object["baseline_is_previous"] = options.baseline_is_previous;
  object["strict_environment"] = options.strict_environment;
  object["bad_runs_spoil_a_cell"] = options.bad_runs_spoil_a_cell;
  if (options.bootstrap_seed) object["bootstrap_seed"] = *options.bootstrap_seed;
  return object;
}

Json label_value(const Label& label) {
  Json object;
  object["name"] = label.name;
  object["files"] = label.files;
  object["runs"] = label.runs;
  object["counted"] = label.counted;
  object["blocks"] = label.blocks;
  object["boots"] = label.boots;
  object["kernels"] = label.kernels;
  object["binaries"] = label.binaries;
  object["machines"] = label.machines;
  put_text(object, "first_start", label.first_start);
  put_text(object, "last_start", label.last_start);
  put_text(object, "imported_from", label.imported_from);
  return object;
}

Json metric_value(const Metric& metric) {
  Json object;
  object["name"] = metric.name;
  object["title"] = metric.title;
  object["unit"] = unit_name(metric.unit);
  object["direction"] =
      metric.direction == Direction::higher_is_better ? "higher-is-better" : "lower-is-better";
  object["gated"] = metric.gated;
  object["min_effect"] = metric.min_effect;
  put(object, "percentile", metric.percentile);
  return object;
}

Json figure_value(const Figure& figure) {
  Json object;
  object["n"] = figure.n;
  put(object, "median", figure.median);
  put(object, "cv", figure.cv);
  if (figure.interval) {
    put_interval(object, "ci", figure.interval->low, figure.interval->high);
    put(object, "coverage", figure.interval->coverage);
  }
  put(object, "within_run_cv", figure.within_run_cv);
  put(object, "within_run_r1", figure.within_run_r1);
  object["outliers"] = figure.outliers;
  object["values"] = Json::array();
  for (const double value : figure.values) {
    if (std::isfinite(value)) object["values"].push_back(value);
  }
  return object;
}

Json estimate_value(const Estimate& estimate) {
  Json object;
  object["method"] = "hodges-lehmann";
  put(object, "change", estimate.change);
  put_interval(object, "ci", estimate.low, estimate.high);
  put(object, "coverage", estimate.coverage);
  object["test"] = estimate.paired ? "wilcoxon-signed-rank" : "mann-whitney";
  object["exact"] = estimate.exact;
  put(object, "statistic", estimate.statistic);
  put(object, "p", estimate.p);
  put(object, "p_holm", estimate.p_holm);
  object["n_from"] = estimate.n_from;
  object["n_to"] = estimate.n_to;
  if (estimate.paired) object["zeros"] = estimate.zeros;
  if (const auto& second = estimate.second_opinion) {
    put_interval(object, "bootstrap_ci", second->low, second->high);
  }
  return object;
}

// Labels and metrics stand for themselves, by name: nobody shall count to find out which one it is.
class Writer {
 public:
  explicit Writer(const Comparison& comparison) : comparison_(comparison) {}

  Json contrasts(const std::vector<Contrast>& contrasts) const {
    return to_array(contrasts, [&](const Contrast& contrast) {
      Json object;
      object["from"] = label(contrast.from);
      object["to"] = label(contrast.to);
      object["verdict"] = verdict_name(contrast.verdict);
      put_text(object, "reason", contrast.reason);
      object["thin_tail"] = contrast.thin_tail;
      if (contrast.runs_needed) object["runs_needed"] = *contrast.runs_needed;
      if (contrast.estimate) object["estimate"] = estimate_value(*contrast.estimate);
      return object;
    });
  }

  Json cell(const CellRow& cell) const {
    Json object;
    object["id"] = cell.id;
    object["name"] = cell.name;
    object["words"] = Json::object();
    for (const auto& [key, value] : cell.words) object["words"][key] = value;
    object["sides"] = Json::array();
    for (std::size_t i = 0; i < cell.sides.size(); ++i) {
      const CellSide& side = cell.sides[i];
      object["sides"].push_back({{"label", label(i)},
                                 {"present", side.present},
                                 {"runs", side.runs},
                                 {"counted", side.counted},
                                 {"left_out", side.left_out},
                                 {"doubts", side.doubts}});
    }
    object["unstated"] = cell.unstated;
    object["metrics"] = to_array(cell.metrics, [&](const MetricRow& row) {
      Json value;
      value["metric"] = metric(row.metric);
      value["unit"] = unit_name(comparison_.metrics.at(row.metric).unit);
      value["min_effect"] = row.min_effect;
      value["figures"] = Json::array();
      for (std::size_t i = 0; i < row.figures.size(); ++i) {
        Json figure;
        figure["label"] = label(i);
        figure.update(figure_value(row.figures[i]));
        value["figures"].push_back(std::move(figure));
      }
      value["contrasts"] = contrasts(row.contrasts);
      value["steps"] = contrasts(row.steps);
      return value;
    });
    return object;
  }

  Json geomean(const Geomean& geomean) const {
    Json object;
    object["metric"] = metric(geomean.metric);
    object["from"] = label(geomean.from);
    object["to"] = label(geomean.to);
    object["cells"] = geomean.cells;
    object["of"] = geomean.of;
    put(object, "change", geomean.change);
    put_interval(object, "ci", geomean.low, geomean.high);
    return object;
  }

  Json gate(const GateResult& gate) const {
    Json object;
    object["code"] = static_cast<int>(gate.code);
    object["strict_code"] = static_cast<int>(gate.strict_code);
    object["line"] = gate.line;
    object["rows"] = to_array(gate.rows, [&](const GateRow& row) {
      Json value;
      value["name"] = row.name;
      // A cell that only was expected is in no result.
      if (row.cell) value["cell"] = comparison_.cells.at(*row.cell).id;
      if (row.metric < comparison_.metrics.size()) value["metric"] = metric(row.metric);
      value["outcome"] = outcome_word(row.outcome);
      value["margin"] = row.margin;
      put_text(value, "reason", row.reason);
      put(value, "chance_of_false_alarm", row.chance_of_false_alarm);
      return value;
    });
    object["notes"] = to_array(gate.notes, note);
    return object;
  }

  static Json note(const Note& note) {
    return Json{{"code", note.code}, {"message", note.message}};
  }

 private:
  const std::string& label(std::size_t index) const { return comparison_.labels.at(index).name; }
  const std::string& metric(std::size_t index) const { return comparison_.metrics.at(index).name; }

  const Comparison& comparison_;
};

}  // namespace

std::string to_json(const Comparison& comparison, const GateResult* gate) {
  const Writer writer(comparison);
  Json root;
  root["schema"]["name"] = "uringbench.comparison";
  root["schema"]["version"] = kVersion;
  root["options"] = options_value(comparison.options);
  root["paired"] = comparison.paired;
  root["family"] = comparison.family;
  root["step_family"] = comparison.step_family;
  root["cells_compared"] = comparison.cells_compared;
  root["verdicts"] = Json::object();
  for (const Verdict verdict :
       {Verdict::improved, Verdict::regressed, Verdict::small, Verdict::same, Verdict::unknown,
        Verdict::insufficient, Verdict::missing, Verdict::not_comparable}) {
    root["verdicts"][verdict_name(verdict)] = comparison.count(verdict);
  }
  root["labels"] = to_array(comparison.labels, label_value);
  root["metrics"] = to_array(comparison.metrics, metric_value);
  root["same"] = comparison.same;
  root["differences"] = to_array(comparison.differences, [](const Difference& difference) {
    return Json{{"kind", kind_name(difference.kind)},
                {"what", difference.what},
                {"values", difference.values}};
  });
  root["notes"] = to_array(comparison.notes, Writer::note);
  root["extra_cells"] = comparison.extra_cells;
  root["geomeans"] =
      to_array(comparison.geomeans, [&](const Geomean& one) { return writer.geomean(one); });
  root["cells"] = to_array(comparison.cells, [&](const CellRow& one) { return writer.cell(one); });
  if (gate != nullptr) root["gate"] = writer.gate(*gate);
  // Names of files are bytes, not text: bad ones become U+FFFD.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace uringbench::compare
