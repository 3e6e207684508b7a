// Private to result: histograms left out of a text while it is read.
#pragma once

#include <string>
#include <string_view>

namespace uringbench::result {

/// Nine tenths of a document with latencies are the buckets of its histograms, which a comparison
/// does not look at. What is fed goes on to `out`, but every `"buckets": [[1, 2], …]` becomes
/// `"buckets": []`. A list that is anything else goes on as it is, for the parser to judge.
class Squeezer {
 public:
  void feed(std::string_view chunk, std::string& out);
  void finish(std::string& out);
  /// Was anything left out? Then places in `out` are not those of the text.
  bool squeezed() const { return squeezed_; }

 private:
  void go_on(std::string& out, bool last);

  std::string pending_;
  bool squeezed_ = false;
};

}  // namespace uringbench::result
