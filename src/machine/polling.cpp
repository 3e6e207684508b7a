#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "machine/device.hpp"

namespace uringbench::machine {

namespace {

/// File systems that have no way to complete a polled request, whatever is below them.
constexpr std::array<std::string_view, 14> kNeverPolled = {
    "tmpfs", "ramfs", "overlay", "nfs",  "nfs4",  "cifs",  "smb3",
    "9p",    "fuse",  "fuseblk", "vfat", "exfat", "ntfs3", "virtiofs"};

std::string cure(const std::string& driver) {
  std::string hint = "use -p0; ";
  if (driver == "virtio_blk" || driver == "null_blk") {
    hint += fmt::format("for {0}, boot with {0}.poll_queues=N; ", driver);
  }
  return hint + "for NVMe, boot with nvme.poll_queues=N or reload the module with poll_queues=N";
}

void refuse(TargetFacts& facts, const std::string& reason, const std::string& driver) {
  facts.can_poll = false;
  facts.cannot_poll_reason = reason;
  facts.cannot_poll_hint = cure(driver);
}

/// An NVMe disk says io_poll 1 on recent kernels with multipath, whether its paths have poll queues
/// or not, and then completes through interrupts or answers EOPNOTSUPP.
bool has_no_poll_queues(const DeviceFacts& device) {
  return device.driver == "nvme" && device.poll_queues && *device.poll_queues <= 0;
}

/// Passthrough falls back to interrupts without a word, on every kernel. So unlike elsewhere the
/// trial read proves nothing, and only what is known to poll can.
void decide_generic_polling(TargetFacts& facts) {
  const DeviceFacts device = facts.device.value_or(DeviceFacts{});
  const auto io_poll = device.queue.find("io_poll");
  const char* const silently = "and the kernel would silently complete through interrupts";
  if (io_poll == device.queue.end()) {
    refuse(facts,
           fmt::format("cannot be established: sysfs does not tell of this drive's poll queues, {}",
                       silently),
           "nvme");
  } else if (io_poll->second != "1") {
    refuse(facts,
           fmt::format("is not possible without poll queues ({}: queue/io_poll is {}), {}",
                       device.name, io_poll->second, silently),
           "nvme");
  } else if (has_no_poll_queues(device)) {
    refuse(facts,
           fmt::format("is not possible without poll queues (nvme.poll_queues is 0), {}", silently),
           "nvme");
  } else {
    facts.can_poll = true;
  }
}

}  // namespace

void decide_polling(TargetFacts& facts) {
  facts.can_poll.reset();
  facts.cannot_poll_reason.clear();
  facts.cannot_poll_hint.clear();
  const bool is_file = facts.kind == TargetKind::file;
  const std::string filesystem = facts.filesystem.value_or("");
  if (is_file &&
      std::find(kNeverPolled.begin(), kNeverPolled.end(), filesystem) != kNeverPolled.end()) {
    refuse(facts, fmt::format("is not supported by this file system ({})", filesystem), "");
    facts.cannot_poll_hint = "use -p0, or a block device or a file on ext4 or xfs";
    return;
  }
  if (facts.kind == TargetKind::nvme_generic) {
    decide_generic_polling(facts);
    return;
  }
  if (!facts.device) return;

  const DeviceFacts& device = *facts.device;
  const std::string driver = device.driver.value_or("");
  const auto io_poll = device.queue.find("io_poll");
  if (io_poll == device.queue.end()) return;

  if (io_poll->second != "1") {
    const std::string reason =
        is_file ? fmt::format(
                      "is not supported by the block driver below it ({}: queue/io_poll "
                      "is 0)",
                      device.name)
                : std::string("is not supported by this block driver (queue/io_poll is 0)");
    refuse(facts, reason, driver);
    return;
  }
  if (has_no_poll_queues(device)) {
    refuse(facts, "is not possible without poll queues (nvme.poll_queues is 0)", driver);
    return;
  }
  facts.can_poll = true;
}

}  // namespace uringbench::machine
