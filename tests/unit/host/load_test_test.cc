// SPDX-License-Identifier: MIT
#include "host/checks/load_test.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "base/error.h"
#include "unit/host/fake_tree.h"
#include "unit/host/little_room.h"

namespace paceline::host {
namespace {

// Devices with scripted figures, and a clock that each round moves on.
struct Devices {
  double seconds = 0;
  std::map<std::string, int> rounds;
  LoadOptions options{4, {}, [this] { return seconds; }, {}};

  LoadUnit unit(const std::string& where, std::function<double(int round)> figure, std::string kind = "GPU") {
    return {where, std::move(kind), [this, where, figure = std::move(figure)] {
              seconds += 0.5;
              return std::vector<LoadReading>{{"product bf16", "FLOP/s", figure(rounds[where]++)}};
            }};
  }
};

double steady(int round) {
  return 700e12 + 1e12 * (round % 3);
}

TEST(LoadTest, EqualPeersPass) {
  Devices devices;
  const auto test =
      run_load({devices.unit("cuda:0", steady), devices.unit("cuda:1", steady)}, devices.options);
  ASSERT_EQ(test.rows.size(), 2U);
  EXPECT_EQ(test.rows[1].result.status, Verdict::kYes) << test.rows[1].result.text;
  ASSERT_EQ(test.figures.size(), 2U);
  EXPECT_EQ(test.figures[0].n, 4) << "in turns until the time is up";
  EXPECT_EQ(devices.rounds["cuda:0"], 4) << "nothing is measured twice";
}

TEST(LoadTest, ASlowOneFailsAfterTwoMeasurements) {
  Devices devices;
  const auto slow = [](int round) { return 0.3 * steady(round); };
  const auto test =
      run_load({devices.unit("cuda:0", steady), devices.unit("cuda:1", slow), devices.unit("cuda:2", steady)},
               devices.options);
  EXPECT_EQ(test.rows[0].result.status, Verdict::kYes);
  EXPECT_EQ(test.rows[1].result.status, Verdict::kNo) << test.rows[1].result.text;
  EXPECT_EQ(test.rows[2].result.status, Verdict::kYes);
  EXPECT_EQ(devices.rounds["cuda:0"], 6) << "its peers are measured twice, too";
}

TEST(LoadTest, AFewFastReadingsDoNotHideASlowOne) {
  Devices devices;
  devices.options.seconds = 100;
  const auto slow = [](int round) { return (round % 20 == 19 ? 1 : 0.3) * steady(round); };
  const auto test = run_load({devices.unit("cuda:0", steady), devices.unit("cuda:1", slow)}, devices.options);
  EXPECT_EQ(test.figures[1].n, 100);
  EXPECT_EQ(test.rows[1].result.status, Verdict::kNo) << test.rows[1].result.text;
}

TEST(LoadTest, NothingToMeasureEndsAtOnce) {
  Devices devices;
  devices.options.now_s = [&] { return devices.seconds += 1; };
  run_load({}, devices.options);
  EXPECT_LE(devices.seconds, 1);
  const auto lost = [](int) -> double { throw std::runtime_error("cuda:0 is lost"); };
  run_load({devices.unit("cuda:0", lost)}, devices.options);
  EXPECT_LE(devices.seconds, 4) << "nor is a lost one waited for";
}

TEST(LoadTest, SlowOnceWarns) {
  Devices devices;
  const auto once = [](int round) { return (round < 4 ? 0.3 : 1) * steady(round); };
  const auto test = run_load({devices.unit("cuda:0", steady), devices.unit("cuda:1", once)}, devices.options);
  EXPECT_EQ(test.rows[1].result.status, Verdict::kReservedly) << test.rows[1].result.text;
  EXPECT_GT(test.figures[1].median, 600e12) << "the faster measurement stays";
}

TEST(LoadTest, NoiseIsNotTakenForSlowness) {
  Devices devices;
  const auto noisy = [](int round) { return (round % 2 == 0 ? 0.3 : 1) * steady(round); };
  const auto test =
      run_load({devices.unit("cuda:0", steady), devices.unit("cuda:1", noisy)}, devices.options);
  EXPECT_EQ(test.rows[1].result.status, Verdict::kYes) << test.rows[1].result.text;
}

TEST(LoadTest, OtherKindsAreNoPeers) {
  Devices devices;
  const auto half = [](int round) { return 0.5 * steady(round); };
  const auto test =
      run_load({devices.unit("cuda:0", steady, "H200"), devices.unit("cuda:1", half, "L4")}, devices.options);
  EXPECT_EQ(test.rows[1].result.status, Verdict::kYes);
  EXPECT_NE(test.rows[1].result.text.find("no peer here"), std::string::npos);
}

TEST(LoadTest, WhatWasSavedIsExpectedOfAllPeers) {
  Devices devices;
  devices.options.expected = {{"cuda:0", "product bf16", "FLOP/s", 990e12, 980e12, 1000e12, 9}};
  const auto test = run_load({devices.unit("cuda:0", steady)}, devices.options);
  EXPECT_EQ(test.rows[0].result.status, Verdict::kNo);
  EXPECT_NE(test.rows[0].result.text.find("990 TFLOP/s"), std::string::npos) << test.rows[0].result.text;
}

TEST(LoadTest, AUnitThatThrowsFailsAndTheOthersGoOn) {
  Devices devices;
  const auto lost = [](int) -> double { throw std::runtime_error("cuda:1 is lost"); };
  const auto test = run_load({devices.unit("cuda:0", steady), devices.unit("cuda:1", lost)}, devices.options);
  EXPECT_EQ(test.rows[0].result.status, Verdict::kYes);
  EXPECT_EQ(test.rows[1].result.status, Verdict::kNo);
  EXPECT_EQ(devices.rounds["cuda:1"], 1);
}

TEST(LoadTest, InterruptedEndsAtOnce) {
  Devices devices;
  devices.options.interrupted = [&] { return devices.rounds["cuda:0"] > 0; };
  run_load({devices.unit("cuda:0", steady)}, devices.options);
  EXPECT_EQ(devices.rounds["cuda:0"], 1);
}

TEST(CoreSets, AreNumaNodesOrCores) {
  FakeTree tree;
  tree.file("sys/devices/system/node/node0/cpulist", "0-3\n")
      .file("sys/devices/system/node/node1/cpulist", "4-7\n");
  using Sets = std::vector<std::vector<int>>;
  EXPECT_EQ(core_sets(tree.files(), {0, 1, 2, 4, 5}), (Sets{{0, 1, 2}, {4, 5}}));
  for (int cpu = 0; cpu < 4; ++cpu) {
    const auto topology = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    tree.file(topology + "thread_siblings_list", cpu % 2 == 0 ? "0,2\n" : "1,3\n");
  }
  EXPECT_EQ(core_sets(tree.files(), {0, 1, 2, 3}), (Sets{{0}, {1}})) << "one node: a thread per core";
}

TEST(CoreSets, AreMeasured) {
  const auto readings = core_set_unit({0}).measure();
  ASSERT_FALSE(readings.empty());
  for (const auto& one : readings) EXPECT_GT(one.per_s, 0) << one.what;
  EXPECT_EQ(core_set_unit({0, 1}).where, "CPUs 0-1");
}

TEST(CoreSets, WithoutMemoryForCopiesAreAnError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a limit on address space";
#endif
  EXPECT_EXIT(test::run_with_little_room([] {
                (void)core_set_unit({0, 1}).measure();
              }),
              ::testing::ExitedWithCode(test::kRefused), "no memory for copies");
}

}  // namespace
}  // namespace paceline::host
