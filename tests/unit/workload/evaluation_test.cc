// SPDX-License-Identifier: MIT
#include "workload/training/evaluation.h"

#include <gtest/gtest.h>

#include <mutex>

#include "support/thread_group.h"
#include "unit/workload/scratch_folder.h"
#include "unit/workload/text_trainer.h"
#include "workload/training/data/held_out.h"

namespace paceline::workload {
namespace {

constexpr std::int64_t kEvalBatch = 2;

// Records of CIFAR-100, all of one label.
std::string records(int count, char label) {
  std::string bytes;
  for (int i = 0; i < count; ++i)
    bytes += std::string{'\0', label} + std::string(std::size_t{3} * 32 * 32, '\x40');
  return bytes;
}

// Finds every label below 7 right; its loss is the sum of the labels of a batch.
class JudgingTrainer : public test::TextTrainer {
 public:
  [[nodiscard]] std::vector<TensorSpec> batch_specs() const override {
    return {{"input", DType::kFloat32, {kEvalBatch, 3, 32, 32}}, {"labels", DType::kInt64, {kEvalBatch}}};
  }
  plugin::StepOutcome evaluate(std::span<const TensorView> batch) override {
    plugin::StepOutcome outcome;
    const auto* labels = static_cast<const std::int64_t*>(batch[1].data);
    for (std::int64_t i = 0; i < kEvalBatch; ++i) {
      outcome.loss += static_cast<double>(labels[i]);
      outcome.correct += labels[i] < 7 ? 1 : 0;
    }
    outcome.judged = kEvalBatch;
    return outcome;
  }
};

class Said : public pass::RecordSink {
 public:
  void emit(const nlohmann::json& record) override {
    if (record["type"] == "progress") words += record["progress"]["notice"].get<std::string>() + "\n";
  }
  std::string words;
};

class HeldOut : public ::testing::Test {
 protected:
  HeldOut() {
    folder_.write("set/train.bin", records(20, 1));
    folder_.write("set/test.bin", records(7, 9) + records(6, 3));
    train_.data.source = "cifar100";
    train_.data.path = (folder_ / "set").string();
    spec_.model.name = "tiny";
  }
  test::ScratchFolder folder_;
  pass::PassSpec spec_;
  pass::TrainSpec& train_ = spec_.task.emplace<pass::TrainSpec>();
};

TEST_F(HeldOut, IsFoundByNames) {
  const auto& data = train_.data;
  EXPECT_TRUE(has_held_out(data));
  pass::DataSpec of_file = data;
  of_file.path += "/train.bin";
  EXPECT_TRUE(has_held_out(of_file));
  std::filesystem::remove(folder_ / "set/test.bin");
  EXPECT_FALSE(has_held_out(data));
  EXPECT_FALSE(has_held_out(of_file));
  EXPECT_FALSE(has_held_out(pass::DataSpec{}));
}

TEST_F(HeldOut, OfAnImageFolderIsBesideTrain) {
  pass::DataSpec data;
  data.source = "image_folder";
  data.path = (folder_ / "pictures").string();
  folder_.write("pictures/train/cat/1.png", "");
  EXPECT_FALSE(has_held_out(data));
  EXPECT_EQ(image_folder_of(data), data.path);  // one class of that name
  folder_.write("pictures/val/cat/2.png", "");
  EXPECT_TRUE(has_held_out(data));
  EXPECT_EQ(image_folder_of(data), folder_ / "pictures/train");
  data.held_out = true;
  EXPECT_EQ(image_folder_of(data), folder_ / "pictures/val");
}

TEST_F(HeldOut, IsSeenOnceByAllRanksTogether) {
  spec_.world_size = 2;
  std::mutex guard;
  std::size_t told = 0;
  test::on_ranks(2, [&](plugin::RankGroup& group) {
    auto mine = spec_;
    mine.rank = group.rank();
    JudgingTrainer trainer;
    Said said;
    TaggedSink sink(said, mine);
    Evaluation evaluation(mine, trainer, &group, sink);
    ASSERT_TRUE(evaluation.due_after(0));
    evaluation.run(0);
    EXPECT_FALSE(evaluation.due_after(0));
    const std::scoped_lock lock(guard);
    told += evaluation.figures().size();
    if (group.rank() != 0) return;
    const auto& f = evaluation.figures().at(0);
    EXPECT_EQ(f.samples, Count(12));                   // 13, of which four fill a step
    EXPECT_DOUBLE_EQ(*f.loss, (7 * 9.0 + 5 * 3) / 6);  // six batches
    EXPECT_DOUBLE_EQ(*f.accuracy, 5.0 / 12);
    EXPECT_NE(said.words.find("epoch 0: held-out loss 13.0000, accuracy 41.7 % (12 samples"),
              std::string::npos)
        << said.words;
  });
  EXPECT_EQ(told, 1U);
}

TEST_F(HeldOut, IsLookedAtAfterEverySoManyEpochs) {
  JudgingTrainer trainer;
  Said said;
  TaggedSink sink(said, spec_);
  train_.eval_every_epochs = 3;
  const Evaluation third(spec_, trainer, nullptr, sink);
  std::vector<std::int64_t> due;
  for (std::int64_t epoch = 0; epoch < 7; ++epoch)
    if (third.due_after(epoch)) due.push_back(epoch);
  EXPECT_EQ(due, (std::vector<std::int64_t>{2, 5}));
  train_.eval_every_epochs = 0;
  EXPECT_FALSE(Evaluation(spec_, trainer, nullptr, sink).due_after(0));
}

TEST_F(HeldOut, UnusableDataAreNamedAndLeftAlone) {
  folder_.write("set/test.bin", "cut off");
  JudgingTrainer trainer;
  Said said;
  TaggedSink sink(said, spec_);
  EXPECT_FALSE(Evaluation(spec_, trainer, nullptr, sink).due_after(0));
  EXPECT_NE(said.words.find("no evaluation"), std::string::npos) << said.words;
  EXPECT_NE(said.words.find("test.bin"), std::string::npos) << said.words;
}

}  // namespace
}  // namespace paceline::workload
