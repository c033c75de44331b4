// SPDX-License-Identifier: MIT
#include "workload/training/checkpoint_keeper.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "support/fake_store.h"
#include "support/thread_group.h"
#include "unit/workload/scratch_folder.h"
#include "unit/workload/text_trainer.h"
#include "unit/workload/throws_with.h"

namespace paceline::workload {
namespace {
namespace fs = std::filesystem;
using test::expect_error;
using test::ScratchFolder;
using test::TextTrainer;

// Keeps every sentence and phase.
class Listener : public pass::RecordSink {
 public:
  void emit(const nlohmann::json& record) override {
    if (record["type"] == "phase") phases.push_back(record["phase"]);
    if (record["type"] == "progress") said += record["progress"]["notice"].get<std::string>() + "\n";
  }
  std::vector<std::string> phases;
  std::string said;
};

// Writes and takes up what it is told to, or fails.
class MoodyTrainer : public TextTrainer {
 public:
  using TextTrainer::TextTrainer;
  void save(const std::string& file, bool shared) override {
    if (diverged) throw Error(ErrorCode::kInternal, "stem.weight contains numbers that are not finite");
    TextTrainer::save(file, shared);
  }
  void restore(const std::string& shared_file, const std::string& rank_file) override {
    if (shared_file.find(refused) != std::string::npos) throw Error(ErrorCode::kData, "not finite");
    TextTrainer::restore(shared_file, rank_file);
  }
  bool diverged = false;
  std::string refused = "nothing";
};

LoaderSetup data() {
  LoaderSetup setup;
  setup.data.synthetic_samples = 60;
  setup.specs = {{"input", DType::kFloat32, {4, 3, 6, 6}}, {"labels", DType::kInt64, {4}}};
  setup.classes = 7;
  return setup;
}

// One rank with everything a keeper needs.
struct Rank {
  Rank(const pass::PassSpec& of_all, int rank, plugin::RankGroup* group = nullptr,
       plugin::Store* store = nullptr)
      : spec(of_all), loader(data()), sink(listener, spec) {
    spec.rank = rank;
    keeper = std::make_unique<CheckpointKeeper>(
        spec, KeeperParts{trainer, loader, group, store, sink, [this](std::int64_t) {
                            std::this_thread::sleep_for(std::chrono::milliseconds(saving_takes_ms));
                          }});
  }
  pass::PassSpec spec;
  MoodyTrainer trainer{"weights"};
  Loader loader;
  Listener listener;
  TaggedSink sink;
  int saving_takes_ms = 0;
  std::unique_ptr<CheckpointKeeper> keeper;
};

class Keeper : public ::testing::Test {
 protected:
  pass::PassSpec spec(std::int64_t world = 1, bool resume = false) const {
    pass::PassSpec spec;
    spec.model.name = "tiny_cnn";
    spec.world_size = world;
    auto& checkpoint = spec.task.emplace<pass::TrainSpec>().checkpoint;
    checkpoint.dir = dir().string();
    checkpoint.every_steps = 10;
    checkpoint.resume = resume;
    return spec;
  }
  [[nodiscard]] fs::path dir() const { return folder_ / "saved"; }
  void write(std::initializer_list<std::int64_t> steps) const {
    Rank rank(spec(), 0);
    rank.keeper->open();
    for (const auto step : steps) rank.keeper->save(step);
  }
  ScratchFolder folder_;
};

TEST_F(Keeper, DoesNothingWithoutAFolder) {
  auto nowhere = spec();
  std::get<pass::TrainSpec>(nowhere.task).checkpoint.dir.clear();
  Rank rank(nowhere, 0);
  EXPECT_FALSE(rank.keeper->enabled());
  EXPECT_EQ(rank.keeper->open(), 0);
  rank.keeper->save(10);
  rank.keeper->close(20);
  EXPECT_EQ(rank.keeper->figures().written, Count(0));
}

TEST_F(Keeper, WritesWhenOneIsDueAndAtTheEndAndOnceAStep) {
  Rank rank(spec(), 0);
  EXPECT_EQ(rank.keeper->open(), 0);
  for (std::int64_t step = 0; step <= 20; ++step) rank.keeper->save_when_due(step);
  rank.keeper->close(20);
  EXPECT_EQ(list_checkpoints(dir()), (std::vector<std::int64_t>{20, 10}));
  EXPECT_EQ(rank.keeper->figures().written, Count(2));
  EXPECT_EQ(rank.listener.phases, (std::vector<std::string>{"checkpoint", "checkpoint_wait", "measure",
                                                            "checkpoint", "checkpoint_wait", "measure"}));
}

TEST_F(Keeper, RepetitionsHaveFoldersOfTheirOwn) {
  auto second = spec();
  second.repetition = 1;
  Rank rank(second, 0);
  EXPECT_EQ(rank.keeper->folder(), (dir() / "repetition2").string());
}

TEST_F(Keeper, AFolderWithoutACheckpointIsRemarkedOn) {
  Rank rank(spec(1, true), 0);
  EXPECT_EQ(rank.keeper->open(), 0);
  EXPECT_EQ(rank.keeper->remark(),
            "checkpoint.resume found no checkpoint in '" + dir().string() + "', so training began at step 0");
}

TEST_F(Keeper, GoesOnFromTheNewestThatTheTrainerTakesUp) {
  write({10, 20});
  Rank rank(spec(1, true), 0);
  rank.trainer.refused = "step_20";
  EXPECT_EQ(rank.keeper->open(), 10);
  EXPECT_EQ(rank.trainer.state, "shared weights | shared weights");
  EXPECT_NE(rank.listener.said.find("checkpoint refused"), std::string::npos) << rank.listener.said;
  EXPECT_NE(rank.listener.said.find("goes on after step 10"), std::string::npos) << rank.listener.said;
  EXPECT_EQ(rank.keeper->figures().resumed_step, Count(10));
}

TEST_F(Keeper, NumbersThatAreNotFiniteAreNeverACheckpoint) {
  Rank rank(spec(), 0);
  rank.keeper->open();
  rank.keeper->save(10);
  rank.trainer.diverged = true;
  expect_error(ErrorCode::kInternal, {"after step 19 on rank 0", "stem.weight", "not finite"},
               [&] { rank.keeper->save(20); });
  EXPECT_EQ(list_checkpoints(dir()), (std::vector<std::int64_t>{10}));
}

TEST_F(Keeper, AnotherRunsFolderIsRefused) {
  write({10});
  Rank rank(spec(), 0);
  expect_error(ErrorCode::kConfig, {"step 10", "--checkpoint.resume"}, [&] { rank.keeper->open(); });
}

TEST_F(Keeper, TwoRunsNeverWriteIntoOneFolder) {
  const auto first = std::make_unique<Rank>(spec(), 0);
  first->keeper->open();
  Rank second(spec(1, true), 0);
  expect_error(ErrorCode::kConfig, {"another run", dir().string(), fmt::format("process {}", ::getpid())},
               [&] { second.keeper->open(); });
  first->keeper.reset();
  EXPECT_EQ(second.keeper->open(), 0);
}

TEST_F(Keeper, OtherRanksWaitForOneThatWrites) {
  const auto store = std::make_shared<test::FakeStore>();
  test::on_ranks(2, [&](plugin::RankGroup& group) {
    Rank rank(spec(2), group.rank(), &group, store.get());
    rank.keeper->open();
    for (const int slow : {0, 1}) {
      rank.saving_takes_ms = group.rank() == slow ? 60 : 0;
      const std::int64_t step = 10 * (slow + 1);
      rank.keeper->save(step);
      EXPECT_TRUE(fs::exists(checkpoint_folder(dir(), step) / part_name(slow)));
      EXPECT_TRUE(fs::exists(checkpoint_folder(dir(), step) / "meta.json"));
    }
  });
}

TEST_F(Keeper, ARankThatNeverEndsItsPartIsNamedWithTheLimit) {
  const auto store = std::make_shared<test::FakeStore>();
  auto impatient = spec(2);
  std::get<pass::TrainSpec>(impatient.task).checkpoint.timeout_s = 0.2;
  test::on_ranks(2, [&](plugin::RankGroup& group) {
    Rank rank(impatient, group.rank(), &group, store.get());
    rank.keeper->open();
    rank.saving_takes_ms = group.rank() == 0 ? 500 : 0;
    if (group.rank() == 1)
      expect_error(ErrorCode::kUnavailable,
                   {"rank 0", "the checkpoint of step 10", "checkpoint.timeout_s = 0.2 s"},
                   [&] { rank.keeper->save(10); });
    else
      EXPECT_THROW(
          {
            rank.keeper->save(10);
            rank.keeper->save(20);
          },
          Error);
  });
}

}  // namespace
}  // namespace paceline::workload
