// SPDX-License-Identifier: MIT
// Grades where the device decides.
#include <gtest/gtest.h>

#include "base/step_clock.h"
#include "result/figures/device_figures.h"
#include "result/judged/noise_rules.h"

namespace paceline::result {
namespace {

// Wall time 10 ms; a host that spoils everything.
CaseResult disturbed(double device_ms) {
  CaseResult one;
  one.benchmark.device = "cuda:0";
  one.headline.p50_ns.value = 10e6;
  one.device_p50_ns.value = device_ms * 1e6;
  one.noise.foreign_cpu_frac = 0.5;
  one.noise.cgroup_throttled = 3;
  one.overhead.calibration_drift = 0.3;
  return one;
}

TEST(DeviceDecides, TheHostsNoiseIsRecordedAndDoesNotCount) {
  auto one = disturbed(9.5);
  apply_noise_rules(one, NoiseProfile::kShared);
  EXPECT_EQ(one.grade, Grade::kA);
  EXPECT_TRUE(one.grade_reasons.empty());
  ASSERT_EQ(one.noise.warnings.size(), 3U);
  EXPECT_EQ(one.noise.warnings[2],
            "the cost of timing changed by 30.0 % between start and end (limit 20.0 %); it does not count, "
            "because the "
            "device decides");
  auto host = disturbed(9.4);
  apply_noise_rules(host, NoiseProfile::kShared);
  EXPECT_EQ(host.grade, Grade::kC);
  EXPECT_EQ(host.grade_reasons.size(), 3U);
  EXPECT_EQ(host.grade_reasons, host.noise.warnings);
}

// The device waits for its launches in what its events call its time.
TEST(DeviceDecides, NotWhereTheHostNeedsAsLongToStartAnInference) {
  auto one = disturbed(9.8);
  EXPECT_TRUE(device_decides(one));
  auto& part = one.device_parts.emplace_back();
  part.name = "enqueue", part.p50_ns = 8.8e6;
  EXPECT_TRUE(device_decides(one));  // 8.8 of 9.8 ms
  part.p50_ns = 8.9e6;
  EXPECT_FALSE(device_decides(one));
  one.effective_settings["io"] = "inputs and outputs copied from and to pageable memory";
  EXPECT_TRUE(device_decides(one));  // enqueue waits for the copies
}

// The parts of a step span the pauses between kernels.
TEST(DeviceDecides, NotWhereADeviceThatTrainsIsIdle) {
  CaseResult one;
  one.effective_settings[kStepTimes] = kOnDeviceClock;
  auto& shares = one.payload.emplace<Training>().shares;
  shares[StepPart::kInput] = 0.01, shares[StepPart::kForward] = 0.3, shares[StepPart::kBackward] = 0.6,
  shares[StepPart::kOptimizer] = 0.08;
  EXPECT_TRUE(device_decides(one));
  auto& state = one.devices.emplace_back();
  state.readings = 30, state.utilization_mean = 0.94;
  EXPECT_FALSE(device_decides(one));
  state.readings = 29;  // the driver's figure is of up to a second before
  EXPECT_TRUE(device_decides(one));
}

TEST(DeviceDecides, ByClockSlopeAndProcesses) {
  const auto grade_with = [](auto change) {
    auto one = disturbed(9.97);
    one.devices.emplace_back().slowdown_read = true;
    change(one);
    apply_noise_rules(one, NoiseProfile::kShared);
    return one;
  };
  EXPECT_EQ(grade_with([](CaseResult&) {}).grade, Grade::kA);
  EXPECT_EQ(grade_with([](CaseResult& c) { c.devices[0].sm_clock_cv = 0.01; }).grade, Grade::kA);
  const auto unsteady = grade_with([](CaseResult& c) { c.devices[0].sm_clock_cv = 0.04; });
  EXPECT_EQ(unsteady.grade, Grade::kB);
  EXPECT_EQ(unsteady.grade_reasons.at(0), "the clock of the GPU varied by 4.0 % (limit 1.0 %)");
  EXPECT_EQ(grade_with([](CaseResult& c) { c.devices[0].sm_clock_cv = 0.051; }).grade, Grade::kC);
  const auto capped = grade_with([](CaseResult& c) {
    c.devices[0].sm_clock_cv = 0.2, c.devices[0].slowdowns = {{"power cap", 0.5}};
  });
  EXPECT_EQ(capped.grade, Grade::kB);  // the cap explains the clock
  EXPECT_EQ(capped.grade_reasons,
            std::vector<std::string>{"the GPU was at its power cap in 50 % of the samples"});
  EXPECT_EQ(grade_with([](CaseResult& c) {
              c.devices[0].slowdowns = {{"power brake", 0.06}};
            }).grade,
            Grade::kC);
  const auto both = grade_with([](CaseResult& c) {
    c.devices[0].slowdowns = {{"power cap", 0.21}};
    auto& rank = c.repetitions.emplace_back().payload.emplace<Training>().ranks.emplace_back();
    rank.evidence.device_slowdowns = {{"power cap", 0.222}};
  });
  EXPECT_EQ(both.grade_reasons,  // the sampler's, where both were read
            std::vector<std::string>{"the GPU was at its power cap in 21 % of the samples"});
  const auto shared = grade_with([](CaseResult& c) { c.devices[0].other_processes = 2; });
  EXPECT_EQ(shared.grade, Grade::kB);
  EXPECT_EQ(shared.grade_reasons.at(0), "other processes used the GPU, up to 2 at once");
  const auto slope = [](double device, double host) {
    return [=](CaseResult& c) {
      c.noise.drift_z = c.noise.device_drift_z = 5.0;
      c.noise.device_drift_frac = device, c.noise.drift_frac = host;
    };
  };
  EXPECT_EQ(grade_with(slope(0.02, 0)).grade, Grade::kB);
  EXPECT_EQ(grade_with(slope(0, 0.02)).grade, Grade::kA);
}

TEST(DeviceDecides, NothingAboutRequestsThatWaitForOthers) {
  auto one = disturbed(9.97);
  EXPECT_EQ(device_share(one), Number(0.997));
  EXPECT_TRUE(device_decides(one));
  one.payload.emplace<Load>();
  EXPECT_FALSE(device_decides(one));
}

}  // namespace
}  // namespace paceline::result
