// SPDX-License-Identifier: MIT
#include "run/ranks/restarts.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/scratch_folder.h"
#include "process/kept_records.h"
#include "support/fake_executor.h"

namespace paceline::run {
namespace {

process::WorkerRequest request_of(int max_restarts, const std::string& checkpoints = "ck") {
  process::WorkerRequest request;
  request.spec.kind = pass::PassKind::kTrain;
  request.spec.world_size = 2;
  request.spec.task.emplace<pass::TrainSpec>().checkpoint.dir = checkpoints;
  request.max_restarts = max_restarts;
  return request;
}

// Plays these reason codes one after the other; "" goes well.
struct Ranks {
  std::deque<std::string> ends;
  testing::FakeExecutor fake{};
  std::vector<std::string> told{};
  ScratchFolder scratch = ScratchFolder::below_temp("paceline-restarts");

  process::WorkerOutcome run(process::WorkerRequest request) {
    request.record_file = scratch.path() / "timed-0.jsonl";
    request.spec.table_file = process::unfinished_table_of(request.record_file);
    fake = testing::FakeExecutor([this](const process::WorkerRequest& r) {
      auto played =
          ends.front().empty() ? testing::plays_steps(r.spec) : testing::fails(ends.front(), ends.front());
      played.fault_ns = 1'000'000, played.noticed_ns = 3'000'000;
      ends.pop_front();
      return played;
    });
    return run_restarting(fake, request, std::atomic<bool>{false},
                          [this](const pass::ProgressRecord& p) { told.push_back(p.notice); });
  }
};

TEST(Restarts, GoOnFromTheLastCheckpointAndTellWhatItCost) {
  Ranks ranks{{"crash", "hung", ""}};
  const auto outcome = ranks.run(request_of(3));
  EXPECT_TRUE(outcome.ok);
  ASSERT_EQ(ranks.fake.requests.size(), 3U);
  EXPECT_FALSE(std::get<pass::TrainSpec>(ranks.fake.requests.at(0).spec.task).checkpoint.resume);
  EXPECT_TRUE(std::get<pass::TrainSpec>(ranks.fake.requests.at(1).spec.task).checkpoint.resume);
  EXPECT_EQ(ranks.told.front(), "restart 1 of 3 from the last checkpoint: crash");
  const auto& restarts = outcome.report.repetition.training()->restarts;
  ASSERT_EQ(restarts.size(), 2U);
  EXPECT_EQ(restarts[0].cause, "crash");
  EXPECT_DOUBLE_EQ(*restarts[0].detect_ns, 2e6);
}

TEST(Restarts, EndWhenTheirNumberIsUsedUp) {
  Ranks ranks{{"crash", "crash", "crash", ""}};
  EXPECT_FALSE(ranks.run(request_of(2)).ok);
  EXPECT_EQ(ranks.fake.requests.size(), 3U);
}

TEST(Restarts, AreNotTriedWhereTheyWouldEndAlike) {
  for (const auto* code : {"interrupted", "config", "data", "unsupported"}) {
    Ranks ranks{{code, ""}};
    EXPECT_EQ(ranks.run(request_of(2)).reason_code, code);
    EXPECT_EQ(ranks.fake.requests.size(), 1U) << code;
  }
}

TEST(Restarts, NeedCheckpoints) {
  Ranks ranks{{"crash", ""}};
  EXPECT_FALSE(ranks.run(request_of(2, "")).ok);
  EXPECT_EQ(ranks.fake.requests.size(), 1U);
}

TEST(Restarts, AFaultOnPurposeComesOnce) {
  Ranks ranks{{"killed", ""}};
  auto request = request_of(1);
  std::get<pass::TrainSpec>(request.spec.task).inject = "kill:rank=1,step=5";
  EXPECT_TRUE(ranks.run(request).ok);
  EXPECT_EQ(std::get<pass::TrainSpec>(ranks.fake.requests.at(0).spec.task).inject, "kill:rank=1,step=5");
  EXPECT_EQ(std::get<pass::TrainSpec>(ranks.fake.requests.at(1).spec.task).inject, "");
}

}  // namespace
}  // namespace paceline::run
