// Comparisons made by hand: what the room of compare could have found.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/compare.hpp"

namespace uringbench::testing {

using compare::CellRow;
using compare::CellSide;
using compare::Comparison;
using compare::Contrast;
using compare::Difference;
using compare::Estimate;
using compare::Figure;
using compare::Geomean;
using compare::Label;
using compare::Metric;
using compare::MetricRow;
using compare::Verdict;

inline Metric iops_metric() {
  return {
      "iops",       "IOPS", compare::Direction::higher_is_better, compare::Unit::per_second, 0.01,
      std::nullopt, true};
}
inline Metric cpu_metric() {
  return {"cpu",
          "CPU per I/O",
          compare::Direction::lower_is_better,
          compare::Unit::nanoseconds,
          0.02,
          std::nullopt,
          false};
}
inline Metric p99_metric() {
  return {
      "p99", "latency p99", compare::Direction::lower_is_better, compare::Unit::nanoseconds, 0.05,
      0.99,  false};
}

inline Label label(const std::string& name, std::size_t runs, const std::string& kernel) {
  Label label;
  label.name = name;
  label.files = {name + ".json"};
  label.runs = label.counted = runs;
  label.boots = 1;
  label.kernels = {kernel};
  label.binaries = {"0.1.0 (0123abc)"};
  label.machines = {"Example CPU 3000, 8 CPUs"};
  label.first_start = "2026-11-30T10:00:00.000Z";
  label.last_start = "2026-11-30T10:10:00.000Z";
  return label;
}

inline Figure figure(double median, double cv, std::size_t n) {
  Figure figure;
  figure.n = n;
  figure.median = median;
  for (std::size_t i = 0; i < n; ++i) {
    // Runs to both sides of the median.
    const double place = n > 1 ? 2 * static_cast<double>(i) / static_cast<double>(n - 1) - 1 : 0;
    figure.values.push_back(median * (1 + 1.5 * cv * place));
  }
  if (n > 1) figure.cv = cv;
  if (n == 1) {
    figure.within_run_cv = cv;
    figure.within_run_r1 = 0.25;
  }
  if (n >= 6) figure.interval = {median * (1 - cv), median * (1 + cv), 0.96875};
  return figure;
}

inline Contrast contrast(std::size_t from, std::size_t to, double change, double low, double high,
                         Verdict verdict, std::size_t n = 6) {
  Contrast contrast{from, to, verdict, Estimate{}, "", false, std::nullopt};
  Estimate& estimate = *contrast.estimate;
  estimate.change = change;
  estimate.low = low;
  estimate.high = high;
  estimate.coverage = 0.958874458874459;
  estimate.p = low > 0 || high < 0 ? 0.00216450216450216 : 0.24025974025974;
  estimate.p_holm = std::min(1.0, estimate.p * 6);
  estimate.statistic = 0;
  estimate.n_from = estimate.n_to = n;
  return contrast;
}

/// Without anything to calculate from.
inline Contrast no_contrast(std::size_t from, std::size_t to, Verdict verdict, std::string reason) {
  return {from, to, verdict, std::nullopt, std::move(reason), false, std::nullopt};
}

inline CellRow cell(const std::string& name, std::size_t labels, std::size_t runs = 6) {
  CellRow row;
  row.name = name;
  const std::string depth = name.starts_with("QD") ? name.substr(2) : name;
  row.id = "randread bs=512 qd=" + depth;
  row.words = {{"rw", "randread"}, {"bs", "512"}, {"qd", depth}};
  row.sides.assign(labels, CellSide{true, runs, runs, {}, {}});
  return row;
}

inline MetricRow row(std::size_t metric, double min_effect, std::vector<Figure> figures,
                     std::vector<Contrast> contrasts, std::vector<Contrast> steps = {}) {
  return {metric, min_effect, std::move(figures), std::move(contrasts), std::move(steps)};
}

/// The task-work series of three kernels on null_blk, with steps and CPU time beside.
inline Comparison task_work_series() {
  Comparison out;
  out.options.baseline_is_previous = true;
  out.labels = {label("base", 6, "5.18.0-rc1"), label("patch1-10", 6, "5.18.0-rc1-p10"),
                label("patch1-11", 6, "5.18.0-rc1-p11")};
  out.metrics = {iops_metric(), cpu_metric()};
  out.family = 6;
  out.step_family = 3;
  out.cells_compared = 3;
  out.same = {"/dev/nullb0",      "randread 512",         "1 thread",
              "direct",           "interrupt-driven",     "fixed buffers",
              "registered files", "batches as the depth", "5 s after 1 s"};
  out.differences = {
      {Difference::Kind::free, "kernel", {"5.18.0-rc1", "5.18.0-rc1-p10", "5.18.0-rc1-p11"}},
      {Difference::Kind::warning, "load average", {"0.1", "0.1", "2.4"}}};
  out.notes = {{"not-interleaved",
                "all runs of base precede those of the others: drift cannot be "
                "separated from the change"}};
  const auto iops = [](double base, double p10, double p11, double cv) {
    return std::vector{figure(base, cv, 6), figure(p10, cv, 6), figure(p11, cv, 6)};
  };
  for (const char* name : {"QD1", "QD4", "QD32"}) out.cells.push_back(cell(name, 3));
  out.cells[0].metrics = {
      row(0, 0.01, iops(1.88e6, 2.15e6, 2.19e6, 0.004),
          {contrast(0, 1, 0.1436, 0.139, 0.148, Verdict::improved),
           contrast(0, 2, 0.164, 0.159, 0.169, Verdict::improved)},
          {contrast(1, 2, 0.0186, 0.011, 0.026, Verdict::improved)}),
      row(1, 0.02, {figure(505, 0.006, 6), figure(441, 0.006, 6), figure(433, 0.006, 6)},
          {contrast(0, 1, -0.127, -0.133, -0.12, Verdict::improved),
           contrast(0, 2, -0.143, -0.15, -0.137, Verdict::improved)})};
  out.cells[1].metrics = {
      row(0, 0.01, iops(2.8e6, 3.06e6, 3.11e6, 0.006),
          {contrast(0, 1, 0.092, 0.084, 0.1, Verdict::improved),
           contrast(0, 2, 0.1107, 0.103, 0.119, Verdict::improved)},
          {contrast(1, 2, 0.0163, 0.006, 0.027, Verdict::improved)}),
      row(1, 0.02, {figure(342, 0.01, 6), figure(340, 0.01, 6), figure(341, 0.01, 6)},
          {contrast(0, 1, -0.006, -0.012, 0.004, Verdict::same),
           contrast(0, 2, -0.003, -0.01, 0.007, Verdict::same)})};
  out.cells[2].metrics = {
      row(0, 0.01, iops(3.61e6, 3.81e6, 3.96e6, 0.019),
          {contrast(0, 1, 0.0554, 0.031, 0.078, Verdict::improved),
           contrast(0, 2, 0.0964, 0.071, 0.121, Verdict::improved)},
          {contrast(1, 2, 0.0394, -0.004, 0.083, Verdict::unknown)}),
      row(1, 0.02, {figure(265, 0.02, 6), figure(259, 0.02, 6), figure(240, 0.02, 6)},
          {contrast(0, 1, -0.021, -0.043, 0.004, Verdict::unknown),
           contrast(0, 2, -0.092, -0.115, -0.066, Verdict::improved)})};
  out.cells[2].metrics[0].steps[0].runs_needed = 96;
  out.cells[2].metrics[0].steps[0].reason = "runs vary by 1.9%";
  out.geomeans = {{0, 0, 1, 3, 3, 0.0965, std::nullopt, std::nullopt},
                  {0, 0, 2, 3, 3, 0.1232, std::nullopt, std::nullopt}};
  return out;
}

/// Three kernels in 12 randomised blocks, where not everything got an answer.
inline Comparison paired_blocks() {
  Comparison out;
  out.paired = true;
  out.family = 6;
  out.cells_compared = 3;
  out.labels = {label("base", 12, "6.18-rc4"), label("patch1-10", 12, "6.18-rc4-p10"),
                label("patch11", 12, "6.18-rc4-p11")};
  for (Label& one : out.labels) {
    one.blocks = 12;
    one.boots = 4;
    one.files = {"ab.json"};
  }
  out.labels[2].counted = 11;
  out.metrics = {iops_metric()};
  out.same = {"nvme0n1 P5800X fw L0310200",
              "randread 4k",
              "O_DIRECT",
              "1 thread",
              "IOPOLL",
              "fixed buffers",
              "30 s after 5 s"};
  out.differences = {
      {Difference::Kind::declared, "kernel", {"6.18-rc4", "6.18-rc4-p10", "6.18-rc4-p11"}},
      {Difference::Kind::warning, "temperature at start", {"41 C", "41 C", "47 C"}},
      {Difference::Kind::unknown, "write cache", {"on", "unknown", "on"}}};
  const auto pairs = [](std::size_t to, double change, double low, double high, Verdict verdict) {
    Contrast one = contrast(0, to, change, low, high, verdict, 12);
    one.estimate->paired = true;
    one.estimate->coverage = 0.95751953125;
    return one;
  };
  for (const char* name : {"QD1", "QD4", "QD32"}) out.cells.push_back(cell(name, 3, 12));
  out.cells[0].metrics = {row(
      0, 0.01, {figure(0.402e6, 0.004, 12), figure(0.405e6, 0.004, 12), figure(0.406e6, 0.004, 12)},
      {pairs(1, 0.007, 0.005, 0.009, Verdict::small),
       pairs(2, 0.0102, 0.008, 0.012, Verdict::improved)})};
  out.cells[1].metrics = {row(
      0, 0.01, {figure(1.391e6, 0.006, 12), figure(1.423e6, 0.006, 12), figure(1.424e6, 0.006, 12)},
      {pairs(1, 0.023, 0.019, 0.027, Verdict::improved),
       pairs(2, 0.024, 0.02, 0.028, Verdict::improved)})};
  out.cells[2].metrics = {row(
      0, 0.01, {figure(2.604e6, 0.019, 12), figure(2.611e6, 0.019, 12), figure(2.563e6, 0.019, 11)},
      {pairs(1, 0.003, -0.011, 0.016, Verdict::unknown),
       pairs(2, -0.016, -0.029, -0.002, Verdict::unknown)})};
  Contrast& noisy = out.cells[2].metrics[0].contrasts[0];
  noisy.reason = "runs vary by 1.9%, 12 pairs exclude only changes beyond -1.1% and +1.6%";
  noisy.runs_needed = 24;
  Contrast& open = out.cells[2].metrics[0].contrasts[1];
  open.reason = "p is 0.027, after correction 0.054: not established.";
  open.runs_needed = 27;
  out.cells[2].sides[2] = {true, 12, 11, {"1 with I/O errors (EIO 13)"}, {"1 unsteady"}};
  out.geomeans = {{0, 0, 1, 3, 3, 0.011, 0.006, 0.016}, {0, 0, 2, 3, 3, 0.006, -0.001, 0.012}};
  return out;
}

/// One run a side: no statistics.
inline Comparison single_runs() {
  Comparison out;
  out.labels = {label("base", 1, "6.18.44"), label("new", 1, "6.18.44")};
  out.metrics = {iops_metric(), p99_metric()};
  out.family = 2;
  out.cells_compared = 2;
  for (const char* name : {"QD1", "QD128"}) {
    Contrast one = contrast(0, 1, -0.031, 0, 0, Verdict::insufficient, 1);
    one.estimate->low = one.estimate->high = std::nullopt;
    one.estimate->p = one.estimate->coverage = 1;
    one.estimate->p_holm = 1;
    one.runs_needed = 5;
    Contrast latency = one;
    latency.estimate->p_holm = std::nullopt;
    latency.estimate->change = 12.5;
    out.cells.push_back(cell(name, 2, 1));
    out.cells.back().metrics = {
        row(0, 0.01, {figure(153210, 0.031, 1), figure(148460, 0.02, 1)}, {one}),
        row(1, 0.05, {figure(1.2e6, 0.2, 1), figure(16.2e6, 0.2, 1)}, {latency})};
  }
  out.cells[1].sides[1].doubts = {"1 unsteady"};
  return out;
}

/// Cells that are missing, new, and measured in another way; a device that is another one.
inline Comparison broken_pair() {
  Comparison out;
  out.labels = {label("v1.0", 6, "6.18.44"), label("v1.1", 8, "6.18.44")};
  out.labels[1].counted = 5;
  out.labels[1].boots = 0;
  out.labels[1].files = {"a.json", "b.json", "c.json", "d.json"};
  out.labels[0].imported_from = "fio";
  out.metrics = {iops_metric()};
  out.family = 1;
  out.cells_compared = 1;
  out.differences = {{Difference::Kind::fatal, "device model", {"Example SSD 9", "Example SSD 10"}},
                     {Difference::Kind::free, "binary", {"0.1.0 (0123abc)", "0.2.0 (4567def)"}}};
  out.extra_cells = {"QD256 (v1.1)"};
  for (const char* name : {"QD1", "QD2", "QD4", "QD8"}) out.cells.push_back(cell(name, 2));
  Figure none;
  out.cells[0].metrics = {row(0, 0.01, {figure(52000, 0.01, 6), figure(47000, 0.01, 5)},
                              {contrast(0, 1, -0.0962, -0.11, -0.08, Verdict::regressed)})};
  out.cells[1].metrics = {row(0, 0.01, {figure(98000, 0.01, 6), none},
                              {no_contrast(0, 1, Verdict::missing, "v1.1 has no such cell")})};
  out.cells[1].sides[1] = {};
  out.cells[2].metrics = {
      row(0, 0.01, {figure(180000, 0.01, 6), none},
          {no_contrast(0, 1, Verdict::missing, "none of 3 runs of v1.1 counts")})};
  out.cells[2].sides[1] = {true, 3, 0, {"2 with I/O errors (EIO 26)", "1 interrupted"}, {}};
  out.cells[3].metrics = {row(0, 0.01, {figure(300000, 0.01, 6), figure(310000, 0.01, 5)},
                              {no_contrast(0, 1, Verdict::not_comparable, "")})};
  out.geomeans = {{0, 0, 1, 1, 4, -0.0962, std::nullopt, std::nullopt}};
  return out;
}

/// Twelve cells whose names leave no room, with figures far apart and labels that were joined.
inline Comparison long_names() {
  Comparison out;
  out.labels = {label("6.17.13-301.fc43.x86_64+debug-info-and-more-words", 10, "6.17.13"),
                label("6.18.44", 10, "6.18.44")};
  out.metrics = {iops_metric(), p99_metric()};
  out.options.metrics = {"p99"};
  out.options.min_effects = {{"*/qd1", "iops", 0.02}};
  out.options.bootstrap_seed = 7;
  out.family = 12;
  out.cells_compared = 12;
  for (std::size_t i = 0; i < 12; ++i) {
    const double base = 800 * std::pow(3, static_cast<double>(i));
    out.cells.push_back(
        cell("randread bs=" + std::to_string(512 << i) +
                 " qd=128 submit=32 complete=32 threads=1 engine=io_uring polled=1 sqpoll=1",
             2, 10));
    const double low = i % 3 == 0 ? -0.0104 : -0.008;
    Contrast one =
        contrast(0, 1, 0.001, low, 0.009, i % 3 == 0 ? Verdict::unknown : Verdict::same, 10);
    if (i % 3 == 0) one.runs_needed = 10 + i;
    one.estimate->second_opinion = {i == 5 ? 0.0002 : -0.007, 0.008};
    Contrast latency = contrast(0, 1, 0.02, 0.011, 0.032, Verdict::small, 10);
    latency.estimate->p_holm = std::nullopt;
    out.cells.back().metrics = {
        row(0, i == 0 ? 0.02 : 0.01, {figure(base, 0.006, 10), figure(base * 1.001, 0.006, 10)},
            {one}),
        row(1, 0.05,
            {figure(9e5 / (1.0 + static_cast<double>(i)), 0.03, 10),
             figure(9.2e5 / (1.0 + static_cast<double>(i)), 0.03, 10)},
            {latency})};
  }
  return out;
}

/// A sweep: `cells` cells, three labels, every verdict in turn.
inline Comparison big_sweep(std::size_t cells = 1000) {
  Comparison out = task_work_series();
  out.cells.clear();
  out.family = 2 * cells;
  constexpr std::array kTurns{Verdict::improved, Verdict::same,         Verdict::unknown,
                              Verdict::small,    Verdict::insufficient, Verdict::regressed};
  for (std::size_t i = 0; i < cells; ++i) {
    out.cells.push_back(cell("QD" + std::to_string(i + 1), 3));
    const double change = (i % 6 == 5 ? -1 : 1) * 0.0004 * static_cast<double>(i % 60);
    const double base = 1e6 + 1000.0 * static_cast<double>(i);
    Contrast one = contrast(0, 1, change, change - 0.003, change + 0.003, kTurns[i % 6]);
    Contrast two = contrast(0, 2, change, change - 0.003, change + 0.003, kTurns[(i + 3) % 6]);
    for (Contrast* each : {&one, &two}) {
      if (each->verdict == Verdict::unknown) each->runs_needed = 12 + i % 7;
    }
    out.cells.back().metrics = {
        row(0, 0.01, {figure(base, 0.01, 6), figure(base, 0.01, 6), figure(base, 0.01, 6)},
            {one, two})};
  }
  return out;
}

/// Names from somebody who means no good.
inline Comparison hostile_names() {
  Comparison out = broken_pair();
  out.labels[0].name = "a|b,\"c\"\x1b[31m\r\n| x |\xff\xef\xbf\xbe";
  out.labels[1].name = std::string(300, 'x') + "µ<script>&amp;*_`";
  out.labels[0].files = {"=cmd|' /C calc'!A0", "../\x07.json"};
  out.labels[0].kernels = {"6.18\x9b"};
  out.cells[0].name = "QD1|`<b>\t\x01";
  out.cells[1].name = std::string(250, 'W') + " µs, \"quoted\"";
  out.cells[1].metrics[0].contrasts[0].reason = "[click](http://x) \x1b]0;t\x07 | and <i>";
  out.cells[2].sides[1].left_out = {"2 \x1b[2J"};
  out.extra_cells = {"QD\xc3"};
  out.same = {"\x1b[H", "] ]]> <![CDATA["};
  out.differences[0].values = {"a\nb", "c\rd"};
  out.notes = {{"hostile", "\x1b[1m *bold* | _x_"}};
  return out;
}

/// Numbers that no document should hold, and rows without figures.
inline Comparison impossible_numbers() {
  Comparison out = task_work_series();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  MetricRow& first = out.cells[0].metrics[0];
  first.figures[0].median = 1e300;
  first.figures[1].median = 0;
  first.figures[2].median = nan;
  first.figures[1].values[0] = infinity;
  first.contrasts[0].estimate->change = infinity;
  first.contrasts[0].estimate->high = infinity;
  first.contrasts[1].estimate->change = 1e6;
  first.contrasts[1].estimate->high = nan;
  out.cells[1].metrics[0].contrasts[0].estimate->low = std::nullopt;
  out.cells[1].metrics[0].contrasts[1].estimate->high = std::nullopt;
  out.geomeans[0].change = infinity;
  return out;
}

}  // namespace uringbench::testing
