// doctor on machines that are not here: what it concludes from the facts of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "command/doctor.hpp"
#include "machine/device.hpp"
#include "machine_test_support.hpp"

namespace uringbench::command {
namespace {

using machine::test::machine_root;
using result::Checkup;

engine::KernelAbilities good_kernel() {
  engine::KernelAbilities kernel;
  for (const char* flag : {"IOPOLL", "SQPOLL", "DEFER_TASKRUN", "HYBRID_IOPOLL"}) {
    kernel.setup_flags.push_back({flag, true});
  }
  for (const char* opcode : {"READ_FIXED", "URING_CMD"}) kernel.opcodes.push_back({opcode, true});
  return kernel;
}

DoctorFacts facts_of(const std::string& machine) {
  DoctorFacts facts;
  facts.identity = machine::read_identity(machine_root(machine));
  facts.weather = machine::read_weather(machine_root(machine));
  facts.limits.allowed_cpus = {0, 1};
  facts.limits.memlock_exempt = true;
  facts.kernel = good_kernel();
  return facts;
}

void add_disk(DoctorFacts& facts, const std::string& machine, const std::string& number,
              const std::string& path) {
  machine::TargetFacts target;
  target.path = target.resolved_path = path;
  target.kind = machine::TargetKind::block;
  target.size_bytes = 1ULL << 30;
  machine::describe_block_device(target, number, machine_root(machine));
  TargetLook look;
  look.path = path;
  look.facts = target;
  facts.targets.push_back(look);
}

bool has_finding(const std::vector<result::Finding>& findings, const std::string& code) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const auto& finding) { return finding.code == code; });
}

const Checkup::Ability& mode(const Checkup::TargetCheck& check, const std::string& begin) {
  static const Checkup::Ability none;
  for (const auto& mode : check.modes) {
    if (mode.name.starts_with(begin)) return mode;
  }
  ADD_FAILURE() << "no mode " << begin;
  return none;
}

TEST(Doctor, AGoodNvmeIsHealthyAndCanPoll) {
  DoctorFacts facts = facts_of("good_nvme");
  add_disk(facts, "good_nvme", "259:0", "/dev/nvme0n1");
  const Checkup checkup = examine(facts);
  EXPECT_TRUE(checkup.healthy());
  ASSERT_EQ(checkup.targets.size(), 1U);
  const auto& check = checkup.targets[0];
  EXPECT_TRUE(mode(check, "polled").works);
  EXPECT_TRUE(mode(check, "sleep before polling").works);
  EXPECT_TRUE(mode(check, "submission").works);
  EXPECT_TRUE(mode(check, "queue settings").works);
  EXPECT_FALSE(mode(check, "passthrough").works);
  EXPECT_NE(mode(check, "passthrough").remark.find("/dev/ng0n1"), std::string::npos);
  EXPECT_FALSE(has_finding(check.findings, "scheduler"));
  EXPECT_FALSE(has_finding(check.findings, "not-polled"));
}

TEST(Doctor, AVirtioDiskWithASchedulerAndIostats) {
  DoctorFacts facts = facts_of("virtio_vm");
  add_disk(facts, "virtio_vm", "254:0", "/dev/vda");
  facts.targets.back().queue_is_closed = "needs root";
  const Checkup checkup = examine(facts);
  EXPECT_TRUE(checkup.healthy()) << "slower, but a default run works";
  const auto& check = checkup.targets[0];
  EXPECT_TRUE(has_finding(check.findings, "scheduler"));  // mq-deadline
  EXPECT_TRUE(has_finding(check.findings, "iostats"));
  EXPECT_TRUE(has_finding(check.findings, "not-polled"));
  EXPECT_TRUE(has_finding(checkup.findings, "virtual-machine"));
  EXPECT_FALSE(has_finding(check.findings, "virtual-machine")) << "said of the machine already";
  EXPECT_FALSE(mode(check, "polled").works);
  EXPECT_NE(mode(check, "polled").remark.find("poll_queues"), std::string::npos);
  EXPECT_FALSE(mode(check, "queue settings").works);
  for (const auto& finding : check.findings) EXPECT_NE(finding.hint, "") << finding.code;
}

TEST(Doctor, IoUringSwitchedOff) {
  DoctorFacts facts = facts_of("io_uring_off");
  facts.kernel = {};
  facts.kernel.setup_error = EPERM;
  facts.setup_hint = machine::setup_hint(EPERM, machine_root("io_uring_off"));
  const Checkup checkup = examine(facts);
  EXPECT_FALSE(checkup.healthy());
  ASSERT_EQ(checkup.problems.size(), 1U);
  EXPECT_NE(checkup.problems[0].what.find("EPERM"), std::string::npos);
  EXPECT_NE(checkup.problems[0].hint.find("io_uring_disabled"), std::string::npos);
  ASSERT_EQ(checkup.kernel.size(), 1U);
  EXPECT_FALSE(checkup.kernel[0].works);
}

TEST(Doctor, TooLittleLockedMemoryIsAProblemOfTheTarget) {
  DoctorFacts facts = facts_of("good_nvme");
  facts.limits.memlock_exempt = false;
  facts.limits.memlock_bytes = 65536;
  add_disk(facts, "good_nvme", "259:0", "/dev/nvme0n1");
  const Checkup checkup = examine(facts);
  EXPECT_FALSE(checkup.healthy());
  ASSERT_EQ(checkup.targets[0].problems.size(), 1U);
  EXPECT_NE(checkup.targets[0].problems[0].what.find("locked memory"), std::string::npos);
  EXPECT_NE(checkup.targets[0].problems[0].hint.find("ulimit -l"), std::string::npos);
}

TEST(Doctor, ATargetThatCannotBeOpened) {
  DoctorFacts facts = facts_of("good_nvme");
  TargetLook look;
  look.path = "gone";
  look.problems = {{base::ExitCode::cannot, "gone: ENOENT", "look"}};
  facts.targets.push_back(look);
  const Checkup checkup = examine(facts);
  EXPECT_FALSE(checkup.healthy());
  EXPECT_FALSE(checkup.targets[0].target);
  ASSERT_EQ(checkup.targets[0].problems.size(), 1U);
  EXPECT_EQ(checkup.targets[0].problems[0].what, "gone: ENOENT");
}

TEST(Doctor, AnOldKernelSaysWhatItLacks) {
  DoctorFacts facts = facts_of("good_nvme");
  facts.kernel.setup_flags = {{"IOPOLL", true}, {"SQPOLL", true}, {"HYBRID_IOPOLL", false}};
  facts.kernel.opcodes = {{"READ_FIXED", true}, {"URING_CMD", false}};
  add_disk(facts, "good_nvme", "259:0", "/dev/nvme0n1");
  const Checkup checkup = examine(facts);
  EXPECT_TRUE(checkup.healthy());
  EXPECT_FALSE(mode(checkup.targets[0], "sleep before polling").works);
  EXPECT_NE(mode(checkup.targets[0], "sleep before polling").remark, "");
}

}  // namespace
}  // namespace uringbench::command
