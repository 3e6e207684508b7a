#include <gtest/gtest.h>

#include <limits>

#include "golden.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "sample_document.hpp"

namespace uringbench::report {
namespace {

using testing::expect_golden;
using testing::sample_run;

TEST(Header, ShapeOfTheThreeLines) {
  Header header;
  header.threads = {{0, 1234, "f1", 1, -1}, {1, 1235, "/dev/nvme1n1", 2, 0}};
  header.fixed_buffers = true;
  header.register_files = true;
  header.depth = 128;
  header.engine = "io_uring";
  header.sq_ring = 128;
  header.cq_ring = 256;
  EXPECT_EQ(report::header(header),
            "submitter=0, tid=1234, file=f1, nfiles=1, node=-1\n"
            "submitter=1, tid=1235, file=/dev/nvme1n1, nfiles=2, node=0\n"
            "polled=0, fixedbufs=1, register_files=1, buffered=0, QD=128\n"
            "Engine=io_uring, sq_ring=128, cq_ring=256\n");
}

TEST(Header, NoRingSizesWithoutARing) {
  Header header;
  header.threads = {{0, 7, "(none)", 0, -1}};
  header.polled = true;
  header.buffered = true;
  header.depth = 1;
  header.engine = "preadv2";
  EXPECT_EQ(report::header(header),
            "submitter=0, tid=7, file=(none), nfiles=0, node=-1\n"
            "polled=1, fixedbufs=0, register_files=0, buffered=1, QD=1\n"
            "Engine=preadv2\n");
}

TEST(Header, AFileNameCannotForgeALine) {
  Header header;
  header.threads = {{0, 7, "a\nIOPS=9\x1b[2J", 1, -1}};
  header.engine = "io_uring";
  EXPECT_EQ(report::header(header).substr(0, 57),
            "submitter=0, tid=7, file=a?IOPS=9?[2J, nfiles=1, node=-1\n");
}

std::string rate(double iops, std::optional<double> bytes_per_second = {},
                 std::optional<double> submit = {}, std::optional<double> reap = {}) {
  return rate_line({iops, bytes_per_second, submit, reap});
}

TEST(RateLine, WholeLine) {
  EXPECT_EQ(rate(93'210, 93'210 * 4096.0, 32, 31), "IOPS=93210, BW=364MiB/s, IOS/call=32/31\n");
  EXPECT_EQ(rate(193'210, 193'210 * 4096.0, 32, 31), "IOPS=193.21K, BW=755MiB/s, IOS/call=32/31\n");
  EXPECT_EQ(rate(3'610'000, 3'610'000 * 512.0, 32, 31.6),
            "IOPS=3.61M, BW=1763MiB/s, IOS/call=32/32\n");
}

TEST(RateLine, Thresholds) {
  EXPECT_EQ(rate(0), "IOPS=0, IOS/call=-1/-1\n");
  EXPECT_EQ(rate(99'999), "IOPS=99999, IOS/call=-1/-1\n");
  EXPECT_EQ(rate(100'001), "IOPS=100.00K, IOS/call=-1/-1\n");
  EXPECT_EQ(rate(999'990), "IOPS=999.99K, IOS/call=-1/-1\n");
  EXPECT_EQ(rate(1'000'001), "IOPS=1.00M, IOS/call=-1/-1\n");
  EXPECT_EQ(rate(1, 2000.0 * 1048576), "IOPS=1, BW=2000MiB/s, IOS/call=-1/-1\n");
  EXPECT_EQ(rate(1, 2048.0 * 1048576), "IOPS=1, BW=2.00GiB/s, IOS/call=-1/-1\n");
}

TEST(RateLine, OddBlockSizesAreNotTruncated) {
  EXPECT_EQ(rate(2853, 2853 * 786'432.0, 8, 8), "IOPS=2853, BW=2.09GiB/s, IOS/call=8/8\n");
}

TEST(RateLine, CallsRoundToTheNearestAndMayBeUnknown) {
  EXPECT_EQ(rate(1, {}, 31.5, 31.49), "IOPS=1, IOS/call=32/31\n");
  EXPECT_EQ(rate(1, {}, 0.4, {}), "IOPS=1, IOS/call=0/-1\n");
  EXPECT_EQ(rate(1, {}, std::numeric_limits<double>::quiet_NaN(),
                 std::numeric_limits<double>::infinity()),
            "IOPS=1, IOS/call=-1/-1\n");
}

TEST(MaximumLine, Shape) {
  EXPECT_EQ(maximum_line(93'210), "Maximum IOPS=93210\n");
  EXPECT_EQ(maximum_line(193'210), "Maximum IOPS=193.21K\n");
}

TEST(RunLine, Plain) {
  EXPECT_EQ(run_line(sample_run(0, 153'410), 6),
            "run 1/6: IOPS=153.41K, BW=599MiB/s, CPU=2.11 µs/IO\n");
}

TEST(RunLine, NopHasNoBandwidth) {
  result::Run run = sample_run(5, 30'000'000);
  run.bytes_per_second.reset();
  run.cpu.per_io_ns = 33.4;
  EXPECT_EQ(run_line(run, 6), "run 6/6: IOPS=30.00M, CPU=33 ns/IO\n");
}

TEST(RunLine, EverythingThatWentWrongInWords) {
  result::Run run = sample_run(1, 1000);
  run.cpu.per_io_ns.reset();
  run.errors.count = 1294;
  run.errors.by_errno = {{"EIO", 1290}, {"ENODATA", 4}};
  run.short_reads = 1;
  run.steady = false;
  run.stalled = true;
  run.never_completed = 3;
  run.interrupted = true;
  run.elapsed_ns = 2'100'000'000;
  EXPECT_EQ(run_line(run, 3),
            "run 2/3: IOPS=1000, BW=3.91MiB/s, 1294 errors (EIO 1290, ENODATA 4), 1 short read, "
            "unsteady, stalled (3 requests never completed), interrupted after 2.1 s\n");
}

TEST(LatencyBlock, Microseconds) {
  expect_golden("report/latency-us.txt", latency_block(*sample_run(0, 1000).latency));
}

TEST(LatencyBlock, Nanoseconds) {
  stats::Histogram histogram;
  for (std::uint64_t i = 1; i <= 9; ++i) histogram.record(i * 100);
  expect_golden("report/latency-ns.txt", latency_block(*result::latency_of(histogram)));
}

TEST(LatencyBlock, TheLongestOnesFitThePage) {
  for (const std::uint64_t longest : {std::uint64_t{9'999}, std::uint64_t{99'999'999'999}}) {
    stats::Histogram histogram;
    histogram.record(longest);
    const std::string block = latency_block(*result::latency_of(histogram));
    for (std::size_t begin = 0; begin < block.size();) {
      const std::size_t end = block.find('\n', begin);
      EXPECT_LE(columns(block.substr(begin, end - begin)), 80U);
      begin = end + 1;
    }
  }
}

TEST(LatencyBlock, EmptyWithoutSamples) { EXPECT_EQ(latency_block(result::Latency{}), ""); }

TEST(Finding, WithAndWithoutAHint) {
  EXPECT_EQ(finding({"warning", "sparse-target", "f1: sparse", "fill it"}),
            "warning: f1: sparse\n  hint: fill it\n");
  EXPECT_EQ(finding({"info", "symlink", "a link", ""}), "info: a link\n");
  EXPECT_EQ(finding({"warning", "x", "m", "one\ntwo"}), "warning: m\n  hint: one\n        two\n");
}

TEST(Finding, TerminalIsSafeFromFileNames) {
  EXPECT_EQ(finding({"warning", "x", "a\x1b[31mb\nc", ""}), "warning: a?[31mb?c\n");
}

TEST(Text, PrintableKeepsUtf8AndNothingElse) {
  EXPECT_EQ(printable("plain µ … 日本 😀"), "plain µ … 日本 😀");
  EXPECT_EQ(printable("a\tb\nc\x7f"), "a?b?c?");
  EXPECT_EQ(printable("caf\xE9 \xC3"), "caf? ?");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "?31m");  // the 8-bit form of ESC [
  EXPECT_EQ(printable("\xC0\xAF \xED\xA0\x80 \xF4\x90\x80\x80"), "?? ??? ????");
  EXPECT_EQ(printable("\xE2\x82 \xF0\x9F\x98"), "? ?");  // cut-off characters
  EXPECT_EQ(printable("a\uFFFD"), "a?");
}

TEST(Text, ColumnsCountsCharacters) {
  EXPECT_EQ(columns("µs"), 2U);
  EXPECT_EQ(columns(""), 0U);
}

TEST(Text, CutFrontKeepsTheEnd) {
  EXPECT_EQ(cut_front("/dev/nvme0n1", 12), "/dev/nvme0n1");
  EXPECT_EQ(cut_front("/dev/nvme0n1", 8), "…nvme0n1");
  EXPECT_EQ(cut_front("µµµµ", 3), "…µµ");
}

TEST(Text, WrapBreaksAtSpacesAndIndents) {
  const std::string words = "word word word word word word word word word word word word word word";
  EXPECT_EQ(wrap("  Label   ", words, 10),
            "  Label   word word word word word word word word word word word word word word\n");
  EXPECT_EQ(wrap("  Label   ", words + "ss", 10),
            "  Label   word word word word word word word word word word word word word\n"
            "          wordss\n");
}

TEST(Text, WrapBreaksAWordOnlyWhenItFitsNowhere) {
  EXPECT_EQ(wrap("  x ", std::string(80, 'a'), 4), "  x " + std::string(76, 'a') + "\n    aaaa\n");
}

TEST(Text, PhrasesStayTogether) {
  const std::string filler(60, 'f');
  EXPECT_EQ(wrap("", filler + " " + list({"mean 1.36 ms", "max 8.01 ms"}), 2),
            filler + " mean 1.36 ms,\n  max 8.01 ms\n");
  EXPECT_EQ(wrap("", glue(filler + " " + filler), 2), filler + "\n  " + filler + "\n");
}

}  // namespace
}  // namespace uringbench::report
