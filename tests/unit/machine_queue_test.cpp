// Queue attributes: what is refused, set, read back and restored, on folders of plain files.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "machine/guardian.hpp"
#include "machine/machine.hpp"
#include "machine_queue_support.hpp"

namespace uringbench::machine {
namespace {

using base::ExitCode;
using test::as_nobody;
using test::guardians_of;
using test::problems_of;
using test::text_of;

class MachineQueue : public test::QueueFixture {};

TEST_F(MachineQueue, TextOfAnAttribute) {
  add("sda", "plain", "  write back \n");
  add("sda", "nothing", "");
  add("sda", "odd", "a [b");
  const auto value = [&](const char* key) {
    return std::string(AttributeText(AT_FDCWD, path("sda", key)).value());
  };
  EXPECT_EQ(value("plain"), "write back");
  EXPECT_EQ(value("scheduler"), "none");
  EXPECT_EQ(value("nothing"), "");
  EXPECT_EQ(value("odd"), "a [b");
  EXPECT_EQ(AttributeText(AT_FDCWD, path("sda", "scheduler")).whole(), "[none] mq-deadline kyber");
  EXPECT_EQ(AttributeText(AT_FDCWD, path("sda", "missing")).error_number(), ENOENT);
}

TEST_F(MachineQueue, CheckFindsNothingWrongAndTouchesNothing) {
  EXPECT_EQ(checked({"sda", "sdb"}, {{"iostats", "0"}, {"scheduler", "none"}}), "");
  EXPECT_EQ(checked({}, {{"iostats", "0"}}), "");
  EXPECT_EQ(get("iostats"), "1");
}

TEST_F(MachineQueue, CheckNamesEverythingThatIsWrongAtOnce) {
  EXPECT_EQ(checked({"sda"}, {{"iostat", "0"}, {"zzzzzzzz", "1"}, {"dma_alignment", "3"}}),
            "7: --queue: sda/queue/iostat: there is no such attribute | did you mean iostats?\n"
            "7: --queue: sda/queue/zzzzzzzz: there is no such attribute | can be set here: "
            "iostats, nomerges, nr_requests, scheduler, wbt_lat_usec\n"
            "7: --queue: sda/queue/dma_alignment: is read-only | can be set here: "
            "iostats, nomerges, nr_requests, scheduler, wbt_lat_usec\n");
}

TEST_F(MachineQueue, CheckRefusesMalformedNamesOnceAsUsage) {
  for (const char* key : {"../dev", "a/b", "IOSTATS", "", "io stats", "iostats\n"}) {
    const auto problems = problems_of([&] {
      QueueSettings::check({"sda", "sdb"}, {{key, "0"}}, root());
    });
    ASSERT_EQ(problems.size(), 1u) << key;
    EXPECT_EQ(problems[0].code, ExitCode::usage) << key;
    EXPECT_NE(problems[0].hint.find("iostats=0"), std::string::npos);
  }
}

TEST_F(MachineQueue, CheckRefusesFoldersAndUnreadableOnesAndDisksWithoutAQueue) {
  add("sda", "iosched/read_expire", "500\n");
  EXPECT_NE(checked({"sda"}, {{"iosched", "0"}}).find("no such attribute"), std::string::npos);
  // A read of it fails at once, as that of wbt_lat_usec does where there is no throttling.
  std::filesystem::create_symlink("/proc/self/mem", path("sda", "odd"));
  const std::string odd = checked({"sda"}, {{"odd", "0"}});
  EXPECT_NE(odd.find("cannot be read, and so not be restored: EIO"), std::string::npos) << odd;
  const std::string no_disk = checked({"sdz", "sda"}, {{"iostats", "0"}, {"nomerges", "2"}});
  EXPECT_NE(no_disk.find("7: --queue: sdz: has no block queue"), std::string::npos) << no_disk;
  EXPECT_EQ(no_disk.find('\n'), no_disk.size() - 1) << "said once";
}

TEST_F(MachineQueue, CheckAsksForRootOnceForAllAttributes) {
  ASSERT_EQ(::chmod(path("sda", "iostats").c_str(), 0644), 0);
  if (::geteuid() != 0) {  // our own files: take the right away in a way that mode bits do not show
    GTEST_SKIP() << "[root] needs another user's files";
  }
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  std::string text;
  as_nobody([&] { text = checked({"sda", "sdb"}, {{"iostats", "0"}, {"nomerges", "2"}}); });
  EXPECT_EQ(text,
            "7: --queue: sda/queue/iostats, sda/queue/nomerges, sdb/queue/iostats, "
            "sdb/queue/nomerges: needs root: EACCES (Permission denied) | "
            "run it with sudo (root of a container may not be enough)\n");
}

TEST_F(MachineQueue, SetsReadsBackAndRestores) {
  QueueSettings queues({"sda", "sdb"}, {{"iostats", "0"}, {"scheduler", "kyber"}}, root());
  EXPECT_EQ(get("iostats"), "0");
  EXPECT_EQ(get("scheduler", "sdb"), "kyber");
  ASSERT_EQ(queues.changes().size(), 4u);
  EXPECT_EQ(queues.changes()[0].disk, "sda");
  EXPECT_EQ(queues.changes()[0].key, "scheduler") << "setting it resets others: it comes first";
  EXPECT_EQ(queues.changes()[0].before, "none");
  EXPECT_EQ(queues.changes()[0].after, "kyber");
  EXPECT_EQ(queues.changes()[3].disk, "sdb");
  EXPECT_EQ(queues.changes()[3].key, "iostats");
  EXPECT_EQ(queues.changes()[3].before, "1");
  EXPECT_EQ(queues.changes()[3].after, "0");

  EXPECT_EQ(text_of(queues.restore()), "");
  for (const char* disk : {"sda", "sdb"}) {
    EXPECT_EQ(get("iostats", disk), "1");
    EXPECT_EQ(get("scheduler", disk), "none");
  }
  add("sda", "iostats", "0\n");  // by somebody else, afterwards
  EXPECT_EQ(text_of(queues.restore()), "");
  EXPECT_EQ(get("iostats"), "0") << "the second call does nothing";
}

TEST_F(MachineQueue, RestoresWhenItGoes) {
  { const QueueSettings queues({"sda"}, {{"iostats", "0"}}, root()); }
  EXPECT_EQ(get("iostats"), "1");
}

TEST_F(MachineQueue, RestoresWhatASchedulerResetsBesides) {
  add("sda", "iosched/read_expire", "750\n");
  QueueSettings queues({"sda"}, {{"scheduler", "kyber"}}, root());
  add("sda", "nr_requests", "256\n");
  add("sda", "wbt_lat_usec", "0\n");
  add("sda", "iosched/read_expire", "500\n");
  add("sda", "nomerges", "1\n");
  EXPECT_EQ(text_of(queues.restore()), "");
  EXPECT_EQ(get("nr_requests"), "128");
  EXPECT_EQ(get("wbt_lat_usec"), "2000");
  EXPECT_EQ(get("iosched/read_expire"), "750");
  EXPECT_EQ(get("nomerges"), "1") << "neither asked for nor reset: somebody else's doing";
}

TEST_F(MachineQueue, WhatHasTheValueAlreadyIsNotWrittenTo) {
  const auto written = [&] {
    struct stat status {};
    EXPECT_EQ(::stat(path("sda", "nr_requests").c_str(), &status), 0);
    return std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
  };
  const std::string before = written();
  QueueSettings queues({"sda"}, {{"nr_requests", "0128"}, {"scheduler", "none"}}, root());
  ASSERT_EQ(queues.changes().size(), 2u);
  EXPECT_EQ(queues.changes()[1].before, "128");
  EXPECT_EQ(queues.changes()[1].after, "128");
  EXPECT_EQ(text_of(queues.restore()), "");
  EXPECT_EQ(written(), before);
  EXPECT_EQ(get("scheduler"), "[none] mq-deadline kyber") << "not written to";
}

TEST_F(MachineQueue, NothingToDoMeansNoGuardian) {
  QueueSettings no_disk({}, {{"iostats", "0"}}, root());
  QueueSettings no_setting({"sda"}, {}, root());
  EXPECT_TRUE(guardians_of(::getpid()).empty());
  EXPECT_TRUE(no_disk.restore().empty());
  EXPECT_TRUE(no_setting.changes().empty());
}

TEST_F(MachineQueue, ARefusalHalfWayRestores) {
  // Takes only numbers, as an attribute does.
  std::filesystem::create_symlink("/proc/self/timerslack_ns", path("sdb", "picky"));
  add("sda", "picky", "50000\n");
  const std::string text =
      refused({"sda", "sdb"}, {{"iostats", "0"}, {"picky", "abc"}, {"nomerges", "2"}});
  EXPECT_EQ(text,
            "7: --queue: sdb/queue/picky: the kernel refuses abc: EINVAL (Invalid argument)"
            " | it was 50000\n");
  for (const char* disk : {"sda", "sdb"}) {
    EXPECT_EQ(get("iostats", disk), "1");
    EXPECT_EQ(get("nomerges", disk), "0");
  }
  EXPECT_EQ(get("picky"), "50000");
  EXPECT_TRUE(guardians_of(::getpid()).empty());
}

TEST_F(MachineQueue, AnotherValueThanWrittenIsRefused) {
  std::filesystem::create_symlink("/proc/self/timerslack_ns", path("sda", "clamped"));
  EXPECT_EQ(refused({"sda"}, {{"iostats", "0"}, {"clamped", "0"}}),
            "7: --queue: sda/queue/clamped: reads back 50000 after 0 was written | "
            "it was 50000\n");
  EXPECT_EQ(get("iostats"), "1");
}

TEST_F(MachineQueue, ANegativeLatencyTargetIsTheKernelsDefault) {
  // Zero makes this file show the default, which is what -1 does to the real attribute. Here the
  // file is a plain one that keeps the -1, and that is no latency.
  EXPECT_NE(refused({"sda"}, {{"wbt_lat_usec", "-1"}}).find("reads back -1"), std::string::npos);
  EXPECT_EQ(get("wbt_lat_usec"), "2000");
}

TEST_F(MachineQueue, ADiskThatIsGoneIsSaidAndItsSuccessorLeftAlone) {
  QueueSettings queues({"sda", "sdb"}, {{"iostats", "0"}, {"nomerges", "2"}}, root());
  std::filesystem::remove_all(folder_ / "sys/block/sda");
  for (const char* key : {"iostats", "nomerges"}) add("sda", key, "7\n");
  EXPECT_EQ(text_of(queues.restore()),
            "7: --queue: sda/queue/nomerges: not restored: the disk is gone: ENOENT (No such file "
            "or directory) | a disk that comes back begins with its driver's values\n");
  EXPECT_EQ(get("iostats"), "7");
  EXPECT_EQ(get("nomerges"), "7");
  EXPECT_EQ(get("iostats", "sdb"), "1");
  EXPECT_EQ(get("nomerges", "sdb"), "0");
}

TEST_F(MachineQueue, WhatCannotBeRestoredIsSaidWithTheCommandThatDoes) {
  QueueSettings queues({"sda"}, {{"iostats", "0"}}, root());
  std::filesystem::remove(path("sda", "iostats"));
  std::filesystem::create_symlink("/dev/null", path("sda", "iostats"));
  EXPECT_EQ(text_of(queues.restore()),
            "7: --queue: sda/queue/iostats: not restored: it is , and was 1 | "
            "echo 1 > /sys/block/sda/queue/iostats\n");
}

TEST_F(MachineQueue, WhatCannotBePutBackIsBarredAndNotOffered) {
  add("sda", "discard_max_bytes", "4294966784\n");
  EXPECT_EQ(checked({"sda"}, {{"discard_max_bytes", "0"}}),
            "7: --queue: sda/queue/discard_max_bytes: cannot be put back once it is changed | can "
            "be set here: iostats, nomerges, nr_requests, scheduler, wbt_lat_usec\n");
}

TEST_F(MachineQueue, ReadAheadIsSetAndRestoredLast) {
  add("sda", "read_ahead_kb", "64\n");
  {
    const QueueSettings queues({"sda"}, {{"read_ahead_kb", "32"}, {"iostats", "0"}}, root());
    EXPECT_EQ(queues.changes()[1].key, "read_ahead_kb") << "the others raise it";
    EXPECT_EQ(get("read_ahead_kb"), "32");
  }
  EXPECT_EQ(get("read_ahead_kb"), "64");
  QueueSettings queues({"sda"}, {{"iostats", "0"}}, root());
  add("sda", "read_ahead_kb", "2560\n");
  EXPECT_EQ(text_of(queues.restore()), "");
  EXPECT_EQ(get("read_ahead_kb"), "64") << "asked for or not";
  EXPECT_TRUE(queues.changed_meanwhile().empty()) << "that was the kernel";
}

TEST_F(MachineQueue, WhatSomebodyElseChangedIsRestoredAndSaid) {
  QueueSettings queues({"sda", "sdb"}, {{"nomerges", "2"}, {"iostats", "0"}}, root());
  add("sda", "nomerges", "1\n");
  add("sdb", "iostats", "1\n");  // what it was before is nobody's surprise
  EXPECT_EQ(text_of(queues.restore()), "");
  EXPECT_EQ(get("nomerges"), "0");
  const std::vector<std::string> said = {
      "sda/queue/nomerges was changed to 1 by somebody else during the run"};
  EXPECT_EQ(queues.changed_meanwhile(), said);
}

}  // namespace
}  // namespace uringbench::machine
