// The temporary file: dense, exact, gone.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "machine/fill.hpp"
#include "machine/machine.hpp"
#include "machine_test_support.hpp"

namespace uringbench::machine {
namespace {

using base::ExitCode;
using base::Problem;
using test::refusal_of;
using test::TemporaryFolder;

bool never() { return false; }

class MachineScratch : public ::testing::Test {
 protected:
  std::optional<OpenTarget> make(std::uint64_t size_bytes) const {
    return make_scratch({size_bytes, folder_.path()}, false, never);
  }
  Problem refused(const plan::Scratch& scratch) const {
    return refusal_of([&] { make_scratch(scratch, false, never); });
  }
  TemporaryFolder folder_;
};

TEST_F(MachineScratch, IsDenseExactNamelessAndReadOnly) {
  const std::uint64_t size = (3 << 20) + 12345;
  const auto target = make(size);
  ASSERT_TRUE(target);
  EXPECT_TRUE(folder_.empty()) << "the file must have no name";
  EXPECT_EQ(target->facts.kind, TargetKind::file);
  EXPECT_EQ(target->facts.size_bytes, size);
  EXPECT_FALSE(target->facts.sparse);
  EXPECT_EQ(target->facts.path, "scratch:3158073@" + folder_.path());
  EXPECT_EQ(target->facts.resolved_path, target->facts.path);
  EXPECT_EQ(::fcntl(target->fd.get(), F_GETFL) & O_ACCMODE, O_RDONLY);
  struct stat status {};
  ASSERT_EQ(::fstat(target->fd.get(), &status), 0);
  EXPECT_EQ(status.st_nlink, 0u);
  EXPECT_EQ(static_cast<std::uint64_t>(status.st_size), size);
}

TEST_F(MachineScratch, HoldsBytesThatNeitherCompressNorRepeat) {
  const auto target = make(2 << 20);
  ASSERT_TRUE(target);
  std::string bytes(2 << 20, '\0');
  ASSERT_EQ(::pread(target->fd.get(), bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  std::set<std::string> blocks;
  for (std::size_t offset = 0; offset < bytes.size(); offset += 4096) {
    blocks.insert(bytes.substr(offset, 4096));
  }
  EXPECT_EQ(blocks.size(), bytes.size() / 4096) << "blocks repeat";
  std::vector<int> counts(256);
  for (const char byte : bytes) ++counts[static_cast<unsigned char>(byte)];
  // 8192 of each are expected, with a standard deviation of 90.
  for (const int count : counts) EXPECT_NEAR(count, 8192, 8 * 90);

  std::string others(4096, '\0');
  const auto second = make(4096);
  ASSERT_EQ(::pread(second->fd.get(), others.data(), others.size(), 0), 4096);
  EXPECT_NE(others, bytes.substr(0, 4096)) << "every file is another one";
}

TEST_F(MachineScratch, IsDirectWhenAsked) {
  std::optional<OpenTarget> target;
  try {
    target = make_scratch({1 << 20, folder_.path()}, true, never);
  } catch (const base::UserError& error) {
    EXPECT_NE(error.problems().front().hint.find("-O0"), std::string::npos);
    GTEST_SKIP() << error.what();
  }
  ASSERT_TRUE(target);
  EXPECT_NE(::fcntl(target->fd.get(), F_GETFL) & O_DIRECT, 0);
  const Descriptor second = reopen(*target, true);
  EXPECT_TRUE(second) << "a file without a name can be opened again";
}

TEST_F(MachineScratch, StopsBetweenChunksAndLeavesNothing) {
  int asked = 0;
  const auto target = make_scratch({64 << 20, folder_.path()}, false, [&] { return ++asked == 4; });
  EXPECT_FALSE(target);
  EXPECT_EQ(asked, 4) << "asked once for each chunk, and not again after it said stop";
  EXPECT_TRUE(folder_.empty());
}

TEST_F(MachineScratch, StopsAfterTheLastChunkToo) {
  int asked = 0;
  EXPECT_FALSE(make_scratch({1 << 20, folder_.path()}, false, [&] { return ++asked == 2; }));
}

TEST_F(MachineScratch, IsForeseenAsItWillBe) {
  const plan::Scratch scratch{1 << 20, folder_.path()};
  const TargetFacts foreseen = foresee_scratch(scratch);
  EXPECT_TRUE(folder_.empty()) << "a dry run makes nothing";
  const auto target = make(1 << 20);
  EXPECT_EQ(foreseen.path, "scratch:1M@" + folder_.path());
  EXPECT_EQ(foreseen.path, target->facts.path);
  EXPECT_EQ(foreseen.kind, TargetKind::file);
  EXPECT_EQ(foreseen.size_bytes, target->facts.size_bytes);
  EXPECT_EQ(foreseen.filesystem, target->facts.filesystem);
  EXPECT_EQ(foreseen.can_poll, target->facts.can_poll);
  EXPECT_EQ(foreseen.logical_block_bytes, target->facts.logical_block_bytes);
  EXPECT_FALSE(foreseen.sparse);
}

// ---- refusals ----

TEST_F(MachineScratch, RefusesLessThanABlock) {
  const Problem problem = refused({4095, folder_.path()});
  EXPECT_EQ(problem.code, ExitCode::cannot);
  EXPECT_EQ(problem.what, "--scratch: 4095 bytes are less than one block of 4096");
  EXPECT_TRUE(make(4096)) << "one block is enough";
}

TEST_F(MachineScratch, RefusesWhatIsNoFolder) {
  const std::string file = folder_.write("file", "x");
  EXPECT_EQ(refused({1 << 20, file}).what, "--scratch: " + file + ": is not a directory");
  const Problem missing = refused({1 << 20, folder_ / "missing"});
  EXPECT_EQ(missing.code, ExitCode::cannot);
  EXPECT_NE(missing.what.find("ENOENT"), std::string::npos);
  EXPECT_NE(refused({1 << 20, ""}).what.find("ENOENT"), std::string::npos);
}

TEST_F(MachineScratch, RefusesMoreThanThereIsRoom) {
  const Problem problem = refused({std::uint64_t{1} << 60, folder_.path()});
  EXPECT_EQ(problem.code, ExitCode::cannot);
  EXPECT_NE(problem.what.find("not enough room: need "), std::string::npos) << problem.what;
  EXPECT_NE(problem.what.find(", have "), std::string::npos) << problem.what;
  EXPECT_TRUE(folder_.empty());
  const Problem foreseen = refusal_of([&] {
    foresee_scratch({std::uint64_t{1} << 60, folder_.path()});
  });
  EXPECT_EQ(foreseen.code, ExitCode::cannot);
}

TEST_F(MachineScratch, RefusesAForbiddenFolder) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0500), 0);
  Problem problem;
  test::as_nobody([&] { problem = refused({1 << 20, folder_.path()}); });
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
  EXPECT_EQ(problem.code, ExitCode::cannot);
  EXPECT_NE(problem.what.find("EACCES"), std::string::npos) << problem.what;
  EXPECT_TRUE(folder_.empty());
}

TEST_F(MachineScratch, RefusesWhatTheFileSizeLimitForbids) {
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit low = before;
  low.rlim_cur = 1 << 20;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  const Problem problem = refused({2 << 20, folder_.path()});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(problem.what, "--scratch: files may not grow beyond 1.0 MiB (RLIMIT_FSIZE)");
}

TEST_F(MachineScratch, AFullDiskIsNamed) {
  // The room was there when it was looked at, and is gone when it is written to.
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full) GTEST_SKIP() << "no /dev/full";
  const Problem problem =
      refusal_of([&] { fill_with_random(full.get(), 1 << 20, "scratch:1M@.", never); });
  EXPECT_EQ(problem.code, ExitCode::cannot);
  EXPECT_EQ(problem.what, "scratch:1M@.: write: ENOSPC (No space left on device)");
  EXPECT_EQ(problem.hint, "the disk is full: a smaller --scratch, or another folder");
}

TEST_F(MachineScratch, ASmallFileSystemIsTooSmall) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may mount";
  if (::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "mounting is forbidden";
  }
  const Problem problem = refused({2 << 20, folder_.path()});
  const auto fits = make_scratch({512 << 10, folder_.path()}, false, never);
  const std::string filesystem = fits ? fits->facts.filesystem.value_or("") : "";
  const auto can_poll = fits ? fits->facts.can_poll : std::nullopt;
  EXPECT_EQ(::umount2(folder_.path().c_str(), MNT_DETACH), 0);
  EXPECT_NE(problem.what.find("need 2.0 MiB, have 1.0 MiB"), std::string::npos) << problem.what;
  EXPECT_TRUE(fits);
  EXPECT_EQ(filesystem, "tmpfs");
  EXPECT_EQ(can_poll, false);
}

}  // namespace
}  // namespace uringbench::machine
