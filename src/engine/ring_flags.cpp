#include "engine/ring_flags.hpp"

#include <liburing.h>

#include <fmt/format.h>

#include <algorithm>

#include "engine/kernel_abi.hpp"
#include "engine/ring.hpp"

namespace uringbench::engine {
namespace {

struct AskedFlag {
  std::uint32_t bit;
  const char* option;  ///< by which it was asked for
  const char* since;   ///< the kernel that brought it
};
constexpr AskedFlag kAskedFlags[] = {
    {IORING_SETUP_IOPOLL, "-p1", "5.1"},
    {abi::kSetupHybridIopoll, "--hybrid-iopoll", "6.13, and polled I/O"},
    {IORING_SETUP_SQPOLL, "--sqpoll", "5.1"},
    {IORING_SETUP_SQ_AFF, "--sqpoll-cpu", "5.1, and a CPU that is online"},
    {IORING_SETUP_ATTACH_WQ, "--sqpoll-share", "5.6"},
    {IORING_SETUP_R_DISABLED, "-e1", "5.10"},
    {IORING_SETUP_SQE128, "-u1", "5.19"},
    {IORING_SETUP_CQE32, "-u1", "5.19"},
    {IORING_SETUP_DEFER_TASKRUN, "--taskrun defer", "6.1"},
    {IORING_SETUP_COOP_TASKRUN, "--taskrun coop", "5.19"},
};

}  // namespace

RingRequest ring_request(const plan::RunPlan& plan) {
  // Where the bit of stats-off means SQE_MIXED, a ring of one entry is refused (EOVERFLOW).
  const std::uint32_t least = plan.sqthread_stats_bit >= 0 ? 2 : 1;
  return {.entries = std::max(plan.depth, least),
          .polled = plan.polled,
          .hybrid_iopoll = plan.hybrid_iopoll,
          .wide = plan.passthrough,
          .disabled = plan.restricted,
          .sqpoll = plan.sqpoll,
          .sqpoll_cpu = plan.sqpoll_cpu,
          .sqpoll_idle_ms = plan.sqpoll_idle_ms,
          .taskrun = plan.taskrun,
          .taskrun_asked = plan.taskrun_asked,
          .extra_bit = plan.sqthread_stats_bit};
}

std::uint32_t asked_flags(const RingRequest& request) {
  std::uint32_t flags = 0;
  if (request.polled) flags |= IORING_SETUP_IOPOLL;
  if (request.hybrid_iopoll) flags |= abi::kSetupHybridIopoll;
  if (request.wide) flags |= IORING_SETUP_SQE128 | IORING_SETUP_CQE32;
  if (request.disabled) flags |= IORING_SETUP_R_DISABLED;
  if (request.sqpoll) flags |= IORING_SETUP_SQPOLL;
  if (request.sqpoll && request.sqpoll_cpu >= 0) flags |= IORING_SETUP_SQ_AFF;
  if (request.sqpoll && request.attach_to >= 0) flags |= IORING_SETUP_ATTACH_WQ;
  if (request.extra_bit >= 0) flags |= 1U << request.extra_bit;
  if (request.taskrun_asked && !request.sqpoll) {
    if (request.taskrun == plan::TaskRun::defer) {
      flags |= IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER;
    }
    if (request.taskrun == plan::TaskRun::coop) flags |= IORING_SETUP_COOP_TASKRUN;
  }
  return flags;
}

std::vector<std::uint32_t> flag_sets(const RingRequest& request) {
  constexpr std::uint32_t kSingle = IORING_SETUP_SINGLE_ISSUER;  // 6.0
  constexpr std::uint32_t kDefer = IORING_SETUP_DEFER_TASKRUN;   // 6.1
  constexpr std::uint32_t kCoop = IORING_SETUP_COOP_TASKRUN;     // 5.19
  constexpr std::uint32_t kNoSqArray = abi::kSetupNoSqArray;     // 6.6
  if (request.sqpoll) return {kSingle | kNoSqArray, kSingle, 0};
  if (!request.taskrun_asked) {
    return {kSingle | kDefer | kNoSqArray, kSingle | kDefer, kSingle | kCoop, kCoop, 0};
  }
  switch (request.taskrun) {
    case plan::TaskRun::defer:
      return {kNoSqArray, 0};
    case plan::TaskRun::coop:
      return {kSingle | kNoSqArray, kSingle, 0};
    case plan::TaskRun::plain:
      break;
  }
  return {kNoSqArray, 0};
}

base::Problem refused_flags(const RingRequest& request, const Culprits& culprits) {
  const std::uint32_t asked = asked_flags(request);
  const std::uint32_t blamed = culprits.flags != 0 ? culprits.flags : asked;
  std::string names;
  std::string hints;
  const auto add = [](std::string& text, const std::string& more, const char* separator) {
    if (text.find(more) == std::string::npos) text += (text.empty() ? "" : separator) + more;
  };
  for (const AskedFlag& flag : kAskedFlags) {
    if ((blamed & flag.bit) == 0) continue;
    add(names, fmt::format("{} ({})", names_of_setup_flags(flag.bit).front(), flag.option), ", ");
    add(hints, fmt::format("{} needs Linux {}", flag.option, flag.since), "; ");
  }
  if (request.extra_bit >= 0 && (blamed >> request.extra_bit & 1) != 0) {
    add(names, fmt::format("bit {} (--no-sqthread-stats)", request.extra_bit), ", ");
    add(hints, "only a kernel with the patch for it takes --no-sqthread-stats", "; ");
  }
  if (names.empty()) {
    return {base::ExitCode::cannot, "io_uring_setup: EINVAL (Invalid argument), however plain",
            "no kernel answers so by itself: a sandbox or a tracer may be in between"};
  }
  if (culprits.exclude_each_other) {
    return {base::ExitCode::cannot,
            fmt::format("io_uring_setup: EINVAL: the kernel refuses {} together", names),
            "they exclude each other: leave one of them out"};
  }
  return {base::ExitCode::cannot,
          fmt::format("io_uring_setup: EINVAL: the kernel refuses {}{}", names,
                      culprits.flags != 0 ? "" : ", alone or together"),
          hints + "; leave it out, or use a newer kernel"};
}

}  // namespace uringbench::engine
