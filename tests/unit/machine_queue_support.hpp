// Disks made of plain files, and guardians at work.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "machine/machine.hpp"
#include "machine/small_files.hpp"
#include "machine_test_support.hpp"

namespace uringbench::machine::test {

using Settings = std::vector<plan::QueueSetting>;

/// Waits for what another process does; false when it does not come.
inline bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

/// Guardians whose parent is `parent`; any when it is 0.
inline std::vector<pid_t> guardians_of(pid_t parent) {
  std::vector<pid_t> found;
  for (const std::string& name : list_names("/proc")) {
    const auto status = read_text("/proc/" + name + "/status");
    if (!status || value_of_key(*status, "Name") != "queue-guardian") continue;
    if (value_of_key(*status, "PPid") != std::to_string(parent)) continue;
    found.push_back(std::stoi(name));
  }
  return found;
}

inline std::vector<base::Problem> problems_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const base::UserError& error) {
    return error.problems();
  } catch (const base::SystemError& error) {
    return {error.problem()};
  }
  return {};
}

inline std::string text_of(const std::vector<base::Problem>& problems) {
  std::string text;
  for (const base::Problem& problem : problems) {
    text += std::to_string(static_cast<int>(problem.code)) + ": " + problem.what + " | " +
            problem.hint + "\n";
  }
  return text;
}

class QueueFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* disk : {"sda", "sdb"}) {
      add(disk, "scheduler", "[none] mq-deadline kyber \n");
      add(disk, "iostats", "1\n");
      add(disk, "nomerges", "0\n");
      add(disk, "nr_requests", "128\n");
      add(disk, "wbt_lat_usec", "2000\n");
      add(disk, "dma_alignment", "511\n");
      ASSERT_EQ(::chmod(path(disk, "dma_alignment").c_str(), 0444), 0);
    }
    descriptors_before_ = list_names("/proc/self/fd").size();
  }
  void TearDown() override {
    EXPECT_EQ(list_names("/proc/self/fd").size(), descriptors_before_) << "a descriptor leaks";
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    EXPECT_EQ(errno, ECHILD);
  }

  std::string path(const std::string& disk, const std::string& key) const {
    return folder_ / ("sys/block/" + disk + "/queue/" + key);
  }
  void add(const std::string& disk, const std::string& key, const std::string& text) const {
    folder_.write("sys/block/" + disk + "/queue/" + key, text);
  }
  std::string get(const std::string& key, const std::string& disk = "sda") const {
    return read_fact(path(disk, key)).value_or("nothing");
  }
  Root root() const { return Root{folder_.path()}; }

  std::string checked(const std::vector<std::string>& disks, const Settings& settings) const {
    return text_of(problems_of([&] { QueueSettings::check(disks, settings, root()); }));
  }
  std::string refused(const std::vector<std::string>& disks, const Settings& settings) const {
    return text_of(problems_of([&] { const QueueSettings queues(disks, settings, root()); }));
  }

  /// A process in its own group that has set iostats of sda to 0, and then does `action`.
  pid_t in_another_process(const std::function<void()>& action) const {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::setpgid(0, 0);
      const QueueSettings queues({"sda"}, {{"iostats", "0"}}, root());
      (void)!::write(ends[1], get("iostats").data(), 1);
      action();
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char value = 0;
    EXPECT_EQ(::read(ends[0], &value, 1), 1);
    EXPECT_EQ(value, '0');
    ::close(ends[0]);
    return pid;
  }
  bool restored_by_guardian() const {
    return comes_true([&] { return get("iostats") == "1"; });
  }
  static void reap(pid_t pid) {
    ::kill(pid, SIGKILL);
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  }

  // In /tmp, which everybody can reach: one test is another user.
  TemporaryFolder folder_{std::filesystem::temp_directory_path().string()};
  std::size_t descriptors_before_ = 0;
};

}  // namespace uringbench::machine::test
