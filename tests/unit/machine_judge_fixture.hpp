// A run in which there is nothing to find, and what tests of findings need.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "machine/device.hpp"
#include "machine/machine.hpp"
#include "machine_test_support.hpp"

namespace uringbench::machine::test {

/// Each test spoils one thing.
class JudgeFixture : public ::testing::Test {
 protected:
  JudgeFixture() {
    plan_.threads.resize(1);
    plan_.polled = true;
    plan_.buffer_bytes_per_thread = 128 * 4096;
    targets_.push_back(block_target("good_nvme", "259:0", "/dev/nvme0n1"));
    identity_ = read_identity(machine_root("good_nvme"));
    weather_ = read_weather(machine_root("good_nvme"));
    limits_.allowed_cpus = {0, 1, 2, 3};
  }

  static TargetFacts block_target(const std::string& machine, const std::string& number,
                                  const std::string& path) {
    TargetFacts facts;
    facts.path = path;
    facts.resolved_path = path;
    facts.kind = TargetKind::block;
    facts.size_bytes = 1 << 30;
    describe_block_device(facts, number, machine_root(machine));
    return facts;
  }

  std::vector<Finding> findings() const {
    return judge(options_, plan_, targets_, identity_, weather_, limits_);
  }
  std::vector<std::string> codes() const {
    std::vector<std::string> codes;
    for (const Finding& finding : findings()) codes.push_back(finding.code);
    return codes;
  }
  /// The only finding. Fails the test when there are none or more.
  Finding only() const {
    const std::vector<Finding> all = findings();
    EXPECT_EQ(all.size(), 1u) << ::testing::PrintToString(codes());
    return all.empty() ? Finding{} : all.front();
  }
  TargetFacts& target() { return targets_.front(); }

  plan::Options options_;
  plan::RunPlan plan_;
  std::vector<TargetFacts> targets_;
  Identity identity_;
  Weather weather_;
  plan::Limits limits_;
};

}  // namespace uringbench::machine::test

#define EXPECT_FINDING(finding, severity_, code_, message_, hint_) \
  do {                                                             \
    const Finding found = (finding);                               \
    EXPECT_EQ(found.severity, Severity::severity_);                \
    EXPECT_EQ(found.code, code_);                                  \
    EXPECT_EQ(found.message, message_);                            \
    EXPECT_EQ(found.hint, hint_);                                  \
  } while (false)
