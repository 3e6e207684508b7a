// What make_plan refuses: the exit code, the words and the cure of each rule.
#include <gtest/gtest.h>

#include <functional>

#include "plan/plan.hpp"
#include "plan_fixture.hpp"

namespace uringbench::plan {
namespace {

using namespace testing;
using base::ExitCode;

std::string refusal_with(const std::function<void(Options&)>& change) {
  Options options = reading({file_of(64 * kMiB)});
  change(options);
  return problem_of(options, {file_of(64 * kMiB)});
}

TEST(UsageRules, NameTheRange) {
  EXPECT_EQ(refusal_with([](Options& o) { o.depth = 0; }),
            "2: --depth: must be between 1 and 32768, got 0 | ");
  EXPECT_EQ(refusal_with([](Options& o) { o.depth = 32769; }),
            "2: --depth: must be between 1 and 32768, got 32769 | ");
  EXPECT_EQ(refusal_with([](Options& o) { o.depth = 32768; }), "");
  EXPECT_EQ(refusal_with([](Options& o) { o.batch_submit = -5; }),
            "2: --batch-submit: must be between 1 and 32768, got -5 | ");
  EXPECT_EQ(refusal_with([](Options& o) { o.batch_complete = -1; }),
            "2: --batch-complete: must be between 0 and 32768, got -1 | ");
  EXPECT_EQ(refusal_with([](Options& o) { o.threads = 1025; }),
            "2: --threads: must be between 1 and 1024, got 1025 | ");
  EXPECT_EQ(refusal_with([](Options& o) { o.repeats = 0; }),
            "2: --repeats: must be between 1 and 1000000, got 0 | ");
  EXPECT_EQ(refusal_with([](Options& o) { o.warmup_ns = -1; }),
            "2: --warmup: must be 0 or more, got -1 ns | write e.g. 500ms, 5s or 2m");
  EXPECT_EQ(refusal_with([](Options& o) { o.stall_timeout_ns = 0; }),
            "2: --stall-timeout: must be more than 0, got 0 ns | write e.g. 500ms, 5s or 2m");
  EXPECT_EQ(refusal_with([](Options& o) { o.tsc_rate_hz = 0; }),
            "2: --tsc-rate: must be more than 0, got 0 | leave it out: the rate is calibrated");
  EXPECT_EQ(refusal_with([](Options& o) {
              o.cpus = {0, -2};
            }),
            "2: --cpus: must be between 0 and 65535, got -2 | ");
}

TEST(UsageRules, BlockSizeIsWhatOneReadCanReturn) {
  EXPECT_EQ(refusal_with([](Options& o) { o.block_size_bytes = 0; }),
            "2: --block-size: must be between 1 and 2147479552 bytes, got 0 | ");
  EXPECT_EQ(refusal_with([](Options& o) { o.block_size_bytes = kMaxBlockBytes + 1; }),
            "2: --block-size: must be between 1 and 2147479552 bytes, got 2147479553 | one read "
            "returns no more than that; use a smaller -b");
  const TargetShape huge = file_of(UINT64_C(4) << 30);
  Options options = reading({huge});
  options.block_size_bytes = kMaxBlockBytes;
  options.fixed_buffers = false;
  EXPECT_EQ(problem_of(options, {huge}), "");
}

TEST(UsageRules, SomethingIsToBeRead) {
  EXPECT_EQ(problem_of(Options{}, {}),
            "2: nothing to read: no FILE is given | name files or block devices, or let --scratch "
            "1G make a file for the run, or measure without a device by -N1");
  Options options;
  options.scratch = Scratch{kMiB, "."};
  EXPECT_EQ(problem_of(options, {file_of(kMiB, "scratch:1M@.")}), "");
  options.files = {"f1"};
  EXPECT_EQ(problem_of(options, {file_of(kMiB)}),
            "2: --scratch and f1 contradict each other: either a file is made for the run, or "
            "given ones are read | leave out --scratch or the files");
}

TEST(UsageRules, AMeasuredRunHasAnEnd) {
  const std::string cure =
      " | give e.g. -r 5s; only the classic door (without a verb) runs until Ctrl-C";
  EXPECT_EQ(refusal_with([](Options& o) { o.door = Door::run; }),
            "2: --runtime: a measured run must have an end, and none is given" + cure);
  EXPECT_EQ(refusal_with([](Options& o) {
              o.door = Door::run;
              o.runtime_ns = 0;
            }),
            "2: --runtime: a measured run must have an end, got 0" + cure);
  EXPECT_EQ(refusal_with([](Options& o) { o.runtime_ns = 0; }), "") << "classic: until Ctrl-C";
  EXPECT_EQ(refusal_with([](Options& o) { o.repeats = 3; }),
            "2: --repeats 3 without --runtime: the first run would never end | give the length of "
            "each run, e.g. -r 5s");
}

TEST(UsageRules, ContradictionsAreNamed) {
  const auto with_nvme = [](const std::function<void(Options&)>& change) {
    Options options = reading({nvme()});
    change(options);
    return problem_of(options, {nvme()});
  };
  EXPECT_EQ(with_nvme([](Options& o) {
              o.polled = PolledWish::on;
              o.direct = false;
            }),
            "2: -p1 and -O0 contradict each other: buffered I/O cannot be polled | use -p0 with "
            "-O0, or -O1 for direct I/O");
  EXPECT_EQ(with_nvme([](Options& o) {
              o.polled = PolledWish::on;
              o.sync = true;
            }),
            "2: -p1 and -S1 contradict each other: the sync engine waits for interrupts | use -p0 "
            "with -S1, or leave out -S1");
  EXPECT_EQ(with_nvme([](Options& o) { o.nop = o.sync = true; }),
            "2: -N1 and -S1 contradict each other: only io_uring has a no-op request | leave out "
            "-N1 or -S1");
}

TEST(TargetRules, BlocksAreMultiplesOfTheSector) {
  Options options = reading({zram()});
  options.block_size_bytes = 512;
  EXPECT_EQ(problem_of(options, {zram()}),
            "7: /dev/zram0: --block-size 512 must be a multiple of 4096 for direct I/O | use e.g. "
            "-b4k, or -O0 to read through the page cache");
  options.direct = false;
  EXPECT_EQ(problem_of(options, {zram()}), "");
  EXPECT_EQ(refusal_with([](Options& o) { o.block_size_bytes = 5000; }),
            "7: f1: --block-size 5000 must be a multiple of 512 for direct I/O | use e.g. -b5k, or "
            "-O0 to read through the page cache");
}

TEST(TargetRules, ManyTargetsOfAKindHaveOneProblem) {
  std::vector<TargetShape> targets;
  for (const char* path : {"a", "b", "c", "d"}) targets.push_back(file_of(kMiB, path));
  Options options = reading(targets);
  options.block_size_bytes = 100;
  const auto problems = problems_of(options, targets);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].what,
            "a, b and 2 more: --block-size 100 must be a multiple of 512 for direct I/O");
}

TEST(TargetRules, TargetsHoldABlock) {
  const TargetShape small = file_of(4095, "small");
  EXPECT_EQ(problem_of(reading({small}), {small}),
            "7: small: is smaller than one block: it has 4095 bytes, --block-size is 4096 | use "
            "-b3584 or less, or a larger target");
  const TargetShape tiny = file_of(100, "tiny");
  EXPECT_EQ(problem_of(reading({tiny}), {tiny}),
            "7: tiny: is smaller than one block: it has 100 bytes, --block-size is 4096 | use a "
            "larger target, or -O0 -b100");
  const TargetShape empty = file_of(0, "empty");
  EXPECT_EQ(problem_of(reading({empty}), {empty}),
            "7: empty: is empty | name a file or block device with data in it");
}

TEST(TargetRules, PollingOnDemandNeedsEveryTarget) {
  Options options = reading({nvme(), zram()});
  options.polled = PolledWish::on;
  EXPECT_EQ(problem_of(options, {nvme(), zram()}),
            "7: /dev/zram0: polled I/O (-p1) is not supported by this block driver (queue/io_poll "
            "is 0) | use -p0; for NVMe, boot with nvme.poll_queues=N");
  TargetShape silent = nvme("x");
  silent.can_poll = false;
  EXPECT_EQ(problem_of(options, {silent}),
            "7: x: polled I/O (-p1) is not supported by this target | use -p0");
  EXPECT_EQ(problem_of(options, {nvme()}), "");
}

TEST(CapacityRules, LockedMemorySuffices) {
  Limits limits;
  limits.memlock_bytes = 65536;
  Options options = reading({file_of(kMiB)});
  EXPECT_EQ(
      problem_of(options, {file_of(kMiB)}, limits),
      "7: --fixed-buffers: the buffers of 128 requests of 4096 bytes need 524288 bytes (512.0 "
      "KiB) of locked memory, the limit is 65536 bytes (64.0 KiB) | use -B0, or raise the "
      "limit: ulimit -l 576 (KiB; as root, or through limits.conf)");
  options.fixed_buffers = false;
  EXPECT_EQ(problem_of(options, {file_of(kMiB)}, limits), "");
  options.fixed_buffers = true;
  limits.memlock_exempt = true;
  EXPECT_EQ(problem_of(options, {file_of(kMiB)}, limits), "");
  limits = {};
  limits.memlock_bytes = 524288;
  EXPECT_EQ(problem_of(options, {file_of(kMiB)}, limits), "") << "exactly enough is enough";
  options.threads = 2;
  EXPECT_EQ(problems_of(options, {file_of(kMiB)}, limits).size(), 1U) << "the limit is shared";
}

TEST(CapacityRules, MemoryIsLockedByWholePages) {
  Options options = reading({file_of(kMiB)});
  options.depth = 1;
  options.block_size_bytes = 512;
  options.threads = 3;
  Limits limits;
  limits.page_bytes = 65536;
  limits.memlock_bytes = 3 * 65536;
  EXPECT_EQ(problem_of(options, {file_of(kMiB)}, limits), "");
  limits.memlock_bytes--;
  EXPECT_EQ(problem_of(options, {file_of(kMiB)}, limits),
            "7: --fixed-buffers: the buffers of 3 threads with 1 request of 512 bytes each need "
            "196608 bytes (192.0 KiB) of locked memory, the limit is 196607 bytes (192.0 KiB) | "
            "use -B0, or raise the limit: ulimit -l 256 (KiB; as root, or through limits.conf)");
}

TEST(UsageRules, LargePagesMakeTheLargestBlockSmaller) {
  Options options = reading({file_of(UINT64_C(4) << 30)});
  options.fixed_buffers = false;
  options.block_size_bytes = 0x7fff0000;
  Limits limits;
  limits.page_bytes = 65536;
  EXPECT_EQ(problem_of(options, {file_of(UINT64_C(4) << 30)}, limits), "");
  options.block_size_bytes = kMaxBlockBytes;
  EXPECT_EQ(problem_of(options, {file_of(UINT64_C(4) << 30)}, limits).rfind("2: --block-size", 0),
            0U);
}

TEST(CapacityRules, MemorySuffices) {
  const TargetShape big = file_of(8192 * kMiB);
  Options options = reading({big});
  options.depth = 4096;
  options.block_size_bytes = kMiB;
  options.fixed_buffers = false;
  Limits limits;
  limits.memory_available_bytes = UINT64_C(1) << 31;
  EXPECT_EQ(problem_of(options, {big}, limits),
            "7: not enough memory: the buffers of 4096 requests of 1048576 bytes need 4294967296 "
            "bytes (4.0 GiB), 2147483648 bytes (2.0 GiB) are available | use a smaller --depth, "
            "--block-size or --threads");
  options.depth = 2048;
  EXPECT_EQ(problem_of(options, {big}, limits), "");
  options.depth = 32768;
  options.threads = 1024;
  options.block_size_bytes = kMaxBlockBytes;
  const auto problems = problems_of(options, {big}, limits);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].what.find("need 72057456598974464 bytes"), std::string::npos)
      << problems[0].what;
}

TEST(CapacityRules, RegisteredBuffersHaveLimits) {
  const TargetShape big = file_of(8192 * kMiB);
  Options options = reading({big});
  options.depth = 2;
  options.block_size_bytes = 1024 * kMiB;
  EXPECT_EQ(problem_of(options, {big}), "");
  options.block_size_bytes += 4096;
  EXPECT_EQ(problem_of(options, {big}),
            "7: --block-size 1073745920 is more than a registered buffer can hold: the kernel's "
            "limit is 1073741824 bytes | use -B0, or -b1G or less");
  options.block_size_bytes = 513 * kMiB;
  options.depth = 16384;
  EXPECT_EQ(problem_of(options, {big}), "");
  options.depth = 16385;
  EXPECT_EQ(
      problem_of(options, {big}),
      "7: 16385 requests of 537919488 bytes need 16385 registered buffers: the kernel's limit "
      "is 16384 per ring | use -B0, or a smaller --depth or --block-size");
  options.fixed_buffers = false;
  EXPECT_EQ(problem_of(options, {big}), "");
}

TEST(CapacityRules, DescriptorsSuffice) {
  const std::vector<TargetShape> targets(3, file_of(kMiB));
  Options options = reading(targets);
  options.threads = 10;
  Limits limits;
  limits.open_files = 104;
  EXPECT_EQ(problem_of(options, targets, limits), "");
  limits.open_files = 103;
  EXPECT_EQ(problem_of(options, targets, limits),
            "7: too few file descriptors: 10 threads on 3 targets need 104, the limit is 103 | "
            "raise the limit: ulimit -n 104, or use fewer --threads or targets");
}

TEST(CapacityRules, PinnedCpusAreAllowed) {
  Limits limits;
  limits.allowed_cpus = {0, 1};
  Options options = reading({file_of(kMiB)});
  options.cpus = {1, 9, 8};
  EXPECT_EQ(problem_of(options, {file_of(kMiB)}, limits),
            "7: --cpus: this process may not run on CPU 8-9: allowed are 0-1 | choose from 0-1, or "
            "widen the process's CPU set (taskset, cgroup cpuset)");
  limits.allowed_cpus.clear();
  EXPECT_EQ(problem_of(options, {file_of(kMiB)}, limits), "") << "an unknown mask forbids nothing";
}

TEST(Rules, AreAllCheckedAtOnce) {
  Options options = reading({zram(), file_of(100, "tiny")});
  options.block_size_bytes = 513;
  options.polled = PolledWish::on;
  options.direct = true;
  options.nop = false;
  options.cpus = {7};
  Limits limits;
  limits.allowed_cpus = {0};
  limits.memlock_bytes = 4096;
  limits.open_files = 10;
  const std::vector<TargetShape> targets{zram(), file_of(100, "tiny")};
  // Two alignments, one size, two reasons not to poll, locked memory, descriptors, a CPU.
  EXPECT_EQ(problems_of(options, targets, limits).size(), 8U)
      << problem_of(options, targets, limits);
  options.door = Door::run;
  const auto problems = problems_of(options, targets, limits);
  EXPECT_EQ(problems.size(), 9U);
  EXPECT_EQ(base::UserError(problems).code(), ExitCode::usage);
}

TEST(Rules, AreAllCheckedAtOnceForTheRestToo) {
  Options options = reading({nvme()});
  options.passthrough = options.sqpoll = options.numa = options.no_sqthread_stats = true;
  options.taskrun = TaskRun::coop;
  options.sqpoll_cpu = 9;
  options.sqthread_stats_bit = 17;
  options.hugetlb = "anon";
  options.queue = {{"iostats", "0"}, {"iostats", "1"}};
  TargetShape target = nvme();
  target.node = 1;
  Limits limits;
  limits.allowed_cpus = {0};
  limits.node_cpus = {{1, {4}}};
  // A bit that is taken, task work, no generic device, no huge pages, an attribute with two
  // values, a node and a CPU that are not allowed.
  EXPECT_EQ(problems_of(options, {target}, limits).size(), 7U)
      << problem_of(options, {target}, limits);
}

TEST(Rules, SayNothingAboutSizesNobodyGave) {
  Options options = reading({file_of(kMiB)});
  options.depth = -3;
  options.threads = 0;
  Limits limits;
  limits.memlock_bytes = 0;
  EXPECT_EQ(problem_of(options, {file_of(kMiB)}, limits),
            "2: --depth: must be between 1 and 32768, got -3 | \n"
            "2: --threads: must be between 1 and 1024, got 0 | ");
}

}  // namespace
}  // namespace uringbench::plan
