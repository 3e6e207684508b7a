// Above the table: who is compared, under which rules, and what differs besides.
#include <fmt/format.h>

#include <algorithm>

#include "report/comparison_view.hpp"
#include "report/comparison_words.hpp"
#include "report/text.hpp"

namespace uringbench::report {
namespace {

using compare::Comparison;
using compare::Difference;
using compare::Label;

constexpr std::size_t kMostLabel = 20;  // longer names push their own line aside

std::vector<std::string> shown(const std::vector<std::string>& names) {
  std::vector<std::string> words;
  for (const std::string& name : names) words.push_back(printable(name));
  return words;
}

std::string files_words(const std::vector<std::string>& files) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> words = shown(files);
  if (words.size() <= kMost) return join(words, " ");
  words.resize(kMost - 1);
  return fmt::format("{} and {} more files", join(words, " "), files.size() - words.size());
}

std::string label_line(const Comparison& comparison, std::size_t index, std::size_t width,
                       std::size_t page) {
  const Label& label = comparison.labels[index];
  std::vector<std::string> words{count_of(label.runs, "run") + " a cell"};
  if (label.counted < label.runs) words.back() += fmt::format(" ({} count)", label.counted);
  if (label.blocks > 0) words.back() += " in " + count_of(label.blocks, "block");
  words.push_back(label.boots == 0 ? "boots: unknown" : count_of(label.boots, "boot"));
  for (const std::string& kernel : shown(label.kernels)) words.push_back("Linux " + kernel);
  if (!label.imported_from.empty()) {
    words.push_back("imported from " + printable(label.imported_from));
  }
  words.push_back(files_words(label.files));
  const std::string name = label_words(comparison, index);
  // A name that is cut in the columns stands here in full.
  const std::string full = printable(label.name);
  if (full != name) words.push_back("label: " + full);
  return wrap(pad(name, width) + "  ", list(words), width + 2, page);
}

std::string fact(const std::string& head, const std::vector<std::string>& words, std::size_t page) {
  constexpr std::size_t kColumn = 9;
  return words.empty() ? "" : wrap(pad(head, kColumn), list(words), kColumn, page);
}

std::string differences(const Comparison& comparison, std::size_t page) {
  std::vector<std::string> varies, unknown;
  std::string out;
  for (const Difference& difference : comparison.differences) {
    const std::string words = difference_words(difference);
    switch (difference.kind) {
      case Difference::Kind::fatal:
        out += wrap("differs: ", words + ": not comparable", 9, page);
        break;
      case Difference::Kind::free:
        varies.push_back(words);
        break;
      case Difference::Kind::declared:
        varies.push_back(words + " (declared)");
        break;
      case Difference::Kind::warning:
        out += wrap("warning: ", words, 9, page);
        break;
      case Difference::Kind::unknown:
        unknown.push_back(words);
        break;
    }
  }
  return fact("varies:", varies, page) + out + fact("unknown:", unknown, page);
}

std::string rules_line(const Comparison& comparison, std::size_t page) {
  std::vector<std::string> words;
  if (comparison.family > 0) {
    words.push_back(fmt::format("family of {}{}", count_of(comparison.family, "test"),
                                comparison.family > 1 ? " (Holm)" : ""));
  }
  if (comparison.step_family > 0) {
    words.push_back(fmt::format("steps: a family of {}", comparison.step_family));
  }
  words.push_back(fmt::format("alpha {:g}", comparison.options.alpha));
  std::string effects = "least effect";
  for (std::size_t i = 0; i < comparison.metrics.size(); ++i) {
    if (!comparison.metrics[i].gated) continue;
    const auto [smallest, largest] = effects_of(comparison, i);
    effects +=
        fmt::format(" {} {}", printable(comparison.metrics[i].title), effect_words(smallest));
    if (smallest != largest) effects += " to " + effect_words(largest);
  }
  words.push_back(effects);
  return fact("rules:", words, page);
}

}  // namespace

std::string comparison_head(const Comparison& comparison, const ComparisonStyle& style, bool gate) {
  std::vector<std::string> metrics;
  for (const compare::Metric& metric : comparison.metrics) {
    if (metric.gated) {
      metrics.push_back(
          glue(fmt::format("{} ({})", printable(metric.title), direction_words(metric))));
    }
  }
  const std::string title = gate ? "uringbench gate" : "uringbench compare";
  std::string first = glue("unit=run") + "  ";
  if (!metrics.empty()) first += "metric=" + join(metrics, ", ") + "  ";
  first += glue(comparison.paired ? "paired by block" : "independent runs");
  std::string out = wrap(title + "  ", first, 2, style.columns);
  std::size_t width = 0;
  for (std::size_t i = 0; i < comparison.labels.size(); ++i) {
    width = std::max(width, columns(label_words(comparison, i)));
  }
  width = std::min(width, kMostLabel);
  for (std::size_t i = 0; i < comparison.labels.size(); ++i) {
    out += label_line(comparison, i, width, style.columns);
  }
  return out + fact("same:", shown(comparison.same), style.columns) +
         differences(comparison, style.columns) + rules_line(comparison, style.columns);
}

}  // namespace uringbench::report
