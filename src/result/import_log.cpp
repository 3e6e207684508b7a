// Saved console logs of t/io_uring and of the classic door, which writes the same lines.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "result/importing.hpp"

namespace uringbench::result {
namespace {

using base::ExitCode;
using base::UserError;

/// What one invocation wrote. A log may hold several, one after the other.
struct Invocation {
  KnownSettings known;
  std::vector<std::string> files;
  std::set<std::string> submitters;  ///< their numbers, in any order
  std::uint64_t files_read = 0;
  std::vector<double> rates;  ///< IOPS, one a second
  ErrorTally errors;
  std::uint64_t short_reads = 0;
  bool stalled = false, interrupted = false;
  bool ended = false;  ///< says so itself
};

/// Without colours, and without what a carriage return wrote over.
std::string plain(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  line = line.substr(line.rfind('\r') + 1);  // npos + 1 is 0
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      out += line[i];
    } else if (i + 1 < line.size() && line[i + 1] == '[') {
      for (i += 2; i < line.size() && (line[i] < '@' || line[i] > '~');) ++i;
    }
  }
  return out;
}

/// Takes a number off the front.
template <typename Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// The value of "QD" in "polled=0, QD=128"; empty when it is not there.
std::string field(std::string_view line, std::string_view name) {
  for (std::string_view rest = line; !rest.empty();) {
    const auto comma = rest.find(", ");
    std::string_view part = rest.substr(0, comma);
    if (take_word(part, name) && take_word(part, "=")) return std::string(part);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 2);
  }
  return {};
}

std::optional<std::uint64_t> count_in(std::string_view line, std::string_view name) {
  const std::string value = field(line, name);
  std::string_view rest = value;
  const auto number = take_number<std::uint64_t>(rest);
  return rest.empty() ? number : std::nullopt;
}

/// "IOPS=193.21K, BW=754MiB/s, IOS/call=32/31", whole: a line that was cut off may lack digits.
struct Rate {
  double iops = 0;
  bool has_bandwidth = false;
};
std::optional<Rate> rate_of(std::string_view line) {
  if (!take_word(line, "IOPS=")) return std::nullopt;
  const auto number = take_number<double>(line);
  constexpr double kMost = 1e12;
  if (!number || !(*number >= 0 && *number <= kMost)) return std::nullopt;
  Rate rate{*number, false};
  if (take_word(line, "M")) rate.iops *= 1e6;
  if (take_word(line, "K")) rate.iops *= 1e3;
  if (!take_word(line, ", ")) return std::nullopt;
  if (take_word(line, "BW=")) {
    rate.has_bandwidth = true;
    const auto end = line.find(", ");
    if (!take_number<double>(line) || end == std::string_view::npos) return std::nullopt;
    line = line.substr(line.find(", ") + 2);
  }
  return line.starts_with("IOS/call=") ? std::optional(rate) : std::nullopt;
}

void take_header(std::string_view line, Invocation& run) {
  const auto set = [&](const char* word, const char* name) {
    if (const auto count = count_in(line, name)) run.known.set(word, *count);
  };
  if (line.starts_with("submitter=")) {
    run.submitters.insert(field(line, "submitter"));
    run.files_read += count_in(line, "nfiles").value_or(0);
    const std::string file = field(line, "file");
    const bool is_new = std::find(run.files.begin(), run.files.end(), file) == run.files.end();
    if (is_new && !file.empty() && file != "(none)") run.files.push_back(file);
  } else if (line.starts_with("polled=")) {
    set("polled", "polled");
    set("fixedbufs", "fixedbufs");
    set("regfiles", "register_files");
    set("qd", "QD");
    if (const auto buffered = count_in(line, "buffered")) {
      run.known.set("direct", *buffered == 0 ? "1" : "0");
    }
  } else if (line.starts_with("Engine=")) {
    const std::string engine = field(line, "Engine");
    run.known.set("engine", engine == "preadv2" ? "sync" : engine);
  }
}

/// Of "io: unexpected ret=-5": an errno, or the length of a short read.
void take_failure(std::string_view ret, Invocation& run) {
  const auto number = take_number<int>(ret);
  if (number && *number >= 0) {
    ++run.short_reads;
    return;
  }
  ++run.errors.count;
  if (number && *number > -4096) ++run.errors.by_errno[base::errno_name(-*number)];
}

/// What stands behind the run: "4242: 17 IO errors" for each thread, and rows of our own summary.
void take_trouble(std::string_view line, Invocation& run) {
  if (take_word(line, "io: unexpected ret=")) return take_failure(line, run);
  std::string_view rest = line;
  if (take_number<std::uint64_t>(rest) && take_word(rest, ": ")) {
    const auto count = take_number<std::uint64_t>(rest);
    if (count && rest == " IO errors") run.errors.count += *count;
    if (rest == "Latency percentiles:") run.known.set("latency", "1");
    return;
  }
  if (line.starts_with("Latency in ")) run.known.set("latency", "1");
  if (!take_word(line, "  ")) return;
  const auto count_of = [](std::string_view row) {
    row.remove_prefix(std::min(row.find_first_not_of(' '), row.size()));
    return take_number<std::uint64_t>(row).value_or(0);
  };
  if (take_word(line, "Errors ")) run.errors.count += count_of(line);
  if (take_word(line, "Short reads ")) run.short_reads += count_of(line);
  run.stalled |= line.starts_with("Stalled ");
  run.interrupted |= line.starts_with("Interrupted ");
}

struct Log {
  std::vector<Invocation> invocations;
  bool is_log = false;    ///< has at least one line that these programs write
  std::string last_line;  ///< that is not blank
};

/// Threads say hello in any order, but each of them once and before any figure.
bool begins_anew(std::string_view line, const Invocation& run) {
  return line.starts_with("submitter=") &&
         (!run.rates.empty() || run.submitters.count(field(line, "submitter")) != 0);
}

Log read_log(std::string_view text) {
  Log log;
  while (!text.empty()) {
    const std::string line = plain(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    log.last_line = line;
    const bool header = line.starts_with("submitter=") || line.starts_with("polled=") ||
                        line.starts_with("Engine=");
    const auto rate = rate_of(line);
    log.is_log |= header || rate || line.starts_with("IOPS=") || line.starts_with("Maximum IOPS=");
    if (log.invocations.empty() || begins_anew(line, log.invocations.back())) {
      log.invocations.emplace_back();
    }
    Invocation& run = log.invocations.back();
    run.ended |= line.starts_with("Exiting on ") || line.starts_with("Maximum IOPS=");
    if (header) {
      take_header(line, run);
    } else if (rate) {
      run.rates.push_back(rate->iops);
      // Only a NOP has no bandwidth.
      if (!rate->has_bandwidth) run.known.set("rw", "nop");
    } else {
      take_trouble(line, run);
    }
  }
  return log;
}

/// For a message: nothing that could drive a terminal, and not much.
std::string quoted(std::string text) {
  constexpr std::size_t kMost = 60;
  const bool cut = text.size() > kMost;
  text.resize(std::min(text.size(), kMost));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return '"' + text + (cut ? "…\"" : "\"");
}

Run run_of(const Invocation& invocation, const KnownSettings& known) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  Run run;
  double sum = 0;
  for (const double iops : invocation.rates) {
    sum += iops;
    run.intervals.push_back({kSecond, static_cast<std::uint64_t>(std::llround(iops)), iops});
    run.ios += run.intervals.back().ios;
  }
  run.elapsed_ns = kSecond * static_cast<std::int64_t>(invocation.rates.size());
  run.iops = sum / static_cast<double>(invocation.rates.size());
  const std::string block_size = known.find("bs").value_or("");
  std::string_view digits = block_size;
  const auto bytes = take_number<std::uint32_t>(digits);
  if (bytes && known.find("rw") != "nop") run.bytes_per_second = run.iops * *bytes;
  run.errors = invocation.errors;
  run.short_reads = invocation.short_reads;
  run.stalled = invocation.stalled;
  run.interrupted = invocation.interrupted;
  if (const auto steadiness = stats::steadiness(invocation.rates)) run.steady = steadiness->steady;
  return run;
}

/// What a header says only of all its lines together.
void settle(Invocation& run) {
  if (run.submitters.empty()) return;
  run.known.set("threads", run.submitters.size());
  // Several threads may read the same files: their numbers do not add up.
  if (run.submitters.size() == 1) run.known.set("targets", run.files_read);
}

}  // namespace

Document from_log(std::string_view text, const std::string& name, const ImportHints& hints) {
  Log log = read_log(text);
  if (!log.is_log) {
    throw UserError(ExitCode::internal,
                    name + ": is neither a result of uringbench or fio nor a log of t/io_uring",
                    "name the file that --json wrote, fio's JSON, or a saved log");
  }
  const auto before = log.invocations.size();
  const bool begun_only = std::any_of(
      log.invocations.begin(), log.invocations.end(),
      [](const Invocation& run) { return run.rates.empty() && !run.submitters.empty(); });
  const auto cut_off =
      std::count_if(log.invocations.begin(), log.invocations.end(), [](const Invocation& run) {
        return !run.rates.empty() && !run.submitters.empty() && !run.ended;
      });
  std::erase_if(log.invocations, [](const Invocation& run) { return run.rates.empty(); });
  if (log.invocations.empty()) {
    throw UserError(ExitCode::not_comparable,
                    name + ": is a log of t/io_uring without any whole line \"IOPS=…\"",
                    "its last line is " + quoted(log.last_line) + "; measure again, and longer");
  }
  Document document = imported_document("t/io_uring", text);
  if (begun_only || cut_off > 0) {
    // What is there is good, but not all is there that was meant to be.
    document.session.interrupted = true;
    document.findings.push_back(
        {"warning", "unfinished",
         begun_only ? fmt::format("{} of {} invocations in the log have no IOPS: they failed",
                                  before - log.invocations.size(), before)
                    : fmt::format("{} of {} invocations in the log do not end: they were killed, "
                                  "or the log is cut off",
                                  cut_off, before),
         "measure again, with -r for an end"});
  }
  std::vector<KnownSettings> cells;
  std::size_t lines = 0;
  for (Invocation& invocation : log.invocations) {
    settle(invocation);
    for (const std::string& file : invocation.files) {
      const auto& targets = document.targets;
      const bool is_new = std::none_of(targets.begin(), targets.end(),
                                       [&](const Target& target) { return target.path == file; });
      if (is_new) document.targets.emplace_back().path = file;
    }
    invocation.known.add(hints, name);
    const std::string id = invocation.known.id();
    auto cell = std::find_if(document.cells.begin(), document.cells.end(),
                             [&](const Cell& one) { return one.id == id; });
    if (cell == document.cells.end()) {
      cell = document.cells.insert(cell, Cell{});
      cell->id = id;
      cell->asked = invocation.known.asked();
      cells.push_back(invocation.known);
    }
    cell->runs.push_back(run_of(invocation, invocation.known));
    cell->runs.back().index = static_cast<std::uint32_t>(cell->runs.size() - 1);
    lines += invocation.rates.size();
  }
  for (Cell& cell : document.cells) summarize(cell);
  document.findings.push_back(
      {"info", "per-second-lines",
       "the IOPS of a log are the mean of its lines of one second each, not their maximum",
       "measure with --json, which divides all I/Os by the time they took"});
  add_unknown_settings(document, cells, "the log");
  return document;
}

}  // namespace uringbench::result
