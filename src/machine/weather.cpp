// What may be different a minute later: load, clock rates, temperatures. Small files only.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "machine/machine.hpp"
#include "machine/small_files.hpp"

namespace uringbench::machine {

namespace {

void widen(std::optional<int>& least, std::optional<int>& most, std::int64_t low_khz,
           std::int64_t high_khz) {
  const int low = static_cast<int>(low_khz / 1000);
  const int high = static_cast<int>(high_khz / 1000);
  least = least ? std::min(*least, low) : low;
  most = most ? std::max(*most, high) : high;
}

void read_clock_rates(Weather& weather, const Root& root) {
  const std::string folder = root("/sys/devices/system/cpu/cpufreq/");
  for (const std::string& name : list_names(folder)) {
    if (!starts_with(name, "policy")) continue;
    const std::string policy = folder + name;
    const auto governor = read_fact(policy + "/scaling_governor");
    if (governor && !weather.governor) weather.governor = governor;
    if (governor && *governor != *weather.governor) weather.governor = "mixed";
    const auto low = read_number(policy + "/scaling_min_freq");
    const auto high = read_number(policy + "/scaling_max_freq");
    if (low && high) widen(weather.cpu_mhz_min, weather.cpu_mhz_max, *low, *high);
  }
}

std::optional<std::string> read_turbo(const Root& root) {
  const std::string cpus = root("/sys/devices/system/cpu/");
  const auto no_turbo = read_number(cpus + "intel_pstate/no_turbo");
  if (no_turbo) return *no_turbo == 0 ? "on" : "off";
  const auto boost = read_number(cpus + "cpufreq/boost");
  if (boost) return *boost == 0 ? "off" : "on";
  return std::nullopt;
}

std::map<std::string, double> read_temperatures(const Root& root) {
  std::map<std::string, double> temperatures;
  const std::string folder = root("/sys/class/thermal/");
  for (const std::string& name : list_names(folder)) {
    if (!starts_with(name, "thermal_zone")) continue;
    const auto type = read_fact(folder + name + "/type");
    const auto millidegrees = read_number(folder + name + "/temp");
    if (!type || !millidegrees) continue;
    // Machines with two processors have two zones of one type.
    std::string key = *type;
    for (int again = 2; temperatures.count(key) != 0; ++again) {
      key = fmt::format("{} #{}", *type, again);
    }
    temperatures[key] = static_cast<double>(*millidegrees) / 1000.0;
  }
  return temperatures;
}

}  // namespace

Weather read_weather(const Root& root) {
  Weather weather;
  const auto load = read_fact(root("/proc/loadavg"));
  if (load) weather.load_average_1m = std::strtod(load->c_str(), nullptr);
  read_clock_rates(weather, root);
  weather.turbo = read_turbo(root);
  weather.temperature_celsius = read_temperatures(root);
  return weather;
}

}  // namespace uringbench::machine
