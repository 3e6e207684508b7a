// The process that restores when the one that measures cannot: killed, interrupted, or hanging.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "machine/machine.hpp"
#include "machine/small_files.hpp"
#include "machine_queue_support.hpp"

namespace uringbench::machine {
namespace {

using test::comes_true;
using test::guardians_of;
using test::text_of;

class MachineGuardian : public test::QueueFixture {};

TEST_F(MachineGuardian, OnlyOneAtATime) {
  const QueueSettings first({"sda"}, {{"iostats", "0"}}, root());
  EXPECT_THROW(QueueSettings({"sdb"}, {{"iostats", "0"}}, root()), std::logic_error);
  EXPECT_EQ(get("iostats", "sdb"), "1");
  EXPECT_EQ(get("iostats"), "0");
}

TEST_F(MachineGuardian, GuardianIsOutOfReachAndHoldsNothing) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);  // inheritable, as our stdout is
  QueueSettings queues({"sda"}, {{"iostats", "0"}}, root());
  const auto guardians = guardians_of(::getpid());
  ASSERT_EQ(guardians.size(), 1u);
  EXPECT_NE(::getsid(guardians[0]), ::getsid(0));
  EXPECT_NE(::getpgid(guardians[0]), ::getpgid(0));
  const std::string place = "/proc/" + std::to_string(guardians[0]);
  EXPECT_EQ(list_names(place + "/fd").size(), 2u) << "the channel and the folder of sda";
  EXPECT_EQ(real_path(place + "/cwd"), "/");
  ::close(ends[1]);
  pollfd reader{.fd = ends[0], .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&reader, 1, 5000), 1) << "the reader of a pipe sees the end of its writers";
  EXPECT_NE(reader.revents & POLLHUP, 0);
  ::close(ends[0]);
  EXPECT_TRUE(queues.restore().empty());
  EXPECT_TRUE(guardians_of(::getpid()).empty());
}

TEST_F(MachineGuardian, GuardianRestoresAfterAKill) {
  reap(in_another_process([] { ::raise(SIGKILL); }));
  EXPECT_TRUE(restored_by_guardian());
}

TEST_F(MachineGuardian, SignalsToTheWholeGroupDoNotReachTheGuardian) {
  const pid_t pid = in_another_process([] {});
  const auto guardians = guardians_of(pid);
  ASSERT_EQ(guardians.size(), 1u);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGUSR2}) {
    ::kill(guardians[0], number);  // even when they are meant for it
  }
  ::kill(-pid, SIGKILL);
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_TRUE(restored_by_guardian());
  EXPECT_TRUE(comes_true([&] { return ::kill(guardians[0], 0) != 0; })) << "it ends afterwards";
}

TEST_F(MachineGuardian, RestoresNowWhileTheProcessStillHangs) {
  restore_queues_now();  // without a guardian: nothing
  const pid_t pid = in_another_process([] { restore_queues_now(); });
  EXPECT_TRUE(restored_by_guardian());
  EXPECT_EQ(::kill(pid, 0), 0) << "it lives";
  reap(pid);
}

TEST_F(MachineGuardian, RestoringTwiceIsFine) {
  QueueSettings queues({"sda"}, {{"iostats", "0"}}, root());
  restore_queues_now();
  EXPECT_TRUE(restored_by_guardian());
  EXPECT_EQ(text_of(queues.restore()), "");
}

TEST_F(MachineGuardian, WithoutItsGuardianTheProcessRestoresItself) {
  QueueSettings queues({"sda"}, {{"iostats", "0"}}, root());
  const auto guardians = guardians_of(::getpid());
  ASSERT_EQ(guardians.size(), 1u);
  ::kill(guardians[0], SIGKILL);
  EXPECT_EQ(text_of(queues.restore()), "") << "and no SIGPIPE";
  EXPECT_EQ(get("iostats"), "1");
}

TEST_F(MachineGuardian, WithoutItsGuardianItStillSaysWhatOthersChanged) {
  QueueSettings queues({"sda"}, {{"nomerges", "2"}}, root());
  const auto guardians = guardians_of(::getpid());
  ASSERT_EQ(guardians.size(), 1u);
  ::kill(guardians[0], SIGKILL);
  add("sda", "nomerges", "1\n");
  EXPECT_EQ(text_of(queues.restore()), "");
  EXPECT_EQ(get("nomerges"), "0");
  ASSERT_EQ(queues.changed_meanwhile().size(), 1u);
}

TEST_F(MachineGuardian, TheLockLastsUntilTheGuardianHasRestored) {
  const pid_t pid = in_another_process([] {});
  const std::string locked =
      "7: --queue: sda: another run has changed this disk's queue and will restore it | wait until "
      "it has ended, and the process queue-guardian with it\n";
  EXPECT_EQ(refused({"sda", "sdb"}, {{"iostats", "0"}}), locked);
  EXPECT_EQ(get("iostats", "sdb"), "1");
  EXPECT_EQ(checked({"sda"}, {{"iostats", "0"}}), "") << "looking needs no lock";
  const auto guardians = guardians_of(pid);
  ASSERT_EQ(guardians.size(), 1u);
  ::kill(guardians[0], SIGSTOP);
  reap(pid);
  EXPECT_EQ(refused({"sda"}, {{"nomerges", "2"}}), locked) << "the guardian has yet to restore";
  EXPECT_EQ(get("iostats"), "0");
  ::kill(guardians[0], SIGCONT);
  EXPECT_TRUE(comes_true([&] { return refused({"sda"}, {{"nomerges", "2"}}).empty(); }));
  EXPECT_EQ(get("iostats"), "1");
}

TEST_F(MachineGuardian, DoesNotHangOnADiskThatDoesNotAnswer) {
  QueueSettings queues({"sda"}, {{"iostats", "0"}}, root());
  const auto guardians = guardians_of(::getpid());
  ASSERT_EQ(guardians.size(), 1u);
  ::kill(guardians[0], SIGSTOP);
  EXPECT_EQ(text_of(queues.restore()),
            "7: --queue: sda: not restored in time: the disk does not answer, or the process that "
            "restores does not get to run | process " +
                std::to_string(guardians[0]) + " (queue-guardian) restores as soon as it can\n");
  EXPECT_EQ(get("iostats"), "0");
  ::kill(guardians[0], SIGCONT);
  EXPECT_TRUE(restored_by_guardian());
  EXPECT_EQ(::waitpid(guardians[0], nullptr, 0), guardians[0]);
}

}  // namespace
}  // namespace uringbench::machine
