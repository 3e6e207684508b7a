#include "engine/registration.hpp"

#include <cerrno>
#include <cstring>

#include "base/base.hpp"
#include "engine/clock.hpp"

namespace uringbench::engine {

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

void make_ready(Ring& ring, const plan::RunPlan& plan, const std::vector<int>& fds,
                SlotBuffers& buffers, std::vector<LoopTarget>& targets, Granted& granted) {
  const Opcode opcode = opcode_of(plan);
  if (!ring.knows_opcode(opcode.number)) {
    throw base::UserError(base::ExitCode::cannot,
                          std::string("this kernel does not know the opcode ") + opcode.name,
                          plan.vectored ? "use -B0 with -V1, or -V0" : "use -V1 -B0");
  }
  const bool uses_files = !plan.nop || plan.nop_with_file;
  if (uses_files && plan.register_files) {
    if (const int error = ring.register_files(fds)) {
      throw base::SystemError("io_uring_register of " + std::to_string(fds.size()) + " files",
                              "io_uring", error, "use -F0, or raise the limit: ulimit -n");
    }
    granted.registered_files = true;
  }
  if (uses_files && plan.fixed_buffers) {
    const auto regions = buffers.regions();
    if (const int error = ring.register_buffers(regions)) {
      throw base::SystemError(
          "io_uring_register of " + base::format_bytes(plan.buffer_bytes_per_thread) + " buffers",
          "io_uring", error, "use -B0, a smaller --depth or --block-size, or raise ulimit -l");
    }
    granted.fixed_buffers = true;
    granted.registered_regions = static_cast<std::uint32_t>(regions.size());
  }
  if (plan.register_ring) {
    if (const int error = ring.register_ring_fd()) {
      throw base::SystemError("io_uring_register of the ring's descriptor", "io_uring", error,
                              "use -X0 (registered rings need Linux 5.18)");
    }
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    targets[i].fd = plan.register_files ? static_cast<int>(i) : fds[i];
  }
  // With several targets the loop writes the descriptor per request; a NOP takes what stands here.
  for (std::uint32_t i = 0; i < ring.sq_entries(); ++i) {
    ring.sqes()[i] = prepared_entry(plan, targets.empty() ? -1 : targets[i % targets.size()].fd);
  }

  granted.polled = (ring.setup_flags() & IORING_SETUP_IOPOLL) != 0;
  granted.sq_entries = ring.sq_entries();
  granted.cq_entries = ring.cq_entries();
  granted.setup_flags = names_of_setup_flags(ring.setup_flags());
  granted.features = names_of_features(ring.features());
  granted.fallbacks = ring.fallbacks();
  granted.registered_ring = ring.ring_registered();
  granted.opcode = opcode.name;
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

namespace {

/// One request, waited for. Returns its result; nothing when cancelled.
std::optional<std::int32_t> one_request(Ring& ring, std::uint32_t index,
                                        const std::atomic<Phase>& phase) {
  std::uint32_t to_submit = 1;
  while (ring.cq_tail() == index) {
    if (phase.load(std::memory_order_relaxed) >= Phase::stop) return std::nullopt;
    const int taken = ring.enter(index + 1, to_submit, 1, true);
    if (taken >= 0) {
      to_submit -= std::min(to_submit, static_cast<std::uint32_t>(taken));
    } else if (taken != -EINTR && taken != -EAGAIN && taken != -EBUSY) {
      throw base::SystemError("io_uring_enter", "io_uring", -taken, machine::setup_hint(-taken));
    }
  }
  const std::int32_t result = ring.cqes()[index].res;
  ring.release_cqes(index + 1);
  return result;
}

}  // namespace

std::uint32_t trial_reads(Ring& ring, const plan::RunPlan& plan, SlotBuffers& buffers,
                          const std::vector<LoopTarget>& targets, const std::atomic<Phase>& phase,
                          std::atomic<std::int64_t>& trial_since_ns) {
  constexpr int kAttempts = 100;  // of one that is told to try again
  std::uint32_t index = 0;
  const std::size_t count = std::max<std::size_t>(targets.size(), 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name =
        targets.empty() || plan.nop ? "NOP" : plan.targets[targets[i].index].path;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      io_uring_sqe& sqe = ring.sqes()[index];
      const Slot& slot = buffers.slots()[0];
      if (!plan.nop) {
        sqe.addr = slot.address;
        sqe.buf_index = slot.buffer_index;
        sqe.off = 0;
      }
      if (!plan.nop) sqe.fd = targets[i].fd;
      trial_since_ns.store(monotonic_ns(), std::memory_order_relaxed);
      const auto result = one_request(ring, index, phase);
      if (!result) return index;
      ++index;
      if (*result == -EAGAIN || *result == -EINTR) continue;
      if (*result < 0) {
        if (auto problem = trial_verdict(-*result, plan, name)) {
          throw base::UserError({*problem});
        }
      }
      break;
    }
  }
  trial_since_ns.store(0, std::memory_order_relaxed);
  return index;
}

}  // namespace uringbench::engine
