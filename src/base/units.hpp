// Quantities: text to number with exact refusals, number to text with exact thresholds.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace uringbench::base {

/// All parsers take the name of the flag (as the user knows it, "--depth") for the message, refuse
/// empty text, trailing junk, signs where meaningless and overflow, and throw UserError(usage):
/// "--depth: must be between 1 and 32768, got -5".

/// A decimal integer in [least, most].
std::int64_t parse_integer(std::string_view flag, std::string_view text, std::int64_t least,
                           std::int64_t most);
/// A decimal or 0x-hexadecimal number of the whole unsigned 64-bit range (seeds).
std::uint64_t parse_unsigned(std::string_view flag, std::string_view text);
/// Exactly "0" or "1".
bool parse_switch(std::string_view flag, std::string_view text);
/// Bytes. "4096", "4k", "4K", "4KiB", "1M", "1MiB", "2G", "1T" (always powers of 1024), optional
/// "B" after a plain number. Decimal-looking suffixes ("kB", "MB") are refused as ambiguous, and
/// say what to write. Result in [least, most].
std::uint64_t parse_size(std::string_view flag, std::string_view text, std::uint64_t least = 1,
                         std::uint64_t most = std::numeric_limits<std::int64_t>::max());
/// Nanoseconds. "5", "5s", "1.5", "500ms", "250us", "2m", "1h". Result in [least, most];
/// a bare "0" is allowed when `least` is 0. Exact: what is finer than a nanosecond is refused.
std::int64_t parse_duration(std::string_view flag, std::string_view text, std::int64_t least_ns,
                            std::int64_t most_ns);
/// CPU numbers in the order given: "0-3,8" is {0,1,2,3,8}. Refuses reversed ranges, duplicates
/// and numbers above 65535.
std::vector<int> parse_cpu_list(std::string_view flag, std::string_view text);
/// The inverse, for messages: {0,1,2,3,8} is "0-3,8". Sorts.
std::string format_cpu_list(std::vector<int> cpus);

/// t/io_uring's figure: up to 100000 plain ("99999"), above "100.00K" (÷1000), above 1000000
/// "1.00M". Rounds to the nearest.
std::string format_iops(double iops);
/// t/io_uring's shape with right arithmetic: MiB/s whole ("365MiB/s"), above 2000 MiB/s GiB/s
/// (÷1024) with two decimals ("2.09GiB/s"). Below 10 MiB/s one decimal would be lost, so: two
/// decimals below 10 ("0.50MiB/s").
std::string format_bandwidth(double bytes_per_second);
/// "3000", "4k", "1M": the shortest exact form, with the largest suffix (k, M, G, T) that divides.
std::string format_size(std::uint64_t bytes);
/// For people: "64.0 MiB", "512 B", "1.5 GiB".
std::string format_bytes(std::uint64_t bytes);
/// For people: "850 ns", "12.3 µs", "4.56 ms", "5 s", "1.25 s", "2 m 5 s".
std::string format_duration(double nanoseconds);

}  // namespace uringbench::base
