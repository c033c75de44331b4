// SPDX-License-Identifier: MIT
#include "result/figures/summarize.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/random.h"
#include "result/metric_table.h"
#include "stats/quantile.h"

namespace paceline::result {
namespace {

// R processes of n samples: 10 ms times the process's own factor, 1 % noise.
struct Synthetic {
  CaseResult result;
  std::vector<Sample> samples;
};
Synthetic make_case(const std::string& id, const std::vector<double>& factors, int n, double base_ns = 10e6) {
  Synthetic s;
  s.result.case_id = id;
  for (std::size_t r = 0; r < factors.size(); ++r) {
    const CounterRng rng(7, hash64(id) + r);
    std::vector<double> x;
    for (int i = 0; i < n; ++i) {
      const auto ns =
          std::llround(base_ns * factors[r] * (1 + 0.01 * rng.normal(static_cast<std::uint64_t>(i))));
      s.samples.push_back({static_cast<int>(r), 0, i, i * std::int64_t{11'000'000}, ns, {}, 0});
      x.push_back(static_cast<double>(ns));
    }
    Repetition repetition;
    repetition.index = static_cast<std::int64_t>(r);
    summarize_repetition(repetition, x);
    s.result.repetitions.push_back(repetition);
  }
  return s;
}

TEST(Summarize, UsesEverySample) {
  auto s = make_case("a", {1.0}, 100);
  summarize(s.result, s.samples, {});
  EXPECT_EQ(s.result.stats.n, 100);
  EXPECT_EQ(s.result.headline.scope, kWithinProcess);
  EXPECT_NEAR(*s.result.headline.p50_ns.value, 10e6, 0.05e6);
  ASSERT_TRUE(s.result.headline.p50_ns.ci_low);
  EXPECT_LT(*s.result.headline.p50_ns.ci_low, *s.result.headline.p50_ns.value);
}

TEST(Summarize, AProcessThatSleepsHasNoThroughput) {
  auto s = make_case("a", {1.0}, 100);
  s.result.benchmark.params["gap"] = "0";
  summarize(s.result, s.samples, {});
  EXPECT_NEAR(*s.result.throughput.per_s.value, 100, 1);
  s.result.benchmark.params["gap"] = "250ms";
  summarize(s.result, s.samples, {});
  const auto& rate = s.result.throughput.per_s;
  for (const auto* number : {&rate.value, &rate.ci_low, &rate.ci_high}) {
    EXPECT_FALSE(*number);
    EXPECT_EQ(number->reason(), "it sleeps between inferences");
  }
  EXPECT_NEAR(*s.result.headline.p50_ns.value, 10e6, 0.05e6);
}

TEST(Summarize, P99OfAHundredSamplesIsMissingNotTheMaximum) {
  auto s = make_case("a", {1.0}, 100);
  summarize(s.result, s.samples, {});
  const auto& p99 = s.result.stats.quantiles.back();
  EXPECT_EQ(p99.p, 0.99);
  EXPECT_FALSE(p99.value_ns);
  EXPECT_EQ(p99.value_ns.reason(), "insufficient_samples");
}

TEST(Summarize, SixProcessesGiveAnIntervalOverTheirMedians) {
  const std::vector<double> factors{1.00, 1.02, 0.98, 1.05, 0.97, 1.01};
  auto s = make_case("a", factors, 20);
  summarize(s.result, s.samples, {});
  EXPECT_EQ(s.result.headline.scope, kBetweenProcess);
  double low = 1e300, high = 0;
  for (const auto& r : s.result.repetitions) low = std::min(low, *r.p50_ns), high = std::max(high, *r.p50_ns);
  EXPECT_EQ(*s.result.headline.p50_ns.ci_low, low);  // ranks 1 and 6 of 6
  EXPECT_EQ(*s.result.headline.p50_ns.ci_high, high);
  EXPECT_GT(*s.result.headline.between_spread, 0.01);
}

// A small drift without noise is more certain than a large one with noise, and less harmful.
TEST(Summarize, OfCertainDriftsTheLargestCounts) {
  constexpr int kSamples = 200;
  auto s = make_case("a", {1.0, 1.0}, kSamples);
  const std::array<double, 2> drifts{0.008, 0.03}, noise{0.0, 0.01};
  const CounterRng rng(5, 1);
  for (auto& sample : s.samples) {
    const auto r = static_cast<std::size_t>(sample.repetition);
    const double trend = drifts.at(r) * static_cast<double>(sample.index) / kSamples;
    sample.host_ns =
        std::llround(10e6 * (1 + trend + noise.at(r) * rng.normal(static_cast<std::uint64_t>(sample.index))));
  }
  summarize(s.result, s.samples, {});
  EXPECT_GT(*s.result.noise.drift_frac, 0.02);
  EXPECT_GT(*s.result.noise.drift_z, 2.58);
}

TEST(Summarize, TheDevicesClockHasAMedianOfItsOwn) {
  auto s = make_case("a", {1.00, 1.02, 0.98, 1.05, 0.97, 1.01}, 20);
  summarize(s.result, s.samples, {});
  EXPECT_FALSE(s.result.device_p50_ns.value);
  EXPECT_EQ(s.result.device_p50_ns.value.reason(), "the engine has no device clock");
  for (auto& sample : s.samples) sample.device_ns = sample.host_ns / 2;
  summarize(s.result, s.samples, {});
  EXPECT_NEAR(*s.result.device_p50_ns.value, *s.result.headline.p50_ns.value / 2, 1);
  EXPECT_NEAR(*s.result.device_p50_ns.ci_high, *s.result.headline.p50_ns.ci_high / 2, 1);
  EXPECT_EQ(s.result.device_p50_ns.ci_method, "binomial_processes");
}

TEST(Summarize, ThroughputIsItemsOverTime) {
  auto s = make_case("a", {1.0}, 200);
  SummaryOptions options;
  options.items_per_iteration = 8;
  summarize(s.result, s.samples, options);
  double total = 0;
  for (const auto& sample : s.samples) total += static_cast<double>(sample.host_ns);
  EXPECT_NEAR(*s.result.throughput.per_s.value, 200 * 8 * 1e9 / total, 1e-6);
  EXPECT_LT(*s.result.throughput.per_s.ci_low, *s.result.throughput.per_s.value);
}

TEST(Summarize, BatchedSamplesClaimNoTail) {
  auto s = make_case("a", {1.0}, 500);
  for (auto& sample : s.samples) sample.flags = kSampleBatched;
  summarize(s.result, s.samples, {});
  EXPECT_EQ(s.result.benchmark.timing_mode, "batched");
  EXPECT_EQ(s.result.stats.quantiles[1].value_ns.reason(), "batched");
  EXPECT_FALSE(s.result.stats.max_ns);
}

TEST(Summarize, APipelinedCaseHasATimePerInferenceAndNoLatency) {
  auto s = make_case("a", {1.00, 1.02, 0.98, 1.05, 0.97, 1.01}, 100);
  s.result.flops.model_flops_per_item = 8e9;
  summarize(s.result, s.samples, {});
  const auto sync = s.result;
  EXPECT_FALSE(sync.back_to_back_ns.value);
  EXPECT_EQ(find_metric("back_to_back_ms")->get(sync).reason, "each inference was waited for");
  for (auto& sample : s.samples) sample.flags = kSamplePipelined;
  summarize(s.result, s.samples, {});
  const auto& one = s.result;
  EXPECT_EQ(one.benchmark.timing_mode, "pipelined");
  EXPECT_EQ(find_metric("back_to_back_ms")->get(one).value, find_metric("p50_ms")->get(sync).value);
  EXPECT_EQ(find_metric("back_to_back_ms")->get(one).ci_low, find_metric("p50_ms")->get(sync).ci_low);
  EXPECT_EQ(one.back_to_back_ns.ci_method, "binomial_processes");
  for (const char* name : {"p50_ms", "p90_ms", "p99_ms", "mean_ms", "min_ms", "max_ms", "mad_ms"}) {
    EXPECT_FALSE(find_metric(name)->get(one).value) << name;
    EXPECT_EQ(find_metric(name)->get(one).reason,
              "blocks of inferences were timed; back_to_back_ms is the time per inference")
        << name;
  }
  EXPECT_EQ(*one.throughput.per_s.value, *sync.throughput.per_s.value);
  EXPECT_EQ(*one.flops.achieved_flops_per_s, 8e9 * *one.throughput.per_s.value);
}

// 1 to 400 us in each part, so that the nearest rank of p99 is 396.
TEST(Summarize, PartsOfAnInferenceOnADevice) {
  auto s = make_case("a", {1.0}, 400);
  summarize(s.result, s.samples, {});
  EXPECT_TRUE(s.result.device_parts.empty());
  EXPECT_EQ(find_metric("enqueue_p50_ms")->get(s.result).reason, "the engine has no device clock");
  for (auto& sample : s.samples) {
    const auto scattered = 1'000 * ((sample.index * 37) % 400 + 1);
    sample.compute_ns = 3 * scattered, sample.enqueue_ns = scattered, sample.output_ns = 2 * scattered;
  }
  summarize(s.result, s.samples, {});
  ASSERT_EQ(s.result.device_parts.size(), 3U);
  const auto& enqueue = s.result.device_parts[0];
  EXPECT_EQ(enqueue.name, "enqueue");
  EXPECT_EQ(enqueue.n, 400);
  EXPECT_EQ(*enqueue.min_ns, 1e3);
  EXPECT_EQ(*enqueue.mean_ns, 200.5e3);
  EXPECT_DOUBLE_EQ(*find_metric("enqueue_p50_ms")->get(s.result).value, 0.2005);
  EXPECT_DOUBLE_EQ(*find_metric("enqueue_p99_ms")->get(s.result).value, 0.396);
  EXPECT_DOUBLE_EQ(*find_metric("device_p99_ms")->get(s.result).value, 3 * 0.396);
  EXPECT_DOUBLE_EQ(*find_metric("d2h_p50_ms")->get(s.result).value, 2 * 0.2005);
  EXPECT_EQ(find_metric("h2d_p50_ms")->get(s.result).reason, "nothing is copied");
  for (auto& sample : s.samples) sample.flags = kSamplePipelined;
  summarize(s.result, s.samples, {});
  EXPECT_DOUBLE_EQ(*find_metric("enqueue_p50_ms")->get(s.result).value, 0.2005);
  EXPECT_DOUBLE_EQ(*find_metric("enqueue_p99_ms")->get(s.result).value, 0.396);
}

// 4 ms of the model and 2 of copies: 6 where they follow each other, 5 where half of the copies is hidden.
TEST(Summarize, CopiesAreHiddenByWhatTheDeviceSaves) {
  auto s = make_case("a", {1.0}, 50);
  const auto hidden = [&](std::int64_t device_ms) {
    for (auto& sample : s.samples) {
      sample.flags = kSamplePipelined;
      sample.enqueue_ns = 1'000, sample.device_ns = device_ms * 1'000'000;
      sample.compute_ns = 4'000'000, sample.input_ns = 1'500'000, sample.output_ns = 500'000;
    }
    summarize(s.result, s.samples, {});
    return find_metric("hidden_copies_share")->get(s.result).value;
  };
  EXPECT_EQ(hidden(6), 0);
  EXPECT_EQ(hidden(5), 0.5);
  EXPECT_EQ(hidden(4), 1);
  EXPECT_EQ(hidden(7), 0);
  s.result.effective_settings["inferences_per_block"] = "2";  // 4 + 2 + 4 ms: one inference's copies between
  EXPECT_EQ(hidden(5), 0);
  EXPECT_EQ(hidden(4), 1);
  for (auto& sample : s.samples) sample.input_ns = sample.output_ns = {};
  summarize(s.result, s.samples, {});
  EXPECT_EQ(find_metric("hidden_copies_share")->get(s.result).reason, "nothing is copied");
  for (auto& sample : s.samples) sample.flags = 0;
  summarize(s.result, s.samples, {});
  EXPECT_EQ(find_metric("hidden_copies_share")->get(s.result).reason, "each inference was waited for");
}

TEST(Summarize, FlopsFollowTheMedian) {
  auto s = make_case("a", {1.0}, 50);
  s.result.flops.model_flops_per_item = 8e9;
  s.result.flops.peak_measured_flops_per_s = 1.6e12;
  summarize(s.result, s.samples, {});
  EXPECT_NEAR(*s.result.flops.achieved_flops_per_s, 8e9 / 0.01, 0.01 * 8e11);
  EXPECT_NEAR(*s.result.flops.share_of_measured_peak, 0.5, 0.01);
}

TEST(Summarize, AShareAboveThePeakIsMissing) {
  auto s = make_case("a", {1.0}, 50);
  s.result.flops.model_flops_per_item = 8e9;
  s.result.flops.peak_measured_flops_per_s = 4e11;
  summarize(s.result, s.samples, {});
  ASSERT_TRUE(above_measured_peak(s.result.flops));
  EXPECT_TRUE(s.result.flops.achieved_flops_per_s);
  const Number& share = s.result.flops.share_of_measured_peak;
  ASSERT_FALSE(share);
  EXPECT_NE(share.reason().find(" % of the measured peak: "), std::string::npos) << share.reason();
  EXPECT_NE(share.reason().find("fewer operations than are counted"), std::string::npos);
}

TEST(Summarize, TheWorstRepetitionCountsAndAMissingFigureKeepsItsReason) {
  auto s = make_case("a", {1.0, 1.0}, 20);
  auto& repetitions = s.result.repetitions;
  for (auto& r : repetitions) r.noise.psi_cpu_some = Number::missing("window too short");
  repetitions[0].noise.steal_frac = 0.02;
  repetitions[1].noise.steal_frac = Number::missing("not told");
  repetitions[0].noise.freq_cv = 0.01;
  repetitions[1].noise.freq_cv = 0.03;
  summarize(s.result, s.samples, {});
  EXPECT_EQ(s.result.noise.psi_cpu_some.reason(), "window too short");
  EXPECT_EQ(s.result.noise.steal_frac, Number(0.02));
  EXPECT_EQ(s.result.noise.freq_cv, Number(0.03));
  EXPECT_EQ(s.result.noise.nivcsw_per_s.reason(), "not_measured");
}

TEST(SpeedUp, BelowSixPairsThereIsNoIntervalAndNoVerdict) {
  auto a = make_case("a", {1, 1, 1, 1, 1}, 20), b = make_case("b", {1, 1, 1, 1, 1}, 20, 5e6);
  compare_to_baseline(b.result, a.result);
  EXPECT_EQ(b.result.speedup.pairs, 5);
  EXPECT_NEAR(*b.result.speedup.ratio.value, 2.0, 0.05);
  EXPECT_FALSE(b.result.speedup.ratio.ci_low);
  EXPECT_EQ(b.result.speedup.scope, kWithinProcess);
  EXPECT_EQ(b.result.speedup.verdict, result::Speed::kNoClaim);
}

TEST(SpeedUp, SixPairsCancelWhatBothSidesShare) {
  // The machine is up to 40 % slower in some pairs, for both sides alike.
  const std::vector<double> machine{1.0, 1.4, 1.1, 1.3, 1.0, 1.2};
  auto a = make_case("a", machine, 50), b = make_case("b", machine, 50, 8e6);
  compare_to_baseline(b.result, a.result);
  EXPECT_EQ(b.result.speedup.scope, kBetweenProcess);
  EXPECT_EQ(b.result.speedup.verdict, result::Speed::kFaster);
  EXPECT_NEAR(*b.result.speedup.ratio.ci_low, 1.25, 0.02);
  EXPECT_NEAR(*b.result.speedup.ratio.ci_high, 1.25, 0.02);
  compare_to_baseline(a.result, b.result);
  EXPECT_EQ(a.result.speedup.verdict, result::Speed::kSlower);
}

TEST(SpeedUp, GradeCStandsBesideTheVerdict) {
  const std::vector<double> machine{1, 1, 1, 1, 1, 1};
  auto a = make_case("a", machine, 20), b = make_case("b", machine, 20, 5e6);
  a.result.grade = Grade::kC;
  compare_to_baseline(b.result, a.result);
  EXPECT_TRUE(b.result.speedup.ratio.ci_low);
  EXPECT_EQ(b.result.speedup.verdict, result::Speed::kFaster);
}

TEST(Summarize, AConfidenceSixProcessesCannotCarrySaysHowItWasMade) {
  auto s = make_case("a", {1.00, 1.02, 0.98, 1.05, 0.97, 1.01}, 20);
  SummaryOptions options;
  options.confidence = 0.99;
  summarize(s.result, s.samples, options);
  EXPECT_EQ(s.result.headline.p50_ns.ci_method, "t_log_processes");
}

TEST(SpeedUp, PairsAreRepetitionsOfTheSameIndex) {
  auto a = make_case("a", {1, 1, 1, 1, 1, 1, 1}, 20), b = make_case("b", {1, 1, 1, 1, 1, 1, 1}, 20);
  b.result.repetitions.erase(b.result.repetitions.begin() + 2);
  compare_to_baseline(b.result, a.result);
  EXPECT_EQ(b.result.speedup.pairs, 6);
}

}  // namespace
}  // namespace paceline::result
