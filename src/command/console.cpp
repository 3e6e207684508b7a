#include "command/console.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "command/signals.hpp"

namespace uringbench::command {
namespace {

/// Does a change of colour, ESC [ … m, begin here?
bool is_color(std::string_view text) {
  if (!text.starts_with("\x1b[")) return false;
  const auto end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm';
}

/// File names may hold anything, and a terminal obeys what it is sent.
std::string printable(std::string_view text, bool with_color = false) {
  std::string result(text);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const char c = result[i];
    const auto byte = static_cast<unsigned char>(c);
    const bool obeyed = (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
    if (obeyed && !(with_color && is_color(text.substr(i)))) result[i] = '?';
  }
  return result;
}

}  // namespace

void Console::open_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Read-only on purpose: what is written to a closed stream shall fail, not vanish.
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
}

void Console::configure(bool document_on_stdout, bool quiet, const std::string& log_level) {
  document_on_stdout_ = document_on_stdout;
  quiet_ = quiet;
  auto logger = spdlog::stderr_logger_mt("uringbench");
  logger->set_pattern("uringbench: %l: %v");
  logger->set_level(quiet ? spdlog::level::err : spdlog::level::from_str(log_level));
  logger->flush_on(spdlog::level::trace);
  logger->set_error_handler([](const std::string&) {});  // stderr is gone: nobody to tell
  spdlog::set_default_logger(std::move(logger));
}

void Console::write_out(std::string_view text) {
  while (!text.empty() && !broken_) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      // Whoever read us has seen enough. That is an end like a signal's, and no error message.
      broken_ = reader_left_ = true;
      signals::request(SIGPIPE);
    } else if (errno == EAGAIN) {
      pollfd room{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
      poll(&room, 1, 1000);
    } else if (errno != EINTR) {
      broken_ = failed_ = true;
      error({base::ExitCode::internal, "standard output: " + base::describe_errno(errno), {}});
    }
  }
}

/// Text for people is lost when stderr is gone or full. Nobody could be told, and the run goes on.
void Console::write_error(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Console::text(std::string_view text) {
  progress("");
  if (!document_on_stdout_) {
    write_out(printable(text));
  } else if (!quiet_) {
    write_error(printable(text));
  }
}

void Console::colored(std::string_view text) { write_out(printable(text, true)); }

void Console::document(std::string_view json) { write_out(json); }

void Console::detail(const std::string& message) {
  progress("");
  spdlog::debug("{}", printable(message));
}

void Console::note(const std::string& message) {
  progress("");
  spdlog::info("{}", printable(message));
}

void Console::warning(const std::string& message) {
  progress("");
  spdlog::warn("{}", printable(message));
}

void Console::error(const base::Problem& problem) {
  progress("");
  std::string text = fmt::format("uringbench: {}\n", problem.what);
  if (!problem.hint.empty()) text += fmt::format("  hint: {}\n", problem.hint);
  write_error(printable(text));
}

void Console::verdict(const std::string& line) {
  progress("");
  std::string one = printable(line);
  std::replace(one.begin(), one.end(), '\n', '?');  // names may hold anything
  write_error(one + "\n");
}

void Console::progress(const std::string& line) {
  if (line.empty() && !progress_shown_) return;
  if (quiet_ || isatty(STDERR_FILENO) == 0) return;
  write_error("\r\033[K" + line);
  progress_shown_ = !line.empty();
}

}  // namespace uringbench::command
