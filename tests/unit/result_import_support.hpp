// Files of other programs, as load_any reads them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "reader_support.hpp"
#include "result/result.hpp"

namespace uringbench::testing {

inline std::string import_fixture(const std::string& name) {
  return (std::filesystem::path(TEST_DATA_DIR) / "fixtures" / "import" / name).string();
}

class ResultImport : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ub-import-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    path_ = std::filesystem::path(name) / "x";
  }
  void TearDown() override { std::filesystem::remove_all(path_.parent_path()); }

  result::Document import(const std::string& text, const result::ImportHints& hints = {}) const {
    std::ofstream(path_, std::ios::binary) << text;
    result::Document document = result::load_any(path_, result::Detail::figures, hints);
    // What was imported can be stored and read like our own.
    const std::string stored = to_json(document);
    EXPECT_EQ(to_json(result::from_json(stored, "stored")), stored);
    return document;
  }
  result::Document import_file(const std::string& name,
                               const result::ImportHints& hints = {}) const {
    return import(file_text(import_fixture(name)), hints);
  }
  /// `what` without the path, which must stand before it.
  Refusal refusal_of_import(const std::string& text, const result::ImportHints& hints = {}) const {
    try {
      import(text, hints);
    } catch (const base::UserError& error) {
      const base::Problem& problem = error.problems().front();
      const std::string name = path_.string() + ": ";
      EXPECT_TRUE(problem.what.starts_with(name)) << problem.what;
      return {static_cast<int>(problem.code), problem.what.substr(name.size()), problem.hint};
    }
    return {};
  }

  std::filesystem::path path_;
};

/// Fixtures that are JSON, with one thing or another changed.
class ResultImportJson : public ResultImport {
 protected:
  static nlohmann::ordered_json fixture(const std::string& name) {
    return nlohmann::ordered_json::parse(file_text(import_fixture(name)));
  }
  result::Cell only_cell(const nlohmann::ordered_json& json) const {
    const result::Document document = import(json.dump(2));
    EXPECT_EQ(document.cells.size(), 1U);
    return document.cells.at(0);
  }
};

inline const result::Finding* finding_of(const result::Document& document,
                                         const std::string& code) {
  for (const result::Finding& finding : document.findings) {
    if (finding.code == code) return &finding;
  }
  return nullptr;
}

/// With all of `from` (at least one) replaced.
inline std::string with_replaced(std::string text, const std::string& from, const std::string& to) {
  std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  for (; at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace uringbench::testing
