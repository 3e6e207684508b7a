// Opening NVMe generic devices (/dev/ngXnY) for passthrough.
#include "machine/generic.hpp"

#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>

#include <fmt/format.h>

#include <cerrno>

#include "machine/device.hpp"
#include "machine/inspect.hpp"
#include "machine/nvme_names.hpp"
#include "machine/refusal.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

using base::ExitCode;
using base::SystemError;
using base::UserError;

constexpr std::uint8_t kIdentify = 0x06;         // admin command
constexpr std::uint32_t kIdentifyNamespace = 0;  // CNS: of the NVM command set
constexpr std::uint32_t kIdentifyBytes = 4096;
constexpr std::uint32_t kDwordBytes = 4;  // NVMe wants its buffers on double words

const char* const kGiveAGeneric =
    "passthrough (-u1) wants an NVMe generic device like /dev/ng0n1; leave out -u1 for all others";

[[noreturn]] void refuse_block_device(const std::string& path, const std::string& resolved,
                                      dev_t number, const Root& root) {
  const auto folder = real_path(root("/sys/dev/block/" + device_number_text(number)));
  const std::string name = base_name(folder.value_or(resolved));
  const auto generic = generic_of_block(name);
  if (!generic) {
    throw UserError(ExitCode::cannot,
                    fmt::format("{}: passthrough (-u1) is for NVMe drives only", path),
                    kGiveAGeneric);
  }
  if (name.find('p') != std::string::npos) {
    throw UserError(ExitCode::cannot,
                    fmt::format("{}: a partition: passthrough (-u1) knows no partitions and "
                                "addresses the whole namespace",
                                path),
                    fmt::format("use /dev/{} for the whole namespace, or leave out -u1", *generic));
  }
  throw UserError(
      ExitCode::cannot,
      fmt::format("{}: a block device: passthrough (-u1) goes through its generic device", path),
      fmt::format("use /dev/{}", *generic));
}

[[noreturn]] void refuse_character_device(const std::string& path, const std::string& resolved,
                                          const Root& root) {
  const std::vector<std::int64_t> controller = nvme_numbers(base_name(resolved), "nvme");
  if (controller.size() == 1) {
    const std::string block = first_namespace(controller[0], root);
    throw UserError(ExitCode::cannot, fmt::format("{}: an NVMe controller, not a namespace", path),
                    fmt::format("use /dev/{}", generic_of_block(block).value_or("ng0n1")));
  }
  throw UserError(ExitCode::cannot,
                  fmt::format("{}: a character device, and no NVMe generic device by sysfs", path),
                  kGiveAGeneric);
}

/// NVMe's number for the namespace; the kernel wants it in every command.
std::uint32_t ask_namespace_id(int fd, const std::string& path) {
  const int id = ::ioctl(fd, NVME_IOCTL_ID);
  if (id < 0) refuse_identify(path, "ioctl(NVME_IOCTL_ID)", errno);
  return static_cast<std::uint32_t>(id);
}

std::vector<std::uint8_t> ask_identify(int fd, std::uint32_t namespace_id,
                                       const std::string& path) {
  std::vector<std::uint8_t> data(kIdentifyBytes);
  nvme_admin_cmd command{};
  command.opcode = kIdentify;
  command.nsid = namespace_id;
  command.addr = reinterpret_cast<std::uintptr_t>(data.data());
  command.data_len = kIdentifyBytes;
  command.cdw10 = kIdentifyNamespace;
  const int answer = ::ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command);
  if (answer < 0) refuse_identify(path, "ioctl(NVME_IOCTL_ADMIN_CMD: Identify)", errno);
  if (answer > 0) {
    throw UserError(
        ExitCode::cannot,
        fmt::format("{}: the drive refuses Identify Namespace {} (NVMe status {:#x})", path,
                    namespace_id, answer),
        "nvme id-ns and dmesg may tell more; or leave out -u1 and use its block device");
  }
  return data;
}

std::string name_or_refuse(const std::string& path, const struct stat& status, const Root& root) {
  const std::string resolved = real_path(path).value_or(path);
  const auto name = generic_name(resolved, status, root);
  if (!name) refuse_not_generic(path, resolved, status, root);
  return *name;
}

}  // namespace

std::optional<std::string> generic_name(const std::string& resolved, const struct stat& status,
                                        const Root& root) {
  if (!S_ISCHR(status.st_mode)) return std::nullopt;
  const auto is_generic = [&](const std::string& name) {
    return block_of_generic(name) && exists(root("/sys/class/nvme-generic/" + name));
  };
  const auto folder = real_path(root("/sys/dev/char/" + device_number_text(status.st_rdev)));
  const std::string name = base_name(folder.value_or(resolved));
  return is_generic(name) ? std::optional(name) : std::nullopt;
}

void refuse_not_generic(const std::string& path, const std::string& resolved,
                        const struct stat& status, const Root& root) {
  switch (status.st_mode & S_IFMT) {
    case S_IFBLK:
      refuse_block_device(path, resolved, status.st_rdev, root);
    case S_IFCHR:
      refuse_character_device(path, resolved, root);
    case S_IFREG:
      throw UserError(ExitCode::cannot,
                      fmt::format("{}: a file: passthrough (-u1) goes past file systems", path),
                      kGiveAGeneric);
    default:
      break;
  }
  const char* what = S_ISDIR(status.st_mode) ? "is a directory" : "no device";
  throw UserError(ExitCode::cannot, fmt::format("{}: {}", path, what), kGiveAGeneric);
}

void refuse_identify(const std::string& path, const char* operation, int error_number) {
  std::string hint = "the drive does not answer properly: dmesg tells more";
  if (error_number == EACCES || error_number == EPERM) {
    hint =
        "run it with sudo: kernels before 6.2 permit passthrough to root only (CAP_SYS_ADMIN), "
        "newer ones also to whom the device belongs";
  } else if (error_number == ENOTTY) {
    hint = std::string("this is no NVMe device; ") + kGiveAGeneric;
  } else if (error_number == ENODEV || error_number == ENXIO || error_number == ENOENT) {
    hint = "the drive is gone, or its controller is being reset: dmesg tells more";
  }
  throw SystemError(operation, path, error_number, hint);
}

void describe_generic(TargetFacts& facts, const std::string& name, std::uint32_t namespace_id,
                      const NamespaceShape& shape, const Root& root) {
  facts.kind = TargetKind::nvme_generic;
  facts.namespace_id = namespace_id;
  facts.size_bytes = shape.lba_count * shape.lba_bytes;
  facts.logical_block_bytes = shape.lba_bytes;
  facts.direct_offset_align = shape.lba_bytes;
  facts.direct_memory_align = kDwordBytes;
  const auto number = device_number_of_name(block_of_generic(name).value_or(""), root);
  if (number) {
    describe_block_device(facts, *number, root);
  } else {
    decide_polling(facts);
  }
}

OpenTarget open_generic(const std::string& path, const Root& root) {
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) refuse_open(path, errno);
  (void)name_or_refuse(path, status, root);  // before opening: that may wait, or do things
  const int fd = open_read_only(path, 0);
  if (fd < 0) refuse_open(path, -fd);
  OpenTarget target;
  target.fd = Descriptor(fd);

  // Somebody may have put another thing in its place in the meantime.
  if (::fstat(fd, &status) != 0) throw SystemError("fstat", path, errno);
  const std::string name = name_or_refuse(path, status, root);
  const std::uint32_t namespace_id = ask_namespace_id(fd, path);
  const NamespaceShape shape = parse_identify_namespace(ask_identify(fd, namespace_id, path), path);
  target.facts.path = path;
  target.facts.resolved_path = resolve_links(path);
  describe_generic(target.facts, name, namespace_id, shape, root);
  return target;
}

}  // namespace uringbench::machine
