// Getting one thread's ring ready: registrations, prepared entries, and the trial read.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/offsets.hpp"
#include "engine/ring.hpp"
#include "engine/slots.hpp"

namespace uringbench::engine {

/// The entry of a read or NOP (not of a passthrough command), all but offset, buffer and tag. Pure.
io_uring_sqe prepared_entry(const plan::RunPlan& plan, int fd);

/// The opcode by name and number for this plan.
struct Opcode {
  std::uint8_t number = 0;
  const char* name = "";
};
Opcode opcode_of(const plan::RunPlan& plan);

/// What to say when the kernel lacks an opcode of the plan, or one that tells what else it lacks;
/// nothing when it has what is needed. Pure.
std::optional<base::Problem> missing_opcode(const plan::RunPlan& plan,
                                            const std::function<bool(std::uint8_t)>& is_known);

/// Registers what the plan wants, writes the prepared entry into every ring entry, and fills in
/// what was granted. `fds` are the thread's open targets; on return `targets[i].fd` is what goes
/// into an entry: the descriptor or its registered index. Throws SystemError with a cure.
void make_ready(Ring& ring, const plan::RunPlan& plan, const std::vector<int>& fds,
                SlotBuffers& buffers, std::vector<LoopTarget>& targets, Granted& granted);

/// What to say when a trial read ended with `result` (bytes, -errno, or the status of an NVMe
/// command); nothing when the run may begin.
std::optional<base::Problem> verdict_of_result(std::int32_t result, const plan::RunPlan& plan,
                                               const std::string& target);

}  // namespace uringbench::engine
