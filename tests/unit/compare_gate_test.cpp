#include <gtest/gtest.h>

#include "compare_support.hpp"

namespace uringbench::compare {
namespace {

using base::ExitCode;

GateResult gated(const std::vector<Side>& sides, const GateRules& rules = {}, Options options = {},
                 const std::vector<std::string>& expected = {}) {
  options.gate_metrics = gated_metrics(rules);
  options.bad_runs_spoil_a_cell = true;
  return gate(compare(sides, options), rules, expected);
}

GateRules margins(const std::string& text) {
  GateRules rules;
  rules.margins = parse_limits("--margin", text);
  return rules;
}

std::vector<Side> cells(const std::vector<std::pair<double, double>>& centres, std::size_t n = 8,
                        double spread = 0.003) {
  std::vector<result::Cell> base, next;
  int depth = 1;
  for (const auto& [from, to] : centres) {
    base.push_back(cell_of(depth, around(from, n, spread)));
    next.push_back(cell_of(depth++, around(to, n, spread)));
  }
  return {side_of("base", document_of(base, "1")), side_of("new", document_of(next, "2"))};
}

TEST(Gate, HasOneCodeForEachAnswer) {
  EXPECT_EQ(gated(cells({{100, 100}})).code, ExitCode::done);
  EXPECT_EQ(gated(cells({{100, 150}})).code, ExitCode::done) << "faster is fine";
  EXPECT_EQ(gated(cells({{100, 50}})).code, ExitCode::regression);
  EXPECT_EQ(gated(cells({{100, 98.1}}, 8, 0.02)).code, ExitCode::inconclusive);
}

TEST(Gate, PrecedenceIsNotComparableMissingRegressionInconclusive) {
  auto sides = cells({{100, 50}, {100, 100}, {100, 100}, {100, 98.1}});
  for (auto& side : sides) {  // the fourth is too noisy to tell
    side.sources[0].document.cells[3] =
        cell_of(4, around(side.label == "base" ? 100 : 98.1, 8, 0.02));
  }
  EXPECT_EQ(gated(sides).code, ExitCode::regression);
  auto& next = sides[1].sources[0].document.cells;
  const auto all = next;
  next.erase(next.begin() + 1);
  EXPECT_EQ(gated(sides).code, ExitCode::missing);
  next = all;
  next.erase(next.begin() + 1);
  next.back().asked = {};
  next.back().asked.set("depth", 77);
  const auto result = gated(sides);
  EXPECT_EQ(result.code, ExitCode::not_comparable);
  EXPECT_EQ(result.count(Outcome::regression), 1U);
  EXPECT_EQ(result.count(Outcome::missing), 1U);
}

TEST(Gate, MarginsPerMetricAndCell) {
  const auto sides = cells({{100, 95}, {100, 95}});
  EXPECT_EQ(gated(sides).code, ExitCode::regression);
  EXPECT_EQ(gated(sides, margins("iops=7%")).code, ExitCode::done);
  auto rules = margins("iops=7%");
  const auto strict = parse_limits("--margin", "qd=2:iops=1%");
  rules.margins.insert(rules.margins.end(), strict.begin(), strict.end());
  const auto result = gated(sides, rules);
  EXPECT_EQ(result.count(Outcome::passed), 1U);
  EXPECT_EQ(result.count(Outcome::regression), 1U);
  EXPECT_DOUBLE_EQ(result.rows[1].margin, 0.01);
}

TEST(Gate, GatesWhatHasAMargin) {
  EXPECT_EQ(gated_metrics({}), std::vector<std::string>{"iops"});
  EXPECT_EQ(gated_metrics(margins("p99=10%")), std::vector<std::string>{"p99"});
  EXPECT_EQ(gated_metrics(margins("qd=1:p99=10%")), (std::vector<std::string>{"iops", "p99"}));
  // Only this cell has a margin for CPU time.
  const auto result = gated(cells({{100, 100}, {100, 100}}), margins("qd=2:cpu=3%"));
  EXPECT_EQ(result.rows.size(), 3U);
  EXPECT_EQ(result.code, ExitCode::done);
}

TEST(Gate, AnAbsentMetricIsMissing) {
  EXPECT_EQ(gated(cells({{100, 100}}), margins("iops=2%,p99=10%")).code, ExitCode::missing);
}

TEST(Gate, NothingMeasuredIsNeverGreen) {
  EXPECT_EQ(gated({side_of("base", document_of({})), side_of("new", document_of({}))}).code,
            ExitCode::missing);
  auto sides = cells({{100, 100}});
  for (auto& side : sides) side.sources[0].document.cells[0].runs.clear();
  EXPECT_EQ(gated(sides).code, ExitCode::missing);
  for (const std::size_t n : {1U, 2U, 3U}) {
    const auto result = gated(cells({{100, 100}}, n));
    EXPECT_EQ(result.code, ExitCode::missing) << n;
    EXPECT_NE(result.rows[0].reason.find("too few runs"), std::string::npos);
  }
  Options nothing;
  nothing.filters = {"qd=99"};
  EXPECT_EQ(gated(cells({{100, 100}}), {}, nothing).code, ExitCode::missing);
}

TEST(Gate, OneFailedRunSpoilsItsCell) {
  using Spoil = void (*)(result::Document&);
  const std::vector<Spoil> spoils{
      [](result::Document& d) { d.cells[0].runs[0].errors.count = 1; },
      [](result::Document& d) { d.cells[0].runs[0].short_reads = 1; },
      [](result::Document& d) { d.cells[0].runs[0].stalled = true; },
      [](result::Document& d) { d.cells[0].runs[0].never_completed = 3; },
      [](result::Document& d) { d.cells[0].runs[0].interrupted = true; },
      [](result::Document& d) { d.cells[0].runs[0].iops = 0; },
      [](result::Document& d) { d.cells[0].runs[0].ios = 0; },
      [](result::Document& d) { d.cells[0].runs[0].elapsed_ns = 0; },
      [](result::Document& d) { d.cells[0].runs[0].iops = 1e300; },
      [](result::Document& d) { d.session.interrupted = true; }};
  for (const Spoil spoil : spoils) {
    for (const std::size_t side : {0U, 1U}) {
      auto sides = cells({{100, 100}});
      spoil(sides[side].sources[0].document);
      EXPECT_EQ(gated(sides).code, ExitCode::missing);
    }
  }
}

TEST(Gate, TooFewRunsAreNotForgiven) {
  // Four runs a side cannot show anything among three cells, however large the loss.
  GateRules rules;
  rules.allow_inconclusive = true;
  const auto result = gated(cells({{100, 80}, {100, 80}, {100, 80}}, 4), rules);
  EXPECT_EQ(result.code, ExitCode::missing);
  EXPECT_NE(result.rows[0].reason.find("too few runs"), std::string::npos);
  EXPECT_EQ(gated(cells({{100, 100}, {100, 100}, {100, 100}}, 4), rules).code, ExitCode::done)
      << "but they can exclude one";
}

TEST(Gate, RunsWithoutTheFigureAreMissing) {
  auto sides = cells({{100, 100}});
  for (auto& side : sides) {
    for (auto& run : side.sources[0].document.cells[0].runs) {
      run.latency.emplace();
      run.latency->count = 100'000;
      run.latency->percentiles = {{"p99", 900 + run.index}};
    }
  }
  EXPECT_EQ(gated(sides, margins("p99=10%")).code, ExitCode::done);
  sides[1].sources[0].document.cells[0].runs[3].latency.reset();
  const auto result = gated(sides, margins("p99=10%"));
  EXPECT_EQ(result.code, ExitCode::missing);
  EXPECT_EQ(result.rows[0].reason, "1 of 8 runs of new have no latency p99");
}

TEST(Gate, BlocksWithoutAPartnerAreMissing) {
  auto sides = cells({{100, 100}}, 10);
  for (auto& side : sides) {
    side.sources[0].document.session.plan_id = "plan";
    for (auto& run : side.sources[0].document.cells[0].runs) run.block = run.index;
  }
  EXPECT_EQ(gated(sides).code, ExitCode::done);
  auto& runs = sides[1].sources[0].document.cells[0].runs;
  const auto all = runs;
  runs.pop_back();
  EXPECT_EQ(gated(sides).code, ExitCode::missing);
  runs = all;
  for (auto& run : runs) run.block.reset();
  EXPECT_EQ(gated(sides).code, ExitCode::missing);
}

TEST(Gate, SettingsThatOneSideDoesNotStateAreNotEqual) {
  auto sides = cells({{100, 100}});
  sides[1].sources[0].document.cells[0].id = "randread bs=4096";
  EXPECT_EQ(gated(sides).code, ExitCode::not_comparable);
  for (auto& side : sides) side.sources[0].document.cells[0].id = "";
  EXPECT_EQ(gated(sides).code, ExitCode::not_comparable);
  sides = cells({{100, 100}});
  sides[1].sources[0].document.cells[0].id += " newkey=3";
  EXPECT_EQ(gated(sides).code, ExitCode::not_comparable);
}

TEST(Gate, NamesAMarginForNoCell) {
  auto rules = margins("iops=2%,qd=77:iops=5%");
  const auto result = gated(cells({{100, 100}}), rules);
  EXPECT_EQ(result.code, ExitCode::done);
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_EQ(result.notes[0].code, "no-cell-fits");
}

TEST(Gate, LeniencyIsToldAndHidesNothingWorse) {
  GateRules rules;
  rules.allow_inconclusive = true;
  auto result = gated(cells({{100, 98.1}}, 8, 0.02), rules);
  EXPECT_EQ(result.code, ExitCode::done);
  EXPECT_EQ(result.strict_code, ExitCode::inconclusive);
  EXPECT_NE(result.line.find("WARN code=0"), std::string::npos) << result.line;
  EXPECT_EQ(gated(cells({{100, 50}}), rules).code, ExitCode::regression);
  rules.warn_only = true;
  EXPECT_EQ(gated(cells({{100, 50}}), rules).code, ExitCode::done);
  auto missing = cells({{100, 100}});
  missing[1].sources[0].document.cells.clear();
  EXPECT_EQ(gated(missing, rules).code, ExitCode::missing);
}

TEST(Gate, ExpectedCellsTakeTheBaselinesPlace) {
  auto sides = cells({{100, 100}, {100, 100}});
  sides[1].sources[0].document.cells.pop_back();
  EXPECT_EQ(gated(sides).code, ExitCode::missing);
  EXPECT_EQ(gated(sides, {}, {}, {"qd=1"}).code, ExitCode::done);
  EXPECT_EQ(gated(sides, {}, {}, {cell_id(1)}).code, ExitCode::done);
  const auto result = gated(sides, {}, {}, {"qd=1", "qd=3"});
  EXPECT_EQ(result.code, ExitCode::missing);
  EXPECT_EQ(result.rows.back().name, "qd=3");
}

TEST(Gate, WhatIsUnknownIsNotEqual) {
  auto sides = cells({{100, 100}});
  sides[1].sources[0].document.targets[0].device->firmware.reset();
  const auto result = gated(sides);
  EXPECT_EQ(result.code, ExitCode::not_comparable);
  EXPECT_NE(result.rows[0].reason.find("device firmware is unknown"), std::string::npos);
  Options options;
  options.varies = {"device"};
  EXPECT_EQ(gated(sides, {}, options).code, ExitCode::done);
}

TEST(Gate, SaysTheLineForScripts) {
  const auto result = gated(cells({{100, 100}, {100, 50}}));
  EXPECT_EQ(result.line,
            "uringbench-gate: FAIL code=3 cells=1/2 regression=1 inconclusive=0 missing=0 "
            "not-comparable=0 worst=QD2:iops:-50%");
  EXPECT_EQ(gated(cells({{100, 100}})).line.substr(0, 41),
            "uringbench-gate: PASS code=0 cells=0/1 re");
}

TEST(Gate, SaysWhenBothSidesAreOfOneSession) {
  auto sides = cells({{100, 100}});
  sides[1].sources[0].document.session.id = "1";
  const auto result = gated(sides);
  EXPECT_EQ(result.code, ExitCode::done);
  EXPECT_NE(result.line.find(" note=same-session"), std::string::npos) << result.line;
}

TEST(Gate, ABetterResultAsksForANewBaseline) {
  const auto result = gated(cells({{100, 110}}));
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_EQ(result.notes[0].code, "stale-baseline");
}

TEST(Gate, LowerIsBetterForTimes) {
  EXPECT_EQ(gated(cells({{100, 150}}), margins("cpu=5%")).code, ExitCode::done);
  EXPECT_EQ(gated(cells({{100, 50}}), margins("cpu=5%")).code, ExitCode::regression);
}

TEST(Gate, StatesTheChanceOfAFalseAlarm) {
  const auto result = gated(cells({{100, 100}}, 8, 0.05));
  ASSERT_TRUE(result.rows[0].chance_of_false_alarm);
  EXPECT_GT(*result.rows[0].chance_of_false_alarm, 0.05);
  EXPECT_LT(*gated(cells({{100, 100}})).rows[0].chance_of_false_alarm, 1e-3);
}

}  // namespace
}  // namespace uringbench::compare
