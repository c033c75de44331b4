// SPDX-License-Identifier: MIT
// Whether the shared objects of an earlier process are still the same files.
#include "host/machine/loaded_objects.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/file.h"
#include "base/scratch_folder.h"

namespace paceline::host {
namespace {

TEST(LoadedObjects, ThoseOfThisProcessAreNamedAndUnchanged) {
  const auto objects = loaded_objects();
  EXPECT_NE(objects.dump().find("libc.so"), std::string::npos) << objects;
  EXPECT_EQ(changed_file(objects), "");
}

TEST(LoadedObjects, AnotherFileOfTheSameSizeAndTimeIsNoticed) {
  const auto scratch = ScratchFolder::below_temp("paceline-objects");
  const auto file = (scratch.path() / "libx.so").string();
  write_file_atomic(file, "one");
  struct stat before {};
  ASSERT_EQ(::stat(file.c_str(), &before), 0);
  const auto states = states_of({file});
  EXPECT_EQ(changed_file(states), "");
  write_file_atomic(file, "two");
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  EXPECT_EQ(changed_file(states), file);
  std::filesystem::remove(file);
  EXPECT_EQ(changed_file(states), file);
}

}  // namespace
}  // namespace paceline::host
