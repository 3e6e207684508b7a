// A process that puts attributes back when this one cannot do it any more.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.hpp"

namespace uringbench::machine {

/// The text of an attribute, read without allocating: async-signal-safe.
class AttributeText {
 public:
  /// `name` below the folder open as `folder`, as for openat.
  AttributeText(int folder, const std::string& name) noexcept;
  AttributeText(const AttributeText&) = delete;
  AttributeText& operator=(const AttributeText&) = delete;

  int error_number() const noexcept { return error_number_; }  ///< 0: it was read
  /// Without white space around it.
  std::string_view whole() const noexcept { return {bytes_.data() + begin_, end_ - begin_}; }
  /// The word in brackets where there is one ("none [bfq]": "bfq"), else the whole.
  std::string_view value() const noexcept;

 private:
  std::array<char, 4096> bytes_;  // sysfs has no longer ones
  std::size_t begin_ = 0, end_ = 0;
  int error_number_ = 0;
};

/// Like `echo text > name`. Async-signal-safe. Returns 0 or an error number.
int write_attribute(int folder, const std::string& name, std::string_view text) noexcept;

/// What belongs into an attribute.
struct KeptValue {
  std::string disk;
  /// An open descriptor of the disk's queue folder. It stays with this very disk: once that is
  /// gone the folder is empty, whoever gets the name next.
  int folder = -1;
  std::string name;  ///< "iostats", "iosched/read_expire"
  std::string value;
};

/// Writes the value unless it is there already. Async-signal-safe.
void put_back(const KeptValue& kept) noexcept;

/// Puts values back when it is told to, or when this process ends.
///
/// It has left the terminal, the process group and the current folder, holds no descriptor of ours
/// but the folders (and with them their locks), and cannot be ended by a signal other than SIGKILL.
class GuardianProcess {
 public:
  /// Forks; this process must have one thread only. `values` must outlive this object.
  /// Throws SystemError when there can be no further process.
  explicit GuardianProcess(const std::vector<KeptValue>& values);
  GuardianProcess(const GuardianProcess&) = delete;
  GuardianProcess& operator=(const GuardianProcess&) = delete;
  ~GuardianProcess() { restore(); }

  /// Has everything put back, by the guardian or, when somebody killed it, by this process. False
  /// when that takes too long: then the guardian goes on alone. The second call does nothing.
  bool restore() noexcept;
  /// After restore(): what the values were just before, in their order; shorter when that took too
  /// long. Absent: could not be read.
  const std::vector<std::optional<std::string>>& found() const noexcept { return found_; }
  pid_t pid() const noexcept { return pid_; }

 private:
  bool await_guardian() noexcept;

  const std::vector<KeptValue>& values_;
  std::vector<std::optional<std::string>> found_;
  Descriptor channel_;
  pid_t pid_ = -1;
};

}  // namespace uringbench::machine
