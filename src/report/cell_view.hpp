// Private to report: what a cell says, looked up once and put into words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "result/result.hpp"

namespace uringbench::report {

/// The value as a person reads it: "yes", "128", "SINGLE_ISSUER, DEFER_TASKRUN"; durations and
/// sizes by the unit in the key: "5000000000 (5 s)".
std::string value_text(const std::string& key, const result::Settings::Value& value);

/// What was granted, or what was asked where the grant says nothing of it.
std::optional<std::uint64_t> number_in_force(const result::Cell& cell, const std::string& key);
std::optional<bool> flag_in_force(const result::Cell& cell, const std::string& key);
std::optional<std::string> text_in_force(const result::Cell& cell, const std::string& key);
/// Numbers become texts. Empty also where there is no such list.
std::vector<std::string> list_in_force(const result::Cell& cell, const std::string& key);

/// "randread 4k  QD128 (submit 32, complete 32)  1 thread".
std::string cell_title(const result::Cell& cell);
/// "io_uring, interrupt-driven, direct, fixed buffers, registered files, DEFER_TASKRUN".
std::string engine_words(const result::Cell& cell);
/// "depth 128 -> 1": every setting whose grant differs from what was asked, unless the choice was
/// left to us ("auto").
std::vector<std::string> adjustments(const result::Cell& cell);

/// "/dev/nvme0n1 (block, 1.5 TiB, Samsung SSD 990 PRO)", with what --queue changed.
std::string target_words(const result::Target& target);
/// What stands in the parentheses.
std::vector<std::string> target_facts(const result::Target& target);
/// "Linux 6.18.44, Example CPU 3000, 8 CPUs", as far as it is known.
std::string machine_words(const result::Identity& identity);
/// {"Warnings", {"sparse-target"}}, {"Notes", {"symlink"}}: each code once, warnings first.
std::vector<std::pair<std::string, std::vector<std::string>>> finding_codes(
    const std::vector<result::Finding>& findings);

/// "2.11 µs/IO", in the unit that fits `nanoseconds`; with_unit = false leaves the unit out and
/// `unit_from` chooses it.
std::string cpu_per_io(double nanoseconds);
std::string cpu_per_io_bare(double nanoseconds, double unit_from);

/// {"EIO 1294", "ENODATA 3"}.
std::vector<std::string> errno_counts(const result::ErrorTally& errors);

}  // namespace uringbench::report
