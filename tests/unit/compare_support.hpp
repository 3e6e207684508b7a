// Documents as `run` writes them, made from numbers.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "compare/compare.hpp"

namespace uringbench::compare {

inline std::string cell_id(int depth, const std::string& rest = "sqpoll=0") {
  return "randread bs=4096 qd=" + std::to_string(depth) +
         " submit=32 complete=32 threads=1 direct=1 polled=0 engine=io_uring " + rest;
}

inline result::Run run_of(std::uint32_t index, double iops) {
  result::Run run;
  run.index = index;
  run.iops = iops;
  run.ios = static_cast<std::uint64_t>(iops);
  run.elapsed_ns = 1'000'000'000;
  run.bytes_per_second = iops * 4096;
  run.cpu.per_io_ns = 1e9 / iops;
  return run;
}

inline result::Cell cell_of(int depth, const std::vector<double>& iops,
                            const std::string& rest = "sqpoll=0") {
  result::Cell cell;
  cell.id = cell_id(depth, rest);
  cell.asked.set("engine", "io_uring")
      .set("depth", depth)
      .set("batch_submit", 32)
      .set("block_size_bytes", 4096)
      .set("polled", "auto")
      .set("runtime_ns", 1'000'000'000);
  cell.granted.set("depth", depth).set("batch_submit", 32).set("polled", false);
  for (const double one : iops) {
    cell.runs.push_back(run_of(static_cast<std::uint32_t>(cell.runs.size()), one));
  }
  return cell;
}

inline result::Document document_of(std::vector<result::Cell> cells,
                                    const std::string& session = "1") {
  result::Document document;
  document.tool = {"0.1.0", "abcdef", "GNU 12", "Release", "2.3"};
  document.session.id = session;
  document.session.boot_id = "boot";
  document.session.verb = "run";
  document.identity.kernel_release = "6.18.0";
  document.identity.cpu_model = "Example CPU";
  document.identity.architecture = "x86_64";
  document.identity.cpus_online = 2;
  document.weather.temperature_celsius = {{"cpu", 40}};
  result::Target target;
  target.path = "/dev/nvme0n1";
  target.kind = "block";
  target.size_bytes = 1 << 30;
  target.logical_block_bytes = 512;
  target.device.emplace();
  target.device->name = "nvme0n1";
  target.device->model = "Example SSD";
  target.device->firmware = "1.0";
  target.queue = {{"scheduler", "none"}};
  document.targets.push_back(std::move(target));
  document.cells = std::move(cells);
  return document;
}

inline Side side_of(const std::string& label, result::Document document) {
  return {label, {{label + ".json", std::move(document)}}};
}

/// n values around `centre`, evenly spread by ± `spread` (a fraction), in a scrambled order.
inline std::vector<double> around(double centre, std::size_t n, double spread = 0.005) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    const double place = n == 1 ? 0 : 2.0 * static_cast<double>((i * 7) % n) / (double(n) - 1) - 1;
    values.push_back(centre * (1 + spread * place));
  }
  return values;
}

inline std::vector<Side> two(const std::vector<double>& base, const std::vector<double>& next,
                             int depth = 128) {
  return {side_of("base", document_of({cell_of(depth, base)}, "1")),
          side_of("new", document_of({cell_of(depth, next)}, "2"))};
}

inline const Contrast& only_contrast(const Comparison& comparison) {
  return comparison.cells.at(0).metrics.at(0).contrasts.at(0);
}

}  // namespace uringbench::compare
