// SPDX-License-Identifier: MIT
#include "config/idle_options.h"

#include <gmock/gmock.h>

#include "plan_helpers.h"

namespace paceline::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> said_of_plan(const std::string& lines, std::string_view device = "cpu") {
  const Plan plan = plan_of("kind: training\n" + lines);
  return without_effect(plan, expand(plan), WorkloadKind::kTraining, device);
}

// Asks for one case of tiny_cnn.
std::string said(const std::string& lines, std::string_view device = "cpu") {
  return without_effect(expand(plan_of("kind: training\nmodel: tiny_cnn\n" + lines)).at(0), device);
}

TEST(TrainingEffects, DefaultsAreNoRequests) {
  EXPECT_EQ(said(""), "");
  const Plan plan = plan_of("kind: training\nmodel: gpt2\n");
  EXPECT_THAT(without_effect(plan, expand(plan), WorkloadKind::kTraining, "cpu"), ElementsAre());
  const Plan written = plan_of(effective_yaml(plan));
  EXPECT_THAT(without_effect(written, expand(written), WorkloadKind::kTraining, "cpu"), ElementsAre());
}

struct Idle {
  std::string lines, said;
};
class WithoutEffect : public testing::TestWithParam<Idle> {};

TEST_P(WithoutEffect, IsSaidWithItsReason) {
  EXPECT_EQ(said(GetParam().lines), GetParam().said);
}

INSTANTIATE_TEST_SUITE_P(
    All, WithoutEffect,
    testing::Values(
        Idle{"training: {optimizer: adamw, momentum: 0.8, nesterov: true}",
             "training.momentum, training.nesterov (adam and adamw have none)"},
        Idle{"training: {optimizer: sgd, betas: [0.8, 0.9], eps: 1e-6}",
             "training.betas, training.eps (sgd has none)"},
        Idle{"training: {lr_total_steps: 100, lr_final: 0.1, lr_gamma: 0.5}",
             "training.lr_total_steps, training.lr_final (for training.schedule: cosine); training.lr_gamma "
             "(for "
             "training.schedule: step)"},
        Idle{"training: {dropout: false}", "training.dropout (the model has none)"},
        Idle{"training: {drift_check_every: 5}",
             "training.drift_check_every (one rank has nothing to drift from)"},
        Idle{"data: {source: synthetic, path: somewhere}", "data.path (synthetic data have no files)"},
        Idle{"data: {workers: 4, prefetch: 3, shuffle: false}",
             "data.workers, data.prefetch, data.shuffle (synthetic data are one batch; data.synthetic_fresh: "
             "true "
             "makes a new batch for every step)"},
        Idle{"data: {fresh: true, workers: 0, prefetch: 3}",
             "data.prefetch (with data.workers: 0 batches are made in the step itself)"},
        Idle{"data: {augment: false}\neval: {every_epochs: 2}",
             "data.augment, eval.every_epochs (for data.source: cifar10, cifar100 and image_folder)"},
        Idle{"ddp: {bucket_cap_mb: 5, static_graph: true, comm_hook: bf16_compress}",
             "ddp.bucket_cap_mb, ddp.static_graph, ddp.comm_hook (the case runs without DDP)"},
        Idle{"backend: gloo\ngroup_timeout_s: 5", "backend, group_timeout_s (one rank meets nobody)"},
        Idle{"checkpoint: {keep: 5}", "checkpoint.keep (no checkpoint.dir)"},
        Idle{"stop: {n_min: 40}\nbenchmark: {measure_steps: 5}",
             "stop.n_min (how long is measured is fixed)"},
        Idle{"training: {cudnn_benchmark: false}\nbenchmark: {sync_cuda: true}",
             "training.cudnn_benchmark (the case runs on the CPU); benchmark.sync_cuda (on the CPU a step is "
             "over "
             "when it returns)"}));

TEST(TrainingEffects, ListsNoOptionsWithAnEffect) {
  for (const char* lines :
       {"training: {optimizer: sgd, momentum: 0.8, nesterov: true, lr_warmup_steps: 5}",
        "training: {schedule: cosine, lr_total_steps: 9, lr_final: 0.1}", "data: {fresh: true, workers: 1}",
        "ranks: 2\nddp: {bucket_cap_mb: 5}\nbackend: gloo\ntraining: {drift_check_every: 2}",
        "ddp: {enabled: true, comm_hook: bf16_compress}\ngroup_timeout_s: 5", "checkpoint: {dir: a, keep: 5}",
        "stop: {n_min: 40}", "layout: channels_last"})
    EXPECT_EQ(said(lines), "") << lines;
  EXPECT_EQ(said("training: {cudnn_benchmark: false}\nbenchmark: {sync_cuda: true}", "cuda"), "");
  EXPECT_THAT(said("benchmark: {sync_cuda: true}\ndevice: cpu", "cuda"), HasSubstr("benchmark.sync_cuda"));
}

TEST(TrainingEffects, AFaultOfALargerWorldDoesNotComeInASmallerOne) {
  const auto cases =
      expand(plan_of("kind: training\nmodel: tiny_cnn\nranks: [1, 2]\ninject: 'nan:rank=1,step=2'\n"));
  EXPECT_EQ(without_effect(cases.at(0), "cpu"), "inject (the case has no such rank)");
  EXPECT_EQ(without_effect(cases.at(1), "cpu"), "");
}

TEST(TrainingEffects, APlanListsOptionsThatNoCaseUses) {
  EXPECT_THAT(said_of_plan("models: [resnet50, gpt2]\ntraining: {momentum: 0.8}\n"), ElementsAre());
  EXPECT_THAT(said_of_plan("models: [vit_b_16, gpt2]\ntraining: {momentum: 0.8}\n"),
              ElementsAre("training.momentum (adam and adamw have none)"));
  EXPECT_THAT(said_of_plan("model: tiny_cnn\nranks: [1, 2]\nddp: {bucket_cap_mb: 5}\n"), ElementsAre());
  EXPECT_THAT(said_of_plan("model: resnet50\nsequence_length: 64\n"),
              ElementsAre("sequence_lengths (the model takes no tokens)"));
  EXPECT_THAT(said_of_plan("models: [resnet50, gpt2]\nsequence_length: 64\n"), ElementsAre());
  EXPECT_THAT(
      said_of_plan("model: gpt2\nlayout: channels_last\nddp: {broadcast_buffers: false}\nranks: 2\n"),
      ElementsAre("layouts (the model takes no images); ddp.broadcast_buffers (the model has no running "
                  "statistics)"));
}

TEST(TrainingEffects, CasesThatCannotRunAreLeftOut) {
  EXPECT_THAT(said_of_plan("model: gpt2\ndata: {source: cifar100}\nddp: {bucket_cap_mb: 5}\n"),
              ElementsAre());
}

std::vector<std::string> said_of_inference(const std::string& lines) {
  const Plan plan = plan_of("kind: inference\nmodel: tiny_cnn\n" + lines);
  return without_effect(plan, expand(plan), WorkloadKind::kInference, "cpu");
}

TEST(InferenceEffects, OptionsOfOtherEnginesPrecisionsAndModelsAreSaid) {
  EXPECT_THAT(said_of_inference("iterations: 5"), ElementsAre());
  EXPECT_THAT(said_of_inference("onnxruntime.arena: false\nengines: [eager, onnxruntime]"), ElementsAre());
  EXPECT_THAT(
      said_of_inference("onnxruntime.arena: false\nopenvino.num_streams: 4\nengines: [eager]"),
      ElementsAre("onnxruntime.arena (for engine onnxruntime); openvino.num_streams (for engine openvino)"));
  EXPECT_THAT(said_of_inference("quantisation.method: entropy\nint8_sensitivity: true"),
              ElementsAre("quantisation.method, int8_sensitivity (for precision int8)"));
  EXPECT_THAT(
      said_of_inference("quantisation.method: entropy\nprecisions: [fp32, int8]\nengines: [onnxruntime]"),
      ElementsAre());
  EXPECT_THAT(said_of_inference("sequence_length: 5"),
              ElementsAre("sequence_lengths (the model takes no tokens)"));
  EXPECT_THAT(said_of_inference("iterations: 5\nstop: {n_min: 7, t_max_s: 3}"),
              ElementsAre("stop.n_min, stop.t_max_s (how long is measured is fixed)"));
  EXPECT_THAT(said_of_inference("stop: {n_min: 7, t_max_s: 3}"), ElementsAre());
}

}  // namespace
}  // namespace paceline::config
