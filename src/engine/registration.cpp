#include "engine/registration.hpp"

#include <cerrno>
#include <cstring>

#include "base/base.hpp"
#include "engine/passthrough.hpp"
#include "engine/restrictions.hpp"

namespace uringbench::engine {

std::string error_name(int error_number) {
  return error_number < kNvmeStatus ? base::errno_name(error_number)
                                    : nvme_status_name(error_number - kNvmeStatus);
}

Opcode opcode_of(const plan::RunPlan& plan) {
  if (plan.nop) return {IORING_OP_NOP, "NOP"};
  if (plan.passthrough) return {IORING_OP_URING_CMD, "URING_CMD"};
  if (plan.vectored) {
    if (plan.fixed_buffers) return {abi::kOpReadvFixed, "READV_FIXED"};
    return {IORING_OP_READV, "READV"};
  }
  if (plan.fixed_buffers) return {IORING_OP_READ_FIXED, "READ_FIXED"};
  return {IORING_OP_READ, "READ"};
}

io_uring_sqe prepared_entry(const plan::RunPlan& plan, int fd) {
  io_uring_sqe sqe{};
  sqe.opcode = opcode_of(plan).number;
  if (plan.nop) {
    if (plan.nop_with_file) {
      sqe.fd = fd;
      sqe.rw_flags = abi::kNopFile;
      if (plan.register_files) sqe.rw_flags |= abi::kNopFixedFile;
      if (plan.fixed_buffers) sqe.rw_flags |= abi::kNopFixedBuffer;
    }
    return sqe;
  }
  sqe.fd = fd;
  if (plan.register_files) sqe.flags |= IOSQE_FIXED_FILE;
  sqe.len = plan.vectored ? 1 : static_cast<std::uint32_t>(plan.block_size_bytes);
  return sqe;
}

std::optional<base::Problem> missing_opcode(const plan::RunPlan& plan,
                                            const std::function<bool(std::uint8_t)>& is_known) {
  const Opcode opcode = opcode_of(plan);
  if (!is_known(opcode.number)) {
    const char* cure = "use -V1 -B0";
    if (plan.vectored) cure = "use -B0 with -V1, or -V0";
    if (plan.passthrough) cure = "passthrough needs Linux 5.19; without -u1, read the block device";
    return base::Problem{base::ExitCode::cannot,
                         std::string("this kernel does not know the opcode ") + opcode.name, cure};
  }
  // Vectored commands take registered buffers since the release that brought READV_FIXED. Before,
  // the answer is EINVAL, and some kernels write a warning with a call trace into their log.
  if (plan.passthrough && plan.vectored && plan.fixed_buffers && !is_known(abi::kOpReadvFixed)) {
    return base::Problem{base::ExitCode::cannot,
                         "-u1 with -V1 and -B1: this kernel takes no registered buffers for "
                         "vectored passthrough (needs Linux 6.15)",
                         "use -B0 with -V1, or -V0"};
  }
  return std::nullopt;
}

namespace {

/// Whether the thing is too big or the call is forbidden at all are two different troubles.
std::string registration_hint(int error_number, const char* otherwise) {
  const bool forbidden = error_number == EPERM || error_number == EACCES || error_number == ENOSYS;
  return forbidden ? machine::setup_hint(error_number) : otherwise;
}

void register_all(Ring& ring, const plan::RunPlan& plan, const std::vector<int>& fds,
                  const SlotBuffers& buffers, Granted& granted) {
  const bool uses_files = !plan.nop || plan.nop_with_file;
  if (uses_files && plan.register_files) {
    if (const int error = ring.register_files(fds)) {
      throw base::SystemError("io_uring_register of " + std::to_string(fds.size()) + " files",
                              "io_uring", error,
                              registration_hint(error, "use -F0, or raise the limit: ulimit -n"));
    }
    granted.registered_files = true;
  }
  if (uses_files && plan.fixed_buffers) {
    const auto regions = buffers.regions();
    if (const int error = ring.register_buffers(regions)) {
      throw base::SystemError(
          "io_uring_register of " + base::format_bytes(plan.buffer_bytes_per_thread) + " buffers",
          "io_uring", error,
          registration_hint(error,
                            "use -B0, a smaller --depth or --block-size, or raise ulimit -l"));
    }
    granted.fixed_buffers = true;
    granted.registered_regions = static_cast<std::uint32_t>(regions.size());
  }
  if (plan.register_ring) {
    if (const int error = ring.register_ring_fd()) {
      throw base::SystemError(
          "io_uring_register of the ring's descriptor", "io_uring", error,
          registration_hint(error, "use -X0 (registered rings need Linux 5.18)"));
    }
  }
}

/// Writes into every entry of the ring what stays the same. With several targets the loop writes
/// the target per request; a NOP takes what stands here.
void write_entries(Ring& ring, const plan::RunPlan& plan, const std::vector<LoopTarget>& targets) {
  for (std::uint32_t i = 0; i < ring.sq_entries(); ++i) {
    if (plan.passthrough) {
      const LoopTarget& target = targets[i % targets.size()];
      prepare_passthrough(reinterpret_cast<std::byte*>(&ring.wide_sqes()[i]), plan, target.fd,
                          target.namespace_id, target.lba_shift);
    } else {
      ring.sqes()[i] = prepared_entry(plan, targets.empty() ? -1 : targets[i % targets.size()].fd);
    }
  }
}

/// Until Linux 5.11 the thread of SQPOLL could read registered files only.
void check_sqpoll_files(const Ring& ring, const plan::RunPlan& plan) {
  if (!plan.sqpoll || plan.register_files || plan.nop) return;
  if ((ring.features() & IORING_FEAT_SQPOLL_NONFIXED) != 0) return;
  throw base::UserError(
      base::ExitCode::cannot,
      "--sqpoll with -F0: this kernel's SQPOLL thread takes registered files only",
      "use -F1, or Linux 5.11 or newer");
}

}  // namespace

void make_ready(Ring& ring, const plan::RunPlan& plan, const std::vector<int>& fds,
                SlotBuffers& buffers, std::vector<LoopTarget>& targets, Granted& granted) {
  const auto is_known = [&](std::uint8_t opcode) { return knows_opcode(ring.fd(), opcode); };
  if (const auto problem = missing_opcode(plan, is_known)) throw base::UserError({*problem});
  check_sqpoll_files(ring, plan);
  register_all(ring, plan, fds, buffers, granted);
  if (plan.restricted) {
    restrict_and_enable(ring.fd(), plan);
    granted.restrictions = restriction_names(plan);
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    targets[i].fd = plan.register_files ? static_cast<int>(i) : fds[i];
  }
  write_entries(ring, plan, targets);

  granted.polled = (ring.setup_flags() & IORING_SETUP_IOPOLL) != 0;
  granted.sqpoll = (ring.setup_flags() & IORING_SETUP_SQPOLL) != 0;
  granted.sq_entries = ring.sq_entries();
  granted.cq_entries = ring.cq_entries();
  granted.setup_flags = names_of_setup_flags(ring.setup_flags());
  granted.features = names_of_features(ring.features());
  granted.fallbacks = ring.fallbacks();
  granted.registered_ring = ring.ring_registered();
  granted.opcode = opcode_of(plan).name;
  granted.buffer_page_bytes = plan.huge_page_bytes;
  granted.ring_fd = ring.fd();
}

std::optional<base::Problem> trial_verdict(int error_number, const plan::RunPlan& plan,
                                           const std::string& target) {
  const std::string answer =
      target + ": the first read was refused: " + base::describe_errno(error_number);
  const auto refuse = [&](std::string hint) {
    return base::Problem{base::ExitCode::cannot, answer, std::move(hint)};
  };
  const bool aio = plan.engine == plan::Engine::aio;
  switch (error_number) {
    case EOPNOTSUPP:
      if (plan.polled) {
        return refuse(
            "polled I/O is not supported here after all: no poll queues are configured, "
            "or the driver or file system cannot poll; use -p0, for NVMe boot with "
            "nvme.poll_queues=N");
      }
      return refuse(plan.direct ? "this file system or driver may not support direct I/O: try -O0"
                                : "this file system or driver does not support the read used");
    case EINVAL:
      if (plan.nop) {
        return refuse("this kernel's NOP cannot look up a file (needs Linux 6.13): leave out FILE");
      }
      return refuse(aio ? "block size or alignment does not suit this target: try another "
                          "--block-size, or -O0"
                        : "block size, alignment or opcode does not suit this target or kernel: "
                          "try another --block-size, -O0 or -B0");
    case EFAULT:
      return refuse(aio ? "the kernel does not accept the read buffers"
                        : "the kernel does not accept the read buffers: try -B0");
    case EBADF:
    case EACCES:
    case EPERM:
      return refuse(std::string("reading this target through ") +
                    (aio ? "legacy AIO" : "io_uring") + " is not permitted");
    case ENXIO:
    case ENODEV:
      return refuse("the device is gone");
    default:
      return std::nullopt;  // worth measuring: it will be counted
  }
}

std::optional<base::Problem> verdict_of_result(std::int32_t result, const plan::RunPlan& plan,
                                               const std::string& target) {
  if (plan.passthrough) return passthrough_trial_verdict(result, plan, target);
  return result < 0 ? trial_verdict(-result, plan, target) : std::nullopt;
}

}  // namespace uringbench::engine
