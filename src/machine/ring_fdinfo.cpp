// What the kernel tells of a ring's SQPOLL thread, in the ring's fdinfo.
#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <thread>

#include "machine/machine.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

/// The kernel lists every entry that is out: a line each, of tens of thousands.
constexpr std::size_t kMostBytes = 32u << 20;
constexpr int kMostTries = 200;
constexpr auto kPause = std::chrono::microseconds(100);

/// A number of 0 or more. Absent for -1, which is how the kernel says that it has none.
std::optional<std::int64_t> count_of_key(const std::string& text, const char* key) {
  const auto value = value_of_key(text, key);
  const auto number = value ? to_number(*value) : std::nullopt;
  return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace

RingFdinfo parse_ring_fdinfo(const std::string& text) {
  RingFdinfo info;
  info.thread_id = count_of_key(text, "SqThread");
  if (info.thread_id == 0) info.thread_id.reset();  // no thread has this number
  const auto cpu = count_of_key(text, "SqThreadCpu");
  if (cpu && *cpu <= std::numeric_limits<int>::max()) info.cpu = static_cast<int>(*cpu);
  info.total_us = count_of_key(text, "SqTotalTime");
  info.work_us = count_of_key(text, "SqWorkTime");
  info.knows_no_times = value_of_key(text, "SqThreadCpu") && !value_of_key(text, "SqTotalTime") &&
                        !value_of_key(text, "SqWorkTime");
  // Linux 6.12 says -1 and 0 while it cannot look at the thread: that is no time.
  if (!info.thread_id) {
    info.total_us.reset();
    info.work_us.reset();
  }
  return info;
}

std::optional<RingFdinfo> read_ring_fdinfo(int ring_fd, bool thread_is_known) {
  const std::string path = fmt::format("/proc/self/fdinfo/{}", ring_fd);
  std::optional<RingFdinfo> info;
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    if (attempt != 0) std::this_thread::sleep_for(kPause);
    const auto text = read_text(path, kMostBytes);
    if (!text) break;
    info = parse_ring_fdinfo(*text);
    // A thread that was just made is on no CPU yet.
    if (info->thread_id && info->cpu) break;
    if (thread_is_known && info->knows_no_times) break;
  }
  return info;
}

std::optional<std::int64_t> find_sqpoll_thread(std::int64_t maker_tid, const Root& root) {
  const std::string folder = root("/proc/self/task");
  const std::string prefix = "iou-sqp-";
  std::vector<std::int64_t> found;
  for (const std::string& thread : list_names(folder)) {
    const auto name = read_fact(folder + "/" + thread + "/comm");
    const auto id = to_number(thread);
    if (!name || !id || !starts_with(*name, prefix)) continue;
    if (*name == prefix + std::to_string(maker_tid)) return id;
    found.push_back(*id);
  }
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

}  // namespace uringbench::machine
