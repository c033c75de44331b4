// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <numeric>

#include "plugin/registry.h"
#include "training_driver.h"

// The trainer on a device that works on its own, against the trainer on the CPU.
namespace paceline::torch_test {
namespace {

using plugin::StepOutcome;

const plugin::LoadedPlugin& lagging_plugin() {
  static const plugin::LoadedPlugin loaded{LAGGING_PLUGIN_FILE};
  return loaded;
}

std::unique_ptr<plugin::Trainer> make_lagging(const Training& what, plugin::RankGroup* group = nullptr) {
  plugin::ModelSpec model;
  model.name = what.model;
  model.inputs = inputs_of(what.model, what.batch, what.length);
  model.weights_seed = what.weights_seed;
  auto trainer = lagging_plugin().make<plugin::Role::kTrainer>("cpu");
  trainer->load(model, what.settings, group);
  return trainer;
}

// All outcomes of so many steps on samples of their own, in the order in which they came; `late`: how many
// came with finish.
std::vector<StepOutcome> outcomes(plugin::Trainer& trainer, int steps, int& late) {
  std::vector<StepOutcome> all;
  Diary unread;
  for (int step = 0; step < steps; ++step) {
    auto data = samples(trainer, 4 * step);
    std::vector<TensorView> views;
    for (auto& tensor : data) views.push_back(tensor.view());
    trainer.open_step();
    if (const auto outcome = trainer.step(views, 0.02, unread)) all.push_back(*outcome);
  }
  late = 0;
  for (auto rest = trainer.finish(); rest; rest = trainer.finish(), ++late) all.push_back(*rest);
  return all;
}

void expect_same_steps(const Training& what) {
  int late = 0;
  const auto trainer = make_trainer(what), behind = make_lagging(what);
  const auto expected = outcomes(*trainer, 4, late);
  EXPECT_EQ(late, 0);
  const auto found = outcomes(*behind, 4, late);
  EXPECT_EQ(late, 1);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].loss, expected[i].loss) << "step " << i;
    EXPECT_EQ(found[i].judged, expected[i].judged);
    EXPECT_EQ(found[i].loss_scale, expected[i].loss_scale);
    EXPECT_TRUE(found[i].device_times && !expected[i].device_times);
  }
  EXPECT_EQ(behind->fingerprint(), trainer->fingerprint());
}

TEST(LaggingTrainer, TrainsAsTheOtherOneStepLate) {
  expect_same_steps({});
  Training accumulated;
  accumulated.settings.accumulation_steps = 1;
  accumulated.settings.optimizer.name = "adamw";
  expect_same_steps(accumulated);
  Training amp;
  amp.settings.precision = "amp";
  amp.settings.options["emulate_16bit"] = "true";
  expect_same_steps(amp);
}

TEST(LaggingTrainer, PartsOfAStepAddUp) {
  int late = 0;
  const auto trainer = make_lagging({});
  for (const auto& outcome : outcomes(*trainer, 3, late)) {
    const auto& times = outcome.device_times.value();
    const auto parts = std::accumulate(times.phase_ns.begin(), times.phase_ns.end(), times.data_wait_ns);
    EXPECT_EQ(parts, times.step_ns);
    EXPECT_GT(times.phase_ns[static_cast<std::size_t>(plugin::StepPhase::kBackward)], 0);
    EXPECT_TRUE(times.buckets.empty());
  }
}

TEST(LaggingTrainer, BucketsAreMarkedOnTheDevice) {
  const Listener listener;
  plugin::GroupSpec alone;
  const auto group =
      lagging_plugin().entry<plugin::Role::kBackend>("gloo").join(connect(listener, true), alone);
  int late = 0;
  const auto trainer = make_lagging({}, group.get());
  const auto all = outcomes(*trainer, 3, late);
  const auto& times = all.back().device_times.value();
  ASSERT_FALSE(times.buckets.empty());
  EXPECT_EQ(times.buckets.size(), trainer->info().bucket_bytes.size());
  for (const auto& bucket : times.buckets) {
    EXPECT_GT(bucket.launched_ns, 0);
    ASSERT_TRUE(bucket.finished_ns);
    EXPECT_LE(bucket.launched_ns, *bucket.finished_ns);
    EXPECT_LE(*bucket.finished_ns, times.step_ns);
  }
}

TEST(LaggingTrainer, SaysWhoseClockItReads) {
  const auto clock_of = [](const plugin::Trainer& trainer) {
    for (const auto& [name, value] : trainer.info().settings)
      if (name == "step_times") return value;
    return std::string();
  };
  EXPECT_EQ(clock_of(*make_lagging({})), "marks on the device's own clock");
  EXPECT_EQ(clock_of(*make_trainer({})), "the host's clock");
}

}  // namespace
}  // namespace paceline::torch_test
