// What a job of fio did, in the words of our settings.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "result/import_fio.hpp"

namespace uringbench::result {
namespace {

/// Options that are compared otherwise, or that change nothing of the load. All others make it
/// another one: cells that differ in them measured different things.
constexpr std::array kHarmless = {"name",
                                  "description",
                                  "filename",
                                  "directory",
                                  "rw",
                                  "readwrite",
                                  "bs",
                                  "blocksize",
                                  "kb_base",
                                  "iodepth",
                                  "iodepth_batch",
                                  "iodepth_batch_submit",
                                  "iodepth_batch_complete",
                                  "iodepth_batch_complete_min",
                                  "ioengine",
                                  "numjobs",
                                  "direct",
                                  "buffered",
                                  "runtime",
                                  "timeout",
                                  "ramp_time",
                                  "time_based",
                                  "group_reporting",
                                  "new_group",
                                  "stonewall",
                                  "wait_for_previous",
                                  "hipri",
                                  "fixedbufs",
                                  "registerfiles",
                                  "sqthread_poll",
                                  "sqthread_poll_cpu",
                                  "randseed",
                                  "randrepeat",
                                  "allrandrepeat",
                                  "randommap",
                                  "readonly",
                                  "thread",
                                  "percentile_list",
                                  "clat_percentiles",
                                  "lat_percentiles",
                                  "slat_percentiles",
                                  "significant_figures",
                                  "status_interval",
                                  "write_bw_log",
                                  "write_lat_log",
                                  "write_iops_log",
                                  "write_hist_log",
                                  "log_avg_msec",
                                  "log_unix_epoch",
                                  "per_job_logs",
                                  "eta",
                                  "minimal",
                                  "output",
                                  "output-format",
                                  "unit_base",
                                  "fallocate",
                                  "create_serialize",
                                  "create_on_open",
                                  "exitall",
                                  "continue_on_error",
                                  "exec_prerun",
                                  "exec_postrun",
                                  "startdelay",
                                  "error_dump",
                                  "loops"};

struct TimeUnit {
  std::array<const char*, 4> names;
  std::int64_t ns;
};
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::array kTimeUnits = {
    TimeUnit{{"", "s", "sec", "seconds"}, kSecond},
    TimeUnit{{"m", "min", "mins", "minutes"}, 60 * kSecond},
    TimeUnit{{"h", "hr", "hours", "hour"}, 3600 * kSecond},
    TimeUnit{{"d", "day", "days", "day"}, 24 * 3600 * kSecond},
    TimeUnit{{"ms", "msec", "msecs", "millisecond"}, kSecond / 1000},
    TimeUnit{{"us", "usec", "usecs", "microsecond"}, kSecond / 1'000'000}};

const std::string* find(const FioOptions& options, const std::string& name) {
  const auto found = options.find(name);
  return found == options.end() ? nullptr : &found->second;
}

/// "64", "4k", "1MiB", and what stands before the comma of "4k,8k": that is for reads. Suffixes are
/// powers of 1024, as they are to fio unless kb_base says otherwise.
std::optional<std::uint64_t> number_of(std::string_view text) {
  text = text.substr(0, text.find(','));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  std::string suffix(end, text.data() + text.size());
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (suffix.ends_with('b')) suffix.pop_back();
  if (suffix.ends_with('i')) suffix.pop_back();
  if (suffix.empty()) return number;
  const auto power = std::string_view("kmgt").find(suffix);
  if (suffix.size() != 1 || power == std::string_view::npos) return std::nullopt;
  const auto shift = 10 * (power + 1);
  if (number > (UINT64_MAX >> shift)) return std::nullopt;
  return number << shift;
}

/// Sets a word to the number of an option; a default is what fio takes for one that is left out.
void set_number(KnownSettings& known, const FioOptions& options, const char* word,
                const char* option, std::optional<std::uint64_t> otherwise) {
  const std::string* text = find(options, option);
  const auto number = text ? number_of(*text) : otherwise;
  if (number) known.set(word, *number);
}

/// Options without a value, "hipri", are not in fio's JSON, only those with one, "hipri=1": so one
/// that is absent may be set all the same.
void set_flag(KnownSettings& known, const FioOptions& options, const char* word,
              const char* option) {
  const std::string* text = find(options, option);
  if (text) known.set(word, *text == "0" ? "0" : "1");
}

std::string engine_word(const std::string& engine) {
  for (const char* name : {"sync", "psync", "vsync", "pvsync", "pvsync2"}) {
    if (engine == name) return "sync";
  }
  if (engine == "libaio") return "aio";
  return engine == "io_uring_cmd" ? "io_uring" : engine;
}

void set_engine(KnownSettings& known, const FioOptions& options) {
  const std::string* stated = find(options, "ioengine");
  const std::string engine = stated ? *stated : "psync";  // its default on Linux
  known.set("engine", engine_word(engine));
  set_flag(known, options, "polled", "hipri");
  if (engine.starts_with("io_uring")) {
    known.set("passthrough", engine == "io_uring_cmd" ? "1" : "0");
    set_flag(known, options, "fixedbufs", "fixedbufs");
    set_flag(known, options, "regfiles", "registerfiles");
    set_flag(known, options, "sqpoll", "sqthread_poll");
    if (const std::string* cpu = find(options, "sqthread_poll_cpu")) known.set("sqpoll_cpu", *cpu);
    return;
  }
  // The other engines have none of that; of these, only pvsync2 and libaio can poll.
  for (const char* word : {"passthrough", "fixedbufs", "regfiles", "sqpoll"}) known.set(word, "0");
  if (engine != "pvsync2" && engine != "libaio") known.set("polled", "0");
}

}  // namespace

KnownSettings settings_of_fio(const FioOptions& options) {
  KnownSettings known;
  if (options.empty()) return known;  // older than fio's listing of them
  const std::string* rw = find(options, "rw");
  if (!rw || rw->starts_with("read")) known.set("rw", "seqread");  // fio's default is "read"
  if (rw && rw->starts_with("randread")) known.set("rw", "randread");
  const bool sizes_vary = find(options, "bssplit") || find(options, "bsrange");
  const std::string* kilo = find(options, "kb_base");
  if (!sizes_vary && (!kilo || *kilo == "1024")) set_number(known, options, "bs", "bs", 4096);
  set_engine(known, options);
  if (known.find("engine") == "sync") {  // one at a time, whatever iodepth says
    for (const char* word : {"qd", "submit", "complete"}) known.set(word, "1");
  } else {
    set_number(known, options, "qd", "iodepth", 1);
    set_number(known, options, "submit", "iodepth_batch", 1);
    set_number(known, options, "complete", "iodepth_batch_complete_min", 1);
  }
  set_number(known, options, "threads", "numjobs", 1);
  const std::string* direct = find(options, "direct");
  const std::string* buffered = find(options, "buffered");
  const bool is_direct = direct ? *direct != "0" : buffered && *buffered == "0";
  known.set("direct", is_direct ? "1" : "0");
  if (const auto files = files_of_fio(options); !files.empty()) known.set("targets", files.size());
  for (const auto& [name, value] : options) {
    const bool harmless = std::find(kHarmless.begin(), kHarmless.end(), name) != kHarmless.end();
    if (!harmless) known.set_foreign("fio_" + name, value);
  }
  return known;
}

std::vector<std::string> files_of_fio(const FioOptions& options) {
  std::vector<std::string> files;
  const std::string* names = find(options, "filename");
  if (!names) return files;
  std::string name;
  for (std::size_t i = 0; i <= names->size(); ++i) {
    const char c = i < names->size() ? (*names)[i] : ':';
    const bool escaped = c == '\\' && i + 1 < names->size();
    if (c == ':' && !name.empty())
      files.push_back(std::exchange(name, {}));
    else if (c != ':')
      name += escaped ? (*names)[++i] : c;
  }
  return files;
}

std::optional<std::int64_t> duration_of_fio(const FioOptions& options, const std::string& name) {
  const std::string* text = find(options, name);
  if (!text) return std::nullopt;
  std::int64_t number = 0;
  const char* const last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), last, number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  for (const TimeUnit& one : kTimeUnits) {
    const bool meant = std::find(one.names.begin(), one.names.end(), unit) != one.names.end();
    if (meant && number <= INT64_MAX / one.ns) return number * one.ns;
  }
  return std::nullopt;
}

}  // namespace uringbench::result
