// Queue attributes of a real block queue: set, read back and restored on a loop device, as root.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

#include "machine/guardian.hpp"
#include "machine/machine.hpp"
#include "machine_queue_support.hpp"

namespace uringbench::machine {
namespace {

using test::problems_of;
using test::text_of;

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

TEST(MachineQueueReal, APresentValueThatTheKernelDoesNotTakeIsLeftAlone) {
  const LoopQueue loop;
  SKIP_WITHOUT(loop);
  const std::string now = loop.get("io_poll");  // this disk cannot be polled, nor told not to be
  if (now != "0" || loop.get("iostats") != "1") return;
  const std::string text = text_of(problems_of([&] {
    const QueueSettings queues({loop.disk()}, {{"iostats", "0"}, {"io_poll", "1"}});
  }));
  EXPECT_EQ(text, "7: --queue: " + loop.disk() +
                      "/queue/io_poll: its present value could not be put back: the kernel refuses "
                      "0: EINVAL (Invalid argument) | leave it out of --queue\n");
  EXPECT_EQ(loop.get("iostats"), "1");
}

TEST(MachineQueueReal, AReadAheadSetByHandOutlivesOtherSettings) {
  const LoopQueue loop;
  SKIP_WITHOUT(loop);
  loop.set("read_ahead_kb", "64");
  const std::string other = loop.get("iostats") == "1" ? "0" : "1";
  {
    const QueueSettings queues({loop.disk()}, {{"read_ahead_kb", "32"}, {"iostats", other}});
    EXPECT_EQ(loop.get("read_ahead_kb"), "32");
  }
  EXPECT_EQ(loop.get("read_ahead_kb"), "64");
  { const QueueSettings queues({loop.disk()}, {{"iostats", other}}); }
  EXPECT_EQ(loop.get("read_ahead_kb"), "64");
}

}  // namespace
}  // namespace uringbench::machine
