// How entries of the flag table are made, and the parts it is put together from.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "command/flags.hpp"

namespace uringbench::command {

using Setter = std::function<void(plan::Options&, const std::string&)>;

/// An entry under construction: `custom(…).more("…").verbs(kShow)` reads like the table it makes.
struct Entry {
  Flag flag;

  Entry default_is(std::string text) && {
    flag.default_text = std::move(text);
    return std::move(*this);
  }
  Entry more(std::string sentences) && {
    flag.more = std::move(sentences);
    return std::move(*this);
  }
  Entry choices(std::vector<std::string> all) && {
    flag.choices = std::move(all);
    return std::move(*this);
  }
  Entry examples(std::vector<std::string> some) && {
    flag.examples = std::move(some);
    return std::move(*this);
  }
  Entry verbs(unsigned bits) && {
    flag.verbs = bits;
    return std::move(*this);
  }
  Entry repeatable() && {
    flag.repeatable = true;
    return std::move(*this);
  }
};

/// `letter` 0: long form only. Defaults shown are those of plan::Options.
Entry custom(char letter, std::string name, std::string value, std::string help, Setter set);
Entry integer(char letter, const std::string& name, std::string value,
              std::int64_t plan::Options::*member, std::int64_t least, std::int64_t most,
              std::string help);
Entry on_off(char letter, const std::string& name, bool plan::Options::*member, std::string help);
/// A flag without a value: given means true.
Entry plain(std::string name, bool plan::Options::*member, std::string help);
Entry duration(std::string name, std::int64_t plan::Options::*member, std::int64_t least_ns,
               std::string help);
/// Stores any text but an empty one.
Entry text(char letter, const std::string& name, std::string value,
           std::string plan::Options::*member, std::string help);

inline constexpr std::int64_t kLongestDurationNs = 365LL * 86'400 * 1'000'000'000;

// flags_general.cpp
std::vector<Entry> workload_flags();
std::vector<Entry> queueing_flags();
std::vector<Entry> time_flags();
std::vector<Entry> placement_flags();
std::vector<Entry> output_flags();
std::vector<Entry> other_flags();
// flags_compare.cpp
std::vector<Entry> comparing_flags();
std::vector<Entry> gate_flags();
// flags_ring.cpp
std::vector<Entry> polling_flags();
std::vector<Entry> sqpoll_flags();
std::vector<Entry> memory_flags();
std::vector<Entry> queue_flags();

}  // namespace uringbench::command
