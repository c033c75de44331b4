// SPDX-License-Identifier: MIT
#include "run/artefacts/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/artefacts/stages.h"

namespace paceline::run {
namespace {

using ::testing::ElementsAre;

class Artefacts : public ::testing::Test {
 protected:
  Target target(const std::string& key, std::vector<Target> inputs = {}) {
    return {key, std::move(inputs), [this, key] {
              made_.push_back(key);
              if (key == "broken") throw Error(ErrorCode::kData, "no such layer");
              pass::PassReport report;
              report.fill<pass::PreparedFile>().format = key;
              return report;
            }};
  }
  std::vector<std::string> made_;
  Graph graph_;
};

TEST_F(Artefacts, AreMadeOnceAfterTheirInputs) {
  const auto model = target("model");
  const auto plan = target("plan", {target("int8", {model, target("calibration")}), model});
  EXPECT_FALSE(graph_.knows("plan"));
  EXPECT_EQ(graph_.want(plan).get<pass::PreparedFile>().format, "plan");
  EXPECT_EQ(graph_.want(model).get<pass::PreparedFile>().format, "model");
  EXPECT_EQ(graph_.want(plan).get<pass::PreparedFile>().format, "plan");
  EXPECT_THAT(made_, ElementsAre("model", "calibration", "int8", "plan"));
  EXPECT_TRUE(graph_.knows("calibration"));
}

TEST_F(Artefacts, KeepTheirFailureForAllThatNeedThem) {
  const auto broken = target("broken");
  for (const auto& wanted : {broken, target("plan", {broken}), target("plan"), broken}) {
    try {
      graph_.want(wanted);
      ADD_FAILURE() << wanted.key;
    } catch (const Error& e) {
      EXPECT_STREQ(e.what(), "no such layer");
    }
  }
  EXPECT_THAT(made_, ElementsAre("broken"));
}

TEST_F(Artefacts, OfAPassAreNamedByItsTask) {
  pass::PassSpec reference;
  reference.inference.reference_file = "r.npy";
  EXPECT_EQ(written_by(reference, {}).key, "r.npy");
  EXPECT_EQ(written_by(inputs_pass({{}, "in", false}), {}).key, "in");
  EXPECT_EQ(written_by(expected_pass({"mine.npy", 1, "e.npy"}, 1), {}).key, "e.npy");
}

TEST_F(Artefacts, OfAPassFailWithItsReasonAndPhase) {
  process::WorkerOutcome outcome;
  outcome.reason_code = "oom", outcome.reason = "it was killed", outcome.report.phase = pass::kLoadPhase;
  try {
    graph_.want(written_by(inputs_pass({{}, "in", false}), [&](const auto&) { return outcome; }));
    ADD_FAILURE();
  } catch (const PassFailure& e) {
    EXPECT_EQ(e.kind(), pass::PassKind::kInputs);
    EXPECT_EQ(e.reason_code() + ": " + e.what(), "oom: it was killed");
    EXPECT_EQ(e.phase(), pass::kLoadPhase);
  }
}

}  // namespace
}  // namespace paceline::run
