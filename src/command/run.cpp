#include "command/run.hpp"

#include <signal.h>
#include <sys/random.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "command/arrangements.hpp"
#include "command/signals.hpp"
#include "command/targets.hpp"
#include "command/translate.hpp"
#include "command/version.hpp"
#include "engine/engine.hpp"
#include "machine/machine.hpp"
#include "report/report.hpp"
#include "result/result.hpp"

namespace uringbench::command {
namespace {

using base::ExitCode;

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed)) {
    throw base::SystemError("getrandom", "seed", errno, "give one: --seed N");
  }
  // 48 bits are plenty, and stay exact in JSON readers that know only doubles.
  return seed >> 16;
}

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// True of most machines of their kind: named in the summary and kept in the document, but not
/// worth a line before every run.
bool is_background(const std::string& finding_code) {
  return finding_code == "iostats" || finding_code == "rotational" ||
         finding_code == "virtual-machine";
}

std::string whole_seconds(double seconds) {
  return seconds < 1 ? "0 s" : base::format_duration(seconds * 1e9);
}

/// The conductor: everything of one invocation, in the order it happens.
class Conductor : public engine::Observer {
 public:
  Conductor(const plan::Options& options, const std::vector<std::string>& argv, Console& console)
      : options_(options), console_(console), begin_ns_(monotonic_ns()) {
    document_.session.argv = argv;
  }

  int conduct() {
    check_clock_rate();
    result::check_writable(options_.json_path.empty() ? "-" : options_.json_path);
    limits_ = machine::read_limits();
    plan::check_usage(options_, limits_);
    if (!options_.hugetlb.empty() && options_.hugetlb != "anon") {
      limits_.huge_file = machine::read_huge_file(options_.hugetlb);
    }
    targets_ = look_at_targets(options_);
    keep_from_the_document(targets_, options_.json_path);
    plan_ =
        plan::make_plan(options_, targets_.shapes, limits_, options_.seed.value_or(random_seed()));
    machine::QueueSettings::check(plan_->queue_disks, plan_->queue);
    check_sqthread_stats();
    describe();
    say_notes_and_findings();
    if (options_.dry_run) {
      console_.text(report::dry_run(document_));
      return console_.failed() ? static_cast<int>(ExitCode::internal) : 0;
    }
    change_queues();
    if (options_.scratch && !fill_scratch()) return 128 + signals::received();
    measure_all();
    return finish();
  }

  /// A thread hangs in the kernel: the process must end without waiting for it.
  bool stuck() const { return stuck_; }

  void started(const engine::Granted& granted,
               const std::vector<std::int64_t>& thread_ids) override {
    began_ = true;
    engine::Granted all = granted;
    if (plan_->engine == plan::Engine::io_uring) all.sqthread_stats = sqthread_stats_;
    cell().granted = granted_settings(*plan_, all);
    if (run_index_ != 0) return;
    if (classic())
      console_.text(report::header(to_header(*plan_, granted, thread_ids, targets_.facts)));
  }

  void interval(const engine::Interval& interval) override {
    if (interval.bad != 0 && !bad_said_) {
      console_.warning("reads fail or come back short: they are not counted as I/Os");
      bad_said_ = true;
    }
    if (classic() && plan_->repeats == 1) {
      console_.text(report::rate_line(to_rate(interval, *plan_)));
    } else {
      progress_rate_ = interval.iops();
      show_progress();
    }
    maximum_iops_ = std::max(maximum_iops_, interval.iops());
  }

  bool wait_until(std::int64_t deadline_ns) override { return signals::wait_until(deadline_ns); }

 private:
  bool classic() const { return options_.door == plan::Door::classic; }
  bool until_stopped() const { return plan_->runtime_ns == 0; }
  result::Cell& cell() { return document_.cells.front(); }

  /// -T is for scripts that have it: a wrong rate would silently spoil every latency there.
  void check_clock_rate() const {
    if (!options_.tsc_rate_hz) return;
    const double seen = engine::calibrate_tick_rate(20'000'000);
    const auto given = static_cast<double>(*options_.tsc_rate_hz);
    if (std::abs(given - seen) <= 0.01 * seen) return;
    throw base::UserError(ExitCode::usage,
                          "--tsc-rate: this machine's counter runs at " +
                              std::to_string(std::llround(seen)) + " Hz, got " +
                              std::to_string(*options_.tsc_rate_hz),
                          "leave -T out: the rate is measured during the run");
  }

  void check_sqthread_stats() {
    if (plan_->sqthread_stats_bit < 0) return;
    const StatsOff stats_off = settle_sqthread_stats(*plan_);
    sqthread_stats_ = stats_off.granted;
    document_.findings.push_back(stats_off.finding);
  }

  /// From here until restore_queues(), or the end of this object, --queue is in force.
  void change_queues() {
    if (plan_->queue.empty()) return;
    queues_.emplace(plan_->queue_disks, plan_->queue);
    note_changed(*queues_, document_);
  }

  void restore_queues() {
    if (!queues_) return;
    const auto problems = queues_->restore();
    for (const auto& problem : problems) {
      console_.error(problem);
      queue_lost_ = true;
      document_.findings.push_back({"warning", "queue-not-restored", problem.what, problem.hint});
    }
    for (const auto& sentence : queues_->changed_meanwhile()) {
      console_.warning(sentence);
      document_.findings.push_back({"warning", "queue-meddled", sentence, ""});
    }
    if (problems.empty()) note_restored(*queues_, document_);
    if (began_) save();
  }

  bool fill_scratch() {
    console_.progress("uringbench: filling the scratch file");
    auto made = machine::make_scratch(*options_.scratch, plan_->direct,
                                      [] { return signals::received() != 0; });
    console_.progress("");
    if (!made) return false;
    targets_.facts = {made->facts};
    document_.targets = {to_result(made->facts, options_.with_serials)};
    targets_.open.push_back(std::move(*made));
    return true;
  }

  void describe() {
    const machine::Identity identity = machine::read_identity();
    const machine::Weather weather = machine::read_weather();
    document_.tool = tool_info();
    document_.identity = to_result(identity);
    document_.weather = to_result(weather);
    result::SessionInfo& session = document_.session;
    session.boot_id = identity.boot_id;
    session.verb = classic() ? "classic" : "run";
    session.label = options_.label;
    session.seed = plan_->seed;
    char id[40];
    snprintf(id, sizeof(id), "%016llx", static_cast<unsigned long long>(random_seed()));
    session.id = id;
    for (const auto& facts : targets_.facts) {
      document_.targets.push_back(to_result(facts, options_.with_serials));
    }
    for (const auto& finding :
         machine::judge(options_, *plan_, targets_.facts, identity, weather, limits_)) {
      document_.findings.push_back(to_result(finding));
    }
    result::Cell only;
    only.id = plan::cell_id(*plan_);
    only.asked = asked_settings(options_);
    only.granted = planned_settings(*plan_);
    document_.cells.push_back(std::move(only));
  }

  void say_notes_and_findings() {
    for (const auto& note : plan_->notes) {
      console_.note(note);
      document_.findings.push_back({"info", "adjusted", note, ""});
    }
    for (const auto& finding : document_.findings) {
      if (finding.code == "adjusted") continue;
      const std::string text =
          finding.message + (finding.hint.empty() ? "" : "\n  hint: " + finding.hint);
      if (finding.severity == "warning") {
        console_.warning(text);
      } else if (is_background(finding.code)) {
        console_.detail(text);
      } else {
        console_.note(text);
      }
    }
  }

  /// Nothing when the run was called off before its first thread began, or a later one could not
  /// begin: what was measured until then stays, and says so.
  std::optional<engine::Measurement> measure_one(bool last) {
    const auto give_up = [&](const base::Problem& problem) {
      console_.error(problem);
      document_.findings.push_back(
          {"warning", "run-failed",
           "run " + std::to_string(run_index_ + 1) + " could not begin: " + problem.what,
           problem.hint});
      failed_ = true;
      save();
    };
    try {
      auto measurement = engine::measure(*plan_, targets_.open, run_index_, last, *this);
      if (began_) return measurement;
    } catch (const base::UserError& error) {
      if (!began_) throw;
      give_up(error.problems().front());
    } catch (const base::SystemError& error) {
      if (!began_) throw;
      give_up(error.problem());
    }
    return std::nullopt;
  }

  void measure_all() {
    for (run_index_ = 0; run_index_ < plan_->repeats; ++run_index_) {
      show_progress();
      const bool last = run_index_ + 1 == plan_->repeats;
      const auto measured = measure_one(last);
      if (!measured) return;
      const engine::Measurement& m = *measured;
      note_end(m);
      // The end was wanted between two runs: the one not begun is no run.
      if (m.interrupted && !m.began && run_index_ != 0) {
        save();
        return;
      }
      if (run_index_ == 0) document_.session.started_at = m.started_at;
      cell().runs.push_back(to_result(m, *plan_, run_index_));
      failed_ |= m.fatal_errno.has_value();
      stuck_ |= std::any_of(m.threads.begin(), m.threads.end(),
                            [](const auto& thread) { return thread.stuck; });
      if (!classic() || plan_->repeats > 1) {
        console_.text(report::run_line(cell().runs.back(), plan_->repeats));
      }
      cell().runs.back().interrupted = document_.session.interrupted;
      save();
      if (document_.session.interrupted || m.stalled || m.fatal_errno) return;
    }
  }

  /// SIGINT is the normal end of a run that was to go on until Ctrl-C.
  void note_end(const engine::Measurement& m) {
    if (!m.interrupted) return;
    const int number = signals::received();
    if (until_stopped() && number == SIGINT) {
      stopped_as_meant_ = true;
      return;
    }
    document_.session.interrupted = true;
    document_.session.signal = signals::name(number);
  }

  void save() {
    result::summarize(cell());
    document_.session.elapsed_ns = monotonic_ns() - begin_ns_;
    // A fifo or /dev/stdout would get one document after the other: it gets the last one only.
    if (!options_.json_path.empty() && result::can_replace(options_.json_path)) write_document();
  }

  /// A document that cannot be written is said once, and makes the run a failure; what was measured
  /// is shown all the same.
  void write_document() {
    if (options_.json_path == "-") {
      console_.document(result::to_json(document_));
    } else if (!options_.json_path.empty()) {
      try {
        result::save_atomically(options_.json_path, result::to_json(document_));
      } catch (const base::SystemError& error) {
        note_lost_document(error.problem());
      } catch (const base::UserError& error) {
        note_lost_document(error.problems().front());
      }
    }
  }

  void note_lost_document(const base::Problem& problem) {
    if (!console_.failed()) console_.error(problem);
    console_.note_failure();
  }

  int finish() {
    restore_queues();
    if (!began_) return 128 + signals::received();  // nothing was begun: nothing to say
    console_.progress("");
    if (classic()) {
      console_.text(std::string("Exiting on ") + reason_of_the_end() + "\n");
      // A short last interval does not count, but the best is never below the whole.
      for (const auto& run : cell().runs) maximum_iops_ = std::max(maximum_iops_, run.iops);
      console_.text(report::maximum_line(maximum_iops_));
      if (!cell().runs.empty() && cell().runs.back().latency) {
        console_.text(report::latency_block(*cell().runs.back().latency));
      }
    }
    console_.text(report::summary(document_));
    if (!result::can_replace(options_.json_path)) write_document();
    return exit_code();
  }

  const char* reason_of_the_end() {
    if (document_.session.interrupted || stopped_as_meant_) return "signal";
    if (failed_) return "error";
    return !cell().runs.empty() && cell().runs.back().stalled ? "stall" : "timeout";
  }

  int exit_code() const {
    if (document_.session.interrupted) return 128 + signals::received();
    if (console_.reader_left()) return 128 + SIGPIPE;
    if (console_.failed()) {
      // A signal that ended a write that would not end.
      const int number = signals::received();
      return number != 0 && number != SIGPIPE ? 128 + number : static_cast<int>(ExitCode::internal);
    }
    bool bad = failed_;
    for (const auto& run : document_.cells.front().runs) {
      bad |= run.stalled || (run.ios == 0 && !stopped_as_meant_);
      bad |= !options_.allow_errors && (run.errors.count != 0 || run.short_reads != 0);
    }
    if (bad) return static_cast<int>(ExitCode::io_errors);
    return queue_lost_ ? static_cast<int>(ExitCode::internal) : 0;
  }

  void show_progress() {
    if (classic() && plan_->repeats == 1) return;
    std::string line =
        "run " + std::to_string(run_index_ + 1) + "/" + std::to_string(plan_->repeats);
    const auto elapsed = static_cast<double>(monotonic_ns() - begin_ns_);
    line += ", " + whole_seconds(std::floor(elapsed / 1e9)) + " elapsed";
    const double total = static_cast<double>(plan_->repeats) *
                         static_cast<double>(plan_->runtime_ns + plan_->warmup_ns);
    if (total > elapsed) {
      line += ", " + whole_seconds(std::ceil((total - elapsed) / 1e9)) + " left";
    }
    if (progress_rate_ > 0) line += ", IOPS=" + base::format_iops(progress_rate_);
    console_.progress(line);
  }

  const plan::Options& options_;
  Console& console_;
  const std::int64_t begin_ns_;
  plan::Limits limits_;
  Targets targets_;
  std::optional<plan::RunPlan> plan_;
  std::optional<machine::QueueSettings> queues_;  ///< in force while it is there
  std::string sqthread_stats_ = "on";
  result::Document document_;
  std::uint32_t run_index_ = 0;
  double maximum_iops_ = 0;
  double progress_rate_ = 0;
  bool began_ = false;
  bool failed_ = false;
  bool stopped_as_meant_ = false;  ///< Ctrl-C, where that is the end
  bool bad_said_ = false;
  bool stuck_ = false;
  bool queue_lost_ = false;  ///< --queue could not be undone
};

}  // namespace

int run(const plan::Options& options, const std::vector<std::string>& argv, Console& console) {
  Conductor conductor(options, argv, console);
  const int code = conductor.conduct();
  if (conductor.stuck()) _exit(code);
  return code;
}

}  // namespace uringbench::command
