// Getting one thread's ring ready: registrations, prepared entries, and the trial read.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/offsets.hpp"
#include "engine/ring.hpp"
#include "engine/slots.hpp"
#include "engine/worker.hpp"

namespace uringbench::engine {

/// The entry of a read or NOP, all but offset, buffer and tag. Pure.
io_uring_sqe prepared_entry(const plan::RunPlan& plan, int fd);

/// The opcode by name and number for this plan.
struct Opcode {
  std::uint8_t number = 0;
  const char* name = "";
};
Opcode opcode_of(const plan::RunPlan& plan);

/// Registers what the plan wants, writes the prepared entry into every ring entry, and fills in
/// what was granted. `fds` are the thread's open targets; on return `targets[i].fd` is what goes
/// into an entry: the descriptor or its registered index. Throws SystemError with a cure.
void make_ready(Ring& ring, const plan::RunPlan& plan, const std::vector<int>& fds,
                SlotBuffers& buffers, std::vector<LoopTarget>& targets, Granted& granted);

/// Reads block 0 of every target once with the very entries that will be used (a NOP: once).
/// `cancelled` is asked after each wake-up. Throws UserError when the answer makes measuring
/// pointless. Returns the ring's positions: as many entries used as completions taken.
std::uint32_t trial_reads(Ring& ring, const plan::RunPlan& plan, SlotBuffers& buffers,
                          const std::vector<LoopTarget>& targets, const std::atomic<Phase>& phase,
                          std::atomic<std::int64_t>& trial_since_ns);

}  // namespace uringbench::engine
