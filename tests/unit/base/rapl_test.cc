// SPDX-License-Identifier: MIT
#include "base/rapl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "base/scratch_folder.h"

namespace paceline::rapl {
namespace {
namespace fs = std::filesystem;
using ::testing::HasSubstr;

// The tree of a machine with two packages, whose memory the first one counts.
class Rapl : public ::testing::Test {
 protected:
  void zone(const std::string& zone, const std::string& name, const std::string& uj,
            const std::string& range_uj = "1000000") {
    fs::create_directories(folder_.path() / zone);
    write_file_atomic(folder_.path() / zone / "name", name + "\n");
    write_file_atomic(folder_.path() / zone / "energy_uj", uj + "\n");
    write_file_atomic(folder_.path() / zone / "max_energy_range_uj", range_uj + "\n");
  }
  void energy(const std::string& zone, const std::string& uj) {
    write_file_atomic(folder_.path() / zone / "energy_uj", uj + "\n");
  }
  ScratchFolder folder_ = ScratchFolder::below_temp("rapl");
};

TEST_F(Rapl, NothingIsCountedTwice) {
  zone("intel-rapl:0", "package-0", "5000000");
  zone("intel-rapl:0:0", "core", "4000000");
  zone("intel-rapl:0:1", "dram", "700000");
  zone("intel-rapl:1", "package-1", "6000000");
  zone("intel-rapl:2", "psys", "20000000");
  zone("intel-rapl-mmio:0", "package-0", "5000000");
  std::vector<std::string> added, others;
  auto all = counters(folder_.path());
  for (const auto& one : all) (one.part() == Part::kOther ? others : added).push_back(one.name());
  EXPECT_EQ(added, (std::vector<std::string>{"package-0", "dram package-0", "package-1"}));
  EXPECT_EQ(others, (std::vector<std::string>{"package-0", "core", "psys"}));
  EXPECT_EQ(refusal(all), "");
  EXPECT_EQ(counters(folder_.path())[1].joules(), 5.0);
}

TEST_F(Rapl, ACounterThatBeginsAgainGoesOn) {
  zone("intel-rapl:0", "package-0", "900000");
  auto all = counters(folder_.path());
  EXPECT_EQ(all[0].joules(), 0.9);
  energy("intel-rapl:0", "100000");
  EXPECT_EQ(all[0].joules(), 1.1);
  energy("intel-rapl:0", "50000");
  EXPECT_EQ(all[0].joules(), 2.05);
}

TEST_F(Rapl, ACounterThatRestartsIsNoWrap) {
  zone("intel-rapl:0", "package-0", "8000000000", "262143328850");
  auto all = counters(folder_.path());
  EXPECT_EQ(all[0].joules(), 8000);
  EXPECT_FALSE(all[0].was_interrupted());
  energy("intel-rapl:0", "50000000");
  EXPECT_EQ(all[0].joules(), 50) << "and not 254,193 J within a moment";
  EXPECT_TRUE(all[0].was_interrupted());
  energy("intel-rapl:0", "51000000");
  EXPECT_EQ(all[0].joules(), 51);
  EXPECT_EQ(refusal(all), "");
}

TEST_F(Rapl, WithoutItsRangeACounterThatWentBackIsLost) {
  zone("intel-rapl:0", "package-0", "900000", "");
  auto all = counters(folder_.path());
  EXPECT_EQ(all[0].joules(), 0.9);
  energy("intel-rapl:0", "100000");
  EXPECT_EQ(all[0].joules(), std::nullopt);
  energy("intel-rapl:0", "950000");
  EXPECT_EQ(all[0].joules(), std::nullopt) << "it is not known how often it began again";
  EXPECT_EQ(refusal(all), "package-0: its counter went back, and its range is not known");
}

TEST_F(Rapl, WhereItCannotBeReadThereIsASentenceAndNoNumber) {
  auto none = counters(folder_.path() / "not there");
  EXPECT_TRUE(none.empty());
  EXPECT_THAT(refusal(none), HasSubstr("this machine has no energy counters"));
  zone("intel-rapl:0", "psys", "1");
  auto other = counters(folder_.path());
  EXPECT_THAT(refusal(other), HasSubstr("this machine has no energy counters"));
  zone("intel-rapl:0", "package-0", "1");
  fs::remove(folder_.path() / "intel-rapl:0" / "energy_uj");
  fs::create_directory(folder_.path() / "intel-rapl:0" / "energy_uj");  // root may read every file
  auto kept = counters(folder_.path());
  EXPECT_EQ(kept.at(0).joules(), std::nullopt);
  EXPECT_THAT(refusal(kept), HasSubstr("sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj"));
}

TEST_F(Rapl, TheFolderCanBeReplaced) {
  ::unsetenv("PACELINE_POWERCAP");
  EXPECT_EQ(powercap_folder(), "/sys/class/powercap");
  ::setenv("PACELINE_POWERCAP", folder_.path().c_str(), 1);
  EXPECT_EQ(powercap_folder(), folder_.path());
  ::unsetenv("PACELINE_POWERCAP");
}

}  // namespace
}  // namespace paceline::rapl
