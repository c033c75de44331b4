// SPDX-License-Identifier: MIT
// Sources on a recorded /proc and /sys, and what the counters of two readings say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/scratch_folder.h"
#include "monitor/source.h"
#include "monitor/usage.h"
#include "monitor/view.h"

namespace paceline::monitor {
namespace {

namespace fs = std::filesystem;

// A root folder that stands for the system.
class System : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_.path() / path).parent_path());
    write_file_atomic(root_.path() / path, text);
  }
  [[nodiscard]] Snapshot read(std::int64_t second) {
    Snapshot snapshot;
    snapshot.utc_ms = second * 1000, snapshot.steady_ns = second * 1'000'000'000;
    for (const auto& source : sources_) source->read(snapshot);
    return snapshot;
  }
  [[nodiscard]] host::SystemFiles files() const { return host::SystemFiles(root_.path()); }

  ScratchFolder root_ = ScratchFolder::below_temp("monitor");
  Sources sources_ = machine_sources(host::SystemFiles(root_.path()));
};

TEST_F(System, CpusAreBusyByTheirTicks) {
  write("proc/stat", "cpu  0 0 0 0\ncpu0 100 0 0 100 0 0 0 0 0 0\ncpu10 0 0 0 200 0 0 0 0 0 0\nctxt 5\n");
  const auto before = read(1);
  write("proc/stat", "cpu  0 0 0 0\ncpu0 150 0 0 120 20 0 0 10 50 0\ncpu10 0 0 0 300 0 0 0 0 0 0\nctxt 5\n");
  const auto now = read(2);
  const auto each = cpus(now, before);
  ASSERT_EQ(each.size(), 2U);
  EXPECT_EQ(each[1].name, "10");
  EXPECT_NEAR(*each[0].busy, 0.5, 1e-12);
  EXPECT_NEAR(*each[0].steal, 0.1, 1e-12);
  EXPECT_NEAR(*each[1].busy, 0, 1e-12);
  EXPECT_NEAR(*all_cpus(now, before).busy, 0.25, 1e-12);
  EXPECT_FALSE(all_cpus(now, now).busy);
}

TEST_F(System, TrafficIsThatOfLinksAndWholeDisks) {
  const std::string zero = " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
  write("proc/net/dev", "Inter-|   Receive\n face |bytes\n    lo:" + zero + "  eth0:" + zero);
  write(
      "proc/diskstats",
      "253 0 vda 1 0 0 0 1 0 0 0 0 0 0\n253 1 vda1 1 0 0 0 1 0 0 0 0 0 0\n7 0 loop0 1 0 0 0 1 0 0 0 0 0 0\n");
  write("sys/block/vda/size", "1");
  write("sys/block/loop0/size", "1");
  const auto before = read(1);
  write("proc/net/dev",
        "    lo: 9 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0\n  eth0:4000 0 0 0 0 0 0 0 2000 0 0 0 0 0 0 0\n");
  write("proc/diskstats", "253 0 vda 1 0 4 0 1 0 8 0 0 1000 0\n253 1 vda1 1 0 0 0 1 0 0 0 0 0 0\n");
  const auto now = read(3);
  ASSERT_EQ(links(now, before).size(), 1U);
  EXPECT_DOUBLE_EQ(*links(now, before)[0].in, 2000);
  EXPECT_DOUBLE_EQ(*links(now, before)[0].out, 1000);
  ASSERT_EQ(disks(now, before).size(), 1U);
  EXPECT_DOUBLE_EQ(*disks(now, before)[0].in, 1024);
  EXPECT_DOUBLE_EQ(*disks(now, before)[0].out, 2048);
  EXPECT_DOUBLE_EQ(*disks(now, before)[0].busy, 0.5);
}

TEST_F(System, EnergyCountersThatWrapGoOn) {
  write("sys/class/powercap/intel-rapl:0/name", "package-0\n");
  write("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "10000000\n");
  write("sys/class/powercap/intel-rapl:0/energy_uj", "9000000\n");
  const auto before = read(1);
  write("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
  EXPECT_DOUBLE_EQ(*rate(before, read(2), "paceline_rapl_joules_total", {{"name", "package-0"}}), 2);
}

TEST_F(System, AnEnergyCounterThatRestartedHasNoRateOnce) {
  write("sys/class/powercap/intel-rapl:0/name", "package-0\n");
  write("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "65532610987\n");
  write("sys/class/powercap/intel-rapl:0/energy_uj", "30000000000\n");
  const auto before = read(1);
  write("sys/class/powercap/intel-rapl:0/energy_uj", "3000000\n");
  const auto restarted = read(2);
  EXPECT_EQ(rate(before, restarted, "paceline_rapl_joules_total", {{"name", "package-0"}}), std::nullopt);
  write("sys/class/powercap/intel-rapl:0/energy_uj", "53000000\n");
  EXPECT_DOUBLE_EQ(*rate(restarted, read(3), "paceline_rapl_joules_total", {{"name", "package-0"}}), 50);
}

TEST_F(System, UnreadableValuesAreNamedAndHaveNoNumber) {
  const auto nothing = read(1);
  EXPECT_TRUE(nothing.families.empty());
  EXPECT_THAT(nothing.absent,
              ::testing::ElementsAre("CPUs: /proc/stat is not readable",
                                     "CPU power: this machine has no energy counters (RAPL)"));
}

TEST_F(System, TheVersionOfTheToolIsAFigure) {
  sources_.clear();
  sources_.push_back(build_source("1.2.3", "abc"));
  EXPECT_DOUBLE_EQ(*read(1).value("paceline_build_info", {{"version", "1.2.3"}, {"commit", "abc"}}), 1);
}

TEST_F(System, ARunIsFoundByTheLockThatItsProcessHolds) {
  const auto run = root_.path() / "results" / "r1";
  write("proc/12/comm", "paceline\n");
  write("proc/13/comm", "python3\n");
  fs::create_directories(root_.path() / "proc/12/fd");
  fs::create_symlink("/results/r1/.lock", root_.path() / "proc/12/fd/5");
  fs::create_symlink("/dev/null", root_.path() / "proc/12/fd/0");
  write("results/r1/live.json",
        R"({"process_id": 12, "experiment_name": "night", "pass": {"label": "m", "number": 1, "of": 3}})");
  sources_.clear();
  sources_.push_back(run_source(files()));
  const auto now = read(1);
  ASSERT_EQ(now.runs.size(), 1U);
  EXPECT_EQ(now.runs[0].folder, "/results/r1");
  EXPECT_EQ(now.runs[0].experiment, "night");
  EXPECT_DOUBLE_EQ(*now.value("paceline_run_passes", {{"run", "r1"}}), 3);
  write("results/r1/live.json", "{\"process_id\": 12, \"exp");
  EXPECT_TRUE(read(2).runs.empty());
  fs::remove_all(root_.path() / "proc/12");
  EXPECT_TRUE(read(3).runs.empty());
}

// Any user can write one.
TEST_F(System, ALiveFileIsBoundedInSizeAndInItsTexts) {
  write("proc/12/comm", "paceline\n");
  fs::create_directories(root_.path() / "proc/12/fd");
  fs::create_symlink("/results/r1/.lock", root_.path() / "proc/12/fd/5");
  sources_.clear();
  sources_.push_back(run_source(files()));
  const auto labelled = [](std::size_t bytes) {
    return R"({"experiment_name": "e", "pass": {"label": ")" + std::string(bytes, '\x7F') + R"("}})";
  };
  write("results/r1/live.json", labelled(20'000));
  const auto now = read(1);
  ASSERT_EQ(now.runs.size(), 1U);
  EXPECT_LE(now.runs[0].label.size(), 200U);
  write("results/r1/live.json", labelled(300'000));
  EXPECT_TRUE(read(2).runs.empty());
  write("results/r1/live.json", std::string(5'000, '['));
  EXPECT_TRUE(read(3).runs.empty());
}

TEST_F(System, NoLineOfTheViewIsWiderThanTheTerminal) {
  write("proc/stat", "cpu0 100 0 0 100 0 0 0 0\ncpu1 100 0 0 100 0 0 0 0\n");
  write("proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable: 250000 kB\n");
  const auto now = read(1);
  for (const std::size_t columns : {20U, 40U, 80U, 120U})
    for (const auto& line : view(now, nullptr, columns)) EXPECT_LE(line.text.size(), 3 * columns);
  EXPECT_THAT(plain_lines(now, nullptr), ::testing::ElementsAre("00:00:01  cpu –  memory 768 MB of 1.02 GB"));
}

}  // namespace
}  // namespace paceline::monitor
