// From words to options: every flag, both forms of a value, and what is refused in which words.
#include "command/parse.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/base.hpp"
#include "command/flags.hpp"
#include "command/nearest.hpp"

namespace uringbench::command {
namespace {

using Words = std::vector<std::string>;
using plan::CpuPlace;
using plan::Options;
using plan::QueueSetting;
using plan::TaskRun;

Options options(Words words) {
  words.push_back("file");
  return parse(words).options;
}

/// The problems of a command line that must be refused with exit code 2.
std::vector<base::Problem> problems(const Words& words) {
  try {
    parse(words);
  } catch (const base::UserError& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    return error.problems();
  }
  ADD_FAILURE() << "not refused: " << words.front();
  return {base::Problem{}};
}

std::string refusal(const Words& words) { return problems(words).front().what; }
std::string hint(const Words& words) { return problems(words).front().hint; }

struct SwitchCase {
  char letter;
  const char* name;
  bool Options::*member;
};
class Switches : public ::testing::TestWithParam<SwitchCase> {};

TEST_P(Switches, AreSetByLetterAndName) {
  const auto& [letter, name, member] = GetParam();
  const std::string dash_letter = std::string("-") + letter, long_name = std::string("--") + name;
  for (const bool wanted : {false, true}) {
    const std::string digit = wanted ? "1" : "0";
    EXPECT_EQ(options({dash_letter + digit}).*member, wanted);
    EXPECT_EQ(options({dash_letter, digit}).*member, wanted);
    EXPECT_EQ(options({long_name + "=" + digit}).*member, wanted);
    EXPECT_EQ(options({long_name, digit}).*member, wanted);
  }
  EXPECT_TRUE(options({dash_letter + "1"}).was_given(name));
  EXPECT_EQ(refusal({dash_letter + "2", "f"}), long_name + ": must be 0 or 1, got \"2\"");
}

INSTANTIATE_TEST_SUITE_P(
    All, Switches,
    ::testing::Values(
        SwitchCase{'R', "random", &Options::random}, SwitchCase{'O', "direct", &Options::direct},
        SwitchCase{'N', "nop", &Options::nop}, SwitchCase{'S', "sync", &Options::sync},
        SwitchCase{'a', "aio", &Options::aio}, SwitchCase{'V', "vectored", &Options::vectored},
        SwitchCase{'u', "passthrough", &Options::passthrough},
        SwitchCase{'B', "fixed-buffers", &Options::fixed_buffers},
        SwitchCase{'F', "register-files", &Options::register_files},
        SwitchCase{'X', "register-ring", &Options::register_ring},
        SwitchCase{'e', "restrict", &Options::restrict_ring},
        SwitchCase{'P', "numa", &Options::numa}, SwitchCase{'t', "latency", &Options::latency}));

struct PlainCase {
  const char* name;
  bool Options::*member;
};
class PlainFlags : public ::testing::TestWithParam<PlainCase> {};

TEST_P(PlainFlags, TakeNoValue) {
  const auto& [name, member] = GetParam();
  const std::string flag = std::string("--") + name;
  EXPECT_FALSE(options({}).*member);
  const Options given = parse({flag, "0"}).options;
  EXPECT_TRUE(given.*member);
  EXPECT_EQ(given.files, Words{"0"});
  EXPECT_EQ(refusal({flag + "=0", "f"}), flag + ": takes no value");
}

INSTANTIATE_TEST_SUITE_P(All, PlainFlags,
                         ::testing::Values(PlainCase{"sqpoll-share", &Options::sqpoll_share},
                                           PlainCase{"no-sqthread-stats",
                                                     &Options::no_sqthread_stats},
                                           PlainCase{"force", &Options::force},
                                           PlainCase{"hybrid-iopoll", &Options::hybrid_iopoll},
                                           PlainCase{"with-serials", &Options::with_serials},
                                           PlainCase{"allow-errors", &Options::allow_errors},
                                           PlainCase{"dry-run", &Options::dry_run},
                                           PlainCase{"quiet", &Options::quiet}));

TEST(Parse, SqpollTakesItsValueOnlyAttached) {
  EXPECT_FALSE(options({}).sqpoll);
  const Options given = parse({"--sqpoll", "0"}).options;
  EXPECT_TRUE(given.sqpoll);
  EXPECT_EQ(given.files, Words{"0"});
  EXPECT_TRUE(options({"--sqpoll=1"}).sqpoll);
  EXPECT_FALSE(options({"--sqpoll=0"}).sqpoll);
  EXPECT_FALSE(options({"--sqpoll", "--sqpoll=0"}).sqpoll);
  EXPECT_TRUE(parse({"f", "--sqpoll"}).options.sqpoll);
  EXPECT_EQ(refusal({"--sqpoll=", "f"}), "--sqpoll: must be 0 or 1, got \"\"");
  EXPECT_EQ(refusal({"--sqpoll=yes", "f"}), "--sqpoll: must be 0 or 1, got \"yes\"");
}

TEST(Parse, SqpollNumbers) {
  EXPECT_FALSE(options({}).sqpoll_cpu);
  EXPECT_EQ(options({"--sqpoll-cpu", "0"}).sqpoll_cpu, 0);
  EXPECT_EQ(options({"--sqpoll-cpu=65535"}).sqpoll_cpu, 65535);
  EXPECT_EQ(refusal({"--sqpoll-cpu", "-1", "f"}),
            "--sqpoll-cpu: must be between 0 and 65535, got -1");
  EXPECT_EQ(refusal({"--sqpoll-cpu=65536", "f"}),
            "--sqpoll-cpu: must be between 0 and 65535, got 65536");
  EXPECT_EQ(refusal({"--sqpoll-cpu=2,3", "f"}),
            "--sqpoll-cpu: must be a whole number between 0 and 65535, got \"2,3\"");
  EXPECT_EQ(options({"--sqpoll-idle=4294967295"}).sqpoll_idle_ms, 4294967295);
  EXPECT_EQ(refusal({"--sqpoll-idle=4294967296", "f"}),
            "--sqpoll-idle: must be between 0 and 4294967295, got 4294967296");
  EXPECT_EQ(refusal({"--sqpoll-idle=5ms", "f"}),
            "--sqpoll-idle: must be a whole number between 0 and 4294967295, got \"5ms\"");
  EXPECT_EQ(options({}).sqthread_stats_bit, 19);
  EXPECT_EQ(options({"--sqthread-stats-bit=31"}).sqthread_stats_bit, 31);
  EXPECT_EQ(refusal({"--sqthread-stats-bit=32", "f"}),
            "--sqthread-stats-bit: must be between 0 and 31, got 32");
}

TEST(Parse, TaskRun) {
  EXPECT_FALSE(options({}).taskrun);
  EXPECT_EQ(options({"--taskrun", "defer"}).taskrun, TaskRun::defer);
  EXPECT_EQ(options({"--taskrun=coop"}).taskrun, TaskRun::coop);
  EXPECT_EQ(options({"--taskrun=plain"}).taskrun, TaskRun::plain);
  EXPECT_EQ(refusal({"--taskrun=copo", "f"}),
            "--taskrun: must be defer, coop or plain, got \"copo\"");
  EXPECT_EQ(hint({"--taskrun=copo", "f"}), "did you mean coop?");
  EXPECT_EQ(hint({"--taskrun=fast", "f"}), "");
  EXPECT_EQ(refusal({"--taskrun=", "f"}), "--taskrun: must be defer, coop or plain, got \"\"");
}

TEST(Parse, LogLevel) {
  EXPECT_EQ(options({"--log-level=warn"}).log_level, "warn");
  EXPECT_EQ(refusal({"--log-level=warning", "f"}),
            "--log-level: must be trace, debug, info, warn, error or off, got \"warning\"");
}

TEST(Parse, Hugetlb) {
  EXPECT_EQ(options({}).hugetlb, "");
  EXPECT_EQ(options({"-H", "anon"}).hugetlb, "anon");
  EXPECT_EQ(options({"-H/mnt/huge/x"}).hugetlb, "/mnt/huge/x");
  EXPECT_EQ(options({"--hugetlb=-x"}).hugetlb, "-x");
  EXPECT_EQ(refusal({"--hugetlb=", "f"}), "--hugetlb: must not be empty");
  EXPECT_EQ(refusal({"-H", "", "f"}), "--hugetlb: must not be empty");
}

TEST(Parse, QueueSettingsAddUp) {
  using Settings = std::vector<QueueSetting>;
  EXPECT_EQ(options({"--queue", "iostats=0"}).queue, (Settings{{"iostats", "0"}}));
  const Settings both = {{"iostats", "0"}, {"scheduler", "none"}};
  EXPECT_EQ(options({"--queue=iostats=0,scheduler=none"}).queue, both);
  EXPECT_EQ(options({"--queue", "iostats=0", "-d8", "--queue=scheduler=none"}).queue, both);
  EXPECT_EQ(options({"--queue", "iostats=1,scheduler=none", "--queue", "iostats=0"}).queue, both)
      << "of several flags the last counts";
  EXPECT_THROW(parse({"--queue", "iostats=0,iostats=1", "a"}), base::UserError)
      << "one list contradicts itself";
  EXPECT_EQ(options({"--queue", "iostats=0,iostats=0"}).queue, (Settings{{"iostats", "0"}}));
  EXPECT_EQ(options({"--queue", "iosched/read_expire=5"}).queue,
            (Settings{{"iosched/read_expire", "5"}}));
  EXPECT_EQ(options({"--queue", "write_cache=a b=c"}).queue, (Settings{{"write_cache", "a b=c"}}));
  const Options given = parse({"--queue", "iostats=0", "a", "b"}).options;
  EXPECT_EQ(given.files, (Words{"a", "b"}));
}

TEST(Parse, QueueSettingsThatAreNone) {
  for (const char* item : {"iostats", "=0", "iostats=", "="}) {
    const std::string complaint =
        std::string("--queue: must be KEY=VALUE[,...], got \"") + item + "\"";
    EXPECT_EQ(refusal({"--queue", item, "f"}), complaint);
    EXPECT_EQ(refusal({std::string("--queue=nomerges=2,") + item, "f"}), complaint);
    EXPECT_EQ(refusal({std::string("--queue=") + item + ",nomerges=2", "f"}), complaint);
    EXPECT_EQ(refusal({"--queue", item, "--queue", "nomerges=2", "f"}), complaint);
  }
  for (const char* text : {"", ",", "a=1,", ",a=1", "a=1,,b=2"}) {
    EXPECT_EQ(refusal({"--queue", text, "f"}), "--queue: must be KEY=VALUE[,...], got \"\"")
        << text;
    EXPECT_EQ(refusal({std::string("--queue=") + text, "f"}),
              "--queue: must be KEY=VALUE[,...], got \"\"")
        << text;
  }
  EXPECT_EQ(refusal({"--queue", "f"}), "--queue: must be KEY=VALUE[,...], got \"f\"");
  EXPECT_EQ(refusal({"--queue"}), "--queue: needs a value (KEY=VALUE[,...])");
  for (const char* key : {"../ro", "/etc/x", "a/../b", "io stats", "x/"}) {
    EXPECT_EQ(refusal({"--queue", std::string(key) + "=1", "f"}),
              std::string("--queue: \"") + key + "\" is no name of a queue attribute");
  }
}

TEST(Parse, ThreadsAndPlaces) {
  EXPECT_TRUE(options({"-nauto"}).threads_auto);
  EXPECT_TRUE(options({"--threads", "auto"}).threads_auto);
  const Options numbered = options({"-n", "auto", "-n4"});
  EXPECT_FALSE(numbered.threads_auto);
  EXPECT_EQ(numbered.threads, 4);
  EXPECT_EQ(refusal({"-naut", "f"}),
            "--threads: must be a whole number between 1 and 1024, got \"aut\"");
  EXPECT_EQ(hint({"-naut", "f"}), "did you mean auto?");
  EXPECT_EQ(hint({"-n0", "f"}), "auto is possible, too");

  EXPECT_EQ(options({"--cpus", "0-2,5"}).cpus, (std::vector<int>{0, 1, 2, 5}));
  EXPECT_EQ(options({"--cpus=local-core"}).cpu_place, CpuPlace::local_core);
  EXPECT_EQ(options({"--cpus=local-node"}).cpu_place, CpuPlace::local_node);
  EXPECT_EQ(options({"--cpus=3"}).cpu_place, CpuPlace::listed);
  EXPECT_EQ(hint({"--cpus=local-cor", "f"}), "did you mean local-core?");
  EXPECT_EQ(hint({"--cpus=x", "f"}), "local-core and local-node are possible, too");
}

TEST(Parse, LastOfSeveralCounts) {
  EXPECT_EQ(options({"-d4", "--depth", "16", "-d", "8"}).depth, 8);
  EXPECT_EQ(options({"--taskrun=coop", "--taskrun=plain"}).taskrun, TaskRun::plain);
}

TEST(Parse, DoorsHaveTheirDefaults) {
  const Parsed classic = parse({"f"});
  EXPECT_EQ(classic.action, Parsed::Action::run);
  EXPECT_EQ(classic.options.door, plan::Door::classic);
  EXPECT_FALSE(classic.options.runtime_ns);
  const Parsed run = parse({"run", "f"});
  EXPECT_EQ(run.action, Parsed::Action::run);
  EXPECT_EQ(run.options.door, plan::Door::run);
  EXPECT_EQ(run.options.runtime_ns, 5'000'000'000);
  EXPECT_EQ(run.options.warmup_ns, 1'000'000'000);
  EXPECT_EQ(run.options.repeats, 6);
  EXPECT_FALSE(run.options.was_given("runtime"));
  EXPECT_EQ(parse({"--", "run"}).options.files, Words{"run"});
  EXPECT_EQ(parse({"-d8", "show"}).options.files, Words{"show"});
}

TEST(Parse, ShowTakesOneFileAndItsFlags) {
  const Parsed parsed = parse({"show", "r.json", "--format", "md"});
  EXPECT_EQ(parsed.action, Parsed::Action::show);
  EXPECT_EQ(parsed.options.files, Words{"r.json"});
  EXPECT_EQ(parsed.options.format, "md");
  EXPECT_EQ(parse({"show", "r.json"}).options.format, "text");
  EXPECT_EQ(parse({"show", "--format=csv", "--quiet", "r.json"}).options.format, "csv");

  EXPECT_EQ(refusal({"show"}), "show: no RESULT.json is given");
  EXPECT_EQ(refusal({"show", "a", "b"}), "show: draws one RESULT.json, got 2 files");
  EXPECT_EQ(refusal({"show", "r.json", "--format=xyz"}),
            "--format: must be text, md or csv, got \"xyz\"");
  EXPECT_EQ(hint({"show", "r.json", "--format=json"}), "RESULT.json itself is the JSON");
  EXPECT_EQ(hint({"show", "r.json", "--format=cvs"}), "");
  EXPECT_EQ(hint({"show", "r.json", "--format=txt"}), "did you mean text?");
}

TEST(Parse, FlagsOfOtherVerbsAreRefusedByName) {
  EXPECT_EQ(refusal({"show", "r.json", "--depth", "8"}), "--depth: not a flag of show");
  EXPECT_EQ(hint({"show", "r.json", "-d8"}),
            "show takes --format, --log-level, --quiet and --help");
  EXPECT_EQ(refusal({"show", "r.json", "--depth"}), "--depth: not a flag of show");
  EXPECT_EQ(refusal({"show", "r.json", "--dry-run"}), "--dry-run: not a flag of show");
  EXPECT_EQ(refusal({"doctor", "--json", "x"}), "--json: not a flag of doctor");
  EXPECT_EQ(hint({"doctor", "-t1"}),
            "doctor takes --with-serials, --format, --log-level, --quiet and --help");
  EXPECT_EQ(problems({"show", "-d8", "-t1"}).size(), 3u) << "all errors at once";
  for (const Words& words : {Words{"--format=md", "f"}, Words{"run", "--format", "md", "f"}}) {
    EXPECT_EQ(refusal(words).substr(0, 23), "--format: not a flag of");
    EXPECT_EQ(hint(words),
              "uringbench show RESULT.json --format md draws it, --json writes the document");
  }
}

TEST(Parse, DoctorTakesAnyNumberOfFiles) {
  EXPECT_EQ(parse({"doctor"}).action, Parsed::Action::doctor);
  EXPECT_EQ(parse({"doctor", "a", "b", "--format", "json"}).options.files, (Words{"a", "b"}));
  EXPECT_TRUE(parse({"doctor", "--with-serials"}).options.with_serials);
  EXPECT_EQ(refusal({"doctor", "--format=md"}), "--format: must be text or json, got \"md\"");
}

TEST(Parse, HelpAndVersionNeedNothingElse) {
  using Action = Parsed::Action;
  for (const Words& words : {Words{"-h"}, Words{"run", "-h"}, Words{"show", "--help"},
                             Words{"doctor", "-h"}, Words{"-d0", "--help"}}) {
    EXPECT_EQ(parse(words).action, Action::help);
  }
  EXPECT_EQ(parse({"--version"}).action, Action::version);
}

TEST(Parse, WhatBelongsToALaterVersionSaysSo) {
  for (const char* verb : {"sweep", "ab", "regbench"}) {
    EXPECT_EQ(refusal({verb, "f"}),
              std::string(verb) + ": this verb is not available in this version");
  }
  EXPECT_EQ(refusal({"--profile", "x", "f"}), "--profile: not available in this version");
  EXPECT_EQ(refusal({"run", "--profile=x"}), "--profile: not available in this version");
  EXPECT_EQ(refusal({"show", "r", "--profile"}), "--profile: not available in this version");
}

TEST(Parse, UnknownFlagsNameWhatIsNearAndPossible) {
  EXPECT_EQ(refusal({"--sqpol", "f"}), "unknown flag --sqpol");
  EXPECT_EQ(hint({"--sqpol", "f"}), "did you mean --sqpoll? uringbench --help lists all");
  EXPECT_EQ(hint({"-A1", "f"}), "did you mean -a (--aio)? uringbench --help lists all");
  EXPECT_EQ(hint({"show", "--fromat=md"}), "did you mean --format? uringbench --help lists all");
  EXPECT_EQ(hint({"show", "-D8"}), "uringbench --help lists all flags")
      << "no flag of show is near";
}

TEST(Nearest, CountsEdits) {
  const Words words = {"text", "md", "csv"};
  EXPECT_EQ(nearest("test", words, 2), "text");
  EXPECT_EQ(nearest("te", words, 1), "text");
  EXPECT_EQ(nearest("", words, 1), std::nullopt);
  EXPECT_EQ(nearest("xyz", words, 2), std::nullopt);
}

TEST(Nearest, ListsInWords) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"a"}), "a");
  EXPECT_EQ(listed({"a", "b"}), "a or b");
  EXPECT_EQ(listed({"a", "b", "c"}, "and"), "a, b and c");
}

}  // namespace
}  // namespace uringbench::command
