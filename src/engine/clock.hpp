// Clocks for latency stamps: the cheapest one this processor has, read once per batch.
#pragma once

#include <time.h>

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace uringbench::engine {

inline std::int64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Not timed: costs nothing.
struct NoClock {
  static constexpr bool kTimed = false;
  static std::uint64_t ticks() noexcept { return 0; }
};

/// CLOCK_MONOTONIC, where the processor has no counter that runs at one rate.
struct MonotonicClock {
  static constexpr bool kTimed = true;
  static std::uint64_t ticks() noexcept { return static_cast<std::uint64_t>(monotonic_ns()); }
};

/// The processor's own counter. Its rate is taken from CLOCK_MONOTONIC over the run itself.
struct CounterClock {
  static constexpr bool kTimed = true;
  static std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    std::uint64_t value;
    asm volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    return MonotonicClock::ticks();
#endif
  }
  /// Does the counter run at one rate in every power state?
  static bool usable() noexcept {
#if defined(__x86_64__)
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 8)) != 0;
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
  }
};

/// Both clocks at one moment: of several readings the one that took the shortest time, since a
/// thread may lose its CPU between the two.
struct ClockPair {
  std::int64_t monotonic_ns = 0;
  std::uint64_t ticks = 0;

  static ClockPair read() noexcept {
    ClockPair best;
    std::uint64_t least = UINT64_MAX;
    for (int attempt = 0; attempt < 8; ++attempt) {
      const std::uint64_t before = CounterClock::ticks();
      const std::int64_t now = engine::monotonic_ns();
      const std::uint64_t took = CounterClock::ticks() - before;
      if (took >= least) continue;
      least = took;
      best = {now, before + took / 2};
    }
    return best;
  }
  /// Ticks per second from this moment to a later one; 1e9 when they are the same.
  double rate_until(const ClockPair& later) const noexcept {
    if (later.monotonic_ns <= monotonic_ns) return 1e9;
    return static_cast<double>(later.ticks - ticks) * 1e9 /
           static_cast<double>(later.monotonic_ns - monotonic_ns);
  }
};

}  // namespace uringbench::engine
