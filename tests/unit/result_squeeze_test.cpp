#include "result/squeeze.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "sample_document.hpp"

namespace uringbench::result {
namespace {

std::string squeezed(const std::string& text, std::size_t chunk = 1 << 20) {
  Squeezer squeezer;
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    squeezer.feed(std::string_view(text).substr(at, chunk), out);
  }
  squeezer.finish(out);
  EXPECT_EQ(squeezer.squeezed(), out != text);
  return out;
}

TEST(Squeeze, EmptiesHistogramsOnly) {
  EXPECT_EQ(squeezed(R"({"a": 1, "buckets": [[1, 2], [30, 4]], "b": [[1, 2]]})"),
            R"({"a": 1, "buckets":[], "b": [[1, 2]]})");
  EXPECT_EQ(squeezed("\"buckets\"\n :\t[\r\n[ 0 ,\n7 ]\n]x"), "\"buckets\":[]x");
  EXPECT_EQ(squeezed(R"("buckets": [])"), R"("buckets":[])");
}

TEST(Squeeze, LeavesToTheParserWhatIsNoHistogram) {
  for (const char* text :
       {R"("buckets": [[1, 2], [3]])", R"("buckets": [[1, 2],])", R"("buckets": [[1, -2]])",
        R"("buckets": [[1, 2.5]])", R"("buckets": [[01, 2]])", R"("buckets": [[1, 2] [3, 4]])",
        R"("buckets": {"a": [[1, 2]]})", R"("buckets": null)", R"("buckets")", R"("buckets": [[1,)",
        R"("buckets": [[1, 2]], )", R"("x\"buckets\": [[1, 2]]")", R"("bucket)", "",
        R"("buckets": [[1, 99999999999999999999]])", R"("buckets": [[,]])", R"("buckets": [,])"}) {
    const bool histogram = std::string(text) == R"("buckets": [[1, 2]], )";
    EXPECT_EQ(squeezed(text) == text, !histogram) << text;
  }
}

TEST(Squeeze, DoesNotDependOnWhereTheChunksEnd) {
  std::mt19937 random(1);
  std::string text = "{";
  for (int i = 0; i < 40; ++i) {
    text += R"("x": 1, "buckets": [)";
    for (unsigned pair = 0; pair < random() % 20; ++pair) {
      text += (pair > 0 ? ", [" : "[") + std::to_string(random()) + ", " +
              std::to_string(random() % 10) + "]";
    }
    text += i % 7 == 0 ? "}, " : "], ";  // some are broken
  }
  const std::string whole = squeezed(text);
  EXPECT_LT(whole.size(), text.size() / 2);
  for (const std::size_t chunk : {1U, 2U, 3U, 7U, 8U, 9U, 10U, 64U, 1000U}) {
    EXPECT_EQ(squeezed(text, chunk), whole) << chunk;
  }
}

TEST(Squeeze, AListWithoutEndIsNotKept) {
  std::string text = R"("buckets": [)";
  while (text.size() < (4U << 20)) text += "[1, 2], ";
  EXPECT_EQ(squeezed(text, 1 << 16), text);
}

/// A file for the time of a test.
class File {
 public:
  explicit File(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / ("squeeze-" + std::to_string(::getpid()))) {
    std::ofstream(path_) << text;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { std::filesystem::remove(path_); }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string refusal_of(const std::string& path, Detail detail) {
  try {
    load_any(path, detail);
  } catch (const base::UserError& error) {
    return error.problems().front().what;
  }
  return "none";
}

TEST(Squeeze, FiguresAreReadWithoutHistograms) {
  Document document = uringbench::testing::full_document();
  ASSERT_FALSE(document.cells[0].runs[0].latency->buckets.empty());
  const File file(to_json(document));
  const Document read = load_any(file.path(), Detail::figures);
  ASSERT_EQ(read.cells.size(), document.cells.size());
  const auto& latency = *read.cells[0].runs[0].latency;
  EXPECT_TRUE(latency.buckets.empty());
  EXPECT_EQ(latency.count, document.cells[0].runs[0].latency->count);
  EXPECT_EQ(latency.percentiles, document.cells[0].runs[0].latency->percentiles);
}

TEST(Squeeze, RefusalsNamePlacesOfTheFileAsItIs) {
  std::string text = to_json(uringbench::testing::full_document());
  const auto buckets = text.find("\"buckets\"");
  const auto comma = text.find(',', text.find("\"cpu\"", buckets));
  ASSERT_NE(comma, std::string::npos);
  text[comma] = ';';
  const File file(text);
  const std::string expected = refusal_of(file.path(), Detail::everything);
  EXPECT_NE(expected.find("line "), std::string::npos) << expected;
  EXPECT_EQ(refusal_of(file.path(), Detail::figures), expected);
}

}  // namespace
}  // namespace uringbench::result
