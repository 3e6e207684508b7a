// The summary in Markdown and CSV, and the summary of a document that was stored in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "golden.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "sample_document.hpp"

namespace uringbench::report {
namespace {

using testing::expect_golden;
using testing::full_document;
using testing::minimal_document;
using testing::sample_run;
using testing::six_run_document;
using testing::sqpoll_document;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// An A and a B that differ in engine, flags and success.
result::Document two_cells() {
  result::Document document = sqpoll_document(6);
  result::Cell second = six_run_document().cells[0];
  document.cells[0].arm = "A";
  second.arm = "B";
  second.runs.resize(3);
  second.runs[1].stalled = true;
  second.runs[2].errors.count = 7;
  second.runs[2].errors.by_errno = {{"EIO", 7}};
  second.runs[2].short_reads = 1;
  second.runs[2].latency.reset();
  result::summarize(second);
  document.cells.push_back(second);
  document.findings = {{"info", "symlink", "m", ""}, {"warning", "iostats", "m", ""}};
  document.session.label = "base, \"quoted\"";
  return document;
}

TEST(Markdown, SixRuns) {
  expect_golden("report/summary-six-runs.md", summary_markdown(six_run_document()));
}

TEST(Markdown, TwoCells) {
  expect_golden("report/summary-two-cells.md", summary_markdown(two_cells()));
}

TEST(Markdown, EveryRowHasTheColumnsOfTheHead) {
  result::Document document = full_document();
  document.cells.push_back(result::Cell{});
  document.cells.back().id = "a|b";
  const std::vector<std::string> lines = lines_of(summary_markdown(document));
  ASSERT_GT(lines.size(), 4U);
  const auto borders = [](std::string line) {
    for (std::size_t at; (at = line.find("\\|")) != std::string::npos;) line.erase(at, 2);
    return std::count(line.begin(), line.end(), '|');
  };
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(borders(lines[i]), borders(lines[0])) << lines[i];
}

TEST(Markdown, NamesStayNames) {
  result::Document document = six_run_document();
  document.targets[0].path = "/a|b`c<img src=x>\x1b[31m\n| fake |";
  document.identity.cpu_model = "[link](http://x) *CPU*";
  document.cells[0].arm = "A | B";
  const std::string text = summary_markdown(document);
  EXPECT_NE(text.find("- Target: /a\\|b\\`c\\<img src=x\\>?\\[31m?\\| fake \\| ("),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\\[link\\](http://x) \\*CPU\\*"), std::string::npos) << text;
  EXPECT_NE(text.find("| A \\| B: randread"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Markdown, WithoutRuns) {
  result::Document document = six_run_document();
  document.cells[0].runs.clear();
  document.cells[0].summary.clear();
  const auto lines = lines_of(summary_markdown(document));
  EXPECT_EQ(lines[0], "| cell | runs | IOPS, median | errors, doubts |");
  EXPECT_EQ(lines[2],
            "| randread 4k  QD128 (submit 32, complete 32)  1 thread | 0 | none | none |");
}

TEST(Csv, SixRuns) {
  expect_golden("report/summary-six-runs.csv", summary_csv(six_run_document()));
}

TEST(Csv, TwoCells) { expect_golden("report/summary-two-cells.csv", summary_csv(two_cells())); }

/// By RFC 4180, one record of fields without line ends in them.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quoted && line.substr(i, 2) == "\"\"") {
      fields.back() += line[i++];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  EXPECT_FALSE(quoted) << line;
  return fields;
}

TEST(Csv, EveryLineHasTheFieldsOfTheHeadAndEndsInCrLf) {
  result::Document document = two_cells();
  document.targets[0].path = "/a,\"b\"\r\n\x1b[31m";
  const std::string text = summary_csv(document);
  const auto lines = lines_of(text);
  ASSERT_EQ(lines.size(), 3U);
  const auto head = fields_of(lines[0].substr(0, lines[0].size() - 1));
  for (const std::string& line : lines) {
    EXPECT_EQ(line.back(), '\r');
    EXPECT_EQ(fields_of(line.substr(0, line.size() - 1)).size(), head.size());
  }
  const auto fields = fields_of(lines[1].substr(0, lines[1].size() - 1));
  const auto value = [&](const std::string& name) {
    const auto at = std::find(head.begin(), head.end(), name);
    return at == head.end() ? "no such column"
                            : fields.at(static_cast<std::size_t>(at - head.begin()));
  };
  EXPECT_EQ(value("label"), "base, \"quoted\"");
  EXPECT_EQ(value("targets"), "/a,\"b\"???[31m");
  EXPECT_EQ(value("iops_median"), "153455");
  EXPECT_EQ(value("iops_ci95_low"), "152900");
  EXPECT_EQ(value("block_size_bytes"), "4096");
  EXPECT_EQ(value("polled"), "1");
  EXPECT_EQ(value("sqpoll_utilisation"), "0.931");
}

TEST(Csv, WithoutCellsThereIsAHead) {
  const std::string text = summary_csv(minimal_document());
  EXPECT_TRUE(text.starts_with("cell,arm,label,engine,depth,")) << text;
  EXPECT_EQ(lines_of(text).size(), 1U);
}

// --- stored and drawn again ---

/// Names of bytes that are no UTF-8, of each kind of fault, beside control characters.
const std::vector<std::string> kBadNames = {"caf\xE9",
                                            "\xC3",
                                            "\xE2\x82",
                                            "\xF0\x9F\x98",
                                            "a\xE2\x82z\xF0\x9F\x98\x80",
                                            "\xED\xA0\x80",
                                            "\xF4\x90\x80\x80",
                                            "\xC0\xAF\xFE\xFF",
                                            "\x1b[31m\n\x01\x7F",
                                            "\xC2\x9B"
                                            "31m",
                                            "\xEF\xBF\xBD"};

void expect_same_after_storing(const result::Document& document) {
  const result::Document stored = result::from_json(result::to_json(document), "x.json");
  EXPECT_EQ(summary(stored), summary(document));
  EXPECT_EQ(summary_markdown(stored), summary_markdown(document));
  EXPECT_EQ(summary_csv(stored), summary_csv(document));
  EXPECT_EQ(dry_run(stored), dry_run(document));
}

TEST(Stored, SummariesAreTheSame) {
  for (const auto& document : {minimal_document(), six_run_document(), full_document(),
                               sqpoll_document(1), sqpoll_document(6), two_cells()}) {
    expect_same_after_storing(document);
  }
}

TEST(Stored, SummariesOfBadNamesAreTheSame) {
  for (const std::string& name : kBadNames) {
    result::Document document = full_document();
    document.targets[0].path = "/tmp/" + std::string(45, 'x') + name;
    document.targets[0].filesystem = name;
    document.targets[0].device->model = name;
    document.targets[0].queue_restored = {{name, name}};
    document.identity.cpu_model = name;
    document.identity.kernel_release = name;
    document.findings[0].code = name;
    document.findings[1].severity = name;
    document.session.signal = name;
    document.session.label = name;
    document.cells[0].arm = name;
    document.cells[0].id = name;
    document.cells[0].runs.back().errors.first->errno_name = name;
    document.cells[0].runs.back().warnings = {name, name};
    document.cells[0].granted.set("fallbacks", std::vector<std::string>{name}).set("x", name);
    expect_same_after_storing(document);
  }
}

}  // namespace
}  // namespace uringbench::report
