// What the Identify Namespace data of NVMe say (NVM command set specification, figure "Identify
// Namespace"). Little-endian, as on the wire.
#include <fmt/format.h>

#include <cstddef>

#include "machine/machine.hpp"

namespace uringbench::machine {

namespace {

using base::ExitCode;
using base::UserError;

constexpr std::size_t kDataBytes = 4096;
constexpr std::size_t kSizeOffset = 0;            // NSZE: namespace size in LBAs
constexpr std::size_t kFormatsOffset = 25;        // NLBAF: number of formats less one
constexpr std::size_t kFormatInUseOffset = 26;    // FLBAS
constexpr std::size_t kUniqueFormatsOffset = 82;  // NULBAF: further formats behind those
constexpr std::size_t kFormatTableOffset = 128;   // LBAF0…LBAF63
constexpr std::size_t kFormatBytes = 4;           // metadata size, LBA size as power of two, speed
constexpr std::uint32_t kSmallestShift = 9;
constexpr std::uint32_t kLargestShift = 30;

std::uint64_t number_at(const std::vector<std::uint8_t>& data, std::size_t offset,
                        std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i) number |= std::uint64_t{data[offset + i]} << (8 * i);
  return number;
}

/// The index of the format in use. Its two upper bits only count in a table too large for four.
std::size_t format_in_use(const std::vector<std::uint8_t>& data, std::size_t formats) {
  const std::size_t field = data[kFormatInUseOffset];
  return (field & 0xf) | (formats > 16 ? (field & 0x60) >> 1 : 0);
}

[[noreturn]] void refuse_data(const std::string& path, const std::string& reason) {
  throw UserError(ExitCode::cannot, fmt::format("{}: Identify Namespace: {}", path, reason),
                  "this drive's answer is not understood; nvme id-ns shows it; leave out -u1 and "
                  "use its block device");
}

}  // namespace

NamespaceShape parse_identify_namespace(const std::vector<std::uint8_t>& data,
                                        const std::string& path) {
  if (data.size() < kDataBytes) {
    refuse_data(path, fmt::format("{} bytes instead of {}", data.size(), kDataBytes));
  }
  NamespaceShape shape;
  shape.lba_count = number_at(data, kSizeOffset, 8);
  if (shape.lba_count == 0) {
    throw UserError(ExitCode::cannot, fmt::format("{}: this namespace has a size of 0", path),
                    "it is not active, or of a kind without logical blocks: nvme list-ns, nvme "
                    "id-ns");
  }
  const std::size_t formats =
      std::size_t{data[kFormatsOffset]} + 1 + std::size_t{data[kUniqueFormatsOffset]};
  const std::size_t index = format_in_use(data, formats);
  if (index >= formats) {
    refuse_data(path, fmt::format("format {} is in use, of {}", index, formats));
  }
  const std::size_t format = kFormatTableOffset + index * kFormatBytes;
  const std::uint32_t shift = data[format + 2];
  if (shift < kSmallestShift || shift > kLargestShift) {
    refuse_data(path, fmt::format("an LBA of 2^{} bytes", shift));
  }
  shape.lba_bytes = 1u << shift;
  if (shape.lba_count > static_cast<std::uint64_t>(INT64_MAX) >> shift) {
    refuse_data(path, fmt::format("{} LBAs of {} bytes", shape.lba_count, shape.lba_bytes));
  }
  shape.metadata_bytes = static_cast<std::uint32_t>(number_at(data, format, 2));
  if (shape.metadata_bytes != 0) {
    throw UserError(
        ExitCode::cannot,
        fmt::format("{}: is formatted with {} bytes of metadata per LBA, and passthrough (-u1) "
                    "would need a buffer for them",
                    path, shape.metadata_bytes),
        "use its block device without -u1, or another format (nvme id-ns lists them): nvme format, "
        "which destroys the data");
  }
  return shape;
}

}  // namespace uringbench::machine
