// The kernel threads of SQPOLL, looked at from outside: who they are, and what they used.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/engine.hpp"
#include "machine/machine.hpp"

namespace uringbench::engine {

/// One look at one ring's thread.
struct PollerStamp {
  machine::RingFdinfo fdinfo;
  std::optional<std::int64_t> cpu_ns;  ///< of the thread's CPU clock
};

/// Reads the clock of the ring's thread, and the ring's fdinfo. Thread `maker_tid` made the ring,
/// or the one whose SQPOLL thread it shares. `known_thread_id`: by an earlier look.
PollerStamp stamp_poller(int ring_fd, std::int64_t maker_tid,
                         std::optional<std::int64_t> known_thread_id);

/// What each thread used between two looks at the same rings, in their order. Rings that share a
/// thread count once. Pure.
std::vector<Poller> pollers_between(const std::vector<PollerStamp>& before,
                                    const std::vector<PollerStamp>& after);

/// Waits until the threads are gone, for at most `patience_ns`. The kernel ends them some time
/// after the last ring was closed. True when none is left.
bool pollers_ended(const std::vector<Poller>& pollers, std::int64_t patience_ns);

}  // namespace uringbench::engine
