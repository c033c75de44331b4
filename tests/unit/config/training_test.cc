// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "config/training/training_rules.h"
#include "plan_helpers.h"

namespace paceline::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> labels_of(const std::string& lines) {
  std::vector<std::string> labels;
  for (const auto& item : expand(plan_of("kind: training\nmodel: tiny_cnn\n" + lines)))
    labels.push_back(item.label);
  return labels;
}

std::string reason_of(const std::string& lines) {
  return expand(plan_of("kind: training\n" + lines)).at(0).not_available;
}

std::string training_mistake(const std::string& lines) {
  return mistake_of("kind: training\nmodel: tiny_cnn\n" + lines);
}

FlagSet train_flags(std::vector<std::string> arguments) {
  return parse_flags(arguments, kTrain);
}

TEST(TrainingPlans, NamesSayModelPrecisionBatchAndRanks) {
  EXPECT_THAT(labels_of("gpu_counts: [1, 2]\nprecisions: [fp32, bf16]\n"),
              ElementsAre("tiny_cnn train fp32 b32 r1", "tiny_cnn train fp32 b32 r2",
                          "tiny_cnn train bf16 b32 r1", "tiny_cnn train bf16 b32 r2"));
}

TEST(TrainingPlans, StrongScalingDividesABatchAmongTheRanks) {
  EXPECT_THAT(labels_of("gpu_counts: [1, 2, 4]\nbatch_sizes: [64]\nscaling: strong\n"),
              ElementsAre("tiny_cnn train fp32 b64 r1 strong", "tiny_cnn train fp32 b32 r2 strong",
                          "tiny_cnn train fp32 b16 r4 strong"));
  EXPECT_THAT(training_mistake("gpu_counts: [1, 3]\nbatch_sizes: [32]\ntraining: {scaling: strong}\n"),
              HasSubstr("a batch of 32 cannot be divided among 3 ranks"));
}

TEST(TrainingPlans, DdpWithOneRankIsACaseOfItsOwn) {
  EXPECT_THAT(labels_of("gpu_counts: [1, 2]\nddp: {enabled: [auto, true]}\n"),
              ElementsAre("tiny_cnn train fp32 b32 r1", "tiny_cnn train fp32 b32 r1 ddp=true",
                          "tiny_cnn train fp32 b32 r2"));
  EXPECT_THAT(labels_of("gpu_counts: [1, 2]\nddp: {enabled: [false, true]}\n"),
              ElementsAre("tiny_cnn train fp32 b32 r1 ddp=false", "tiny_cnn train fp32 b32 r1 ddp=true",
                          "tiny_cnn train fp32 b32 r2 ddp=false", "tiny_cnn train fp32 b32 r2 ddp=true"));
}

TEST(TrainingPlans, WorkersAreAnAxisWhereTheyMakeBatches) {
  EXPECT_THAT(labels_of("data: {synthetic_fresh: true, workers: [1, 4]}\n"),
              ElementsAre("tiny_cnn train fp32 b32 r1 w1", "tiny_cnn train fp32 b32 r1 w4"));
  EXPECT_THAT(labels_of("data: {workers: [1, 4]}\n"), ElementsAre("tiny_cnn train fp32 b32 r1 w1"));
  EXPECT_THAT(labels_of("data: {synthetic_fresh: true, workers: 4}\n"),
              ElementsAre("tiny_cnn train fp32 b32 r1"));
}

TEST(TrainingPlans, WaysOfDdpAreForCasesThatHaveIt) {
  EXPECT_THAT(labels_of("gpu_counts: [1, 2]\nddp: {comm_hook: [none, bf16_compress]}\n"),
              ElementsAre("tiny_cnn train fp32 b32 r1", "tiny_cnn train fp32 b32 r2",
                          "tiny_cnn train fp32 b32 r2 bf16_compress"));
  const auto cases =
      expand(plan_of("kind: training\nmodel: tiny_cnn\nranks: 2\nddp: {bucket_cap_mb: [25, 1]}\n"));
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[1].baseline_id, cases[0].id);
}

TEST(TrainingPlans, OnlyWhatCannotBeIsSkipped) {
  EXPECT_EQ(reason_of("model: tiny_cnn\nprofiling: {enabled: true, tool: nsys}\n"), "");
  EXPECT_EQ(reason_of("model: tiny_cnn\nddp: {comm_hook: powersgd}\n"),
            "ddp.comm_hook 'powersgd' is not available yet");
  EXPECT_EQ(reason_of("model: tiny_cnn\nranks: 2\nddp: {enabled: false}\n"), "");
  EXPECT_THAT(reason_of("model: tiny_cnn\nranks: 2\nddp: {enabled: false}\ncheckpoint: {dir: saved}\n"),
              HasSubstr("a checkpoint contains one"));
  EXPECT_THAT(reason_of("model: gpt2\ndata: {source: cifar100}\n"), HasSubstr("gpt2 takes sequences"));
  EXPECT_THAT(reason_of("model: gpt2\ntraining: {num_classes: 3}\n"), HasSubstr("gpt2 predicts tokens"));
  EXPECT_THAT(reason_of("model: gpt2\nsequence_length: 4096\n"), HasSubstr("at most 1024 tokens"));
  EXPECT_EQ(reason_of("model: tiny_cnn\nbackend: nccl\ndevice: cpu\n"), "") << "gloo, with a line";
  const TemporaryFile file("paceline_training.onnx");
  EXPECT_THAT(reason_of("model: " + file.path() + "\n"), HasSubstr("training takes the built-in models"));
}

TEST(TrainingPlans, SequencesAreAnAxisOfLanguageModels) {
  const auto cases =
      expand(plan_of("kind: training\nmodels: [gpt2, tiny_cnn]\nsequence_lengths: [64, 128]\n"));
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0].label, "gpt2 train fp32 b32 r1 s64");
}

TEST(TrainingPlans, MistakesAreNamed) {
  EXPECT_THAT(training_mistake("training: {optimizer: sdg}\n"), HasSubstr("did you mean 'sgd'?"));
  EXPECT_THAT(training_mistake("training: {schedule: cosine}\n"),
              HasSubstr("needs training.epochs or training.lr_total_steps; add training.epochs: 10"));
  EXPECT_THAT(training_mistake("training: {schedule: step}\n"),
              HasSubstr("needs training.epochs or training.lr_step_size"));
  EXPECT_THAT(training_mistake("training: {betas: [0.9]}\n"), HasSubstr("two numbers below 1, not 0.9"));
  EXPECT_THAT(training_mistake("training: {schedule: cosine, lr_warmup_steps: 9, lr_total_steps: 5}\n"),
              HasSubstr("training.lr_warmup_steps (9) is larger than training.lr_total_steps (5)"));
  EXPECT_THAT(training_mistake("training: {num_classes: 1}\n"), HasSubstr("num_classes"));
  EXPECT_THAT(training_mistake("training: {nesterov: true, momentum: 0}\n"), HasSubstr("needs a momentum"));
  EXPECT_THAT(training_mistake("data: {source: cifar1000}\n"), HasSubstr("did you mean 'cifar100'?"));
  EXPECT_THAT(training_mistake("data: {source: image_folder}\n"), HasSubstr("needs data.path"));
  EXPECT_THAT(training_mistake("data: {path: somewhere}\n"),
              HasSubstr("data.source is synthetic unless it is written"));
  EXPECT_THAT(training_mistake("data: {source: npz, path: no/such.npz}\n"), HasSubstr("does not exist"));
  EXPECT_THAT(training_mistake("checkpoint: {resume: true}\n"), HasSubstr("needs checkpoint.dir"));
  EXPECT_THAT(training_mistake("checkpoint: {every_steps: 5}\n"),
              HasSubstr("needs checkpoint.dir; add checkpoint.dir: checkpoints"));
  EXPECT_THAT(training_mistake("batch_size: 8\n"), HasSubstr("did you mean 'batch_sizes'? (a list: [1, 8])"));
  EXPECT_THAT(training_mistake("device: cuda:1\n"), HasSubstr("none of auto, cpu, cuda"));
  EXPECT_THAT(training_mistake("benchmark: {measure_steps: 5, measure_seconds: 2}\n"),
              HasSubstr("exclude each other"));
}

TEST(TrainingPlans, SchedulesTakeTheirLengthFromEpochs) {
  for (const std::string schedule : {"cosine", "step", "CosineAnnealingLR", "StepLR"})
    EXPECT_TRUE(
        mistakes_of("kind: training\nmodel: tiny_cnn\ntraining: {epochs: 3, schedule: " + schedule + "}\n")
            .empty())
        << schedule;
  EXPECT_TRUE(
      mistakes_of("kind: training\nmodel: tiny_cnn\ntraining: {epochs: 3, scheduler: CosineAnnealingLR}\n")
          .empty());
}

TEST(TrainingPlans, AModelFileIsAnsweredWithAWayToTrainItsWeights) {
  const TemporaryFile file("paceline_training.pt");
  const auto mistakes = mistakes_of("kind: training\nmodel: " + file.path() + "\n");
  ASSERT_EQ(mistakes.size(), 1U);
  EXPECT_THAT(mistakes.front(),
              HasSubstr("paceline_training.pt' is a file, and training takes built-in models"));
  EXPECT_THAT(mistakes.front(), HasSubstr("--model resnet50 --weights w.safetensors"));
}

TEST(TrainingPlans, BetasAreBelowOneAndMayBeEqual) {
  EXPECT_THAT(training_mistake("training: {betas: [1, 1]}\n"), HasSubstr("below 1, not 1, 1"));
  EXPECT_TRUE(mistakes_of("kind: training\nmodel: tiny_cnn\ntraining: {betas: [0.9, 0.9]}\n").empty());
  EXPECT_THAT(training_mistake("training: {momentum: 1}\n"), HasSubstr("training.momentum is below 1"));
}

TEST(TrainingPlans, AFaultThatCannotComeIsAMistake) {
  EXPECT_THAT(training_mistake("inject: bad\n"), HasSubstr("use kill:rank=1,step=50"));
  EXPECT_THAT(training_mistake("ranks: [1, 2]\ninject: 'kill:rank=2,step=1'\n"),
              HasSubstr("there is no rank 2; ranks go from 0 to 1"));
  EXPECT_THAT(training_mistake("inject: 'slow=1s:rank=1'\n"), HasSubstr("the only one is rank 0"));
  const std::string fixed = "benchmark: {warmup_steps: 2, measure_steps: 3}\n";
  EXPECT_THAT(training_mistake(fixed + "inject: 'kill:step=5'\n"), HasSubstr("there is no step 5; "));
  EXPECT_THAT(training_mistake(fixed + "inject: 'kill:step=5'\n"), HasSubstr("from 0 to 4"));
  for (const std::string& lines :
       {fixed + "inject: 'kill:step=4'\n", std::string("inject: 'kill:step=500'\n"),
        fixed + "training: {epochs: 2}\ninject: 'kill:step=5'\n",
        fixed + "checkpoint: {dir: a, resume: true}\ninject: 'kill:step=5'\n"})
    EXPECT_TRUE(mistakes_of("kind: training\nmodel: tiny_cnn\n" + lines).empty()) << lines;
}

TEST(TrainingPlans, PathsOfDataAreLookedAt) {
  const TemporaryFile file("paceline_training.npz");
  const std::string folder = testing::TempDir();
  const auto data = [](const std::string& source, const std::string& path) {
    return "data: {source: " + source + ", path: '" + path + "'}\n";
  };
  EXPECT_THAT(training_mistake(data("image_folder", file.path())),
              HasSubstr("is a file; image_folder takes a folder"));
  EXPECT_THAT(training_mistake(data("npz", folder)), HasSubstr("is a folder; npz takes a file"));
  EXPECT_THAT(training_mistake(data("token_file", file.path())),
              HasSubstr("must end in one of .bin, .u16, .u32"));
  EXPECT_THAT(training_mistake(data("cifar100", "no/such.tgz")), HasSubstr("does not exist"));
  EXPECT_THAT(training_mistake(data("npz", "/dev/null")), HasSubstr("neither a file nor a folder"));
  EXPECT_THAT(training_mistake(data("npz", file.path() + "/x")), HasSubstr("does not exist"));
  EXPECT_TRUE(mistakes_of("kind: training\nmodel: resnet50\n" + data("cifar100", folder)).empty());
}

TEST(TrainingPlans, ModelsThatMeasureThePeakAreNotTrained) {
  EXPECT_THAT(reason_of("model: peak_gemm\n"), HasSubstr("cannot be trained"));
}

TEST(TrainingPlans, AnEpochHoldsAStepOfEveryCase) {
  EXPECT_THAT(training_mistake("batch_sizes: [8, 64]\ngpu_counts: [1, 4]\ndata: {synthetic_samples: 255}\n"),
              HasSubstr("takes 256 samples"));
  EXPECT_TRUE(
      mistakes_of("kind: training\nmodel: tiny_cnn\nbatch: 64\nranks: 4\ndata: {synthetic_samples: 256}\n")
          .empty());
}

TEST(TrainingPlans, TheOptimizerSuitsTheModel) {
  const auto optimizer = [](const std::string& lines) {
    return optimizer_of(expand(plan_of("kind: training\n" + lines)).at(0));
  };
  EXPECT_EQ(optimizer("model: resnet50\n"), "sgd");
  EXPECT_EQ(optimizer("model: gpt2\n"), "adamw");
  EXPECT_EQ(optimizer("model: gpt2\ntraining: {optimizer: sgd}\n"), "sgd");
}

TEST(TrainFlags, MakeATrainingWorkload) {
  const Plan plan = plan_from_flags(train_flags(
      {"--model", "resnet50", "--ranks", "1,2", "--batch-size", "8", "--epochs", "3", "--lr", "0.2", "--seed",
       "7", "--workers", "1", "--amp", "--data.source", "synthetic", "--steps", "20"}));
  ASSERT_EQ(plan.workloads.size(), 1U);
  const auto& w = plan.workloads[0];
  EXPECT_EQ(w.kind, WorkloadKind::kTraining);
  EXPECT_EQ(w.settings.texts("gpu_counts"), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(w.settings.integer("training.epochs"), 3);
  EXPECT_EQ(w.settings.integer("training.seed"), 7);
  EXPECT_EQ(w.settings.integer("data.workers"), 1);
  EXPECT_EQ(w.settings.text("precisions"), "amp");
  EXPECT_EQ(w.settings.integer("benchmark.measure_steps"), 20);
  EXPECT_EQ(plan.experiment_name, "train");
}

TEST(TrainFlags, TorchrunsWordsSayTheWorld) {
  const auto ranks = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--model", "tiny_cnn"});
    return plan_from_flags(train_flags(std::move(arguments))).workloads[0].settings.texts("gpu_counts");
  };
  EXPECT_THAT(ranks({"--nproc-per-node", "2", "--nnodes=3"}), ElementsAre("6"));
  EXPECT_THAT(ranks({"--nproc_per_node=2"}), ElementsAre("2"));
  EXPECT_THAT(ranks({"--nnodes", "2", "--ranks", "4"}), ElementsAre("4"));
  const Plan plan = plan_of("kind: training\nmodel: tiny_cnn\n", run_flags({"--nproc-per-node=2"}));
  EXPECT_THAT(plan.workloads[0].settings.texts("gpu_counts"), ElementsAre("2"));
}

TEST(TrainFlags, AnImpliedWorldIsThatOfWorkloadsThatDoNotSayTheirs) {
  const auto worlds = [](FlagSet flags, const std::string& plan) {
    RawSetting world;
    world.name = "gpu_counts", world.values = {{"4", {}, false}};
    flags.implied.push_back(world);
    std::vector<std::vector<std::string>> all;
    for (const auto& w : plan_of(plan, flags).workloads)
      if (w.settings.has("gpu_counts")) all.push_back(w.settings.texts("gpu_counts"));
    return all;
  };
  const std::string two =
      "workloads:\n  - {kind: training, model: tiny_cnn}\n  - {kind: training, model: tiny_cnn, ranks: [1, "
      "2]}\n"
      "  - {kind: inference, model: tiny_cnn}\n";
  EXPECT_THAT(worlds(run_flags({}), two), ElementsAre(ElementsAre("4"), ElementsAre("1", "2")));
  EXPECT_THAT(worlds(run_flags({"--ranks=3"}), two), ElementsAre(ElementsAre("3"), ElementsAre("3")));
}

TEST(TrainFlags, TheValueOfAnUnknownFlagIsNoPlan) {
  const auto flags = train_flags({"--modle", "tiny_cnn"});
  EXPECT_TRUE(flags.positionals.empty());
  ASSERT_EQ(flags.problems.size(), 1U);
  EXPECT_THAT(flags.problems[0].text(), HasSubstr("did you mean '--model'?"));
}

TEST(TrainFlags, AreItsOwn) {
  EXPECT_EQ(find_flag("--seed", kInfer)->name, "input_seed");
  EXPECT_EQ(find_flag("--seed", kTrain)->name, "training.seed");
  EXPECT_EQ(find_flag("--engine", kTrain), nullptr);
  EXPECT_EQ(find_flag("--rdzv-timeout", kTrain)->name, "rdzv_timeout_s");
  const std::string help = render_help(kTrain);
  for (const char* flag :
       {"--lr X", "--epochs N", "--ranks N,…", "--inject TEXT", "--node-rank N", "-c, --config"})
    EXPECT_THAT(help, HasSubstr(flag));
  EXPECT_EQ(help.find("--engine"), std::string::npos);
}

}  // namespace
}  // namespace paceline::config
