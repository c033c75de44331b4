// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "plugin/cuda/cuda_plugin.h"
#include "plugin/torch/training_driver.h"

// The trainer on a device, by itself and as the one rank of a group on NCCL, against the trainer on the CPU.
namespace paceline::cuda_test {
namespace {

using torch_test::Training;

class TrainingOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto problem = device_problem(); !problem.empty()) GTEST_SKIP() << problem;
  }
};

std::unique_ptr<plugin::Trainer> trainer_on_device(const Training& what, plugin::RankGroup* group) {
  auto trainer = cuda_plugin().make_trainer("cuda");
  plugin::ModelSpec model;
  model.name = what.model;
  model.inputs = torch_test::inputs_of(what.model, what.batch);
  model.weights_seed = what.weights_seed;
  trainer->load(model, what.settings, group);
  return trainer;
}

std::vector<double> losses(plugin::Trainer& trainer) {
  std::vector<double> all;
  for (int step = 0; step < 5; ++step)
    all.push_back(torch_test::train(trainer, torch_test::samples(trainer, 4 * step), 0.02).loss);
  return all;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double share) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], share * b[i]) << "step " << i;
}

std::unique_ptr<plugin::RankGroup> join_alone() {
  const auto& nccl = cuda_plugin().backend("nccl");
  plugin::Rendezvous where;
  where.serve = true;
  plugin::GroupSpec spec;
  spec.device = {DeviceKind::kCuda, 0};
  return nccl.join(nccl.connect(where), spec);
}

TEST_F(TrainingOnDevice, AgreesWithTheCpu) {
  const auto on_device = losses(*trainer_on_device({}, nullptr));
  expect_near(on_device, losses(*torch_test::make_trainer({})), 1e-3);
}

TEST_F(TrainingOnDevice, OneRankOnNcclIsPlainTraining) {
  const auto group = join_alone();
  group->barrier();
  EXPECT_EQ(group->gather("me"), std::vector<std::string>{"me"});
  const auto trainer = trainer_on_device({}, group.get());
  expect_near(losses(*trainer), losses(*trainer_on_device({}, nullptr)), 1e-4);
  EXPECT_FALSE(trainer->info().bucket_bytes.empty());
  EXPECT_GT(trainer->info().peak_tensor_bytes.value_or(0), 0);
}

TEST_F(TrainingOnDevice, AmpTrains) {
  Training what;
  what.settings.precision = "amp";
  const auto trainer = trainer_on_device(what, nullptr);
  const auto outcome = torch_test::train(*trainer, torch_test::samples(*trainer, 0), 0.02);
  EXPECT_TRUE(outcome.loss_scale);
  EXPECT_GT(outcome.loss, 0);
}

}  // namespace
}  // namespace paceline::cuda_test
