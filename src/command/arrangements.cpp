#include "command/arrangements.hpp"

#include "engine/engine.hpp"

namespace uringbench::command {

StatsOff settle_sqthread_stats(const plan::RunPlan& plan) {
  const auto verdict = engine::decide_sqthread_stats(
      engine::probe_sqthread_stats(static_cast<unsigned>(plan.sqthread_stats_bit)));
  switch (verdict.state) {
    case engine::SqthreadStats::off_verified:
      return {"off-verified", {"info", "sqthread-stats-off", verdict.explanation, verdict.hint}};
    case engine::SqthreadStats::accepted_but_not_off:
      if (plan.force) {
        return {"accepted-but-not-off",
                {"warning", "sqthread-stats-not-off", verdict.explanation, verdict.hint}};
      }
      throw base::UserError(base::ExitCode::cannot, "--no-sqthread-stats: " + verdict.explanation,
                            verdict.hint + "; --force runs all the same, and flags the result");
    case engine::SqthreadStats::refused:
      break;
  }
  throw base::UserError(base::ExitCode::cannot, "--no-sqthread-stats: " + verdict.explanation,
                        verdict.hint);
}

namespace {

/// Calls `note` for each target and each change of its disk's queue.
template <class Note>
void for_each_change(const machine::QueueSettings& queues, result::Document& document, Note note) {
  for (auto& target : document.targets) {
    for (const auto& change : queues.changes()) {
      if (target.device && target.device->name == change.disk) note(target, change);
    }
  }
}

}  // namespace

void note_changed(const machine::QueueSettings& queues, result::Document& document) {
  for_each_change(queues, document, [](result::Target& target, const auto& change) {
    target.queue[change.key] = change.after;
  });
}

void note_restored(const machine::QueueSettings& queues, result::Document& document) {
  for_each_change(queues, document, [](result::Target& target, const auto& change) {
    target.queue_restored[change.key] = change.before;
  });
}

}  // namespace uringbench::command
