#include "command/doctor.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cerrno>

#include "command/targets.hpp"
#include "command/translate.hpp"
#include "command/version.hpp"
#include "report/report.hpp"

namespace uringbench::command {
namespace {

using result::Checkup;
using Abilities = std::vector<Checkup::Ability>;

bool accepted(const std::vector<engine::KernelAbilities::Flag>& flags, const std::string& name) {
  return std::any_of(flags.begin(), flags.end(),
                     [&](const auto& flag) { return flag.name == name && flag.accepted; });
}

Abilities named(const std::vector<engine::KernelAbilities::Flag>& flags) {
  Abilities abilities;
  for (const auto& flag : flags) abilities.push_back({flag.name, flag.accepted, ""});
  return abilities;
}

void add_problems(const std::vector<base::Problem>& from, std::vector<Checkup::Problem>& to) {
  for (const auto& problem : from) to.push_back({problem.what, problem.hint});
}

/// What run and the classic door do unless told otherwise, on these targets.
plan::Options default_options(const std::vector<machine::TargetFacts>& targets) {
  plan::Options options;
  for (const auto& facts : targets) {
    options.files.push_back(facts.path);
    options.passthrough |= facts.kind == machine::TargetKind::nvme_generic;
  }
  options.nop = targets.empty();
  return options;
}

/// The findings of a default run on these targets, and what would keep it from beginning.
std::vector<machine::Finding> judge_default_run(const DoctorFacts& facts,
                                                const std::vector<machine::TargetFacts>& targets,
                                                std::vector<Checkup::Problem>& problems) {
  const plan::Options options = default_options(targets);
  std::vector<plan::TargetShape> shapes;
  for (const auto& target : targets) shapes.push_back(shape_of(target, options.direct));
  try {
    const plan::RunPlan plan = plan::make_plan(options, shapes, facts.limits, 0);
    return machine::judge(options, plan, targets, facts.identity, facts.weather, facts.limits);
  } catch (const base::UserError& error) {
    add_problems(error.problems(), problems);
    return {};
  }
}

Checkup::Ability polled_mode(const machine::TargetFacts& target) {
  const std::string name = "polled I/O (-p1)";
  if (!target.can_poll) return {name, false, "cannot be told: try -p1"};
  if (*target.can_poll) return {name, true, ""};
  // The reason completes "polled I/O …", the hint begins with the advice to give polling up.
  const auto without = [](const std::string& text, const std::string& begin) {
    return text.starts_with(begin) ? text.substr(begin.size()) : text;
  };
  return {name, false,
          without(target.cannot_poll_reason, "is ") + "; " +
              without(target.cannot_poll_hint, "use -p0; ")};
}

Checkup::Ability passthrough_mode(const machine::TargetFacts& target, bool kernel_can) {
  const std::string name = "passthrough (-u1)";
  const std::string driver = target.device ? target.device->driver.value_or("") : "";
  if (target.kind == machine::TargetKind::nvme_generic) {
    return {name, kernel_can, kernel_can ? "" : "needs Linux 5.19"};
  }
  if (target.kind == machine::TargetKind::block && target.device && driver == "nvme") {
    const std::string& disk = target.device->name;  // "nvme0n1" has the generic device "ng0n1"
    return {name, false, "through the generic device: /dev/ng" + disk.substr(4)};
  }
  return {name, false, "for NVMe drives only"};
}

Abilities modes_of(const DoctorFacts& facts, const TargetLook& look) {
  const machine::TargetFacts& target = *look.facts;
  const auto& kernel = facts.kernel;
  const bool generic = target.kind == machine::TargetKind::nvme_generic;
  Abilities modes;
  if (!generic) {
    modes.push_back({"direct I/O (-O1)", true,
                     fmt::format("blocks in multiples of {} bytes", target.direct_offset_align)});
  }
  modes.push_back(polled_mode(target));
  if (target.can_poll.value_or(false)) {
    const bool known = accepted(kernel.setup_flags, "HYBRID_IOPOLL");
    modes.push_back(
        {"sleep before polling (--hybrid-iopoll)", known, known ? "" : "needs Linux 6.13"});
  }
  modes.push_back(passthrough_mode(target, accepted(kernel.opcodes, "URING_CMD")));
  const bool sqpoll = accepted(kernel.setup_flags, "SQPOLL");
  modes.push_back({"submission by a kernel thread (--sqpoll)", sqpoll,
                   sqpoll ? "" : "the kernel refuses SQPOLL"});
  if (target.kind == machine::TargetKind::block) {
    modes.push_back({"queue settings (--queue)", !look.queue_is_closed,
                     look.queue_is_closed.value_or("restored after the run")});
  }
  return modes;
}

Checkup::TargetCheck check_target(const DoctorFacts& facts, const TargetLook& look,
                                  const std::vector<machine::Finding>& of_the_machine) {
  Checkup::TargetCheck check;
  check.path = look.path;
  add_problems(look.problems, check.problems);
  if (!look.facts) return check;
  check.target = to_result(*look.facts, false);
  check.modes = modes_of(facts, look);
  for (const auto& finding : judge_default_run(facts, {*look.facts}, check.problems)) {
    const auto same = [&](const machine::Finding& known) {
      return known.code == finding.code && known.message == finding.message;
    };
    // What is true of the machine has been said of the machine.
    if (std::any_of(of_the_machine.begin(), of_the_machine.end(), same)) continue;
    check.findings.push_back(to_result(finding));
  }
  return check;
}

std::string bytes_or_unlimited(std::uint64_t bytes) {
  return bytes == UINT64_MAX ? "unlimited" : base::format_bytes(bytes);
}

std::vector<std::pair<std::string, std::string>> describe(const plan::Limits& limits) {
  std::vector<std::pair<std::string, std::string>> rows;
  rows.emplace_back("locked memory", limits.memlock_exempt
                                         ? "unlimited (CAP_IPC_LOCK)"
                                         : bytes_or_unlimited(limits.memlock_bytes));
  rows.emplace_back("open files", limits.open_files == UINT64_MAX
                                      ? "unlimited"
                                      : std::to_string(limits.open_files));
  rows.emplace_back("available memory", bytes_or_unlimited(limits.memory_available_bytes));
  if (!limits.allowed_cpus.empty()) {
    rows.emplace_back("allowed CPUs", base::format_cpu_list(limits.allowed_cpus));
  }
  if (limits.huge_page_bytes != 0) {
    rows.emplace_back("huge pages", fmt::format("{} free of {}", limits.huge_pages_free,
                                                base::format_bytes(limits.huge_page_bytes)));
  }
  return rows;
}

/// Asks for one attribute that every queue has, and changes nothing.
std::optional<std::string> why_queue_is_closed(const machine::TargetFacts& facts) {
  if (!facts.device) return "sysfs does not know its queue";
  try {
    machine::QueueSettings::check({facts.device->name}, {{"nomerges", "0"}});
    return std::nullopt;
  } catch (const base::UserError& error) {
    const std::string& what = error.problems().front().what;
    return what.starts_with("--queue: ") ? what.substr(9) : what;
  }
}

/// Nothing to see and nothing to stop: a trial is over in a moment.
class Onlooker : public engine::Observer {
 public:
  void started(const engine::Granted&, const std::vector<std::int64_t>&) override {}
  void interval(const engine::Interval&) override {}
  bool wait_until(std::int64_t deadline_ns) override {
    const timespec deadline{deadline_ns / 1'000'000'000, deadline_ns % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr);
    return false;
  }
};

/// A default run in small: twenty milliseconds of it. What keeps it from beginning or makes its
/// reads fail is a problem, whatever the facts say.
std::vector<base::Problem> try_default_run(const Targets& targets, const plan::Limits& limits) {
  constexpr std::int64_t kTrialNs = 20'000'000;
  constexpr std::int64_t kPatienceNs = 2'000'000'000;
  plan::Options options = default_options(targets.facts);
  options.runtime_ns = kTrialNs;
  options.stall_timeout_ns = kPatienceNs;
  std::optional<plan::RunPlan> plan;
  try {
    plan = plan::make_plan(options, targets.shapes, limits, 0);
  } catch (const base::UserError&) {
    return {};  // examine() comes to the same, from the same facts
  }
  const std::string name = options.files.empty() ? "NOP" : options.files.front();
  try {
    Onlooker onlooker;
    const auto m = engine::measure(*plan, targets.open, 0, true, onlooker);
    if (m.fatal_errno) {
      return {{base::ExitCode::cannot,
               name + ": io_uring_enter failed: " + base::describe_errno(*m.fatal_errno),
               machine::setup_hint(*m.fatal_errno)}};
    }
    if (m.stalled) {
      return {{base::ExitCode::cannot, name + ": reads do not come back",
               "the device or its driver hangs; see the kernel log (dmesg)"}};
    }
    if (m.errors.count + m.short_reads != 0) {
      const std::string why =
          m.errors.first ? engine::error_name(m.errors.first->error_number) : std::string("short");
      return {{base::ExitCode::cannot,
               fmt::format("{}: {} of {} reads failed: {}", name, m.errors.count + m.short_reads,
                           m.completions, why),
               "the device or file is damaged, or was cut short; see the kernel log (dmesg)"}};
    }
    return {};
  } catch (const base::UserError& error) {
    return error.problems();
  } catch (const base::SystemError& error) {
    return {error.problem()};
  }
}

TargetLook look_at(const std::string& path, const plan::Limits& limits, bool may_try) {
  TargetLook look;
  look.path = path;
  const auto attempt = [&](bool passthrough) {
    plan::Options options;
    options.files = {path};
    options.passthrough = passthrough;
    try {
      const Targets targets = look_at_targets(options);
      look.facts = targets.facts.front();
      look.problems.clear();
      if (may_try) look.problems = try_default_run(targets, limits);
    } catch (const base::UserError& error) {
      if (look.problems.empty()) look.problems = error.problems();
    }
  };
  attempt(false);
  // A generic NVMe device is refused by the ordinary door; anything else by this one.
  if (!look.facts) attempt(true);
  if (look.facts && look.facts->kind == machine::TargetKind::block) {
    look.queue_is_closed = why_queue_is_closed(*look.facts);
  }
  return look;
}

DoctorFacts look_around(const plan::Options& options) {
  DoctorFacts facts;
  facts.identity = machine::read_identity();
  facts.weather = machine::read_weather();
  facts.limits = machine::read_limits();
  facts.kernel = engine::probe_kernel();
  facts.setup_hint = machine::setup_hint(facts.kernel.setup_error);
  const bool may_try = facts.kernel.setup_error == 0;
  if (may_try) facts.problems = try_default_run({}, facts.limits);
  // What holds for no-ops as well is said once.
  const bool machine_is_fine = may_try && facts.problems.empty();
  for (const auto& path : options.files) {
    facts.targets.push_back(look_at(path, facts.limits, machine_is_fine));
  }
  return facts;
}

}  // namespace

result::Checkup examine(const DoctorFacts& facts) {
  Checkup checkup;
  checkup.identity = to_result(facts.identity);
  checkup.weather = to_result(facts.weather);
  const int error = facts.kernel.setup_error;
  checkup.kernel.push_back({"io_uring", error == 0, error == 0 ? "" : base::describe_errno(error)});
  if (error != 0) {
    checkup.problems.push_back(
        {"io_uring cannot be used: io_uring_setup: " + base::describe_errno(error),
         facts.setup_hint});
  }
  add_problems(facts.problems, checkup.problems);
  checkup.setup_flags = named(facts.kernel.setup_flags);
  checkup.opcodes = named(facts.kernel.opcodes);
  checkup.limits = describe(facts.limits);
  std::vector<Checkup::Problem> ignored;  // a NOP has none
  const auto of_the_machine = judge_default_run(facts, {}, ignored);
  for (const auto& finding : of_the_machine) checkup.findings.push_back(to_result(finding));
  for (const auto& look : facts.targets) {
    checkup.targets.push_back(check_target(facts, look, of_the_machine));
  }
  return checkup;
}

int doctor(const plan::Options& options, Console& console) {
  Checkup checkup = examine(look_around(options));
  checkup.tool = tool_info();
  if (options.format == "json") {
    console.document(result::to_json(checkup));
  } else {
    console.text(report::checkup(checkup));
  }
  if (console.failed()) return static_cast<int>(base::ExitCode::internal);
  return checkup.healthy() ? 0 : static_cast<int>(base::ExitCode::cannot);
}

}  // namespace uringbench::command
