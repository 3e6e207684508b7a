// The runs of a cell: which count, why the others do not, and which belong together.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "compare/parts.hpp"

namespace uringbench::compare {
namespace {

using result::Run;

/// Stopped long before its time, although nothing says so.
bool is_cut_short(const result::Cell& cell, const Run& run) {
  const auto* asked = cell.asked.find("runtime_ns");
  const auto* runtime = asked == nullptr ? nullptr : std::get_if<std::int64_t>(asked);
  return runtime != nullptr && run.elapsed_ns < *runtime / 2;
}

/// Why a run does not count; empty when it does.
std::string fault_of(const Run& run) {
  if (run.interrupted) return "interrupted";
  if (run.stalled || run.never_completed > 0) return "stalled";
  if (run.errors.count > 0) return "with I/O errors";
  if (run.short_reads > 0) return "with short reads";
  if (run.ios == 0 || run.elapsed_ns <= 0 || !(run.iops > 0)) return "without a single good I/O";
  if (!is_measurable(run.iops)) return "with impossible IOPS";
  return "";
}

/// The same measurement listed twice is one measurement.
using Identity = std::tuple<std::string, std::string, std::uint32_t, std::string, double>;
Identity identity_of(const CellRef& ref, const Run& run) {
  return {ref.source->document.session.id, ref.cell->id, run.index, run.started_at, run.iops};
}

std::set<std::uint32_t> blocks_of(const Gathered& gathered) {
  std::set<std::uint32_t> blocks;
  for (const CountedRun& counted : gathered.runs) {
    if (counted.run->block) blocks.insert(*counted.run->block);
  }
  return blocks;
}

}  // namespace

bool is_measurable(double value) { return value >= 1e-9 && value <= 1e18; }

Gathered gather(const std::vector<CellRef>& refs) {
  Gathered gathered;
  gathered.refs = refs;
  gathered.side.present = !refs.empty();
  std::map<std::string, std::size_t> faults;
  std::map<std::string, std::uint64_t> errnos;
  std::set<Identity> seen;
  std::size_t twice = 0, unsteady = 0, cut_short = 0;
  for (const CellRef& ref : refs) {
    const bool one_file = refs.size() == 1;
    for (const Run& run : ref.cell->runs) {
      if (!one_file && !seen.insert(identity_of(ref, run)).second) {
        ++twice;
        continue;
      }
      ++gathered.side.runs;
      if (const std::string fault = fault_of(run); !fault.empty()) {
        ++faults[fault];
        for (const auto& [name, count] : run.errors.by_errno) errnos[name] += count;
        continue;
      }
      if (run.steady && !*run.steady) ++unsteady;
      if (is_cut_short(*ref.cell, run)) ++cut_short;
      gathered.runs.push_back({&run, ref.source});
    }
    if (ref.source->document.session.interrupted) {
      gathered.side.spoilt = true;
      gathered.side.doubts.push_back("its session was interrupted");
    }
  }
  for (const auto& [fault, count] : faults) {
    std::string text = fmt::format("{} {}", count, fault);
    if (fault == "with I/O errors" && !errnos.empty()) {
      std::vector<std::string> names;
      for (const auto& [name, number] : errnos) names.push_back(fmt::format("{} {}", name, number));
      text += " (" + joined(names) + ")";
    }
    gathered.side.left_out.push_back(text);
    gathered.side.spoilt = true;
  }
  if (twice > 0) gathered.side.left_out.push_back(fmt::format("{} listed twice", twice));
  if (unsteady > 0) gathered.side.doubts.push_back(fmt::format("{} unsteady", unsteady));
  if (cut_short > 0) {
    gathered.side.doubts.push_back(
        fmt::format("{} shorter than half of what was asked", cut_short));
  }
  gathered.side.counted = gathered.runs.size();
  return gathered;
}

bool can_pair(const Gathered& a, const Gathered& b, bool arms) {
  const auto plans_of = [&](const Gathered& gathered) {
    std::set<std::string> plans;
    for (const CountedRun& counted : gathered.runs) {
      const auto& session = counted.source->document.session;
      plans.insert(session.plan_id.value_or(arms ? session.id : ""));
    }
    return plans;
  };
  const auto plans = plans_of(a);
  if (plans.size() != 1 || plans.count("") != 0 || plans != plans_of(b)) return false;
  const auto has_blocks = [](const Gathered& gathered) {
    return std::all_of(gathered.runs.begin(), gathered.runs.end(),
                       [](const CountedRun& counted) { return counted.run->block.has_value(); });
  };
  if (!has_blocks(a) || !has_blocks(b)) return false;
  // A failed run takes its partner along; without common blocks there is nothing to pair.
  const auto left = blocks_of(a), right = blocks_of(b);
  return std::any_of(left.begin(), left.end(),
                     [&](std::uint32_t block) { return right.count(block) != 0; });
}

std::string pairing_fault(const Gathered& a, const Gathered& b) {
  const auto all_blocks = [](const Gathered& gathered) {
    std::set<std::uint32_t> blocks;
    bool without = false;
    for (const CellRef& ref : gathered.refs) {
      for (const Run& run : ref.cell->runs) {
        if (run.block) blocks.insert(*run.block);
        without = without || !run.block;
      }
    }
    return std::pair(blocks, without);
  };
  const auto plan_of = [](const Gathered& gathered) {
    if (gathered.refs.empty()) return std::string();
    return gathered.refs.front().source->document.session.plan_id.value_or("");
  };
  if (plan_of(a).empty() || plan_of(a) != plan_of(b)) return "";
  const auto [left, left_without] = all_blocks(a);
  const auto [right, right_without] = all_blocks(b);
  if (left_without || right_without) return "runs of one plan have no block, and are not paired";
  std::vector<std::string> alone;
  for (const auto& [some, others] : {std::pair(left, right), std::pair(right, left)}) {
    for (const std::uint32_t block : some) {
      if (others.count(block) == 0) alone.push_back(std::to_string(block));
    }
  }
  if (alone.empty()) return "";
  return fmt::format("{} of the plan have runs of one side only: {}",
                     count_of(alone.size(), "block"), joined(alone));
}

}  // namespace uringbench::compare
