#include "command/manual.hpp"

#include <fmt/format.h>

#include <cctype>
#include <sstream>

#include "command/flags.hpp"
#include "command/help.hpp"
#include "command/nearest.hpp"

namespace uringbench::command {
namespace {

/// Text as roff takes it literally. A hyphen that is typed must stay one when it is copied.
std::string literal(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  return result;
}

/// The same at the beginning of a line, where a dot or an apostrophe would be a request.
std::string roff(const std::string& text) {
  const bool guarded = text.starts_with('.') || text.starts_with('\'');
  return (guarded ? "\\&" : "") + literal(text);
}

/// A paragraph of running text in lines of moderate length. Every sentence begins a line, as roff
/// has it to know where sentences end.
std::string prose(const std::string& text) {
  constexpr std::size_t kWidth = 78;
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    const bool full = line.size() + 1 + roff(word).size() > kWidth;
    if (full || line.ends_with('.')) {
      result += line + "\n";
      line.clear();
    }
    line += line.empty() ? roff(word) : " " + literal(word);
  }
  return line.empty() ? result : result + line + "\n";
}

std::string sentence(const std::string& help) {
  std::string text = help + ".";
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string bold(const std::string& text) { return "\\fB" + literal(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + literal(text) + "\\fR"; }

std::string option_names(char letter, const std::string& name) {
  return (letter != 0 ? bold(std::string("-") + letter) + ", " : "") + bold("--" + name);
}

std::string option(const Flag& flag) {
  std::string text = ".TP\n" + option_names(flag.letter, flag.name);
  if (flag.value_optional) {
    text += "[=" + italic(flag.value) + "]";
  } else if (!flag.value.empty()) {
    text += " " + italic(flag.value);
  }
  text += "\n" + prose(sentence(flag.help));
  if (!flag.default_text.empty()) text += prose("Default: " + flag.default_text + ".");
  return text + prose(flag.more);
}

std::string options_section() {
  std::string text =
      ".SH OPTIONS\n" +
      prose(
          "Values may be attached (-d128), separated (-d 128) or long (--depth=128). Of several, "
          "the last counts. After -- everything is a file; of compare and gate, -- between files "
          "stands between sides, and flags may follow. 0/1 flags take exactly 0 or 1. DUR is "
          "a number with ns, us, ms, s, m or h; without a unit it is in seconds. SIZE is a "
          "number with k, M, G or T, which are powers of 1024. Defaults for run stand after "
          "the others.");
  std::string group;
  for (const Flag& flag : flag_table()) {
    if (flag.verbs == 0) continue;
    if (flag.group != group) {
      group = flag.group;
      text += ".SS " + group + "\n";
    }
    text += option(flag);
  }
  for (const EarlyFlag& flag : early_flags()) {
    text += ".TP\n" + option_names(flag.letter, flag.name) + "\n" + prose(sentence(flag.help));
  }
  return text;
}

std::string verbs_section() {
  std::string text = ".SH VERBS\n";
  for (const Verb& verb : verb_table()) {
    text += ".TP\n" + (verb.name.empty() ? "(none)" : bold(verb.name)) + "\n";
    text += prose(verb.more);
    if (verb.bit == kMeasuring) continue;
    std::vector<std::string> own;
    for (const Flag& flag : flag_table()) {
      if ((flag.verbs & verb.bit) != 0) own.push_back("--" + flag.name);
    }
    text += prose("Its flags are " + listed(own, "and") + ".");
  }
  return text + ".PP\n" +
         prose(
             "The first argument is a verb if it is exactly that word. A file of that name is "
             "reached as ./run, or after --.");
}

std::string exit_status_section() {
  std::string text = ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_code_rows()) {
    text += ".TP\n" + bold(code) + "\n" + prose(sentence(meaning));
  }
  return text + ".PP\n" +
         prose(
             "SIGINT (Ctrl-C) is the normal end of a run without an end of its own: 0. Where "
             "several "
             "codes are true of a gate, the first of 1, 2, 5, 6, 3, 4, 0 counts. A reader of "
             "standard output that goes away changes nothing about it. compare ends with 0 when "
             "anything could be compared, whatever the verdicts, and with 5 when nothing could; "
             "with --exit-verdict as gate does.");
}

struct Example {
  const char* says;
  const char* command;
};
constexpr Example kExamples[] = {
    {"A line a second for three seconds:", "uringbench -r3 -d128 -s32 -c32 -b4096 FILE"},
    {"Six runs with latency, kept as a document:",
     "uringbench run -t1 --json result.json /dev/nvme0n1"},
    {"The document again, as a table for a mail:", "uringbench show result.json --format md"},
    {"No file at hand:", "uringbench run --scratch 1G@/mnt/fast"},
    {"Submission by a kernel thread on CPU 2, the worker beside it:",
     "uringbench run --sqpoll --sqpoll-cpu 2 --cpus 3 /dev/nvme0n1"},
    {"Without the queue's own accounting, which is restored afterwards:",
     "uringbench run --queue iostats=0,nomerges=2 /dev/nvme0n1"},
    {"What stands in the way of good figures:", "uringbench doctor /dev/nvme0n1"},
    {"Two kernels, measured before and after a reboot:",
     "uringbench compare --varies kernel before.json after.json"},
    {"Several results a side:", "uringbench compare base*.json -- new*.json"},
    {"Fail when IOPS may have dropped by more than 3 %:",
     "uringbench gate base.json new.json --margin iops=3%"},
};

std::string examples_section() {
  std::string text;
  for (const auto& [says, command] : kExamples) {
    text += (text.empty() ? ".SH EXAMPLES\n" : ".PP\n") + prose(says) + ".PP\n.RS 4\n.EX\n" +
            roff(command) + "\n.EE\n.RE\n";
  }
  return text;
}

constexpr const char* kGateFile[] = {
    "{",
    "  \"schema\": {\"name\": \"uringbench.gate\", \"version\": 1},",
    "  // comments are allowed",
    "  \"margins\": {\"iops\": \"2%\", \"p99\": \"10%\"},",
    "  \"cells\": [{\"match\": \"qd=1\", \"margins\": {\"iops\": \"5%\"}}],",
    "  \"metrics\": [\"iops\", \"p99\"],",
    "  \"varies\": [\"kernel\"],",
    "  \"filters\": [\"randread\"],",
    "  \"expect\": [\"qd=1\", \"qd=32\"],",
    "  \"strict_env\": false,",
    "  \"allow_inconclusive\": false,",
    "  \"warn_only\": false",
    "}"};

std::string gate_file_section() {
  std::string text =
      ".SH GATE FILE\n" +
      prose(
          "What --gate-file reads. All but schema may be left out; what is unknown is refused. "
          "Each member stands for the flag of its name: margins, and for cells that fit a "
          "pattern those of cells, for --margin; metrics for --gate-metrics. Of margins for the "
          "same cell the later counts, and those of the command line come last; lists of the "
          "command line add to those of the file, but --gate-metrics replaces metrics. expect has "
          "patterns of the cells that must be there, in place of all cells of BASE, or names a "
          "result that has them, seen from the file's own folder.") +
      ".PP\n.RS 4\n.EX\n";
  for (const char* line : kGateFile) text += roff(line) + "\n";
  return text + ".EE\n.RE\n";
}

std::string synopsis_section() {
  std::string text = ".SH SYNOPSIS\n.nf\n";
  for (const Verb& verb : verb_table()) {
    const std::string name = verb.name.empty() ? "" : " " + verb.name;
    text += bold("uringbench" + name) + " [" + italic("FLAGS") + "] " + italic(verb.files) + "\n";
  }
  return text + ".fi\n";
}

}  // namespace

std::string man_page() {
  return fmt::format(".\\\" {}\n", kOrigin) +
         ".TH URINGBENCH 1 \"\" uringbench \"User Commands\"\n"
         ".SH NAME\n"
         "uringbench \\- IOPS benchmark for Linux io_uring\n" +
         synopsis_section() + ".SH DESCRIPTION\n" +
         prose(
             "Measures how many reads per second (IOPS) files and block devices answer through "
             "io_uring. It opens its targets for reading only and never writes to them. Before a "
             "run it looks at target, kernel and machine, refuses what cannot be done, and warns "
             "of what spoils the figures.") +
         verbs_section() + options_section() + exit_status_section() + ".SH OUTPUT\n" +
         prose(
             "Data goes to standard output, everything else to standard error. With --json - "
             "standard output carries exactly one JSON document, also when the run fails after "
             "it began; when it never began, it is empty and the exit status says why. Progress "
             "is shown when standard error is a terminal.") +
         ".SH ENVIRONMENT\n.TP\n" + bold("NO_COLOR") + "\n" +
         prose("When set and not empty, tables are not coloured. They are only on a terminal.") +
         ".TP\n" + bold("COLUMNS") + "\n" +
         prose("Width of a comparison, from 80 to 100; else that of the terminal.") +
         gate_file_section() + ".SH FILES\n.TP\n" + italic("/sys/block/DISK/queue") + "\n" +
         prose(
             "Attributes of the device's queue: read before a run, and set for its time by "
             "--queue.") +
         ".TP\n" + italic("/proc/sys/kernel/io_uring_disabled") + "\n" +
         prose("Whether the system permits io_uring; read to explain a refusal.") +
         examples_section() +
         ".SH SEE ALSO\n"
         ".BR io_uring (7),\n"
         ".BR fio (1)\n";
}

}  // namespace uringbench::command
