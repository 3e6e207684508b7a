// Whole machines made of files, folders that clean up after themselves, and caught refusals.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "machine/machine.hpp"

namespace uringbench::machine::test {

inline Root machine_root(const std::string& name) {
  return Root{std::string(TEST_DATA_DIR) + "/fixtures/machines/" + name};
}

class TemporaryFolder {
 public:
  /// In the build folder rather than in /tmp, which may be a tmpfs that knows no extents.
  explicit TemporaryFolder(const std::string& parent = ".") {
    std::string name = std::filesystem::absolute(parent).string() + "/machine-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = std::filesystem::canonical(name).string();
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// A file, with the folders above it.
  std::string write(const std::string& name, const std::string& content) const {
    const std::string file = path_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }
  /// A symbolic link to a place in this folder, with the folders above the link.
  void link(const std::string& place, const std::string& name) const {
    const std::filesystem::path file = path_ + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(path_ + "/" + place, file);
  }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::string path_;
};

/// Bytes without a block of zeros in them.
inline std::string dense_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  unsigned state = 12345;
  for (char& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

/// What `action` refuses with, whatever the exception's type. Fails the test when it does not.
template <typename Action>
base::Problem refusal_of(const Action& action) {
  try {
    action();
  } catch (const base::UserError& error) {
    return error.problems().front();
  } catch (const base::SystemError& error) {
    return error.problem();
  }
  ADD_FAILURE() << "was not refused";
  return {};
}

/// Runs `action` with the file permissions of nobody, also when the tests run as root: the kernel
/// keeps this per thread, and takes root's rights over files from the thread.
template <typename Action>
void as_nobody(const Action& action) {
  std::thread([&] {
    if (::geteuid() == 0) (void)::setfsuid(65534);
    action();
  }).join();
}

}  // namespace uringbench::machine::test
