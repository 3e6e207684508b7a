// Which set-up flags to ask the kernel for, and what to say when it refuses them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/base.hpp"
#include "plan/plan.hpp"

namespace uringbench::engine {

struct RingRequest {
  std::uint32_t entries = 0;
  bool polled = false;
  bool hybrid_iopoll = false;
  bool wide = false;      ///< SQE128 and CQE32: passthrough
  bool disabled = false;  ///< R_DISABLED: restrictions come before the first request
  bool sqpoll = false;
  int sqpoll_cpu = -1;
  std::uint32_t sqpoll_idle_ms = 0;
  int attach_to = -1;  ///< descriptor of the ring whose SQPOLL thread is shared; -1: an own one
  plan::TaskRun taskrun = plan::TaskRun::defer;
  bool taskrun_asked = false;
  int extra_bit = -1;  ///< a set-up flag without a name (stats-off); -1: none
};

/// The request of one thread of the plan.
RingRequest ring_request(const plan::RunPlan& plan);

/// Flags that were asked for by the user, in so many words or by what they imply. The kernel gives
/// all of them, or the run is refused. Pure.
std::uint32_t asked_flags(const RingRequest& request);

/// Flags of our own choice, best first; each set is tried together with the asked ones. Every set
/// is valid on some kernel: never COOP_TASKRUN or DEFER_TASKRUN with SQPOLL. Pure.
std::vector<std::uint32_t> flag_sets(const RingRequest& request);

/// Those of the asked flags without which set-up works; none when it is not one alone.
struct Culprits {
  std::uint32_t flags = 0;
  bool exclude_each_other = false;  ///< leaving out any one of them suffices
};
/// What to say when every set was refused with EINVAL. Pure.
base::Problem refused_flags(const RingRequest& request, const Culprits& culprits);

}  // namespace uringbench::engine
