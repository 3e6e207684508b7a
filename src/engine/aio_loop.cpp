// The legacy AIO engine: the loop that measures io_uring, over a ring that is none.
#include <cerrno>

#include "engine/aio_ring.hpp"
#include "engine/clock.hpp"
#include "engine/loop.hpp"
#include "engine/slots.hpp"
#include "engine/thread_body.hpp"

namespace uringbench::engine {
namespace {

static_assert(RingLike<AioRing>);

/// The entry of a read, all but offset, buffer and tag. Nothing is registered with legacy AIO.
io_uring_sqe prepared_read(const plan::RunPlan& plan, int fd) {
  io_uring_sqe sqe{};
  sqe.opcode = plan.vectored ? IORING_OP_READV : IORING_OP_READ;
  sqe.fd = fd;
  sqe.len = plan.vectored ? 1 : static_cast<std::uint32_t>(plan.block_size_bytes);
  return sqe;
}

/// One read, waited for. Returns its result; nothing when called off.
std::optional<std::int32_t> one_read(AioRing& ring, std::uint32_t index,
                                     const std::atomic<Phase>& phase) {
  std::uint32_t to_submit = 1;
  while (ring.cq_tail() == index) {
    if (phase.load(std::memory_order_relaxed) >= Phase::stop) return std::nullopt;
    const int taken = ring.enter(index + 1, to_submit, 1, true);
    if (taken >= 0) {
      to_submit -= static_cast<std::uint32_t>(taken);
    } else if (!Worker::passes(-taken)) {
      throw base::SystemError("io_submit", "legacy AIO", -taken, machine::aio_setup_hint(-taken));
    }
  }
  const std::int32_t result = ring.cqes()[index].res;
  ring.release_cqes(index + 1);
  return result;
}

/// Reads block 0 of every target once. Returns the entries used, as many as completions taken.
std::uint32_t trial_reads(AioRing& ring, ThreadInput& input, const Slot& slot,
                          std::atomic<std::int64_t>& trial_since_ns) {
  constexpr int kAttempts = 100;  // of one that is told to try again
  std::uint32_t index = 0;
  for (const LoopTarget& target : input.targets) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      io_uring_sqe& sqe = ring.sqes()[index];
      sqe.fd = target.fd;
      sqe.addr = slot.address;
      sqe.off = 0;
      trial_since_ns.store(monotonic_ns(), std::memory_order_relaxed);
      const auto result = one_read(ring, index, input.command.phase);
      if (!result) return index;
      ++index;
      if (*result == -EAGAIN || *result == -EINTR) continue;
      if (*result < 0) {
        const std::string& name = input.plan.targets[target.index].path;
        if (auto problem = trial_verdict(-*result, input.plan, name)) {
          throw base::UserError({*problem});
        }
      }
      break;
    }
  }
  trial_since_ns.store(0, std::memory_order_relaxed);
  return index;
}

template <class Clock>
[[gnu::noinline]] void run_loop(AioRing& ring, const LoopSetup& setup, Worker& worker) {
  Loop<AioRing, Clock, true>(ring, setup, worker).run();
}

}  // namespace

void run_aio_thread(ThreadInput& input, Worker& worker, const ReadyGate& ready) {
  const plan::RunPlan& plan = input.plan;
  SlotBuffers buffers(plan, input.index);
  AioRing ring(plan.depth);
  for (std::size_t i = 0; i < input.targets.size(); ++i) input.targets[i].fd = input.fds[i];
  for (std::uint32_t i = 0; i <= ring.sqes().mask; ++i) {
    ring.sqes()[i] = prepared_read(plan, input.fds[0]);
  }
  const std::uint32_t used =
      trial_reads(ring, input, buffers.slots()[0], worker.published().trial_since_ns);

  Granted granted;
  granted.depth = plan.depth;
  granted.batch_submit = plan.batch_submit;
  granted.batch_complete = plan.batch_complete;
  granted.opcode = plan.vectored ? "IOCB_CMD_PREADV" : "IOCB_CMD_PREAD";
  granted.buffer_page_bytes = plan.huge_page_bytes;
  const LoopSetup setup{
      .slots = &buffers.slots(),
      .targets = &input.targets,
      .depth = plan.depth,
      .batch_submit = plan.batch_submit,
      .batch_complete = plan.batch_complete,
      .block_size_bytes = plan.block_size_bytes,
      .expected_result = static_cast<std::int32_t>(plan.block_size_bytes),
      .random = plan.random,
      .seed = input.seed,
      .first_index = used,
  };
  if (!ready(granted)) return;
  if (!plan.latency) {
    run_loop<NoClock>(ring, setup, worker);
  } else if (input.counter_clock) {
    run_loop<CounterClock>(ring, setup, worker);
  } else {
    run_loop<MonotonicClock>(ring, setup, worker);
  }
}

}  // namespace uringbench::engine
