#include "machine/cpu_lists.hpp"

#include "machine/small_files.hpp"

namespace uringbench::machine {

int count_listed(const std::string& list) {
  if (list.empty()) return 0;
  std::int64_t count = 0;
  for (const std::string& range : split(list, ',')) {
    const std::vector<std::string> ends = split(range, '-');
    const auto first = to_number(ends.front());
    const auto last = to_number(ends.back());
    if (!first || !last || ends.size() > 2 || *last < *first) return 0;
    count += *last - *first + 1;
  }
  return static_cast<int>(count);
}

}  // namespace uringbench::machine
