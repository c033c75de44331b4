// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "plan_helpers.h"

namespace paceline::config {
namespace {

void expect_round_trip(const Plan& plan) {
  const std::string yaml = effective_yaml(plan);
  const Plan again = load_plan_text(yaml, "effective.yaml");
  EXPECT_TRUE(same_plan(plan, again)) << yaml;
  EXPECT_EQ(effective_yaml(again), yaml);
}

TEST(EffectiveYaml, WritesEveryDefaultOut) {
  const std::string yaml = effective_yaml(plan_of("kind: inference\nmodels: [resnet50]\n"));
  for (const char* line : {"experiment_name: p\n", "output_dir: results\n", "  - kind: inference\n",
                           "    engines: [eager]\n", "    batch_sizes: [1]\n", "    stop:\n      n_min: 30\n",
                           "      t_max_s: 60\n", "    timeout_s: 600\n", "    confidence: 0.95\n"})
    EXPECT_NE(yaml.find(line), std::string::npos) << line;
}

TEST(EffectiveYaml, LoadsAgainToTheSamePlan) {
  expect_round_trip(plan_of("kind: inference\nmodels: [gpt2]\nsequence_lengths: [64, 128]\n"));
  expect_round_trip(plan_of(with_line("warmup_iterations: 10\niterations: 100\nchannels_last: true")));
  expect_round_trip(plan_of(with_line(
      "stop: {quantiles: [0.5, 0.99], rel_halfwidth_p50: 1.0e-5}\nweights_seed: 9000000000000000")));
  expect_round_trip(plan_of(
      with_line("engines: [eager, torchscript]\nbatch: [1, 8]\nbaseline: {engine: torchscript, batch: 8}")));
  expect_round_trip(
      plan_of("kind: collective\nmax_bytes: 1G\nstep_bytes: 64K\nstep_factor: 4\ngpu_counts: [2, 4]\n"));
  expect_round_trip(
      plan_of("training: {precision: amp, lr: 0.05}\nmodel: {name: resnet50, channels_last: true}\n"));
}

TEST(EffectiveYaml, QuotesWhatYamlWouldMistake) {
  expect_round_trip(
      plan_of(with_line("env: {A: ['true', '8', '010', 'no', '~', 'a: b', '#x', ' y ', '\"', '\\'], B: "
                        "\"tab\\there\\nand ünï\"}\n"
                        "expect: ['efficiency@4 >= 0.85', 'p50_ms < 60']\nexperiment_name: "
                        "'2024'\nprecisions: [int8]\nquantisation.exclude: ['a,b', '-x']\n"
                        "baseline: {env.A: '010'}")));
}

TEST(EffectiveYaml, KeepsOverridesAndSeveralWorkloads) {
  const char* yaml =
      "workloads:\n  - {kind: inference, model: gpt2}\n  - {kind: training, model: resnet50, gpu_counts: [1, "
      "2]}\n";
  const Plan plan =
      plan_of(yaml, run_flags({"--repetitions=6", "--expect=p50_ms < 3", "--allow-noisy", "--yes"}));
  const std::string text = effective_yaml(plan);
  EXPECT_NE(text.find("repetitions: 6"), std::string::npos);
  EXPECT_NE(text.find("expect: [\"p50_ms < 3\"]"), std::string::npos);
  EXPECT_EQ(text.find("yes"), std::string::npos);
  expect_round_trip(plan);
}

TEST(EffectiveYaml, LoadsAgainWithManyWorkloads) {
  std::string yaml = "workloads:\n";
  for (int i = 0; i < 1000; ++i) yaml += "  - {kind: inference, model: gpt2}\n";
  const Plan plan = plan_of(yaml);
  EXPECT_TRUE(same_plan(plan, load_plan_text(effective_yaml(plan), "effective.yaml")));
  EXPECT_EQ(mistake_of(yaml + "  - {kind: inference, model: gpt2}\n"),
            "p.yaml:2:3: 'workloads' has 1001 entries, more than 1000");
}

TEST(EffectiveYaml, ExpandsToTheSameCases) {
  const Plan plan = plan_of(with_line("engines: [eager, torchscript]\nenv: {X: [b, a]}\nbatch: [8, 1]"));
  const auto before = expand(plan);
  const auto after = expand(load_plan_text(effective_yaml(plan), "effective.yaml"));
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].id, after[i].id);
    EXPECT_EQ(before[i].baseline_id, after[i].baseline_id);
    EXPECT_TRUE(before[i].settings == after[i].settings);
  }
}

}  // namespace
}  // namespace paceline::config
