// What this kernel's io_uring knows, found out by asking and by trying.
#include <liburing.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "engine/engine.hpp"
#include "engine/ring.hpp"

namespace uringbench::engine {
namespace {

struct Trial {
  std::uint32_t flag;
  std::uint32_t together_with;  ///< without which the kernel refuses it
};

constexpr Trial kTrials[] = {
    {IORING_SETUP_IOPOLL, 0},
    {IORING_SETUP_SQPOLL, 0},
    {IORING_SETUP_SQ_AFF, IORING_SETUP_SQPOLL},
    {IORING_SETUP_ATTACH_WQ, 0},
    {IORING_SETUP_R_DISABLED, 0},
    {IORING_SETUP_COOP_TASKRUN, 0},
    {IORING_SETUP_SQE128, 0},
    {IORING_SETUP_CQE32, 0},
    {IORING_SETUP_SINGLE_ISSUER, 0},
    {IORING_SETUP_DEFER_TASKRUN, IORING_SETUP_SINGLE_ISSUER},
    {abi::kSetupNoSqArray, 0},
    {abi::kSetupHybridIopoll, IORING_SETUP_IOPOLL},
};

constexpr struct {
  std::uint8_t number;
  const char* name;
} kOpcodes[] = {
    {IORING_OP_NOP, "NOP"},
    {IORING_OP_READ, "READ"},
    {IORING_OP_READV, "READV"},
    {IORING_OP_READ_FIXED, "READ_FIXED"},
    {abi::kOpReadvFixed, "READV_FIXED"},
    {IORING_OP_URING_CMD, "URING_CMD"},
};

/// Does the kernel know the flags? It looks at them before it takes memory for the ring.
bool knows_flags(std::uint32_t flags, int attach_to) {
  io_uring_params params{};
  params.flags = flags;
  params.sq_thread_cpu = static_cast<std::uint32_t>(std::max(sched_getcpu(), 0));
  if ((flags & IORING_SETUP_ATTACH_WQ) != 0) params.wq_fd = static_cast<std::uint32_t>(attach_to);
  const int fd = setup_system_call(8, params);
  if (fd >= 0) close(fd);
  return fd != -EINVAL;
}

}  // namespace

std::optional<std::uint64_t> query_setup_flags() {
  abi::QueryOpcodes answer;
  abi::QueryHeader header;
  header.query_data = reinterpret_cast<std::uint64_t>(&answer);
  header.query_op = abi::kQueryOpcodes;
  header.size = sizeof(answer);
  const long result = syscall(__NR_io_uring_register, -1, abi::kRegisterQuery, &header, 0);
  if (result < 0 || header.result < 0) return std::nullopt;
  return answer.setup_flags;
}

KernelAbilities probe_kernel() {
  KernelAbilities abilities;
  io_uring_params params{};
  const int fd = setup_system_call(8, params);
  if (fd < 0) {
    abilities.setup_error = -fd;
    return abilities;
  }
  for (const Trial& trial : kTrials) {
    abilities.setup_flags.push_back({names_of_setup_flags(trial.flag).front(),
                                     knows_flags(trial.flag | trial.together_with, fd)});
  }
  // No second ring: where locked memory is short, the first one's is given back only a while after
  // it was closed.
  for (const auto& opcode : kOpcodes) {
    abilities.opcodes.push_back({opcode.name, knows_opcode(fd, opcode.number)});
  }
  close(fd);
  abilities.features = names_of_features(params.features);
  abilities.known_setup_flags = query_setup_flags();
  return abilities;
}

}  // namespace uringbench::engine
