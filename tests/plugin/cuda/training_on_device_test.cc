// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <numeric>

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
  auto trainer = cuda_plugin().make<plugin::Role::kTrainer>("cuda");
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

std::unique_ptr<plugin::RankGroup> join_alone(const std::string& name = "nccl") {
  const auto& backend = cuda_plugin().entry<plugin::Role::kBackend>(name);
  plugin::Rendezvous where;
  where.serve = true;
  plugin::GroupSpec spec;
  spec.device = {DeviceKind::kCuda, 0};
  return backend.join(backend.connect(where), spec);
}

// As the tool calls it: the outcomes that steps give by themselves, then what finish adds.
std::vector<plugin::StepOutcome> outcomes(plugin::Trainer& trainer, int steps) {
  std::vector<plugin::StepOutcome> all;
  torch_test::Diary unread;
  for (int step = 0; step < steps; ++step) {
    auto data = torch_test::samples(trainer, 4 * step);
    std::vector<TensorView> views;
    for (auto& tensor : data) views.push_back(tensor.view());
    trainer.open_step();
    const auto outcome = trainer.step(views, 0.02, unread);
    EXPECT_EQ(outcome.has_value(), step > 0) << "step " << step;
    if (outcome) all.push_back(*outcome);
  }
  while (const auto rest = trainer.finish()) all.push_back(*rest);
  return all;
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

TEST_F(TrainingOnDevice, AStepIsGivenWithTheNextOneAndHasTheDevicesTimes) {
  const auto trainer = trainer_on_device({}, nullptr);
  const auto all = outcomes(*trainer, 4);
  ASSERT_EQ(all.size(), 4U);
  const auto plain = losses(*trainer_on_device({}, nullptr));
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_NEAR(all[i].loss, plain[i], 1e-5 * plain[i]);
    const auto& times = all[i].device_times.value();
    const auto parts = std::accumulate(times.phase_ns.begin(), times.phase_ns.end(), times.data_wait_ns);
    EXPECT_NEAR(static_cast<double>(parts), static_cast<double>(times.step_ns), 10'000)
        << "half a microsecond per mark";
    for (const auto phase :
         {plugin::StepPhase::kForward, plugin::StepPhase::kBackward, plugin::StepPhase::kOptimizer})
      EXPECT_GT(times.phase_ns[static_cast<std::size_t>(phase)], 0);
  }
}

TEST_F(TrainingOnDevice, EndsOfBucketsAreTimedOverNcclAndMissingOverGloo) {
  for (const bool timed : {true, false}) {
    const auto group = join_alone(timed ? "nccl" : "gloo");
    const auto trainer = trainer_on_device({}, group.get());
    const auto times = outcomes(*trainer, 3).back().device_times.value();
    ASSERT_FALSE(times.buckets.empty());
    for (const auto& bucket : times.buckets) {
      EXPECT_EQ(bucket.finished_ns.has_value(), timed);
      EXPECT_LE(bucket.launched_ns, bucket.finished_ns.value_or(times.step_ns));
    }
  }
}

TEST_F(TrainingOnDevice, TheProfileRanksByTheDevicesTime) {
  const auto trainer = trainer_on_device({}, nullptr);
  losses(*trainer);
  const auto profiler = trainer->profiler();
  ASSERT_TRUE(profiler);
  const torch_test::TemporaryFolder folder;
  profiler->start();
  torch_test::train(*trainer, torch_test::samples(*trainer, 0), 0.02);
  const auto profile = profiler->stop(folder.file("trace.json"));
  EXPECT_EQ(profile.no_trace, "");
  EXPECT_GT(profile.device_busy_ns.value_or(0), 0);
  ASSERT_FALSE(profile.operators.empty());
  EXPECT_GT(profile.operators.front().self_ns.value_or(0), 0);
}

TEST_F(TrainingOnDevice, ACheckpointOfTheCpuContinuesHere) {
  const torch_test::TemporaryFolder folder;
  torch_test::make_trainer({})->save(folder.file("cpu"), true);
  const auto trainer = trainer_on_device({}, nullptr);
  trainer->restore(folder.file("cpu"), folder.file("cpu"));
  expect_near(losses(*trainer), losses(*torch_test::make_trainer({})), 1e-3);
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
