#include "machine/nvme_names.hpp"

#include <fmt/format.h>

#include "machine/small_files.hpp"

namespace uringbench::machine {

std::vector<std::int64_t> nvme_numbers(const std::string& name, const std::string& prefix) {
  std::vector<std::int64_t> numbers;
  if (!starts_with(name, prefix)) return numbers;
  for (const std::string& part : split(name.substr(prefix.size()), 'n')) {
    const auto number = to_number(part);
    if (!number || *number < 0) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::string> block_of_generic(const std::string& name) {
  const std::vector<std::int64_t> numbers = nvme_numbers(name, "ng");
  if (numbers.size() != 2) return std::nullopt;
  return fmt::format("nvme{}n{}", numbers[0], numbers[1]);
}

std::optional<std::string> generic_of_block(const std::string& name) {
  const std::vector<std::int64_t> numbers = nvme_numbers(name.substr(0, name.find('p')), "nvme");
  if (numbers.size() != 2) return std::nullopt;
  return fmt::format("ng{}n{}", numbers[0], numbers[1]);
}

std::string first_namespace(std::int64_t controller, const Root& root) {
  const std::string start = fmt::format("nvme{}n", controller);
  for (const std::string& name : list_names(root("/sys/class/block"))) {
    if (starts_with(name, start) && name.find('p') == std::string::npos) return name;
  }
  return start + "1";
}

}  // namespace uringbench::machine
