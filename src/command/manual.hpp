// What is generated from the table of flags and verbs, and kept in docs/.
#pragma once

#include <string>

namespace uringbench::command {

/// How both files say where they come from.
inline constexpr const char* kOrigin =
    "Made from the table of flags: URINGBENCH_UPDATE_GOLDEN=1 build/dev/tests/unit_tests";

/// docs/uringbench.1, in man(7) macros. Bears neither date nor version, so that it changes only
/// when the flags do.
std::string man_page();

/// docs/completion/uringbench.bash
std::string bash_completion();

}  // namespace uringbench::command
