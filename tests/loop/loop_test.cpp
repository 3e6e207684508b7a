// The hot loop over a fake ring: what must hold whatever the kernel does.
#include <gtest/gtest.h>

#include "fake_ring.hpp"

namespace uringbench::engine::testing {
namespace {

/// Every completion is accounted for: good ones as I/Os, bad ones by kind, none twice.
template <class Run>
void expect_accounted(Run& run) {
  EXPECT_EQ(run.ring.failure, "");
  const Tally& tally = run.worker.result();
  const std::uint64_t retried_calls = run.ring.refusals;
  EXPECT_EQ(tally.ios + tally.errors + tally.short_reads + tally.retries - retried_calls,
            tally.completions);
  // The session reads intervals from what is published: it must end as the result.
  EXPECT_EQ(run.worker.published().ios.load(), tally.ios);
  EXPECT_EQ(run.worker.published().submitted.load(), tally.submitted);
  EXPECT_EQ(run.worker.published().bad.load(), tally.errors + tally.short_reads);
  const ErrorTally errors = run.worker.errors();
  std::uint64_t by_errno = 0;
  for (const auto& [number, count] : errors.by_errno) by_errno += count;
  EXPECT_EQ(by_errno, errors.count);
  EXPECT_EQ(errors.count, tally.errors);
}

TEST(Loop, CountsEveryGoodReadOfAPlainRun) {
  LoopRun run({.depth = 128, .eager = false, .stop_after_calls = 5000}, 32, 32);
  run.run();
  expect_accounted(run);
  EXPECT_EQ(run.worker.result().ios, run.worker.result().completions);
  EXPECT_GT(run.worker.result().ios, 5000U);
  EXPECT_EQ(run.ring.in_flight(), 0U);
  EXPECT_EQ(run.worker.never_completed(), 0U);
  EXPECT_EQ(run.worker.result().in_flight_max, 128U);
  EXPECT_EQ(run.ring.most_in_flight, 128U);
  EXPECT_EQ(run.ring.largest_batch, 32U);
}

TEST(Loop, WritesOnlyFreeEntriesWhenAThreadTakesThem) {
  for (const std::uint32_t depth : {1U, 2U, 3U, 8U, 100U, 128U}) {
    for (const std::uint32_t submit : {1U, 7U, 32U}) {
      BasicLoopRun<LazyRing> run({.depth = depth,
                                  .eagain = 0.1,
                                  .eio = 0.1,
                                  .stop_after_calls = 2000,
                                  .measure_after_calls = 100,
                                  .index_begin = UINT32_MAX - 50},
                                 std::min(submit, depth), std::min(submit, depth));
      run.run();
      expect_accounted(run);
      EXPECT_GT(run.worker.result().ios, 500U) << depth << ' ' << submit;
      // Its own count of system calls, since the window opened.
      EXPECT_LT(run.worker.result().submit_calls, run.ring.system_calls());
      EXPECT_GT(run.worker.result().submit_calls, run.ring.system_calls() / 2);
      EXPECT_LE(run.worker.result().wakeups, run.ring.wakeups());
      EXPECT_GT(run.worker.result().wakeups, 0U);
      EXPECT_EQ(run.worker.published().submit_calls.load(), run.worker.result().submit_calls);
      EXPECT_GT(run.worker.result().turns_taken(), 1500U);
    }
  }
}

TEST(Loop, ReachesAnyDepthWithAnyBatch) {
  for (const std::uint32_t depth : {1U, 2U, 3U, 5U, 33U, 100U, 127U, 129U, 1000U}) {
    for (const std::uint32_t submit : {1U, 2U, 7U, 32U, depth}) {
      for (const std::uint32_t complete : {1U, 5U, depth}) {
        LoopRun run({.depth = depth, .eager = false, .stop_after_calls = depth + 50},
                    std::min(submit, depth), std::min(complete, depth));
        run.run();
        expect_accounted(run);
        EXPECT_EQ(run.ring.most_in_flight, depth) << depth << ' ' << submit << ' ' << complete;
        EXPECT_LE(run.ring.largest_batch, std::min(submit, depth));
      }
    }
  }
}

/// Filling a deep queue of large reads takes longer than the first second: what has come back by
/// then must be seen, or the run shows nothing at all.
TEST(Loop, SeesCompletionsWhileTheQueueIsFilled) {
  LoopRun run({.depth = 1000, .stop_after_calls = 20}, 10, 10);
  run.run();
  expect_accounted(run);
  EXPECT_LT(run.ring.most_in_flight, 1000U);
  EXPECT_GT(run.worker.result().ios, 0U);
}

TEST(Loop, UsesEveryBufferOfADeepQueue) {
  LoopRun run({.depth = 100, .stop_after_calls = 2000}, 32, 32);
  run.run();
  EXPECT_EQ(run.ring.buffers_used.size(), 100U);
}

TEST(Loop, CompletionsWithinTheCallKeepTheHottestBuffers) {
  LoopRun run({.depth = 128, .complete_inline = true, .stop_after_calls = 500}, 32, 32);
  run.run();
  expect_accounted(run);
  EXPECT_EQ(run.ring.buffers_used.size(), 32U);
  EXPECT_EQ(run.worker.result().in_flight_max, 32U);
}

TEST(Loop, SpreadsOverTargetsEvenlyAlsoWhenTheyCompleteWithinTheCall) {
  for (const bool within : {false, true}) {
    LoopRun run({.depth = 16,
                 .target_blocks = {10, 1000, 1, 77, 5},
                 .complete_inline = within,
                 .stop_after_calls = 4000},
                8, 8);
    run.run();
    expect_accounted(run);
    std::uint64_t least = UINT64_MAX;
    std::uint64_t most = 0;
    ASSERT_EQ(run.ring.accepted_by_target.size(), 5U);
    for (const auto& [target, count] : run.ring.accepted_by_target) {
      least = std::min(least, count);
      most = std::max(most, count);
    }
    EXPECT_LE(most - least, 1U);
  }
}

TEST(Loop, ReadsTheLastBlockAndEveryOther) {
  LoopRun run({.depth = 4, .target_blocks = {7}, .stop_after_calls = 2000}, 2, 1);
  run.run();
  EXPECT_EQ(run.ring.blocks_read[0], (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Loop, ATargetOfOneBlockIsReadOverAndOver) {
  for (const bool random : {true, false}) {
    LoopRun run({.depth = 4, .target_blocks = {1}, .stop_after_calls = 200}, 2, 1, random);
    run.run();
    expect_accounted(run);
    EXPECT_EQ(run.ring.blocks_read[0], (std::set<std::uint64_t>{0}));
  }
}

TEST(Loop, SequentialReadsGoInOrderAndWrapRound) {
  LoopRun run({.depth = 6, .target_blocks = {5}, .stop_after_calls = 100}, 4, 2, false);
  run.run();
  for (std::size_t i = 0; i < run.ring.offsets.size(); ++i) {
    ASSERT_EQ(run.ring.offsets[i], (i % 5) * 4096);
  }
}

TEST(Loop, TheSameSeedReadsTheSameOffsets) {
  const auto offsets = [](std::uint64_t seed) {
    LoopRun run({.depth = 8, .target_blocks = {100000}, .reorder = false, .stop_after_calls = 300},
                4, 4);
    run.setup.seed = seed;
    run.run();
    return run.ring.offsets;
  };
  EXPECT_EQ(offsets(7), offsets(7));
  EXPECT_NE(offsets(7), offsets(8));
}

TEST(Loop, TriesAgainWhatTheKernelPutsOff) {
  LoopRun run({.depth = 32, .eagain = 0.3, .eintr = 0.1, .stop_after_calls = 3000}, 8, 4);
  run.run();
  expect_accounted(run);
  EXPECT_EQ(run.worker.result().errors, 0U);
  EXPECT_EQ(run.worker.result().short_reads, 0U);
  EXPECT_GT(run.worker.result().retries, 1000U);
  EXPECT_GT(run.worker.result().ios, 1000U);
}

TEST(Loop, CountsErrorsByNumberAndRemembersTheFirst) {
  LoopRun run({.depth = 32,
               .target_blocks = {50, 50},
               .eio = 0.2,
               .short_read = 0.1,
               .stop_after_calls = 3000},
              8, 8);
  run.run();
  expect_accounted(run);
  const ErrorTally errors = run.worker.errors();
  ASSERT_EQ(errors.by_errno.size(), 1U);
  EXPECT_EQ(errors.by_errno.begin()->first, EIO);
  EXPECT_GT(errors.count, 100U);
  EXPECT_GT(run.worker.result().short_reads, 100U);
  ASSERT_TRUE(errors.first);
  ASSERT_TRUE(errors.first_short_read);
  EXPECT_EQ(errors.first->error_number, EIO);
  EXPECT_LT(errors.first->target, 2U);
  EXPECT_LT(errors.first->offset_bytes, 50U * 4096);
}

TEST(Loop, NeverCompletedRequestsAreGivenUpAndCounted) {
  LoopRun run({.depth = 16, .never_after = 500, .stop_after_calls = 2000}, 4, 4);
  run.run();
  EXPECT_EQ(run.ring.failure, "");
  EXPECT_EQ(run.worker.never_completed(), 16U);
  EXPECT_EQ(run.worker.result().ios, 500U);
}

TEST(Loop, SurvivesRefusedAndPartialCalls) {
  LoopRun run({.depth = 24, .enter_refuses = 0.2, .partial_submit = 0.3, .stop_after_calls = 4000},
              8, 3);
  run.run();
  expect_accounted(run);
  EXPECT_EQ(run.ring.in_flight(), 0U);
  EXPECT_GE(run.worker.result().retries, 500U);
}

TEST(Loop, AFatalCallEndsTheRunWithItsNumber) {
  LoopRun run({.depth = 8, .complete_inline = true, .fatal_after_calls = 100}, 4, 4);
  run.run();
  expect_accounted(run);
  EXPECT_EQ(run.worker.fatal_errno(), EBADF);
  EXPECT_EQ(run.worker.result().ios, 99U * 4);
}

TEST(Loop, WarmUpIsNotCounted) {
  LoopRun run(
      {.depth = 8, .complete_inline = true, .stop_after_calls = 300, .measure_after_calls = 100}, 8,
      8);
  run.run();
  expect_accounted(run);
  // The window opens after the reap of call 100 and closes after that of call 300.
  EXPECT_EQ(run.worker.result().ios, 200U * 8);
  EXPECT_EQ(run.worker.result().submit_calls, 200U);
}

TEST(Loop, ErrorsOfTheWarmUpAreKeptApart) {
  LoopRun run({.depth = 8, .eio = 1.0, .stop_after_calls = 300, .measure_after_calls = 250}, 8, 8);
  run.run();
  EXPECT_EQ(run.worker.errors().count, run.worker.result().errors);
  EXPECT_GT(run.worker.warmup_errors(), 1000U);
  EXPECT_LT(run.worker.result().errors, 1000U);
}

TEST(Loop, StopBeforeTheWindowMeasuresNothing) {
  LoopRun run({.depth = 8, .stop_after_calls = 50, .measure_after_calls = 1000}, 8, 8);
  run.run();
  EXPECT_EQ(run.worker.result().ios, 0U);
  EXPECT_EQ(run.worker.published().ios.load(), 0U);
  EXPECT_EQ(run.worker.window().begin_ns, run.worker.window().end_ns);
}

TEST(Loop, StopsAtAnyMomentWithNothingLeftOut) {
  for (std::uint64_t stop = 1; stop < 200; ++stop) {
    LoopRun run(
        {.depth = 13, .eagain = 0.1, .partial_submit = 0.1, .stop_after_calls = stop, .seed = stop},
        5, 3);
    run.run();
    expect_accounted(run);
    ASSERT_EQ(run.ring.in_flight(), 0U) << "stopped at call " << stop;
    ASSERT_EQ(run.worker.never_completed(), 0U);
  }
}

TEST(Loop, RingPositionsMayWrapRound) {
  LoopRun run({.depth = 32, .stop_after_calls = 1000, .index_begin = UINT32_MAX - 100}, 8, 8);
  run.run();
  expect_accounted(run);
  EXPECT_GT(run.worker.result().ios, 1000U);
}

/// Little's law holds exactly when both sides come from the same stamps: the latencies of all
/// completed requests, plus the age of those in flight, are the area under the in-flight curve.
TEST(Loop, LatenciesSumUpToTheTimeInFlight) {
  for (const auto& [submit, complete] : {std::pair{16U, 1U}, {16U, 16U}, {1U, 1U}, {1U, 16U}}) {
    StepClock::now = 0;
    LoopRun run({.depth = 16, .stop_after_calls = 20'000}, submit, complete);
    run.run<StepClock>();
    expect_accounted(run);
    const double latency_sum =
        run.worker.latency_ticks().mean() * static_cast<double>(run.worker.latency_ticks().count());
    const auto area = static_cast<double>(run.worker.result().in_flight_ticks);
    EXPECT_EQ(run.worker.latency_ticks().count(), run.worker.result().ios);
    EXPECT_NEAR(latency_sum / area, 1.0, 0.01) << submit << ' ' << complete;
  }
}

/// The fault this guards against: stamps kept per batch are overwritten while requests of an older
/// batch are still out, and a request that waited for long seems quick.
TEST(Loop, ARequestThatWaitsLongIsSeenToWaitLong) {
  StepClock::now = 0;
  LoopRun run({.depth = 16, .reorder = false, .stop_after_calls = 1000}, 16, 1);
  run.run<StepClock>();
  // In order, one or more at a time: nearly every request waits for the fifteen before it.
  EXPECT_GT(run.worker.latency_ticks().percentile(0.5), 3U);
  EXPECT_LE(run.worker.latency_ticks().max(), 40U);
}

}  // namespace
}  // namespace uringbench::engine::testing
