// SPDX-License-Identifier: MIT
#include "base/reading.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/mapped_file.h"

namespace paceline {
namespace {
namespace fs = std::filesystem;

class Reading : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("paceline-reading-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string refusal(const fs::path& path, std::uint64_t most = 1 << 20) {
    try {
      (void)read_limited(path, most);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  fs::path folder_;
};

TEST_F(Reading, ARegularFileUpToTheLimit) {
  std::ofstream(folder_ / "a") << "12345";
  EXPECT_EQ(read_limited(folder_ / "a", 5), "12345");
  EXPECT_NE(refusal(folder_ / "a", 4).find("at most"), std::string::npos);
}

TEST_F(Reading, AnEndlessDeviceIsRefusedAndSoAreLinksToIt) {
  fs::create_symlink("/dev/zero", folder_ / "link");
  for (const fs::path& path : {fs::path("/dev/zero"), folder_ / "link"}) {
    EXPECT_NE(refusal(path).find("it is a device"), std::string::npos) << path;
    EXPECT_THROW((void)read_file(path), Error);
    EXPECT_THROW(check_regular_file(path), Error);
  }
  EXPECT_EQ(read_limited("/dev/null", 10), "");
}

TEST_F(Reading, ANamedPipeWithoutAWriterDoesNotHang) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(refusal(pipe).find("nobody has written"), std::string::npos);
  EXPECT_THROW(check_regular_file(pipe), Error);
}

TEST_F(Reading, APipeIsReadToItsEndAndNoFurtherThanTheLimit) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << std::string(100'000, 'x'); });
  EXPECT_EQ(read_limited(pipe, 1 << 20).size(), 100'000U);
  writer.join();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "0123456789", 10), 10);
  EXPECT_NE(refusal(fmt::format("/proc/self/fd/{}", ends[0]), 5).find("larger than"), std::string::npos);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Reading, OnlyARegularFileIsOpenedInPiecesAndNothingIsWaitedFor) {
  std::ofstream(folder_ / "a") << "12345";
  fs::create_symlink(folder_ / "a", folder_ / "link");
  fs::create_symlink(folder_ / "loop", folder_ / "loop");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const auto* name : {"a", "link"}) {
    EXPECT_TRUE(open_regular_file(folder_ / name)) << name;
    EXPECT_EQ(no_regular_file(folder_ / name), std::nullopt) << name;
  }
  for (const auto& [path, words] : {std::pair<fs::path, std::string>{folder_ / "pipe", "a device or a pipe"},
                                    {"/dev/zero", "a device or a pipe"},
                                    {folder_, "is a folder"},
                                    {folder_ / "none", "does not exist"},
                                    {folder_ / "loop", "levels of symbolic links"},
                                    {folder_ / std::string(5000, 'x'), "name too long"}}) {
    EXPECT_THROW((void)open_regular_file(path), Error) << path;
    EXPECT_NE(no_regular_file(path).value_or("").find(words), std::string::npos) << path;
    EXPECT_EQ(is_missing(path), path == folder_ / "none") << path;
  }
}

TEST_F(Reading, AMappedFileIsARegularOne) {
  std::ofstream(folder_ / "a") << "12345";
  EXPECT_EQ(MappedFile(folder_ / "a").bytes(), "12345");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(MappedFile(folder_ / "pipe"), Error);
}

TEST_F(Reading, ErrorsOfTheStandardLibraryShortenThePath) {
  try {
    (void)fs::exists(folder_ / std::string(5000, 'x'));
    FAIL() << "such a name should not be looked up";
  } catch (const fs::filesystem_error& e) {
    const std::string said = io_error(e).what();
    EXPECT_TRUE(said.starts_with("cannot use '" + folder_.string())) << said;
    EXPECT_NE(said.find("bytes left out"), std::string::npos) << said;
    EXPECT_LT(said.size(), 500U);
    EXPECT_EQ(io_error(e).code(), ErrorCode::kIo);
  }
}

TEST_F(Reading, FilesOfOursAreRegular) {
  std::ofstream(folder_ / "a") << "12345";
  EXPECT_EQ(read_regular_file(folder_ / "a"), "12345");
  fs::create_symlink(folder_ / "a", folder_ / "link");
  EXPECT_EQ(read_regular_file(folder_ / "link"), "12345");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const fs::path& path : {folder_, folder_ / "pipe", fs::path("/dev/null"), folder_ / "none"})
    EXPECT_THROW((void)read_regular_file(path), Error) << path;
}

TEST_F(Reading, AFolderIsNamedAsOne) {
  EXPECT_NE(refusal(folder_).find("Is a directory"), std::string::npos);
}

}  // namespace
}  // namespace paceline
