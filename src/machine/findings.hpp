// The parts of judge(), and what they share.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.hpp"

namespace uringbench::machine {

using Findings = std::vector<Finding>;

inline void add(Findings& findings, Severity severity, const char* code, std::string message,
                std::string hint) {
  findings.push_back({severity, code, std::move(message), std::move(hint)});
}

/// " (and 3 more)", or nothing when there are no more.
std::string and_more(std::ptrdiff_t count);

/// Do threads wait for each other, or for the threads that poll their rings?
void judge_cpus(Findings& findings, const plan::RunPlan& plan, const Identity& identity,
                const plan::Limits& limits);

/// Are threads and memory at home where their targets are (-P)?
void judge_numa(Findings& findings, const plan::Options& options, const plan::RunPlan& plan,
                const std::vector<TargetFacts>& targets, const Identity& identity,
                const plan::Limits& limits);

}  // namespace uringbench::machine
