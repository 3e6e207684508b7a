// Saved logs of t/io_uring and of the classic door.
#include "result_import_support.hpp"

namespace uringbench::result {
namespace {

using testing::file_text;
using testing::finding_of;
using testing::import_fixture;
using testing::kNotComparable;
using testing::kUnreadable;
using testing::with_replaced;

class ResultImportLog : public testing::ResultImport {};

constexpr const char* kHeader =
    "submitter=0, tid=1, file=data, nfiles=1, node=-1\n"
    "polled=0, fixedbufs=1, register_files=1, buffered=0, QD=128\n"
    "Engine=io_uring, sq_ring=128, cq_ring=128\n";
constexpr const char* kHeaderId =
    "qd=128 threads=1 direct=1 polled=0 fixedbufs=1 regfiles=1 engine=io_uring targets=1";

TEST_F(ResultImportLog, TheLogOfTheOriginal) {
  const Document document = import_file("t-io_uring.log");
  EXPECT_EQ(imported_from(document), "t/io_uring");
  ASSERT_EQ(document.cells.size(), 1U);
  const Cell& cell = document.cells[0];
  EXPECT_EQ(cell.id, kHeaderId);
  EXPECT_EQ(*cell.asked.find("depth"), Settings::Value(std::int64_t{128}));
  EXPECT_EQ(*cell.asked.find("direct"), Settings::Value(true));
  EXPECT_EQ(*cell.asked.find("polled"), Settings::Value(false));
  EXPECT_EQ(*cell.asked.find("engine"), Settings::Value(std::string("io_uring")));
  EXPECT_EQ(cell.asked.find("block_size_bytes"), nullptr);
  ASSERT_EQ(document.targets.size(), 1U);
  EXPECT_EQ(document.targets[0].path, "data");
  ASSERT_EQ(cell.runs.size(), 1U);
  const result::Run& run = cell.runs[0];
  ASSERT_EQ(run.intervals.size(), 3U);
  EXPECT_EQ(run.intervals[0].iops, 97664);
  EXPECT_EQ(run.intervals[0].elapsed_ns, 1'000'000'000);
  EXPECT_EQ(run.ios, 97664U + 81728 + 81056);
  EXPECT_DOUBLE_EQ(run.iops, (97664 + 81728 + 81056) / 3.0);
  EXPECT_EQ(run.elapsed_ns, 3'000'000'000);
  EXPECT_FALSE(run.bytes_per_second);
  EXPECT_EQ(run.errors.count, 0U);
  EXPECT_EQ(cell.summary.at(0).second.n, 1U);
  ASSERT_NE(finding_of(document, "per-second-lines"), nullptr);
  EXPECT_EQ(finding_of(document, "per-second-lines")->message,
            "the IOPS of a log are the mean of its lines of one second each, not their "
            "maximum");
  ASSERT_NE(finding_of(document, "unknown-settings"), nullptr);
  EXPECT_TRUE(finding_of(document, "unknown-settings")
                  ->message.starts_with("settings that the log does not state: rw, bs, submit, "))
      << finding_of(document, "unknown-settings")->message;
}

TEST_F(ResultImportLog, ThreadsAndLatency) {
  const Document document = import_file("t-io_uring-threads.log");
  ASSERT_EQ(document.cells.size(), 1U);
  EXPECT_EQ(document.cells[0].id,
            "qd=128 threads=2 direct=1 polled=0 fixedbufs=1 regfiles=1 engine=io_uring latency=1");
  EXPECT_EQ(document.cells[0].runs.at(0).intervals.at(0).iops, 126240);
  EXPECT_EQ(document.targets.size(), 1U);
}

TEST_F(ResultImportLog, TheLogOfTheClassicDoor) {
  const Document document = import_file("classic.log");
  ASSERT_EQ(document.cells.size(), 1U);
  EXPECT_EQ(document.cells[0].id, kHeaderId);
  EXPECT_EQ(document.cells[0].runs.at(0).intervals.size(), 3U);
  EXPECT_EQ(document.cells[0].runs[0].errors.count, 0U);
  const Document nop = import_file("classic-nop.log");
  EXPECT_EQ(nop.cells.at(0).id,
            "nop qd=128 threads=1 direct=1 polled=0 fixedbufs=0 regfiles=0 engine=io_uring "
            "targets=0");
  EXPECT_EQ(nop.cells[0].runs.at(0).intervals.at(0).iops, 15.47e6);
  EXPECT_EQ(*nop.cells[0].asked.find("nop"), Settings::Value(true));
  EXPECT_TRUE(nop.targets.empty());
}

TEST_F(ResultImportLog, SeveralInvocationsAreRuns) {
  const std::string one = file_text(import_fixture("t-io_uring.log"));
  const std::string two = file_text(import_fixture("t-io_uring-threads.log"));
  const Document document =
      import(one + two + one + with_replaced(two, "submitter=0", "submitter=7"));
  ASSERT_EQ(document.cells.size(), 2U);
  ASSERT_EQ(document.cells[0].runs.size(), 2U);
  EXPECT_EQ(document.cells[0].runs[1].index, 1U);
  EXPECT_EQ(document.cells[0].runs[1].intervals.size(), 3U);
  // Whichever thread is the first to say hello.
  EXPECT_EQ(document.cells[1].runs.size(), 2U);
  // The first one never came to a figure: its threads are not counted for the second.
  EXPECT_EQ(import(std::string(kHeader) + one).cells.at(0).id, kHeaderId);
}

TEST_F(ResultImportLog, WhatFailedOrWasCutOffIsUnfinished) {
  const std::string one = file_text(import_fixture("t-io_uring.log"));
  EXPECT_FALSE(import(one + one).session.interrupted);
  const Document failed = import(one + std::string(kHeader) + "ring setup failed\n");
  EXPECT_TRUE(failed.session.interrupted);
  EXPECT_EQ(failed.cells.at(0).runs.size(), 1U);
  EXPECT_EQ(finding_of(failed, "unfinished")->message,
            "1 of 2 invocations in the log have no IOPS: they failed");
  const Document killed = import(one + one.substr(0, one.find("Exiting")));
  EXPECT_TRUE(killed.session.interrupted);
  EXPECT_EQ(killed.cells.at(0).runs.size(), 2U) << "what it says is good";
  // Nothing but the lines, as they are copied into a mail.
  EXPECT_FALSE(import("IOPS=126.24K, BW=493MiB/s, IOS/call=32/31\n").session.interrupted);
}

TEST_F(ResultImportLog, ColoursCarriageReturnsAndOtherLines) {
  const std::string plain = file_text(import_fixture("t-io_uring.log"));
  std::string spoilt = "2 warnings\n";
  for (const char c : plain) {
    if (c == '\n') {
      spoilt += "\x1b[0m\r\nuringbench: warning: IOPS=5, BW=1MiB/s, IOS/call=1/1 are few\n\n";
      spoilt += "IOPS\rXYZ\r\x1b[32;1m";
    } else {
      spoilt += c;
    }
  }
  Document document = import(spoilt);
  const Document expected = import(plain);
  document.session.id = expected.session.id;  // made of the text
  EXPECT_EQ(to_json(document), to_json(expected));
}

TEST_F(ResultImportLog, RatesInAllForms) {
  const auto rates = [&](const std::string& lines) {
    std::vector<double> iops;
    const Document document = import(kHeader + lines);
    for (const auto& interval : document.cells.at(0).runs.at(0).intervals) {
      iops.push_back(interval.iops);
    }
    return iops;
  };
  EXPECT_EQ(rates("IOPS=0, BW=0MiB/s, IOS/call=-1/-1\nIOPS=99999, BW=390MiB/s, IOS/call=32/31\n"
                  "IOPS=193.21K, BW=754MiB/s, IOS/call=32/31\nIOPS=1.20M, BW=4.57GiB/s, "
                  "IOS/call=32/32\nExiting on signal\nMaximum IOPS=1.20M\n"),
            (std::vector<double>{0, 99999, 193210, 1.2e6}));
  // What was cut off may lack digits.
  EXPECT_EQ(rates("IOPS=100, BW=1MiB/s, IOS/call=1/1\nIOPS=193"), (std::vector<double>{100}));
  EXPECT_EQ(rates("IOPS=100, BW=1MiB/s, IOS/call=1/1\nIOPS=193.21K, BW=754M"),
            (std::vector<double>{100}));
  EXPECT_EQ(rates("IOPS=nan, BW=1MiB/s, IOS/call=1/1\nIOPS=-5, BW=1MiB/s, IOS/call=1/1\n"
                  "IOPS=1e300, IOS/call=1/1\nIOPS=7, BW=1MiB/s, IOS/call=1/1"),
            (std::vector<double>{7}));
}

TEST_F(ResultImportLog, FailuresMakeItARunWithErrors) {
  const std::string rate = "IOPS=100, BW=1MiB/s, IOS/call=1/1\n";
  const auto run = [&](const std::string& text) { return import(text).cells.at(0).runs.at(0); };
  const result::Run failed = run(kHeader + rate +
                                 "io: unexpected ret=-95\nio: unexpected ret=-5\n"
                                 "io: unexpected ret=-5\n17: 40 IO errors\n");
  EXPECT_EQ(failed.errors.count, 43U);
  EXPECT_EQ(failed.errors.by_errno.at("EOPNOTSUPP"), 1U);
  EXPECT_EQ(failed.errors.by_errno.at("EIO"), 2U);
  EXPECT_EQ(run(kHeader + rate + "io: unexpected ret=512\n").short_reads, 1U);
  EXPECT_EQ(run(kHeader + rate + "io: unexpected ret=?\n").errors.count, 1U);
  const result::Run ours = run(kHeader + rate +
                               "  Errors       12           EIO 12; not counted as I/Os\n"
                               "  Short reads  3350753      not counted as I/Os\n"
                               "  Stalled      given up after 12 s; 3 requests never completed\n");
  EXPECT_EQ(ours.errors.count, 12U);
  EXPECT_EQ(ours.short_reads, 3350753U);
  EXPECT_TRUE(ours.stalled);
  EXPECT_TRUE(
      run(kHeader + rate + "  Interrupted  by SIGINT after 2 s: partial result\n").interrupted);
  EXPECT_EQ(run(kHeader + rate + "Exiting on signal\n").errors.count, 0U);
}

ImportHints hints_with(const std::string& cell_id) {
  ImportHints hints;
  hints.cell_id = cell_id;
  return hints;
}

TEST_F(ResultImportLog, HintsFillInWhatIsUnknown) {
  ImportHints hints = hints_with("randread bs=4096 qd=128 submit=32 cpus=any queue=-");
  hints.asked.set("runtime_ns", 3'000'000'000).set("depth", 128).set("allow_errors", false);
  const Document document = import_file("t-io_uring.log", hints);
  const Cell& cell = document.cells.at(0);
  EXPECT_EQ(cell.id,
            "randread bs=4096 qd=128 submit=32 threads=1 direct=1 polled=0 fixedbufs=1 regfiles=1 "
            "engine=io_uring targets=1 cpus=any queue=-");
  EXPECT_EQ(*cell.asked.find("block_size_bytes"), Settings::Value(std::int64_t{4096}));
  EXPECT_EQ(*cell.asked.find("random"), Settings::Value(true));
  EXPECT_EQ(*cell.asked.find("runtime_ns"), Settings::Value(std::int64_t{3'000'000'000}));
  EXPECT_DOUBLE_EQ(*cell.runs.at(0).bytes_per_second, cell.runs[0].iops * 4096);
  EXPECT_EQ(finding_of(document, "unknown-settings")->message.find("bs,"), std::string::npos);
}

TEST_F(ResultImportLog, HintsMustNotContradict) {
  const std::string text = file_text(import_fixture("t-io_uring.log"));
  const auto refusal = refusal_of_import(text, hints_with("randread bs=4096 qd=32 polled=0"));
  EXPECT_EQ(refusal.code, kNotComparable);
  EXPECT_EQ(refusal.what, "says qd=128, but qd=32 was stated for it");
  const std::string nop = file_text(import_fixture("classic-nop.log"));
  EXPECT_EQ(refusal_of_import(nop, hints_with("randread")).what,
            "says rw nop, but rw randread was stated for it");
}

TEST_F(ResultImportLog, LogsWithoutFigures) {
  const auto refusal = refusal_of_import(file_text(import_fixture("t-io_uring-polled.log")));
  EXPECT_EQ(refusal.code, kNotComparable);
  EXPECT_EQ(refusal.what, "is a log of t/io_uring without any whole line \"IOPS=…\"");
  EXPECT_NE(refusal.hint.find("its last line is \""), std::string::npos) << refusal.hint;
  const auto cut =
      refusal_of_import(std::string(kHeader) + "\x1b]0;evil\x07" + "queue setup failed");
  EXPECT_EQ(cut.hint.find('\x1b'), std::string::npos);
  EXPECT_EQ(cut.hint.find('\x07'), std::string::npos);
}

TEST_F(ResultImportLog, WhatIsNoLog) {
  for (const char* text : {"hello\n", "42", "io: unexpected ret=-5\n",
                           "\x7f"
                           "ELF\x02\x01",
                           "fio: ok"}) {
    const auto refusal = refusal_of_import(text);
    EXPECT_EQ(refusal.code, kUnreadable) << text;
    EXPECT_EQ(refusal.what, "is neither a result of uringbench or fio nor a log of t/io_uring");
  }
  for (const char* text : {"", " \r\n\t\n"}) {
    EXPECT_EQ(refusal_of_import(text).code, kUnreadable);
    EXPECT_EQ(refusal_of_import(text).what, "is empty");
  }
}

TEST_F(ResultImportLog, FilesThatCannotBeRead) {
  try {
    load_any(path_);
    FAIL();
  } catch (const base::SystemError& error) {
    EXPECT_EQ(error.problem().code, base::ExitCode::internal);
    EXPECT_TRUE(error.problem().what.starts_with(path_.string())) << error.problem().what;
  }
}

TEST_F(ResultImportLog, CutOffAnywhere) {
  const std::string text = file_text(import_fixture("t-io_uring-threads.log"));
  std::size_t read = 0;
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto refusal = refusal_of_import(text.substr(0, size));
    read += refusal.code == 0;
    EXPECT_TRUE(refusal.code == 0 || refusal.code == kUnreadable || refusal.code == kNotComparable);
  }
  EXPECT_GT(read, 100U);
}

}  // namespace
}  // namespace uringbench::result
