// SPDX-License-Identifier: MIT
#include "workload/window/sampler_observer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <stdexcept>
#include <thread>

#include "base/error.h"

namespace paceline::workload {
namespace {

using namespace std::chrono_literals;
using plugin::Reading;

// Behaviour of a fake sampler; the test sees how often it was read, and on which threads.
struct Script {
  std::chrono::nanoseconds period = 1h;  // so long that only the ends of the window are read
  std::chrono::nanoseconds takes{};      // one reading
  int fails_at = 0;                      // the number of the reading that throws; 0: none
  std::string refuses;                   // what open() throws
  std::function<std::vector<Reading>(int)> readings = [](int n) {
    return std::vector<Reading>{{"cpu", "count", "1", static_cast<double>(n)}};
  };
  std::atomic<int> read = 0;
  std::atomic<int> edges = 0;
  std::atomic<int> on_other_threads = 0;
  plugin::SamplerSettings settings;
  std::thread::id own = std::this_thread::get_id();
};

class FakeSampler : public plugin::Sampler {
 public:
  explicit FakeSampler(Script& script) : script_(script) {}
  std::chrono::nanoseconds open(const plugin::SamplerSettings& settings) override {
    if (!script_.refuses.empty()) throw Error(ErrorCode::kUnavailable, script_.refuses);
    script_.settings = settings;
    return script_.period;
  }
  std::vector<Reading> read(plugin::Moment moment) override {
    script_.edges += moment == plugin::Moment::kEdge ? 1 : 0;
    if (std::this_thread::get_id() != script_.own) ++script_.on_other_threads;
    std::this_thread::sleep_for(script_.takes);
    if (++script_.read == script_.fails_at) throw std::runtime_error("it broke");
    return script_.readings(script_.read);
  }

 private:
  Script& script_;
};

class SamplerObserverTest : public ::testing::Test {
 protected:
  // Over a window that is open until the sampler was read `reads` times, or for `at_least`.
  result::SampledWindow sampled(int reads = 1, std::chrono::nanoseconds at_least = {}) {
    result::SampledWindow named;
    named.sampler = "fake", named.repetition = 3, named.rank = 2;
    MeasuredWindow window;
    window.add<SamplerObserver>(
        named, [this] { return std::make_unique<FakeSampler>(script); },
        plugin::SamplerSettings{{"cuda:1"}, {{"size", "4"}}}, windows);
    window.open();
    while (script.read < reads) std::this_thread::sleep_for(100us);
    std::this_thread::sleep_for(at_least);
    window.close();
    result::Repetition r;
    window.report(r, 0);
    EXPECT_EQ(windows.size(), 1U);
    return windows.at(0);
  }

  Script script;
  std::vector<result::SampledWindow> windows;
};

TEST_F(SamplerObserverTest, ReadsAtBothEndsOfTheWindowOnTheThreadThatOpensIt) {
  const auto window = sampled(1, 20ms);
  EXPECT_EQ(window.sampler, "fake");
  EXPECT_EQ(window.repetition, 3);
  EXPECT_EQ(window.rank, 2);
  EXPECT_EQ(window.readings, 2);
  EXPECT_EQ(script.edges, 2);
  EXPECT_EQ(script.on_other_threads, 0);
  ASSERT_EQ(window.series.size(), 1U);
  const auto& count = window.series[0];
  EXPECT_EQ(count.device + " " + count.metric + " " + count.unit, "cpu count 1");
  EXPECT_EQ(count.numbers, (std::vector<double>{1, 2}));
  ASSERT_EQ(count.times_s.size(), 2U);
  EXPECT_LT(count.times_s[0], 0.020);
  EXPECT_GE(count.times_s[1], 0.020);
  EXPECT_GE(*window.window_s, count.times_s[1]);
  EXPECT_TRUE(window.problem.empty());
}

TEST_F(SamplerObserverTest, ReadsOncePerPeriodOnAThreadOfItsOwn) {
  script.period = 2ms;
  const auto window = sampled(6);
  EXPECT_EQ(script.on_other_threads, script.read - 2);
  EXPECT_EQ(window.readings, script.read);
  const auto& times = window.series.at(0).times_s;
  for (std::size_t i = 1; i + 1 < times.size(); ++i)
    EXPECT_GE(times[i], static_cast<double>(i) * 0.002 - 1e-4);
}

TEST_F(SamplerObserverTest, MissedPeriodsAreNotMadeUpFor) {
  script.period = 1ms;
  script.takes = 5ms;
  const auto window = sampled(1, 40ms);
  EXPECT_LE(window.readings, *window.window_s / 0.005 + 1);
}

TEST_F(SamplerObserverTest, TheCostIsTheCpuTimeOfItsThread) {
  script.period = 1ms;
  script.readings = [](int) {
    const auto until = std::chrono::steady_clock::now() + 1ms;
    while (std::chrono::steady_clock::now() < until) {
    }
    return std::vector<Reading>{};
  };
  const auto window = sampled(10);
  EXPECT_GT(*window.cpu_s, 1e-3);
  EXPECT_LE(*window.cpu_s, *window.window_s);
}

TEST_F(SamplerObserverTest, TheSamplerGetsTheDevicesAndItsOptions) {
  sampled();
  EXPECT_EQ(script.settings.devices, std::vector<std::string>{"cuda:1"});
  EXPECT_EQ(script.settings.options.at("size"), "4");
}

TEST_F(SamplerObserverTest, OneThatCannotOpenEndsWithItsReason) {
  script.refuses = "there is\nno meter here";
  const auto window = sampled(0);
  EXPECT_EQ(window.problem, "there is\\nno meter here");
  EXPECT_EQ(window.readings, 0);
  EXPECT_EQ(script.read, 0);
  EXPECT_FALSE(window.cpu_s);
}

TEST_F(SamplerObserverTest, OneThatFailsOnItsThreadIsLeftAloneAndKeepsWhatItRead) {
  script.period = 1ms;
  script.fails_at = 3;
  const auto window = sampled(3, 10ms);
  EXPECT_EQ(window.problem, "it broke (after 2 readings)");
  EXPECT_EQ(script.read, 3);
  EXPECT_EQ(window.series.at(0).numbers, (std::vector<double>{1, 2}));
}

TEST_F(SamplerObserverTest, APeriodWithoutLengthIsRefused) {
  script.period = 0ns;
  EXPECT_EQ(sampled(0).problem, "it asks for a reading every 0 ns; the shortest period is 100000 ns");
}

TEST_F(SamplerObserverTest, NumbersThatAreNotFiniteAreLeftOut) {
  script.readings = [](int n) {
    return std::vector<Reading>{{"cpu", "x", "W", n == 1 ? std::numeric_limits<double>::quiet_NaN() : 2.0}};
  };
  const auto window = sampled();
  EXPECT_EQ(window.readings, 2);
  EXPECT_EQ(window.series.at(0).numbers, std::vector<double>{2});
  EXPECT_EQ(window.series.at(0).times_s.size(), 1U);
}

TEST_F(SamplerObserverTest, AMetricHasNumbersOrWords) {
  script.readings = [](int n) {
    return std::vector<Reading>{{"cpu", "state", "", std::string("on")},
                                {"cpu", "x", "W", n == 1 ? plugin::Reading{}.value : std::string("off")}};
  };
  const auto window = sampled();
  EXPECT_EQ(window.problem, "metric 'x' of 'cpu' has numbers and words (after 1 reading)");
  EXPECT_EQ(window.series.at(0).words.front(), "on");
}

TEST(Samplers, OfAPassThatCannotBeLoadedSayWhy) {
  pass::PassSpec spec;
  spec.plugins = {{plugin::Role::kEngine, "e", "e.so", {}},
                  {plugin::Role::kSampler, "gone", "/nowhere/gone.so", {}},
                  {plugin::Role::kSampler, "absent", "", {}}};
  std::vector<result::SampledWindow> windows;
  {
    MeasuredWindow window;
    add_samplers(window, spec, 1, windows);
    window.open();
    window.close();
    result::Repetition r;
    window.report(r, 0);
  }
  ASSERT_EQ(windows.size(), 2U);  // in reverse order
  EXPECT_EQ(windows[0].problem, "no plug-in on this host brings it");
  EXPECT_NE(windows[1].problem.find("cannot load plug-in '/nowhere/gone.so'"), std::string::npos);
}

TEST(Samplers, WatchTheDevicesOfThePass) {
  using Devices = std::vector<std::string>;
  pass::PassSpec spec;
  EXPECT_EQ(watched_devices(spec, 0), Devices{"cpu"});
  spec.settings.options["device"] = "cuda:2";
  EXPECT_EQ(watched_devices(spec, 0), Devices{"cuda:2"});
  spec.settings.options["device"] = "cuda:0";
  spec.inference.load.instances = 4, spec.inference.load.instances_per_device = 2;
  EXPECT_EQ(watched_devices(spec, 4), (Devices{"cuda:0", "cuda:1"}));
  spec.inference.load.devices = {3, 1};
  EXPECT_EQ(watched_devices(spec, 4), (Devices{"cuda:3", "cuda:1"}));
  pass::PassSpec rank;
  rank.kind = pass::PassKind::kTrain;
  EXPECT_EQ(watched_devices(rank, 2), Devices{"cpu"});
  rank.ranks.device = "cuda:0";
  EXPECT_EQ(watched_devices(rank, 0), Devices{"cuda:0"});
  EXPECT_EQ(watched_devices(rank, 2), (Devices{"cuda:0", "cuda:1"}));
}

}  // namespace
}  // namespace paceline::workload
