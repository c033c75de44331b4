// SPDX-License-Identifier: MIT
#include "host/checks/disk_speed.h"

#include "base/clock.h"
#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

TEST(DiskSpeedTest, IsMeasuredAndNothingStaysBehind) {
  FakeTree tree;
  const auto folder = tree.files().path("");
  const auto start = SteadyClock().now_ns();
  const auto speed = measure_disk(folder, 1LL << 30);
  EXPECT_EQ(speed.refusal, "");
  ASSERT_TRUE(speed.write_per_s);
  EXPECT_GT(*speed.write_per_s, 0);
  EXPECT_TRUE(speed.read_per_s ? *speed.read_per_s > 0 : !speed.read_per_s.reason().empty());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_LT(SteadyClock().now_ns() - start, 60'000'000'000) << "a slow disk gets fewer bytes";
}

TEST(DiskSpeedTest, FilesInMemoryHaveNoReadingSpeed) {
  const auto shared = std::filesystem::path("/dev/shm");
  if (!std::filesystem::is_directory(shared)) GTEST_SKIP() << "no /dev/shm here";
  const auto speed = measure_disk(shared, 32 << 20);
  if (!speed.refusal.empty()) GTEST_SKIP() << speed.refusal;
  EXPECT_FALSE(speed.read_per_s);
  EXPECT_NE(in_words(speed).find("reads not measured: its file system keeps files in memory"),
            std::string::npos)
      << in_words(speed);
}

TEST(DiskSpeedTest, AFolderThatTakesNoFileIsRefused) {
  EXPECT_NE(measure_disk("/proc/self", 1LL << 30).refusal, "");
  EXPECT_EQ(measure_disk("/not/there", 1LL << 30).refusal, "No such file or directory");
}

}  // namespace
}  // namespace paceline::host
