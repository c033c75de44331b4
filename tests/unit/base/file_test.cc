// SPDX-License-Identifier: MIT
#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/npy.h"
#include "base/random.h"

namespace paceline {
namespace {
namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("paceline-base-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

// Without HOME the cache lies below a folder that all users share.
class CacheWithoutHome : public ::testing::Test {
 protected:
  // One folder for all cases: a process keeps the cache that it has made for itself.
  static void SetUpTestSuite() {
    folder_ = fs::temp_directory_path() / ("paceline-caches-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  static void TearDownTestSuite() { fs::remove_all(folder_); }

  void SetUp() override {
    ::unsetenv("XDG_CACHE_HOME");
    ::unsetenv("HOME");
    ::setenv("TMPDIR", folder_.c_str(), 1);
    shared_ = folder_ / ("paceline-cache-" + std::to_string(::geteuid()));
  }
  void TearDown() override {
    for (const auto& [name, value] : before_)
      value.empty() ? ::unsetenv(name) : ::setenv(name, value.c_str(), 1);
    fs::remove_all(shared_);
  }
  static std::string value_of(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
  }
  inline static fs::path folder_;
  fs::path shared_;
  std::vector<std::pair<const char*, std::string>> before_{{"XDG_CACHE_HOME", value_of("XDG_CACHE_HOME")},
                                                           {"HOME", value_of("HOME")},
                                                           {"TMPDIR", value_of("TMPDIR")}};
};

TEST_F(CacheWithoutHome, IsClosedToOthers) {
  EXPECT_EQ(cache_dir(), shared_);
  EXPECT_EQ(fs::status(shared_).permissions(), fs::perms::owner_all);
}

TEST_F(CacheWithoutHome, AFolderThatOthersMayWriteIsNotUsed) {
  fs::create_directory(shared_);
  fs::permissions(shared_, fs::perms::all);
  EXPECT_NE(cache_dir(), shared_);
  EXPECT_EQ(fs::status(cache_dir()).permissions(), fs::perms::owner_all);
}

TEST_F(CacheWithoutHome, ALinkIsNotFollowed) {
  fs::create_directory(folder_ / "elsewhere");
  fs::permissions(folder_ / "elsewhere", fs::perms::owner_all);
  fs::create_directory_symlink(folder_ / "elsewhere", shared_);
  EXPECT_NE(cache_dir(), shared_);
}

TEST_F(Files, AtomicWriteReplacesAndLeavesNothingBehind) {
  write_file_atomic(folder_ / "a", "one");
  write_file_atomic(folder_ / "a", "two");
  EXPECT_EQ(read_file(folder_ / "a"), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, DevicesPipesAndLinksStayWhatTheyAre) {
  const fs::path pipe = folder_ / "pipe", link = folder_ / "link";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_file_atomic(pipe, "one");
  char text[4] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 3);
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
  std::ofstream(folder_ / "target") << "old";
  fs::create_symlink(folder_ / "target", link);
  write_file_atomic(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_file(folder_ / "target"), "new");
  fs::create_symlink("/dev/null", folder_ / "null");
  write_file_atomic(folder_ / "null", "gone");
  EXPECT_TRUE(fs::is_character_file(folder_ / "null"));
}

// Whoever may write into the folder could lead the content elsewhere, or make us wait.
TEST_F(Files, NamesOfOurOwnAreReplacedAndNeverFollowed) {
  const fs::path own = folder_ / "own", victim = folder_ / "victim";
  const auto text_of = [](const fs::path& path) { return read_file(path); };
  std::ofstream(victim) << "precious";
  const auto put_link = [&] { fs::create_symlink(victim, own); };
  const auto put_pipe = [&] { ASSERT_EQ(::mkfifo(own.c_str(), 0600), 0); };
  Tensor tensor({"x", DType::kFloat32, {1}});
  const auto view = tensor.view();
  for (const std::function<void()>& put :
       {std::function<void()>(put_link), std::function<void()>(put_pipe)}) {
    for (const std::function<void()>& write :
         {std::function<void()>([&] { replace_file(own, "new"); }),
          std::function<void()>([&] { write_npy(own, view); }), std::function<void()>([&] {
            write_npz(own, {&view, 1});
          })}) {
      put();
      write();
      EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(own)));
      fs::remove(own);
    }
    put();
    EXPECT_THROW(append_file(own, "new"), Error);
    EXPECT_THROW(open_own_file(own, O_WRONLY | O_TRUNC), Error);
    EXPECT_THROW(check_own_name(own), Error);
    fs::remove(own);
  }
  fs::create_symlink(victim, own.string() + fmt::format(".part{}", ::getpid()));
  replace_file(own, "new");
  EXPECT_EQ(text_of(own), "new");
  EXPECT_EQ(text_of(victim), "precious");
  append_file(own, "er");
  EXPECT_EQ(text_of(own), "newer");
}

TEST_F(Files, APipeThatNobodyReadsIsAnError) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(write_file_atomic(pipe, "x"), Error);
}

TEST_F(Files, TheLongestName) {
  const fs::path longest = folder_ / std::string(255, 'n');
  write_file_atomic(longest, "one");
  EXPECT_EQ(read_file(longest), "one");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  EXPECT_THROW(write_file_atomic(folder_ / std::string(5000, 'n'), "one"), Error);
}

TEST_F(Files, ErrorsNameThePath) {
  try {
    write_file_atomic(folder_ / "none" / "a", "x");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kIo);
    EXPECT_NE(std::string(e.what()).find("none/a"), std::string::npos);
  }
  EXPECT_THROW(read_file(folder_ / "none"), Error);
  std::ofstream(folder_ / "file") << "x";
  EXPECT_THROW(make_directories(folder_ / "file" / "sub"), Error);
}

TEST_F(Files, AFullDiskIsAnErrorNotAnEmptyFile) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  fs::create_symlink("/dev/full", folder_ / "full");
  EXPECT_THROW(write_file_atomic(folder_ / "full", "x"), Error);
}

TEST_F(Files, TailStartsAtALine) {
  std::ofstream(folder_ / "log") << "first line\nsecond line\nthird\n";
  EXPECT_EQ(file_tail(folder_ / "log", 12), "third\n");
  EXPECT_EQ(file_tail(folder_ / "log", 1000), "first line\nsecond line\nthird\n");
  EXPECT_EQ(file_tail(folder_ / "none", 10), "");
}

TEST_F(Files, NpyRoundTripOfEveryType) {
  for (const auto& row : kDTypes) {
    Tensor t({"x", row.dtype, {3, 2}});
    for (std::size_t i = 0; i < t.size_bytes(); ++i) t.data()[i] = static_cast<std::byte>(i % 2);
    write_npy(folder_ / "x.npy", t.view());
    const auto back = read_npy(folder_ / "x.npy");
    EXPECT_EQ(back.spec().dtype, row.dtype) << row.name;
    EXPECT_EQ(back.spec().shape, (Shape{3, 2}));
    EXPECT_TRUE(std::equal(t.data(), t.data() + t.size_bytes(), back.data()));
  }
}

TEST(ExitCodes, Precedence) {
  using enum ExitCode;
  EXPECT_EQ(worse(kUsage, kWorkloadFailed), kUsage);
  EXPECT_EQ(worse(kWorkloadFailed, kEnvironmentInvalid), kWorkloadFailed);
  EXPECT_EQ(worse(kEnvironmentInvalid, kGateFailed), kEnvironmentInvalid);
  EXPECT_EQ(worse(kGateFailed, kInconclusive), kGateFailed);
  EXPECT_EQ(worse(kInconclusive, kOk), kInconclusive);
  EXPECT_EQ(worse(kSkipped, kOk), kOk);
  EXPECT_EQ(worse(kInterrupted, kUsage), kInterrupted);
}

TEST(CounterRng, IsAPureFunctionWithTheRightMoments) {
  const CounterRng rng(1, 2), same(1, 2), other(1, 3);
  double sum = 0, squares = 0;
  int equal = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const double x = rng.normal(i);
    EXPECT_EQ(rng.bits(i), same.bits(i));
    equal += rng.bits(i) == other.bits(i);
    sum += x;
    squares += x * x;
  }
  EXPECT_EQ(equal, 0);
  EXPECT_NEAR(sum / 1e5, 0, 4 / std::sqrt(1e5));
  EXPECT_NEAR(squares / 1e5, 1, 4 * std::sqrt(2 / 1e5));
}

}  // namespace
}  // namespace paceline
