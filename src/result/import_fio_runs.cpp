// fio's JSON: from entries to runs. Copies of a job are one run, and not every job is one of reads.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "result/import_fio.hpp"

namespace uringbench::result {
namespace {

std::uint64_t threads_of(const KnownSettings& known) {
  const auto threads = known.find("threads");
  std::uint64_t count = 0;
  if (threads) std::from_chars(threads->data(), threads->data() + threads->size(), count);
  return std::clamp<std::uint64_t>(count, 1, 65536);
}

/// By nearest rank, at the percentages that the copies were reported with.
void merge_percentiles(const std::vector<FioEntry>& copies, Latency& merged) {
  Bins bins;
  std::uint64_t count = 0;
  for (const FioEntry& copy : copies) {
    for (const auto& [nanoseconds, times] : copy.bins) {
      bins[nanoseconds] += times;
      count += times;
    }
  }
  if (count != merged.count) return;  // no json+
  for (const auto& [name, value] : copies[0].run.latency->percentiles) {
    double percent = 0;
    std::from_chars(name.data() + 1, name.data() + name.size(), percent);
    const auto rank = static_cast<double>(count) * percent / 100;
    std::uint64_t seen = 0;
    for (const auto& [nanoseconds, times] : bins) {
      seen += times;
      if (static_cast<double>(seen) < rank) continue;
      merged.percentiles.emplace_back(name, nanoseconds);
      break;
    }
  }
}

std::optional<Latency> merge_latencies(const std::vector<FioEntry>& copies) {
  if (copies.size() == 1) return copies[0].run.latency;
  Latency merged;
  merged.min = UINT64_MAX;
  double sum = 0;
  for (const FioEntry& copy : copies) {
    if (!copy.run.latency) return std::nullopt;
    const Latency& latency = *copy.run.latency;
    merged.count += latency.count;
    merged.min = std::min(merged.min, latency.min);
    merged.max = std::max(merged.max, latency.max);
    sum += latency.mean * static_cast<double>(latency.count);
  }
  if (merged.count == 0) return std::nullopt;
  merged.mean = sum / static_cast<double>(merged.count);
  merge_percentiles(copies, merged);
  return merged;
}

/// Reads that returned less than a block are I/Os to fio all the same: only the bytes tell.
std::uint64_t short_reads_of(const FioJob& job, std::uint64_t ios) {
  const std::string block = job.known.find("bs").value_or("");
  std::uint64_t block_bytes = 0, bytes = 0;
  std::from_chars(block.data(), block.data() + block.size(), block_bytes);
  for (const FioEntry& copy : job.copies) {
    if (!copy.bytes) return 0;
    bytes += *copy.bytes;
  }
  if (block_bytes == 0 || bytes / block_bytes >= ios) return 0;
  return ios - bytes / block_bytes;
}

}  // namespace

std::vector<FioJob> jobs_of(std::vector<FioEntry> entries) {
  std::vector<FioJob> jobs;
  for (FioEntry& entry : entries) {
    FioJob* last = jobs.empty() ? nullptr : &jobs.back();
    const bool same = last && last->copies[0].is_copy_of(entry);
    // Without options in the file, names are all there is.
    if (same && (last->copies.size() < last->threads || entry.options.empty())) {
      last->copies.push_back(std::move(entry));
      continue;
    }
    KnownSettings known = settings_of_fio(entry.options);
    const std::uint64_t threads = threads_of(known);
    jobs.push_back({{}, std::move(known), threads});
    jobs.back().copies.push_back(std::move(entry));
  }
  for (FioJob& job : jobs) {
    if (!job.copies[0].options.empty() || job.copies.size() == 1) continue;
    job.threads = job.copies.size();
    job.known.set("threads", job.threads);
  }
  return jobs;
}

std::string why_left_out(const FioJob& job) {
  const FioEntry& entry = job.copies[0];
  const auto option = [&](const char* name) {
    const auto found = entry.options.find(name);
    return found == entry.options.end() ? std::string() : found->second;
  };
  const std::string rw = option("rw");
  const bool reads = rw.empty() || rw.starts_with("read") || rw.starts_with("randread");
  if (!reads || rw.starts_with("readwrite")) return "it does not only read (rw=" + rw + ')';
  std::uint64_t ios = 0, errors = 0;
  for (const FioEntry& copy : job.copies) {
    if (copy.writes != 0) return "it does not only read";
    if (!copy.has_reads) return "it has no figures of reads";
    ios += copy.run.ios;
    errors += copy.run.errors.count;
  }
  if (ios == 0 && errors == 0) return "it completed no read";
  // What group_reporting adds up has the name of the first job and the options of the last.
  const double runtime_ms = static_cast<double>(entry.run.elapsed_ns) / 1e6;
  const double most_ms = (static_cast<double>(job.threads) + 0.5) * runtime_ms;
  const bool too_long =
      runtime_ms > 0 && static_cast<double>(entry.threads_runtime_ms.value_or(0)) > most_ms;
  const std::string name = option("name");
  if (too_long || (!name.empty() && name != entry.name)) {
    return "group_reporting added the figures of different jobs up";
  }
  return "";
}

Run run_of(const FioJob& job) {
  // Rates are added: each copy was measured over its own time.
  const std::vector<FioEntry>& copies = job.copies;
  Run run = copies[0].run;
  run.latency = merge_latencies(copies);
  double user_ns = 0, system_ns = 0;
  const double grouped = copies.size() == 1 ? static_cast<double>(job.threads) : 1;
  for (const FioEntry& copy : copies) {
    const double runtime_ms = static_cast<double>(copy.run.elapsed_ns) / 1e6;
    const double threads_ms = copy.threads_runtime_ms
                                  ? static_cast<double>(*copy.threads_runtime_ms)
                                  : grouped * runtime_ms;
    user_ns += copy.user_percent / 100 * threads_ms * 1e6;
    system_ns += copy.system_percent / 100 * threads_ms * 1e6;
    if (&copy == &copies[0]) continue;
    run.elapsed_ns = std::max(run.elapsed_ns, copy.run.elapsed_ns);
    run.ios += copy.run.ios;
    run.iops += copy.run.iops;
    if (run.bytes_per_second) *run.bytes_per_second += copy.run.bytes_per_second.value_or(0);
    run.errors.count += copy.run.errors.count;
    for (const auto& [name, count] : copy.run.errors.by_errno) run.errors.by_errno[name] += count;
    run.short_reads += copy.run.short_reads;
    run.warnings.insert(run.warnings.end(), copy.run.warnings.begin(), copy.run.warnings.end());
  }
  run.short_reads = std::max(run.short_reads, short_reads_of(job, run.ios));
  constexpr double kMost = 1e18;
  run.cpu.user_ns = static_cast<std::int64_t>(std::min(user_ns, kMost));
  run.cpu.system_ns = static_cast<std::int64_t>(std::min(system_ns, kMost));
  // The time of the kernel's own threads is not in there: nothing can be said of SQPOLL.
  const auto cpu_ns = static_cast<double>(run.cpu.user_ns + run.cpu.system_ns);
  if (cpu_ns > 0 && run.ios != 0 && job.known.find("sqpoll") != "1") {
    run.cpu.per_io_ns = cpu_ns / static_cast<double>(run.ios);
  }
  return run;
}

}  // namespace uringbench::result
