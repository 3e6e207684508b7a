// Text compared with a file under tests/golden/, byte by byte.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace uringbench::testing {

/// With URINGBENCH_UPDATE_GOLDEN=1 the file is rewritten, and the test fails saying so: a change of
/// what users see must be read in the diff, never waved through by a green run.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(TEST_DATA_DIR) / "golden" / name;
  const char* update = std::getenv("URINGBENCH_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    ADD_FAILURE() << path << " was rewritten: read its diff, then run without "
                  << "URINGBENCH_UPDATE_GOLDEN";
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing; URINGBENCH_UPDATE_GOLDEN=1 writes it";
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << "differs from " << path;
}

}  // namespace uringbench::testing
