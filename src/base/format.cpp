// Number to text. Values are rounded once, to an integer of the last printed place, before a unit
// is chosen. Otherwise 999999 would be written as "1000.00K".
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/units.hpp"

namespace uringbench::base {

namespace {

constexpr double kBytesPerMib = 1048576.0;

/// Rounds to the nearest integer; NaN and negative values are 0, huge ones are cut off, because
/// neither may bring down a report.
std::uint64_t nearest(double value) {
  if (!(value > 0)) return 0;
  return static_cast<std::uint64_t>(std::llround(std::min(value, 9e18)));
}

/// 150 is "1.50".
std::string from_hundredths(std::uint64_t hundredths) {
  return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
}

/// Three significant digits of a value in [1, 1000): "4.56", "12.3", "850".
std::string three_digits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string trim_decimals(std::string text) {
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

/// "2 m 5 s", "1 h", leaving out what is zero.
std::string long_duration(std::uint64_t seconds) {
  std::string text;
  const std::array<std::pair<std::uint64_t, const char*>, 3> parts{
      {{seconds / 3600, "h"}, {seconds / 60 % 60, "m"}, {seconds % 60, "s"}}};
  for (const auto& [count, unit] : parts) {
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", count, unit);
  }
  return text;
}

}  // namespace

std::string format_iops(double iops) {
  const std::uint64_t whole = nearest(iops);
  if (whole <= 100'000) return fmt::format("{}", whole);
  const std::uint64_t hundredths_of_thousand = nearest(iops / 10);
  if (hundredths_of_thousand < 100'000) return from_hundredths(hundredths_of_thousand) + "K";
  return from_hundredths(nearest(iops / 10'000)) + "M";
}

std::string format_bandwidth(double bytes_per_second) {
  const double mib = bytes_per_second / kBytesPerMib;
  const std::uint64_t hundredths = nearest(mib * 100);
  if (hundredths < 1000) return from_hundredths(hundredths) + "MiB/s";
  const std::uint64_t whole = nearest(mib);
  if (whole <= 2000) return fmt::format("{}MiB/s", whole);
  return from_hundredths(nearest(mib / 1024 * 100)) + "GiB/s";
}

std::string format_size(std::uint64_t bytes) {
  constexpr std::array<std::pair<unsigned, char>, 4> units{
      {{40, 'T'}, {30, 'G'}, {20, 'M'}, {10, 'k'}}};
  for (const auto& [shift, letter] : units) {
    const std::uint64_t count = bytes >> shift;
    if (count != 0 && count << shift == bytes) return fmt::format("{}{}", count, letter);
  }
  return fmt::format("{}", bytes);
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr std::array<const char*, 6> units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < units.size()) {
    value /= 1024;
    unit++;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string format_duration(double nanoseconds) {
  if (nanoseconds < 0) return "-" + format_duration(-nanoseconds);
  if (!(nanoseconds >= 999.5)) return fmt::format("{} ns", nearest(nanoseconds));
  if (nanoseconds < 999.5e3) return three_digits(nanoseconds / 1e3) + " µs";
  if (nanoseconds < 999.5e6) return three_digits(nanoseconds / 1e6) + " ms";
  if (nanoseconds < 59.995e9) {
    return trim_decimals(from_hundredths(nearest(nanoseconds / 1e7))) + " s";
  }
  return long_duration(nearest(nanoseconds / 1e9));
}

std::string format_cpu_list(std::vector<int> cpus) {
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  std::string text;
  for (std::size_t begin = 0; begin < cpus.size();) {
    std::size_t end = begin + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) end++;
    if (!text.empty()) text += ',';
    text += fmt::format("{}", cpus[begin]);
    if (end - begin > 1) text += fmt::format("-{}", cpus[end - 1]);
    begin = end;
  }
  return text;
}

}  // namespace uringbench::base
