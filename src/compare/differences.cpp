// What must be equal, what may differ, and what is worth a warning when it does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "compare/parts.hpp"

namespace uringbench::compare {
namespace {

using result::Document;
using Kind = Difference::Kind;
using Value = std::optional<std::string>;

constexpr const char* kUnknown = "unknown";
constexpr double kCelsius = 5;

bool is_one_of(std::string_view word, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// --- facts of a document ---

struct Fact {
  std::string what;
  Kind kind;
  std::string varies;  ///< the word that declares it
  bool strict;         ///< fatal with --strict-env
  bool common;         ///< worth saying when it is the same everywhere
  std::function<Value(const Document&)> value;
};

Value known(const std::string& text) { return text.empty() ? std::nullopt : Value(text); }

/// The same figure of every target.
template <typename Figure>
std::function<Value(const Document&)> of_targets(Figure figure) {
  return [figure](const Document& document) -> Value {
    std::vector<std::string> texts;
    bool some = false;
    for (const result::Target& target : document.targets) {
      const Value text = figure(target);
      some = some || text.has_value();
      texts.push_back(text.value_or(kUnknown));
    }
    if (!some) return std::nullopt;
    return joined(texts);
  };
}

template <typename Member>
std::function<Value(const Document&)> of_devices(Member member) {
  return of_targets([member](const result::Target& target) -> Value {
    if (!target.device) return std::nullopt;
    const auto& value = (*target.device).*member;
    if (!value) return std::nullopt;
    if constexpr (std::is_same_v<std::decay_t<decltype(*value)>, std::string>) {
      return *value;
    } else {
      return std::to_string(*value);
    }
  });
}

std::function<Value(const Document&)> of_pci(const std::function<Value(const result::Pci&)>& of) {
  return of_targets([of](const result::Target& target) -> Value {
    return target.device && target.device->pci ? of(*target.device->pci) : std::nullopt;
  });
}

void add_program_facts(std::vector<Fact>& facts) {
  facts.push_back({"kernel", Kind::free, "kernel", true, true,
                   [](const Document& d) { return known(d.identity.kernel_release); }});
  facts.push_back({"kernel build", Kind::free, "kernel", true, false,
                   [](const Document& d) { return known(d.identity.kernel_version); }});
  facts.push_back({"binary", Kind::free, "binary", true, false, [](const Document& d) -> Value {
                     if (d.tool.version.empty()) return std::nullopt;
                     return d.tool.commit.empty() ? d.tool.version
                                                  : d.tool.version + " " + d.tool.commit;
                   }});
  facts.push_back({"build type", Kind::warning, "binary", false, false,
                   [](const Document& d) { return known(d.tool.build_type); }});
  facts.push_back({"compiler", Kind::warning, "binary", false, false,
                   [](const Document& d) { return known(d.tool.compiler); }});
  facts.push_back({"liburing", Kind::warning, "binary", false, false,
                   [](const Document& d) { return known(d.tool.liburing); }});
  facts.push_back(
      {"set-up flags", Kind::warning, "kernel", false, false, [](const Document& d) -> Value {
         if (d.cells.empty()) return std::nullopt;
         const auto* flags = d.cells.front().granted.find("setup_flags");
         return flags == nullptr ? std::nullopt : Value(setting_text(*flags));
       }});
}

void add_machine_facts(std::vector<Fact>& facts) {
  const auto add = [&](const char* what, bool strict, std::function<Value(const Document&)> value) {
    facts.push_back({what, Kind::warning, "machine", strict, false, std::move(value)});
  };
  add("CPU", true, [](const Document& d) { return known(d.identity.cpu_model); });
  add("architecture", true, [](const Document& d) { return known(d.identity.architecture); });
  add("CPUs online", true, [](const Document& d) {
    return d.identity.cpus_online > 0 ? Value(std::to_string(d.identity.cpus_online))
                                      : std::nullopt;
  });
  add("NUMA nodes", false, [](const Document& d) {
    return d.identity.numa_nodes > 0 ? Value(std::to_string(d.identity.numa_nodes)) : std::nullopt;
  });
  add("memory", false, [](const Document& d) {
    return d.identity.memory_bytes > 0 ? Value(base::format_bytes(d.identity.memory_bytes))
                                       : std::nullopt;
  });
  add("virtualization", false, [](const Document& d) { return d.identity.virtualization; });
  add("governor", false, [](const Document& d) { return d.weather.governor; });
  add("turbo", false, [](const Document& d) { return d.weather.turbo; });
  add("CPU frequency, least", false, [](const Document& d) -> Value {
    if (!d.weather.cpu_mhz_min) return std::nullopt;
    return fmt::format("{} MHz", *d.weather.cpu_mhz_min);
  });
  add("CPU frequency, most", false, [](const Document& d) -> Value {
    if (!d.weather.cpu_mhz_max) return std::nullopt;
    return fmt::format("{} MHz", *d.weather.cpu_mhz_max);
  });
}

void add_device_facts(std::vector<Fact>& facts) {
  const auto add = [&](const char* what, Kind kind, bool common,
                       std::function<Value(const Document&)> value) {
    facts.push_back({what, kind, "device", false, common, std::move(value)});
  };
  using result::Device;
  using result::Target;
  add("target", Kind::warning, true, of_targets([](const Target& t) { return known(t.path); }));
  add("target kind", Kind::fatal, false, of_targets([](const Target& t) { return known(t.kind); }));
  add("target size", Kind::fatal, true, of_targets([](const Target& t) -> Value {
        if (t.size_bytes == 0) return std::nullopt;
        // Rounding must not hide a difference.
        for (const auto& [shift, unit] : {std::pair{30, "GiB"}, std::pair{20, "MiB"}}) {
          const std::uint64_t bytes = std::uint64_t{1} << shift;
          if (t.size_bytes % bytes == 0) return fmt::format("{} {}", t.size_bytes / bytes, unit);
        }
        return fmt::format("{} ({} bytes)", base::format_bytes(t.size_bytes), t.size_bytes);
      }));
  add("logical block", Kind::fatal, false, of_targets([](const Target& t) -> Value {
        if (t.logical_block_bytes == 0) return std::nullopt;
        return fmt::format("{} bytes", t.logical_block_bytes);
      }));
  add("device model", Kind::fatal, true, of_devices(&Device::model));
  add("device firmware", Kind::fatal, true, of_devices(&Device::firmware));
  add("device driver", Kind::warning, false, of_devices(&Device::driver));
  add("NUMA node of the device", Kind::warning, false, of_devices(&Device::numa_node));
  add("poll queues", Kind::warning, false, of_devices(&Device::poll_queues));
  add("PCI link speed", Kind::warning, false,
      of_pci([](const result::Pci& pci) { return pci.link_speed; }));
  add("PCI link width", Kind::warning, false, of_pci([](const result::Pci& pci) -> Value {
        if (!pci.link_width) return std::nullopt;
        return fmt::format("x{}", *pci.link_width);
      }));
  add("filesystem", Kind::warning, false, of_targets([](const Target& t) { return t.filesystem; }));
  add("sparse target", Kind::warning, false,
      of_targets([](const Target& t) -> Value { return t.sparse ? "yes" : "no"; }));
}

/// Maps of names to texts: one fact for each name that stands anywhere.
template <typename Map>
void add_map_facts(std::vector<Fact>& facts, const std::vector<Side>& sides, const char* prefix,
                   const char* varies, Map map_of) {
  std::set<std::string> names;
  for (const Side& side : sides) {
    for (const Source& source : side.sources) {
      for (const auto& [name, value] : map_of(source.document)) names.insert(name);
    }
  }
  for (const std::string& name : names) {
    facts.push_back({prefix + name, Kind::warning, varies, false, false,
                     [map_of, name](const Document& document) -> Value {
                       const auto map = map_of(document);
                       const auto found = map.find(name);
                       return found == map.end() ? std::nullopt : Value(found->second);
                     }});
  }
}

using Texts = std::map<std::string, std::string>;

Texts queue_of(const Document& document) {
  Texts all;
  for (const auto& target : document.targets) all.insert(target.queue.begin(), target.queue.end());
  return all;
}

Texts command_line_of(const Document& document) {
  Texts words;
  std::string_view rest = document.identity.kernel_cmdline;
  while (!rest.empty()) {
    const auto end = rest.find(' ');
    const std::string_view word = rest.substr(0, end);
    if (!word.empty()) {
      const auto equals = word.find('=');
      words[std::string(word.substr(0, equals))] =
          equals == std::string_view::npos ? "given" : std::string(word.substr(equals + 1));
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return words;
}

std::vector<Fact> all_facts(const std::vector<Side>& sides) {
  std::vector<Fact> facts;
  add_program_facts(facts);
  add_device_facts(facts);
  add_machine_facts(facts);
  add_map_facts(facts, sides, "queue/", "queue", queue_of);
  add_map_facts(facts, sides, "mitigation ", "kernel",
                [](const Document& d) { return d.identity.mitigations; });
  add_map_facts(facts, sides, "SMT ", "machine", [](const Document& d) { return d.identity.smt; });
  // Which image and root the machine booted from is another matter.
  add_map_facts(facts, sides, "kernel option ", "kernel", command_line_of);
  std::erase_if(facts, [](const Fact& fact) {
    return is_one_of(fact.what, {"kernel option BOOT_IMAGE", "kernel option root",
                                 "kernel option initrd", "kernel option resume"});
  });
  return facts;
}

/// A figure that never repeats itself exactly: worth a warning from some distance on.
void add_weather(const std::vector<Side>& sides, const char* what, double least_distance,
                 const char* format,
                 const std::function<std::optional<double>(const Document&)>& of,
                 std::vector<Difference>& differences) {
  double least = INFINITY, most = -INFINITY;
  Difference difference{Kind::warning, what, {}};
  for (const Side& side : sides) {
    std::optional<double> highest;
    for (const Source& source : side.sources) {
      const auto value = of(source.document);
      if (value) highest = std::max(highest.value_or(-INFINITY), *value);
    }
    difference.values.push_back(highest ? fmt::format(fmt::runtime(format), *highest) : kUnknown);
    least = std::min(least, highest.value_or(INFINITY));
    most = std::max(most, highest.value_or(-INFINITY));
  }
  if (most - least > least_distance) differences.push_back(std::move(difference));
}

std::optional<double> machine_celsius(const Document& document) {
  std::optional<double> highest;
  for (const auto& [zone, celsius] : document.weather.temperature_celsius) {
    highest = std::max(highest.value_or(-INFINITY), celsius);
  }
  return highest;
}

std::optional<double> device_celsius(const Document& document) {
  std::optional<double> highest;
  for (const auto& target : document.targets) {
    if (!target.device || !target.device->temperature_celsius) continue;
    highest = std::max(highest.value_or(-INFINITY),
                       static_cast<double>(*target.device->temperature_celsius));
  }
  return highest;
}

/// Other programs record next to nothing of the machine. That is told once, and not fact by fact:
/// is it only imported sides that lack this one, while the others agree?
bool only_imports_lack_it(const Fact& fact, const std::vector<Side>& sides) {
  std::set<std::string> recorded;
  bool lacking = false;
  for (const Side& side : sides) {
    for (const Source& source : side.sources) {
      const Value value = fact.value(source.document);
      if (value) {
        recorded.insert(*value);
      } else if (result::imported_from(source.document).empty()) {
        return false;
      } else {
        lacking = true;
      }
    }
  }
  return lacking && recorded.size() == 1;
}

bool is_imported(const Side& side) {
  return std::any_of(side.sources.begin(), side.sources.end(), [](const Source& source) {
    return !result::imported_from(source.document).empty();
  });
}

Difference machine_of_imports(const std::vector<Side>& sides) {
  Difference difference{Kind::warning, "machine, kernel options and queue", {}};
  for (const Side& side : sides) {
    difference.values.push_back(is_imported(side) ? kUnknown : "recorded");
  }
  return difference;
}

Kind kind_of(const Fact& fact, bool known_ones_differ, const Options& options,
             const std::set<std::string>& varies) {
  if (varies.count(fact.varies) != 0) return Kind::declared;
  if (fact.strict && options.strict_environment) return Kind::fatal;
  if (fact.kind == Kind::fatal && !known_ones_differ) return Kind::unknown;
  return fact.kind;
}

}  // namespace

Facts compare_facts(const std::vector<Side>& sides, const Options& options,
                    const std::set<std::string>& varies) {
  Facts facts;
  facts.fatal_with_base.resize(sides.size());
  bool imports_lack_some = false;
  for (const Fact& fact : all_facts(sides)) {
    std::vector<std::string> values;
    std::vector<bool> mixed;  // documents of one side differ
    std::set<std::string> all, stated;
    for (const Side& side : sides) {
      std::set<std::string> of_side;
      for (const Source& source : side.sources) {
        const Value value = fact.value(source.document);
        of_side.insert(value.value_or(kUnknown));
        if (value) stated.insert(*value);
      }
      all.insert(of_side.begin(), of_side.end());
      values.push_back(joined({of_side.begin(), of_side.end()}, " and "));
      mixed.push_back(of_side.size() > 1);
    }
    if (stated.empty()) {
      // Of other programs' results it is not known to be the same, which is what was demanded.
      const bool demanded = fact.strict && options.strict_environment && fact.kind == Kind::free &&
                            varies.count(fact.varies) == 0;
      if (!demanded || std::none_of(sides.begin(), sides.end(), is_imported)) continue;
      for (auto& fatal : facts.fatal_with_base) fatal.push_back(fact.what + " is not known");
      continue;
    }
    if (all.size() == 1) {
      if (fact.common) facts.same.push_back(fact.what + " " + *all.begin());
      continue;
    }
    const Kind kind = kind_of(fact, stated.size() > 1, options, varies);
    if (kind == Kind::warning && only_imports_lack_it(fact, sides)) {
      imports_lack_some = true;
      continue;
    }
    if (kind == Kind::fatal) {
      for (std::size_t side = 0; side < sides.size(); ++side) {
        // A base whose documents differ spoils every contrast.
        if (mixed[side] || (side > 0 && values[side] != values[0])) {
          facts.fatal_with_base[side].push_back(
              fmt::format("{} {} vs {}", fact.what, values[0], values[side]));
        }
      }
    }
    facts.differences.push_back({kind, fact.what, std::move(values)});
  }
  if (imports_lack_some) facts.differences.push_back(machine_of_imports(sides));
  const double cpus = sides.front().sources.empty()
                          ? 1
                          : std::max(1, sides.front().sources[0].document.identity.cpus_online);
  add_weather(
      sides, "load average", cpus / 2, "{:.2f}",
      [](const Document& d) -> std::optional<double> {
        if (d.identity.kernel_release.empty()) return std::nullopt;
        return d.weather.load_average_1m;
      },
      facts.differences);
  add_weather(sides, "highest temperature of the machine", 2 * kCelsius, "{:.0f} °C",
              machine_celsius, facts.differences);
  add_weather(sides, "device temperature", kCelsius, "{:.0f} °C", device_celsius,
              facts.differences);
  return facts;
}

}  // namespace uringbench::compare
