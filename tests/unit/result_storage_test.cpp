#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "result/result.hpp"

namespace uringbench::result {
namespace {

namespace fs = std::filesystem;
using base::ExitCode;
using base::SystemError;
using base::UserError;

class Storage : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "uringbench-storage-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string in(const std::string& name) const { return (folder_ / name).string(); }

  void put(const std::string& name, const std::string& text, mode_t mode = 0644) const {
    std::ofstream(in(name)) << text;
    ASSERT_EQ(::chmod(in(name).c_str(), mode), 0);
  }
  static std::string content(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  static mode_t mode_of(const std::string& path) {
    struct stat facts {};
    EXPECT_EQ(::lstat(path.c_str(), &facts), 0);
    return facts.st_mode & 07777;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  fs::path folder_;
};

using Names = std::vector<std::string>;

template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::internal);
    return error.problems().front().what;
  } catch (const SystemError& error) {
    EXPECT_EQ(error.problem().code, ExitCode::internal);
    return error.problem().what + "\n  hint: " + error.problem().hint;
  }
  return "nothing was refused";
}

testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << '"' << text << "\" lacks \"" << part << '"';
}

TEST_F(Storage, NewFileHasTheModeOfTheUmask) {
  const mode_t before = ::umask(027);
  save_atomically(in("new.json"), "{}\n");
  ::umask(before);
  EXPECT_EQ(content(in("new.json")), "{}\n");
  EXPECT_EQ(mode_of(in("new.json")), 0640U);
  EXPECT_EQ(names(), Names{"new.json"});
}

TEST_F(Storage, ReplacedFileKeepsItsModeAndNothingOfItsText) {
  put("old.json", std::string(100'000, 'x'), 0604);
  save_atomically(in("old.json"), "short");
  EXPECT_EQ(content(in("old.json")), "short");
  EXPECT_EQ(mode_of(in("old.json")), 0604U);
  EXPECT_EQ(names(), Names{"old.json"});
}

TEST_F(Storage, ReaderOfTheOldFileKeepsIt) {
  put("old.json", "old");
  std::ifstream reader(in("old.json"));
  save_atomically(in("old.json"), "new and longer");
  std::string seen;
  reader >> seen;
  EXPECT_EQ(seen, "old");
}

TEST_F(Storage, SymbolicLinkStaysAndItsTargetIsReplaced) {
  fs::create_directory(in("real"));
  put("real/file.json", "old", 0600);
  fs::create_symlink("real/file.json", in("one"));
  fs::create_symlink(in("one"), in("two"));
  save_atomically(in("two"), "new");
  EXPECT_TRUE(fs::is_symlink(in("one")));
  EXPECT_TRUE(fs::is_symlink(in("two")));
  EXPECT_EQ(content(in("real/file.json")), "new");
  EXPECT_EQ(mode_of(in("real/file.json")), 0600U);
}

TEST_F(Storage, DanglingLinkGetsItsFile) {
  fs::create_symlink("later.json", in("link"));
  EXPECT_NO_THROW(check_writable(in("link")));
  save_atomically(in("link"), "new");
  EXPECT_TRUE(fs::is_symlink(in("link")));
  EXPECT_EQ(content(in("later.json")), "new");
}

TEST_F(Storage, LinksInACircleAreRefused) {
  fs::create_symlink("b", in("a"));
  fs::create_symlink("a", in("b"));
  EXPECT_TRUE(contains(refusal([&] { check_writable(in("a")); }), "ELOOP"));
  EXPECT_TRUE(contains(refusal([&] { save_atomically(in("a"), "x"); }), "ELOOP"));
}

TEST_F(Storage, MissingFolderIsNamed) {
  const std::string path = in("no/such/out.json");
  for (const auto& action : {std::function<void()>([&] { check_writable(path); }),
                             std::function<void()>([&] { save_atomically(path, "x"); })}) {
    const std::string message = refusal(action);
    EXPECT_TRUE(contains(message, path));
    EXPECT_TRUE(contains(message, "there is no folder " + in("no/such")));
  }
}

TEST_F(Storage, FolderThatIsAFile) {
  put("plain", "x");
  EXPECT_TRUE(contains(refusal([&] { check_writable(in("plain/out.json")); }), "ENOTDIR"));
}

TEST_F(Storage, DirectoryIsRefused) {
  EXPECT_TRUE(contains(refusal([&] { check_writable(folder_.string()); }), "is a directory"));
  EXPECT_TRUE(contains(refusal([&] { save_atomically(in(""), "x"); }), "is a directory"));
  EXPECT_TRUE(contains(refusal([&] { check_writable(in("new/")); }), "there is no folder"));
}

TEST_F(Storage, BlockDeviceIsNeverWrittenTo) {
  // A node without a driver: should the refusal fail, the open fails too, and no disk is harmed.
  if (::mknod(in("disk").c_str(), S_IFBLK | 0600, makedev(240, 255)) != 0) {
    GTEST_SKIP() << "only root may make device nodes";
  }
  EXPECT_TRUE(contains(refusal([&] { check_writable(in("disk")); }), "is a block device"));
  EXPECT_TRUE(contains(refusal([&] { save_atomically(in("disk"), "x"); }), "is a block device"));
  EXPECT_EQ(names(), Names{"disk"});
}

TEST_F(Storage, EmptyAndOverlongNames) {
  EXPECT_TRUE(contains(refusal([] { check_writable(""); }), "the name is empty"));
  const std::string most(255, 'n');
  EXPECT_NO_THROW(check_writable(in(most)));
  save_atomically(in(most), "fits");
  EXPECT_EQ(content(in(most)), "fits");
  EXPECT_TRUE(contains(refusal([&] { check_writable(in(most + "n")); }), "ENAMETOOLONG"));
}

TEST_F(Storage, CheckLeavesNothingBehindAndTouchesNothing) {
  put("old.json", "old", 0600);
  check_writable(in("old.json"));
  check_writable(in("new.json"));
  check_writable("-");
  EXPECT_EQ(content(in("old.json")), "old");
  EXPECT_EQ(names(), Names{"old.json"});
}

// Root may write everywhere, so permissions are tested by a child that is nobody. Returns what the
// action said, over a pipe.
std::string refusal_for_nobody(const fs::path& folder, const std::function<void()>& action) {
  constexpr uid_t kNobody = 65534;
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::chown(folder.c_str(), kNobody, kNobody) != 0 ||
                             ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
      ::_exit(1);
    }
    const std::string said = refusal(action);
    ::_exit(::write(ends[1], said.data(), said.size()) < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  std::array<char, 4096> text{};
  const ssize_t length = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return length < 0 ? "nothing was read" : std::string(text.data(), static_cast<size_t>(length));
}

TEST_F(Storage, UnwritableFolder) {
  put("old.json", "old", 0666);
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  const auto check = refusal_for_nobody(folder_, [&] { check_writable(in("new.json")); });
  EXPECT_TRUE(contains(check, "no file can be made in " + folder_.string() + ": EACCES"));
  const auto save = refusal_for_nobody(folder_, [&] { save_atomically(in("old.json"), "x"); });
  EXPECT_TRUE(contains(save, "EACCES"));
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
  EXPECT_EQ(content(in("old.json")), "old");
  EXPECT_EQ(names(), Names{"old.json"});
}

TEST_F(Storage, WriteProtectedFileIsNotReplaced) {
  put("old.json", "old", 0444);
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
  const auto check = refusal_for_nobody(folder_, [&] { check_writable(in("old.json")); });
  EXPECT_TRUE(contains(check, "EACCES"));
  const auto save = refusal_for_nobody(folder_, [&] { save_atomically(in("old.json"), "x"); });
  EXPECT_TRUE(contains(save, "EACCES"));
  EXPECT_EQ(content(in("old.json")), "old");
  const auto new_file = refusal_for_nobody(folder_, [&] { save_atomically(in("new"), "x"); });
  EXPECT_EQ(new_file, "nothing was refused") << "the folder itself is fine";
}

// The device nodes of this machine are tried by nobody, who cannot harm them: were they replaced
// instead of written to, everything else that runs here would suffer.
TEST_F(Storage, FullDeviceIsAnErrorOfTheSave) {
  const auto check = refusal_for_nobody(folder_, [] { check_writable("/dev/full"); });
  EXPECT_EQ(check, "nothing was refused");
  const auto save = refusal_for_nobody(folder_, [] { save_atomically("/dev/full", "x"); });
  EXPECT_TRUE(contains(save, "/dev/full: write: ENOSPC"));
  EXPECT_TRUE(contains(save, "hint: make room"));
}

TEST_F(Storage, NullDeviceIsWrittenTo) {
  const auto save = refusal_for_nobody(folder_, [] { save_atomically("/dev/null", "x"); });
  EXPECT_EQ(save, "nothing was refused");
  EXPECT_FALSE(can_replace("/dev/null"));
}

TEST_F(Storage, DeviceNodeIsNotReplaced) {
  // Without a driver, and in a folder of our own: writing to it fails, replacing it would not.
  if (::mknod(in("node").c_str(), S_IFCHR | 0600, makedev(240, 255)) != 0) {
    GTEST_SKIP() << "only root may make device nodes";
  }
  EXPECT_TRUE(contains(refusal([&] { save_atomically(in("node"), "x"); }), "ENXIO"));
  EXPECT_TRUE(fs::is_character_file(in("node")));
  EXPECT_EQ(names(), Names{"node"});
}

TEST_F(Storage, FifoIsWrittenTo) {
  ASSERT_EQ(::mkfifo(in("fifo").c_str(), 0600), 0);
  EXPECT_NO_THROW(check_writable(in("fifo")));  // does not wait for a reader
  std::string seen;
  std::thread reader([&] { seen = content(in("fifo")); });
  const std::string text(200'000, 'j');  // more than a pipe holds
  save_atomically(in("fifo"), text);
  reader.join();
  EXPECT_EQ(seen, text);
  EXPECT_TRUE(fs::is_fifo(in("fifo")));
  EXPECT_EQ(names(), Names{"fifo"});
  EXPECT_FALSE(can_replace(in("fifo")));
}

TEST_F(Storage, OpenDescriptorIsContinuedNotReopened) {
  // As standard output redirected to a file: what is there already must stay.
  const int fd = ::open(in("out.txt").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::write(fd, "first ", 6), 6);
  for (const std::string folder : {"/dev/fd/", "/proc/self/fd/"}) {
    const std::string path = folder + std::to_string(fd);
    EXPECT_NO_THROW(check_writable(path));
    EXPECT_FALSE(can_replace(path));
    save_atomically(path, "more ");
  }
  fs::create_symlink("/proc/self/fd/" + std::to_string(fd), in("link"));
  save_atomically(in("link"), "end");
  ::close(fd);
  EXPECT_EQ(content(in("out.txt")), "first more more end");
}

TEST_F(Storage, ClosedOrReadOnlyDescriptorIsRefused) {
  put("in.txt", "x");
  const int fd = ::open(in("in.txt").c_str(), O_RDONLY);
  const std::string path = "/dev/fd/" + std::to_string(fd);
  EXPECT_TRUE(contains(refusal([&] { check_writable(path); }), "open for reading only"));
  ::close(fd);
  EXPECT_TRUE(contains(refusal([&] { check_writable(path); }), "EBADF"));
}

TEST_F(Storage, PlainPathsCanBeReplaced) {
  put("old.json", "old");
  EXPECT_TRUE(can_replace(in("old.json")));
  EXPECT_TRUE(can_replace(in("new.json")));
  EXPECT_FALSE(can_replace("-"));
}

// A child process that may write 4096 bytes per file stands for a full disk.
TEST_F(Storage, FailureHalfWayLeavesTheOldFileAndNoOther) {
  put("old.json", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(3);
    try {
      save_atomically(in("old.json"), std::string(100'000, 'x'));
    } catch (const SystemError& error) {
      ::_exit(error.error_number() == EFBIG && error.problem().code == ExitCode::internal ? 0 : 1);
    }
    ::_exit(2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(content(in("old.json")), "old");
  EXPECT_EQ(names(), Names{"old.json"});
}

void clean_up_and_leave(int) {
  remove_unfinished_file();
  ::_exit(7);
}

// The signal arrives in the middle of the write, because the write itself raises it.
TEST_F(Storage, SignalHandlerRemovesTheUnfinishedFile) {
  put("old.json", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, clean_up_and_leave);
    const rlimit limit{4096, 4096};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(3);
    save_atomically(in("old.json"), std::string(100'000, 'x'));
    ::_exit(2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(content(in("old.json")), "old");
  EXPECT_EQ(names(), Names{"old.json"});
}

TEST_F(Storage, RemovingNothingIsHarmless) {
  save_atomically(in("done.json"), "done");
  remove_unfinished_file();
  EXPECT_EQ(content(in("done.json")), "done");
}

}  // namespace
}  // namespace uringbench::result
