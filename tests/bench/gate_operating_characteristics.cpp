// How often compare and gate cry wolf, and how often they see what is there.
//
//   gate_operating_characteristics [SESSIONS] [SEED] [PART OF A SCENARIO'S NAME]
//
// Simulates sessions of a base and a new result, each with runs whose noise is known, puts them
// through the very comparison and gate of the program, and counts: in how many sessions any cell is
// called a regression (or anything but unchanged) although nothing changed, and in how many a true
// loss is found. docs/statistics.md quotes the table.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "compare/compare.hpp"

namespace {

using namespace uringbench;

/// Normal numbers that are the same with every standard library.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : engine_(seed) {}
  double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * uniform()); }

 private:
  std::mt19937_64 engine_;
};

struct Scenario {
  const char* name;
  std::size_t cells = 24;
  std::size_t runs = 10;     ///< a side, or pairs
  double change = 0;         ///< true change of the new side, a fraction
  std::size_t changed = 24;  ///< in how many cells
  double run_noise = 0.01;   ///< standard deviation between runs, a fraction
  double drift = 0;          ///< linear, over the whole session
  double correlation = 0;    ///< of one run's noise with the next one's
  double outliers = 0;       ///< share of runs that are slow by 20 %
  bool paired = false;       ///< interleaved in random order and paired, else base first, then new
};

/// Noise factors of the 2n runs of a cell in the order in which they were measured.
std::vector<double> factors_of(const Scenario& scenario, Noise& noise) {
  std::vector<double> factors;
  double last = noise.normal();
  const double fresh = std::sqrt(1 - scenario.correlation * scenario.correlation);
  const std::size_t count = 2 * scenario.runs;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) last = scenario.correlation * last + fresh * noise.normal();
    double factor = 1 + scenario.run_noise * last;
    factor *= 1 + scenario.drift * static_cast<double>(i) / static_cast<double>(count - 1);
    if (noise.uniform() < scenario.outliers) factor *= 0.8;
    factors.push_back(factor);
  }
  return factors;
}

result::Cell cell_of(std::size_t index, const char* arm) {
  result::Cell cell;
  cell.id = "randread bs=4096 qd=" + std::to_string(index + 1);
  if (arm != nullptr) cell.arm = arm;
  return cell;
}

void add_run(result::Cell& cell, double iops, std::size_t block, bool paired) {
  result::Run run;
  run.index = static_cast<std::uint32_t>(cell.runs.size());
  run.iops = iops;
  run.ios = static_cast<std::uint64_t>(iops);
  run.elapsed_ns = 1'000'000'000;
  if (paired) run.block = static_cast<std::uint32_t>(block);
  cell.runs.push_back(std::move(run));
}

std::vector<compare::Side> session(const Scenario& scenario, Noise& noise) {
  std::vector<compare::Side> sides(2);
  for (std::size_t side = 0; side < 2; ++side) {
    sides[side].label = side == 0 ? "base" : "new";
    sides[side].sources.emplace_back();
    auto& info = sides[side].sources[0].document.session;
    info.id = std::to_string(side);
    if (scenario.paired) info.plan_id = "plan";
  }
  for (std::size_t c = 0; c < scenario.cells; ++c) {
    result::Cell cells[2] = {cell_of(c, nullptr), cell_of(c, nullptr)};
    const auto factors = factors_of(scenario, noise);
    const double change = c < scenario.changed ? scenario.change : 0;
    for (std::size_t run = 0; run < scenario.runs; ++run) {
      const bool new_first = scenario.paired && noise.uniform() < 0.5;
      const std::size_t base_at = scenario.paired ? 2 * run + (new_first ? 1 : 0) : run;
      const std::size_t new_at =
          scenario.paired ? 2 * run + (new_first ? 0 : 1) : scenario.runs + run;
      add_run(cells[0], 590'000 * factors[base_at], run, scenario.paired);
      add_run(cells[1], 590'000 * (1 + change) * factors[new_at], run, scenario.paired);
    }
    for (std::size_t side = 0; side < 2; ++side) {
      sides[side].sources[0].document.cells.push_back(std::move(cells[side]));
    }
  }
  return sides;
}

struct Counts {
  std::size_t significant = 0;  ///< sessions where compare called any cell better or worse
  std::size_t regressed = 0;    ///< sessions where compare called any cell REGRESSED
  std::size_t red = 0;          ///< sessions with gate code 3
  std::size_t green = 0;        ///< sessions with gate code 0
  std::size_t found = 0;        ///< changed cells called REGRESSED
  std::size_t changed = 0;      ///< changed cells
};

Counts simulate(const Scenario& scenario, std::size_t sessions, std::uint64_t seed) {
  Noise noise(seed);
  compare::Options options;
  const compare::GateRules rules;  // iops=2%
  Counts counts;
  for (std::size_t i = 0; i < sessions; ++i) {
    const auto comparison = compare::compare(session(scenario, noise), options);
    const auto gate = compare::gate(comparison, rules);
    const std::size_t regressed = comparison.count(compare::Verdict::regressed);
    counts.regressed += regressed > 0;
    counts.significant += regressed + comparison.count(compare::Verdict::improved) +
                              comparison.count(compare::Verdict::small) >
                          0;
    counts.red += gate.code == base::ExitCode::regression;
    counts.green += gate.code == base::ExitCode::done;
    if (scenario.change == 0) continue;
    counts.changed += scenario.changed;
    for (std::size_t c = 0; c < scenario.changed; ++c) {  // rows stand in the order of their depth
      counts.found +=
          comparison.cells[c].metrics[0].contrasts[0].verdict == compare::Verdict::regressed;
    }
  }
  return counts;
}

void print(const Scenario& scenario, const Counts& counts, std::size_t sessions) {
  const auto share = [](std::size_t part, std::size_t whole) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  std::printf("| %-44s | %2zu | %3zu | %5.1f %% | %5.1f %% | %5.1f %% | %5.1f %% |", scenario.name,
              scenario.cells, scenario.runs, share(counts.significant, sessions),
              share(counts.regressed, sessions), share(counts.red, sessions),
              share(counts.green, sessions));
  if (counts.changed > 0) {
    std::printf(" %5.1f %% |\n", share(counts.found, counts.changed));
  } else {
    std::printf("       – |\n");
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t sessions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 7;
  const std::string wanted = argc > 3 ? argv[3] : "";
  if (sessions == 0) {
    std::fprintf(stderr, "usage: %s [SESSIONS] [SEED] [PART OF A SCENARIO'S NAME]\n", argv[0]);
    return 2;
  }
  std::vector<Scenario> scenarios{
      {.name = "no change, noise 1 %"},
      {.name = "no change, noise 1 %, 6 runs, 1 cell", .cells = 1, .runs = 6},
      {.name = "no change, noise 1 %, 6 runs, 12 cells", .cells = 12, .runs = 6},
      {.name = "no change, noise 5 %", .run_noise = 0.05},
      {.name = "no change, 5 % of runs slow by 20 %", .outliers = 0.05},
      {.name = "no change, drift -2 %, base first", .drift = -0.02},
      {.name = "no change, drift -2 %, pairs", .drift = -0.02, .paired = true},
      {.name = "no change, neighbours alike (.8), base first", .correlation = 0.8},
      {.name = "no change, neighbours alike (.8), pairs", .correlation = 0.8, .paired = true},
      {.name = "-3.4 % in one of one cell", .cells = 1, .change = -0.034, .changed = 1},
      {.name = "-3.4 % in one of 24 cells", .change = -0.034, .changed = 1},
      {.name = "-3.4 % in all 24 cells", .change = -0.034},
      {.name = "-3.4 % in one of 24, outliers", .change = -0.034, .changed = 1, .outliers = 0.05},
      {.name = "-3.4 % in one of 24, drift -2 %, pairs",
       .runs = 12,
       .change = -0.034,
       .changed = 1,
       .drift = -0.02,
       .paired = true},
      {.name = "-1 % in one of one cell, noise 0.5 %",
       .cells = 1,
       .change = -0.01,
       .changed = 1,
       .run_noise = 0.005},
  };
  std::printf("%zu sessions each, seed %llu; gate with --margin iops=2%%\n\n", sessions,
              static_cast<unsigned long long>(seed));
  std::printf("| %-44s | %2s | %3s | %7s | %7s | %7s | %7s | %7s |\n", "sessions with", "m", "n",
              "any", "REGR.", "gate 3", "gate 0", "found");
  std::printf("|%s|---:|----:|--------:|--------:|--------:|--------:|--------:|\n",
              std::string(46, '-').c_str());
  for (const Scenario& scenario : scenarios) {
    if (std::string(scenario.name).find(wanted) == std::string::npos) continue;
    print(scenario, simulate(scenario, sessions, seed), sessions);
  }
  return EXIT_SUCCESS;
}
