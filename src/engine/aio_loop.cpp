// The legacy AIO engine: the loop that measures io_uring, over a ring that is none.
#include "engine/aio_ring.hpp"
#include "engine/registration.hpp"
#include "engine/run_requests.hpp"
#include "engine/slots.hpp"
#include "engine/thread_body.hpp"

namespace uringbench::engine {
static_assert(RingLike<AioRing> && CountsCalls<AioRing>);

void run_aio_thread(ThreadInput& input, Worker& worker, const ReadyGate& ready) {
  const plan::RunPlan& plan = input.plan;
  SlotBuffers buffers(plan, input.index);
  AioRing ring(plan.depth);
  for (std::size_t i = 0; i < input.targets.size(); ++i) input.targets[i].fd = input.fds[i];
  for (std::uint32_t i = 0; i <= ring.sqes().mask; ++i) {
    ring.sqes()[i] = prepared_entry(plan, input.fds[0]);
  }
  Granted granted;
  granted.depth = plan.depth;
  granted.batch_submit = plan.batch_submit;
  granted.batch_complete = plan.batch_complete;
  granted.opcode = plan.vectored ? "IOCB_CMD_PREADV" : "IOCB_CMD_PREAD";
  granted.buffer_page_bytes = plan.huge_page_bytes;
  run_requests<ReadRequest>(ring, input, buffers, worker, granted, ready);
}

}  // namespace uringbench::engine
