// Read buffers in huge pages: anonymous ones, and parts of a file on hugetlbfs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/memfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "engine/slots.hpp"
#include "machine_test_support.hpp"

namespace uringbench::engine {
namespace {

using machine::test::refusal_of;

constexpr std::uint64_t kHugeBytes = std::uint64_t{2} << 20;
const char* const kPool = "/sys/kernel/mm/hugepages/hugepages-2048kB/";

std::uint64_t read_pool(const std::string& name) {
  std::uint64_t value = 0;
  std::ifstream(kPool + name) >> value;
  return value;
}

bool may_change_the_pool() {
  return access((std::string(kPool) + "nr_hugepages").c_str(), W_OK) == 0;
}

/// So many free pages more in the system's pool, for as long as this object lives. Whoever else
/// changes the pool takes turns by the lock.
class FreeHugePages {
 public:
  explicit FreeHugePages(std::uint64_t count)
      : lock_(open("/tmp/uringbench-hugepages.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666)),
        before_((flock(lock_.get(), LOCK_EX), read_pool("nr_hugepages"))) {
    std::ofstream(std::string(kPool) + "nr_hugepages") << before_ + count;
    there = read_pool("nr_hugepages") >= before_ + count;
  }
  ~FreeHugePages() { std::ofstream(std::string(kPool) + "nr_hugepages") << before_; }
  bool there = false;

 private:
  machine::Descriptor lock_;
  std::uint64_t before_;
};

plan::RunPlan in_huge_pages(plan::HugePages kind, std::uint32_t depth = 3) {
  plan::RunPlan plan;
  plan.huge_pages = kind;
  plan.huge_page_bytes = kHugeBytes;
  plan.depth = plan.slots_per_region = depth;
  plan.block_size_bytes = plan.slot_stride_bytes = 4096;
  plan.buffer_bytes_per_thread = kHugeBytes;
  plan.threads.resize(2);
  return plan;
}

/// KernelPageSize of the mapping that holds the address, in bytes.
std::uint64_t page_bytes_of(std::uint64_t address) {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool inside = false;
  while (std::getline(maps, line)) {
    std::uint64_t begin = 0, end = 0, kilobytes = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      inside = begin <= address && address < end;
    } else if (inside && std::sscanf(line.c_str(), "KernelPageSize: %lu kB", &kilobytes) == 1) {
      return kilobytes * 1024;
    }
  }
  return 0;
}

void fill(SlotBuffers& buffers, char value) {
  for (const iovec& vector : buffers.vectors()) std::memset(vector.iov_base, value, vector.iov_len);
}

TEST(HugePages, AnonymousBuffersLieInThem) {
  if (!may_change_the_pool()) GTEST_SKIP() << "needs root to make huge pages";
  const FreeHugePages pages(1);
  ASSERT_TRUE(pages.there);
  const std::uint64_t free_before = read_pool("free_hugepages");
  {
    SlotBuffers buffers(in_huge_pages(plan::HugePages::anonymous));
    EXPECT_EQ(page_bytes_of(buffers.slots()[2].address), kHugeBytes);
    EXPECT_EQ(read_pool("free_hugepages"), free_before - 1) << "populated";
    fill(buffers, 'x');
  }
  EXPECT_EQ(read_pool("free_hugepages"), free_before);
}

TEST(HugePages, TooFewAreSaidWithNeedAndHave) {
  const FreeHugePages none(0);
  plan::RunPlan plan = in_huge_pages(plan::HugePages::anonymous);
  const std::uint64_t free = read_pool("free_hugepages");
  plan.buffer_bytes_per_thread = (free + 1000) * kHugeBytes;
  const base::Problem problem = refusal_of([&] { SlotBuffers buffers(plan); });
  EXPECT_NE(problem.what.find("ENOMEM"), std::string::npos) << problem.what;
  EXPECT_NE(problem.hint.find("needed are " + std::to_string(free + 1000) + " for each thread, " +
                              std::to_string((free + 1000) * 2) + " in all; free are " +
                              std::to_string(free) + " (HugePages_Free)"),
            std::string::npos)
      << problem.hint;
  EXPECT_NE(problem.hint.find(std::string("echo N > ") + kPool + "nr_hugepages"),
            std::string::npos);
}

TEST(HugePages, ABoundThreadIsToldOfItsNode) {
  const FreeHugePages none(0);
  plan::RunPlan plan = in_huge_pages(plan::HugePages::anonymous);
  plan.buffer_bytes_per_thread = (read_pool("free_hugepages") + 1000) * kHugeBytes;
  plan.threads[1].node = 0;
  const base::Problem problem = refusal_of([&] { SlotBuffers buffers(plan, 1); });
  EXPECT_NE(problem.hint.find("free on NUMA node 0 are "), std::string::npos) << problem.hint;
  EXPECT_NE(problem.hint.find("echo N > /sys/devices/system/node/node0/hugepages/"
                              "hugepages-2048kB/nr_hugepages"),
            std::string::npos)
      << problem.hint;
}

TEST(HugePages, AnUnknownSizeHasNoneFree) {
  plan::RunPlan plan = in_huge_pages(plan::HugePages::anonymous);
  plan.huge_page_bytes = kHugeBytes * 2;  // no processor has these
  const base::Problem problem = refusal_of([&] { SlotBuffers buffers(plan); });
  EXPECT_NE(problem.hint.find("free are none"), std::string::npos) << problem.hint;
}

/// A file on hugetlbfs, without a mount: named through its descriptor.
struct HugeFile {
  explicit HugeFile(std::uint64_t bytes) : fd(memfd_create("buffers", MFD_CLOEXEC | MFD_HUGETLB)) {
    if (ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) ADD_FAILURE() << errno;
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd.get()); }
  std::uint64_t size() const {
    struct stat facts {};
    fstat(fd.get(), &facts);
    return static_cast<std::uint64_t>(facts.st_size);
  }
  machine::Descriptor fd;
};

TEST(HugePages, EachThreadHasItsPartOfTheFile) {
  if (!may_change_the_pool()) GTEST_SKIP() << "needs root to make huge pages";
  const FreeHugePages pages(2);
  ASSERT_TRUE(pages.there);
  const HugeFile file(2 * kHugeBytes);
  plan::RunPlan plan = in_huge_pages(plan::HugePages::file);
  plan.hugetlb_path = file.path();
  SlotBuffers first(plan, 0);
  SlotBuffers second(plan, 1);
  EXPECT_EQ(page_bytes_of(first.slots()[0].address), kHugeBytes);
  fill(first, 'a');
  fill(second, 'b');
  // What one thread reads into its buffers is not seen in another's, and lies where it should.
  auto* whole = static_cast<const char*>(
      mmap(nullptr, 2 * kHugeBytes, PROT_READ, MAP_SHARED, file.fd.get(), 0));
  ASSERT_NE(whole, MAP_FAILED);
  for (std::uint64_t i = 0; i < 3 * 4096; ++i) {
    ASSERT_EQ(whole[i], 'a');
    ASSERT_EQ(whole[kHugeBytes + i], 'b');
  }
  munmap(const_cast<char*>(whole), 2 * kHugeBytes);
  EXPECT_EQ(file.size(), 2 * kHugeBytes);
}

TEST(HugePages, AFileThatIsTooSmallIsNotMadeLonger) {
  const HugeFile file(kHugeBytes);
  plan::RunPlan plan = in_huge_pages(plan::HugePages::file);
  plan.hugetlb_path = file.path();
  const base::Problem problem = refusal_of([&] { SlotBuffers buffers(plan, 1); });
  EXPECT_NE(problem.what.find("has 2097152 bytes, the buffers need 4194304"), std::string::npos)
      << problem.what;
  EXPECT_EQ(file.size(), kHugeBytes);
}

TEST(HugePages, AnyOtherFileIsLeftUntouched) {
  const machine::test::TemporaryFolder folder;
  plan::RunPlan plan = in_huge_pages(plan::HugePages::file);
  const std::string bytes = machine::test::dense_bytes(2 * kHugeBytes);
  plan.hugetlb_path = folder.write("data", bytes);
  const base::Problem problem = refusal_of([&] { SlotBuffers buffers(plan); });
  EXPECT_NE(problem.what.find("not a file on hugetlbfs"), std::string::npos) << problem.what;
  std::ifstream after(plan.hugetlb_path, std::ios::binary);
  EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(after), {}) == bytes);
  plan.hugetlb_path = folder / "missing";
  EXPECT_NE(refusal_of([&] { SlotBuffers buffers(plan); }).what.find("ENOENT"), std::string::npos);
  EXPECT_NE(access(plan.hugetlb_path.c_str(), F_OK), 0) << "it was made";
}

}  // namespace
}  // namespace uringbench::engine
