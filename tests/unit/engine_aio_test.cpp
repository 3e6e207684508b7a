// Legacy AIO on a real file: what arrives, what is counted, what is refused.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "engine/aio_ring.hpp"
#include "engine/loop.hpp"
#include "engine/thread_body.hpp"
#include "machine_test_support.hpp"

namespace uringbench::engine {
namespace {

using machine::test::dense_bytes;
using machine::test::refusal_of;
using machine::test::TemporaryFolder;

constexpr std::uint64_t kBlock = 4096;
constexpr std::uint64_t kBlocks = 64;

plan::RunPlan aio_plan(std::uint32_t depth) {
  plan::RunPlan plan;
  plan.engine = plan::Engine::aio;
  plan.depth = depth;
  plan.batch_submit = plan.batch_complete = std::min(depth, 4U);
  plan.fixed_buffers = plan.register_files = plan.register_ring = false;
  plan.block_size_bytes = plan.slot_stride_bytes = kBlock;
  plan.buffer_bytes_per_thread = depth * kBlock;
  plan.targets = {{.path = "data", .blocks = kBlocks, .namespace_id = 0, .lba_shift = 0}};
  return plan;
}

/// A file of random blocks, open for direct reads.
struct DirectFile {
  DirectFile()
      : bytes(dense_bytes(kBlock * kBlocks)),
        fd(open(folder.write("data", bytes).c_str(), O_RDONLY | O_DIRECT)) {}
  TemporaryFolder folder;
  std::string bytes;
  machine::Descriptor fd;
};

TEST(Aio, EveryBlockArrivesWhereItBelongs) {
  const DirectFile file;
  ASSERT_TRUE(file.fd);
  for (const bool vectored : {false, true}) {
    plan::RunPlan plan = aio_plan(8);
    plan.vectored = vectored;
    SlotBuffers buffers(plan);
    AioRing ring(plan.depth);
    for (std::uint32_t first = 0; first < kBlocks; first += 8) {
      for (std::uint32_t i = 0; i < 8; ++i) {
        io_uring_sqe& sqe = ring.sqes()[first + i];
        sqe = {};
        sqe.opcode = vectored ? IORING_OP_READV : IORING_OP_READ;
        sqe.fd = file.fd.get();
        sqe.len = vectored ? 1 : kBlock;
        sqe.off = (first + i) * kBlock;
        sqe.addr = buffers.slots()[i].address;
        sqe.user_data = i;
      }
      ASSERT_EQ(ring.enter(first + 8, 8, 8, true), 8);
      ASSERT_EQ(ring.cq_tail(), first + 8);
      std::uint64_t seen = 0;
      for (std::uint32_t i = 0; i < 8; ++i) {
        const io_uring_cqe& cqe = ring.cqes()[first + i];
        EXPECT_EQ(cqe.res, static_cast<int>(kBlock));
        seen |= 1ULL << cqe.user_data;
        const void* buffer = buffers.vectors()[cqe.user_data].iov_base;
        EXPECT_EQ(std::memcmp(buffer, file.bytes.data() + (first + cqe.user_data) * kBlock, kBlock),
                  0);
      }
      EXPECT_EQ(seen, 0xffU) << "each once";
      ring.release_cqes(first + 8);
    }
    EXPECT_EQ(ring.system_calls(), kBlocks / 8 * 2);
  }
}

TEST(Aio, ABadDescriptorFailsAloneAndAnEndOfFileIsShort) {
  const DirectFile file;
  plan::RunPlan plan = aio_plan(4);
  SlotBuffers buffers(plan);
  AioRing ring(plan.depth);
  const std::pair<int, std::uint64_t> reads[] = {
      {file.fd.get(), 0}, {-1, 0}, {file.fd.get(), kBlocks * kBlock}, {file.fd.get(), 1}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    io_uring_sqe& sqe = ring.sqes()[i];
    sqe = {};
    sqe.opcode = IORING_OP_READ;
    sqe.fd = reads[i].first;
    sqe.off = reads[i].second;
    sqe.len = kBlock;
    sqe.addr = buffers.slots()[i].address;
    sqe.user_data = i;
  }
  ASSERT_EQ(ring.enter(4, 4, 4, true), 4);
  ASSERT_EQ(ring.cq_tail(), 4U);
  std::int32_t results[4]{};
  for (std::uint32_t i = 0; i < 4; ++i) results[ring.cqes()[i].user_data] = ring.cqes()[i].res;
  EXPECT_EQ(results[0], static_cast<int>(kBlock));
  EXPECT_EQ(results[1], -EBADF);
  EXPECT_EQ(results[2], 0);
  EXPECT_EQ(results[3], -EINVAL);
}

TEST(Aio, TooManyRequestsAreRefusedWithTheLimit) {
  std::uint32_t most = 0;
  ASSERT_TRUE(std::ifstream("/proc/sys/fs/aio-max-nr") >> most);
  const base::Problem problem = refusal_of([&] { AioRing ring(most + 1); });
  EXPECT_NE(problem.what.find("io_setup"), std::string::npos);
  EXPECT_NE(problem.what.find("EAGAIN"), std::string::npos);
  EXPECT_NE(problem.hint.find("fs.aio-max-nr is " + std::to_string(most)), std::string::npos);
}

/// One measuring thread's whole life.
struct AioRun {
  explicit AioRun(const plan::RunPlan& run_plan) : plan(run_plan), worker(command, plan) {
    worker.set_targets(std::vector<std::uint32_t>(plan.targets.size(), 0));
  }
  void run(const std::vector<int>& fds, std::uint64_t ios) {
    FirstRing first_ring;
    ThreadInput input{.plan = plan,
                      .fds = fds,
                      .targets = {},
                      .seed = 1,
                      .counter_clock = true,
                      .command = command,
                      .first_ring = first_ring};
    for (std::uint32_t i = 0; i < fds.size(); ++i) {
      input.targets.push_back({.fd = -1, .index = i, .blocks = kBlocks, .next_block = 0});
    }
    const auto stop = [&] {
      while (worker.published().ios.load() < ios && !worker.published().ended.load()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      command.phase = Phase::stop;
    };
    std::thread session;
    const auto join = [&] {
      if (session.joinable()) session.join();
    };
    try {
      run_aio_thread(input, worker, [&](const Granted& all) {
        granted = all;
        command.phase = Phase::measure;
        session = std::thread(stop);
        return true;
      });
    } catch (...) {
      join();
      throw;
    }
    join();
  }

  const plan::RunPlan plan;
  Command command;
  Worker worker;
  Granted granted;
};

TEST(Aio, AWholeRunCountsWhatItRead) {
  const DirectFile file;
  for (const bool latency : {false, true}) {
    plan::RunPlan plan = aio_plan(16);
    plan.latency = plan.vectored = latency;
    AioRun run(plan);
    run.run({file.fd.get()}, 2000);
    const Tally& tally = run.worker.result();
    EXPECT_GE(tally.ios, 2000U);
    EXPECT_EQ(tally.ios, tally.completions);
    EXPECT_EQ(tally.errors + tally.short_reads, 0U);
    EXPECT_EQ(run.worker.never_completed(), 0U);
    EXPECT_LE(tally.in_flight_max, 16U);
    EXPECT_EQ(run.granted.depth, 16U);
    EXPECT_EQ(run.granted.batch_submit, 4U);
    EXPECT_EQ(run.granted.opcode, latency ? "IOCB_CMD_PREADV" : "IOCB_CMD_PREAD");
    EXPECT_EQ(run.granted.sq_entries, 0U) << "there is no ring";
    EXPECT_EQ(latency ? run.worker.latency_ticks().count() : tally.ios, tally.ios);
  }
}

TEST(Aio, TargetsTakeTurnsAndTheirErrorsAreCounted) {
  const DirectFile file;
  // Readable for the trial, then short of all but its first block.
  const std::string name = file.folder.write("short", dense_bytes(kBlock));
  const machine::Descriptor cut(open(name.c_str(), O_RDONLY | O_DIRECT));
  ASSERT_TRUE(cut);
  plan::RunPlan plan = aio_plan(8);
  plan.targets.push_back(plan.targets[0]);
  AioRun run(plan);
  run.run({file.fd.get(), cut.get()}, 2000);
  const Tally& tally = run.worker.result();
  EXPECT_EQ(tally.ios + tally.short_reads, tally.completions);
  EXPECT_GT(tally.short_reads, 1000U);
  EXPECT_EQ(run.worker.never_completed(), 0U);
}

TEST(Aio, TheFirstReadIsTriedBeforeTheRun) {
  const DirectFile file;
  AioRun run(aio_plan(4));
  const machine::Descriptor folder(open(".", O_RDONLY));
  const base::Problem problem = refusal_of([&] { run.run({folder.get()}, 1); });
  EXPECT_EQ(problem.what.find("data: the first read was refused: "), 0U) << problem.what;
  EXPECT_EQ(problem.hint.find("-B0"), std::string::npos) << "nothing is registered here";
}

TEST(Aio, ARunThatIsCalledOffMeasuresNothing) {
  const DirectFile file;
  const plan::RunPlan plan = aio_plan(4);
  Command command;
  Worker worker(command, plan);
  FirstRing first_ring;
  ThreadInput input{.plan = plan,
                    .fds = {file.fd.get()},
                    .targets = {{.fd = -1, .index = 0, .blocks = kBlocks, .next_block = 0}},
                    .seed = 1,
                    .counter_clock = false,
                    .command = command,
                    .first_ring = first_ring};
  run_aio_thread(input, worker, [](const Granted&) { return false; });
  EXPECT_EQ(worker.result().completions, 0U);
  EXPECT_EQ(worker.published().trial_since_ns.load(), 0);
}

}  // namespace
}  // namespace uringbench::engine
