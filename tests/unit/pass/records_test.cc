// SPDX-License-Identifier: MIT
#include "pass/records.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "pass/collective_records.h"

namespace paceline::pass {
namespace {

nlohmann::json tagged(nlohmann::json record, int repetition = 2) {
  record["rank"] = 0;
  record["repetition"] = repetition;
  return record;
}

TEST(Records, BuildTheReport) {
  PassReport report;
  apply_record(report, phase_record("load"));
  EXPECT_EQ(report.phase, "load");
  apply_record(report, loaded_record({{"LibTorch", "2.15.0"}}, {{"threads", "2"}}));
  EXPECT_EQ(report.effective_settings.at("threads"), "2");
  apply_record(
      report,
      tagged(samples_record({{2, 0, 0, 10, 100, {}, 0}, {2, 0, 1, 120, 101, {}, result::kSampleBatched}})));
  ASSERT_EQ(report.samples.size(), 2U);
  EXPECT_EQ(report.samples[1].host_ns, 101);
  EXPECT_EQ(report.samples[1].repetition, 2);
  EXPECT_EQ(report.samples[1].index, 1);
  EXPECT_EQ(report.samples[1].flags, result::kSampleBatched);
  EXPECT_FALSE(report.done);
  apply_record(report, done_record());
  EXPECT_TRUE(report.done);
}

TEST(Records, RequestsBringTheirStages) {
  result::Sample served, lost;
  served.queue_ns = 7;
  served.compute_ns = 0;
  lost.flags = result::kSampleTimedOut;
  PassReport report;
  apply_record(report, tagged(samples_record({served, lost})));
  ASSERT_EQ(report.samples.size(), 2U);
  EXPECT_EQ(report.samples[0].queue_ns, 7);
  EXPECT_EQ(report.samples[0].compute_ns, 0);
  EXPECT_FALSE(report.samples[0].output_ns);
  EXPECT_FALSE(report.samples[1].queue_ns);
  EXPECT_TRUE(report.samples[1].lost());
}

TEST(Records, DeviceTimesComeAlong) {
  PassReport report;
  apply_record(report, tagged(samples_record({{2, 0, 0, 10, 100, 80, 0}, {2, 0, 1, 120, 101, {}, 0}})));
  ASSERT_EQ(report.samples.size(), 2U);
  EXPECT_EQ(report.samples[0].device_ns, 80);
  EXPECT_FALSE(report.samples[1].device_ns);
}

TEST(Records, ReadingsOfSamplersOfAllRanksComeAlong) {
  result::SampledWindow first, second;
  first.sampler = "meter", first.readings = 2, first.window_s = 1.5;
  first.series = {{"cuda:0", "power", "W", {0, 0.5}, {10.25, 1e9}, {}},
                  {"cuda:0", "state", "", {0}, {}, {"hot"}}};
  second.sampler = "meter", second.rank = 8, second.problem = "no meter here";
  PassReport report;
  apply_record(report, tagged(sampled_record({sampled_text({first}), "[]", sampled_text({second})})));
  ASSERT_EQ(report.sampled.size(), 2U);
  EXPECT_EQ(report.sampled[0].series[0].numbers, (std::vector<double>{10.25, 1e9}));
  EXPECT_EQ(report.sampled[0].series[0].times_s, (std::vector<double>{0, 0.5}));
  EXPECT_EQ(report.sampled[0].series[1].words, std::vector<std::string>{"hot"});
  EXPECT_EQ(report.sampled[0].window_s, Number(1.5));
  EXPECT_FALSE(report.sampled[0].cpu_s);
  EXPECT_EQ(report.sampled[1].rank, 8);
  EXPECT_EQ(report.sampled[1].problem, "no meter here");
}

TEST(Records, ASamplersReadingsAreAsManyAsTheirTimes) {
  using Series = result::SampledSeries;
  for (const auto& damaged : {Series{"package-0", "energy", "J", {}, {1, 2}, {}},
                              Series{"package-0", "energy", "J", {0, 1}, {1}, {}},
                              Series{"package-0", "energy", "J", {0, 1}, {}, {"hot"}},
                              Series{"package-0", "energy", "J", {0}, {1}, {"hot"}}}) {
    result::SampledWindow window;
    window.series = {damaged};
    PassReport report;
    try {
      apply_record(report, tagged(sampled_record({sampled_text({window})})));
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kData);
      EXPECT_NE(std::string(error.what()).find("'energy' of 'package-0'"), std::string::npos) << error.what();
    }
    EXPECT_TRUE(report.sampled.empty());
  }
}

TEST(Records, AStageColumnOfAnotherLengthIsRefused) {
  PassReport report;
  auto record = tagged(samples_record({result::Sample{}, result::Sample{}}));
  record["queue_ns"] = {1};
  EXPECT_THROW(apply_record(report, record), Error);
}

TEST(Records, MemoryThatAnEngineDoesNotCountIsMissing) {
  PassReport counted, uncounted;
  apply_record(counted, check_record({}, {{}, 100, 4096, {}, {}, 0.75}));
  EXPECT_EQ(counted.get<CheckReport>().tensor_peak_bytes, Count(100));
  EXPECT_EQ(counted.get<CheckReport>().reserved_peak_bytes, Count(4096));
  EXPECT_EQ(counted.get<CheckReport>().convolution_share, Number(0.75));
  apply_record(uncounted, check_record({}, {{}, {}, {}, {}}));
  EXPECT_FALSE(uncounted.get<CheckReport>().convolution_share);
  EXPECT_FALSE(uncounted.get<CheckReport>().tensor_peak_bytes);
  EXPECT_EQ(uncounted.get<CheckReport>().reserved_peak_bytes.reason(),
            "the engine reports no reserved memory");
}

TEST(Records, LayersComeBackAsTheyWere) {
  PassReport report;
  apply_record(report, layers_record({{{"conv1", "Conv", "int8", "block.conv", 12.5, {}, {12, 13}},
                                       {"view", "Reshape", "", "", Number::missing("no time"), {}}},
                                      "profiler",
                                      20}));
  const auto& layers = report.get<LayerReport>();
  ASSERT_EQ(layers.layers.size(), 2U);
  EXPECT_EQ(layers.layers[0].model_layer, "block.conv");
  EXPECT_EQ(layers.layers[0].time_ns, Number(12.5));
  EXPECT_EQ(layers.layers[1].time_ns.reason(), "no time");
  EXPECT_EQ(layers.layers[0].times_ns, (std::vector<double>{12, 13}));
  EXPECT_EQ(layers.inferences, 20);
}

TEST(Records, ANoticeIsASentenceForTheUser) {
  PassReport report;
  EXPECT_EQ(apply_record(report, notice_record("16000 requests take 5 min"))->notice,
            "16000 requests take 5 min");
}

TEST(Records, AFirstOperationThatDidNotRunKeepsItsReason) {
  PassReport report;
  const std::vector<plugin::Capability> brings{{plugin::Role::kEngine, "eager"},
                                               {plugin::Role::kTrainer, "cpu", "cpu"}};
  apply_record(report, describe_record({brings, "[{}]", Number::missing("no CUDA device")}));
  const auto& plugin = report.get<PluginReport>();
  EXPECT_EQ(plugin.capabilities, brings);
  EXPECT_EQ(plugin.options, "[{}]");
  EXPECT_FALSE(plugin.first_op_ns);
  EXPECT_EQ(plugin.first_op_ns.reason(), "no CUDA device");
  apply_record(report, describe_record({brings, "[]", Number(2e9)}));
  EXPECT_EQ(*plugin.first_op_ns, 2e9);
}

TEST(Records, ProgressIsPassedOnNotKept) {
  PassReport report;
  const auto progress = apply_record(report, progress_record({"measure", 12, 1.5, Number(2e6), {}, {}}));
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->n, 12);
  EXPECT_EQ(*progress->p50_ns, 2e6);
  EXPECT_FALSE(progress->ci_low_ns);
}

TEST(Records, InterruptsRestartsAndFaultsTravel) {
  PassReport report;
  apply_record(report, tagged(interrupted_record(/*asked=*/false)));
  const auto& training = report.get<TrainingReport>();
  EXPECT_TRUE(training.interrupted && !training.asked_to_end);
  apply_record(report, tagged(interrupted_record(/*asked=*/true)));
  EXPECT_TRUE(training.asked_to_end);
  result::RestartFigures restart;
  restart.cause = "rank 1 was killed";
  restart.steps_lost = 5;
  EXPECT_THROW(apply_record(report, restarts_record({restart})), Error) << "of which repetition?";
  result::Repetition repetition;
  repetition.payload.emplace<result::Training>();
  apply_record(report, tagged(repetition_record(repetition)));
  apply_record(report, tagged(restarts_record({restart})));
  const auto& kept = std::get<result::Training>(report.repetition.payload).restarts;
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].cause, "rank 1 was killed");
  EXPECT_EQ(kept[0].steps_lost, Count(5));
  EXPECT_TRUE(apply_record(report, tagged(fault_record("rank 1: fault on purpose")))->fault_ns > 0);
  EXPECT_FALSE(apply_record(report, tagged(notice_record("all is well")))->fault_ns > 0);
}

TEST(Records, RecordsOfTwoKindsAreNoReport) {
  PassReport report;
  EXPECT_TRUE(report.at.empty());
  apply_record(report, at_record("256 bytes"));
  EXPECT_EQ(report.at, "256 bytes");
  apply_record(report, collective_record({}));
  EXPECT_THROW(apply_record(report, inputs_record({3})), Error);
  EXPECT_EQ(report.get<InputsReport>().samples_given, 0);
}

TEST(Records, OfWhichThePartsStandAlone) {
  EXPECT_TRUE(is_part("collective_times") && is_part("round_times"));
  EXPECT_FALSE(is_part("samples") || is_part("operators") || is_part("progress"));
}

TEST(Records, RefusesOtherLinesThanRecords) {
  PassReport report;
  for (const char* text : {"[]", "3", "{}", R"({"type": 1})", R"({"type": "dance"})", R"({"type": "phase"})",
                           R"({"type": "samples", "start_ns": [1]})", R"({"type": "loaded"})",
                           R"({"type": "samples", "start_ns": [1], "host_ns": [1, 2], "flags": [0]})"})
    EXPECT_THROW(apply_record(report, nlohmann::json::parse(text)), Error) << text;
}

}  // namespace
}  // namespace paceline::pass
