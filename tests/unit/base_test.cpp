#include "base/base.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace uringbench::base {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kYear = 365 * 24 * 3600 * kSecond;

/// The message of the usage error that `parse` ends in; fails the test when it does not.
std::string refusal(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(error.problems().size(), 1U);
    return error.what();
  }
  return "(accepted)";
}

std::int64_t depth(std::string_view text) { return parse_integer("--depth", text, 1, 32768); }
std::int64_t duration(std::string_view text) { return parse_duration("-r", text, 0, kYear); }

TEST(ParseInteger, TakesTheWholeRange) {
  EXPECT_EQ(depth("1"), 1);
  EXPECT_EQ(depth("32768"), 32768);
  EXPECT_EQ(depth("007"), 7);
  EXPECT_EQ(parse_integer("--x", "-5", -10, 10), -5);
  const auto least = std::numeric_limits<std::int64_t>::min();
  const auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(parse_integer("--x", "-9223372036854775808", least, most), least);
  EXPECT_EQ(parse_integer("--x", "9223372036854775807", least, most), most);
}

TEST(ParseInteger, NamesFlagRangeAndWhatWasGiven) {
  const std::string range = "--depth: must be between 1 and 32768, got ";
  EXPECT_EQ(refusal([] { depth("-5"); }), range + "-5");
  EXPECT_EQ(refusal([] { depth("0"); }), range + "0");
  EXPECT_EQ(refusal([] { depth("32769"); }), range + "32769");
  EXPECT_EQ(refusal([] { depth("99999999999999999999"); }), range + "99999999999999999999");
  const std::string junk = "--depth: must be a whole number between 1 and 32768, got ";
  EXPECT_EQ(refusal([] { depth(""); }), junk + "\"\"");
  EXPECT_EQ(refusal([] { depth("12x"); }), junk + "\"12x\"");
  EXPECT_EQ(refusal([] { depth("+1"); }), junk + "\"+1\"");
  EXPECT_EQ(refusal([] { depth(" 1"); }), junk + "\" 1\"");
  EXPECT_EQ(refusal([] { depth("1 "); }), junk + "\"1 \"");
  EXPECT_EQ(refusal([] { depth("1.5"); }), junk + "1.5");
  EXPECT_EQ(refusal([] { depth("-"); }), junk + "-");
  EXPECT_EQ(refusal([] { depth("0x10"); }), junk + "\"0x10\"");
}

TEST(ParseUnsigned, TakesDecimalAndHexadecimalOf64Bits) {
  EXPECT_EQ(parse_unsigned("--seed", "0"), 0U);
  EXPECT_EQ(parse_unsigned("--seed", "18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_unsigned("--seed", "0xffffffffffffffff"), UINT64_MAX);
  EXPECT_EQ(parse_unsigned("--seed", "0XfF"), 255U);
  for (const char* text : {"", "-1", "+1", "0x", "x1", "0x1g", "18446744073709551616", "1 ",
                           "0x10000000000000000", "0x-1"}) {
    const std::string message = refusal([&] { parse_unsigned("--seed", text); });
    EXPECT_EQ(message.rfind("--seed: must be a decimal or 0x-hexadecimal whole number", 0), 0U)
        << text << ": " << message;
  }
}

TEST(ParseSwitch, TakesNothingButZeroAndOne) {
  EXPECT_FALSE(parse_switch("-B", "0"));
  EXPECT_TRUE(parse_switch("-B", "1"));
  EXPECT_EQ(refusal([] { parse_switch("-B", "2"); }), "-B: must be 0 or 1, got 2");
  EXPECT_EQ(refusal([] { parse_switch("-B", "01"); }), "-B: must be 0 or 1, got 01");
  EXPECT_EQ(refusal([] { parse_switch("-B", "on"); }), "-B: must be 0 or 1, got \"on\"");
  EXPECT_EQ(refusal([] { parse_switch("-B", ""); }), "-B: must be 0 or 1, got \"\"");
}

TEST(ParseSize, SuffixesArePowersOf1024) {
  for (const char* text : {"4096", "4k", "4K", "4KiB", "4kiB", "4096B"}) {
    EXPECT_EQ(parse_size("-b", text), 4096U) << text;
  }
  EXPECT_EQ(parse_size("-b", "1M"), 1048576U);
  EXPECT_EQ(parse_size("-b", "1m"), 1048576U);
  EXPECT_EQ(parse_size("-b", "1MiB"), 1048576U);
  EXPECT_EQ(parse_size("-b", "2G"), 2147483648U);
  EXPECT_EQ(parse_size("-b", "1T"), 1099511627776U);
  EXPECT_EQ(parse_size("-b", "9223372036854775807"), 9223372036854775807U);
}

TEST(ParseSize, RefusesJunkZeroNegativeAndOverflow) {
  const auto size = [](const char* text) {
    return refusal([text] { parse_size("--block-size", text, 1, 1048576); });
  };
  const std::string range = "--block-size: must be between 1 and 1048576 bytes, got ";
  EXPECT_EQ(size("0"), range + "0");
  EXPECT_EQ(size("-1"), range + "-1");
  EXPECT_EQ(size("2M"), range + "\"2M\"");
  EXPECT_EQ(size("99999999999999999999"), range + "99999999999999999999");
  EXPECT_EQ(size("16777216T"), range + "\"16777216T\"") << "2^64 must not wrap to 0";
  EXPECT_EQ(size("16777217T"), range + "\"16777217T\"");
  const std::string junk = "--block-size: must be a size between 1 and 1048576 bytes, got ";
  for (const char* text : {"12x", "", "k", "4kk", "4k4", "4 k", "4P", "4iB", "4Kib", "foo"}) {
    EXPECT_EQ(size(text), junk + '"' + text + '"');
  }
  EXPECT_EQ(size("1.5"), junk + "1.5");
}

TEST(ParseSize, ExplainsAmbiguousSuffixes) {
  for (const char* text : {"4kB", "4KB", "4MB", "4Gb"}) {
    try {
      parse_size("-b", text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("ambiguous"), std::string::npos) << error.what();
      EXPECT_NE(error.problems()[0].hint.find("iB"), std::string::npos) << text;
    }
  }
}

TEST(ParseDuration, TakesUnitsAndFractionsExactly) {
  EXPECT_EQ(duration("5"), 5 * kSecond);
  EXPECT_EQ(duration("5s"), 5 * kSecond);
  EXPECT_EQ(duration("1.5"), 1'500'000'000);
  EXPECT_EQ(duration(".5"), 500'000'000);
  EXPECT_EQ(duration("0.1s"), 100'000'000);
  EXPECT_EQ(duration("500ms"), 500'000'000);
  EXPECT_EQ(duration("250us"), 250'000);
  EXPECT_EQ(duration("250µs"), 250'000);
  EXPECT_EQ(duration("7ns"), 7);
  EXPECT_EQ(duration("2m"), 120 * kSecond);
  EXPECT_EQ(duration("0.25m"), 15 * kSecond);
  EXPECT_EQ(duration("1h"), 3600 * kSecond);
  EXPECT_EQ(duration("0"), 0);
  EXPECT_EQ(duration("0.000000001"), 1);
  EXPECT_EQ(duration("1.50000000000000000000"), 1'500'000'000);
}

TEST(ParseDuration, NeverReadsJunkAsZero) {
  const auto message = [](const char* text) { return refusal([text] { duration(text); }); };
  for (const char* text : {"foo", "", "s", "5x", "5 s", "5s ", "1e3", "1.s", "5sec"}) {
    EXPECT_EQ(message(text),
              std::string("-r: must be a duration between 0 and 8760h, got \"") + text + '"');
  }
  for (const char* text : {"1.", ".", "1.2.3"}) {
    EXPECT_EQ(message(text),
              std::string("-r: must be a duration between 0 and 8760h, got ") + text);
  }
  EXPECT_EQ(message("-1"), "-r: must be between 0 and 8760h, got -1");
  EXPECT_EQ(message("8761h"), "-r: must be between 0 and 8760h, got \"8761h\"");
  EXPECT_EQ(message("99999999999999999999"),
            "-r: must be between 0 and 8760h, got 99999999999999999999");
  EXPECT_EQ(message("9223372036.9"), "-r: must be between 0 and 8760h, got 9223372036.9");
  EXPECT_EQ(message("0.0000000001"), "-r: must be a whole number of nanoseconds, got 0.0000000001");
  EXPECT_EQ(message("0.5ns"), "-r: must be a whole number of nanoseconds, got \"0.5ns\"");
  EXPECT_EQ(refusal([] { parse_duration("-r", "0", 100'000'000, kYear); }),
            "-r: must be between 100ms and 8760h, got 0");
}

TEST(CpuList, KeepsTheOrderGiven) {
  EXPECT_EQ(parse_cpu_list("--cpus", "0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list("--cpus", "8,0-1,65535"), (std::vector<int>{8, 0, 1, 65535}));
  EXPECT_EQ(parse_cpu_list("--cpus", "5-5"), (std::vector<int>{5}));
}

TEST(CpuList, RefusesWhatIsNoListOfCpus) {
  const auto message = [](const char* text) {
    return refusal([text] { parse_cpu_list("--cpus", text); });
  };
  EXPECT_EQ(message("3-1"), "--cpus: must be a list of ascending ranges, got 3-1");
  EXPECT_EQ(message("0-2,1"), "--cpus: must be a list that names each CPU once, got \"0-2,1\"");
  EXPECT_EQ(message("65536"), "--cpus: must be between 0 and 65535, got 65536");
  EXPECT_EQ(message("0-99999999999"), "--cpus: must be between 0 and 65535, got 99999999999");
  for (const char* text : {"", "1,", ",1", "1,,2", "-1", "1-", "0-3-5", "a", "1 2", "-"}) {
    EXPECT_EQ(message(text).rfind("--cpus: must be a list of CPUs", 0), 0U) << message(text);
  }
}

TEST(CpuList, IsFormattedSortedAndShort) {
  EXPECT_EQ(format_cpu_list({}), "");
  EXPECT_EQ(format_cpu_list({3}), "3");
  EXPECT_EQ(format_cpu_list({8, 1, 0, 3, 2}), "0-3,8");
  EXPECT_EQ(format_cpu_list({0, 2, 4, 5}), "0,2,4-5");
}

TEST(FormatIops, HasExactThresholds) {
  EXPECT_EQ(format_iops(0), "0");
  EXPECT_EQ(format_iops(0.4), "0");
  EXPECT_EQ(format_iops(999.5), "1000");
  EXPECT_EQ(format_iops(99'999), "99999");
  EXPECT_EQ(format_iops(100'000), "100000");
  EXPECT_EQ(format_iops(100'000.4), "100000");
  EXPECT_EQ(format_iops(100'001), "100.00K");
  EXPECT_EQ(format_iops(123'456), "123.46K");
  EXPECT_EQ(format_iops(999'994), "999.99K");
  EXPECT_EQ(format_iops(999'995), "1.00M");
  EXPECT_EQ(format_iops(999'999), "1.00M") << "and never 1000.00K";
  EXPECT_EQ(format_iops(1'000'000), "1.00M");
  EXPECT_EQ(format_iops(1'000'001), "1.00M");
  EXPECT_EQ(format_iops(12'345'678), "12.35M");
  EXPECT_EQ(format_iops(-1), "0");
  EXPECT_EQ(format_iops(std::nan("")), "0");
}

TEST(FormatBandwidth, HasExactThresholds) {
  const auto mib = [](double count) { return format_bandwidth(count * 1048576); };
  EXPECT_EQ(mib(0), "0.00MiB/s");
  EXPECT_EQ(mib(0.5), "0.50MiB/s");
  EXPECT_EQ(mib(9.99), "9.99MiB/s");
  EXPECT_EQ(mib(9.996), "10MiB/s");
  EXPECT_EQ(mib(365.4), "365MiB/s");
  EXPECT_EQ(mib(1999.6), "2000MiB/s");
  EXPECT_EQ(mib(2000), "2000MiB/s");
  EXPECT_EQ(mib(2000.4), "2000MiB/s");
  EXPECT_EQ(mib(2001), "1.95GiB/s");
  EXPECT_EQ(mib(2048), "2.00GiB/s") << "GiB are 1024 MiB, not 1000";
  EXPECT_EQ(format_bandwidth(2854.0 * 786432), "2.09GiB/s") << "blocks of 0.75 MiB count in full";
}

TEST(FormatSize, IsExactAndParsesBack) {
  EXPECT_EQ(format_size(0), "0");
  EXPECT_EQ(format_size(512), "512");
  EXPECT_EQ(format_size(3000), "3000");
  EXPECT_EQ(format_size(4096), "4k");
  EXPECT_EQ(format_size(65536), "64k");
  EXPECT_EQ(format_size(1048576), "1M");
  EXPECT_EQ(format_size(1572864), "1536k");
  EXPECT_EQ(format_size(UINT64_C(3) << 40), "3T");
}

TEST(FormatBytes, RoundsBeforeItChoosesTheUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(1048575), "1.0 MiB");
  EXPECT_EQ(format_bytes(67108864), "64.0 MiB");
  EXPECT_EQ(format_bytes(1610612736), "1.5 GiB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "16.0 EiB");
}

TEST(FormatDuration, HasThreeDigitsAndTheRightUnit) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(850), "850 ns");
  EXPECT_EQ(format_duration(999.6), "1.00 µs");
  EXPECT_EQ(format_duration(12'345), "12.3 µs");
  EXPECT_EQ(format_duration(99'960), "100 µs");
  EXPECT_EQ(format_duration(999'600), "1.00 ms");
  EXPECT_EQ(format_duration(4'560'000), "4.56 ms");
  EXPECT_EQ(format_duration(999.6e6), "1 s");
  EXPECT_EQ(format_duration(5e9), "5 s");
  EXPECT_EQ(format_duration(1.25e9), "1.25 s");
  EXPECT_EQ(format_duration(59.994e9), "59.99 s");
  EXPECT_EQ(format_duration(59.996e9), "1 m");
  EXPECT_EQ(format_duration(125e9), "2 m 5 s");
  EXPECT_EQ(format_duration(3600e9), "1 h");
  EXPECT_EQ(format_duration(3725e9), "1 h 2 m 5 s");
  EXPECT_EQ(format_duration(-5e9), "-5 s");
}

TEST(Errors, NamesEveryErrno) {
  EXPECT_EQ(errno_name(EPERM), "EPERM");
  EXPECT_EQ(errno_name(EOPNOTSUPP), "EOPNOTSUPP");
  EXPECT_EQ(errno_name(EAGAIN), "EAGAIN");
  EXPECT_EQ(errno_name(4242), "errno 4242");
  EXPECT_EQ(errno_name(0), "errno 0");
  EXPECT_EQ(errno_name(-1), "errno -1");
  EXPECT_EQ(describe_errno(EPERM), "EPERM (Operation not permitted)");
  EXPECT_EQ(describe_errno(ENOMEM), "ENOMEM (Cannot allocate memory)");
  EXPECT_EQ(describe_errno(4242), "errno 4242");
}

TEST(Errors, SystemErrorSaysSubjectOperationAndReason) {
  const SystemError error("open", "/dev/null", EACCES, "be somebody else");
  EXPECT_STREQ(error.what(), "/dev/null: open: EACCES (Permission denied)");
  EXPECT_EQ(error.problem().what, error.what());
  EXPECT_EQ(error.problem().hint, "be somebody else");
  EXPECT_EQ(error.problem().code, ExitCode::cannot);
  EXPECT_EQ(error.error_number(), EACCES);
  EXPECT_STREQ(SystemError("mmap", "", ENOMEM).what(), "mmap: ENOMEM (Cannot allocate memory)");
}

TEST(Errors, UsageComesBeforeCannot) {
  const Problem cannot{ExitCode::cannot, "a", ""};
  const Problem usage{ExitCode::usage, "b", ""};
  EXPECT_EQ(UserError({cannot, usage}).code(), ExitCode::usage);
  EXPECT_EQ(UserError({cannot, cannot}).code(), ExitCode::cannot);
  EXPECT_STREQ(UserError({cannot, usage}).what(), "a\nb");
  EXPECT_EQ(UserError(std::vector<Problem>{}).code(), ExitCode::internal);
  EXPECT_EQ(UserError(std::vector<Problem>{}).problems().size(), 1U);
}

}  // namespace
}  // namespace uringbench::base
