#include "engine/pollers.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "engine/clock.hpp"

namespace uringbench::engine {
namespace {

/// CPU time of a thread of this process, which the kernel's own threads for us are as well. The
/// clock's number is the complement of the thread's id, then 4 for a thread and 2 for run time
/// (include/linux/posix-timers.h: make_thread_cpuclock).
std::optional<std::int64_t> cpu_time_ns(std::int64_t thread_id) {
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(thread_id) << 3 | 6U);
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return std::nullopt;
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::optional<std::int64_t> difference(const std::optional<std::int64_t>& before,
                                       const std::optional<std::int64_t>& after) {
  if (!before || !after) return std::nullopt;
  return std::max<std::int64_t>(*after - *before, 0);
}

}  // namespace

PollerStamp stamp_poller(int ring_fd, std::int64_t maker_tid,
                         std::optional<std::int64_t> known_thread_id) {
  PollerStamp stamp;
  const auto thread_id = known_thread_id ? known_thread_id : machine::find_sqpoll_thread(maker_tid);
  // The clock first: fdinfo may have to be asked again and again while the thread is busy.
  if (thread_id) stamp.cpu_ns = cpu_time_ns(*thread_id);
  stamp.fdinfo =
      machine::read_ring_fdinfo(ring_fd, thread_id.has_value()).value_or(machine::RingFdinfo{});
  // A number in fdinfo is that of the first PID namespace, not of ours.
  if (thread_id) stamp.fdinfo.thread_id = thread_id;
  if (!stamp.cpu_ns && stamp.fdinfo.thread_id) stamp.cpu_ns = cpu_time_ns(*stamp.fdinfo.thread_id);
  return stamp;
}

std::vector<Poller> pollers_between(const std::vector<PollerStamp>& before,
                                    const std::vector<PollerStamp>& after) {
  std::vector<Poller> pollers;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    const auto& thread_id = after[i].fdinfo.thread_id;
    if (!thread_id) continue;
    const auto same = [&](const Poller& poller) { return poller.thread_id == *thread_id; };
    if (std::any_of(pollers.begin(), pollers.end(), same)) continue;
    Poller poller;
    poller.thread_id = *thread_id;
    poller.cpu = after[i].fdinfo.cpu;
    poller.total_us = difference(before[i].fdinfo.total_us, after[i].fdinfo.total_us);
    poller.work_us = difference(before[i].fdinfo.work_us, after[i].fdinfo.work_us);
    poller.cpu_ns = difference(before[i].cpu_ns, after[i].cpu_ns);
    pollers.push_back(poller);
  }
  return pollers;
}

bool pollers_ended(const std::vector<Poller>& pollers, std::int64_t patience_ns) {
  const std::int64_t deadline_ns = monotonic_ns() + patience_ns;
  const auto is_there = [](const Poller& poller) {
    const std::string folder = "/proc/self/task/" + std::to_string(poller.thread_id);
    return access(folder.c_str(), F_OK) == 0;
  };
  while (std::any_of(pollers.begin(), pollers.end(), is_there)) {
    if (monotonic_ns() >= deadline_ns) return false;
    const timespec pause{0, 500'000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace uringbench::engine
