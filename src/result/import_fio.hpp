// Private to result: the parts of reading fio's JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "result/importing.hpp"
#include "result/reading.hpp"

namespace uringbench::result {

/// The options of a job, by their names.
using FioOptions = std::map<std::string, std::string>;
/// What fio's JSON states, what fio's manual says of options that were left out, and what the
/// engine leaves no choice about.
KnownSettings settings_of_fio(const FioOptions& options);
/// Files and devices named by `filename`.
std::vector<std::string> files_of_fio(const FioOptions& options);
/// "30", "500ms", "5m" in nanoseconds; nothing when it cannot be told.
std::optional<std::int64_t> duration_of_fio(const FioOptions& options, const std::string& name);

using Bins = std::map<std::uint64_t, std::uint64_t>;  // nanoseconds -> count

/// An entry of "jobs": one of numjobs copies, or what --group_reporting added up.
struct FioEntry {
  std::string name;
  std::uint64_t group = 0;
  FioOptions options;
  Run run;
  Bins bins;                 ///< of json+
  std::uint64_t writes = 0;  ///< and trims
  bool has_reads = false;
  std::optional<std::uint64_t> threads_runtime_ms;  ///< of all threads of the entry
  double user_percent = 0, system_percent = 0;      ///< of that time

  bool is_copy_of(const FioEntry& other) const {
    return std::tie(name, group, options) == std::tie(other.name, other.group, other.options);
  }
  std::optional<std::uint64_t> bytes = {};  ///< read
};

void take_fio_options(const std::optional<Place>& place, FioOptions& options);
/// `global`: what holds for all jobs.
FioEntry take_fio_entry(const Place& job, const FioOptions& global);

/// numjobs copies of one job are threads of one run.
struct FioJob {
  std::vector<FioEntry> copies;
  KnownSettings known;
  std::uint64_t threads = 1;
};

std::vector<FioJob> jobs_of(std::vector<FioEntry> entries);
/// Why no figures can be had from a job; empty: they can.
std::string why_left_out(const FioJob& job);
Run run_of(const FioJob& job);

}  // namespace uringbench::result
