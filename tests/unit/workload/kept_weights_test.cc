// SPDX-License-Identifier: MIT
#include "workload/training/kept_weights.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "unit/workload/scratch_folder.h"
#include "unit/workload/text_trainer.h"
#include "unit/workload/throws_with.h"

namespace paceline::workload {
namespace {
namespace fs = std::filesystem;
using test::ScratchFolder;
using test::TextTrainer;

class FullDisk : public TextTrainer {
 public:
  using TextTrainer::TextTrainer;
  void save(const std::string& file, bool shared) override {
    TextTrainer::save(file, shared);
    throw Error(ErrorCode::kIo, "cannot write weights '" + file + "': No space left on device");
  }
};

class Weights : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(dir()); }
  [[nodiscard]] fs::path dir() const { return folder_ / "saved"; }
  [[nodiscard]] std::string best() const { return read_file(dir() / "checkpoint_best.safetensors"); }
  static result::HeldOutFigures seen(std::int64_t epoch, double accuracy) {
    result::HeldOutFigures f;
    f.epoch = epoch, f.accuracy = accuracy, f.loss = 1.0;
    return f;
  }
  ScratchFolder folder_;
};

TEST_F(Weights, TheBestIsKeptAndEqualOnesAreNot) {
  KeptWeights kept(dir(), "hash", 0);
  TextTrainer trainer("first");
  kept.offer(trainer, seen(0, 0.5), 10);
  trainer.state = "equal";
  kept.offer(trainer, seen(1, 0.5), 20);
  EXPECT_EQ(best(), "shared first");
  trainer.state = "better";
  kept.offer(trainer, seen(2, 0.75), 30);
  trainer.state = "worse";
  kept.offer(trainer, seen(3, 0.25), 40);
  EXPECT_EQ(best(), "shared better");
  const auto json = nlohmann::json::parse(read_file(dir() / "checkpoint_best.json"));
  EXPECT_EQ(json.at("epoch"), 2);
  EXPECT_EQ(json.at("step"), 30);
  EXPECT_EQ(json.at("eval_accuracy"), 0.75);
}

TEST_F(Weights, WithoutAnAccuracyNothingIsBest) {
  KeptWeights kept(dir(), "hash", 0);
  TextTrainer trainer("first");
  auto blind = seen(0, 0);
  blind.accuracy = Number::missing("no labels to judge by");
  kept.offer(trainer, blind, 10);
  EXPECT_TRUE(fs::is_empty(dir()));
  kept.write_last(trainer);
  EXPECT_EQ(read_file(dir() / "last.safetensors"), "shared first");
  EXPECT_EQ(kept.words(), "weights: last.safetensors in '" + dir().string() + "'");
}

TEST_F(Weights, ResumedTrainingRemembersItsBest) {
  TextTrainer trainer("before");
  KeptWeights(dir(), "hash", 0).offer(trainer, seen(4, 0.9), 50);
  trainer.state = "after";
  KeptWeights(dir(), "hash", 50).offer(trainer, seen(5, 0.8), 60);
  EXPECT_EQ(best(), "shared before");
  KeptWeights(dir(), "another", 50).offer(trainer, seen(0, 0.8), 5);
  EXPECT_EQ(best(), "shared after");
}

// Neither may be taken for the best of the training that begins.
TEST_F(Weights, FilesOfAnotherTrainingAreSetAside) {
  TextTrainer trainer("before");
  for (const std::int64_t begin : {0, 40}) {  // from the start, and from a checkpoint before the best
    KeptWeights(dir(), "hash", 0).offer(trainer, seen(4, 0.9), 50);
    KeptWeights kept(dir(), "hash", begin);
    EXPECT_FALSE(fs::exists(dir() / "checkpoint_best.safetensors"));
    EXPECT_EQ(read_file(dir() / "checkpoint_best.safetensors.old"), "shared before");
    kept.write_last(trainer);
    EXPECT_EQ(kept.words().find("checkpoint_best"), std::string::npos);
  }
  KeptWeights(dir(), "hash", 0).offer(trainer, seen(4, 0.9), 50);
  fs::remove(dir() / "checkpoint_best.safetensors");
  KeptWeights lost(dir(), "hash", 50);
  lost.write_last(trainer);
  EXPECT_EQ(lost.words().find("checkpoint_best"), std::string::npos);
}

TEST_F(Weights, ADamagedNoteIsAsNone) {
  replace_file(dir() / "checkpoint_best.json", "{\"epoch\": [[");
  TextTrainer trainer("any");
  KeptWeights(dir(), "hash", 5).offer(trainer, seen(0, 0.1), 5);
  EXPECT_EQ(best(), "shared any");
}

TEST_F(Weights, AFailedWriteLeavesTheOlderFile) {
  TextTrainer trainer("older");
  KeptWeights kept(dir(), "hash", 0);
  kept.offer(trainer, seen(0, 0.5), 5);
  FullDisk full("newer");
  test::expect_error(ErrorCode::kIo, {"No space left on device"},
                     [&] { kept.offer(full, seen(1, 0.9), 10); });
  EXPECT_EQ(best(), "shared older");
  EXPECT_FALSE(fs::exists(dir() / "checkpoint_best.part.safetensors"));
}

}  // namespace
}  // namespace paceline::workload
