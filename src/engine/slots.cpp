#include "engine/slots.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <fstream>

#include "base/base.hpp"
#include "machine/machine.hpp"

namespace uringbench::engine {
namespace {

void* map_ordinary(std::uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) {
    throw base::SystemError("mmap of " + base::format_bytes(bytes), "read buffers", errno,
                            "use a smaller --depth or --block-size");
  }
  return memory;
}

/// The kernel said no to huge pages: what is needed, what there is, and the cure.
[[noreturn]] void refuse_huge(const plan::RunPlan& plan, std::uint32_t thread_index,
                              const std::string& operation, int error_number) {
  const std::uint64_t page_bytes = plan.huge_page_bytes;
  const std::uint64_t needed = plan.buffer_bytes_per_thread / page_bytes;
  const std::uint64_t total = needed * std::max<std::uint64_t>(plan.threads.size(), 1);
  // A thread that is bound to a node takes from that node's part of the pool only.
  const int node = thread_index < plan.threads.size() ? plan.threads[thread_index].node : -1;
  const std::string pool =
      (node < 0 ? "/sys/kernel/mm" : "/sys/devices/system/node/node" + std::to_string(node)) +
      "/hugepages/hugepages-" + std::to_string(page_bytes / 1024) + "kB/";
  std::string free = "none";  // also where the kernel knows no pages of this size
  std::ifstream(pool + "free_hugepages") >> free;
  const std::string where = node < 0 ? "" : " on NUMA node " + std::to_string(node);
  throw base::SystemError(
      operation, "read buffers in huge pages of " + base::format_bytes(page_bytes), error_number,
      "needed are " + std::to_string(needed) + " for each thread, " + std::to_string(total) +
          " in all; free" + where + " are " + free +
          " (HugePages_Free), of which others may have reserved some; as root: echo N > " + pool +
          "nr_hugepages, or use a smaller --depth or --block-size; the control group may have a "
          "limit, too (hugetlb.*.max)");
}

machine::Descriptor open_huge_file(const plan::RunPlan& plan, std::uint64_t end_bytes) {
  const std::string& path = plan.hugetlb_path;
  machine::Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) {
    throw base::SystemError("open for reading and writing", path, errno,
                            "-H takes a file on hugetlbfs that this user may write, or: -H anon");
  }
  // Looked at before, but by its name: nothing may be written to any other file.
  struct statfs filesystem {};
  struct stat facts {};
  if (fstatfs(file.get(), &filesystem) != 0 || fstat(file.get(), &facts) != 0) {
    throw base::SystemError("stat", path, errno, "use -H anon");
  }
  if (static_cast<std::uint64_t>(filesystem.f_type) != HUGETLBFS_MAGIC || !S_ISREG(facts.st_mode)) {
    throw base::UserError(base::ExitCode::cannot,
                          path + ": is not a file on hugetlbfs (any more); buffers are written to",
                          "make one: mount -t hugetlbfs none DIR; fallocate -l SIZE DIR/FILE");
  }
  // Mapping more would make the file longer.
  if (static_cast<std::uint64_t>(facts.st_size) < end_bytes) {
    throw base::UserError(
        base::ExitCode::cannot,
        path + ": has " + std::to_string(facts.st_size) + " bytes, the buffers need " +
            std::to_string(end_bytes),
        "make it larger (fallocate -l), or use a smaller --depth, --block-size or --threads");
  }
  return file;
}

void* map_huge(const plan::RunPlan& plan, std::uint32_t thread_index) {
  const std::uint64_t bytes = plan.buffer_bytes_per_thread;
  void* memory = MAP_FAILED;
  if (plan.huge_pages == plan::HugePages::file) {
    const machine::Descriptor file = open_huge_file(plan, (thread_index + 1ULL) * bytes);
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file.get(),
                  static_cast<off_t>(thread_index * bytes));
  } else {
    const int size = std::countr_zero(plan.huge_page_bytes) << MAP_HUGE_SHIFT;
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE | size, -1, 0);
  }
  if (memory == MAP_FAILED)
    refuse_huge(plan, thread_index, "mmap of " + base::format_bytes(bytes), errno);
  // The mapping reserves its pages, yet they can be missing: on this NUMA node, or by the control
  // group's limit. MAP_POPULATE is silent about that, and touching them would be SIGBUS.
  // EINVAL: kernels before 5.14 cannot be asked.
  if (madvise(memory, bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
    const int error_number = errno;
    munmap(memory, bytes);
    refuse_huge(plan, thread_index, "populating " + base::format_bytes(bytes), error_number);
  }
  return memory;
}

}  // namespace

SlotBuffers::SlotBuffers(const plan::RunPlan& plan, std::uint32_t thread_index)
    : plan_(plan), bytes_(plan.buffer_bytes_per_thread), stride_bytes_(plan.slot_stride_bytes) {
  slots_.resize(plan.depth);
  vectors_.resize(plan.depth);
  if (bytes_ == 0) return;  // a bare NOP reads nothing
  // Populated here, so that no page fault falls into the measured time.
  memory_ = static_cast<std::byte*>(plan.huge_pages == plan::HugePages::none
                                        ? map_ordinary(bytes_)
                                        : map_huge(plan, thread_index));
  for (std::uint32_t i = 0; i < plan.depth; ++i) {
    std::byte* buffer = memory_ + i * stride_bytes_;
    vectors_[i] = {.iov_base = buffer, .iov_len = plan.block_size_bytes};
    slots_[i].address = reinterpret_cast<std::uint64_t>(
        plan.vectored ? static_cast<void*>(&vectors_[i]) : static_cast<void*>(buffer));
    if (plan.slots_per_region != 0) {
      slots_[i].buffer_index = static_cast<std::uint16_t>(i / plan.slots_per_region);
    }
  }
}

SlotBuffers::~SlotBuffers() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

std::vector<iovec> SlotBuffers::regions() const {
  std::vector<iovec> regions;
  for (std::uint64_t first = 0; first < plan_.depth; first += plan_.slots_per_region) {
    const auto count = std::min<std::uint64_t>(plan_.slots_per_region, plan_.depth - first);
    regions.push_back(
        {.iov_base = memory_ + first * stride_bytes_, .iov_len = count * stride_bytes_});
  }
  return regions;
}

}  // namespace uringbench::engine
