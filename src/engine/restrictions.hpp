// A ring that can do nothing but what the run needs (-e): what to permit, and putting it in force.
//
// Order: set the ring up with IORING_SETUP_R_DISABLED, probe opcodes, register files, buffers and
// the ring's descriptor, then restrict_and_enable(). A disabled ring takes all registrations, with
// SINGLE_ISSUER, DEFER_TASKRUN and SQPOLL too (seen on Linux 6.1, 6.12, 6.18 and 7), before as well
// as after the restrictions were given; once it is enabled only those listed. So nothing that
// set-up registers has to be permitted.
#pragma once

#include <liburing.h>

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace uringbench::engine {

/// The run's opcode, the entry flag that every entry has (or that none may have), and the calls
/// with which registrations are let go. Pure.
std::vector<io_uring_restriction> restrictions_of(const plan::RunPlan& plan);

/// For people: "op READ_FIXED", "flag FIXED_FILE required", "register UNREGISTER_FILES". Pure.
std::vector<std::string> restriction_names(const plan::RunPlan& plan);

/// Restricts the disabled ring, enables it, and proves that it is restricted: a call that was not
/// permitted must be refused. With SINGLE_ISSUER the calling thread is the one that may submit
/// from now on. `ring_fd` is the ring's own descriptor, not its registered index. Throws
/// SystemError or UserError with a cure.
void restrict_and_enable(int ring_fd, const plan::RunPlan& plan);

}  // namespace uringbench::engine
