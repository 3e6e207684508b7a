#include <gtest/gtest.h>

#include <map>

#include "golden.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "sample_document.hpp"

namespace uringbench::report {
namespace {

using testing::expect_golden;
using testing::full_document;
using testing::minimal_document;
using testing::sample_run;
using testing::six_run_document;
using testing::sqpoll_document;

// What holds for every summary, whatever it says.
void expect_page(const std::string& text) {
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(text.find("IOPS="), std::string::npos) << "looks like a line of t/io_uring";
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    EXPECT_LE(columns(line), kPageColumns) << line;
    EXPECT_FALSE(line.ends_with(' ')) << '"' << line << '"';
    EXPECT_EQ(printable(line), line);
    begin = end + 1;
  }
}

void expect_summary(const std::string& golden, const result::Document& document) {
  const std::string text = summary(document);
  expect_page(text);
  expect_golden("report/" + golden, text);
}

result::Document with_runs(std::size_t count) {
  result::Document document = six_run_document();
  document.cells[0].runs.resize(count);
  result::summarize(document.cells[0]);
  return document;
}

TEST(Summary, OneRun) {
  result::Document document = with_runs(1);
  document.cells[0].runs[0].latency.reset();
  document.cells[0].runs[0].warmup_ns = 0;
  expect_summary("summary-one-run.txt", document);
}

TEST(Summary, SixRuns) { expect_summary("summary-six-runs.txt", six_run_document()); }

TEST(Summary, FewRunsHaveNoInterval) {
  const std::string text = summary(with_runs(5));
  EXPECT_NE(text.find("no 95% CI below 6 runs"), std::string::npos) << text;
  EXPECT_EQ(text.find("covers"), std::string::npos) << text;
  EXPECT_NE(text.find("median of 5 runs"), std::string::npos) << text;
}

TEST(Summary, Errors) {
  result::Document document = with_runs(1);
  document.targets[0].path = "img";
  result::Run& run = document.cells[0].runs[0];
  run.errors.count = 1294;
  run.errors.by_errno = {{"EIO", 1294}};
  run.errors.first = result::ErrorTally::First{"EIO", 0, 16'777'216};
  run.short_reads = 2;
  run.retries_eagain = 9;
  expect_summary("summary-errors.txt", document);
}

TEST(Summary, NothingButErrors) {
  result::Document document = with_runs(1);
  result::Run& run = document.cells[0].runs[0];
  run.ios = 0;
  run.iops = 0;
  run.bytes_per_second = 0;
  run.latency.reset();
  run.cpu.per_io_ns.reset();
  run.ios_per_submit_call.reset();
  run.ios_per_reap.reset();
  run.errors.count = 5;
  run.errors.by_errno = {{"EIO", 5}};
  run.errors.first = result::ErrorTally::First{"EIO", 77, 0};  // no such target: not named
  result::summarize(document.cells[0]);
  expect_summary("summary-only-errors.txt", document);
}

TEST(Summary, Interrupted) {
  result::Document document = with_runs(1);
  document.session.interrupted = true;
  document.session.signal = "SIGINT";
  document.cells[0].runs[0].interrupted = true;
  document.cells[0].runs[0].elapsed_ns = 2'100'000'000;
  document.cells[0].runs[0].ios = 323'652;
  result::summarize(document.cells[0]);
  expect_summary("summary-interrupted.txt", document);
}

TEST(Summary, InterruptedInTheThirdRun) {
  result::Document document = with_runs(3);
  document.session.signal = "SIGTERM";
  document.cells[0].runs[2].interrupted = true;
  document.cells[0].runs[2].elapsed_ns = 2'100'000'000;
  result::summarize(document.cells[0]);
  const std::string text = summary(document);
  EXPECT_NE(text.find("median of 2 runs"), std::string::npos) << text;
  EXPECT_NE(text.find("run 3, by SIGTERM after 2.1 s: partial result"), std::string::npos) << text;
}

TEST(Summary, Stalled) {
  result::Document document = with_runs(2);
  document.cells[0].runs[1].stalled = true;
  document.cells[0].runs[1].never_completed = 128;
  result::summarize(document.cells[0]);
  expect_summary("summary-stalled.txt", document);
}

TEST(Summary, Nop) {
  result::Document document = with_runs(2);
  document.targets.clear();
  result::Settings asked;
  asked.set("engine", "io_uring").set("depth", 128).set("batch_submit", 32);
  asked.set("batch_complete", 32).set("block_size_bytes", 4096).set("threads", 2);
  asked.set("nop", true).set("random", true);
  document.cells[0].asked = asked;
  for (result::Run& run : document.cells[0].runs) {
    run.bytes_per_second.reset();
    run.latency.reset();
    run.cpu.per_io_ns = 31.0;
  }
  result::summarize(document.cells[0]);
  expect_summary("summary-nop.txt", document);
}

TEST(Summary, SqpollInOneRun) { expect_summary("summary-sqpoll.txt", sqpoll_document(1)); }

TEST(Summary, SqpollInSixRuns) { expect_summary("summary-sqpoll-six.txt", sqpoll_document(6)); }

TEST(Summary, SqpollThatTellsNothingOfItself) {
  result::Document document = sqpoll_document(1);
  result::Sqpoll silent;
  silent.thread_id = 7;
  silent.wakeups = 1;
  document.cells[0].runs[0].sqpoll = silent;
  document.cells[0].granted.set("taskrun", "plain");
  const std::string text = summary(document);
  expect_page(text);
  EXPECT_NE(text.find("  SQPOLL       on           thread 7; 1 wake-up\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("submitting threads"), std::string::npos) << text;
  EXPECT_NE(text.find("SQ_AFF, task work plain\n"), std::string::npos) << text;
}

TEST(Summary, SeveralSqpollThreads) {
  result::Document document = sqpoll_document(2);
  for (result::Run& run : document.cells[0].runs) run.sqpoll->pollers.resize(2);
  EXPECT_NE(
      summary(document).find("1.90 µs/IO   2 threads; 93.1% of it with work (kernel's count),\n"
                             "                            24 wake-ups; in 2 runs\n"),
      std::string::npos)
      << summary(document);
  document.cells[0].runs[1].sqpoll->pollers.clear();
  document.cells[0].runs[0].sqpoll->pollers.clear();
  document.cells[0].runs[1].sqpoll->cpu = 3;  // not where it was before: no place is named
  EXPECT_NE(summary(document).find("1.90 µs/IO   93.1% of it with work (kernel's count),"),
            std::string::npos)
      << summary(document);
}

std::string engine_row_of(result::Cell cell, result::Settings granted) {
  result::Document document = minimal_document();
  cell.granted = std::move(granted);
  document.cells = {cell};
  const std::string text = summary(document);
  const std::size_t begin = text.find("Engine") + 13;
  return text.substr(begin, text.find("\n  IOPS", begin) - begin);
}

TEST(Summary, EnginesInWords) {
  result::Cell cell = testing::sample_cell();
  cell.asked = {};
  using Texts = std::vector<std::string>;
  const auto words = [&](const result::Settings& granted) { return engine_row_of(cell, granted); };
  result::Settings aio;
  aio.set("engine", "aio").set("polled", false).set("direct", true);
  EXPECT_EQ(words(aio), "aio, direct");
  result::Settings passthrough;
  passthrough.set("engine", "io_uring").set("passthrough", true).set("polled", true);
  passthrough.set("direct", true).set("buffer_page_bytes", 2'097'152);
  EXPECT_EQ(words(passthrough), "io_uring, NVMe passthrough, polled, huge pages of 2.0 MiB");
  result::Settings rest;
  rest.set("nodes", std::vector<std::int64_t>{0, 1}).set("buffer_page_bytes", 0);
  rest.set("setup_flags", Texts{"COOP_TASKRUN"}).set("taskrun", "coop");
  rest.set("restrictions", Texts{"READ", "FIXED_FILE"}).set("sqthread_stats", "on");
  EXPECT_EQ(words(rest), "NUMA nodes 0+1, COOP_TASKRUN, restricted to READ+FIXED_FILE");
  for (const auto& [state, said] : std::map<std::string, std::string>{
           {"off-verified", "SQPOLL statistics off (verified)"},
           {"accepted-but-not-off", "SQPOLL statistics on (flag accepted, no effect)"},
           {"refused", "SQPOLL statistics on (flag refused)"},
           {"\x1b", "SQPOLL statistics ?"}}) {
    result::Settings granted;
    granted.set("sqthread_stats", state);
    EXPECT_EQ(words(granted), said);
  }
}

TEST(Summary, WhatWasLeftToUsIsNoAdjustment) {
  result::Document document = with_runs(1);
  document.cells[0].asked = {};
  document.cells[0].asked.set("threads", "auto").set("cpus", "local-core");
  document.cells[0].granted = {};
  document.cells[0].granted.set("threads", 2).set("cpus", std::vector<std::int64_t>{0, 4});
  EXPECT_EQ(summary(document).find("Adjusted"), std::string::npos) << summary(document);
}

TEST(Summary, ChangedQueueSettings) {
  result::Document document = with_runs(1);
  document.targets[0].queue = {{"iostats", "0"}, {"nomerges", "2"}};
  document.targets[0].queue_restored = {{"iostats", "1"}, {"wbt_lat_usec", "2000"}};
  EXPECT_NE(summary(document).find("(block, 1.6 TiB, Example SSD 9, iostats 0 (was 1),\n"
                                   "               wbt_lat_usec changed (was 2000))\n"),
            std::string::npos)
      << summary(document);
}

TEST(Summary, SeveralCells) {
  result::Document document = six_run_document();
  result::Cell second = document.cells[0];
  second.arm = "B";
  second.granted = {};
  second.granted.set("polled", true).set("direct", false).set("batch_submit", 8);
  second.runs.clear();
  document.cells.push_back(second);
  expect_summary("summary-two-cells.txt", document);
}

TEST(Summary, EverythingAtOnce) { expect_summary("summary-full.txt", full_document()); }

TEST(Summary, SettingsThatAreNotThereAreNotMadeUp) {
  result::Document document = minimal_document();
  result::Cell cell;
  cell.id = "op=eventfd cycles=9";
  cell.runs = {sample_run(0, 10)};
  cell.runs[0].threads.clear();
  document.cells = {cell};
  const std::string text = summary(document);
  expect_page(text);
  EXPECT_TRUE(
      text.starts_with("op=eventfd cycles=9\n  IOPS         10           total / time: "
                       "50 I/Os in 5.000 s\n"))
      << text;
  EXPECT_EQ(text.find("Engine"), std::string::npos);
}

TEST(Summary, SameWarningOfSeveralRunsIsSaidOnce) {
  result::Document document = with_runs(3);
  for (const std::size_t i : {0U, 2U}) document.cells[0].runs[i].warnings = {"it rained"};
  EXPECT_NE(summary(document).find("  Warning      it rained (in 2 of 3 runs)\n"),
            std::string::npos);
}

TEST(Summary, SyncEngineIsNeitherPolledNorNot) {
  result::Document document = with_runs(1);
  document.cells[0].granted = {};
  document.cells[0].granted.set("engine", "preadv2").set("depth", 1).set("polled", false);
  const std::string text = summary(document);
  EXPECT_TRUE(
      text.starts_with("randread 4k  QD1  1 thread\n"
                       "  Engine       preadv2, direct, fixed buffers, registered files\n"
                       "  Adjusted     engine io_uring -> preadv2, depth 128 -> 1\n"))
      << text;
}

TEST(Summary, MostInFlightIsOfOneThread) {
  result::Document document = with_runs(2);
  document.cells[0].runs[0].threads.resize(2);
  document.cells[0].runs[1].inflight_max = 64;
  EXPECT_NE(summary(document).find("mean (time-weighted), max 128 in one thread\n"),
            std::string::npos);
}

TEST(Summary, SixteenTargetsAreCountedNotListed) {
  result::Document document = with_runs(1);
  document.targets.resize(16, document.targets[0]);
  const std::string text = summary(document);
  EXPECT_NE(text.find("               and 12 more\n"), std::string::npos) << text;
}

TEST(Summary, LongAndHostileNamesStayOnThePage) {
  result::Document document = full_document();
  document.targets[0].path = "/" + std::string(300, 'p') + "\x1b[2J\nIOPS=1";
  document.targets[0].device->model = std::string(200, 'm');
  document.identity.cpu_model = std::string(300, 'c');
  document.findings[0].code = std::string(100, 'f');
  document.cells[0].runs[0].warnings = {std::string(200, 'w') + '\t' + std::string(90, 'v')};
  const std::string text = summary(document);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(columns(text.substr(begin, end - begin)), kPageColumns);
    EXPECT_EQ(text[begin] == 'I', false) << "no line may begin like a sample";
    begin = end + 1;
  }
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\t'), std::string::npos);
}

TEST(Summary, EmptyDocument) { EXPECT_EQ(summary(minimal_document()), ""); }

TEST(DryRun, PlanTargetsAndFindings) {
  result::Document document = full_document();
  document.cells[0].runs.clear();
  document.cells[0].summary.clear();
  document.cells[0].arm.reset();
  document.cells[0].granted = {};
  document.cells[0].granted.set("polled", false).set("batch_submit", 16);
  document.cells[0].granted.set("buffer_bytes_per_thread", 524'288);
  const std::string text = dry_run(document);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(columns(text.substr(begin, end - begin)), kPageColumns);
    begin = end + 1;
  }
  expect_golden("report/dry-run.txt", text);
}

TEST(DryRun, LongValuesWrap) {
  result::Document document = minimal_document();
  result::Cell cell;
  cell.id = "cell";
  cell.asked.set("short", 1).set("path", std::string(40, 'a') + ' ' + std::string(60, 'b'));
  document.cells = {cell};
  const std::string text = dry_run(document);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(columns(text.substr(begin, end - begin)), kPageColumns) << text;
    begin = end + 1;
  }
}

}  // namespace
}  // namespace uringbench::report
