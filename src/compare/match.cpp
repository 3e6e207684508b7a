// Which cell of one document is which cell of another.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "compare/parts.hpp"

namespace uringbench::compare {
namespace {

using base::ExitCode;
using base::UserError;

struct SideCell {
  Words words;
  std::vector<CellRef> refs;
  bool taken = false;
};

std::string key_of(const Words& words, const std::set<std::string>& varies) {
  std::set<std::string> parts;  // whatever their order
  for (const auto& [name, value] : words) {
    if (varies.count(name) == 0) parts.insert(name + '=' + value);
  }
  return joined({parts.begin(), parts.end()}, " ");
}

const std::string* value_of(const Words& words, const std::string& key) {
  for (const auto& [name, value] : words) {
    if (name == key) return &value;
  }
  return nullptr;
}

/// The cells of a side by their keys: those of several documents join.
struct SideCells {
  std::vector<SideCell> cells;
  std::unordered_map<std::string, std::size_t> by_key;
};

SideCells cells_of(const Side& side, const Options& options, const std::set<std::string>& varies) {
  SideCells all;
  for (const Source& source : side.sources) {
    for (const result::Cell& cell : source.document.cells) {
      const Words words = words_of(cell.id);
      const bool wanted =
          std::all_of(options.filters.begin(), options.filters.end(),
                      [&](const std::string& filter) { return fits(filter, words); });
      if (!wanted) continue;
      const auto [place, is_new] = all.by_key.try_emplace(key_of(words, varies), all.cells.size());
      if (is_new) {
        all.cells.push_back({words, {}});
      } else if (key_of(all.cells[place->second].words, {}) != key_of(words, {})) {
        throw UserError(
            ExitCode::usage,
            fmt::format("--varies {}: two cells of {} are then the same: {}",
                        joined({varies.begin(), varies.end()}, ","), side.label, cell.id),
            "choose one of them with --filter");
      }
      all.cells[place->second].refs.push_back({&source, &cell});
    }
  }
  return all;
}

/// Keys whose values differ, and keys that only one of them states.
struct Comparing {
  std::vector<std::string> unlike;
  std::set<std::string> unstated;
};
Comparing compare_words(const Words& a, const Words& b, const std::set<std::string>& varies) {
  Comparing found;
  for (const auto& [name, value] : a) {
    if (varies.count(name) != 0) continue;
    const std::string* other = value_of(b, name);
    if (other == nullptr) {
      found.unstated.insert(name);
    } else if (*other != value) {
      found.unlike.push_back(name);
    }
  }
  for (const auto& [name, value] : b) {
    if (varies.count(name) == 0 && value_of(a, name) == nullptr) found.unstated.insert(name);
  }
  return found;
}

/// Imported cells state fewer settings: one that contradicts nothing, and is the only one that does
/// not, is taken for the counterpart.
void match_by_what_is_stated(std::vector<Match>& matches, std::size_t side, SideCells& cells,
                             const std::set<std::string>& varies) {
  struct Pair {
    std::size_t match, cell;
    std::set<std::string> unstated;
  };
  std::vector<Pair> pairs;
  std::map<std::size_t, std::size_t> per_match, per_cell;
  for (std::size_t m = 0; m < matches.size(); ++m) {
    if (!matches[m].sides[side].empty()) continue;
    for (std::size_t c = 0; c < cells.cells.size(); ++c) {
      // Our own cells always state the same keys, so that this is about others only.
      if (cells.cells[c].taken || cells.cells[c].words.size() == matches[m].words.size()) continue;
      Comparing found = compare_words(matches[m].words, cells.cells[c].words, varies);
      if (!found.unlike.empty()) continue;
      ++per_match[m];
      ++per_cell[c];
      pairs.push_back({m, c, std::move(found.unstated)});
    }
  }
  for (Pair& pair : pairs) {
    if (per_match[pair.match] > 1 || per_cell[pair.cell] > 1) continue;
    matches[pair.match].sides[side] = cells.cells[pair.cell].refs;
    matches[pair.match].unstated.merge(pair.unstated);
    cells.cells[pair.cell].taken = true;
  }
}

/// No cell has a counterpart: what is nearest is put side by side, so that it can be said what
/// differs.
void match_unlike(std::vector<Match>& matches, std::size_t side, SideCells& cells,
                  const std::set<std::string>& varies) {
  for (Match& match : matches) {
    SideCell* nearest = nullptr;
    std::vector<std::string> least;
    for (SideCell& cell : cells.cells) {
      if (cell.taken) continue;
      auto unlike = compare_words(match.words, cell.words, varies).unlike;
      if (nearest != nullptr && unlike.size() >= least.size()) continue;
      nearest = &cell;
      least = std::move(unlike);
    }
    if (nearest == nullptr) return;
    nearest->taken = true;
    match.sides[side] = nearest->refs;
    for (const std::string& key : least) {
      match.unlike[side].push_back(fmt::format("{} {} vs {}", key_title(key),
                                               *value_of(match.words, key),
                                               *value_of(nearest->words, key)));
    }
    // Stated by one only, and more than one cell might be meant.
    if (least.empty()) match.unlike[side].emplace_back("too few settings are stated to tell");
  }
}

/// A cell may be missing only because one setting is another.
void name_nearest(std::vector<Match>& matches, std::size_t side, const SideCells& cells,
                  const std::set<std::string>& varies) {
  constexpr std::size_t kMostKeys = 2;
  constexpr std::size_t kMostCells = 200;  // every pair is looked at
  if (matches.size() > kMostCells || cells.cells.size() > kMostCells) return;
  for (Match& match : matches) {
    if (!match.sides[side].empty()) continue;
    std::size_t least = kMostKeys + 1;
    for (const SideCell& cell : cells.cells) {
      if (cell.taken) continue;
      const auto unlike = compare_words(match.words, cell.words, varies).unlike;
      if (unlike.empty() || unlike.size() >= least) continue;
      least = unlike.size();
      std::vector<std::string> words;
      for (const std::string& key : unlike) {
        words.push_back(fmt::format("{} {} instead of {}", key_title(key),
                                    *value_of(cell.words, key), *value_of(match.words, key)));
      }
      match.nearest[side] = joined(words);
    }
  }
}

std::string shown(const std::string& key, const std::string& value) {
  if (key == "rw") return value;
  if (key == "qd") return "QD" + value;
  if (key == "bs" && is_number(value)) return base::format_size(std::stoull(value));
  if (key == "threads" && is_number(value)) return value + (value == "1" ? " thread" : " threads");
  return key + '=' + value;
}

void append(std::string& name, const Words& words, const std::string& key) {
  const std::string* value = value_of(words, key);
  if (value == nullptr) return;
  if (!name.empty()) name += ' ';
  name += shown(key, *value);
}

std::string sort_key(const Words& words) {
  std::string key;
  for (const Key& one : keys()) {
    if (const std::string* value = value_of(words, one.word)) key += *value;
    key += '\x01';
  }
  return key;
}

}  // namespace

std::vector<Side> split_arms(const Source& source) {
  std::set<std::string> arms;
  for (const auto& cell : source.document.cells) {
    if (cell.arm) arms.insert(*cell.arm);
  }
  // Without the cells, which may be many.
  const result::Document& whole = source.document;
  const result::Document head{
      whole.tool, whole.session, whole.identity, whole.weather, whole.targets, whole.findings, {}};
  std::vector<Side> sides;
  for (const std::string& arm : arms) {
    Source part{source.name, head};
    for (const result::Cell& cell : whole.cells) {
      if (cell.arm == arm) part.document.cells.push_back(cell);
    }
    sides.push_back({arm, {std::move(part)}});
  }
  return sides;
}

bool are_arms(const std::vector<Side>& sides) {
  return std::all_of(sides.begin(), sides.end(), [](const Side& side) {
    return std::all_of(side.sources.begin(), side.sources.end(), [](const Source& source) {
      const auto& cells = source.document.cells;
      return !cells.empty() && std::all_of(cells.begin(), cells.end(),
                                           [](const auto& cell) { return cell.arm.has_value(); });
    });
  });
}

Matching match_cells(const std::vector<Side>& sides, const Options& options,
                     const std::set<std::string>& varies) {
  Matching matching;
  for (const SideCell& cell : cells_of(sides.front(), options, varies).cells) {
    Match match{cell.words,
                std::vector<std::vector<CellRef>>(sides.size()),
                std::vector<std::vector<std::string>>(sides.size()),
                std::vector<std::string>(sides.size()),
                {}};
    match.sides[0] = cell.refs;
    matching.cells.push_back(std::move(match));
  }
  for (std::size_t side = 1; side < sides.size(); ++side) {
    SideCells cells = cells_of(sides[side], options, varies);
    bool some = false;
    for (Match& match : matching.cells) {
      const auto found = cells.by_key.find(key_of(match.words, varies));
      if (found == cells.by_key.end()) continue;
      match.sides[side] = cells.cells[found->second].refs;
      cells.cells[found->second].taken = some = true;
    }
    match_by_what_is_stated(matching.cells, side, cells, varies);
    some = some || std::any_of(matching.cells.begin(), matching.cells.end(),
                               [&](const Match& match) { return !match.sides[side].empty(); });
    if (!some) match_unlike(matching.cells, side, cells, varies);
    if (some) name_nearest(matching.cells, side, cells, varies);
    for (const SideCell& cell : cells.cells) {
      if (!cell.taken) {
        matching.extra.push_back(sides[side].label + ": " + cell.refs.front().cell->id);
      }
    }
  }
  return matching;
}

void name_cells(std::vector<Match>& matches, std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::size_t>> order;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    order.emplace_back(sort_key(matches[i].words), i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return natural_less(a.first, b.first); });
  std::vector<Match> sorted;
  for (const auto& [key, index] : order) sorted.push_back(std::move(matches[index]));
  matches = std::move(sorted);

  // The fewest settings that tell the cells apart, the most telling ones first.
  std::vector<std::string> telling{"rw", "bs", "qd", "threads", "engine", "polled", "sqpoll"};
  for (const Key& key : keys()) {
    if (std::find(telling.begin(), telling.end(), key.word) == telling.end()) {
      telling.emplace_back(key.word);
    }
  }
  for (const Match& match : matches) {  // words of a later version
    for (const auto& [word, value] : match.words) {
      if (std::find(telling.begin(), telling.end(), word) == telling.end()) {
        telling.push_back(word);
      }
    }
  }
  names.assign(matches.size(), "");
  std::size_t distinct = 1;
  for (const std::string& key : telling) {
    if (distinct >= matches.size()) break;
    std::vector<std::string> longer = names;
    for (std::size_t i = 0; i < matches.size(); ++i) append(longer[i], matches[i].words, key);
    const std::size_t now = std::set<std::string>(longer.begin(), longer.end()).size();
    if (now <= distinct) continue;
    distinct = now;
    names = std::move(longer);
  }
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (!names[i].empty()) continue;
    for (const char* key : {"rw", "bs", "qd"}) append(names[i], matches[i].words, key);
  }
}

}  // namespace uringbench::compare
