// Errors that name the thing, the reason and the cure, and the exit codes they end in.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace uringbench::base {

/// The process exit codes, one table for every verb (128+N for signals is added by `command`).
enum class ExitCode : int {
  done = 0,
  internal = 1,        ///< a fault of ours, or a file that cannot be read or written
  usage = 2,           ///< bad flag, bad profile, nothing to do
  regression = 3,      ///< gate: a regression is demonstrated
  inconclusive = 4,    ///< gate: the data cannot exclude a regression of the margin
  not_comparable = 5,  ///< gate/compare: different settings or device, unknown schema
  missing = 6,         ///< gate: missing baseline, cells or runs
  cannot = 7,          ///< this machine, kernel or target cannot do what was asked
  io_errors = 8,       ///< I/O errors, short reads or a stall during the run
};

/// One thing that is wrong, as it is said to the user: "uringbench: <what>" and "  hint: <hint>".
struct Problem {
  ExitCode code = ExitCode::usage;
  std::string what;  ///< the thing and the reason, one line, without the program's name
  std::string hint;  ///< the cure; may be empty, may hold several lines
};

/// The user can put this right. Thrown on cold paths only, caught once, in `command`.
class UserError : public std::runtime_error {
 public:
  explicit UserError(std::vector<Problem> problems);
  UserError(ExitCode code, std::string what, std::string hint = {});

  /// Never empty.
  const std::vector<Problem>& problems() const noexcept { return problems_; }
  /// The code of the gravest problem: usage errors come before "cannot".
  ExitCode code() const noexcept;

 private:
  std::vector<Problem> problems_;
};

/// A system call said no. `subject` is the file or object, `hint` the cure where one is known.
class SystemError : public std::runtime_error {
 public:
  SystemError(std::string operation, std::string subject, int error_number, std::string hint = {},
              ExitCode code = ExitCode::cannot);

  int error_number() const noexcept { return error_number_; }
  /// what: "<subject>: <operation>: <EPERM> (<text>)".
  const Problem& problem() const noexcept { return problem_; }

 private:
  int error_number_;
  Problem problem_;
};

/// "EPERM" for EPERM; "errno 4242" for a number libc has no name for. Takes a positive number.
std::string errno_name(int error_number);
/// "EPERM (Operation not permitted)".
std::string describe_errno(int error_number);

}  // namespace uringbench::base
