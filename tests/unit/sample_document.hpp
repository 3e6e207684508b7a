// Result documents to test with: figures are made up, but agree with each other.
#pragma once

#include <cstdint>
#include <string>

#include "result/result.hpp"

namespace uringbench::testing {

/// 5 s on one thread at `iops`, timed; nothing went wrong.
inline result::Run sample_run(std::uint32_t index, std::uint64_t iops) {
  result::Run run;
  run.index = index;
  run.started_at = "2026-11-30T10:00:0" + std::to_string(index % 10) + ".000Z";
  run.warmup_ns = 1'000'000'000;
  run.elapsed_ns = 5'000'000'000;
  run.ios = iops * 5;
  run.iops = static_cast<double>(iops);
  run.bytes_per_second = run.iops * 4096;
  run.ios_per_submit_call = 32.0;
  run.ios_per_reap = 31.5;
  run.syscalls = run.ios / 32;
  run.inflight_mean = 127.25;
  run.inflight_mean_method = "time-weighted";
  run.inflight_max = 128;
  run.intervals = {{1'000'000'000, iops, run.iops}, {4'000'000'000, iops * 4, run.iops}};
  stats::Histogram latencies;
  for (std::uint64_t i = 1; i <= 1000; ++i) latencies.record(1'000'000 + i * 1000);
  run.latency = result::latency_of(latencies);
  run.cpu.user_ns = static_cast<std::int64_t>(run.ios) * 50;
  run.cpu.system_ns = static_cast<std::int64_t>(run.ios) * 2060;
  run.cpu.per_io_ns = 2110.0;
  run.cpu.voluntary_switches = 12;
  run.cpu.involuntary_switches = 3;
  result::ThreadRun thread;
  thread.tid = 4242;
  thread.elapsed_ns = run.elapsed_ns;
  thread.ios = run.ios;
  thread.targets = {0};
  thread.user_ns = run.cpu.user_ns;
  thread.system_ns = run.cpu.system_ns;
  run.threads = {thread};
  run.steady = true;
  return run;
}

inline result::Settings sample_asked() {
  result::Settings asked;
  asked.set("engine", "io_uring").set("depth", 128).set("batch_submit", 32);
  asked.set("batch_complete", 32).set("block_size_bytes", 4096).set("threads", 1);
  asked.set("random", true).set("nop", false).set("direct", true).set("polled", "auto");
  asked.set("fixed_buffers", true).set("register_files", true).set("vectored", false);
  asked.set("runtime_ns", 5'000'000'000).set("cpus", std::vector<std::int64_t>{});
  return asked;
}

inline result::Cell sample_cell() {
  result::Cell cell;
  cell.id = "randread bs=4096 qd=128 submit=32 complete=32 threads=1 direct=1 polled=0";
  cell.asked = sample_asked();
  cell.granted.set("polled", false).set("sq_entries", 128).set("cq_entries", 256);
  cell.granted.set("setup_flags", std::vector<std::string>{"SINGLE_ISSUER", "DEFER_TASKRUN"});
  return cell;
}

/// A poller that was busy for 93 % of the 5 s of sample_run().
inline result::Sqpoll sample_sqpoll() {
  result::Sqpoll sqpoll;
  sqpoll.thread_id = 4242;
  sqpoll.cpu = 1;
  sqpoll.total_us = 5'000'000;
  sqpoll.work_us = 4'655'000;
  sqpoll.utilisation = 0.931;
  sqpoll.cpu_ns = 5'100'000'000;
  sqpoll.cpu_per_io_ns = 1900.0;
  sqpoll.wakeups = 12;
  return sqpoll;
}

/// The settings that exist beside those of sample_cell(). They need not go together.
inline void set_every_flag(result::Cell& cell) {
  using Texts = std::vector<std::string>;
  using Numbers = std::vector<std::int64_t>;
  cell.asked.set("passthrough", false).set("numa", true).set("restrict", true);
  cell.asked.set("hugetlb", "/dev/hugepages/f").set("sqpoll", true).set("sqpoll_cpu", 1);
  cell.asked.set("sqpoll_idle_ms", 50).set("sqpoll_share", false).set("no_sqthread_stats", true);
  cell.asked.set("sqthread_stats_bit", 19).set("force", false).set("taskrun", "auto");
  cell.asked.set("hybrid_iopoll", false).set("queue", Texts{"iostats=0", "nomerges=2"});
  cell.asked.set("warmup_ns", 1'000'000'000);
  cell.granted.set("features", Texts{"SINGLE_MMAP", "NODROP"}).set("ratio", 0.5);
  cell.granted.set("sqpoll", true).set("sqthread_stats", "off-verified");
  cell.granted.set("restrictions", Texts{"READ_FIXED", "FIXED_FILE"});
  cell.granted.set("buffer_page_bytes", 2'097'152).set("cpus", Numbers{5});
  cell.granted.set("nodes", Numbers{0}).set("taskrun", "defer");
}

/// What every document has, and nothing else: no cells, no targets, nothing found out.
inline result::Document minimal_document() {
  result::Document document;
  document.tool.version = "0.1.0";
  document.session.id = "7d3c6a52-0f4e-4a57-9a3f-2b8e6a1c9d10";
  document.session.verb = "run";
  document.session.started_at = "2026-11-30T10:00:00.123Z";
  return document;
}

/// One target and six runs, as `run` leaves it.
inline result::Document six_run_document() {
  result::Document document = minimal_document();
  document.identity.kernel_release = "6.18.44";
  document.identity.cpu_model = "Example CPU 3000";
  document.identity.cpus_online = 8;
  result::Target target;
  target.path = "/dev/nvme0n1";
  target.kind = "block";
  target.size_bytes = std::uint64_t{1600} << 30;
  target.logical_block_bytes = 512;
  target.device.emplace();
  target.device->name = "nvme0n1";
  target.device->model = "Example SSD 9";
  document.targets = {target};
  document.cells = {sample_cell()};
  std::uint32_t index = 0;
  for (const std::uint64_t iops : {154'120, 152'900, 153'410, 153'500, 153'620, 153'300}) {
    document.cells[0].runs.push_back(sample_run(index++, iops));
  }
  result::summarize(document.cells[0]);
  return document;
}

/// Runs with one SQPOLL thread; the submitting thread sleeps most of the time.
inline result::Document sqpoll_document(std::size_t runs) {
  result::Document document = six_run_document();
  result::Cell& cell = document.cells[0];
  cell.runs.resize(runs);
  for (result::Run& run : cell.runs) {
    run.sqpoll = sample_sqpoll();
    run.sqpoll->thread_id += run.index;
    run.threads[0].user_ns = static_cast<std::int64_t>(run.ios) * 40;
    run.threads[0].system_ns = static_cast<std::int64_t>(run.ios) * 150;
  }
  cell.granted = {};
  cell.granted.set("polled", true).set("sqpoll", true).set("sqthread_stats", "on");
  cell.granted.set("setup_flags", std::vector<std::string>{"IOPOLL", "SQPOLL", "SQ_AFF"});
  result::summarize(cell);
  return document;
}

/// Every field of the schema has a value: the seventh run has those of trouble.
inline result::Document full_document() {
  result::Document document = six_run_document();
  document.tool = {"0.1.0", "0123456789ab", "GNU 12.2.0", "Release", "2.3"};
  result::SessionInfo& session = document.session;
  session.plan_id = "c0ffee00-0000-4000-8000-000000000001";
  session.boot_id = "0b5f7c1e-5d3a-4a43-8a4e-6a8d0f1c2b3d";
  session.label = "base \"quoted\" µs";
  session.argv = {"uringbench", "run", "--json", "out.json", "caf\xE9"};  // Latin-1, no UTF-8
  session.seed = UINT64_MAX;
  session.elapsed_ns = 41'000'000'000;
  session.interrupted = true;
  session.signal = "SIGINT";

  result::Identity& identity = document.identity;
  identity.kernel_version = "#1 SMP PREEMPT_DYNAMIC";
  identity.kernel_cmdline = "root=/dev/vda1 nvme.poll_queues=4";
  identity.architecture = "x86_64";
  identity.numa_nodes = 2;
  identity.memory_bytes = std::uint64_t{64} << 30;
  identity.virtualization = "none";
  identity.mitigations = {{"meltdown", "Not affected"}, {"spectre_v1", "Mitigation: swapgs"}};
  identity.smt = {{"active", "1"}, {"control", "on"}};
  identity.io_uring_disabled = 0;
  document.weather = {0.25, "performance", "off", 800, 4200, {{"x86_pkg_temp", 40.5}}};

  result::Target& target = document.targets[0];
  target.path = "/dev/disk/by-id/nvme-example-part1";
  target.resolved_path = "/dev/nvme0n1p1";
  target.filesystem = "ext4";
  target.mounted_at = "/srv";
  target.sparse = true;
  target.unwritten_bytes = 4096;
  result::Device& device = *target.device;
  device.partition = "nvme0n1p1";
  device.firmware = "1B2QEXM7";
  device.driver = "nvme";
  device.serial = "S0";
  device.local_cpus = "0-7";
  device.backing_file = "/srv/image";
  device.numa_node = 0;
  device.poll_queues = 4;
  device.temperature_celsius = 41;
  device.pci = result::Pci{"0000:01:00.0", "16.0 GT/s PCIe", "16.0 GT/s PCIe", 4, 4};
  target.queue = {{"iostats", "0"}, {"scheduler", "none"}};
  target.queue_restored = {{"iostats", "1"}};
  result::Target generic;
  generic.path = "/dev/ng1n1";
  generic.kind = "nvme-generic";
  generic.size_bytes = std::uint64_t{800} << 30;
  generic.logical_block_bytes = 4096;
  generic.namespace_id = 1;
  document.targets.push_back(generic);
  document.findings = {
      {"warning", "sparse-target", "/dev/nvme0n1p1 was never written in places", "fill it first"},
      {"info", "symlink", "the target is a symbolic link", ""}};

  result::Cell& cell = document.cells[0];
  cell.arm = "A";
  set_every_flag(cell);
  cell.runs.push_back(sample_run(6, 1000));
  result::Run& run = cell.runs.back();
  run.block = 3;
  run.position = 1;
  run.errors.count = 1294;
  run.errors.by_errno = {{"EIO", 1280}, {"ENODATA", 4}, {"NVME_SC_READ_ERROR", 10}};
  run.errors.first = result::ErrorTally::First{"EIO", 0, 16'777'216};
  run.short_reads = 3;
  run.first_short_read = result::Run::ShortRead{0, 8192};
  run.retries_eagain = 9;
  run.stalled = true;
  run.never_completed = 4;
  run.io_workers = 2;
  run.threads[0].cpu = 5;
  run.threads[0].node = 0;
  run.sqpoll = sample_sqpoll();
  run.sqpoll->pollers = {{4242, 1, 2'500'000, 2'300'000, 2'550'000'000},
                         {4243, 2, 2'500'000, 2'355'000, 2'550'000'000}};
  run.interrupted = true;
  run.steady = false;
  run.warnings = {"latency does not agree with Little's law"};
  result::summarize(cell);
  return document;
}

}  // namespace uringbench::testing
