#include "machine/guardian.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <stdexcept>

namespace uringbench::machine {

namespace {

/// How long one value may take. Changing a scheduler waits for the requests that are in flight.
constexpr int kPatienceMs = 3000;

/// The end of the channel that a signal handler may use; -1 when there is no guardian.
std::atomic<int> channel_for_handlers{-1};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

constexpr std::string_view kWhiteSpace = " \t\r\n";

/// What the guardian found in an attribute, or one that is done. Any message to the guardian is the
/// order to restore.
struct Message {
  int error_number = 0;  ///< of reading it
  std::uint32_t length = 0;
  std::array<char, 248> text{};  // what is longer is cut: nobody sets such a thing
};

/// A dead reader is no reason to die.
void send_message(int channel, const Message& message) noexcept {
  ::send(channel, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Absent when the other side is gone.
std::optional<Message> receive_message(int channel) noexcept {
  Message message;
  ssize_t got = 0;
  do {
    got = ::recv(channel, &message, sizeof message, 0);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof message) return std::nullopt;
  return message;
}

Message look_at(const KeptValue& kept) noexcept {
  const AttributeText now(kept.folder, kept.name);
  Message message;
  message.error_number = now.error_number();
  message.length =
      static_cast<std::uint32_t>(now.value().copy(message.text.data(), message.text.size()));
  return message;
}

std::optional<std::string> text_in(const Message& message) {
  if (message.error_number != 0) return std::nullopt;
  return std::string(message.text.data(), message.length);
}

void close_from_to(unsigned first, unsigned last) noexcept {
  if (first > last || ::close_range(first, last, 0) == 0) return;
  // A kernel before 5.9, or a filter that does not know the call. This process is young: what it
  // has open has low numbers.
  for (unsigned fd = first; fd <= std::min(last, 65535u); ++fd) ::close(static_cast<int>(fd));
}

/// `keep` is sorted.
void close_all_but(const std::vector<int>& keep) noexcept {
  unsigned first = 0;
  for (const int fd : keep) {
    const auto kept = static_cast<unsigned>(fd);
    if (kept > first) close_from_to(first, kept - 1);
    first = kept + 1;
  }
  close_from_to(first, ~0U);
}

/// The guardian's life. All signals are blocked, and nothing in here allocates or locks: it may be
/// a copy of a process in any state.
[[noreturn]] void guard(int channel, const std::vector<KeptValue>& values,
                        const std::vector<int>& keep) noexcept {
  ::setsid();
  [[maybe_unused]] const int ignored = ::chdir("/");
  // Not our own name: who kills all processes of that name shall not hit this one.
  ::prctl(PR_SET_NAME, "queue-guardian");
  // A reader of our output sees its end with ours, and unlinked scratch files are freed.
  close_all_but(keep);
  send_message(channel, {});
  receive_message(channel);  // an order or the end of the other side: the same is to be done
  // All is looked at before anything is put back: a scheduler that is put back changes others.
  for (const KeptValue& kept : values) send_message(channel, look_at(kept));
  for (const KeptValue& kept : values) {
    put_back(kept);
    send_message(channel, {});
  }
  ::_exit(0);
}

[[noreturn]] void refuse(const char* operation, int error_number) {
  throw base::SystemError(operation, "--queue: the process that restores", error_number,
                          error_number == EMFILE || error_number == ENFILE
                              ? "too many open files: raise ulimit -n"
                              : "too many processes (ulimit -u), or too little memory");
}

}  // namespace

AttributeText::AttributeText(int folder, const std::string& name) noexcept {
  const int fd = ::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC);
  ssize_t got = fd;
  if (fd >= 0) {
    do {
      got = ::read(fd, bytes_.data(), bytes_.size());
    } while (got < 0 && errno == EINTR);
  }
  if (got < 0) error_number_ = errno;
  if (fd >= 0) ::close(fd);
  if (got <= 0) return;
  const std::string_view text(bytes_.data(), static_cast<std::size_t>(got));
  end_ = text.find_last_not_of(kWhiteSpace) + 1;
  begin_ = std::min(text.find_first_not_of(kWhiteSpace), end_);
}

std::string_view AttributeText::value() const noexcept {
  const std::string_view text = whole();
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', std::min(open, text.size()));
  if (open == text.npos || close == text.npos) return text;
  return text.substr(open + 1, close - open - 1);
}

int write_attribute(int folder, const std::string& name, std::string_view text) noexcept {
  const int fd = ::openat(folder, name.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (fd < 0) return errno;
  ssize_t written = 0;
  do {
    written = ::write(fd, text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  const int error_number = written < 0 ? errno : 0;
  ::close(fd);
  return error_number;
}

void put_back(const KeptValue& kept) noexcept {
  const AttributeText now(kept.folder, kept.name);
  // Writing an old value again is not always without effect: it makes wbt_lat_usec "set by hand".
  if (now.error_number() == 0 && now.value() == kept.value) return;
  write_attribute(kept.folder, kept.name, kept.value);
}

GuardianProcess::GuardianProcess(const std::vector<KeptValue>& values) : values_(values) {
  if (channel_for_handlers.load() >= 0) throw std::logic_error("a second QueueSettings");
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    refuse("socketpair", errno);
  channel_ = Descriptor(ends[0]);
  Descriptor guardians_end(ends[1]);
  std::vector<int> keep = {guardians_end.get()};
  for (const KeptValue& kept : values) keep.push_back(kept.folder);
  std::sort(keep.begin(), keep.end());
  keep.erase(std::unique(keep.begin(), keep.end()), keep.end());

  // Blocked before the fork, so that there is no moment in which a signal finds the guardian with
  // this process's handlers or none.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_ = ::fork();
  if (pid_ == 0) guard(guardians_end.get(), values_, keep);
  const int error_number = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid_ < 0) refuse("fork", error_number);
  guardians_end = Descriptor();
  // Nothing is to be changed before the guardian is out of reach of what may end this process.
  if (!receive_message(channel_.get())) {
    ::waitpid(pid_, nullptr, 0);
    refuse("fork", ECHILD);
  }
  channel_for_handlers = channel_.get();
}

bool GuardianProcess::await_guardian() noexcept {
  for (std::size_t done = 0; done < 2 * values_.size(); ++done) {
    pollfd progress{.fd = channel_.get(), .events = POLLIN, .revents = 0};
    int ready = 0;
    do {
      ready = ::poll(&progress, 1, kPatienceMs);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) return false;
    if (const auto message = receive_message(channel_.get())) {
      if (done < values_.size()) found_.push_back(text_in(*message));
      continue;
    }
    // Somebody killed it.
    for (std::size_t i = found_.size(); i < values_.size(); ++i) {
      found_.push_back(text_in(look_at(values_[i])));
    }
    for (const KeptValue& kept : values_) put_back(kept);
    break;
  }
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  return true;
}

bool GuardianProcess::restore() noexcept {
  if (!channel_) return true;
  send_message(channel_.get(), {});
  const bool done = await_guardian();
  channel_for_handlers = -1;
  channel_ = Descriptor();
  return done;
}

void restore_queues_now() noexcept {
  const int saved_errno = errno;
  const int channel = channel_for_handlers.load();
  if (channel >= 0) send_message(channel, {});
  errno = saved_errno;
}

}  // namespace uringbench::machine
