#include <gtest/gtest.h>

#include <algorithm>

#include "compare_support.hpp"

namespace uringbench::compare {
namespace {

std::vector<std::string> names_of(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const CellRow& cell : comparison.cells) names.push_back(cell.name);
  return names;
}

std::vector<Side> sides_of(std::vector<result::Cell> base, std::vector<result::Cell> next) {
  return {side_of("base", document_of(std::move(base), "1")),
          side_of("new", document_of(std::move(next), "2"))};
}

const Difference* difference(const Comparison& comparison, const std::string& what) {
  for (const Difference& one : comparison.differences) {
    if (one.what == what) return &one;
  }
  return nullptr;
}

bool has_note(const Comparison& comparison, const std::string& code) {
  return std::any_of(comparison.notes.begin(), comparison.notes.end(),
                     [&](const Note& note) { return note.code == code; });
}

TEST(CompareMatch, RowsAreInNaturalOrderWithShortNames) {
  const auto few = around(100, 6);
  const auto comparison = compare(sides_of({cell_of(32, few), cell_of(4, few), cell_of(1, few)},
                                           {cell_of(1, few), cell_of(32, few), cell_of(4, few)}),
                                  {});
  EXPECT_EQ(names_of(comparison), (std::vector<std::string>{"QD1", "QD4", "QD32"}));
  EXPECT_EQ(comparison.cells_compared, 3U);
}

TEST(CompareMatch, OneCellIsNamedByWhatItDoes) {
  EXPECT_EQ(names_of(compare(two(around(1, 6), around(1, 6)), {})),
            std::vector<std::string>{"randread 4k QD128"});
}

TEST(CompareMatch, AMissingCellIsMissingAndAnExtraOneIsTold) {
  const auto few = around(100, 6);
  const auto comparison =
      compare(sides_of({cell_of(1, few), cell_of(4, few)}, {cell_of(4, few), cell_of(8, few)}), {});
  ASSERT_EQ(comparison.cells.size(), 2U);
  EXPECT_EQ(only_contrast(comparison).verdict, Verdict::missing);
  EXPECT_TRUE(only_contrast(comparison).reason.starts_with("new does not have this cell"));
  ASSERT_EQ(comparison.extra_cells.size(), 1U);
  EXPECT_TRUE(has_note(comparison, "extra-cells"));
  ASSERT_FALSE(comparison.geomeans.empty());
  EXPECT_EQ(comparison.geomeans[0].cells, 1U);
  EXPECT_EQ(comparison.geomeans[0].of, 2U);
}

TEST(CompareMatch, AMissingCellNamesItsNearest) {
  const auto few = around(100, 6);
  const auto comparison =
      compare(sides_of({cell_of(1, few), cell_of(4, few)}, {cell_of(1, few), cell_of(8, few)}), {});
  EXPECT_EQ(comparison.cells[1].metrics[0].contrasts[0].reason,
            "new does not have this cell, but one with depth 8 instead of 4");
}

TEST(CompareMatch, OtherSettingsAreNamed) {
  const auto few = around(100, 6);
  const auto comparison = compare(sides_of({cell_of(1, few)}, {cell_of(4, few)}), {});
  const Contrast& contrast = only_contrast(comparison);
  EXPECT_EQ(contrast.verdict, Verdict::not_comparable);
  EXPECT_EQ(contrast.reason, "depth 1 vs 4");
  EXPECT_EQ(comparison.cells_compared, 0U);
  EXPECT_EQ(exit_code_of(comparison), base::ExitCode::not_comparable);
}

TEST(CompareMatch, VariesDeclaresASetting) {
  const auto few = around(100, 6);
  Options options;
  options.varies = {parse_varies("depth")};
  const auto comparison = compare(sides_of({cell_of(1, few)}, {cell_of(4, few)}), options);
  EXPECT_EQ(only_contrast(comparison).verdict, Verdict::same) << only_contrast(comparison).reason;
  EXPECT_THROW(compare(sides_of({cell_of(1, few), cell_of(2, few)}, {cell_of(4, few)}), options),
               base::UserError);
}

// What a document states of a setting counts also where its cell's name was left alone.
TEST(CompareMatch, SettingsInsideTheCellCount) {
  struct Case {
    const char* key;
    result::Settings::Value base, next;
    const char* told;
  };
  const std::vector<Case> cases{
      {"vectored", false, true, "vectored 0 vs 1"},
      {"fixed_buffers", true, false, "fixed-buffers 1 vs 0"},
      {"warmup_ns", std::int64_t{1'000'000'000}, std::int64_t{0}, "warmup 1 s vs 0 ns"},
      {"sqpoll_idle_ms", std::int64_t{1}, std::int64_t{1000}, "sqpoll-idle 1 vs 1000"},
  };
  const auto few = around(100, 6);
  for (const Case& one : cases) {
    auto base = cell_of(4, few), next = cell_of(4, few);
    base.asked.set(one.key, one.base);
    next.asked.set(one.key, one.next);
    const auto comparison = compare(sides_of({base}, {next}), {});
    EXPECT_EQ(only_contrast(comparison).verdict, Verdict::not_comparable) << one.key;
    EXPECT_EQ(only_contrast(comparison).reason, one.told);
  }
}

TEST(CompareMatch, WhatWasGrantedCounts) {
  const auto few = around(100, 6);
  auto base = cell_of(4, few), next = cell_of(4, few);
  base.granted.set("fixed_buffers", true);
  next.granted.set("fixed_buffers", false);  // a fallback
  EXPECT_EQ(only_contrast(compare(sides_of({base}, {next}), {})).verdict, Verdict::not_comparable);
}

TEST(CompareMatch, WhatDoesNotMatterMayDiffer) {
  const auto few = around(100, 6);
  auto base = cell_of(4, few), next = cell_of(4, few);
  base.asked.set("repeats", 6).set("seed", 1).set("stall_timeout_ns", 1).set("taskrun", "auto");
  next.asked.set("repeats", 12).set("seed", 2).set("stall_timeout_ns", 2).set("taskrun", "defer");
  base.granted.set("features", std::vector<std::string>{"A"});
  next.granted.set("features", std::vector<std::string>{"A", "B"});
  EXPECT_EQ(only_contrast(compare(sides_of({base}, {next}), {})).verdict, Verdict::same);
}

TEST(CompareMatch, AClampedBatchIsWhatItWasClampedTo) {
  const auto few = around(100, 6);
  const auto with_batch = [&](int asked, int granted) {
    result::Cell cell;
    cell.id = cell_id(8);
    cell.asked.set("batch_submit", asked);
    cell.granted.set("batch_submit", granted);
    cell.runs = cell_of(8, few).runs;
    return cell;
  };
  const auto verdict = [&](const result::Cell& a, const result::Cell& b) {
    return only_contrast(compare(sides_of({a}, {b}), {})).verdict;
  };
  EXPECT_EQ(verdict(with_batch(32, 8), with_batch(8, 8)), Verdict::same);
  EXPECT_EQ(verdict(with_batch(8, 8), with_batch(4, 4)), Verdict::not_comparable);
  EXPECT_EQ(verdict(with_batch(8, 8), with_batch(4, 8)), Verdict::not_comparable) << "spoilt";
}

TEST(CompareMatch, UntilCtrlCIsNoRuntime) {
  const auto few = around(100, 6);
  auto next = cell_of(4, few);
  result::Settings asked;
  asked.set("depth", 4);
  next.asked = asked;
  EXPECT_NE(only_contrast(compare(sides_of({cell_of(4, few)}, {next}), {}))
                .reason.find("runtime 1 s vs until Ctrl-C"),
            std::string::npos);
}

// --- devices, machines, kernels ---

using Change = void (*)(result::Document&);

std::vector<Side> with(Change change) {
  auto sides = two(around(100e3, 6), around(100e3, 6));
  change(sides[1].sources[0].document);
  return sides;
}

TEST(CompareFacts, AnotherDeviceIsNotComparable) {
  const std::vector<std::pair<const char*, Change>> cases{
      {"target size", [](result::Document& d) { d.targets[0].size_bytes /= 2; }},
      {"target kind", [](result::Document& d) { d.targets[0].kind = "file"; }},
      {"logical block", [](result::Document& d) { d.targets[0].logical_block_bytes = 4096; }},
      {"device model", [](result::Document& d) { d.targets[0].device->model = "Other"; }},
      {"device firmware", [](result::Document& d) { d.targets[0].device->firmware = "2"; }}};
  for (const auto& [what, change] : cases) {
    const auto comparison = compare(with(change), {});
    EXPECT_EQ(only_contrast(comparison).verdict, Verdict::not_comparable) << what;
    EXPECT_NE(only_contrast(comparison).reason.find(what), std::string::npos);
    Options options;
    options.varies = {"device"};
    EXPECT_EQ(only_contrast(compare(with(change), options)).verdict, Verdict::same) << what;
  }
}

TEST(CompareFacts, ABlockMoreIsAnotherSize) {
  for (const std::uint64_t size : {std::uint64_t{16} << 20, std::uint64_t{1} << 30}) {
    for (const std::uint64_t more : {1, 512, 1024, 4096, 49152, 1 << 20}) {
      auto sides = two(around(100e3, 6), around(100e3, 6));
      sides[0].sources[0].document.targets[0].size_bytes = size;
      sides[1].sources[0].document.targets[0].size_bytes = size + more;
      EXPECT_EQ(only_contrast(compare(sides, {})).verdict, Verdict::not_comparable) << more;
    }
  }
}

TEST(CompareFacts, AByteLessIsAnotherSize) {
  const auto comparison = compare(with([](result::Document& d) { --d.targets[0].size_bytes; }), {});
  EXPECT_NE(only_contrast(comparison).reason.find("1073741823"), std::string::npos);
}

TEST(CompareFacts, WhatIsAbsentOnOneSideIsUnknown) {
  const auto comparison =
      compare(with([](result::Document& d) { d.targets[0].device->firmware.reset(); }), {});
  EXPECT_EQ(only_contrast(comparison).verdict, Verdict::same);
  const Difference* firmware = difference(comparison, "device firmware");
  ASSERT_NE(firmware, nullptr);
  EXPECT_EQ(firmware->kind, Difference::Kind::unknown);
  EXPECT_EQ(firmware->values, (std::vector<std::string>{"1.0", "unknown"}));
}

TEST(CompareFacts, KernelAndBinaryAreFreeUnlessStrict) {
  const std::vector<std::pair<const char*, Change>> cases{
      {"kernel", [](result::Document& d) { d.identity.kernel_release = "7.0"; }},
      {"binary", [](result::Document& d) { d.tool.commit = "other"; }}};
  for (const auto& [what, change] : cases) {
    auto comparison = compare(with(change), {});
    ASSERT_NE(difference(comparison, what), nullptr);
    EXPECT_EQ(difference(comparison, what)->kind, Difference::Kind::free);
    EXPECT_EQ(only_contrast(comparison).verdict, Verdict::same);
    Options options;
    options.strict_environment = true;
    EXPECT_EQ(only_contrast(compare(with(change), options)).verdict, Verdict::not_comparable);
    options.varies = {what};
    comparison = compare(with(change), options);
    EXPECT_EQ(difference(comparison, what)->kind, Difference::Kind::declared);
    EXPECT_EQ(only_contrast(comparison).verdict, Verdict::same);
  }
}

TEST(CompareFacts, TheRestIsWorthAWarning) {
  const std::vector<std::pair<const char*, Change>> cases{
      {"CPU", [](result::Document& d) { d.identity.cpu_model = "Other"; }},
      {"governor", [](result::Document& d) { d.weather.governor = "powersave"; }},
      {"queue/scheduler", [](result::Document& d) { d.targets[0].queue["scheduler"] = "bfq"; }},
      {"kernel option nosmt", [](result::Document& d) { d.identity.kernel_cmdline = "a nosmt"; }},
      {"highest temperature of the machine",
       [](result::Document& d) {
         d.weather.temperature_celsius = {{"cpu", 90}};
       }},
      {"load average", [](result::Document& d) { d.weather.load_average_1m = 9; }}};
  for (const auto& [what, change] : cases) {
    const auto comparison = compare(with(change), {});
    ASSERT_NE(difference(comparison, what), nullptr) << what;
    EXPECT_EQ(difference(comparison, what)->kind, Difference::Kind::warning);
    EXPECT_EQ(only_contrast(comparison).verdict, Verdict::same);
  }
  EXPECT_TRUE(compare(two(around(1, 6), around(1, 6)), {}).differences.empty());
}

TEST(CompareFacts, DocumentsOfOneLabelMustBelongTogether) {
  auto sides = two(around(100e3, 6), around(100e3, 6));
  auto other = document_of({cell_of(128, around(100e3, 6))}, "3");
  sides[0].sources.push_back({"more.json", other});
  EXPECT_EQ(compare(sides, {}).cells[0].sides[0].runs, 12U);
  sides[0].sources[1].document.targets[0].size_bytes = 1;
  EXPECT_EQ(only_contrast(compare(sides, {})).verdict, Verdict::not_comparable);
  sides[0].sources[1].document = other;
  auto slower = cell_of(128, around(100e3, 6));
  slower.asked.set("vectored", true);
  auto plain = cell_of(128, around(100e3, 6));
  plain.asked.set("vectored", false);
  sides[0].sources[0].document.cells = {plain};
  sides[0].sources[1].document.cells = {slower};
  EXPECT_EQ(only_contrast(compare(sides, {})).verdict, Verdict::not_comparable);
}

TEST(CompareFacts, OneLabelOfTwoKernelsIsTold) {
  auto sides = two(around(100e3, 6), around(100e3, 6));
  auto other = document_of({cell_of(128, around(100e3, 6))}, "3");
  other.identity.kernel_release = "7.0";
  sides[0].sources.push_back({"more.json", other});
  EXPECT_TRUE(has_note(compare(sides, {}), "mixed-label"));
}

TEST(CompareFacts, ARunListedTwiceCountsOnce) {
  auto sides = two(around(100e3, 6), around(100e3, 6));
  sides[0].sources.push_back(sides[0].sources[0]);
  const auto comparison = compare(sides, {});
  EXPECT_EQ(comparison.cells[0].sides[0].counted, 6U);
  EXPECT_EQ(comparison.cells[0].sides[0].left_out, std::vector<std::string>{"6 listed twice"});
}

TEST(CompareNotes, TellWhatAReaderMustKnow) {
  auto sides = two(around(100e3, 6), around(100e3, 6));
  for (auto& run : sides[0].sources[0].document.cells[0].runs) {
    run.started_at = "2026-01-01T00:00:00.000Z";
  }
  for (auto& run : sides[1].sources[0].document.cells[0].runs) {
    run.started_at = "2026-11-30T00:00:00.000Z";
  }
  sides[0].sources[0].document.session.started_at = "2026-01-01T00:00:00.000Z";
  sides[1].sources[0].document.session.started_at = "2026-11-30T00:00:00.000Z";
  auto comparison = compare(sides, {});
  EXPECT_TRUE(has_note(comparison, "not-interleaved"));
  EXPECT_TRUE(has_note(comparison, "old-baseline"));
  EXPECT_FALSE(has_note(comparison, "same-session"));
  sides[1].sources[0].document.session.id = "1";
  sides[1].sources[0].document.identity.kernel_release = "7.0";
  comparison = compare(sides, {});
  EXPECT_TRUE(has_note(comparison, "same-session"));
}

TEST(CompareNotes, SayWhatAllHaveInCommon) {
  const auto few = around(100, 6);
  const auto comparison =
      compare(sides_of({cell_of(1, few), cell_of(4, few)}, {cell_of(1, few), cell_of(4, few)}), {});
  EXPECT_EQ(comparison.same,
            (std::vector<std::string>{"randread, 4k, 1 thread, direct, interrupt-driven, io_uring",
                                      "runs of 1 s", "kernel 6.18.0", "target /dev/nvme0n1",
                                      "target size 1 GiB", "device model Example SSD",
                                      "device firmware 1.0"}));
}

TEST(CompareFilter, LeavesTheRestOut) {
  const auto few = around(100, 6);
  Options options;
  options.filters = {"qd=(1|4)"};
  const auto sides = sides_of({cell_of(1, few), cell_of(4, few), cell_of(9, few)},
                              {cell_of(1, few), cell_of(4, few)});
  EXPECT_EQ(names_of(compare(sides, options)), (std::vector<std::string>{"QD1", "QD4"}));
  options.filters = {"qd=77"};
  EXPECT_TRUE(compare(sides, options).cells.empty());
  EXPECT_EQ(exit_code_of(compare(sides, options)), base::ExitCode::missing);
  EXPECT_TRUE(has_note(compare(sides, options), "no-cell-fits"));
  options.filters = {"QD4"};  // as the table has it
  EXPECT_EQ(compare(sides, options).cells.size(), 1U);
}

TEST(CompareMatch, TheOrderOfWordsDoesNotMatter) {
  const auto few = around(100, 6);
  auto next = cell_of(4, few);
  next.id =
      "randread qd=4 bs=4096 submit=32 complete=32 threads=1 direct=1 polled=0 "
      "engine=io_uring sqpoll=0";
  EXPECT_EQ(only_contrast(compare(sides_of({cell_of(4, few)}, {next}), {})).verdict, Verdict::same);
}

TEST(CompareMatch, WordsOfALaterVersionTellCellsApart) {
  const auto few = around(100, 6);
  const std::vector<result::Cell> cells{cell_of(4, few, "new=1"), cell_of(4, few, "new=2")};
  EXPECT_EQ(names_of(compare(sides_of(cells, cells), {})),
            (std::vector<std::string>{"new=1", "new=2"}));
}

TEST(CompareExitVerdict, FailedRunsAndInterruptedSessionsAreNotGreen) {
  auto sides = two(around(100e3, 8, 0.002), around(100e3, 8, 0.002));
  EXPECT_EQ(exit_code_of(compare(sides, {})), base::ExitCode::done);
  sides[1].sources[0].document.session.interrupted = true;
  const auto comparison = compare(sides, {});
  EXPECT_EQ(exit_code_of(comparison), base::ExitCode::missing);
  EXPECT_EQ(comparison.cells[0].sides[1].doubts,
            std::vector<std::string>{"its session was interrupted"});
}

TEST(CompareSteps, AreAFamilyOfTheirOwn) {
  Options options;
  options.baseline_is_previous = true;
  const std::vector<Side> sides{side_of("a", document_of({cell_of(1, around(100, 8))}, "1")),
                                side_of("b", document_of({cell_of(1, around(110, 8))}, "2")),
                                side_of("c", document_of({cell_of(1, around(110, 8))}, "3"))};
  const auto comparison = compare(sides, options);
  const MetricRow& row = comparison.cells[0].metrics[0];
  ASSERT_EQ(row.contrasts.size(), 2U);
  ASSERT_EQ(row.steps.size(), 1U);
  EXPECT_EQ(row.contrasts[1].verdict, Verdict::improved);
  EXPECT_EQ(row.steps[0].from, 1U);
  EXPECT_EQ(row.steps[0].verdict, Verdict::same);
  EXPECT_EQ(comparison.family, 2U);
  EXPECT_EQ(comparison.step_family, 1U);
}

TEST(CompareSides, NeedTwoWithNamesOfTheirOwn) {
  auto sides = two(around(1, 6), around(1, 6));
  sides[1].label = "base";
  EXPECT_THROW(compare(sides, {}), base::UserError);
  sides.pop_back();
  EXPECT_THROW(compare(sides, {}), base::UserError);
}

// Imported cells state less: they match what they do not contradict, and the rest is told.
TEST(CompareMatch, FewerWordsMatchWhatTheyDoNotContradict) {
  const auto few = around(100, 6);
  auto next = cell_of(4, few);
  next.id = "randread bs=4096 qd=4";
  next.asked = {};
  const auto comparison = compare(sides_of({cell_of(1, few), cell_of(4, few)}, {next}), {});
  EXPECT_EQ(comparison.cells[1].sides[1].counted, 6U);
  EXPECT_NE(
      std::find(comparison.cells[1].unstated.begin(), comparison.cells[1].unstated.end(), "submit"),
      comparison.cells[1].unstated.end());
  EXPECT_TRUE(has_note(comparison, "unknown-settings"));
}

TEST(CompareFacts, WhatImportsLackIsToldOnce) {
  auto sides = two(around(100e3, 6), around(100e3, 6));
  auto& imported = sides[1].sources[0].document;
  imported.tool = {"fio-3.33", "", "", "", ""};
  imported.identity = {};
  imported.findings = {{"info", "x", "the same of each", ""}};
  sides[1].sources.push_back(sides[1].sources[0]);
  sides[1].sources[1].name = "more.json";
  const auto comparison = compare(sides, {});
  EXPECT_EQ(difference(comparison, "CPU"), nullptr);
  ASSERT_NE(difference(comparison, "machine, kernel options and queue"), nullptr);
  EXPECT_EQ(difference(comparison, "machine, kernel options and queue")->values,
            (std::vector<std::string>{"recorded", "unknown"}));
  const auto told = std::count_if(comparison.notes.begin(), comparison.notes.end(),
                                  [](const Note& note) { return note.code == "x"; });
  EXPECT_EQ(told, 1);
}

TEST(CompareFacts, StrictMeansKnown) {
  auto sides = two(around(100e3, 6), around(100e3, 6));
  for (auto& side : sides) {
    side.sources[0].document.tool = {"fio-3.33", "", "", "", ""};
    side.sources[0].document.identity = {};
  }
  EXPECT_EQ(only_contrast(compare(sides, {})).verdict, Verdict::same);
  Options options;
  options.strict_environment = true;
  EXPECT_EQ(only_contrast(compare(sides, options)).verdict, Verdict::not_comparable);
  options.varies = {"kernel"};
  EXPECT_EQ(only_contrast(compare(sides, options)).verdict, Verdict::same);
}

TEST(CompareGeomean, IsOverMatchedCellsOnly) {
  const auto comparison =
      compare(sides_of({cell_of(1, {100, 100, 100, 100}), cell_of(2, {100, 100, 100, 100})},
                       {cell_of(1, {200, 200, 200, 200}), cell_of(2, {50, 50, 50, 50})}),
              {});
  EXPECT_NEAR(*comparison.geomeans[0].change, 0, 1e-12);
  EXPECT_FALSE(comparison.geomeans[0].low);
}

}  // namespace
}  // namespace uringbench::compare
