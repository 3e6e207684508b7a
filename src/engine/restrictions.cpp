#include "engine/restrictions.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/base.hpp"
#include "engine/registration.hpp"

namespace uringbench::engine {
namespace {

struct Permission {
  std::uint16_t kind;
  std::uint8_t value;
  std::string name;  ///< empty: not worth a word
};

std::vector<Permission> permissions_of(const plan::RunPlan& plan) {
  const Opcode opcode = opcode_of(plan);
  std::vector<Permission> list;
  list.push_back({IORING_RESTRICTION_SQE_OP, opcode.number, std::string("op ") + opcode.name});
  // A no-op names its file in flags of its own.
  if (plan.register_files && !plan.nop) {
    list.push_back(
        {IORING_RESTRICTION_SQE_FLAGS_REQUIRED, IOSQE_FIXED_FILE, "flag FIXED_FILE required"});
    list.push_back({IORING_RESTRICTION_SQE_FLAGS_ALLOWED, IOSQE_FIXED_FILE, ""});
  } else {
    list.push_back({IORING_RESTRICTION_SQE_FLAGS_ALLOWED, 0, "flags none"});
  }
  // Newer kernels (7) restrict registrations only where one is listed. This one the run makes
  // itself, and it can be made but once.
  list.push_back(
      {IORING_RESTRICTION_REGISTER_OP, IORING_REGISTER_ENABLE_RINGS, "register ENABLE_RINGS"});
  // The ring's descriptor goes with the thread, without a call.
  const bool uses_files = !plan.nop || plan.nop_with_file;
  if (uses_files && plan.register_files) {
    list.push_back(
        {IORING_RESTRICTION_REGISTER_OP, IORING_UNREGISTER_FILES, "register UNREGISTER_FILES"});
  }
  if (uses_files && plan.fixed_buffers) {
    list.push_back(
        {IORING_RESTRICTION_REGISTER_OP, IORING_UNREGISTER_BUFFERS, "register UNREGISTER_BUFFERS"});
  }
  return list;
}

/// 0 or a positive errno.
int register_call(int ring_fd, unsigned operation, const void* argument, unsigned count) noexcept {
  return syscall(__NR_io_uring_register, ring_fd, operation, argument, count) < 0 ? errno : 0;
}

}  // namespace

std::vector<io_uring_restriction> restrictions_of(const plan::RunPlan& plan) {
  std::vector<io_uring_restriction> restrictions;
  for (const Permission& permission : permissions_of(plan)) {
    io_uring_restriction& restriction = restrictions.emplace_back();
    restriction.opcode = permission.kind;
    restriction.sqe_op = permission.value;  // a union: the same byte for every kind
  }
  return restrictions;
}

std::vector<std::string> restriction_names(const plan::RunPlan& plan) {
  std::vector<std::string> names;
  for (const Permission& permission : permissions_of(plan)) {
    if (!permission.name.empty()) names.push_back(permission.name);
  }
  return names;
}

void restrict_and_enable(int ring_fd, const plan::RunPlan& plan) {
  const auto restrictions = restrictions_of(plan);
  if (const int error = register_call(ring_fd, IORING_REGISTER_RESTRICTIONS, restrictions.data(),
                                      static_cast<unsigned>(restrictions.size()))) {
    throw base::SystemError("io_uring_register of the restrictions (-e1)", "io_uring", error,
                            "use -e0 (restrictions need Linux 5.10)");
  }
  if (const int error = register_call(ring_fd, IORING_REGISTER_ENABLE_RINGS, nullptr, 0)) {
    throw base::SystemError("io_uring_register to enable the restricted ring (-e1)", "io_uring",
                            error, "use -e0");
  }
  io_uring_probe probe{};
  const int answer = register_call(ring_fd, IORING_REGISTER_PROBE, &probe, 0);
  if (answer != EACCES) {
    throw base::UserError(
        base::ExitCode::cannot,
        "--restrict: this kernel took the restrictions and does not keep to them (a probe, which "
        "is not permitted, was answered " +
            (answer == 0 ? "as ever" : base::describe_errno(answer)) + ")",
        "use -e0");
  }
}

}  // namespace uringbench::engine
