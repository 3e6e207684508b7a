// Queue attributes: what is refused, set, read back and restored, on folders of plain files and,
// as root, on a loop device.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
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

TEST_F(MachineQueue, RestoresTheReadAheadWhateverIsSet) {
  add("sda", "read_ahead_kb", "64\n");
  {
    const QueueSettings queues({"sda"}, {{"iostats", "0"}}, root());
    add("sda", "read_ahead_kb", "128\n");
  }
  EXPECT_EQ(get("read_ahead_kb"), "64");
  const QueueSettings queues({"sda"}, {{"read_ahead_kb", "32"}, {"iostats", "0"}}, root());
  ASSERT_EQ(queues.changes().size(), 2u);
  EXPECT_EQ(queues.changes()[1].key, "read_ahead_kb") << "set last, too";
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

// --- the real thing --------------------------------------------------------------------------

/// A loop device with a number of its own and no file behind it: it has a queue all the same.
class LoopQueue {
 public:
  LoopQueue() : control_(::open("/dev/loop-control", O_RDWR | O_CLOEXEC)) {
    for (int number = 400; control_ && ::geteuid() == 0 && number < 500 && number_ < 0; ++number) {
      if (::ioctl(control_.get(), LOOP_CTL_ADD, number) == number) number_ = number;
    }
  }
  ~LoopQueue() { remove(); }
  LoopQueue(const LoopQueue&) = delete;
  LoopQueue& operator=(const LoopQueue&) = delete;

  explicit operator bool() const { return number_ >= 0; }
  std::string disk() const { return "loop" + std::to_string(number_); }
  void remove() const { (void)::ioctl(control_.get(), LOOP_CTL_REMOVE, number_); }
  void add_again() const { ASSERT_EQ(::ioctl(control_.get(), LOOP_CTL_ADD, number_), number_); }
  std::string get(const std::string& key) const {
    return std::string(AttributeText(AT_FDCWD, file(key)).value());
  }
  void set(const std::string& key, const std::string& value) const {
    ASSERT_EQ(write_attribute(AT_FDCWD, file(key), value), 0) << key;
  }

 private:
  std::string file(const std::string& key) const {
    return "/sys/block/" + disk() + "/queue/" + key;
  }
  Descriptor control_;
  int number_ = -1;
};

#define SKIP_WITHOUT(loop) \
  if (!(loop)) GTEST_SKIP() << "no loop device can be made here (needs root)"

TEST(MachineQueueReal, SetsAndRestoresALoopDevice) {
  const LoopQueue loop;
  SKIP_WITHOUT(loop);
  loop.set("nr_requests", "96");
  const std::string iostats = loop.get("iostats");
  const std::string other = iostats == "1" ? "0" : "1";
  {
    const QueueSettings queues({loop.disk()}, {{"iostats", other}, {"nr_requests", "64"}});
    EXPECT_EQ(loop.get("iostats"), other);
    EXPECT_EQ(loop.get("nr_requests"), "64");
  }
  EXPECT_EQ(loop.get("iostats"), iostats);
  EXPECT_EQ(loop.get("nr_requests"), "96");
}

TEST(MachineQueueReal, TheReadAheadIsWhatItWas) {
  const LoopQueue loop;
  SKIP_WITHOUT(loop);
  loop.set("read_ahead_kb", "64");
  const std::string other = loop.get("iostats") == "1" ? "0" : "1";
  {
    const QueueSettings queues({loop.disk()}, {{"read_ahead_kb", "32"}, {"iostats", other}});
    EXPECT_EQ(loop.get("read_ahead_kb"), "32");
  }
  EXPECT_EQ(loop.get("read_ahead_kb"), "64");
}

TEST(MachineQueueReal, ASchedulerAndWhatItResets) {
  const LoopQueue loop;
  SKIP_WITHOUT(loop);
  const AttributeText all(AT_FDCWD, "/sys/block/" + loop.disk() + "/queue/scheduler");
  if (all.whole().find("mq-deadline") == std::string_view::npos) return;  // not in this kernel
  loop.set("scheduler", "mq-deadline");
  loop.set("nr_requests", "100");
  loop.set("iosched/read_expire", "800");
  const test::Settings one_way = {{"nr_requests", "50"}, {"scheduler", "none"}};
  for (const auto& settings : {one_way, test::Settings{one_way[1], one_way[0]}}) {
    QueueSettings queues({loop.disk()}, settings);
    EXPECT_EQ(loop.get("scheduler"), "none");
    EXPECT_EQ(loop.get("nr_requests"), "50") << "set after the scheduler, which resets it";
    EXPECT_EQ(text_of(queues.restore()), "");
    EXPECT_EQ(loop.get("scheduler"), "mq-deadline");
    EXPECT_EQ(loop.get("nr_requests"), "100");
    EXPECT_EQ(loop.get("iosched/read_expire"), "800");
  }
}

TEST(MachineQueueReal, ANumberOfRequestsResetsTheSchedulersDepth) {
  const LoopQueue loop;
  SKIP_WITHOUT(loop);
  const AttributeText all(AT_FDCWD, "/sys/block/" + loop.disk() + "/queue/scheduler");
  if (all.whole().find("mq-deadline") == std::string_view::npos) return;  // not in this kernel
  loop.set("scheduler", "mq-deadline");
  const std::string before = loop.get("iosched/async_depth");
  if (before.empty()) return;  // this kernel has it elsewhere, or not at all
  const std::string unusual = before == "7" ? "8" : "7";
  loop.set("iosched/async_depth", unusual);
  { const QueueSettings queues({loop.disk()}, {{"nr_requests", "50"}}); }
  EXPECT_EQ(loop.get("iosched/async_depth"), unusual);
}

TEST(MachineQueueReal, TheKernelsRefusalsAndRoundings) {
  const LoopQueue loop;
  SKIP_WITHOUT(loop);
  const auto refused = [&](const char* key, const char* value) {
    return text_of(problems_of([&] {
      const QueueSettings queues({loop.disk()}, {{"nomerges", "2"}, {key, value}});
    }));
  };
  const std::string scheduler = refused("scheduler", "foo");
  EXPECT_NE(scheduler.find("the kernel refuses foo: EINVAL"), std::string::npos) << scheduler;
  EXPECT_NE(scheduler.find("available: none"), std::string::npos) << scheduler;
  const std::string iostats = refused("iostats", "abc");
  EXPECT_NE(iostats.find("refuses abc: EINVAL"), std::string::npos) << iostats;
  EXPECT_NE(iostats.find("possible: 0 or 1; it was "), std::string::npos) << iostats;
  const std::string requests = refused("nr_requests", "1");
  EXPECT_NE(requests.find("reads back 4 after 1 was written | possible: 4 or more; it was "),
            std::string::npos)
      << requests;
  EXPECT_NE(refused("dma_alignment", "1").find("is read-only"), std::string::npos);
  EXPECT_EQ(loop.get("nomerges"), "0");
  EXPECT_NE(loop.get("nr_requests"), "4");
}

TEST(MachineQueueReal, ANegativeLatencyTargetIsTheKernelsDefault) {
  const LoopQueue loop;
  SKIP_WITHOUT(loop);
  if (AttributeText(AT_FDCWD, "/sys/block/" + loop.disk() + "/queue/wbt_lat_usec").error_number() !=
      0) {
    return;  // a kernel without write-back throttling
  }
  loop.set("wbt_lat_usec", "500");
  QueueSettings queues({loop.disk()}, {{"wbt_lat_usec", "-1"}});
  EXPECT_GE(std::stoi(queues.changes()[0].after), 0);
  EXPECT_EQ(queues.changes()[0].before, "500");
  EXPECT_EQ(text_of(queues.restore()), "");
  EXPECT_EQ(loop.get("wbt_lat_usec"), "500");
}

TEST(MachineQueueReal, ADeviceOfTheSameNameIsAnotherDevice) {
  const LoopQueue loop;
  SKIP_WITHOUT(loop);
  loop.set("nomerges", "1");
  QueueSettings queues({loop.disk()}, {{"nomerges", "2"}});
  loop.remove();
  loop.add_again();
  const std::string text = text_of(queues.restore());
  EXPECT_NE(text.find("not restored: the disk is gone: ENO"), std::string::npos) << text;
  EXPECT_EQ(loop.get("nomerges"), "0") << "the new one has its own";
}

}  // namespace
}  // namespace uringbench::machine
