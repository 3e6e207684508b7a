#include <gtest/gtest.h>

#include <algorithm>

#include "golden.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "sample_checkups.hpp"

namespace uringbench::report {
namespace {

using result::Checkup;
using testing::expect_golden;

// What holds for every checkup, whatever it says.
void expect_screen(const std::string& text, std::ptrdiff_t most_lines) {
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.back(), '\n');
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), most_lines);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    EXPECT_LE(columns(line), 100U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << '"' << line << '"';
    EXPECT_EQ(printable(line), line);
    begin = end + 1;
  }
}

void expect_checkup(const std::string& name, const Checkup& checkup) {
  const std::string text = report::checkup(checkup);
  expect_screen(text, 45);
  expect_golden("report/doctor-" + name + ".txt", text);
}

TEST(CheckupText, GoodNvme) { expect_checkup("good-nvme", testing::good_nvme()); }

TEST(CheckupText, VirtioGuest) { expect_checkup("virtio-guest", testing::virtio_guest()); }

TEST(CheckupText, SchedulerInTheWay) {
  expect_checkup("scheduler", testing::scheduler_in_the_way());
}

TEST(CheckupText, DisabledIoUring) { expect_checkup("disabled", testing::disabled_io_uring()); }

TEST(CheckupText, UnreadableTargets) {
  expect_checkup("unreadable", testing::unreadable_targets());
}

TEST(CheckupText, NothingKnownAndNothingLookedAt) {
  const std::string text = report::checkup(testing::minimal_checkup());
  expect_screen(text, 10);
  EXPECT_EQ(text,
            "A default run would work.\n"
            "\nMachine\n"
            "  Speed        clock not under this kernel's control, load 0.00\n"
            "\nNo target was looked at. Name files or devices to do so.\n");
}

TEST(CheckupText, GenericDevice) {
  Checkup checkup = testing::minimal_checkup();
  Checkup::TargetCheck check;
  check.path = "/dev/ng1n1";
  check.target = testing::full_document().targets[1];
  checkup.targets = {check};
  const std::string text = report::checkup(checkup);
  EXPECT_NE(text.find("/dev/ng1n1\n  What         nvme-generic, 800.0 GiB, LBA of 4096 B, "
                      "namespace 1\n"),
            std::string::npos)
      << text;
}

TEST(CheckupText, HostileAndLongNamesStayOnTheScreen) {
  Checkup checkup = testing::good_nvme();
  const std::string name = std::string(150, 'n') + "\x1b[2J\r\n" + std::string(150, 'm');
  checkup.identity.cpu_model = name;
  checkup.kernel.push_back({name, false, name});
  checkup.setup_flags.push_back({name, false, name});
  checkup.limits.emplace_back(name, name);
  checkup.problems = {{name, name}};
  checkup.findings = {{"warning", "x", name, name}};
  checkup.targets[0].path = name;
  checkup.targets[0].target->device->model = name;
  checkup.targets[0].modes.push_back({name, true, name});
  expect_screen(report::checkup(checkup), 200);
}

TEST(Checkup, HealthyWithoutProblemsAnywhere) {
  EXPECT_TRUE(testing::minimal_checkup().healthy());
  EXPECT_TRUE(testing::good_nvme().healthy());
  EXPECT_TRUE(testing::scheduler_in_the_way().healthy());  // findings are no problems
  EXPECT_FALSE(testing::disabled_io_uring().healthy());
  EXPECT_FALSE(testing::unreadable_targets().healthy());
}

TEST(Checkup, FullDocument) {
  Checkup checkup = testing::virtio_guest();
  const Checkup sick = testing::unreadable_targets();
  checkup.problems = testing::disabled_io_uring().problems;
  checkup.targets.insert(checkup.targets.end(), sick.targets.begin(), sick.targets.end());
  checkup.targets[0].target = testing::full_document().targets[0];
  checkup.targets[0].findings = testing::scheduler_in_the_way().targets[0].findings;
  checkup.targets.push_back({});
  checkup.targets.back().path = "/dev/ng1n1";
  checkup.targets.back().target = testing::full_document().targets[1];
  checkup.weather = testing::full_document().weather;
  checkup.identity.smt = {{"active", "1"}};
  expect_golden("doctor-v1-full.json", to_json(checkup));
}

TEST(Checkup, MinimalDocument) {
  expect_golden("doctor-v1-minimal.json", to_json(testing::minimal_checkup()));
}

}  // namespace
}  // namespace uringbench::report
