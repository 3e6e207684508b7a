// The loops over a ring that exist, and the choice between them.
#include <sched.h>
#include <unistd.h>

#include <memory>

#include "engine/registration.hpp"
#include "engine/ring.hpp"
#include "engine/ring_faces.hpp"
#include "engine/run_requests.hpp"
#include "engine/thread_body.hpp"

namespace uringbench::engine {
namespace {

static_assert(RingLike<Ring> && !CountsCalls<Ring> && !TakenByThread<Ring>);
static_assert(RingLike<WideRing> && !CountsCalls<WideRing> && !TakenByThread<WideRing>);
static_assert(RingLike<SqpollRing<true>> && CountsCalls<SqpollRing<true>> &&
              TakenByThread<SqpollRing<true>>);

/// NOP, read or passthrough; submitted by system calls or by a kernel thread.
void run_the_right_loop(Ring& ring, ThreadInput& input, SlotBuffers& buffers, Worker& worker,
                        const Granted& granted, const ReadyGate& ready) {
  const plan::RunPlan& plan = input.plan;
  if (plan.passthrough && plan.sqpoll) {
    SqpollRing<true> face(ring);
    run_requests<PassthroughRequest>(face, input, buffers, worker, granted, ready);
  } else if (plan.passthrough) {
    WideRing face(ring);
    run_requests<PassthroughRequest>(face, input, buffers, worker, granted, ready);
  } else if (plan.sqpoll) {
    SqpollRing<false> face(ring);
    plan.nop ? run_requests<NopRequest>(face, input, buffers, worker, granted, ready)
             : run_requests<ReadRequest>(face, input, buffers, worker, granted, ready);
  } else {
    plan.nop ? run_requests<NopRequest>(ring, input, buffers, worker, granted, ready)
             : run_requests<ReadRequest>(ring, input, buffers, worker, granted, ready);
  }
}

/// With --sqpoll-share the first thread's ring comes first.
RingRequest request_of(ThreadInput& input) {
  RingRequest request = ring_request(input.plan);
  if (input.plan.sqpoll_share && input.index != 0) {
    request.attach_to = input.first_ring.wait();
    if (request.attach_to < 0) {
      throw base::UserError(base::ExitCode::cannot,
                            "--sqpoll-share: the first thread's ring could not be set up",
                            "see its message");
    }
  }
  return request;
}

/// The SQPOLL thread inherits the CPUs of the thread that makes the ring (seen from Linux 6.12 on).
/// It shall not be pinned to the submitter's: for as long as this lives, a pinned thread may run
/// where the process may.
class Roaming {
 public:
  explicit Roaming(bool wanted) {
    cpu_set_t all;
    wanted_ = wanted && sched_getaffinity(0, sizeof(pinned_), &pinned_) == 0 &&
              sched_getaffinity(getpid(), sizeof(all), &all) == 0 &&
              sched_setaffinity(0, sizeof(all), &all) == 0;
  }
  Roaming(const Roaming&) = delete;
  Roaming& operator=(const Roaming&) = delete;
  ~Roaming() {
    if (wanted_) sched_setaffinity(0, sizeof(pinned_), &pinned_);
  }

 private:
  bool wanted_ = false;
  cpu_set_t pinned_{};
};

/// The ring of a thread, made where its SQPOLL thread may live.
std::unique_ptr<Ring> make_ring(ThreadInput& input) {
  const plan::RunPlan& plan = input.plan;
  const bool pinned = plan.threads[input.index].cpu >= 0;
  const RingRequest request = request_of(input);
  const Roaming roaming(plan.sqpoll && plan.sqpoll_cpu < 0 && pinned);
  return std::make_unique<Ring>(request);
}

}  // namespace

void run_uring_thread(ThreadInput& input, Worker& worker, const ReadyGate& ready) {
  const plan::RunPlan& plan = input.plan;
  SlotBuffers buffers(plan, input.index);
  const auto made = make_ring(input);
  Ring& ring = *made;
  if (input.index == 0) input.first_ring.announce(ring.fd());
  Granted granted;
  granted.depth = plan.depth;
  granted.batch_submit = plan.batch_submit;
  granted.batch_complete = plan.batch_complete;
  make_ready(ring, plan, input.fds, buffers, input.targets, granted);
  run_the_right_loop(ring, input, buffers, worker, granted, ready);
  // Closing a ring lets its files go a while later; whoever unmounts right after us, or needs the
  // room of a scratch file, would find them in use. With requests still out older kernels would
  // wait.
  if (worker.never_completed() == 0) ring.unregister();
}

}  // namespace uringbench::engine
