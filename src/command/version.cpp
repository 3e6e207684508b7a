#include "command/version.hpp"

namespace uringbench::command {
namespace {

constexpr const char* kCommit =
#include "commit.inc"
    ;

}  // namespace

result::Tool tool_info() {
  return {.version = URINGBENCH_VERSION,
          .commit = kCommit,
          .compiler = URINGBENCH_COMPILER,
          .build_type = URINGBENCH_BUILD_TYPE,
          .liburing = URINGBENCH_LIBURING};
}

std::string version_text() {
  const result::Tool tool = tool_info();
  return "uringbench " + tool.version + " (commit " + tool.commit + ", " + tool.compiler + ", " +
         tool.build_type + ", liburing " + tool.liburing + ")\n";
}

}  // namespace uringbench::command
