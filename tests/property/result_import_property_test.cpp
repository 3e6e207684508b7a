// Files of other programs, spoilt: read or refused.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "result/result.hpp"

namespace uringbench::result {
namespace {

bool coin() { return *rc::gen::arbitrary<bool>(); }

/// What load_any makes of a file of another program with some bytes spoilt.
void expect_import_survives(const std::string& name) {
  const auto folder = std::filesystem::path(TEST_DATA_DIR) / "fixtures" / "import";
  std::stringstream whole;
  whole << std::ifstream(folder / name, std::ios::binary).rdbuf();
  ASSERT_GT(whole.str().size(), 100U);
  const auto path = std::filesystem::temp_directory_path() /
                    ("ub-spoilt-" + std::to_string(::getpid()) + '-' + name);
  ASSERT_TRUE(rc::check([&] {
    std::string spoilt = whole.str();
    for (int i = *rc::gen::inRange(1, 6); i > 0; --i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, spoilt.size());
      static const std::string kLikely = "0123456789-.eE\"{}[],: \n\rKM=\x1b\xff";
      spoilt[at] = coin() ? *rc::gen::elementOf(kLikely) : *rc::gen::arbitrary<char>();
      if (coin()) spoilt.erase(at, *rc::gen::inRange<std::size_t>(0, 9));
      if (coin()) spoilt.insert(at, *rc::gen::inRange<std::size_t>(0, 25), '9');
    }
    std::ofstream(path, std::ios::binary) << spoilt;
    try {
      const std::string stored = to_json(load_any(path));
      RC_ASSERT(to_json(from_json(stored, "stored")) == stored);
    } catch (const base::UserError& error) {
      const auto code = error.problems().front().code;
      RC_ASSERT(code == base::ExitCode::internal || code == base::ExitCode::not_comparable);
      RC_ASSERT(error.problems().front().what.starts_with(path.string() + ": "));
    }
  }));
  std::filesystem::remove(path);
}

TEST(ResultImportProperty, SpoiltResultsOfFioAreReadOrRefused) {
  expect_import_survives("fio-2.16.json");
  expect_import_survives("fio-3.33-copies.json");
}

TEST(ResultImportProperty, SpoiltLogsAreReadOrRefused) {
  expect_import_survives("t-io_uring-threads.log");
  expect_import_survives("classic.log");
}

}  // namespace
}  // namespace uringbench::result
