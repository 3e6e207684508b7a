// The buffers: how large, how they lie, and in which kind of memory.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "plan/rules.hpp"
#include "plan/settle.hpp"

namespace uringbench::plan {

namespace {

void settle_huge_pages(const Options& options, const Limits& limits, RunPlan& plan) {
  if (options.hugetlb.empty()) return;
  if (plan.nop && !plan.nop_with_file) {
    plan.notes.push_back(
        fmt::format("--hugetlb {} has no effect with -N1 without a FILE: there are no buffers",
                    options.hugetlb));
  } else if (options.hugetlb == "anon") {
    plan.huge_pages = HugePages::anonymous;
    plan.huge_page_bytes = limits.huge_page_bytes;
  } else {
    plan.huge_pages = HugePages::file;
    plan.hugetlb_path = options.hugetlb;
    plan.huge_page_bytes = limits.huge_file ? limits.huge_file->page_bytes : 0;
  }
}

/// Passthrough wants regions of few buffers, best one each. Of a large region, kernels before 6.12
/// hold all pages from the buffer on against the drive's limit of segments and answer EINVAL, and
/// kernels before 6.16 lose time with them. Regions begin at pages, so that none is locked twice.
std::uint64_t slots_for_passthrough(const RunPlan& plan, std::uint64_t page_bytes) {
  const std::uint64_t from_page_to_page = page_bytes / std::gcd(page_bytes, plan.slot_stride_bytes);
  const std::uint64_t regions_allow =
      rules::round_up(plan.depth, kMaxRegisteredRegions) / kMaxRegisteredRegions;
  return rules::round_up(regions_allow, from_page_to_page);
}

}  // namespace

void settle_memory(const Options& options, const Limits& limits, RunPlan& plan) {
  settle_huge_pages(options, limits, plan);
  const std::uint64_t bytes = rules::slot_bytes(plan.block_size_bytes, plan.direct);
  plan.slot_stride_bytes = bytes;
  const std::uint64_t fitting = std::max<std::uint64_t>(1, kMaxRegisteredRegionBytes / bytes);
  const std::uint64_t wanted =
      plan.passthrough ? slots_for_passthrough(plan, limits.page_bytes) : plan.depth;
  plan.slots_per_region =
      static_cast<std::uint32_t>(std::min<std::uint64_t>({wanted, fitting, plan.depth}));
  if (plan.nop && !plan.nop_with_file) return;
  plan.buffer_bytes_per_thread =
      rules::round_up(plan.depth * bytes, std::max<std::uint64_t>(1, plan.huge_page_bytes));
}

}  // namespace uringbench::plan
