// The machine and the targets as JSON: what results and checkups have in common.
#include "result/writing.hpp"

namespace uringbench::result {
namespace {

Json to_value(const Pci& pci) {
  Json object = Json::object();
  put(object, "address", pci.address);
  put(object, "link_speed", pci.link_speed);
  put(object, "link_width", pci.link_width);
  put(object, "link_speed_max", pci.link_speed_max);
  put(object, "link_width_max", pci.link_width_max);
  return object;
}

Json to_value(const Device& device) {
  Json object;
  object["name"] = device.name;
  put(object, "partition", device.partition);
  put(object, "model", device.model);
  put(object, "firmware", device.firmware);
  put(object, "serial", device.serial);
  put(object, "driver", device.driver);
  put(object, "backing_file", device.backing_file);
  put(object, "numa_node", device.numa_node);
  put(object, "local_cpus", device.local_cpus);
  if (device.pci) object["pci"] = to_value(*device.pci);
  put(object, "poll_queues", device.poll_queues);
  put(object, "temperature_celsius", device.temperature_celsius);
  return object;
}

}  // namespace

Json to_value(const Tool& tool) {
  Json object;
  object["version"] = tool.version;
  put_text(object, "commit", tool.commit);
  put_text(object, "compiler", tool.compiler);
  put_text(object, "build_type", tool.build_type);
  put_text(object, "liburing", tool.liburing);
  return object;
}

Json to_value(const Identity& identity) {
  Json object = Json::object();
  put_text(object, "kernel_release", identity.kernel_release);
  put_text(object, "kernel_version", identity.kernel_version);
  put_text(object, "kernel_cmdline", identity.kernel_cmdline);
  put_text(object, "architecture", identity.architecture);
  put_text(object, "cpu_model", identity.cpu_model);
  put_positive(object, "cpus_online", identity.cpus_online);
  put_positive(object, "numa_nodes", identity.numa_nodes);
  put_positive(object, "memory_bytes", identity.memory_bytes);
  put(object, "virtualization", identity.virtualization);
  put_map(object, "mitigations", identity.mitigations);
  put_map(object, "smt", identity.smt);
  put(object, "io_uring_disabled", identity.io_uring_disabled);
  return object;
}

Json to_value(const Weather& weather) {
  Json object = Json::object();
  put(object, "load_average_1m", weather.load_average_1m);
  put(object, "governor", weather.governor);
  put(object, "cpu_mhz_min", weather.cpu_mhz_min);
  put(object, "cpu_mhz_max", weather.cpu_mhz_max);
  put(object, "turbo", weather.turbo);
  put_map(object, "temperature_celsius", weather.temperature_celsius);
  return object;
}

Json to_value(const Target& target) {
  Json object;
  object["path"] = target.path;
  put(object, "resolved_path", target.resolved_path);
  object["kind"] = target.kind;
  object["size_bytes"] = target.size_bytes;
  put_positive(object, "logical_block_bytes", target.logical_block_bytes);
  put(object, "namespace_id", target.namespace_id);
  put(object, "filesystem", target.filesystem);
  put(object, "mounted_at", target.mounted_at);
  object["sparse"] = target.sparse;
  put(object, "unwritten_bytes", target.unwritten_bytes);
  if (target.device) object["device"] = to_value(*target.device);
  put_map(object, "queue", target.queue);
  put_map(object, "queue_restored", target.queue_restored);
  return object;
}

Json to_value(const Finding& finding) {
  Json object;
  object["severity"] = finding.severity;
  object["code"] = finding.code;
  object["message"] = finding.message;
  put_text(object, "hint", finding.hint);
  return object;
}

}  // namespace uringbench::result
