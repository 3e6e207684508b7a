// What holds for all documents: they come back as they were written, and no text breaks the reader.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../unit/sample_document.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "result/result.hpp"

namespace uringbench::result {
namespace {

bool coin() { return *rc::gen::arbitrary<bool>(); }

/// All magnitudes of non-negative numbers up to what the type holds.
template <typename Integer>
Integer count() {
  const auto bits = *rc::gen::arbitrary<std::uint64_t>() * 0x9e3779b97f4a7c15U;
  const int shift = *rc::gen::inRange(65 - std::numeric_limits<Integer>::digits, 65);
  return shift == 64 ? Integer{0} : static_cast<Integer>(bits >> shift);
}

double amount() {
  const double mantissa = static_cast<double>(count<std::uint64_t>());
  return mantissa * std::pow(10.0, *rc::gen::inRange(-30, 30));
}

/// Texts that JSON must escape, and some that it need not.
std::string text() {
  static const std::vector<std::string> kPieces = {
      "a", "Z", " ", "/", "µ", "😀", "\xEF\xBF\xBD", "\"", "\\", "\n", "\x01", "\x1b[31m", "|", "{"};
  std::string out;
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) out += *rc::gen::elementOf(kPieces);
  return out;
}

std::string word() { return 'w' + text(); }

template <typename T, typename Make>
void maybe(std::optional<T>& out, Make make) {
  if (coin()) out = make();
}

template <typename T, typename Make>
void some(std::vector<T>& out, Make make) {
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) out.push_back(make());
}

template <typename T, typename Make>
void some(std::map<std::string, T>& out, Make make) {
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) out[word()] = make();
}

Settings settings() {
  Settings out;
  for (int i = *rc::gen::inRange(0, 10); i > 0; --i) {
    const std::string key = std::to_string(i) + text();
    switch (*rc::gen::inRange(0, 7)) {
      case 0:
        out.set(key, coin());
        break;
      case 1:
        out.set(key, *rc::gen::arbitrary<std::int64_t>());
        break;
      case 2:
        out.set(key, count<std::uint64_t>());
        break;
      case 3:
        out.set(key, coin() ? amount() : -amount());
        break;
      case 4:
        out.set(key, text());
        break;
      case 5: {
        std::vector<std::string> texts;
        some(texts, text);
        out.set(key, texts);
        break;
      }
      default: {
        std::vector<std::int64_t> numbers;
        some(numbers, [] { return *rc::gen::arbitrary<std::int64_t>(); });
        out.set(key, numbers);
      }
    }
  }
  return out;
}

Device device() {
  Device out;
  out.name = text();
  for (auto* member : {&out.partition, &out.model, &out.firmware, &out.driver, &out.serial,
                       &out.local_cpus, &out.backing_file}) {
    maybe(*member, text);
  }
  maybe(out.numa_node, count<int>);
  maybe(out.poll_queues, count<int>);
  maybe(out.temperature_celsius, [] { return *rc::gen::inRange(-273, 1000); });
  maybe(out.pci, [] {
    Pci pci;
    for (auto* member : {&pci.address, &pci.link_speed, &pci.link_speed_max}) maybe(*member, text);
    maybe(pci.link_width, count<int>);
    maybe(pci.link_width_max, count<int>);
    return pci;
  });
  return out;
}

Target target() {
  Target out;
  out.path = text();
  out.kind = text();
  maybe(out.resolved_path, text);
  out.size_bytes = count<std::uint64_t>();
  out.logical_block_bytes = count<std::uint32_t>();
  maybe(out.filesystem, text);
  maybe(out.mounted_at, text);
  out.sparse = coin();
  maybe(out.unwritten_bytes, count<std::uint64_t>);
  maybe(out.device, device);
  maybe(out.namespace_id, count<std::uint32_t>);
  some(out.queue, text);
  some(out.queue_restored, text);
  return out;
}

Latency latency() {
  Latency out;
  out.count = count<std::uint64_t>();
  out.min = count<std::uint64_t>();
  out.max = count<std::uint64_t>();
  out.mean = amount();
  for (const char* name : {"p1", "p50", "p99.9", "p99.99"}) {
    if (coin()) out.percentiles.emplace_back(name, count<std::uint64_t>());
  }
  some(out.buckets, [] { return std::pair(count<std::uint64_t>(), count<std::uint64_t>()); });
  return out;
}

Sqpoll sqpoll() {
  using Microseconds = std::int64_t;
  Sqpoll out;
  out.thread_id = count<std::int64_t>();
  maybe(out.cpu, count<int>);
  maybe(out.total_us, count<Microseconds>);
  maybe(out.work_us, count<Microseconds>);
  maybe(out.utilisation, amount);
  maybe(out.cpu_ns, count<std::int64_t>);
  maybe(out.cpu_per_io_ns, amount);
  out.wakeups = count<std::uint64_t>();
  some(out.pollers, [] {
    Sqpoll::Poller poller;
    poller.thread_id = count<std::int64_t>();
    maybe(poller.cpu, count<int>);
    maybe(poller.total_us, count<Microseconds>);
    maybe(poller.work_us, count<Microseconds>);
    maybe(poller.cpu_ns, count<std::int64_t>);
    return poller;
  });
  return out;
}

ThreadRun thread() {
  ThreadRun out;
  out.index = count<std::uint32_t>();
  maybe(out.cpu, count<int>);
  maybe(out.node, count<int>);
  out.tid = count<std::int64_t>();
  out.elapsed_ns = count<std::int64_t>();
  out.ios = count<std::uint64_t>();
  some(out.targets, count<std::uint32_t>);
  out.user_ns = count<std::int64_t>();
  out.system_ns = count<std::int64_t>();
  return out;
}

Run run() {
  Run out = testing::sample_run(count<std::uint32_t>(), count<std::uint32_t>());
  maybe(out.block, count<std::uint32_t>);
  maybe(out.position, count<std::uint32_t>);
  out.ios = count<std::uint64_t>();
  out.iops = amount();
  if (coin()) out.bytes_per_second.reset();
  out.errors.count = count<std::uint64_t>();
  some(out.errors.by_errno, count<std::uint64_t>);
  maybe(out.errors.first, [] {
    return ErrorTally::First{text(), count<std::uint32_t>(), count<std::uint64_t>()};
  });
  maybe(out.first_short_read, [] {
    return Run::ShortRead{count<std::uint32_t>(), count<std::uint64_t>()};
  });
  out.stalled = coin();
  out.interrupted = coin();
  if (coin()) out.inflight_mean.reset();
  if (coin()) out.inflight_mean_method.reset();
  if (coin()) out.ios_per_submit_call.reset();
  if (coin()) out.ios_per_reap.reset();
  if (coin()) out.cpu.per_io_ns.reset();
  if (coin()) out.steady.reset();
  some(out.intervals, [] {
    return Interval{count<std::int64_t>(), count<std::uint64_t>(), amount()};
  });
  out.latency.reset();
  maybe(out.latency, latency);
  maybe(out.sqpoll, sqpoll);
  some(out.threads, thread);
  some(out.warnings, text);
  return out;
}

Cell cell() {
  Cell out;
  out.id = text();
  maybe(out.arm, text);
  out.asked = settings();
  out.granted = settings();
  some(out.runs, run);
  for (const char* name : {"iops", "bytes_per_second", "latency_p99.9_ns"}) {
    if (coin()) continue;
    SummaryFigure figure{count<std::uint64_t>(), amount(), amount(), amount(), amount(), {}, {}};
    maybe(figure.cv, amount);
    maybe(figure.ci95, [] {
      const double low = amount();
      return stats::MedianInterval{low, low * 2, amount()};
    });
    out.summary.emplace_back(name, figure);
  }
  return out;
}

Document document() {
  Document out;
  out.tool = {text(), text(), text(), text(), text()};
  SessionInfo& session = out.session;
  for (auto* member :
       {&session.id, &session.boot_id, &session.verb, &session.label, &session.started_at}) {
    *member = text();
  }
  maybe(session.plan_id, text);
  some(session.argv, text);
  session.seed = count<std::uint64_t>();
  session.elapsed_ns = count<std::int64_t>();
  session.interrupted = coin();
  maybe(session.signal, text);
  Identity& identity = out.identity;
  for (auto* member : {&identity.kernel_release, &identity.kernel_version, &identity.kernel_cmdline,
                       &identity.architecture, &identity.cpu_model}) {
    *member = text();
  }
  identity.cpus_online = count<int>();
  identity.numa_nodes = count<int>();
  identity.memory_bytes = count<std::uint64_t>();
  maybe(identity.virtualization, text);
  some(identity.mitigations, text);
  some(identity.smt, text);
  maybe(identity.io_uring_disabled, count<int>);
  Weather& weather = out.weather;
  weather.load_average_1m = amount();
  maybe(weather.governor, text);
  maybe(weather.turbo, text);
  maybe(weather.cpu_mhz_min, count<int>);
  maybe(weather.cpu_mhz_max, count<int>);
  some(weather.temperature_celsius, [] { return coin() ? amount() : -amount(); });
  some(out.targets, target);
  some(out.findings, [] { return Finding{text(), text(), text(), text()}; });
  some(out.cells, cell);
  return out;
}

TEST(ResultProperty, DocumentsComeBackAsTheyWereWritten) {
  ASSERT_TRUE(rc::check([] {
    const std::string text = to_json(document());
    RC_ASSERT(to_json(from_json(text, "x.json")) == text);
  }));
}

/// Either a document or a refusal with a reason and one of the two codes; nothing else escapes.
bool is_read(const std::string& text, Detail detail) {
  try {
    to_json(from_json(text, "x.json", detail));
    return true;
  } catch (const base::UserError& error) {
    const auto code = error.problems().front().code;
    RC_ASSERT(code == base::ExitCode::internal || code == base::ExitCode::not_comparable);
    RC_ASSERT(error.problems().front().what.starts_with("x.json: "));
  }
  return false;
}

void expect_answer(const std::string& text) {
  const bool everything = is_read(text, Detail::everything);
  RC_ASSERT(is_read(text, Detail::figures) || !everything);
}

TEST(ResultProperty, SpoiltBytesAreReadOrRefused) {
  const std::string whole = to_json(testing::full_document());
  ASSERT_TRUE(rc::check([&] {
    std::string spoilt = whole;
    for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, spoilt.size());
      static const std::string kLikely = "0123456789-.eE\"{}[],: \n\\tfn\x80\xff";
      spoilt[at] = coin() ? *rc::gen::elementOf(kLikely) : *rc::gen::arbitrary<char>();
    }
    expect_answer(spoilt);
  }));
}

TEST(ResultProperty, SwappedPiecesAreReadOrRefused) {
  const std::string whole = to_json(testing::full_document());
  ASSERT_TRUE(rc::check([&] {
    const auto from = *rc::gen::inRange<std::size_t>(0, whole.size());
    const auto size = *rc::gen::inRange<std::size_t>(0, 400);
    const auto to = *rc::gen::inRange<std::size_t>(0, whole.size());
    std::string spoilt = whole;
    spoilt.replace(to, *rc::gen::inRange<std::size_t>(0, 400), whole.substr(from, size));
    expect_answer(spoilt);
  }));
}

TEST(ResultProperty, AnyTextIsReadOrRefused) {
  ASSERT_TRUE(rc::check([](const std::string& text) { expect_answer(text); }));
}

TEST(ResultProperty, NamesLookTheSameAfterTheyWereStored) {
  ASSERT_TRUE(rc::check([](const std::string& bytes) {
    std::string name = bytes;
    // Bytes of which UTF-8 is made, so that half-made characters are frequent.
    for (int i = *rc::gen::inRange(0, 8); i > 0; --i) {
      name += *rc::gen::elementOf(std::string("\xC2\xE2\x82\xAC\xED\xA0\xF0\x9F\x98\xF4\x90z"));
    }
    Document document;
    document.session.label = name;
    const Document stored = from_json(to_json(document), "x.json");
    RC_ASSERT(report::printable(stored.session.label) == report::printable(name));
  }));
}

TEST(ResultProperty, AnyDocumentIsDrawnOnThePage) {
  ASSERT_TRUE(rc::check([] {
    const Document drawn = document();
    const std::string text = report::summary(drawn);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      RC_ASSERT(end != std::string::npos);
      const std::string line = text.substr(begin, end - begin);
      RC_ASSERT(report::columns(line) <= report::kPageColumns);
      RC_ASSERT(report::printable(line) == line);
      begin = end + 1;
    }
    RC_ASSERT(report::dry_run(drawn).find('\x1b') == std::string::npos);
    const std::string csv = report::summary_csv(drawn);
    RC_ASSERT(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) ==
              drawn.cells.size() + 1);
    const std::string markdown = report::summary_markdown(drawn);
    RC_ASSERT(std::count(markdown.begin(), markdown.end(), '\n') >=
              static_cast<std::ptrdiff_t>(drawn.cells.size() + drawn.targets.size() + 2));
  }));
}

}  // namespace
}  // namespace uringbench::result
