#include "machine/cpu_lists.hpp"

#include <cstdint>
#include <utility>

#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

constexpr std::int64_t kHighestNumber = 65535;

/// First and last of every range; empty when one of them is none.
std::vector<std::pair<std::int64_t, std::int64_t>> ranges_of(const std::string& list) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  if (list.empty()) return ranges;
  for (const std::string& range : split(list, ',')) {
    const std::vector<std::string> ends = split(range, '-');
    const auto first = to_number(ends.front());
    const auto last = to_number(ends.back());
    if (!first || !last || ends.size() > 2 || *last < *first) return {};
    if (*first < 0 || *last > kHighestNumber) return {};
    ranges.emplace_back(*first, *last);
  }
  return ranges;
}

}  // namespace

int count_listed(const std::string& list) {
  std::int64_t count = 0;
  for (const auto& [first, last] : ranges_of(list)) count += last - first + 1;
  return static_cast<int>(count);
}

std::vector<int> listed_numbers(const std::string& list) {
  std::vector<int> numbers;
  for (const auto& [first, last] : ranges_of(list)) {
    for (std::int64_t number = first; number <= last; ++number) {
      numbers.push_back(static_cast<int>(number));
    }
  }
  return numbers;
}

}  // namespace uringbench::machine
