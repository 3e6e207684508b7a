// What holds for every plan that is made, and that every refusal names a reason.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace uringbench::plan {
namespace {

struct Case {
  Options options;
  std::vector<TargetShape> targets;
  Limits limits;
};

TargetShape any_target(std::size_t index, std::uint64_t block_size_bytes) {
  TargetShape target;
  target.path = "target" + std::to_string(index);
  const auto blocks = *rc::gen::inRange<std::uint64_t>(0, 50);
  target.size_bytes = (blocks == 0 ? 0 : blocks + 1) * block_size_bytes +
                      *rc::gen::inRange<std::uint64_t>(0, block_size_bytes);
  target.alignment_bytes = *rc::gen::element(1U, 512U, 4096U);
  target.can_poll = *rc::gen::element<std::optional<bool>>(true, true, false, std::nullopt);
  return target;
}

/// Mostly sensible, so that about half of the cases end in a plan.
Case any_case() {
  Case drawn;
  Options& options = drawn.options;
  options.depth = *rc::gen::element<std::int64_t>(1, 3, 8, 100, 128, 1000, 4096, 32768);
  options.batch_submit = *rc::gen::inRange<std::int64_t>(1, 300);
  options.batch_complete = *rc::gen::inRange<std::int64_t>(0, 300);
  options.block_size_bytes =
      *rc::gen::element<std::uint64_t>(512, 3000, 4096, 8192, 1048576, 3145728, kMaxBlockBytes);
  options.threads = *rc::gen::inRange<std::int64_t>(1, 13);
  options.polled = *rc::gen::element(PolledWish::automatic, PolledWish::off, PolledWish::on);
  options.fixed_buffers = *rc::gen::arbitrary<bool>();
  options.direct = *rc::gen::arbitrary<bool>();
  options.nop = *rc::gen::inRange(0, 4) == 0;
  options.sync = *rc::gen::inRange(0, 4) == 0;
  options.vectored = *rc::gen::arbitrary<bool>();
  options.random = *rc::gen::arbitrary<bool>();
  const auto cpus = *rc::gen::inRange(0, 4);
  for (int cpu = 0; cpu < cpus; cpu++) options.cpus.push_back(cpu);
  drawn.limits.allowed_cpus = {0, 1, 2, 3};
  const auto count = *rc::gen::inRange<std::size_t>(options.nop ? 0 : 1, 13);
  for (std::size_t index = 0; index < count; index++) {
    drawn.targets.push_back(any_target(index, options.block_size_bytes));
    options.files.push_back(drawn.targets.back().path);
  }
  return drawn;
}

/// Nothing when the case is refused; the refusal itself is checked on the way.
std::optional<RunPlan> plan_of(const Case& drawn) {
  try {
    return make_plan(drawn.options, drawn.targets, drawn.limits, 1);
  } catch (const base::UserError& error) {
    std::set<std::string> said;
    for (const base::Problem& problem : error.problems()) {
      RC_ASSERT(problem.code == base::ExitCode::usage || problem.code == base::ExitCode::cannot);
      RC_ASSERT(!problem.what.empty());
      RC_ASSERT(!problem.hint.empty());
      RC_ASSERT(said.insert(problem.what).second);
    }
    return std::nullopt;
  }
}

template <typename Check>
bool for_all_plans(Check&& holds) {
  return rc::check([&] {
    const Case drawn = any_case();
    const auto plan = plan_of(drawn);
    RC_CLASSIFY(plan.has_value(), "planned");
    if (plan) holds(drawn, *plan);
  });
}

TEST(PlanProperty, BatchesFitIntoDepth) {
  ASSERT_TRUE(for_all_plans([](const Case& drawn, const RunPlan& plan) {
    RC_ASSERT(plan.depth >= 1U && plan.depth <= kMaxDepth);
    RC_ASSERT(plan.batch_submit >= 1U && plan.batch_submit <= plan.depth);
    RC_ASSERT(plan.batch_complete >= 1U && plan.batch_complete <= plan.depth);
    if (!drawn.options.sync) {
      RC_ASSERT(plan.depth == drawn.options.depth);
      RC_ASSERT(plan.batch_submit == std::min(drawn.options.batch_submit, drawn.options.depth));
    }
  }));
}

TEST(PlanProperty, EveryTargetIsReadByAnEvenShareOfThreads) {
  ASSERT_TRUE(for_all_plans([](const Case& drawn, const RunPlan& plan) {
    RC_ASSERT(plan.threads.size() == static_cast<std::size_t>(drawn.options.threads));
    RC_ASSERT(plan.targets.size() == drawn.targets.size());
    // A thread spreads its requests over its targets, so that it gives each one part in k. Twelve
    // and what divides it make 27720ths exact.
    std::vector<std::size_t> shares(plan.targets.size(), 0);
    for (const ThreadPlan& thread : plan.threads) {
      RC_ASSERT(thread.targets.empty() == plan.targets.empty());
      RC_ASSERT(std::set(thread.targets.begin(), thread.targets.end()).size() ==
                thread.targets.size());
      for (const std::uint32_t target : thread.targets) {
        RC_ASSERT(target < plan.targets.size());
        shares[target] += 27720 / thread.targets.size();
      }
    }
    for (const std::size_t share : shares) RC_ASSERT(share == shares[0]);
    if (!shares.empty()) RC_ASSERT(shares[0] > 0U);
  }));
}

TEST(PlanProperty, RegionsHoldAllSlotsAndStayWithinTheKernelsLimit) {
  ASSERT_TRUE(for_all_plans([](const Case& drawn, const RunPlan& plan) {
    const std::uint64_t slot = plan.slot_stride_bytes;
    RC_ASSERT(slot >= plan.block_size_bytes);
    // Every slot begins where its target can read into, and no two share a cache line needlessly.
    if (!plan.direct) RC_ASSERT(slot % 64 == 0U);
    for (const TargetShape& target : drawn.targets) {
      if (plan.direct && !plan.nop) RC_ASSERT(slot % target.alignment_bytes == 0U);
    }
    const bool bare_nop = plan.nop && !plan.nop_with_file;
    RC_ASSERT(plan.buffer_bytes_per_thread == (bare_nop ? 0 : slot * plan.depth));
    RC_ASSERT(plan.slots_per_region >= 1U && plan.slots_per_region <= plan.depth);
    if (plan.fixed_buffers) {
      RC_ASSERT(plan.slots_per_region * slot <= kMaxRegisteredRegionBytes);
      const std::uint64_t regions = (plan.depth - 1) / plan.slots_per_region + 1;
      RC_ASSERT(regions <= kMaxRegisteredRegions);
      RC_ASSERT(plan.slots_per_region * regions >= plan.depth);
      const bool one_more_fits = (plan.slots_per_region + 1) * slot <= kMaxRegisteredRegionBytes;
      RC_ASSERT(plan.slots_per_region == plan.depth || !one_more_fits);
    }
  }));
}

TEST(PlanProperty, OffsetsStayInsideTheTarget) {
  ASSERT_TRUE(for_all_plans([](const Case& drawn, const RunPlan& plan) {
    for (std::size_t index = 0; index < plan.targets.size(); index++) {
      const TargetPlan& target = plan.targets[index];
      RC_ASSERT(target.path == drawn.targets[index].path);
      RC_ASSERT(target.blocks >= 1U);
      if (plan.nop) continue;
      const std::uint64_t size = drawn.targets[index].size_bytes;
      RC_ASSERT(target.blocks * plan.block_size_bytes <= size);
      RC_ASSERT(size - target.blocks * plan.block_size_bytes < plan.block_size_bytes);
      if (plan.direct) {
        RC_ASSERT(plan.block_size_bytes % drawn.targets[index].alignment_bytes == 0U);
      }
    }
  }));
}

TEST(PlanProperty, NothingContradictsItself) {
  ASSERT_TRUE(for_all_plans([](const Case& drawn, const RunPlan& plan) {
    RC_ASSERT(!(plan.nop && plan.engine == Engine::sync));
    if (plan.vectored && plan.fixed_buffers) {
      RC_ASSERT(drawn.options.was_given("fixed-buffers"));
    }
    RC_ASSERT(!(plan.nop_with_file && !plan.nop));
    if (plan.polled && !plan.nop) {
      RC_ASSERT(plan.direct && plan.engine == Engine::io_uring);
      for (const TargetShape& target : drawn.targets) RC_ASSERT(target.can_poll != false);
    }
    // A demand is met or refused; only "automatic" may come out either way.
    if (drawn.options.polled == PolledWish::on) RC_ASSERT(plan.polled);
    if (drawn.options.polled == PolledWish::off) RC_ASSERT(!plan.polled);
    if (plan.engine == Engine::sync) {
      RC_ASSERT(plan.depth == 1U && !plan.fixed_buffers && !plan.register_files);
    }
    for (std::size_t index = 0; index < plan.threads.size(); index++) {
      const auto& cpus = drawn.options.cpus;
      RC_ASSERT(plan.threads[index].cpu == (cpus.empty() ? -1 : cpus[index % cpus.size()]));
    }
  }));
}

TEST(PlanProperty, IsDeterministicAndItsIdTellsSettingsApart) {
  ASSERT_TRUE(for_all_plans([](const Case& drawn, const RunPlan& plan) {
    const auto again = plan_of(drawn);
    RC_ASSERT(again.has_value());
    RC_ASSERT(cell_id(*again) == cell_id(plan));
    RC_ASSERT(again->notes == plan.notes);
    std::set<std::string> ids{cell_id(plan)};
    const auto changed = [&](auto&& change) {
      RunPlan other = plan;
      change(other);
      return ids.insert(cell_id(other)).second;
    };
    RC_ASSERT(changed([](RunPlan& other) { other.depth++; }));
    RC_ASSERT(changed([](RunPlan& other) { other.batch_submit++; }));
    RC_ASSERT(changed([](RunPlan& other) { other.batch_complete++; }));
    RC_ASSERT(changed([](RunPlan& other) { other.block_size_bytes++; }));
    RC_ASSERT(changed([](RunPlan& other) { other.threads.push_back(other.threads[0]); }));
    RC_ASSERT(changed([](RunPlan& other) { other.polled = !other.polled; }));
    RC_ASSERT(changed([](RunPlan& other) { other.direct = !other.direct; }));
    RC_ASSERT(changed([](RunPlan& other) { other.fixed_buffers = !other.fixed_buffers; }));
    RC_ASSERT(changed([](RunPlan& other) { other.register_files = !other.register_files; }));
    RC_ASSERT(changed([](RunPlan& other) { other.register_ring = !other.register_ring; }));
    RC_ASSERT(changed([](RunPlan& other) { other.vectored = !other.vectored; }));
    RC_ASSERT(changed([](RunPlan& other) { other.latency = !other.latency; }));
    RC_ASSERT(changed([](RunPlan& other) { other.nop = !other.nop; }));
    RC_ASSERT(changed([](RunPlan& other) { other.threads[0].cpu = 77; }));
    if (!plan.nop) RC_ASSERT(changed([](RunPlan& other) { other.random = !other.random; }));
  }));
}

}  // namespace
}  // namespace uringbench::plan
