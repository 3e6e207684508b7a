// Text to number. Every refusal names the flag, what is wanted and what was given.
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/error.hpp"

namespace uringbench::base {

namespace {

constexpr int kMaxCpuNumber = 65535;

[[noreturn]] void refuse(std::string_view flag, const std::string& wanted, std::string_view text,
                         std::string hint = {}) {
  // Numbers are quoted as they are; anything else gets quotation marks, so that blanks and
  // emptiness can be seen.
  const bool numeric = !text.empty() && std::all_of(text.begin(), text.end(), [](char letter) {
    return (letter >= '0' && letter <= '9') || letter == '-' || letter == '.';
  });
  const std::string got = numeric ? std::string(text) : fmt::format("\"{}\"", text);
  throw UserError(ExitCode::usage, fmt::format("{}: must be {}, got {}", flag, wanted, got),
                  std::move(hint));
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// Splits "4096KiB" into "4096" and "KiB". The number may be empty, which callers refuse.
std::pair<std::string_view, std::string_view> split_number(std::string_view text,
                                                           bool with_fraction) {
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || (with_fraction && text[end] == '.'))) end++;
  return {text.substr(0, end), text.substr(end)};
}

/// Nothing for empty text, junk and overflow.
template <typename Integer>
std::optional<Integer> whole_number(std::string_view text, int radix = 10) {
  Integer value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, radix);
  if (error != std::errc{} || stop != end || text.empty()) return std::nullopt;
  return value;
}

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// The factor of a size suffix: "", "B", a letter of "kMGT" in either case, or that with "iB".
std::optional<std::uint64_t> size_factor(std::string_view suffix) {
  if (suffix.empty() || suffix == "B") return 1;
  if (suffix.size() != 1 && suffix.substr(1) != "iB") return std::nullopt;
  const std::size_t power = std::string_view("kmgt").find(lower(suffix[0]));
  if (power == std::string_view::npos) return std::nullopt;
  return std::uint64_t{1} << (10 * (power + 1));
}

/// "kB" and "MB" are powers of 1000 to some and of 1024 to others.
bool is_ambiguous_suffix(std::string_view suffix) {
  return suffix.size() == 2 && lower(suffix[1]) == 'b' && size_factor(suffix.substr(0, 1)) > 1;
}

std::optional<std::int64_t> duration_factor(std::string_view unit) {
  if (unit.empty() || unit == "s") return 1'000'000'000;
  if (unit == "ms") return 1'000'000;
  if (unit == "us" || unit == "µs") return 1'000;
  if (unit == "ns") return 1;
  if (unit == "m" || unit == "min") return 60'000'000'000;
  if (unit == "h") return 3'600'000'000'000;
  return std::nullopt;
}

/// The exact way to type a duration: "500ms", "5s", "8760h". "0" needs no unit.
std::string typed_duration(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return "0";
  for (const char* unit : {"h", "m", "s", "ms", "us"}) {
    const std::int64_t factor = *duration_factor(unit);
    if (nanoseconds % factor == 0) return fmt::format("{}{}", nanoseconds / factor, unit);
  }
  return fmt::format("{}ns", nanoseconds);
}

enum class DecimalFault { malformed, too_fine, overflow };

/// `number` × `factor` without rounding: "1.5" of 1000 is 1500, "0.0001" of 1000 is too fine.
std::optional<std::int64_t> exact_product(std::string_view number, std::int64_t factor,
                                          DecimalFault& fault) {
  const std::size_t point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  std::string_view fraction =
      point == std::string_view::npos ? std::string_view{} : number.substr(point + 1);
  fault = DecimalFault::malformed;
  const bool has_point = point != std::string_view::npos;
  // ".5" is a number, "5." and "." are typing errors.
  if (has_point ? !all_digits(fraction) : !all_digits(whole)) return std::nullopt;
  if (!whole.empty() && !all_digits(whole)) return std::nullopt;
  fault = DecimalFault::overflow;
  const auto units = whole_number<std::int64_t>(whole.empty() ? "0" : whole);
  std::int64_t total = 0;
  if (!units || __builtin_mul_overflow(*units, factor, &total)) return std::nullopt;
  // Each decimal place divides what is left of the factor by ten. A remainder means that the
  // text says more than a nanosecond can hold.
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  std::int64_t place = factor;
  for (const char digit : fraction) {
    if (place % 10 != 0) {
      fault = DecimalFault::too_fine;
      return std::nullopt;
    }
    place /= 10;
    if (__builtin_add_overflow(total, place * (digit - '0'), &total)) return std::nullopt;
  }
  return total;
}

std::string duration_range(std::int64_t least_ns, std::int64_t most_ns) {
  return fmt::format("between {} and {}", typed_duration(least_ns), typed_duration(most_ns));
}

int cpu_number(std::string_view flag, std::string_view text) {
  return static_cast<int>(parse_integer(flag, text, 0, kMaxCpuNumber));
}

}  // namespace

std::int64_t parse_integer(std::string_view flag, std::string_view text, std::int64_t least,
                           std::int64_t most) {
  const std::string range = fmt::format("between {} and {}", least, most);
  const std::string_view digits = text.substr(!text.empty() && text[0] == '-' ? 1 : 0);
  if (!all_digits(digits)) refuse(flag, "a whole number " + range, text);
  const auto value = whole_number<std::int64_t>(text);
  if (!value || *value < least || *value > most) refuse(flag, range, text);
  return *value;
}

std::uint64_t parse_unsigned(std::string_view flag, std::string_view text) {
  const bool hexadecimal = text.size() > 2 && text[0] == '0' && lower(text[1]) == 'x';
  const auto value = hexadecimal ? whole_number<std::uint64_t>(text.substr(2), 16)
                                 : whole_number<std::uint64_t>(text);
  if (!value) {
    refuse(flag,
           fmt::format("a decimal or 0x-hexadecimal whole number between 0 and {}",
                       std::numeric_limits<std::uint64_t>::max()),
           text);
  }
  return *value;
}

bool parse_switch(std::string_view flag, std::string_view text) {
  if (text == "0") return false;
  if (text == "1") return true;
  refuse(flag, "0 or 1", text);
}

std::uint64_t parse_size(std::string_view flag, std::string_view text, std::uint64_t least,
                         std::uint64_t most) {
  const std::string range = fmt::format("between {} and {} bytes", least, most);
  if (text.size() > 1 && text[0] == '-' && is_digit(text[1])) refuse(flag, range, text);
  const auto [number, suffix] = split_number(text, false);
  if (!number.empty() && is_ambiguous_suffix(suffix)) {
    refuse(flag, "a size without the ambiguous suffix \"" + std::string(suffix) + "\"", text,
           fmt::format("write {0}{1} or {0}{2}iB for powers of 1024, or the plain number of bytes",
                       number, suffix[0], suffix[0] == 'k' ? 'K' : suffix[0]));
  }
  const auto factor = size_factor(suffix);
  if (number.empty() || !factor) {
    refuse(flag, "a size " + range, text, "write e.g. 4096, 4k, 64KiB, 1M or 2G");
  }
  const auto count = whole_number<std::uint64_t>(number);
  std::uint64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, *factor, &bytes) || bytes < least || bytes > most) {
    refuse(flag, range, text);
  }
  return bytes;
}

std::int64_t parse_duration(std::string_view flag, std::string_view text, std::int64_t least_ns,
                            std::int64_t most_ns) {
  const std::string range = duration_range(least_ns, most_ns);
  if (text.size() > 1 && text[0] == '-' && is_digit(text[1])) refuse(flag, range, text);
  const auto [number, unit] = split_number(text, true);
  const auto factor = duration_factor(unit);
  DecimalFault fault = DecimalFault::malformed;
  const auto value = factor ? exact_product(number, *factor, fault) : std::nullopt;
  if (value) {
    if (*value < least_ns || *value > most_ns) refuse(flag, range, text);
    return *value;
  }
  switch (fault) {
    case DecimalFault::overflow:
      refuse(flag, range, text);
    case DecimalFault::too_fine:
      refuse(flag, "a whole number of nanoseconds", text);
    case DecimalFault::malformed:
      break;
  }
  refuse(flag, "a duration " + range, text, "write e.g. 5, 5s, 1.5, 500ms, 250us, 2m or 1h");
}

std::vector<int> parse_cpu_list(std::string_view flag, std::string_view text) {
  if (text.empty()) refuse(flag, "a list of CPUs like 0-3,8", text);
  std::vector<int> cpus;
  std::vector<bool> seen(kMaxCpuNumber + 1, false);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, comma - begin);
    begin = comma + 1;
    const std::size_t dash = item.find('-', 1);
    const bool range = dash != std::string_view::npos;
    if (!all_digits(item.substr(0, dash)) || (range && !all_digits(item.substr(dash + 1)))) {
      refuse(flag, fmt::format("a list of CPUs between 0 and {} like 0-3,8", kMaxCpuNumber), text);
    }
    const int first = cpu_number(flag, item.substr(0, dash));
    const int last = range ? cpu_number(flag, item.substr(dash + 1)) : first;
    if (last < first) {
      refuse(flag, "a list of ascending ranges", item, fmt::format("write {}-{}", last, first));
    }
    for (int cpu = first; cpu <= last; cpu++) {
      if (seen[static_cast<std::size_t>(cpu)]) {
        refuse(flag, "a list that names each CPU once", text, fmt::format("CPU {} repeats", cpu));
      }
      seen[static_cast<std::size_t>(cpu)] = true;
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

}  // namespace uringbench::base
