#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace uringbench::base {

namespace {

/// what() is for logs and tests; the program prints the problems themselves.
std::string join_problems(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += problem.what;
  }
  return text;
}

/// A thrower without a reason is a fault of ours. It must still end in a message and a code.
std::vector<Problem> never_empty(std::vector<Problem> problems) {
  if (problems.empty()) {
    problems.push_back({ExitCode::internal, "an error without a description", ""});
  }
  return problems;
}

std::string system_message(std::string operation, std::string subject, int error_number) {
  std::string reason = std::move(operation) + ": " + describe_errno(error_number);
  return subject.empty() ? reason : std::move(subject) + ": " + reason;
}

}  // namespace

UserError::UserError(std::vector<Problem> problems)
    : std::runtime_error(join_problems(problems)), problems_(never_empty(std::move(problems))) {}

UserError::UserError(ExitCode code, std::string what, std::string hint)
    : UserError(std::vector<Problem>{{code, std::move(what), std::move(hint)}}) {}

ExitCode UserError::code() const noexcept {
  // A command line that makes no sense is to be repaired first: only then can it be said what the
  // machine cannot do.
  const bool any_usage =
      std::any_of(problems_.begin(), problems_.end(),
                  [](const Problem& problem) { return problem.code == ExitCode::usage; });
  return any_usage ? ExitCode::usage : problems_.front().code;
}

SystemError::SystemError(std::string operation, std::string subject, int error_number,
                         std::string hint, ExitCode code)
    : std::runtime_error(system_message(std::move(operation), std::move(subject), error_number)),
      error_number_(error_number),
      problem_{code, what(), std::move(hint)} {}

std::string errno_name(int error_number) {
  const char* name = error_number > 0 ? ::strerrorname_np(error_number) : nullptr;
  return name != nullptr ? std::string(name) : fmt::format("errno {}", error_number);
}

std::string describe_errno(int error_number) {
  // The _np functions are neither translated nor shared between threads, unlike strerror.
  const char* text = error_number > 0 ? ::strerrordesc_np(error_number) : nullptr;
  if (text == nullptr) return errno_name(error_number);
  return fmt::format("{} ({})", errno_name(error_number), text);
}

}  // namespace uringbench::base
