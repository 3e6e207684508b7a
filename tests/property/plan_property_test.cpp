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

bool one_in(int cases) { return *rc::gen::inRange(0, cases) == 0; }

/// What most targets of a case are like: with a dozen that differ, nothing would ever go.
TargetShape any_kind(bool passthrough) {
  TargetShape kind;
  kind.alignment_bytes = *rc::gen::element(1U, 512U, 512U, 4096U);
  kind.can_poll = *rc::gen::element<std::optional<bool>>(true, true, false, std::nullopt);
  kind.is_block = *rc::gen::arbitrary<bool>();
  if (passthrough) {
    kind.is_nvme_generic = true;
    kind.is_block = false;
    kind.namespace_id = 1;
    kind.lba_bytes = kind.alignment_bytes = *rc::gen::element(512U, 512U, 512U, 4096U, 520U);
  }
  return kind;
}

TargetShape any_target(const TargetShape& kind, std::size_t index, std::uint64_t block_bytes) {
  TargetShape target = one_in(32) ? any_kind(kind.is_nvme_generic) : kind;
  target.path = "target" + std::to_string(index);
  const auto blocks = *rc::gen::inRange<std::uint64_t>(0, 100);
  target.size_bytes = (blocks == 0 ? 0 : blocks + 1) * block_bytes +
                      *rc::gen::inRange<std::uint64_t>(0, block_bytes);
  if (target.is_nvme_generic) {
    target.size_bytes = target.size_bytes / target.lba_bytes * target.lba_bytes;
  }
  if (target.is_block || target.is_nvme_generic) target.disk = "disk" + std::to_string(index % 3);
  target.node = *rc::gen::inRange(-1, 2);
  if (target.node >= 0) target.local_cpus = {2 * target.node, 2 * target.node + 1};
  return target;
}

/// Each now and then, and seldom where there is no ring.
void draw_ring_flags(Options& options) {
  if ((options.sync || options.aio) && !one_in(8)) return;
  options.nop = one_in(5);
  options.passthrough = !options.nop && one_in(4);
  options.restrict_ring = one_in(4);
  options.sqpoll = one_in(3);
  options.sqpoll_share = (options.sqpoll || one_in(32)) && *rc::gen::arbitrary<bool>();
  if (options.sqpoll) {
    options.sqpoll_cpu = *rc::gen::element<std::optional<std::int64_t>>(std::nullopt, 0, 3, 4);
    options.sqpoll_idle_ms = *rc::gen::element<std::int64_t>(0, 1, UINT32_MAX);
  }
  options.no_sqthread_stats = one_in(4);
  options.hybrid_iopoll = options.polled == PolledWish::on && one_in(2);
  if (one_in(4)) {
    options.taskrun = *rc::gen::element(TaskRun::defer, TaskRun::coop, TaskRun::plain);
  }
}

void draw_places(Options& options, Limits& limits) {
  options.threads = *rc::gen::inRange<std::int64_t>(1, 13);
  options.threads_auto = one_in(4);
  options.numa = one_in(4);
  options.cpu_place = *rc::gen::element(CpuPlace::listed, CpuPlace::listed, CpuPlace::listed,
                                        CpuPlace::local_core, CpuPlace::local_node);
  const auto cpus = options.cpu_place == CpuPlace::listed ? *rc::gen::inRange(0, 4) : 0;
  for (int cpu = 0; cpu < cpus; cpu++) options.cpus.push_back(cpu);
  limits.allowed_cpus = {0, 1, 2, 3};
  if (one_in(8)) limits.allowed_cpus = {0, 1};
  if (*rc::gen::arbitrary<bool>()) limits.cores = {{0, 2}, {1, 3}};
  limits.node_cpus = {{0, {0, 1}}, {1, {2, 3}}};
}

void draw_memory(Options& options, Limits& limits) {
  limits.aio_requests_free = 65536;
  limits.huge_page_bytes = UINT64_C(2) << 20;
  limits.huge_pages_free = 4096;
  limits.huge_file = Limits::HugeFile{UINT64_C(1) << 30, UINT64_C(16) << 30, 0};
  options.hugetlb = *rc::gen::element<std::string>("", "", "", "anon", "/huge/f");
}

/// Mostly sensible, so that about half of the cases end in a plan.
Case any_case() {
  Case drawn;
  Options& options = drawn.options;
  options.depth = *rc::gen::element<std::int64_t>(1, 3, 8, 100, 128, 1000, 4096, 32768);
  options.batch_submit = *rc::gen::inRange<std::int64_t>(1, 300);
  options.batch_complete = *rc::gen::inRange<std::int64_t>(0, 300);
  options.block_size_bytes = *rc::gen::element<std::uint64_t>(512, 3000, 4096, 4096, 8192, 65536,
                                                              1048576, 3145728, kMaxBlockBytes);
  options.polled = *rc::gen::element(PolledWish::automatic, PolledWish::automatic, PolledWish::off,
                                     PolledWish::on);
  options.fixed_buffers = *rc::gen::arbitrary<bool>();
  options.direct = !one_in(4);
  options.sync = one_in(6);
  options.aio = !options.sync && one_in(6);
  options.vectored = *rc::gen::arbitrary<bool>();
  options.random = *rc::gen::arbitrary<bool>();
  draw_ring_flags(options);
  draw_places(options, drawn.limits);
  draw_memory(options, drawn.limits);
  const TargetShape kind = any_kind(options.passthrough);
  if (kind.is_block && one_in(3)) options.queue = {{"iostats", "0"}};
  const auto count = *rc::gen::inRange<std::size_t>(options.nop ? 0 : 1, 13);
  for (std::size_t index = 0; index < count; index++) {
    drawn.targets.push_back(any_target(kind, index, options.block_size_bytes));
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
    if (!drawn.options.threads_auto) {
      RC_ASSERT(plan.threads.size() == static_cast<std::size_t>(drawn.options.threads));
    } else {
      RC_ASSERT(plan.threads.size() >= std::max<std::size_t>(1, plan.targets.size()));
    }
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
    const std::uint64_t page = std::max<std::uint64_t>(1, plan.huge_page_bytes);
    const std::uint64_t needed = bare_nop ? 0 : slot * plan.depth;
    RC_ASSERT(plan.buffer_bytes_per_thread % page == 0U);
    RC_ASSERT(plan.buffer_bytes_per_thread >= needed);
    RC_ASSERT(plan.buffer_bytes_per_thread - needed < page);
    RC_ASSERT((plan.huge_pages == HugePages::none) == (plan.huge_page_bytes == 0));
    RC_ASSERT((plan.huge_pages == HugePages::file) == !plan.hugetlb_path.empty());
    RC_ASSERT(plan.slots_per_region >= 1U && plan.slots_per_region <= plan.depth);
    if (plan.fixed_buffers) {
      RC_ASSERT(plan.slots_per_region * slot <= kMaxRegisteredRegionBytes);
      const std::uint64_t regions = (plan.depth - 1) / plan.slots_per_region + 1;
      RC_ASSERT(regions <= kMaxRegisteredRegions);
      RC_ASSERT(plan.slots_per_region * regions >= plan.depth);
      const bool one_more_fits = (plan.slots_per_region + 1) * slot <= kMaxRegisteredRegionBytes;
      RC_ASSERT(plan.slots_per_region == plan.depth || !one_more_fits || plan.passthrough);
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
      if (!plan.passthrough) continue;
      RC_ASSERT(std::uint64_t{1} << target.lba_shift == drawn.targets[index].lba_bytes);
      const std::uint64_t lbas = plan.block_size_bytes >> target.lba_shift;
      RC_ASSERT(lbas >= 1U && lbas <= 65536U);
      const std::uint64_t last = (target.blocks - 1) * plan.block_size_bytes >> target.lba_shift;
      RC_ASSERT(last + lbas <= size >> target.lba_shift);
    }
  }));
}

TEST(PlanProperty, NothingContradictsItself) {
  ASSERT_TRUE(for_all_plans([](const Case& drawn, const RunPlan& plan) {
    RC_ASSERT(!plan.nop || (plan.engine == Engine::io_uring && !plan.passthrough));
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
  }));
}

TEST(PlanProperty, ThreadsRunWhereTheyMay) {
  ASSERT_TRUE(for_all_plans([](const Case& drawn, const RunPlan& plan) {
    const auto may_run_on = [&](int cpu) {
      const auto& allowed = drawn.limits.allowed_cpus;
      return std::find(allowed.begin(), allowed.end(), cpu) != allowed.end();
    };
    const auto& listed = drawn.options.cpus;
    for (std::size_t index = 0; index < plan.threads.size(); index++) {
      const ThreadPlan& thread = plan.threads[index];
      if (drawn.options.cpu_place == CpuPlace::listed) {
        RC_ASSERT(thread.cpu == (listed.empty() ? -1 : listed[index % listed.size()]));
      } else {
        RC_ASSERT(may_run_on(thread.cpu));
      }
      if (!drawn.options.numa) RC_ASSERT(thread.node == -1);
      if (thread.node < 0 || thread.cpu >= 0) continue;
      const auto& near = drawn.limits.node_cpus.at(thread.node);
      RC_ASSERT(std::any_of(near.begin(), near.end(), may_run_on));
    }
    if (plan.sqpoll_cpu >= 0) RC_ASSERT(may_run_on(plan.sqpoll_cpu));
  }));
}

TEST(PlanProperty, ARingIsSetUpWithWhatTheKernelTakesTogether) {
  ASSERT_TRUE(for_all_plans([](const Case& drawn, const RunPlan& plan) {
    if (plan.engine != Engine::io_uring) {
      RC_ASSERT(!plan.restricted && !plan.sqpoll && !plan.hybrid_iopoll && !plan.passthrough);
      RC_ASSERT(!plan.register_ring && !plan.register_files && !plan.fixed_buffers);
      RC_ASSERT(plan.sqthread_stats_bit == -1 && !plan.taskrun_asked);
    }
    // A demand is met or refused.
    RC_ASSERT(plan.restricted == drawn.options.restrict_ring);
    RC_ASSERT(plan.sqpoll == drawn.options.sqpoll);
    RC_ASSERT(plan.hybrid_iopoll == drawn.options.hybrid_iopoll);
    RC_ASSERT(plan.taskrun_asked == drawn.options.taskrun.has_value());
    if (plan.taskrun_asked) RC_ASSERT(plan.taskrun == drawn.options.taskrun);
    if (plan.sqpoll) RC_ASSERT(plan.taskrun == TaskRun::plain);
    if (plan.hybrid_iopoll) RC_ASSERT(plan.polled);
    RC_ASSERT(plan.sqpoll_share <= (plan.sqpoll && plan.threads.size() > 1));
    RC_ASSERT(plan.sqpoll_idle_ms == 0U || plan.sqpoll);
    const std::set<std::string> disks(plan.queue_disks.begin(), plan.queue_disks.end());
    RC_ASSERT(disks.size() == plan.queue_disks.size());
    RC_ASSERT(plan.queue.empty() == plan.queue_disks.empty());
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
    RC_ASSERT(changed([](RunPlan& other) { other.passthrough = !other.passthrough; }));
    RC_ASSERT(changed([](RunPlan& other) { other.restricted = !other.restricted; }));
    RC_ASSERT(changed([](RunPlan& other) { other.hybrid_iopoll = !other.hybrid_iopoll; }));
    RC_ASSERT(changed([](RunPlan& other) { other.taskrun_asked = !other.taskrun_asked; }));
    RC_ASSERT(changed([](RunPlan& other) { other.sqpoll = !other.sqpoll; }));
    RC_ASSERT(changed([](RunPlan& other) { other.sqpoll_cpu = 78; }));
    RC_ASSERT(changed([](RunPlan& other) { other.sqpoll_idle_ms--; }));
    RC_ASSERT(changed([](RunPlan& other) { other.sqpoll_share = !other.sqpoll_share; }));
    RC_ASSERT(changed([](RunPlan& other) { other.queue.push_back({"nomerges", "2"}); }));
    RC_ASSERT(changed(
        [](RunPlan& other) { other.sqthread_stats_bit = other.sqthread_stats_bit < 0 ? 19 : -1; }));
    RC_ASSERT(changed([](RunPlan& other) {
      other.huge_pages = other.huge_pages == HugePages::file ? HugePages::none : HugePages::file;
    }));
    const bool on_nodes = std::any_of(plan.threads.begin(), plan.threads.end(),
                                      [](const ThreadPlan& thread) { return thread.node >= 0; });
    RC_ASSERT(changed([=](RunPlan& other) {
      for (ThreadPlan& thread : other.threads) thread.node = on_nodes ? -1 : 0;
    }));
    RC_ASSERT(changed([](RunPlan& other) {
      other.engine = other.engine == Engine::aio ? Engine::sync : Engine::aio;
    }));
    RC_ASSERT(changed([](RunPlan& other) { other.threads[0].cpu = 77; }));
    if (!plan.nop) RC_ASSERT(changed([](RunPlan& other) { other.random = !other.random; }));
  }));
}

}  // namespace
}  // namespace uringbench::plan
