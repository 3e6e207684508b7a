// What a comparison says of its labels, and the notes that a reader must not miss.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "compare/parts.hpp"

namespace uringbench::compare {
namespace {

constexpr std::int64_t kOldDays = 90;

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) {
    texts.push_back(text);
  }
}

Label label_of(const Side& side) {
  Label label;
  label.name = side.label;
  std::set<std::string> boots;
  std::set<std::uint32_t> blocks;
  for (const Source& source : side.sources) {
    const auto& document = source.document;
    label.files.push_back(source.name);
    add_once(label.kernels, document.identity.kernel_release);
    add_once(label.binaries, document.tool.commit.empty()
                                 ? document.tool.version
                                 : document.tool.version + " " + document.tool.commit);
    add_once(label.machines, document.identity.cpu_model);
    if (!document.session.boot_id.empty()) boots.insert(document.session.boot_id);
    const std::string from = result::imported_from(document);
    if (!from.empty()) label.imported_from = from;
    for (const auto& cell : document.cells) {
      for (const auto& run : cell.runs) {
        if (run.block) blocks.insert(*run.block);
        if (run.started_at.empty()) continue;
        if (label.first_start.empty() || run.started_at < label.first_start) {
          label.first_start = run.started_at;
        }
        label.last_start = std::max(label.last_start, run.started_at);
      }
    }
  }
  label.boots = boots.size();
  label.blocks = blocks.size();
  return label;
}

/// "direct" rather than "direct=1"; empty for what is not worth a word.
std::string word_for(const std::string& key, const std::string& value) {
  const bool on = value == "1";
  if (key == "rw") return value;
  if (key == "bs") return is_number(value) ? base::format_size(std::stoull(value)) : value;
  if (key == "qd") return "QD" + value;
  if (key == "threads") return value + (on ? " thread" : " threads");
  if (key == "engine") return value;
  if (key == "direct") return on ? "direct" : "buffered";
  if (key == "polled") return on ? "polled" : "interrupt-driven";
  if (key == "fixedbufs" && on) return "fixed buffers";
  if (key == "sqpoll" && on) return "SQPOLL";
  if (key == "passthrough" && on) return "passthrough";
  return "";
}

/// What all cells have in common: "randread, 4k, 1 thread, direct, interrupt-driven, io_uring".
std::string common_words(const Comparison& comparison) {
  std::vector<std::string> words;
  for (const auto& [key, value] : comparison.cells.front().words) {
    const auto& varies = comparison.options.varies;
    if (std::find(varies.begin(), varies.end(), key) != varies.end()) continue;
    const auto same = [&, &name = key, &text = value](const CellRow& cell) {
      return std::find(cell.words.begin(), cell.words.end(), std::pair(name, text)) !=
             cell.words.end();
    };
    if (!std::all_of(comparison.cells.begin(), comparison.cells.end(), same)) continue;
    const std::string word = word_for(key, value);
    if (!word.empty()) words.push_back(word);
  }
  return joined(words);
}

/// "5 s after a warm-up of 1 s", of the first cell.
std::string time_words(const result::Cell& cell) {
  const auto text = [&](const char* key) -> std::string {
    const auto* value = cell.asked.find(key);
    const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
    return number == nullptr || *number == 0 ? ""
                                             : base::format_duration(static_cast<double>(*number));
  };
  const std::string runtime = text("runtime_ns"), warmup = text("warmup_ns");
  if (runtime.empty()) return "";
  return "runs of " + runtime + (warmup.empty() ? "" : " after " + warmup + " of warm-up");
}

/// Days since 1970 of "2026-11-30T…"; nothing for any other text.
std::optional<std::int64_t> day_of(const std::string& time) {
  if (time.size() < 10 || time[4] != '-' || time[7] != '-') return std::nullopt;
  const auto number = [&](std::size_t begin, std::size_t size) {
    int value = -1;
    std::from_chars(time.data() + begin, time.data() + begin + size, value);
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

void note_order(const Comparison& comparison, std::vector<Note>& notes) {
  if (comparison.paired) return;
  const Label& base = comparison.labels.front();
  const bool apart =
      std::all_of(comparison.labels.begin() + 1, comparison.labels.end(), [&](const Label& label) {
        return !base.first_start.empty() && !label.first_start.empty() &&
               (base.last_start < label.first_start || label.last_start < base.first_start);
      });
  if (apart) {
    notes.push_back({"not-interleaved",
                     "the labels were measured one after the other, not interleaved: drift (heat, "
                     "other users, wear) cannot be told from the change"});
  }
}

/// The day of the youngest session of a side.
std::optional<std::int64_t> youngest_day(const Side& side) {
  std::optional<std::int64_t> youngest;
  for (const Source& source : side.sources) {
    const auto day = day_of(source.document.session.started_at);
    if (day) youngest = std::max(youngest.value_or(*day), *day);
  }
  return youngest;
}

void note_age(const std::vector<Side>& sides, const Comparison& comparison,
              std::vector<Note>& notes) {
  const auto old = youngest_day(sides.front());
  for (std::size_t i = 1; i < comparison.labels.size(); ++i) {
    const auto now = youngest_day(sides[i]);
    if (!old || !now || *now - *old <= kOldDays) continue;
    notes.push_back(
        {"old-baseline",
         fmt::format("{} was measured {} days before {}: measure it again, best "
                     "interleaved with what it is compared with",
                     comparison.labels.front().name, *now - *old, comparison.labels[i].name)});
    return;
  }
}

void note_sessions(const std::vector<Side>& sides, const Comparison& comparison,
                   std::vector<Note>& notes) {
  if (are_arms(sides)) return;
  std::map<std::string, std::string> owners;
  for (const Side& side : sides) {
    for (const Source& source : side.sources) {
      const std::string& id = source.document.session.id;
      if (id.empty()) continue;
      const auto [owner, is_new] = owners.try_emplace(id, side.label);
      if (is_new || owner->second == side.label) continue;
      notes.push_back({"same-session", fmt::format("{} and {} come from the same session: is one "
                                                   "of them a copy of the other?",
                                                   owner->second, side.label)});
      return;
    }
  }
  const bool kernels_differ =
      std::any_of(comparison.differences.begin(), comparison.differences.end(),
                  [](const Difference& difference) { return difference.what == "kernel"; });
  const bool one_boot = std::all_of(comparison.labels.begin(), comparison.labels.end(),
                                    [](const Label& label) { return label.boots == 1; });
  if (kernels_differ && one_boot) {
    notes.push_back({"one-boot",
                     "each kernel was booted once: what one boot does to the figures cannot be "
                     "told from what the kernel does; more boots of each can tell"});
  }
}

void note_unknowns(const std::vector<Side>& sides, const Comparison& comparison,
                   std::vector<Note>& notes) {
  std::set<std::string> unstated;
  for (const CellRow& cell : comparison.cells) {
    unstated.insert(cell.unstated.begin(), cell.unstated.end());
  }
  if (!unstated.empty()) {
    notes.push_back(
        {"unknown-settings", fmt::format("not stated on every side, so not known to be equal: {}",
                                         joined({unstated.begin(), unstated.end()}))});
  }
  // Many files say the same of themselves: once is enough.
  std::vector<std::pair<Note, std::vector<std::string>>> told;
  for (const Side& side : sides) {
    for (const Source& source : side.sources) {
      if (result::imported_from(source.document).empty()) continue;
      for (const auto& finding : source.document.findings) {
        const auto known = std::find_if(told.begin(), told.end(), [&](const auto& one) {
          return one.first.message == finding.message;
        });
        if (known == told.end()) {
          told.push_back({{finding.code, finding.message}, {source.name}});
        } else {
          add_once(known->second, source.name);
        }
      }
    }
  }
  for (const auto& [note, files] : told) {
    const std::string others =
        files.size() == 1 ? "" : fmt::format(" and {} more", count_of(files.size() - 1, "file"));
    notes.push_back({note.code, files.front() + others + ": " + note.message});
  }
}

/// More than a fifth of the pairs without any difference: the figure is too coarse for a test.
void note_zeros(const Comparison& comparison, std::vector<Note>& notes) {
  std::size_t coarse = 0;
  for (const CellRow& cell : comparison.cells) {
    for (const MetricRow& row : cell.metrics) {
      coarse += static_cast<std::size_t>(
          std::count_if(row.contrasts.begin(), row.contrasts.end(), [](const Contrast& contrast) {
            return contrast.estimate && 5 * contrast.estimate->zeros > contrast.estimate->n_from;
          }));
    }
  }
  if (coarse == 0) return;
  notes.push_back({"equal-pairs", fmt::format("more than a fifth of the pairs do not differ at all "
                                              "in {}: the figure is too coarse for these runs",
                                              count_of(coarse, "row"))});
}

/// A pattern without a cell is mostly a slip of the hand.
void note_patterns(const Comparison& comparison, std::vector<Note>& notes) {
  std::vector<std::string> patterns = comparison.options.filters;
  for (const Limit& limit : comparison.options.min_effects) patterns.push_back(limit.cells);
  for (const std::string& pattern : patterns) {
    const bool some = std::any_of(comparison.cells.begin(), comparison.cells.end(),
                                  [&](const CellRow& cell) { return fits(pattern, cell.words); });
    if (some) continue;
    notes.push_back(
        {"no-cell-fits", fmt::format("no cell of {} fits \"{}\": a part is KEY=VALUE, as in 'qd=4 "
                                     "randread'; uringbench show draws what cells there are",
                                     comparison.labels.front().name, pattern)});
  }
}

void note_extra_cells(const Comparison& comparison, std::vector<Note>& notes) {
  if (comparison.extra_cells.empty()) return;
  notes.push_back(
      {"extra-cells",
       fmt::format(
           "not in {}, so not compared: {}{}", comparison.labels.front().name,
           count_of(comparison.extra_cells.size(), "cell"),
           comparison.extra_cells.size() == 1 ? " (" + comparison.extra_cells.front() + ")" : "")});
}

}  // namespace

void describe(const std::vector<Side>& sides, Comparison& comparison) {
  for (std::size_t i = 0; i < sides.size(); ++i) {
    Label label = label_of(sides[i]);
    bool first = true;
    for (const CellRow& cell : comparison.cells) {
      const CellSide& side = cell.sides[i];
      if (!side.present) continue;
      label.runs = std::max(label.runs, side.runs);
      label.counted = first ? side.counted : std::min(label.counted, side.counted);
      first = false;
    }
    comparison.labels.push_back(std::move(label));
  }
  if (!comparison.cells.empty()) {
    std::vector<std::string> same{common_words(comparison)};
    for (const Source& source : sides.front().sources) {
      if (source.document.cells.empty()) continue;
      same.push_back(time_words(source.document.cells.front()));
      break;
    }
    same.insert(same.end(), comparison.same.begin(), comparison.same.end());
    std::erase(same, "");
    comparison.same = std::move(same);
  }
  bool some = false, all = true;
  for (const CellRow& cell : comparison.cells) {
    for (const MetricRow& row : cell.metrics) {
      for (const Contrast& contrast : row.contrasts) {
        if (!contrast.estimate) continue;
        some = true;
        all = all && contrast.estimate->paired;
      }
    }
  }
  comparison.paired = some && all;
  for (const Label& label : comparison.labels) {
    if (label.kernels.size() <= 1) continue;
    comparison.notes.push_back({"mixed-label", fmt::format("{} joins runs of different kernels: {}",
                                                           label.name, joined(label.kernels))});
  }
  note_order(comparison, comparison.notes);
  note_age(sides, comparison, comparison.notes);
  note_sessions(sides, comparison, comparison.notes);
  note_unknowns(sides, comparison, comparison.notes);
  note_zeros(comparison, comparison.notes);
  note_patterns(comparison, comparison.notes);
  note_extra_cells(comparison, comparison.notes);
}

}  // namespace uringbench::compare
