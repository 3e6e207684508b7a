#include "engine/aio_ring.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.hpp"
#include "machine/machine.hpp"

namespace uringbench::engine {
namespace {

long answer(long result) noexcept { return result < 0 ? -errno : result; }

}  // namespace

AioKernel::AioKernel(std::uint32_t depth) {
  if (syscall(SYS_io_setup, depth, &context_) < 0) {
    throw base::SystemError("io_setup of " + std::to_string(depth) + " requests", "legacy AIO",
                            errno, machine::aio_setup_hint(errno));
  }
}

AioKernel::~AioKernel() {
  if (context_ != 0) syscall(SYS_io_destroy, context_);
}

long AioKernel::submit(long count, iocb** requests) noexcept {
  return answer(syscall(SYS_io_submit, context_, count, requests));
}

long AioKernel::get_events(long at_least, long at_most, io_event* events) noexcept {
  timespec at_once{};
  return answer(syscall(SYS_io_getevents, context_, at_least, at_most, events,
                        at_least == 0 ? &at_once : nullptr));
}

}  // namespace uringbench::engine
