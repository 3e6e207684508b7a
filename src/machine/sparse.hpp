// How much of a target was never written: reads of it are answered without I/O.
#pragma once

#include <cstdint>

#include "machine/machine.hpp"

namespace uringbench::machine {

/// Holes and unwritten extents of an open regular file, in bytes. A hole in a partial last block
/// of less than 4 KiB does not count. Bounded work: in a file of very many extents only the first
/// ones are looked at, and the rest is taken for written.
std::uint64_t unwritten_bytes_of_file(int fd, std::uint64_t size_bytes);

/// The same for a block device, where it can be told: zram by its counter of stored pages, loop by
/// its backing file. 0 for all others. Takes the size and the device facts of `facts`.
std::uint64_t unwritten_bytes_of_device(const TargetFacts& facts, const Root& root);

}  // namespace uringbench::machine
