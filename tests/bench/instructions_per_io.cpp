// Counts the user instructions per submitted I/O of a running program, by single-stepping one of
// its threads: exact, free of noise, and it works on an unmodified binary (ours or a peer's).
//
//   instructions_per_io TID STEPS
//
// prints "instructions=N calls=N ios=N per_io=X per_call=X" for the whole stretch between the first
// and the last io_uring_enter seen within STEPS steps. x86-64 only: it recognises the system call
// by its instruction.
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

struct Counts {
  std::uint64_t instructions = 0, calls = 0, ios = 0;
};

/// Is the thread about to enter the kernel by io_uring_enter?
bool at_enter_call(pid_t tid, const user_regs_struct& registers) {
  constexpr std::uint64_t kSyscallInstruction = 0x050f;
  errno = 0;
  const long word = ptrace(PTRACE_PEEKTEXT, tid, registers.rip, nullptr);
  return errno == 0 && (static_cast<std::uint64_t>(word) & 0xffff) == kSyscallInstruction &&
         registers.rax == SYS_io_uring_enter;
}

Counts step_through(pid_t tid, std::uint64_t steps) {
  Counts counts;
  Counts at_last_call;
  bool started = false;
  for (std::uint64_t i = 0; i < steps; ++i) {
    user_regs_struct registers{};
    if (ptrace(PTRACE_GETREGS, tid, nullptr, &registers) != 0) break;
    if (at_enter_call(tid, registers)) {
      started = true;
      at_last_call = counts;
      counts.calls++;
      counts.ios += registers.rsi;  // to_submit
    }
    if (started) counts.instructions++;
    int status = 0;
    if (ptrace(PTRACE_SINGLESTEP, tid, nullptr, nullptr) != 0) break;
    if (waitpid(tid, &status, __WALL) < 0 || !WIFSTOPPED(status)) break;
  }
  return at_last_call;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: instructions_per_io TID STEPS\n");
    return 2;
  }
  const auto tid = static_cast<pid_t>(std::strtol(argv[1], nullptr, 10));
  const std::uint64_t steps = std::strtoull(argv[2], nullptr, 10);
  int status = 0;
  if (ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0 ||
      ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) != 0 || waitpid(tid, &status, __WALL) < 0) {
    std::perror("instructions_per_io: cannot trace the thread");
    return 1;
  }
  const Counts counts = step_through(tid, steps);
  ptrace(PTRACE_DETACH, tid, nullptr, nullptr);
  if (counts.ios == 0) {
    std::fprintf(stderr, "instructions_per_io: no io_uring_enter within %s steps\n", argv[2]);
    return 1;
  }
  const auto per = [&](std::uint64_t unit) {
    return static_cast<double>(counts.instructions) / static_cast<double>(unit);
  };
  std::printf("instructions=%lu calls=%lu ios=%lu per_io=%.2f per_call=%.2f\n",
              static_cast<unsigned long>(counts.instructions),
              static_cast<unsigned long>(counts.calls), static_cast<unsigned long>(counts.ios),
              per(counts.ios), per(counts.calls));
  return 0;
}
