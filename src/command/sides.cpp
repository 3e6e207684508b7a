#include "command/sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <thread>

#include "base/base.hpp"
#include "command/nearest.hpp"

namespace uringbench::command {
namespace {

using base::ExitCode;
using base::Problem;
using base::UserError;
using compare::Side;
using compare::Source;

// --- loading ---

struct Loaded {
  std::string path;
  result::Document document;
  std::exception_ptr failure;  ///< set: there is no document
};

void load_each(std::vector<Loaded>& all, const result::ImportHints& hints) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < all.size(); i = next++) {
      try {
        all[i].document = result::load_any(all[i].path, result::Detail::figures, hints);
      } catch (...) {
        all[i].failure = std::current_exception();
      }
    }
  };
  const std::size_t helpers =
      std::min<std::size_t>({all.size(), std::thread::hardware_concurrency(), 8});
  std::vector<std::jthread> threads;
  try {
    for (std::size_t i = 1; i < helpers; ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads for this user: those that there are do it, at least this one.
  }
  work();
}

bool is_absent(int error_number) { return error_number == ENOENT || error_number == ENOTDIR; }

std::string hint_for(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return "is the name right, seen from this folder?";
    case EACCES:
      return "ask for the right to read it, or copy it";
    case EISDIR:
      return "name the file in it";
    default:
      return "";
  }
}

std::vector<Problem> problems_of(const Loaded& file, bool baseline) {
  try {
    std::rethrow_exception(file.failure);
  } catch (const UserError& error) {
    return error.problems();
  } catch (const base::SystemError& error) {
    Problem problem = error.problem();
    if (baseline && is_absent(error.error_number())) {
      problem = {ExitCode::missing, file.path + ": missing baseline: there is no such file",
                 "make one: uringbench run --json " + file.path + " FILE"};
    }
    if (problem.hint.empty()) problem.hint = hint_for(error.error_number());
    return {problem};
  }
}

/// The place of a code among those of a gate; a program goes by the first.
int gravity(const Problem& problem) {
  switch (problem.code) {
    case ExitCode::not_comparable:
      return 1;
    case ExitCode::missing:
      return 2;
    default:
      return 0;
  }
}

std::vector<Side> load_all(const std::vector<SideFiles>& sides, const Loading& loading) {
  std::vector<Loaded> files;
  for (const auto& side : sides) {
    for (const auto& path : side.files) files.push_back({path, {}, nullptr});
  }
  load_each(files, loading.hints);

  std::vector<Side> loaded;
  std::vector<Problem> problems;
  auto file = files.begin();
  for (const auto& side : sides) {
    Side& to = loaded.emplace_back();
    const bool baseline = loading.gate && loaded.size() == 1;
    for (std::size_t i = 0; i < side.files.size(); ++i, ++file) {
      if (file->failure) {
        for (auto& problem : problems_of(*file, baseline)) problems.push_back(std::move(problem));
      } else {
        to.sources.push_back({file->path, std::move(file->document)});
      }
    }
  }
  std::stable_sort(problems.begin(), problems.end(),
                   [](const auto& a, const auto& b) { return gravity(a) < gravity(b); });
  if (!problems.empty()) throw UserError(std::move(problems));
  return loaded;
}

// --- arms ---

std::set<std::string> arms_of(const Source& source) {
  std::set<std::string> arms;
  for (const auto& cell : source.document.cells) {
    if (cell.arm) arms.insert(*cell.arm);
  }
  return arms;
}

/// Do these documents tell of one plan, each of several of its arms?
bool are_parts_of_one_plan(const std::vector<Side>& sides) {
  const auto& plan = sides.front().sources.front().document.session.plan_id;
  return plan && std::all_of(sides.begin(), sides.end(), [&](const Side& side) {
           return std::all_of(side.sources.begin(), side.sources.end(), [&](const Source& source) {
             return source.document.session.plan_id == plan && arms_of(source).size() > 1;
           });
         });
}

std::vector<Side> side_per_arm(const std::vector<Side>& sides) {
  std::vector<Side> arms;
  for (const Side& side : sides) {
    for (const Source& source : side.sources) {
      for (Side& part : compare::split_arms(source)) {
        const auto known = std::find_if(arms.begin(), arms.end(),
                                        [&](const Side& arm) { return arm.label == part.label; });
        if (known == arms.end()) {
          arms.push_back(std::move(part));
        } else {
          known->sources.push_back(std::move(part.sources.front()));
        }
      }
    }
  }
  std::sort(arms.begin(), arms.end(),
            [](const Side& a, const Side& b) { return a.label < b.label; });
  return arms;
}

void require_sides(const std::vector<Side>& arms, const Loading& loading, const std::string& file) {
  const std::string verb = loading.gate ? "gate" : "compare";
  if (arms.size() < 2) {
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: {}: one result has nothing to be compared with", verb, file),
        fmt::format("uringbench {} {} NEW.json; only a document of an A/B comparison, which has "
                    "several arms, is compared with itself",
                    verb, file));
  }
  if (!loading.gate || arms.size() == 2) return;
  std::vector<std::string> names;
  for (const Side& arm : arms) names.push_back(arm.label);
  throw UserError(ExitCode::usage,
                  fmt::format("gate: {}: takes two arms, got {}", file, listed(names, "and")),
                  "uringbench compare --exit-verdict compares all of them");
}

void refuse_arms_within_sides(const std::vector<Side>& sides) {
  for (const Side& side : sides) {
    for (const Source& source : side.sources) {
      const auto arms = arms_of(source);
      if (arms.size() < 2) continue;
      throw UserError(ExitCode::usage,
                      fmt::format("{}: holds the arms {}: which of them is this side?", source.name,
                                  listed({arms.begin(), arms.end()}, "and")),
                      "give it alone, to compare its arms; parts of one plan are joined by commas");
    }
  }
}

// --- labels ---

/// "base" of base.json; of base-1.json and base-2.json, too.
std::string name_of_files(const std::vector<Source>& sources) {
  const auto stem = [](const Source& source) {
    return std::filesystem::path(source.name).stem().string();
  };
  const std::string first = stem(sources.front());
  std::size_t common = first.size();
  for (const Source& source : sources) {
    const std::string other = stem(source);
    common = std::min(common, other.size());
    while (first.compare(0, common, other, 0, common) != 0) --common;
  }
  std::string name = first.substr(0, common);
  if (sources.size() > 1) name.erase(name.find_last_not_of("0123456789-_. ") + 1);
  return name.empty() ? first : name;
}

std::string label_of(const Side& side) {
  const std::string& stored = side.sources.front().document.session.label;
  return stored.empty() ? name_of_files(side.sources) : stored;
}

/// What is appended to equal labels: the file's name; the whole path where names are equal, too;
/// the place for a file that is given twice. A given label is left as it is.
void tell_apart(const std::vector<SideFiles>& given, const std::vector<std::size_t>& equals,
                std::vector<Side>& sides) {
  const std::function<std::string(std::size_t)> texts[] = {
      [&](std::size_t i) { return std::filesystem::path(given[i].files.front()).filename(); },
      [&](std::size_t i) { return given[i].files.front(); },
      [](std::size_t i) { return fmt::format("#{}", i + 1); }};
  for (const auto& text_of : texts) {
    std::set<std::string> texts_of_all;
    for (const std::size_t i : equals) texts_of_all.insert(text_of(i));
    if (texts_of_all.size() < equals.size()) continue;
    for (const std::size_t i : equals) {
      if (!given[i].label) sides[i].label += " " + text_of(i);
    }
    return;
  }
}

void name_sides(const std::vector<SideFiles>& given, std::vector<Side>& sides) {
  std::map<std::string, std::vector<std::size_t>> by_label;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    sides[i].label = given[i].label.value_or(label_of(sides[i]));
    by_label[sides[i].label].push_back(i);
  }
  for (const auto& [label, equals] : by_label) {
    if (equals.size() > 1) tell_apart(given, equals, sides);
  }
}

}  // namespace

SideFiles split_word(const std::string& word,
                     const std::function<bool(const std::string&)>& exists) {
  constexpr const char* kStandardInput = "/dev/stdin";
  if (word == "-") return {std::nullopt, {kStandardInput}};
  if (exists(word)) return {std::nullopt, {word}};
  SideFiles side;
  std::string files = word;
  if (const auto equals = word.find('='); equals != std::string::npos) {
    side.label = word.substr(0, equals);
    files = word.substr(equals + 1);
  }
  const char* hint = "write FILE, LABEL=FILE or LABEL=FILE,FILE";
  if (side.label && side.label->empty()) {
    throw UserError(ExitCode::usage, fmt::format("\"{}\": there is no label before the =", word),
                    hint);
  }
  if (exists(files)) return {side.label, {files}};
  for (std::size_t begin = 0; begin <= files.size();) {
    const std::size_t comma = std::min(files.find(',', begin), files.size());
    side.files.push_back(files.substr(begin, comma - begin));
    if (side.files.back() == "-") side.files.back() = kStandardInput;
    if (side.files.back().empty()) {
      throw UserError(ExitCode::usage, fmt::format("\"{}\": a file's name is empty", word), hint);
    }
    begin = comma + 1;
  }
  return side;
}

std::vector<SideFiles> split_sides(const std::vector<std::vector<std::string>>& sides,
                                   const std::function<bool(const std::string&)>& exists) {
  std::vector<SideFiles> all;
  for (const auto& words : sides) {
    SideFiles joined;
    for (const auto& word : words) {
      SideFiles part = split_word(word, exists);
      if (part.label && joined.label && part.label != joined.label) {
        throw UserError(
            ExitCode::usage,
            fmt::format("one side has two labels, {} and {}", *joined.label, *part.label),
            "between two -- all files belong to one side");
      }
      if (part.label) joined.label = part.label;
      joined.files.insert(joined.files.end(), part.files.begin(), part.files.end());
    }
    const auto same = std::find_if(all.begin(), all.end(), [&](const SideFiles& other) {
      return joined.label && other.label == joined.label;
    });
    if (same == all.end()) {
      all.push_back(std::move(joined));
    } else {
      same->files.insert(same->files.end(), joined.files.begin(), joined.files.end());
    }
  }
  return all;
}

std::vector<Side> load_sides(const std::vector<SideFiles>& sides, const Loading& loading) {
  std::vector<Side> loaded = load_all(sides, loading);
  if (loaded.size() == 1 || are_parts_of_one_plan(loaded)) {
    std::vector<Side> arms = side_per_arm(loaded);
    if (arms.size() < 2 && sides.front().files.size() > 1) {
      throw UserError(ExitCode::usage,
                      fmt::format("{}: all files are one side{}, with nothing to compare it with",
                                  loading.gate ? "gate" : "compare",
                                  sides.front().label ? ", " + *sides.front().label : ""),
                      "give the sides different labels: base=FILE,FILE new=FILE");
    }
    require_sides(arms, loading, sides.front().files.front());
    return arms;
  }
  refuse_arms_within_sides(loaded);
  name_sides(sides, loaded);
  return loaded;
}

}  // namespace uringbench::command
