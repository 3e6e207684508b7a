// Random workloads over a random kernel: the loop's invariants hold for all of them.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "../loop/fake_ring.hpp"

namespace uringbench::engine::testing {
namespace {

TEST(LoopProperty, InvariantsHoldWhateverTheKernelDoes) {
  ASSERT_TRUE(rc::check("no slot twice, no offset outside, depth kept, all accounted for", [] {
    Behaviour behaviour;
    behaviour.depth = *rc::gen::inRange<std::uint32_t>(1, 200);
    behaviour.block_size_bytes = *rc::gen::element<std::uint64_t>(512, 4096, 3000, 1 << 20);
    const auto target_count = *rc::gen::inRange<std::size_t>(1, 6);
    behaviour.target_blocks.clear();
    for (std::size_t i = 0; i < target_count; ++i) {
      behaviour.target_blocks.push_back(*rc::gen::inRange<std::uint64_t>(1, 1 << 20));
    }
    behaviour.reorder = *rc::gen::arbitrary<bool>();
    behaviour.complete_inline = *rc::gen::arbitrary<bool>();
    const auto share = [] { return *rc::gen::element(0.0, 0.0, 0.05, 0.5); };
    behaviour.eagain = share();
    behaviour.eintr = share();
    behaviour.eio = share();
    behaviour.short_read = share();
    behaviour.enter_refuses = share();
    behaviour.partial_submit = share();
    behaviour.stop_after_calls = *rc::gen::inRange<std::uint64_t>(1, 400);
    behaviour.index_begin = *rc::gen::arbitrary<std::uint32_t>();
    behaviour.seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto submit = *rc::gen::inRange<std::uint32_t>(1, behaviour.depth + 1);
    const auto complete = *rc::gen::inRange<std::uint32_t>(1, behaviour.depth + 1);
    LoopRun run(behaviour, submit, complete, *rc::gen::arbitrary<bool>());
    run.run<StepClock>();

    RC_ASSERT(run.ring.failure == "");
    RC_ASSERT(run.ring.most_in_flight <= behaviour.depth);
    RC_ASSERT(run.ring.largest_batch <= submit);
    RC_ASSERT(run.ring.in_flight() == 0U);
    const Tally& tally = run.worker.result();
    RC_ASSERT(tally.ios + tally.errors + tally.short_reads + tally.retries ==
              tally.completions + run.ring.refusals);
    RC_ASSERT(tally.ios <= run.ring.completed_good);
    RC_ASSERT(run.worker.latency_ticks().count() == tally.ios);
  }));
}

}  // namespace
}  // namespace uringbench::engine::testing
