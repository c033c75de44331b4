// SPDX-License-Identifier: MIT
// Which metrics concern which cases, and which of them are valid in spite of noise or a failed check.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "result/metric_table.h"

namespace paceline::result {
namespace {

using Names = std::set<std::string_view>;

template <typename Predicate>
Names names_where(const Predicate& predicate) {
  Names names;
  for (const auto& metric : metrics())
    if (predicate(metric)) names.insert(metric.name);
  return names;
}

Names gained(const CaseResult& before, const CaseResult& after) {
  return names_where([&](const Metric& m) { return !m.concerns(before) && m.concerns(after); });
}

TEST(MetricTopics, ACaseGainsTheMetricsOfWhatItHas) {
  CaseResult bare, with;
  with.payload = Load();
  EXPECT_EQ(gained(bare, with).size(), 13U);
  EXPECT_TRUE(gained(bare, with).contains("capacity_per_s"));
  with = bare, with.cross_check.asked = true;
  EXPECT_EQ(gained(bare, with), Names{"cross_check_ratio"});
  with = bare, with.device_p50_ns.value = 1e6;
  EXPECT_EQ(gained(bare, with), (Names{"device_p50_ms", "device_share", "device_p99_ms"}));
  with = bare, with.cpu_power.emplace_back();
  EXPECT_EQ(gained(bare, with).size(), 5U);
}

TEST(MetricTopics, MemoryInUseConcernsCasesWithDevicesOnly) {
  CaseResult bare, with;
  with.devices.emplace_back();
  const auto found = gained(bare, with);
  EXPECT_TRUE(found.contains("device_used_mb") && found.contains("power_w"));
  EXPECT_FALSE(found.contains("memory_mb"));
  EXPECT_TRUE(find_metric("memory_mb")->concerns(bare));
}

TEST(MetricTopics, KindsHaveDifferentMetrics) {
  CaseResult inference, trained, collective;
  trained.benchmark.kind = WorkloadKind::kTraining, trained.payload = Training();
  collective.benchmark.kind = WorkloadKind::kCollective;
  EXPECT_EQ(gained(collective, inference).size(), 12U);  // of the check, and of the model file
  const auto of_training = gained(inference, trained);
  EXPECT_EQ(of_training.size(), 14U);
  EXPECT_TRUE(of_training.contains("loss") && of_training.contains("efficiency"));
  EXPECT_FALSE(find_metric("top1_agreement")->concerns(trained));
  trained.outcome = Outcome::kFailed;
  EXPECT_FALSE(find_metric("loss")->concerns(trained));
}

TEST(MetricTopics, ChecksRatiosAndSizesOutliveNoise) {
  const auto of_check = names_where([](const Metric& m) { return m.topic.of_check; });
  const auto valid = names_where([](const Metric& m) { return m.topic.outlives_noise; });
  EXPECT_EQ(of_check.size(), 10U);
  for (const auto name : of_check) EXPECT_TRUE(valid.contains(name)) << name;
  for (const auto name : {"speedup", "efficiency", "memory_mb", "device_used_mb", "model_mb", "loss"})
    EXPECT_TRUE(valid.contains(name)) << name;
  EXPECT_FALSE(valid.contains("p50_ms") || valid.contains("throughput_per_s"));
}

}  // namespace
}  // namespace paceline::result
