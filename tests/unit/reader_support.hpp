// What the reader of documents says to a document that it does not take.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "result/result.hpp"

namespace uringbench::testing {

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline constexpr int kNotComparable = 5;
inline constexpr int kUnreadable = 1;

/// Code and message of the refusal; code 0 when it was read after all.
struct Refusal {
  int code = 0;
  std::string what, hint;
};
inline Refusal refusal_of(const std::string& text, result::Detail detail) {
  try {
    result::from_json(text, "x.json", detail);
  } catch (const base::UserError& error) {
    EXPECT_EQ(error.problems().size(), 1U);
    const base::Problem& problem = error.problems().front();
    return {static_cast<int>(problem.code), problem.what, problem.hint};
  }
  return {};
}
/// The same for whom reads everything and for whom reads figures only.
inline Refusal refusal_of(const std::string& text) {
  const Refusal refusal = refusal_of(text, result::Detail::everything);
  const Refusal of_figures = refusal_of(text, result::Detail::figures);
  EXPECT_EQ(of_figures.code, refusal.code) << refusal.what;
  EXPECT_EQ(of_figures.what, refusal.what);
  EXPECT_EQ(of_figures.hint, refusal.hint);
  return refusal;
}
inline Refusal refusal_of(const char* text) { return refusal_of(std::string(text)); }
inline Refusal refusal_of(const nlohmann::json& document) { return refusal_of(document.dump()); }

}  // namespace uringbench::testing
