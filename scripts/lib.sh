# Shared by quickstart, test and install-packages; sourced, never run.
# shellcheck shell=bash
# Sets `root`, the top of the source tree, wherever the caller was started from.
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)

say() { printf '== %s\n' "$*" >&2; }
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# The options of a preset in CMakePresets.json, one a line. Spelled out here because CMake 3.22
# (Ubuntu 22.04) cannot read that file's version; tests/e2e/test_tidy.py holds the two together.
preset_options() {
  case $1 in
    release) printf '%s\n' CMAKE_BUILD_TYPE=Release ;;
    dev) printf '%s\n' CMAKE_BUILD_TYPE=Release URINGBENCH_TESTS=ON URINGBENCH_WERROR=ON ;;
    # Little optimisation: at -O2 the sanitizers' instrumentation takes minutes per file to
    # compile. Without NDEBUG, so that assertions are checked here.
    asan) printf '%s\n' CMAKE_BUILD_TYPE=RelWithDebInfo URINGBENCH_TESTS=ON \
      URINGBENCH_WERROR=ON URINGBENCH_SANITIZE=address,undefined \
      'CMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -g1' ;;
    tsan) printf '%s\n' CMAKE_BUILD_TYPE=RelWithDebInfo URINGBENCH_TESTS=ON \
      URINGBENCH_WERROR=ON URINGBENCH_SANITIZE=thread \
      'CMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1' ;;
    *) die "unknown preset '$1'; known: release, dev, asan, tsan" ;;
  esac
}

# Configures and builds a preset in build/<preset>.
build_preset() {
  local preset=$1 option build_dir="$root/build/$1" cached=""
  local -a definitions=()
  while IFS= read -r option; do definitions+=("-D$option"); done < <(preset_options "$preset")
  if [[ -f $build_dir/CMakeCache.txt ]]; then
    # CMake refuses a cache that was made at another path, as after moving or copying the tree.
    cached=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build_dir/CMakeCache.txt")
    [[ $cached == "$root" ]] || rm -rf -- "$build_dir/CMakeCache.txt" "$build_dir/CMakeFiles"
  fi
  say "building the '$preset' preset in build/$preset"
  cmake -S "$root" -B "$build_dir" -G "Unix Makefiles" "${definitions[@]}" >&2
  cmake --build "$build_dir" -j"$(nproc)" >&2
}
