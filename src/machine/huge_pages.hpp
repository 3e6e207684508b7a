// Pools of huge pages: how large the pages are, and how many can still be had.
#pragma once

#include <cstdint>

#include "machine/machine.hpp"

namespace uringbench::machine {

struct HugePool {
  std::uint64_t page_bytes = 0;  ///< 0: this kernel has no huge pages
  /// Neither used nor reserved, and those the kernel may make on demand (nr_overcommit_hugepages).
  std::uint64_t pages_free = 0;
};

/// The pool of pages of one size.
HugePool read_huge_pool(std::uint64_t page_bytes, const Root& root);
/// The pool of the default size, from which anonymous huge pages come.
HugePool read_default_huge_pool(const Root& root);

}  // namespace uringbench::machine
