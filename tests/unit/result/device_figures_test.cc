// SPDX-License-Identifier: MIT
// Facts about the GPU in a result: its memory, and what kept its clock down.
#include <gtest/gtest.h>

#include "result/figures/peak_memory.h"
#include "result/judged/noise_rules.h"
#include "result/metric_table.h"
#include "result/stored/benchmark_params.h"
#include "result/stored/case_fields.h"

namespace paceline::result {
namespace {

CaseResult on(const std::string& device) {
  CaseResult one;
  set_device(one.benchmark, device);
  one.memory.rss_peak_above_load_bytes = 1'658'220'544;
  one.memory.tensor_peak_bytes = 12'127'715'840;
  return one;
}

TEST(PeakMemory, OnADeviceItIsTheDevices) {
  EXPECT_EQ(peak_memory(on("cuda")), Count(12'127'715'840));
  EXPECT_EQ(peak_memory(on("cuda:1")), Count(12'127'715'840));
  EXPECT_EQ(peak_memory(on("")), Count(1'658'220'544));
  EXPECT_EQ(peak_memory(on("cpu")), Count(1'658'220'544));
  auto plan = on("");
  plan.benchmark.engine = "tensorrt";
  EXPECT_TRUE(on_device(plan.benchmark));
}

TEST(PeakMemory, HostAndDeviceAreMetricsOfTheirOwn) {
  const auto mb = [](const char* metric, const CaseResult& one) {
    return *find_metric(metric)->get(one).value;
  };
  EXPECT_DOUBLE_EQ(mb("memory_mb", on("cuda")), 12127.71584);
  EXPECT_DOUBLE_EQ(mb("host_memory_mb", on("cuda")), 1658.220544);
  EXPECT_DOUBLE_EQ(mb("memory_mb", on("")), 1658.220544);
  auto silent = on("cuda");
  silent.memory.tensor_peak_bytes = Count::missing("this engine reports none");
  EXPECT_FALSE(find_metric("memory_mb")->get(silent).value);  // never the host's instead
}

TEST(DeviceSlowdown, ReasonsBecomeWords) {
  const auto text = slowdown_text({{"power cap", 0.5}, {"thermal slowdown", 0.125}});
  EXPECT_EQ(text, "power cap in 50.0 % of the samples, thermal slowdown in 12.5 % of the samples");
  EXPECT_EQ(slowdown_text({}), "");
}

// A rank that is slowed down by a reason which nobody foresaw keeps it as a value.
TEST(DeviceSlowdown, IsStoredAsAValueBesideItsWords) {
  RankEvidence evidence, back;
  evidence.device_slowdowns = {{"a reason, in words", 0.0004}, {"power cap", 0.5}};
  const auto json = Writer::write(evidence);
  EXPECT_EQ(json.at("device_slowdown"), slowdown_text(evidence.device_slowdowns));
  Reader::read(json, "", back);
  ASSERT_EQ(back.device_slowdowns.size(), 2U);
  EXPECT_EQ(back.device_slowdowns[0].reason, "a reason, in words");
  EXPECT_DOUBLE_EQ(back.device_slowdowns[0].share, 0.0004);
}

using Slowdowns = std::vector<DeviceSlowdown>;

CaseResult trained(const std::vector<Slowdowns>& of_ranks) {
  CaseResult one;
  one.benchmark.device = "cuda";
  auto& ranks = one.payload.emplace<Training>().ranks;
  for (const auto& slowdowns : of_ranks) {
    auto& e = ranks.emplace_back().evidence;
    e.device_mhz = 1961.25, e.device_slowdowns = slowdowns;
  }
  one.repetitions.emplace_back().payload = one.payload;
  return one;
}

TEST(DeviceSlowdown, ThePowerCapWarnsAndNeverMakesACaseInvalid) {
  auto one = trained({Slowdowns{}, Slowdowns{{"power cap", 0.5}}});
  apply_noise_rules(one, NoiseProfile::kShared);
  EXPECT_EQ(one.grade, Grade::kB);
  EXPECT_EQ(one.grade_reasons,
            std::vector<std::string>{"the GPU was at its power cap in 50 % of the samples"});
}

TEST(DeviceSlowdown, HeatDoesFrom5PercentOn) {
  auto hot = trained({Slowdowns{{"thermal slowdown", 0.8}, {"power cap", 0.1}}});
  apply_noise_rules(hot, NoiseProfile::kShared);
  EXPECT_EQ(hot.grade, Grade::kC);
  ASSERT_EQ(hot.grade_reasons.size(), 2U);
  EXPECT_EQ(hot.grade_reasons[0],
            "heat or its power supply slowed the GPU down in 80.0 % of the samples (limit 5.0 %)");
  auto warm = trained({Slowdowns{{"hardware slowdown", 0.04}}});
  apply_noise_rules(warm, NoiseProfile::kShared);
  EXPECT_EQ(warm.grade, Grade::kB);
  auto cool = trained({Slowdowns{}, Slowdowns{}});
  apply_noise_rules(cool, NoiseProfile::kShared);
  EXPECT_EQ(cool.grade, Grade::kA);
}

TEST(Instrument, ACaseUnderAToolIsNotComparable) {
  CaseResult one;
  one.noise.instrument = "ncu (Nsight Compute)";
  apply_noise_rules(one, NoiseProfile::kShared);
  EXPECT_EQ(one.grade, Grade::kC);
  EXPECT_EQ(one.grade_reasons,
            std::vector<std::string>{"not comparable: it was measured under ncu (Nsight Compute)"});
}

}  // namespace
}  // namespace paceline::result
