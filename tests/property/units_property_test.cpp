// What holds for all quantities: what is written reads back, and no rounding shows a wrong unit.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/base.hpp"

namespace uringbench::base {
namespace {

template <typename Parse>
bool is_refused(Parse&& parse) {
  try {
    parse();
  } catch (const UserError& error) {
    return error.code() == ExitCode::usage && !error.problems().front().what.empty();
  }
  return false;
}

/// All magnitudes equally likely; uniform numbers would nearly all be huge.
rc::Gen<std::uint64_t> any_magnitude(unsigned bits = 64) {
  return rc::gen::map(
      rc::gen::pair(rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange(64U - bits, 64U)),
      [](const auto& drawn) {
        const std::uint64_t mixed = drawn.first * 0x9e3779b97f4a7c15U;
        return mixed >> drawn.second;
      });
}

TEST(UnitsProperty, IntegersReadBack) {
  const auto least = std::numeric_limits<std::int64_t>::min();
  const auto most = std::numeric_limits<std::int64_t>::max();
  ASSERT_TRUE(rc::check([=](std::int64_t value) {
    RC_ASSERT(parse_integer("--x", std::to_string(value), least, most) == value);
  }));
  ASSERT_TRUE(rc::check([] {
    const auto value = *any_magnitude();
    RC_ASSERT(parse_unsigned("--seed", std::to_string(value)) == value);
  }));
}

TEST(UnitsProperty, IntegersOutOfRangeAreRefused) {
  ASSERT_TRUE(rc::check([](std::int64_t value, std::int32_t bound, std::uint16_t width) {
    const std::int64_t least = bound;
    const std::int64_t most = least + width;
    const bool inside = value >= least && value <= most;
    const auto parse = [&] { parse_integer("--x", std::to_string(value), least, most); };
    RC_ASSERT(is_refused(parse) == !inside);
  }));
}

// No x among the junk: 0xE is a number.
TEST(UnitsProperty, TrailingJunkIsRefused) {
  ASSERT_TRUE(rc::check([](std::uint16_t value) {
    const auto junk = *rc::gen::nonEmpty(
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("vyz!;,#/ +-_eE\n\t"))));
    const std::string text = std::to_string(value) + junk;
    RC_ASSERT(is_refused([&] { parse_integer("--x", text, 0, 1'000'000); }));
    RC_ASSERT(is_refused([&] { parse_unsigned("--x", text); }));
    RC_ASSERT(is_refused([&] { parse_size("--x", text, 0); }));
    RC_ASSERT(is_refused([&] { parse_duration("--x", text, 0, INT64_MAX); }));
  }));
}

TEST(UnitsProperty, SizesReadBackInTheirShortestForm) {
  ASSERT_TRUE(rc::check([] {
    const auto unit = *rc::gen::element(0U, 10U, 20U, 30U, 40U);
    const std::uint64_t size = *any_magnitude(63U - unit) << unit;
    const std::string text = format_size(size);
    RC_ASSERT(parse_size("-b", text, 0) == size);
    RC_ASSERT(text.size() <= std::to_string(size).size());
  }));
}

TEST(UnitsProperty, DurationsAreExactToTheNanosecond) {
  ASSERT_TRUE(rc::check([] {
    const std::uint64_t total = *any_magnitude(62);
    std::string fraction = std::to_string(total % 1'000'000'000);
    fraction.insert(0, 9 - fraction.size(), '0');
    const std::string seconds = std::to_string(total / 1'000'000'000) + "." + fraction;
    const auto value = static_cast<std::int64_t>(total);
    RC_ASSERT(parse_duration("-r", seconds, 0, INT64_MAX) == value);
    RC_ASSERT(parse_duration("-r", seconds + "s", 0, INT64_MAX) == value);
    RC_ASSERT(parse_duration("-r", std::to_string(total) + "ns", 0, INT64_MAX) == value);
  }));
}

TEST(UnitsProperty, CpuListsReadBack) {
  ASSERT_TRUE(rc::check([] {
    auto cpus = *rc::gen::nonEmpty(
        rc::gen::unique<std::vector<int>>(rc::gen::resize(30, rc::gen::inRange(0, 65536))));
    const std::string text = format_cpu_list(cpus);
    std::sort(cpus.begin(), cpus.end());
    RC_ASSERT(parse_cpu_list("--cpus", text) == cpus);
  }));
}

TEST(UnitsProperty, IopsAreRightToTheLastDigitAndKeepTheirUnit) {
  ASSERT_TRUE(rc::check([] {
    const auto iops = static_cast<double>(*any_magnitude(40));
    const std::string text = format_iops(iops);
    char* unit = nullptr;
    const double shown = std::strtod(text.c_str(), &unit);
    const double factor = *unit == 'M' ? 1e6 : *unit == 'K' ? 1e3 : 1;
    const double last_place = factor == 1 ? 1 : factor / 100;
    RC_ASSERT(std::abs(shown * factor - iops) <= last_place / 2 * (1 + 1e-9));
    if (*unit == 'K') RC_ASSERT(shown >= 100.0 && shown < 1000.0);
    if (*unit == 'M') RC_ASSERT(shown >= 1.0);
    if (*unit == '\0') RC_ASSERT(shown <= 100'000.0);
  }));
}

TEST(UnitsProperty, BandwidthKeepsItsUnit) {
  ASSERT_TRUE(rc::check([] {
    const auto bytes = static_cast<double>(*any_magnitude(45));
    const std::string text = format_bandwidth(bytes);
    char* unit = nullptr;
    const double shown = std::strtod(text.c_str(), &unit);
    const bool gib = std::string(unit) == "GiB/s";
    RC_ASSERT(gib || std::string(unit) == "MiB/s");
    const double mib = bytes / 1048576;
    const double last_place = gib ? 10.24 : shown < 10 ? 0.01 : 1;
    RC_ASSERT(std::abs((gib ? shown * 1024 : shown) - mib) <= last_place / 2 * (1 + 1e-9));
    RC_ASSERT(gib == (mib >= 2000.5));
  }));
}

TEST(UnitsProperty, LargerIsNeverShownSmaller) {
  const auto value_of = [](const std::string& text) {
    char* unit = nullptr;
    const double shown = std::strtod(text.c_str(), &unit);
    return *unit == 'M' ? shown * 1e6 : *unit == 'K' ? shown * 1e3 : shown;
  };
  ASSERT_TRUE(rc::check([&] {
    const auto base = *any_magnitude(30);
    const auto step = *any_magnitude(12);
    RC_ASSERT(value_of(format_iops(static_cast<double>(base))) <=
              value_of(format_iops(static_cast<double>(base + step))) * (1 + 1e-12));
  }));
}

}  // namespace
}  // namespace uringbench::base
