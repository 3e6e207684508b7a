// Other programs' results: what kind of file it is, and who can read it.
#include "result/json_input.hpp"
#include "result/result.hpp"

namespace uringbench::result {

Document load_any(const std::string& path, Detail detail, const ImportHints&) {
  return from_json(read_file(path), path, detail);
}

std::string imported_from(const Document&) { return {}; }

}  // namespace uringbench::result
