// Huge pages for the buffers, and --queue: what the machine has to have.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "plan_fixture.hpp"

namespace uringbench::plan {
namespace {

using namespace testing;
using Notes = std::vector<std::string>;
using Disks = std::vector<std::string>;

Options on_huge_pages(const std::string& where) {
  Options options = reading({file_of(64 * kMiB)});
  options.hugetlb = where;
  return options;
}

/// A machine with so many free pages of 2 MiB.
Limits huge_pages(std::uint64_t free) {
  Limits limits;
  limits.huge_page_bytes = 2 * kMiB;
  limits.huge_pages_free = free;
  return limits;
}

TEST(HugePages, AreWholeOnes) {
  Options options = on_huge_pages("anon");
  const RunPlan plan = plan_of(options, {file_of(64 * kMiB)}, huge_pages(1));
  EXPECT_EQ(plan.huge_pages, HugePages::anonymous);
  EXPECT_EQ(plan.huge_page_bytes, 2 * kMiB);
  EXPECT_EQ(plan.hugetlb_path, "");
  EXPECT_EQ(plan.buffer_bytes_per_thread, 2 * kMiB) << "128 blocks of 4096 bytes, rounded up";
  EXPECT_EQ(plan.slot_stride_bytes, 4096U) << "blocks lie as densely as ever";
  options.depth = 512;
  EXPECT_EQ(plan_of(options, {file_of(64 * kMiB)}, huge_pages(1)).buffer_bytes_per_thread,
            2 * kMiB);
  options.depth = 513;
  EXPECT_EQ(plan_of(options, {file_of(64 * kMiB)}, huge_pages(2)).buffer_bytes_per_thread,
            4 * kMiB);
}

TEST(HugePages, AreNotAskedForByDefault) {
  const RunPlan plan = plan_of(reading({nvme()}), {nvme()}, huge_pages(0));
  EXPECT_EQ(plan.huge_pages, HugePages::none);
  EXPECT_EQ(plan.huge_page_bytes, 0U);
}

TEST(HugePages, SufficeForAllThreads) {
  Options options = on_huge_pages("anon");
  options.depth = 513;
  options.threads = 2;
  EXPECT_EQ(problem_of(options, {file_of(64 * kMiB)}, huge_pages(4)), "");
  EXPECT_EQ(problem_of(options, {file_of(64 * kMiB)}, huge_pages(1)),
            "7: -H anon: the buffers of 2 threads with 513 requests of 4096 bytes each need 4 huge "
            "pages of 2.0 MiB, 1 is free | make 3 more, as root: sysctl -w "
            "vm.nr_hugepages=$(($(sysctl -n vm.nr_hugepages) + 3)), or use a smaller --depth, "
            "--block-size or --threads");
  options.threads = 1;
  options.depth = 1;
  EXPECT_EQ(problem_of(options, {file_of(64 * kMiB)}, huge_pages(0)),
            "7: -H anon: the buffers of 1 request of 4096 bytes need 1 huge page of 2.0 MiB, 0 are "
            "free | make 1 more, as root: sysctl -w vm.nr_hugepages=$(($(sysctl -n "
            "vm.nr_hugepages) + 1)), or use a smaller --depth, --block-size or --threads");
}

TEST(HugePages, AreThereAtAll) {
  EXPECT_EQ(problem_of(on_huge_pages("anon"), {file_of(64 * kMiB)}),
            "7: -H anon: this kernel has no huge pages | leave out -H");
  EXPECT_EQ(problem_of(on_huge_pages("/huge/f"), {file_of(64 * kMiB)}),
            "7: -H /huge/f: the size of its huge pages is not known | leave out -H");
}

TEST(HugePages, OfAFileAreItsSize) {
  Options options = on_huge_pages("/huge/f");
  options.threads = 3;
  Limits limits;
  limits.huge_file =
      Limits::HugeFile{.page_bytes = 1024 * kMiB, .size_bytes = 3 * 1024 * kMiB, .pages_free = 0};
  const RunPlan plan = plan_of(options, {file_of(64 * kMiB)}, limits);
  EXPECT_EQ(plan.huge_pages, HugePages::file) << "its pages may all exist: mapping it will tell";
  EXPECT_EQ(plan.hugetlb_path, "/huge/f");
  EXPECT_EQ(plan.huge_page_bytes, 1024 * kMiB);
  EXPECT_EQ(plan.buffer_bytes_per_thread, 1024 * kMiB);
  limits.huge_file->size_bytes = 2 * 1024 * kMiB;
  EXPECT_EQ(problem_of(options, {file_of(64 * kMiB)}, limits),
            "7: -H /huge/f: the buffers of 3 threads with 128 requests of 4096 bytes each need "
            "3221225472 bytes (3.0 GiB), the file has 2147483648 bytes (2.0 GiB) | truncate -s "
            "3221225472 /huge/f, or use a smaller --depth, --block-size or --threads");
}

TEST(HugePages, AreNoPartOfTheAvailableMemoryButAreLocked) {
  Options options = on_huge_pages("anon");
  Limits limits = huge_pages(1);
  limits.memory_available_bytes = 4096;
  EXPECT_EQ(problem_of(options, {file_of(64 * kMiB)}, limits), "");
  limits.memlock_bytes = kMiB;
  EXPECT_EQ(problem_of(options, {file_of(64 * kMiB)}, limits),
            "7: --fixed-buffers: the buffers of 128 requests of 4096 bytes need 2097152 bytes (2.0 "
            "MiB) of locked memory, the limit is 1048576 bytes (1.0 MiB) | use -B0, or raise the "
            "limit: ulimit -l 2112 (KiB; as root, or through limits.conf)");
}

TEST(HugePages, AreForEveryEngineAndForNopsWithBuffers) {
  const auto kind = [](void (*change)(Options&)) {
    Options options = on_huge_pages("anon");
    change(options);
    return plan_of(options, {file_of(64 * kMiB)}, huge_pages(1)).huge_pages;
  };
  EXPECT_EQ(kind([](Options& o) { o.sync = true; }), HugePages::anonymous);
  EXPECT_EQ(kind([](Options& o) { o.aio = true; }), HugePages::anonymous);
  EXPECT_EQ(kind([](Options& o) { o.nop = true; }), HugePages::anonymous);
}

TEST(HugePages, HaveNoEffectWithoutBuffers) {
  Options options;
  options.nop = true;
  options.hugetlb = "anon";
  const RunPlan plan = plan_of(options, {});
  EXPECT_EQ(plan.huge_pages, HugePages::none);
  EXPECT_EQ(plan.buffer_bytes_per_thread, 0U);
  EXPECT_EQ(plan.notes, Notes{"--hugetlb anon has no effect with -N1 without a FILE: there are no "
                              "buffers"});
}

TEST(Queue, IsOfEachDiskOnce) {
  TargetShape partition = nvme("/dev/nvme0n1p1");
  Options options = reading({nvme(), partition, zram()});
  options.queue = {{"iostats", "0"}, {"nomerges", "2"}, {"iostats", "0"}};
  const RunPlan plan = plan_of(options, {nvme(), partition, zram()});
  EXPECT_EQ(plan.queue, (std::vector<QueueSetting>{{"iostats", "0"}, {"nomerges", "2"}}));
  EXPECT_EQ(plan.queue_disks, (Disks{"nvme0n1", "zram0"}));
  EXPECT_EQ(plan.notes, Notes{});
}

TEST(Queue, OfADriveIsKnownByItsGenericDevice) {
  Options options = reading({generic()});
  options.passthrough = true;
  options.queue = {{"iostats", "0"}};
  EXPECT_EQ(plan_of(options, {generic()}).queue_disks, Disks{"nvme0n1"});
}

TEST(Queue, BelowAFileIsLeftAlone) {
  TargetShape file = file_of(kMiB);
  file.disk = "vda";
  Options options = reading({zram(), file});
  options.queue = {{"iostats", "0"}};
  const RunPlan plan = plan_of(options, {zram(), file});
  EXPECT_EQ(plan.queue_disks, Disks{"zram0"});
  EXPECT_EQ(plan.notes, Notes{"--queue is for block devices: the disk below f1 is left as it is"});
  EXPECT_EQ(problem_of(options, {file}),
            "7: --queue: no target is a block device | name a block device, or leave out --queue");
}

TEST(Queue, NeedsADisk) {
  Options options;
  options.queue = {{"iostats", "0"}};
  EXPECT_EQ(problems_of(options, {}).size(), 1U) << "there is nothing to read, and that is enough";
  options.nop = true;
  EXPECT_EQ(problem_of(options, {}),
            "7: --queue: no target is a block device | name a block device, or leave out --queue");
  TargetShape unknown = zram();
  unknown.disk.clear();
  EXPECT_EQ(problem_of(options, {unknown, nvme()}),
            "7: /dev/zram0: --queue: the disk that serves it is not known | name the whole disk, "
            "or leave out --queue");
}

TEST(Queue, AttributesHaveOneValue) {
  Options options = reading({zram()});
  options.queue = {{"iostats", "0"}, {"nomerges", "2"}, {"iostats", "1"}};
  EXPECT_EQ(problem_of(options, {zram()}),
            "2: --queue: iostats cannot be 0 and 1 at once | give each attribute once");
}

}  // namespace
}  // namespace uringbench::plan
