// Plan + facts + measurement into the result document. Copying and naming, no arithmetic.
#pragma once

#include <vector>

#include "engine/engine.hpp"
#include "machine/machine.hpp"
#include "plan/plan.hpp"
#include "report/report.hpp"
#include "result/result.hpp"

namespace uringbench::command {

result::Identity to_result(const machine::Identity& identity);
result::Weather to_result(const machine::Weather& weather);
result::Target to_result(const machine::TargetFacts& facts, bool with_serials);
result::Finding to_result(const machine::Finding& finding);
/// "io_uring", "preadv2", "aio".
const char* engine_name(plan::Engine engine);
result::Settings asked_settings(const plan::Options& options);
/// What is known of the grant before a ring stands: the plan's effective values.
result::Settings planned_settings(const plan::RunPlan& plan);
result::Settings granted_settings(const plan::RunPlan& plan, const engine::Granted& granted);
result::Run to_result(const engine::Measurement& measurement, const plan::RunPlan& plan,
                      std::uint32_t index);

report::Header to_header(const plan::RunPlan& plan, const engine::Granted& granted,
                         const std::vector<std::int64_t>& thread_ids,
                         const std::vector<machine::TargetFacts>& targets);
report::Rate to_rate(const engine::Interval& interval, const plan::RunPlan& plan);

}  // namespace uringbench::command
