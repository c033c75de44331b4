// SPDX-License-Identifier: MIT
#include "base/own_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/scratch_folder.h"

namespace paceline {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

struct OwnFile : testing::Test {
  ScratchFolder scratch = ScratchFolder::below_temp("own-file");
  fs::path folder = scratch.path() / "in", file = folder / "plan.yaml";

  void SetUp() override {
    fs::create_directory(folder);
    ::chmod(folder.c_str(), 0755);
    replace_file(file, "x");
    ::chmod(file.c_str(), 0644);
  }
};

TEST_F(OwnFile, AFileInAFolderOfOnesOwnIsOwn) {
  EXPECT_EQ(why_foreign(file), std::nullopt);
  EXPECT_EQ(why_foreign(folder / "absent"), std::nullopt);
}

TEST_F(OwnFile, FilesThatEveryUserCanWriteAreForeign) {
  ::chmod(file.c_str(), 0646);
  EXPECT_EQ(why_foreign(file), "every user can write the file");
  ::chmod(file.c_str(), 0644);
  ::chmod(folder.c_str(), 0777);
  EXPECT_THAT(why_foreign(file).value_or(""), HasSubstr("every user can write its folder"));
}

TEST_F(OwnFile, TheStickyBitKeepsOthersFromReplacingAFile) {
  ::chmod(folder.c_str(), 01777);
  EXPECT_EQ(why_foreign(file), std::nullopt);
}

TEST_F(OwnFile, ALinkIsJudgedByItsTarget) {
  fs::create_symlink(file, scratch.path() / "link");
  ::chmod(folder.c_str(), 0777);
  EXPECT_THAT(why_foreign(scratch.path() / "link").value_or(""), HasSubstr("its folder"));
}

TEST_F(OwnFile, AFolderAboveMayBeReplaced) {
  const auto inner = folder / "in";
  fs::create_directory(inner);
  ::chmod(inner.c_str(), 0755);
  replace_file(inner / "plan.yaml", "x");
  EXPECT_EQ(why_foreign(inner / "plan.yaml"), std::nullopt);
  ::chmod(folder.c_str(), 0777);
  EXPECT_THAT(why_foreign(inner / "plan.yaml").value_or(""), HasSubstr("above it"));
}

TEST_F(OwnFile, APipeThatEveryUserCanWriteIsForeign) {
  const auto pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(why_foreign(pipe), std::nullopt);
  ::chmod(pipe.c_str(), 0622);
  EXPECT_EQ(why_foreign(pipe), "every user can write the pipe");
}

TEST_F(OwnFile, AnotherOwnerIsNamed) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::chown(file.c_str(), 4711, 0), 0);
  EXPECT_EQ(why_foreign(file), "the file belongs to another user (number 4711)");
}

}  // namespace
}  // namespace paceline
