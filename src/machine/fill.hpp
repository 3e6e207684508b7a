// Filling a file with bytes that neither compress nor deduplicate.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace uringbench::machine {

/// Writes `size_bytes` random bytes from the start of the file, syncs it and drops it from the page
/// cache. False when `stop` said so between two chunks. Throws SystemError(cannot) with `subject`
/// when writing fails, as with ENOSPC, EDQUOT, EFBIG or EIO.
bool fill_with_random(int fd, std::uint64_t size_bytes, const std::string& subject,
                      const std::function<bool()>& stop);

}  // namespace uringbench::machine
