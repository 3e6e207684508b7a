// fio's JSON, json and json+: every job that only reads is a run of a cell.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "result/import_fio.hpp"
#include "result/json_input.hpp"

namespace uringbench::result {
namespace {

using base::ExitCode;
using base::UserError;
using Json = Place::Json;

/// The last document of a file, which may have text around it, and several documents with
/// --status-interval. fio indents everything but the outermost braces.
struct Extract {
  std::string_view text;
  std::size_t lines_before = 0;
  std::size_t documents = 0;
};

Extract last_document(std::string_view text) {
  std::size_t begin = 0, documents = 0;
  for (std::size_t line = 0; line < text.size();) {
    if (text[line] == '{') {
      begin = line;
      ++documents;
    }
    const auto end = text.find('\n', line);
    if (end == std::string_view::npos) break;
    line = end + 1;
  }
  const std::string_view before = text.substr(0, begin);
  text.remove_prefix(begin);
  const auto last = text.rfind('}');
  if (last != std::string_view::npos) text = text.substr(0, last + 1);
  return {text, static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
          documents};
}

std::string started_at(const Place& root) {
  std::uint64_t ms = 0, s = 0;
  read_if_there(root, "timestamp", s);
  read_if_there(root, "timestamp_ms", ms);
  constexpr std::uint64_t kYear2100 = 4'102'444'800;
  if (ms != 0) s = ms / 1000;
  if (s == 0 || s >= kYear2100) return "";
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(s)),
                     ms % 1000);
}

/// Jobs with the same options measured the same thing, whatever they are called.
FioOptions options_of_cell(const FioJob& job) {
  FioOptions options = job.copies[0].options;
  for (const char* name : {"name", "description", "stonewall", "wait_for", "startdelay",
                           "new_group", "group_reporting"}) {
    options.erase(name);
  }
  return options;
}

struct FioCell {
  std::string name;
  FioOptions options;
  KnownSettings known;
  std::vector<Run> runs;
};

void add_run(std::vector<FioCell>& cells, const FioJob& job, const std::string& started_at) {
  FioOptions options = options_of_cell(job);
  // Without options in the file, names are all there is to tell cells.
  const auto found = std::find_if(cells.begin(), cells.end(), [&](const FioCell& cell) {
    return cell.options == options && (!options.empty() || cell.name == job.copies[0].name);
  });
  const bool is_new = found == cells.end();
  FioCell& cell = is_new ? cells.emplace_back() : *found;
  if (is_new) {
    cell.name = job.copies[0].name;
    cell.known = job.known;
    cell.options = std::move(options);
    for (const auto& [key, option] :
         {std::pair("runtime_ns", "runtime"), std::pair("warmup_ns", "ramp_time")}) {
      const auto duration = duration_of_fio(cell.options, option);
      if (duration) cell.known.set_asked(key, *duration);
    }
    if (!cell.options.empty()) cell.known.set_asked("warmup_ns", std::int64_t{0});  // its default
  }
  Run run = run_of(job);
  run.index = static_cast<std::uint32_t>(cell.runs.size());
  run.started_at = started_at;
  run.warmup_ns = duration_of_fio(cell.options, "ramp_time").value_or(0);
  cell.runs.push_back(std::move(run));
}

/// Names tell cells apart where what is known of their settings does not.
void name_cells(std::vector<FioCell>& cells) {
  std::map<std::string, std::size_t> with_id;
  for (const FioCell& cell : cells) ++with_id[cell.known.id()];
  std::map<std::pair<std::string, std::string>, std::size_t> with_name;
  for (FioCell& cell : cells) {
    const std::string id = cell.known.id();
    if (with_id[id] == 1) continue;
    const std::size_t before = with_name[{id, cell.name}]++;
    const std::string number = before == 0 ? "" : fmt::format("#{}", before + 1);
    cell.known.set_foreign("job", cell.name + number);
  }
}

void add_warning(Document& document, const char* code, std::string message, std::string hint = {}) {
  document.findings.push_back({"warning", code, std::move(message), std::move(hint)});
}

void warn_of_company(Document& document, const std::vector<FioJob>& jobs) {
  std::map<std::uint64_t, std::vector<std::string>> groups;
  for (const FioJob& job : jobs) groups[job.copies[0].group].push_back(job.copies[0].name);
  for (const auto& [group, names] : groups) {
    if (names.size() == 1) continue;
    add_warning(document, "ran-together",
                fmt::format("{} jobs of fio ran at the same time: {}", names.size(),
                            fmt::join(names, ", ")),
                "give each job a stonewall");
  }
}

void add_targets(Document& document, const std::vector<FioCell>& cells, const Place& root) {
  std::vector<std::string> disks;
  if (const auto list = root.find("disk_util")) {
    list->for_items([&](const Place& disk) { read(disk, "name", disks.emplace_back()); });
  }
  std::set<std::string> seen;
  for (const FioCell& cell : cells) {
    for (const std::string& file : files_of_fio(cell.options)) {
      if (!seen.insert(file).second) continue;
      Target& target = document.targets.emplace_back();
      target.path = file;
      const std::string base = file.substr(file.rfind('/') + 1);
      const bool is_disk = std::find(disks.begin(), disks.end(), base) != disks.end();
      if (is_disk || disks.size() == 1) target.device.emplace().name = is_disk ? base : disks[0];
    }
  }
}

std::vector<FioJob> read_jobs(const Place& root) {
  FioOptions global;
  take_fio_options(root.find("global options"), global);
  std::vector<FioEntry> entries;
  root.at("jobs").for_items(
      [&](const Place& job) { entries.push_back(take_fio_entry(job, global)); });
  return jobs_of(std::move(entries));
}

}  // namespace

Document from_fio(std::string_view text, const std::string& name, const ImportHints& hints) {
  const Extract extract = last_document(text);
  Parsing parsing;
  parsing.most_members = 4096;  // the bins of json+ are 1856
  parsing.numbers_may_repeat = true;
  parsing.lines_before = extract.lines_before;
  parsing.what = "result of fio";
  parsing.hint = "fio writes a result with --output-format=json --output=FILE";
  const Json json = parse_json(extract.text, name, parsing);
  const Place root(json, name);
  std::string version;
  read(root, "fio version", version);
  Document document =
      imported_document(version.starts_with("fio-") ? version : "fio-" + version, text);
  document.session.started_at = started_at(root);
  if (text.substr(0, text.find('{')).find("terminating on signal") != std::string_view::npos) {
    document.session.interrupted = true;
    add_warning(document, "unfinished", "fio was ended by a signal");
  }
  const std::vector<FioJob> jobs = read_jobs(root);
  if (extract.documents > 1) {
    add_warning(document, "last-status",
                fmt::format("of {} results in the file, the last one is taken", extract.documents));
  }
  warn_of_company(document, jobs);
  std::vector<FioCell> cells;
  for (const FioJob& job : jobs) {
    const std::string reason = why_left_out(job);
    if (reason.empty()) {
      add_run(cells, job, document.session.started_at);
    } else {
      add_warning(document, "left-out",
                  fmt::format("job {} is left out: {}", job.copies[0].name, reason));
    }
  }
  if (cells.empty()) {
    const std::string reason = jobs.empty() ? "no jobs" : "no jobs that only read";
    throw UserError(ExitCode::not_comparable,
                    fmt::format("{}: is a result of fio with {}", name, reason),
                    jobs.empty() ? "" : document.findings.back().message);
  }
  for (FioCell& cell : cells) cell.known.add(hints, name);
  name_cells(cells);
  add_targets(document, cells, root);
  std::vector<KnownSettings> known;
  for (FioCell& from : cells) {
    Cell& cell = document.cells.emplace_back();
    cell.id = from.known.id();
    cell.asked = from.known.asked();
    cell.runs = std::move(from.runs);
    summarize(cell);
    known.push_back(std::move(from.known));
  }
  add_unknown_settings(document, known, "fio");
  return document;
}

}  // namespace uringbench::result
