// SPDX-License-Identifier: MIT
// The configuration files of GPU training suites, key by key.
#include <gmock/gmock.h>

#include "base/text.h"
#include "config/key_remarks.h"
#include "config/older_flags.h"
#include "plan_helpers.h"

namespace paceline::config {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// With the names, sections and nulls of such a file.
constexpr std::string_view kSuite = R"(data:
  name: cifar100
  path: null
  batch_size: 256
  num_workers: 8
  pin_memory: true
  prefetch_factor: 4
  persistent_workers: true
model:
  name: resnet50
  num_classes: 100
  channels_last: true
training:
  epochs: 3
  precision: bf16
  optimizer: SGD
  learning_rate: 0.2
  weight_decay: 0.0001
  momentum: 0.9
  grad_clip_norm: 1.5
  compile: {enabled: false, mode: default}
  seed: 1337
  cudnn_benchmark: true
benchmark:
  enabled: true
  warmup_steps: 20
  measure_by: steps
  measure_steps: 200
  measure_seconds: 60
  log_step_times: true
  sync_cuda: false
  evaluate_after: false
distributed:
  backend: gloo
  gradient_accumulation_steps: 2
  world_size: null
  local_rank: null
  node_rank: null
run:
  experiment_name: cifar_resnet50
  run_id: null
  save_dir: ./out
  capture_env: true
  commit_hash: auto
  notes: null
profiling: null
)";

TEST(SuiteFiles, EveryKeyHasItsEffect) {
  ASSERT_THAT(mistakes_of(kSuite), ElementsAre());
  const auto plan = plan_of(kSuite);
  EXPECT_EQ(plan.experiment_name, "cifar_resnet50");
  EXPECT_EQ(plan.settings.text("output_dir"), "./out");
  const auto& s = plan.workloads.at(0).settings;
  EXPECT_EQ(plan.workloads.at(0).kind, WorkloadKind::kTraining);
  EXPECT_EQ(s.text("data.source"), "cifar100");
  EXPECT_FALSE(s.has("data.path"));
  EXPECT_EQ(s.integer("data.workers"), 8);
  EXPECT_EQ(s.integer("data.prefetch"), 4);
  EXPECT_EQ(s.text("training.optimizer"), "sgd");
  EXPECT_EQ(s.integer("training.num_classes"), 100);
  EXPECT_EQ(s.number("training.lr"), 0.2);
  EXPECT_EQ(s.number("training.clip_norm"), 1.5);
  EXPECT_EQ(s.integer("training.seed"), 1337);
  EXPECT_EQ(s.integer("training.accumulation_steps"), 2);
  EXPECT_EQ(s.integer("benchmark.measure_steps"), 200);
  EXPECT_FALSE(s.has("benchmark.measure_seconds"));
  EXPECT_EQ(s.integer("eval.every_epochs"), 0);
  EXPECT_EQ(s.text("backend"), "gloo");
}

TEST(SuiteFiles, EveryKeyOfTheSuiteHasAnEffectOrNothingToSay) {
  EXPECT_THAT(plan_of(kSuite).remarks, ElementsAre());
}

TEST(SuiteFiles, TheDefaultPlanAndItsWrittenFormSayNothing) {
  const auto plan = plan_of(kSuite);
  const auto again = plan_of(effective_yaml(plan));
  EXPECT_THAT(again.remarks, ElementsAre());
  EXPECT_TRUE(same_plan(plan, again));
}

std::string suite_with(const std::string& from, const std::string& to) {
  std::string text(kSuite);
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(SuiteFiles, MeasureByChoosesTheLength) {
  const auto by_time = plan_of(suite_with("measure_by: steps", "measure_by: time")).workloads.at(0).settings;
  EXPECT_EQ(by_time.number("benchmark.measure_seconds"), 60);
  EXPECT_FALSE(by_time.has("benchmark.measure_steps"));
  EXPECT_THAT(mistake_of(suite_with("measure_by: steps\n  measure_steps: 200", "measure_by: epochs")),
              HasSubstr("'epochs' is none of steps, time"));
  EXPECT_THAT(mistake_of("training: {lr: 1}\nmodel: tiny_cnn\nbenchmark: {measure_by: time}\n"),
              HasSubstr("add benchmark.measure_seconds: 60"));
  const auto typed = parse_flags(std::vector<std::string>{"--measure-seconds", "5"}, kTrain);
  EXPECT_EQ(plan_of(kSuite, typed).workloads.at(0).settings.number("benchmark.measure_seconds"), 5);
}

TEST(SuiteFiles, RefusalsSayWhatToWrite) {
  EXPECT_THAT(
      plan_of(suite_with("enabled: false, mode", "enabled: true, mode")).remarks,
      testing::Contains(HasSubstr("training.compile.enabled 'true' has no effect: torch.compile is not")));
  EXPECT_THAT(mistake_of(suite_with("node_rank: null", "node_rank: 1")),
              HasSubstr("distributed.node_rank '1' cannot be used: write --node-rank N"));
  EXPECT_THAT(mistake_of(suite_with("notes: null", "note: x")), HasSubstr("unknown key 'run.note'"));
}

TEST(SuiteFiles, TheCommitIsReadAndNotTyped) {
  EXPECT_THAT(plan_of(suite_with("commit_hash: auto", "commit_hash: 4f2a")).remarks,
              Contains(HasSubstr("p.yaml:44:16: run.commit_hash '4f2a' has no effect: ")));
}

TEST(SuiteFiles, ANoteIsALineAndAList) {
  const auto notes = [](const std::string& written) {
    return plan_of(suite_with("notes: null", "notes: " + written)).settings.texts("note");
  };
  EXPECT_THAT(notes("a, [b] & c"), ElementsAre("a, [b] & c"));
  EXPECT_THAT(notes("\"\""), ElementsAre());
  EXPECT_THAT(notes("[first, second]"), ElementsAre("first", "second"));
  EXPECT_THAT(notes("|\n    of a block\n"), ElementsAre("of a block"));
  const auto mistake = [](const std::string& written) {
    return mistake_of(suite_with("notes: null", "notes: " + written));
  };
  EXPECT_THAT(mistake("\"a\\x1b[31mb\""),
              HasSubstr("p.yaml:45:10: run.notes 'a\\x1b[31mb' has a control character"));
  EXPECT_THAT(mistake("|\n    two\n    lines\n"), HasSubstr("several notes are a list"));
  EXPECT_THAT(mistake(std::string(4097, 'x')), HasSubstr("has 4097 bytes; a note has at most 4096"));
}

TEST(SuiteFiles, ANoteOfTheCommandLineKeepsItsCommas) {
  const auto flags = parse_flags(std::vector<std::string>{"--note", "lr 0.1, warm", "--note", "wip"}, kTrain);
  EXPECT_THAT(plan_of(kSuite, flags).settings.texts("note"), ElementsAre("lr 0.1, warm", "wip"));
}

TEST(SuiteFiles, NullIsNotSetAndAMissingValueIsAMistake) {
  EXPECT_EQ(mistake_of(suite_with("path: null", "path:")), "p.yaml:3:3: 'data.path' has no value");
  EXPECT_THAT(mistakes_of(suite_with("path: null", "path: ~")), ElementsAre());
  EXPECT_THAT(mistake_of(suite_with("path: null", "pathh: null")), HasSubstr("did you mean 'data.path'?"));
}

TEST(SuiteFiles, OverridesOfTheCommandLineAreTheSameKeys) {
  const auto flags =
      parse_flags(std::vector<std::string>{"--training.learning_rate=0.4", "--data.pin_memory=true",
                                           "--benchmark.evaluate_after=true", "--run.notes=second try"},
                  kTrain);
  EXPECT_TRUE(flags.problems.empty());
  EXPECT_THAT(flags.remarks, ElementsAre());
  const auto plan = plan_of(kSuite, flags);
  EXPECT_THAT(plan.settings.texts("note"), ElementsAre("second try"));
  const auto& s = plan.workloads.at(0).settings;
  EXPECT_EQ(s.number("training.lr"), 0.4);
  EXPECT_EQ(s.integer("eval.every_epochs"), 1);
}

TEST(SuiteFiles, FlagsOfTrainingScriptsAreTaken) {
  const auto flags = parse_flags(
      std::vector<std::string>{"--monitor", "--log-interval", "10", "--persistent-workers", "--no-pin-memory",
                               "--no-drop-last", "--persistent_workers", "false", "--lr", "0.1"},
      kTrain);
  EXPECT_TRUE(flags.problems.empty());
  EXPECT_EQ(flags.settings.size(), 2U) << "lr, and monitor";
  EXPECT_THAT(flags.remarks,
              ElementsAre(HasSubstr("--log-interval '10' has no effect"), HasSubstr("--pin-memory 'false'"),
                          HasSubstr("--drop-last 'false'"), HasSubstr("--persistent_workers 'false'")));
}

TEST(SuiteFiles, NoRemarkStandsForAnOption) {
  for (const auto& row : key_remarks()) {
    for (const auto& key : split(row.keys, ','))
      EXPECT_EQ(row.keys.empty() ? nullptr : find_option(key, row.kinds), nullptr) << key;
    for (const auto& flag : split(row.flags, ','))
      EXPECT_EQ(row.flags.empty() ? nullptr : find_flag(flag, kTrain), nullptr) << flag;
  }
  EXPECT_THAT(older_flags_markdown(), HasSubstr("| `data.pin_memory`, `--pin-memory` | true | "));
}

}  // namespace
}  // namespace paceline::config
