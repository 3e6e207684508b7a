#include "command/signals.hpp"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/base.hpp"
#include "machine/machine.hpp"
#include "result/result.hpp"

namespace uringbench::command::signals {
namespace {

std::atomic<int> wanted_signal{0};
std::atomic<std::int64_t> wanted_since_ns{0};
/// timeout(1) and others signal a process and then its group: one wish that arrives twice. A person
/// is slower than this.
constexpr std::int64_t kOneWishNs = 200'000'000;
static_assert(std::atomic<int>::is_always_lock_free &&
                  std::atomic<std::int64_t>::is_always_lock_free,
              "a signal handler writes them");
int wake_up_fd = -1;

void wake_up() noexcept {
  const std::uint64_t one = 1;
  // Nothing can be done about a failure here, and the flag is set already.
  [[maybe_unused]] const ssize_t ignored = write(wake_up_fd, &one, sizeof(one));
}

std::int64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

void on_signal(int signal_number) {
  const int saved_errno = errno;
  int none = 0;
  if (!wanted_signal.compare_exchange_strong(none, signal_number)) {
    // A broken pipe is no person: the signal after it is the first that somebody sent.
    if (none != SIGPIPE && now_ns() - wanted_since_ns < kOneWishNs) return;
    if (none != SIGPIPE) {
      result::remove_unfinished_file();
      machine::restore_queues_now();
      _exit(128 + signal_number);
    }
    wanted_signal = signal_number;
  }
  wanted_since_ns = now_ns();
  wake_up();
  errno = saved_errno;
}

void handle(int signal_number, bool keep_ignored) {
  struct sigaction old {};
  sigaction(signal_number, nullptr, &old);
  if (keep_ignored && old.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: opening a fifo that nobody reads must end, too
  sigaction(signal_number, &action, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace

void install() {
  wake_up_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_up_fd < 0) {
    throw base::SystemError("eventfd", "signal handling", errno, "raise the limit: ulimit -n");
  }
  // A shell starts background jobs with SIGINT ignored; whoever sends one means us all the same.
  handle(SIGINT, false);
  handle(SIGTERM, false);
  handle(SIGHUP, true);    // nohup
  handle(SIGXCPU, false);  // ulimit -t
  survive_failing_writes();
}

void survive_failing_writes() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a file-size limit shall be an error message, not a core dump
}

int received() noexcept { return wanted_signal.load(std::memory_order_relaxed); }

void request(int signal_number) noexcept {
  int none = 0;
  if (wanted_signal.compare_exchange_strong(none, signal_number)) wake_up();
}

bool wait_until(std::int64_t deadline_ns) noexcept {
  while (received() == 0) {
    const std::int64_t left_ns = deadline_ns - now_ns();
    if (left_ns <= 0) return false;
    const timespec timeout{left_ns / 1'000'000'000, left_ns % 1'000'000'000};
    pollfd wake{.fd = wake_up_fd, .events = POLLIN, .revents = 0};
    ppoll(&wake, 1, &timeout, nullptr);
  }
  return true;
}

std::string name(int signal_number) {
  const char* abbreviation = sigabbrev_np(signal_number);
  return abbreviation != nullptr ? std::string("SIG") + abbreviation
                                 : "signal " + std::to_string(signal_number);
}

}  // namespace uringbench::command::signals
