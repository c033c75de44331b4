// SPDX-License-Identifier: MIT
// Parts of stored cases, step files and traces.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "analysis/difference/explanation.h"
#include "analysis/difference/layer_parts.h"
#include "analysis/difference/step_parts.h"
#include "analysis/difference/stored_parts.h"
#include "analysis/traces/trace_cycles.h"
#include "analysis/traces/trace_folder.h"
#include "base/file.h"
#include "base/host_times.h"
#include "base/scratch_folder.h"
#include "stats/spread.h"
#include "support/simulated_training.h"
#include "synthetic_net.h"

namespace paceline::analysis::difference {
namespace {

using ::paceline::testing::simulate;
using ::paceline::testing::SimulatedTraining;
using result::LayerRow;
using ::testing::HasSubstr;
using ::testing::StartsWith;

double sum_of_means(const TimedParts& side) {
  double sum = 0;
  for (const auto& part : side.parts) sum += part.times_ns.empty() ? 0 : stats::mean(part.times_ns);
  return sum;
}

std::vector<LayerRow> layers_of(const Net& net, int side) {
  std::vector<LayerRow> rows;
  for (const auto& part : measured(net, 1, side, 7).parts)
    rows.push_back({part.is.name, part.is.category, part.is.precision, "", 1.0, {}, part.times_ns});
  return rows;
}

// A case whose processes have these mean latencies, and no medians.
result::CaseResult case_with(const std::vector<double>& means_ns) {
  result::CaseResult one;
  one.case_id = "one";
  for (const double ns : means_ns) one.repetitions.emplace_back().mean_ns = ns;
  return one;
}

TEST(LayerParts, SixProcessesAreTheWhole) {
  const auto side = layer_parts(case_with({10, 11, 12, 10, 11, 12}), layers_of(net_of(1), 0));
  EXPECT_EQ(side.total_ns, (std::vector<double>{10, 11, 12, 10, 11, 12}));
  EXPECT_EQ(side.unit_words, "inference");
  EXPECT_EQ(side.parts.at(0).is.category, "Conv");
  EXPECT_EQ(side.parts.at(0).times_ns.size(), 7U);
}

TEST(LayerParts, TheWholeIsTheMedianOfEachProcess) {
  auto one = case_with({100, 110, 120, 100, 110, 120});
  for (auto& repetition : one.repetitions) repetition.p50_ns = *repetition.mean_ns / 10;
  EXPECT_EQ(layer_parts(one, layers_of(net_of(1), 0)).total_ns,
            (std::vector<double>{10, 11, 12, 10, 11, 12}));
}

TEST(LayerParts, FewerProcessesLeaveTheSumsOfProfiles) {
  const auto side = layer_parts(case_with({10, 11, 12}), layers_of(net_of(1), 0));
  ASSERT_EQ(side.total_ns.size(), 7U);
  EXPECT_NEAR(stats::mean(side.total_ns), sum_of_means(side), 1e-6 * sum_of_means(side));
  EXPECT_EQ(side.unit_words, "profiled inference");
}

TEST(LayerParts, LayersThatAProfileLacksAreNotTimed) {
  auto layers = layers_of(net_of(1), 0);
  layers[2].times_ns.pop_back();
  const auto side = layer_parts(case_with({}), layers);
  EXPECT_TRUE(side.parts[2].times_ns.empty());
  EXPECT_EQ(side.total_ns.size(), 7U);
}

TEST(LayerParts, OneTimePerLayerIsNoSpread) {
  const std::vector<LayerRow> old{{"a", "Conv", "fp32", "", 5.0, {}}};
  const auto side = layer_parts(case_with({10, 11, 12, 10, 11, 12}), old);
  EXPECT_THAT(explain(side, side).no_claim, HasSubstr("one time each"));
}

class StoredParts : public ::testing::Test {
 protected:
  // A run of one case whose layers.csv has this net.
  result::StoredRun store(const std::string& name, const Net& net, int side) {
    const auto folder = folder_.path() / name;
    std::filesystem::create_directories(folder);
    auto rows = layers_of(net, side);
    auto one = case_with({1, 2, 3});
    one.layer_profile = result::summarize_layers(rows, 1.0);
    one.layer_profile.file = "layers.csv";
    replace_file(folder / "layers.csv", result::layers_to_csv(rows));
    replace_file(folder / result::kSummaryFile, "{}");
    result::StoredRun stored{folder, {}};
    stored.run.cases.push_back(one);
    return stored;
  }
  ScratchFolder folder_ = ScratchFolder::below_temp("stored_parts");
};

TEST_F(StoredParts, TwoRunsAreExplainedByTheirLayers) {
  const Net a = net_of(2);
  Net b = a;
  const auto at = long_conv(a, 0);
  b[at].ns *= 2;
  const auto left = store("a", a, 0), right = store("b", b, 1);
  const auto one = explain(stored_parts(left, left.run.cases[0]), stored_parts(right, right.run.cases[0]));
  ASSERT_FALSE(one.rows.empty()) << one.no_claim;
  EXPECT_EQ(one.rows[0].what, a[at].is.name);
}

TEST_F(StoredParts, WhatLacksIsSaid) {
  auto stored = store("a", net_of(2), 0);
  auto& one = stored.run.cases[0];
  std::filesystem::remove(stored.folder / "layers.csv");
  EXPECT_EQ(stored_parts(stored, one).missing, "layers.csv is not in its folder");
  one.layer_profile = {};
  EXPECT_THAT(stored_parts(stored, one).missing, HasSubstr("--layer-profile"));
  one.payload.emplace<result::Training>();
  EXPECT_EQ(stored_parts(stored, one).missing, "there are no steps of its ranks");
  one.payload.emplace<result::CollectiveResult>();
  EXPECT_FALSE(stored_parts(stored, one).missing.empty());
}

// Launches on the host explain nothing of a device.
TEST_F(StoredParts, LayersOfADeviceNeedItsTimes) {
  auto stored = store("a", net_of(2), 0);
  auto& one = stored.run.cases[0];
  one.layer_profile.source = "a profiler: kernels and copies on the device";
  EXPECT_EQ(stored_parts(stored, one).missing, "");
  one.layer_profile.source = fmt::format("a profiler: it saw no kernels, so that {}", kHostTimes);
  EXPECT_THAT(stored_parts(stored, one).missing, HasSubstr("not those of the device"));
}

TEST_F(StoredParts, OperatorsComeFromTheTraceOfAProfile) {
  auto stored = store("a", net_of(2), 0);
  auto& one = stored.run.cases[0];
  EXPECT_EQ(stored_operator_parts(stored, one).missing, "no steps of it were profiled");
  one.operator_profile.emplace().trace = "trace_rank0.json.gz";
  EXPECT_EQ(stored_operator_parts(stored, one).missing, "its trace is not in its folder");
  const auto trace = std::filesystem::path(TEST_DATA) / "traces" / "h200_rank0.json.gz";
  std::filesystem::copy_file(trace, stored.folder / "trace_rank0.json.gz");
  const auto side = stored_operator_parts(stored, one);
  EXPECT_EQ(side.missing, "");
  EXPECT_EQ(side.parts.size(), trace_operator_parts(traces::traces_in(trace).ranks).parts.size());
}

TEST(StepParts, AddUpToTheStep) {
  const auto side = step_parts(simulate({.gb_per_s = 0.4}).ranks);
  EXPECT_EQ(side.missing, "");
  EXPECT_GT(side.total_ns.size(), 40U);
  EXPECT_NEAR(stats::mean(side.total_ns), sum_of_means(side), 1);
}

TEST(StepParts, NameTheLateRankInAllSeeds) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const SimulatedTraining on_time{.seed = seed};
    SimulatedTraining late = on_time;
    late.seed += 100;
    late.delays = {{.rank = 3, .where = result::OwnPart::kBackward, .ms = 12}};
    const auto a = step_parts(simulate(on_time).ranks), b = step_parts(simulate(late).ranks);
    const auto one = explain(a, b);
    ASSERT_FALSE(one.rows.empty()) << one.no_claim;
    EXPECT_EQ(one.rows[0].what, "waiting for late ranks");
    EXPECT_THAT(one.rows[0].cause, StartsWith("waits for rank 3, the last in "));
  }
}

TEST(StepParts, NameASlowLoaderOfAllRanks) {
  const SimulatedTraining quick{.seed = 3};
  SimulatedTraining slow = quick;
  slow.delays = {{.where = result::OwnPart::kDataWait, .ms = 6}};
  const auto one = explain(step_parts(simulate(quick).ranks), step_parts(simulate(slow).ranks));
  ASSERT_FALSE(one.rows.empty()) << one.no_claim;
  EXPECT_EQ(one.rows[0].what, "data");
  EXPECT_NEAR(one.rows[0].difference_ns, 6e6, 0.5e6);
}

TEST(StepParts, WithoutStepsThereIsAReason) {
  EXPECT_EQ(step_parts({}).missing, "there are no steps of its ranks");
  EXPECT_FALSE(bucket_parts({}).missing.empty());
  EXPECT_FALSE(bucket_parts(simulate({.ranks = 1, .bucket_bytes = {}}).ranks).missing.empty());
}

TEST(BucketParts, NameTheAllReduceOfASlowLink) {
  const SimulatedTraining quick{.bucket_bytes = {1 << 20, 25'000'000, 1 << 20}, .gb_per_s = 4};
  SimulatedTraining slow = quick;
  slow.gb_per_s = 1;
  const auto one = explain(bucket_parts(simulate(quick).ranks), bucket_parts(simulate(slow).ranks));
  ASSERT_FALSE(one.rows.empty()) << one.no_claim;
  EXPECT_EQ(one.rows[0].what, "all-reduce of 25.0 MB");
}

// Six processes, each with a little noise; `slow` multiplies the time of 1 MiB.
result::MediansBySize sweep(double slow, int seed) {
  result::MediansBySize medians;
  const CounterRng noise(static_cast<std::uint64_t>(seed), 9);
  for (const std::int64_t bytes : {1 << 10, 1 << 20, 1 << 22})
    for (std::int64_t r = 0; r < 6; ++r)
      medians[{bytes, false}][r] = (5e3 + static_cast<double>(bytes) * (bytes == 1 << 20 ? slow : 1)) *
                                   (1 + 0.01 * noise.normal(static_cast<std::uint64_t>(r + bytes)));
  return medians;
}

result::CaseResult swept() {
  result::CaseResult one;
  one.payload.emplace<result::CollectiveResult>().operation = "all_reduce";
  return one;
}

TEST(SizeParts, NameTheSizeThatIsSlower) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto one = explain(size_parts(swept(), sweep(1, seed)), size_parts(swept(), sweep(2, seed + 100)));
    ASSERT_FALSE(one.rows.empty()) << one.no_claim;
    EXPECT_EQ(one.rows[0].what, "all_reduce of 1.05 MB");
    EXPECT_NEAR(one.rows[0].difference_ns, 1 << 20, 0.1 * (1 << 20));
  }
}

TEST(SizeParts, ProcessesThatLackASizeDoNotCount) {
  auto medians = sweep(1, 1);
  medians[{1 << 22, false}].erase(3);
  const auto side = size_parts(swept(), medians);
  EXPECT_EQ(side.total_ns.size(), 5U);
  EXPECT_THAT(explain(side, side).no_claim, HasSubstr("at least 6"));
  EXPECT_FALSE(size_parts(swept(), {}).missing.empty());
}

std::vector<traces::RankTrace> traces_of(const std::string& name) {
  return traces::traces_in(std::filesystem::path(TEST_DATA) / "traces" / name).ranks;
}

TEST(TraceParts, TimesByStepAddUpToThoseOfAllSteps) {
  for (const auto* name : {"job_rank0.json.gz", "h200_rank0.json.gz"}) {
    const auto ranks = traces_of(name);
    ASSERT_EQ(ranks.size(), 1U);
    for (const auto& op : ranks[0].operators) {
      const auto sum = [](const traces::TimesByStep& times) {
        return std::accumulate(times.begin(), times.end(), std::int64_t{0});
      };
      EXPECT_EQ(sum(op.host_by_step), op.host_ns) << op.name;
      EXPECT_EQ(sum(op.device_by_step), op.device_ns) << op.name;
      for (const auto& kernel : op.kernels) EXPECT_EQ(sum(kernel.device_by_step), kernel.device_ns);
      EXPECT_LE(op.host_by_step.size(), ranks[0].steps.size());
    }
  }
}

TEST(TraceParts, AreKernelsOfADeviceAndElseOperators) {
  const auto host = trace_operator_parts(traces_of("job_rank0.json.gz"));
  EXPECT_EQ(host.parts.at(0).is.category, "operator");
  const auto device = trace_operator_parts(traces_of("h200_rank0.json.gz"));
  EXPECT_THAT(device.parts.at(0).is.category, StartsWith("kernel"));
  EXPECT_LE(sum_of_means(host), stats::mean(host.total_ns) * 1.05);
  EXPECT_FALSE(trace_operator_parts({}).missing.empty());
}

// The trace of a job in which one operator takes longer, and one kernel was replaced.
TEST(TraceParts, ASlowedOperatorIsNamed) {
  auto ranks = traces_of("job_rank0.json.gz");
  const auto a = trace_operator_parts(ranks);
  ASSERT_GE(a.total_ns.size(), kFewestTimes);
  auto& op = ranks[0].operators.at(1);
  for (std::size_t i = 0; i < ranks[0].steps.size(); ++i) {
    const auto more = ranks[0].steps[i].length;
    op.host_by_step.resize(ranks[0].steps.size());
    op.host_by_step[i] += more, ranks[0].steps[i].length += more;
  }
  const auto one = explain(a, trace_operator_parts(ranks));
  ASSERT_FALSE(one.rows.empty()) << one.no_claim;
  EXPECT_EQ(one.rows[0].what, op.name);
}

TEST(TraceParts, AnotherKernelOfAnOperatorIsOneRow) {
  const Net net{{{"kernel of aten::mm", "sgemm_64x64", "aten::mm"}, 1e6},
                {{"kernel of aten::add", "elementwise", "aten::add"}, 2e5}};
  Net replaced = net;
  replaced[0].is.name = "sgemm_128x32", replaced[0].ns = 2e6;
  auto a = measured(net, 1, 0), b = measured(replaced, 1, 1);
  a.ordered = b.ordered = false;
  const auto one = explain(a, b);
  ASSERT_FALSE(one.rows.empty()) << one.no_claim;
  EXPECT_EQ(one.rows[0].what, "aten::mm (sgemm_64x64) → aten::mm (sgemm_128x32)");
  EXPECT_EQ(one.rows[0].cause, "another kernel");
}

// A second recording of the same process has its times behind those of the first.
TEST(TraceParts, JoinedRecordingsKeepTheOrderOfSteps) {
  traces::RankTrace first;
  first.rank = 0, first.base_ns = 0, first.operator_steps = 2;
  for (std::int64_t k = 0; k < 2; ++k) {
    auto& step = first.steps.emplace_back();
    step.number = 1 + k, step.begin = 10 * k, step.length = 10;
  }
  first.operators = {
      {.name = "mm", .calls = 1, .device_ns = 3, .kernels = {{"k", 1, 3, {3}}}, .device_by_step = {3}}};
  auto second = first;
  second.base_ns = 1000;
  second.steps[0].number = 5, second.steps[1].number = 6;
  second.operators.push_back({.name = "add", .calls = 1, .host_ns = 7, .host_by_step = {0, 7}});
  std::vector<traces::RankTrace> ranks{first, second};
  traces::join_recordings(ranks);
  ASSERT_EQ(ranks.size(), 1U);
  const auto& operators = ranks[0].operators;
  ASSERT_EQ(operators.size(), 2U);
  EXPECT_EQ(operators[0].device_by_step, (traces::TimesByStep{3, 0, 3}));
  EXPECT_EQ(operators[0].kernels.at(0).device_by_step, (traces::TimesByStep{3, 0, 3}));
  EXPECT_EQ(operators[1].host_by_step, (traces::TimesByStep{0, 0, 0, 7}));
  EXPECT_EQ(ranks[0].operator_steps, 4);
}

TEST(TraceParts, StepPartsAddUp) {
  const auto side = trace_step_parts(
      traces::traces_in(std::filesystem::path(TEST_DATA) / "traces" / "job_rank0.json.gz").ranks);
  EXPECT_EQ(side.missing, "");
  EXPECT_NEAR(stats::mean(side.total_ns), sum_of_means(side), 1);
}

}  // namespace
}  // namespace paceline::analysis::difference
