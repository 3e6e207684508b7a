// compare and gate: flags, sides, labels given, and the command line of a t/io_uring.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/base.hpp"
#include "command/gate.hpp"
#include "command/import_argv.hpp"
#include "command/parse.hpp"
#include "command/sides.hpp"

namespace uringbench::command {
namespace {

using Words = std::vector<std::string>;
using Sides = std::vector<Words>;
using plan::ComparingOptions;

ComparingOptions compare_options(Words words) {
  words.insert(words.begin(), {"compare", "a", "b"});
  return parse(words).options.comparing;
}
ComparingOptions gate_options(Words words) {
  words.insert(words.begin(), {"gate", "a", "b"});
  return parse(words).options.comparing;
}

template <class Function>
std::vector<base::Problem> problems(Function function) {
  try {
    function();
  } catch (const base::UserError& error) {
    EXPECT_EQ(error.code(), base::ExitCode::usage);
    return error.problems();
  }
  ADD_FAILURE() << "not refused";
  return {base::Problem{}};
}
std::string refusal(const Words& words) {
  return problems([&] { parse(words); }).front().what;
}
std::string hint(const Words& words) {
  return problems([&] { parse(words); }).front().hint;
}

TEST(ParseCompare, EveryWordIsASide) {
  const Parsed parsed = parse({"compare", "a.json", "new=b.json,c.json", "d.json"});
  EXPECT_EQ(parsed.action, Parsed::Action::compare);
  EXPECT_EQ(parsed.options.comparing.sides, (Sides{{"a.json"}, {"new=b.json,c.json"}, {"d.json"}}));
  EXPECT_TRUE(parsed.options.files.empty());
  EXPECT_EQ(parse({"gate", "a", "b"}).action, Parsed::Action::gate);
  EXPECT_EQ(parse({"gate", "ab.json"}).options.comparing.sides, (Sides{{"ab.json"}}))
      << "one document may have two arms";
}

TEST(ParseCompare, DashesBetweenFilesDivideSides) {
  const auto sides = [](const Words& words) { return parse(words).options.comparing.sides; };
  EXPECT_EQ(sides({"compare", "a1", "a2", "--", "b1", "b2"}), (Sides{{"a1", "a2"}, {"b1", "b2"}}));
  EXPECT_EQ(sides({"compare", "a", "--", "b", "--", "c"}), (Sides{{"a"}, {"b"}, {"c"}}));
  EXPECT_EQ(sides({"compare", "--", "a", "b"}), (Sides{{"a"}, {"b"}})) << "the end of the options";
  EXPECT_EQ(sides({"compare", "--", "-a", "--b"}), (Sides{{"-a"}, {"--b"}}));
  EXPECT_EQ(sides({"compare", "--", "a1", "-a2", "--", "b"}), (Sides{{"a1", "-a2"}, {"b"}}));
  const auto options = parse({"compare", "--quiet", "a1", "a2", "--", "b", "--varies", "kernel"});
  EXPECT_EQ(options.options.comparing.sides, (Sides{{"a1", "a2"}, {"b"}}));
  EXPECT_EQ(options.options.comparing.varies, Words{"kernel"}) << "flags may follow";
  EXPECT_TRUE(options.options.quiet);
  EXPECT_EQ(refusal({"compare", "a", "--", "b", "--vareis", "kernel"}), "unknown flag --vareis");
}

TEST(ParseCompare, AnEmptySideIsRefused) {
  // A pattern of the shell that matched nothing must not make another comparison of it.
  for (const Words& words : {Words{"gate", "a1", "a2", "--"}, Words{"gate", "a", "--", "--", "b"},
                             Words{"gate", "--", "--", "b"}}) {
    EXPECT_EQ(refusal(words), "gate: no file on one side of --");
  }
  EXPECT_EQ(refusal({"compare"}), "compare: no result is given");
  EXPECT_EQ(refusal({"gate", "--margin=iops=1%"}), "gate: no result is given");
  EXPECT_EQ(refusal({"gate", "a", "b", "c"}), "gate: takes two sides, got 3");
  EXPECT_EQ(refusal({"gate", "a", "--", "b", "--", "c"}), "gate: takes two sides, got 3");
}

TEST(ParseCompare, ADashDashStaysWhatItIsElsewhere) {
  EXPECT_EQ(parse({"doctor", "a", "--", "-b"}).options.files, (Words{"a", "-b"}));
  EXPECT_EQ(parse({"--", "a", "--"}).options.files, (Words{"a", "--"}));
}

TEST(ParseCompare, ListsAddUpAndAreCanonical) {
  EXPECT_EQ(compare_options({"--varies", "kernel,depth", "--varies=sqpoll"}).varies,
            (Words{"kernel", "qd", "sqpoll"}));
  EXPECT_EQ(compare_options({"--metrics=bandwidth,p99.9", "--metrics", "cpu"}).metrics,
            (Words{"bw", "p99.9", "cpu"}));
  EXPECT_EQ(compare_options({"--gate-metrics", "iops,p99"}).gate_metrics, (Words{"iops", "p99"}));
  EXPECT_EQ(compare_options({"--filter", "qd=(1|4) randread", "--filter=bs=4096"}).filters,
            (Words{"qd=(1|4) randread", "bs=4096"}));
  EXPECT_EQ(compare_options({"--min-effect", "iops=1.5%,p99=200%", "--min-effect=*/qd1:iops=2%"})
                .min_effects,
            (Words{"iops=1.5%,p99=200%", "*/qd1:iops=2%"}));
  EXPECT_EQ(gate_options({"--margin=iops=3%", "--margin", "qd=1:iops=5%"}).margins,
            (Words{"iops=3%", "qd=1:iops=5%"}));
  const ComparingOptions none = compare_options({});
  EXPECT_TRUE(none.varies.empty() && none.metrics.empty() && none.gate_metrics.empty() &&
              none.filters.empty() && none.min_effects.empty() && none.margins.empty());
}

TEST(ParseCompare, ListsRefuseWhatTheyDoNotKnow) {
  const Words files = {"compare", "a", "b"};
  const auto with = [&](const std::string& flag) {
    Words words = files;
    words.push_back(flag);
    return words;
  };
  EXPECT_EQ(hint(with("--varies=kernl")), "did you mean kernel?");
  EXPECT_EQ(refusal(with("--metrics=iosp")), "--metrics: there is no metric \"iosp\"");
  EXPECT_TRUE(hint(with("--metrics=iosp")).starts_with("did you mean iops? there are "));
  EXPECT_EQ(refusal(with("--gate-metrics=iops,")), "--gate-metrics: there is no metric \"\"");
  for (const char* flag :
       {"--varies=", "--varies=,kernel", "--min-effect=", "--min-effect=1%", "--min-effect=iops=x%",
        "--min-effect=iops=-1%", "--min-effect=iops=nan%", "--min-effect=iops=1",
        "--filter=", "--filter=qd=(1|4", "--metrics=", "--import-argv=-d0", "--import-argv=",
        "--import-argv='-d8", "--bootstrap=x", "--baseline-of=last", "--format=xml", "--json="}) {
    const std::string name = std::string(flag).substr(0, std::string(flag).find('='));
    EXPECT_TRUE(refusal(with(flag)).starts_with(name)) << flag << ": " << refusal(with(flag));
  }
  EXPECT_EQ(problems([&] {
              parse({"gate", "--margin=2%", "--varies=x", "--gate-file="});
            }).size(),
            4u)
      << "all that is wrong at once";
}

struct PlainCase {
  const char* verb;
  const char* flag;
  bool ComparingOptions::*member;
};
class PlainComparing : public ::testing::TestWithParam<PlainCase> {};
TEST_P(PlainComparing, TakesNoValue) {
  const auto& [verb, flag, member] = GetParam();
  EXPECT_FALSE(parse({verb, "a", "b"}).options.comparing.*member);
  EXPECT_TRUE(parse({verb, "a", flag, "b"}).options.comparing.*member);
}
INSTANTIATE_TEST_SUITE_P(
    All, PlainComparing,
    ::testing::Values(PlainCase{"compare", "--exit-verdict", &ComparingOptions::exit_verdict},
                      PlainCase{"compare", "--explain", &ComparingOptions::explain},
                      PlainCase{"gate", "--explain", &ComparingOptions::explain},
                      PlainCase{"compare", "--bootstrap", &ComparingOptions::bootstrap},
                      PlainCase{"gate", "--allow-inconclusive",
                                &ComparingOptions::allow_inconclusive},
                      PlainCase{"gate", "--warn-only", &ComparingOptions::warn_only},
                      PlainCase{"gate", "--strict-env", &ComparingOptions::strict_env}));

TEST(ParseCompare, SingleValues) {
  EXPECT_FALSE(compare_options({"--baseline-of=first"}).baseline_is_previous);
  EXPECT_TRUE(compare_options({"--baseline-of", "prev"}).baseline_is_previous);
  EXPECT_FALSE(compare_options({"--bootstrap"}).bootstrap_seed);
  EXPECT_EQ(compare_options({"--bootstrap=7"}).bootstrap_seed, 7u);
  EXPECT_EQ(compare_options({"--bootstrap", "7"}).sides.size(), 3u) << "never the next word";
  EXPECT_EQ(compare_options({"--import-argv", "-d32 -s8"}).import_argv, "-d32 -s8");
  EXPECT_EQ(gate_options({"--gate-file", "rules"}).gate_file, "rules");
  EXPECT_EQ(gate_options({"--expect=e.json"}).expect, "e.json");
  for (const char* format : {"text", "md", "csv", "json", "junit"}) {
    EXPECT_EQ(parse({"gate", "a", "b", "--format", format}).options.format, format);
  }
  EXPECT_EQ(parse({"compare", "a", "b", "--json=-"}).options.json_path, "-");
}

TEST(ParseCompare, FlagsBelongToTheirVerbs) {
  EXPECT_EQ(refusal({"compare", "a", "b", "-d8"}), "--depth: not a flag of compare");
  EXPECT_EQ(refusal({"compare", "a", "b", "--margin", "iops=2%"}),
            "--margin: not a flag of compare");
  EXPECT_EQ(refusal({"gate", "a", "b", "--exit-verdict"}), "--exit-verdict: not a flag of gate");
  EXPECT_EQ(refusal({"gate", "a", "b", "--label=x"}), "--label: not a flag of gate");
  EXPECT_EQ(refusal({"run", "-N1", "--varies=kernel"}), "--varies: not a flag of run");
  EXPECT_EQ(refusal({"--filter=x", "f"}), "--filter: not a flag of a measurement");
  EXPECT_EQ(refusal({"show", "r", "--format=junit"}),
            "--format: must be text, md or csv, got \"junit\"");
  EXPECT_EQ(hint({"gate", "a", "b", "--margn=iops=2%"}),
            "did you mean --margin? uringbench --help lists all");
}

// --- sides ---

bool nothing_exists(const std::string&) { return false; }

TEST(SplitWord, TakesLabelAndFilesApart) {
  EXPECT_EQ(split_word("a.json", nothing_exists), (SideFiles{std::nullopt, {"a.json"}}));
  EXPECT_EQ(split_word("a,b", nothing_exists), (SideFiles{std::nullopt, {"a", "b"}}));
  EXPECT_EQ(split_word("new=a,b", nothing_exists), (SideFiles{"new", {"a", "b"}}));
  EXPECT_EQ(split_word("x=a=b", nothing_exists), (SideFiles{"x", {"a=b"}})) << "the first =";
}

TEST(SplitWord, AFileIsLeftWhole) {
  const auto exists = [](const std::string& path) { return path == "qd=1,4" || path == "a,b"; };
  EXPECT_EQ(split_word("qd=1,4", exists), (SideFiles{std::nullopt, {"qd=1,4"}}));
  EXPECT_EQ(split_word("base=qd=1,4", exists), (SideFiles{"base", {"qd=1,4"}}));
  EXPECT_EQ(split_word("base=a,b", exists), (SideFiles{"base", {"a,b"}}));
  EXPECT_EQ(split_word("base=a,c", exists), (SideFiles{"base", {"a", "c"}}));
}

TEST(SplitWord, RefusesWhatIsEmpty) {
  for (const char* word : {"", "=a", "base=", "a,,b", "base=,a", "a,"}) {
    const auto problem = problems([&] { split_word(word, nothing_exists); }).front();
    EXPECT_TRUE(problem.what.starts_with(std::string("\"") + word + "\": ")) << problem.what;
  }
}

TEST(SplitSides, JoinsWordsAndEqualLabels) {
  EXPECT_EQ(split_sides({{"a1", "a2,a3"}, {"b=b1", "b2"}}, nothing_exists),
            (std::vector<SideFiles>{{std::nullopt, {"a1", "a2", "a3"}}, {"b", {"b1", "b2"}}}));
  EXPECT_EQ(split_sides({{"x=a"}, {"y=b"}, {"x=c"}, {"d"}, {"e"}}, nothing_exists),
            (std::vector<SideFiles>{
                {"x", {"a", "c"}}, {"y", {"b"}}, {std::nullopt, {"d"}}, {std::nullopt, {"e"}}}));
  EXPECT_EQ(problems([] {
              split_sides({{"x=a", "y=b"}}, nothing_exists);
            })
                .front()
                .what,
            "one side has two labels, x and y");
}

// --- the command line of a t/io_uring ---

TEST(ShellWords, AreTakenApartAsAShellDoes) {
  const auto words = [](const char* text) { return shell_words("--x", text); };
  EXPECT_EQ(words(""), Words{});
  EXPECT_EQ(words("  a\tb \n c "), (Words{"a", "b", "c"}));
  EXPECT_EQ(words("'a b' \"c d\"e f\\ g"), (Words{"a b", "c de", "f g"}));
  EXPECT_EQ(words("'' \"\""), (Words{"", ""}));
  EXPECT_EQ(words(R"("a\"b" 'c\d' e\)"), (Words{"a\"b", "c\\d", "e\\"}));
  for (const char* open : {"'a", "a \"b", "\"a'"}) {
    EXPECT_TRUE(problems([&] { words(open); }).front().what.starts_with("--x: a quote")) << open;
  }
}

std::string cell(const std::string& line) { return hints_of("--import-argv", line).cell_id; }

TEST(ImportArgv, DefaultsAreThoseOfTheOriginal) {
  EXPECT_EQ(cell("t/io_uring /dev/nvme0n1"),
            "randread bs=4096 qd=128 submit=32 complete=32 threads=1 direct=1 polled=1 fixedbufs=1 "
            "regfiles=1 engine=io_uring regring=1 vectored=0 latency=0 passthrough=0 restrict=0 "
            "numa=0");
}

TEST(ImportArgv, WhatIsGivenCounts) {
  EXPECT_EQ(cell("-p0 -d8 -b512 -n2 -R0 -B0 -F0 -t1 a b"),
            "seqread bs=512 qd=8 submit=8 complete=8 threads=2 direct=1 polled=0 fixedbufs=0 "
            "regfiles=0 engine=io_uring regring=1 vectored=0 latency=1 passthrough=0 restrict=0 "
            "numa=0")
      << "batches are cut down to the depth there, too";
  EXPECT_TRUE(cell("-u1 -b4096 /dev/ng0n1").find("passthrough=1") != std::string::npos);
  EXPECT_EQ(cell("-P1 f").find("numa"), std::string::npos) << "was a node found? Nobody knows";
}

TEST(ImportArgv, NeitherNoOpsNorOtherEnginesPoll) {
  for (const char* line : {"-N1", "-p1 -N1 f", "-S1 f", "-a1 f", "-p1 -a1 f"}) {
    EXPECT_NE(cell(line).find(" polled=0 "), std::string::npos) << line;
  }
  EXPECT_NE(cell("-S1 f").find("qd=1 submit=1 complete=1"), std::string::npos);
  EXPECT_NE(cell("-S1 f").find("engine=sync"), std::string::npos);
  EXPECT_NE(cell("-a1 f").find("engine=aio"), std::string::npos);
}

TEST(ImportArgv, OfOurOwnFlagsOnlyGivenOnesAreStated) {
  EXPECT_EQ(cell("f").find("sqpoll"), std::string::npos);
  EXPECT_NE(cell("-p0 --sqpoll f").find(" sqpoll=1"), std::string::npos);
  EXPECT_EQ(cell("-p0 --sqpoll f").find("sqpoll_cpu"), std::string::npos);
}

TEST(ImportArgv, AskedHasWhatTheDocumentWouldHave) {
  const auto asked = hints_of("--import-argv", "-d8 -r2 f").asked;
  const auto* depth = asked.find("depth");
  ASSERT_NE(depth, nullptr);
  EXPECT_EQ(std::get<std::int64_t>(*depth), 8);
  const auto* polled = asked.find("polled");
  ASSERT_NE(polled, nullptr);
  EXPECT_TRUE(std::get<bool>(*polled));
  EXPECT_EQ(std::get<std::int64_t>(*asked.find("runtime_ns")), 2'000'000'000);
  for (const char* unknown : {"taskrun", "sqpoll", "repeats", "seed", "warmup_ns"}) {
    EXPECT_EQ(asked.find(unknown), nullptr) << unknown;
  }
  EXPECT_EQ(hints_of("--import-argv", "f").asked.find("runtime_ns"), nullptr);
}

TEST(ImportArgv, RefusalsNameTheFlag) {
  for (const char* line :
       {"-d0 f", "-O0 f", "--margin iops=2% f", "show f", "--help", "compare a b", "-x f"}) {
    const auto found = problems([&] { hints_of("--import-argv", line); });
    for (const auto& problem : found) {
      EXPECT_TRUE(problem.what.starts_with("--import-argv: ")) << problem.what;
    }
  }
}

// --- the line ---

TEST(GateLine, NamesCodeAndReasonOfWhatCounts) {
  EXPECT_EQ(failed_gate_line({base::ExitCode::missing, "b.json: missing baseline", "make one"}),
            "uringbench-gate: FAIL code=6 cells=0/0 reason=b.json: missing baseline");
  EXPECT_EQ(failed_gate_line(base::UserError(
                {{base::ExitCode::missing, "a", ""}, {base::ExitCode::usage, "b\nc", ""}})),
            "uringbench-gate: FAIL code=2 cells=0/0 reason=b");
}

}  // namespace
}  // namespace uringbench::command
