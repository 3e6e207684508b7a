// The flags of compare and gate. What the values mean is for the compare room to say: here they are
// looked at, so that all that is wrong with a command line is said at once, and kept as texts.
#include <algorithm>

#include "base/base.hpp"
#include "command/flag_parts.hpp"
#include "command/import_argv.hpp"
#include "command/nearest.hpp"
#include "compare/compare.hpp"

namespace uringbench::command {
namespace {

using base::ExitCode;
using base::UserError;
using plan::ComparingOptions;
using plan::Options;
using Texts = std::vector<std::string> ComparingOptions::*;

/// A flag without a value: given means true.
Entry told(std::string name, bool ComparingOptions::*member, std::string help) {
  return custom(0, std::move(name), "", std::move(help),
                [=](Options& options, const std::string&) { options.comparing.*member = true; });
}

/// "a,b" adds what `check` makes of each part.
template <class Check>
Setter each_of(Texts member, Check check) {
  return [=](Options& options, const std::string& text) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t comma = std::min(text.find(',', begin), text.size());
      (options.comparing.*member).push_back(check(text.substr(begin, comma - begin)));
      begin = comma + 1;
    }
  };
}

Setter limits(const std::string& flag, Texts member) {
  return [=](Options& options, const std::string& text) {
    compare::parse_limits(flag, text);
    (options.comparing.*member).push_back(text);
  };
}

Setter metrics(const std::string& flag, Texts member) {
  return each_of(member, [flag](const std::string& name) {
    if (const auto metric = compare::find_metric(name)) return metric->name;
    const auto meant = nearest(name, compare::metric_names(), 2);
    throw UserError(ExitCode::usage, flag + ": there is no metric \"" + name + "\"",
                    (meant ? "did you mean " + *meant + "? " : "") + "there are " +
                        listed(compare::metric_names(), "and"));
  });
}

Setter file(const std::string& flag, std::string ComparingOptions::*member) {
  return [=](Options& options, const std::string& text) {
    if (text.empty()) throw UserError(ExitCode::usage, flag + ": must not be empty");
    options.comparing.*member = text;
  };
}

void set_filter(Options& options, const std::string& text) {
  compare::check_pattern("--filter", text);
  options.comparing.filters.push_back(text);
}

void set_import_argv(Options& options, const std::string& text) {
  if (text.empty()) throw UserError(ExitCode::usage, "--import-argv: must not be empty");
  hints_of("--import-argv", text);
  options.comparing.import_argv = text;
}

void set_bootstrap(Options& options, const std::string& text) {
  options.comparing.bootstrap = true;
  options.comparing.bootstrap_seed.reset();
  if (text != "random")
    options.comparing.bootstrap_seed = base::parse_unsigned("--bootstrap", text);
}

Entry bootstrap() {
  Entry entry = custom(0, "bootstrap", "SEED", "a second opinion from resampling, where n >= 15",
                       set_bootstrap)
                    .more("Without SEED a random one is drawn, printed and recorded.")
                    .verbs(kCompare);
  entry.flag.value_optional = true;
  entry.flag.bare_value = "random";
  return entry;
}

}  // namespace

std::vector<Entry> comparing_flags() {
  return {
      custom(0, "varies", "KEY[,KEY]", "what may differ: kernel, binary, machine, or a flag's name",
             each_of(&ComparingOptions::varies, compare::parse_varies))
          .repeatable()
          .examples({"kernel", "binary", "machine", "device"})
          .more("Results whose settings differ are not comparable, unless the setting is named "
                "here. Cells are then matched without it.")
          .verbs(kComparing),
      custom(0, "filter", "PATTERN", "only cells that fit: 'qd=(1|4|32) randread'", set_filter)
          .repeatable()
          .more("Parts are divided by blanks or slashes, and all must fit. A part is KEY=VALUE, "
                "KEYVALUE or VALUE; a value may hold *, ? and (a|b).")
          .verbs(kComparing),
      custom(0, "metrics", "NAME[,NAME]", "also show these: iops, bw, cpu, p50, p99.9, mean, max",
             metrics("--metrics", &ComparingOptions::metrics))
          .repeatable()
          .examples(compare::metric_names())
          .default_is("what is there")
          .verbs(kComparing),
      custom(0, "gate-metrics", "NAME[,NAME]", "metrics that decide",
             metrics("--gate-metrics", &ComparingOptions::gate_metrics))
          .repeatable()
          .examples(compare::metric_names())
          .default_is("iops; gate: those with a margin")
          .more("Others are advisory: shown, and in no family of tests that Holm corrects for.")
          .verbs(kComparing),
      custom(0, "min-effect", "LIMITS", "least change of interest: iops=1%, '*/qd1:p99=5%'",
             limits("--min-effect", &ComparingOptions::min_effects))
          .repeatable()
          .default_is("iops=1%")
          .more("A comma-separated list of METRIC=N%. With PATTERN: before it, only for cells that "
                "fit. Of several that fit a cell the last counts.")
          .verbs(kCompare),
      custom(0, "baseline-of", "WHICH", "first: all against the base; prev: also step by step",
             [](Options& options, const std::string& text) {
               options.comparing.baseline_is_previous = text == "prev";
             })
          .choices({"first", "prev"})
          .default_is("first")
          .verbs(kCompare),
      told("exit-verdict", &ComparingOptions::exit_verdict,
           "exit code by verdict, as gate has it: 3, 4, 5, 6")
          .verbs(kCompare),
      told("explain", &ComparingOptions::explain, "what each kind of verdict means, in plain words")
          .verbs(kComparing),
      bootstrap(),
      custom(0, "import-argv", "ARGS", "command line of the t/io_uring whose log is read",
             set_import_argv)
          .more("A log does not state all settings. What is not given has t/io_uring's own "
                "default, also where this program's differs; files are ignored.")
          .verbs(kComparing),
  };
}

std::vector<Entry> gate_flags() {
  return {
      custom(0, "margin", "LIMITS", "largest loss that passes: iops=2%, 'qd=1:iops=5%'",
             limits("--margin", &ComparingOptions::margins))
          .repeatable()
          .default_is("iops=2%")
          .more("Written as --min-effect is.")
          .verbs(kGate),
      custom(0, "gate-file", "FILE", "rules from a JSON file; the command line wins",
             file("--gate-file", &ComparingOptions::gate_file))
          .verbs(kGate),
      custom(0, "expect", "FILE", "cells that must be there: those of this result",
             file("--expect", &ComparingOptions::expect))
          .default_is("all of BASE")
          .verbs(kGate),
      told("allow-inconclusive", &ComparingOptions::allow_inconclusive,
           "4 becomes 0, which is said aloud")
          .verbs(kGate),
      told("warn-only", &ComparingOptions::warn_only, "3 and 4 become 0, which is said aloud")
          .verbs(kGate),
      told("strict-env", &ComparingOptions::strict_env,
           "kernel, program and machine must be the same, or named by --varies")
          .verbs(kGate),
  };
}

}  // namespace uringbench::command
