// SPDX-License-Identifier: MIT
// Snapshots: rates, JSON, and the text for Prometheus.
#include "monitor/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "monitor/exposition.h"

namespace paceline::monitor {
namespace {

Snapshot at(std::int64_t second, double seconds_of_cpu) {
  Snapshot snapshot;
  snapshot.utc_ms = second * 1000;
  snapshot.steady_ns = second * 1'000'000'000;
  snapshot.add("paceline_x_seconds_total", "Seconds of x.", {{"cpu", "0"}, {"mode", "user"}}, seconds_of_cpu);
  snapshot.add("paceline_x_seconds_total", "Seconds of x.", {{"cpu", "0"}, {"mode", "idle"}}, 7);
  snapshot.add("paceline_y_bytes", "Bytes \"of\" y\\.", {{"path", "a\"b\\c\nd"}}, 2.5);
  return snapshot;
}

TEST(Rate, IsPerSecondOfTheSteadyClock) {
  EXPECT_DOUBLE_EQ(*rate(at(10, 4), at(14, 6), "paceline_x_seconds_total", {{"mode", "user"}}), 0.5);
  EXPECT_DOUBLE_EQ(*rate(at(10, 4), at(14, 6), "paceline_x_seconds_total", {{"mode", "idle"}}), 0);
}

TEST(Rate, IsMissingWhereTheCounterWasResetOrNoTimeHasPassed) {
  EXPECT_FALSE(rate(at(10, 4), at(14, 3), "paceline_x_seconds_total", {{"mode", "user"}}));
  EXPECT_FALSE(rate(at(10, 4), at(10, 6), "paceline_x_seconds_total", {{"mode", "user"}}));
  EXPECT_FALSE(rate(at(10, 4), at(14, 6), "paceline_x_seconds_total", {{"mode", "steal"}}));
  EXPECT_FALSE(rate(at(10, 4), at(14, 6), "paceline_z_total"));
}

TEST(Snapshot, HasNoMorePointsThanAMachine) {
  auto json = to_json(at(10, 4));
  auto& points = json["families"]["paceline_y_bytes"];
  for (int i = 0; i < 10'000; ++i) points.push_back(points[0]);
  EXPECT_THAT([&] { (void)snapshot_of(json); },
              ::testing::ThrowsMessage<Error>("paceline_y_bytes has more than 10000 points"));
}

TEST(Snapshot, SurvivesJson) {
  auto before = at(10, 4);
  before.absent = {"GPUs: none"};
  before.runs.push_back(read_live_file(nlohmann::json::parse(R"({"process_id": 7, "experiment_name": "e",
    "pass": {"label": "m b1", "kind": "timed", "number": 2, "of": 9, "seconds_left": null},
    "progress": {"phase": "measure", "n": 5, "p50_ns": 1e6, "step": 3,
                 "elapsed_s": 2, "steps": [{"samples_per_s": 12.5, "loss": null, "slowest": [{"rank": 1, "beyond": 0.02}]}]}})")));
  before.runs.back().folder = "/r";
  const auto after = snapshot_of(nlohmann::json::parse(to_json(before).dump()));
  EXPECT_EQ(to_json(after), to_json(before));
  EXPECT_EQ(in_words(after.runs.at(0)),
            "2/9  m b1  measure  step 3  n=5 p50 1.00 ms  12.5 samples/s  slowest: rank 1 (+2.0 %)");
}

TEST(Snapshot, RefusesJsonOfAnotherShape) {
  EXPECT_THROW(snapshot_of(nlohmann::json::parse(R"({"utc_ms": 1})")), Error);
  EXPECT_THROW(snapshot_of(nlohmann::json::parse("[]")), Error);
}

TEST(Snapshot, RefusesATimeThatNoDateCanShow) {
  auto json = to_json(at(3, 1));
  for (const std::int64_t utc_ms : {std::int64_t{-1}, std::int64_t{253'402'300'800'000}}) {
    json["utc_ms"] = utc_ms;
    EXPECT_THROW(snapshot_of(json), Error) << utc_ms;
  }
  json["utc_ms"] = 253'402'300'799'999;
  EXPECT_EQ(snapshot_of(json).utc_ms, 253'402'300'799'999);
}

TEST(LiveFile, BlocksOfInferencesHaveNoRate) {
  const auto run = read_live_file(nlohmann::json::parse(
      R"({"progress": {"phase": "measure", "n": 12, "elapsed_s": 2, "blocks": true, "p50_ns": 2000}})"));
  EXPECT_FALSE(run.per_s);
  EXPECT_THAT(in_words(run), ::testing::HasSubstr("blocks=12"));
}

TEST(LiveFile, InferencesHaveTheThroughputOfTheirBatch) {
  const auto run = read_live_file(nlohmann::json::parse(
      R"({"pass": {"samples_per_iteration": 8}, "progress": {"n": 12, "elapsed_s": 2}})"));
  EXPECT_EQ(run.samples_per_s, 48);
  EXPECT_THAT(in_words(run), ::testing::HasSubstr("6.00/s  48.0 samples/s"));
}

TEST(LiveFile, PassesOfRanksHaveTheThroughputThatTheseReport) {
  const auto run = read_live_file(nlohmann::json::parse(
      R"({"pass": {"samples_per_iteration": 0}, "progress": {"n": 12, "elapsed_s": 2, "step": 3}})"));
  EXPECT_EQ(run.per_s, 6);
  EXPECT_FALSE(run.samples_per_s);
}

TEST(LiveFile, AnAttachedJobHasItsPaceAndParts) {
  const auto run = read_live_file(nlohmann::json::parse(
      R"({"pass": {"label": "train.py", "kind": "attached"}, "progress": {"n": 12, "elapsed_s": 2, "step": 11, "p50_ns": 1e8,
          "steps": [{"samples_per_s": null, "loss": null, "shares": {"data_wait": 0.25, "forward": 0.5, "input": null}}]}})"));
  EXPECT_EQ(in_words(run), "attached  train.py  step 11  n=12 p50 100 ms  6.00/s  data 25.0 %  fwd 50.0 %");
}

TEST(LiveFile, ALateRankHasItsCause) {
  const auto run = read_live_file(nlohmann::json::parse(R"({"progress": {"steps": [{"samples_per_s": 1,
      "slowest": [{"rank": 1, "beyond": 0.5, "cause": "throttled for 2 ms per step"}]}]}})"));
  EXPECT_EQ(snapshot_of(to_json([&] {
              Snapshot s;
              s.runs = {run};
              return s;
            }()))
                .runs.at(0)
                .slowest->cause,
            "throttled for 2 ms per step");
  EXPECT_THAT(in_words(run), ::testing::HasSubstr("slowest: rank 1 (+50.0 %: throttled for 2 ms per step)"));
}

TEST(LiveFile, OfAnotherVersionLeavesOutWhatItDoesNotHave) {
  const auto run = read_live_file(nlohmann::json::parse(
      R"({"process_id": "x", "pass": [1], "progress": {"n": -1.5, "p50_ns": "fast"}})"));
  EXPECT_EQ(run.process_id, 0);
  EXPECT_TRUE(run.label.empty());
  EXPECT_FALSE(run.p50_ns);
}

TEST(Exposition, TypesAndEscapesAsThePrometheusFormatAsks) {
  const auto text = exposition(at(10, 4));
  EXPECT_THAT(text, ::testing::HasSubstr("# TYPE paceline_x_seconds_total counter\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("paceline_x_seconds_total{cpu=\"0\",mode=\"user\"} 4\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("# TYPE paceline_y_bytes gauge\n"));
  EXPECT_THAT(text, ::testing::HasSubstr(R"(paceline_y_bytes{path="a\"b\\c\nd"} 2.5)"));
}

}  // namespace
}  // namespace paceline::monitor
