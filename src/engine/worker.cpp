#include "engine/worker.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>

#include "engine/clock.hpp"

namespace uringbench::engine {

void Worker::begin_loop(std::uint64_t now) noexcept {
  // A stop that came before the loop began is left for the loop to see.
  if (command_.phase.load(std::memory_order_relaxed) != Phase::measure) return;
  phase_ = Phase::measure;
  Tally nothing;
  open_window(nothing, now);
}

Phase Worker::enter_phase(Tally& tally, std::uint64_t now) noexcept {
  Phase next = command_.phase.load(std::memory_order_relaxed);
  if (next == Phase::give_up) next = Phase::stop;
  phase_ = next;
  if (next == Phase::measure && !opened_) open_window(tally, now);
  if (next == Phase::stop && !closed_) close_window(tally, now);
  return next;
}

void Worker::open_window(Tally& tally, std::uint64_t now) noexcept {
  warmup_errors_ = tally.errors + tally.short_reads;
  tally = {};
  forget_errors();
  if (latency_ticks_) latency_ticks_->clear();
  getrusage(RUSAGE_THREAD, &window_.begin_usage);
  window_.begin_ticks = now;
  window_.begin_ns = monotonic_ns();
  publish(tally);
  published_.bad.store(0, std::memory_order_relaxed);
  published_.begin_ns.store(window_.begin_ns, std::memory_order_release);
  opened_ = true;
}

void Worker::close_window(const Tally& tally, std::uint64_t now) noexcept {
  window_.end_ns = monotonic_ns();
  window_.end_ticks = now;
  getrusage(RUSAGE_THREAD, &window_.end_usage);
  if (opened_) {
    result_ = tally;
    publish(result_);
  } else {  // stopped before the window opened: nothing was measured
    window_.begin_ns = window_.end_ns;
    window_.begin_ticks = window_.end_ticks;
    window_.begin_usage = window_.end_usage;
    warmup_errors_ = tally.errors + tally.short_reads;
    publish(result_);
    published_.bad.store(0, std::memory_order_relaxed);
    forget_errors();
    if (latency_ticks_) latency_ticks_->clear();
  }
  closed_ = true;
  published_.ended.store(true, std::memory_order_release);
}

bool Worker::passes(int error_number) noexcept {
  return error_number == EINTR || error_number == ETIME || error_number == EAGAIN ||
         error_number == EBUSY;
}

bool Worker::survives(int error_number, Tally& tally) noexcept {
  if (passes(error_number)) {
    tally.retries++;
    // The kernel is short of memory or of completion room: let it breathe.
    if (error_number == EAGAIN || error_number == EBUSY) sched_yield();
    return true;
  }
  fatal_errno_ = error_number;
  phase_ = Phase::stop;
  if (!closed_) close_window(tally, window_.begin_ticks);
  return false;
}

bool Worker::must_retry(std::int32_t result, const Slot& slot, Tally& tally) noexcept {
  if (result == -EAGAIN || result == -EINTR) {
    tally.retries++;
    return true;
  }
  const bool failed = result < 0 || counts_statuses_;
  const int error_number = result < 0 ? -result : failed ? kNvmeStatus + result : 0;
  if (failed) {
    tally.errors++;
    count_error(error_number);
  } else {
    tally.short_reads++;
  }
  auto& first = failed ? first_error_ : first_short_read_;
  if (!first) {
    first = ErrorTally::First{
        error_number, slot.target < targets_.size() ? targets_[slot.target] : 0, slot.offset_bytes};
  }
  published_.bad.store(tally.errors + tally.short_reads, std::memory_order_relaxed);
  return false;
}

void Worker::forget_errors() noexcept {
  errors_by_errno_.fill(0);
  errors_by_status_.fill({});
  first_error_.reset();
  first_short_read_.reset();
}

void Worker::count_error(int error_number) noexcept {
  if (error_number < kNvmeStatus) {
    errors_by_errno_[std::min<std::size_t>(static_cast<std::size_t>(error_number), kErrnos - 1)]++;
    return;
  }
  for (StatusCount& known : errors_by_status_) {
    if (known.count == 0) known.status = error_number;
    // More kinds than there is room for are added to the last one: the sum stays right.
    if (known.status == error_number || &known == &errors_by_status_.back()) {
      known.count++;
      return;
    }
  }
}

ErrorTally Worker::errors() const {
  ErrorTally errors;
  for (std::size_t i = 0; i < kErrnos; ++i) {
    if (errors_by_errno_[i] != 0) errors.by_errno[static_cast<int>(i)] = errors_by_errno_[i];
  }
  for (const StatusCount& known : errors_by_status_) {
    if (known.count != 0) errors.by_errno[known.status] = known.count;
  }
  errors.count = result_.errors;
  errors.first = first_error_;
  errors.first_short_read = first_short_read_;
  return errors;
}

}  // namespace uringbench::engine
