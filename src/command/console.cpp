#include "command/console.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>

#include "command/signals.hpp"

namespace uringbench::command {

void Console::configure(bool document_on_stdout, bool quiet, const std::string& log_level) {
  document_on_stdout_ = document_on_stdout;
  quiet_ = quiet;
  auto logger = spdlog::stderr_logger_mt("uringbench");
  logger->set_pattern("uringbench: %l: %v");
  logger->set_level(quiet ? spdlog::level::err : spdlog::level::from_str(log_level));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

void Console::write_out(int fd, std::string_view text) {
  while (!text.empty() && !broken_) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      // Whoever read us has seen enough. That is an end like a signal's, and no error message.
      broken_ = true;
      signals::request(SIGPIPE);
    } else if (errno != EINTR) {
      broken_ = failed_ = true;
      error({base::ExitCode::internal, "standard output: " + base::describe_errno(errno), {}});
    }
  }
}

void Console::text(std::string_view text) {
  if (document_on_stdout_) {
    if (quiet_) return;
    progress("");
    fmt::print(stderr, "{}", text);
    return;
  }
  progress("");
  write_out(STDOUT_FILENO, text);
}

void Console::document(std::string_view json) { write_out(STDOUT_FILENO, json); }

void Console::detail(const std::string& message) {
  progress("");
  spdlog::debug("{}", message);
}

void Console::note(const std::string& message) {
  progress("");
  spdlog::info("{}", message);
}

void Console::warning(const std::string& message) {
  progress("");
  spdlog::warn("{}", message);
}

void Console::error(const base::Problem& problem) {
  progress("");
  fmt::print(stderr, "uringbench: {}\n", problem.what);
  if (!problem.hint.empty()) fmt::print(stderr, "  hint: {}\n", problem.hint);
}

void Console::progress(const std::string& line) {
  if (line.empty() && !progress_shown_) return;
  if (quiet_ || isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\033[K{}", line);
  fflush(stderr);
  progress_shown_ = !line.empty();
}

}  // namespace uringbench::command
