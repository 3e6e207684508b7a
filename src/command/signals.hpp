// Signals and the wish to end early.
//
// The first SIGINT, SIGTERM or SIGHUP asks the run to end; a second one ends the process at once,
// without leaving an unfinished file or a changed queue behind. What follows the first one within a
// fifth of a second is taken for the same wish.
#pragma once

#include <cstdint>
#include <string>

namespace uringbench::command::signals {

/// Once, before the first thread: handlers for this process, SIGPIPE ignored.
void install();
/// For verbs that have nothing to finish: a reader of stdout that goes away, or a file-size limit,
/// shall be an error of the write, and not the end of the process with a code of its own.
void survive_failing_writes();

/// The signal that asked for the end, or 0.
int received() noexcept;

/// Asks for the end as if a signal had come (a broken pipe on stdout: SIGPIPE). The first wish
/// wins.
void request(int signal_number) noexcept;

/// Sleeps until CLOCK_MONOTONIC shows `deadline_ns`; true as soon as the end is asked for.
bool wait_until(std::int64_t deadline_ns) noexcept;

/// "SIGINT"
std::string name(int signal_number);

}  // namespace uringbench::command::signals
