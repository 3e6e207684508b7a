#include <fmt/format.h>

#include "command/flags.hpp"
#include "command/help.hpp"
#include "command/manual.hpp"

namespace uringbench::command {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// "-H | --hugetlb", as a pattern of bash's case.
std::string pattern(const Flag& flag) {
  return (flag.letter != 0 ? std::string("-") + flag.letter + " | " : "") + "--" + flag.name;
}

/// What bash does to offer the values of a flag: words, files, or nothing at all.
std::string offer(const Flag& flag) {
  const bool is_file = flag.value == "FILE" || flag.value == "PATH";
  std::string words = joined(flag.choices) + joined(flag.examples);
  if (flag.name == "format") {
    std::string branches;
    for (const Verb& verb : verb_table()) {
      if (verb.formats.empty()) continue;
      branches += fmt::format(" {}) words='{}' ;;", verb.name, joined(verb.formats));
    }
    return "case $verb in" + branches + " esac";
  }
  if (words.empty()) return is_file ? "files=1" : ":";
  return fmt::format("words='{}'", words) + (is_file ? " files=1" : "");
}

std::string value_branches() {
  std::string text;
  for (const Flag& flag : flag_table()) {
    if (flag.value.empty() || flag.verbs == 0) continue;
    text += "    " + pattern(flag) + ") " + offer(flag) + " ;;\n";
  }
  return text;
}

/// The flags of a verb in lines of moderate length.
std::string flags_of(const Verb& verb) {
  std::vector<std::string> words;
  const auto add = [&words](char letter, const std::string& name) {
    if (letter != 0) words.push_back(std::string("-") + letter);
    words.push_back("--" + name);
  };
  for (const Flag& flag : flag_table()) {
    if ((flag.verbs & verb.bit) != 0) add(flag.letter, flag.name);
  }
  for (const EarlyFlag& flag : early_flags()) add(flag.letter, flag.name);
  std::string text, line;
  for (const auto& word : words) {
    if (line.size() + word.size() > 80) {
      text += line + "\n           ";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return text + line;
}

std::string verb_names() {
  std::vector<std::string> names;
  for (const Verb& verb : verb_table()) {
    if (!verb.name.empty()) names.push_back(verb.name);
  }
  return joined(names);
}

std::string flag_branches() {
  std::string text;
  for (const Verb& verb : verb_table()) {
    if (verb.bit == kMeasuring) continue;
    text += fmt::format("    {}) words='{}' ;;\n", verb.name, flags_of(verb));
  }
  return text + fmt::format("    *) words='{}' ;;\n", flags_of(verb_table().front()));
}

/// Flags that never take the next word as their value.
std::string detached_patterns() {
  std::string text;
  for (const Flag& flag : flag_table()) {
    if (flag.value_optional) text += (text.empty() ? "" : " | ") + pattern(flag);
  }
  return text;
}

constexpr const char* kScript = R"(# bash completion for uringbench
# {origin}

_uringbench_values()
{{
    # Offers what the flag $1 takes; fails when it takes nothing.
    case $1 in
{values}    *) return 1 ;;
    esac
}}

_uringbench_flags()
{{
    case $verb in
{flags}    esac
}}

_uringbench()
{{
    local cur=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
    local verb='' flag='' attached='' words='' files='' only_files='' word i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${{COMP_WORDS[i]}} == -- ]] && only_files=1
    done
    if ((COMP_CWORD > 1)) && [[ ' {verbs} ' == *" ${{COMP_WORDS[1]}} "* ]]; then
        verb=${{COMP_WORDS[1]}}
    fi

    # "--taskrun=co" is one word or three, as COMP_WORDBREAKS has it.
    if [[ $cur == '=' ]]; then
        flag=$before cur=''
    elif [[ $before == '=' ]]; then
        flag=${{COMP_WORDS[COMP_CWORD - 2]}}
    elif [[ $cur == --*=* ]]; then
        flag=${{cur%%=*}} attached=$flag= cur=${{cur#*=}}
    else
        case $before in
        {detached}) ;;
        *) flag=$before ;;
        esac
    fi

    if [[ $only_files ]]; then
        files=1
    elif ! _uringbench_values "$flag"; then
        if [[ $cur == -* ]]; then
            _uringbench_flags
        else
            files=1
            ((COMP_CWORD == 1)) && words='{verbs}'
        fi
    fi
    while IFS= read -r word; do
        COMPREPLY+=("$attached$word")
    done < <(compgen -W "$words" -- "$cur"; [[ $files ]] && compgen -f -- "$cur")
    [[ $files ]] && compopt -o filenames 2> /dev/null
    return 0
}}

complete -F _uringbench uringbench
)";

}  // namespace

std::string bash_completion() {
  return fmt::format(kScript, fmt::arg("origin", kOrigin), fmt::arg("values", value_branches()),
                     fmt::arg("flags", flag_branches()), fmt::arg("verbs", verb_names()),
                     fmt::arg("detached", detached_patterns()));
}

}  // namespace uringbench::command
