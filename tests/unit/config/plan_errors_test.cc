// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>

#include "config/plan_text.h"
#include "plan_helpers.h"
#include "support/declared_options.h"

// Every class of mistake a plan can hold, with its place and its words.
namespace paceline::config {
namespace {

struct Wrong {
  const char* line;  // third line of an inference plan
  const char* mistake;
};
class WrongLine : public testing::TestWithParam<Wrong> {};

TEST_P(WrongLine, IsReportedAtItsPlace) {
  EXPECT_EQ(mistake_of(with_line(GetParam().line)), GetParam().mistake);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongLine,
    testing::Values(
        Wrong{"batch_size: 8",
              "p.yaml:3:1: unknown key 'batch_size' in an inference workload; did you mean 'batch_sizes'? (a "
              "list: [1, 8])"},
        Wrong{"stop: {t_mx_s: 4}",
              "p.yaml:3:8: unknown key 'stop.t_mx_s' in an inference workload; did you mean 'stop.t_max_s'?"},
        Wrong{"t_max_s: 4",
              "p.yaml:3:1: unknown key 't_max_s' in an inference workload; did you mean 'stop.t_max_s'?"},
        Wrong{"zzzzzzzz: 4", "p.yaml:3:1: unknown key 'zzzzzzzz' in an inference workload"},
        Wrong{"ddp: {static_graph: true}",
              "p.yaml:3:1: unknown key 'ddp' in an inference workload; it belongs to a workload of kind "
              "training"},
        Wrong{"gpu_counts: [1]",
              "p.yaml:3:1: unknown key 'gpu_counts' in an inference workload; it belongs to a workload of "
              "kind training, "
              "collective"},
        Wrong{
            "scenario: offline\ncross_check: true",
            "p.yaml:4:14: cross_check compares one inference after the other; keep scenario: sync, or leave "
            "it out"},
        Wrong{"iterations: [10]", "p.yaml:3:13: a list where a whole number belongs, in 'iterations'"},
        Wrong{"stop: {t_max_s: [1, 2]}", "p.yaml:3:17: a list where a number belongs, in 'stop.t_max_s'"},
        Wrong{"iterations: {n: 10}", "p.yaml:3:13: a map where a whole number belongs, in 'iterations'"},
        Wrong{"iterations: ten", "p.yaml:3:13: iterations 'ten' is not a whole number (from 1 to 100000000)"},
        Wrong{"iterations: -10", "p.yaml:3:13: iterations '-10' is out of range: from 1 to 100000000"},
        Wrong{"warmup_iterations: -1",
              "p.yaml:3:20: warmup_iterations '-1' is out of range: from 0 to 10000000"},
        Wrong{"batch_sizes: [1, 0]",
              "p.yaml:3:18: batch_sizes '0' is out of range: from 1 to 1000000 samples"},
        Wrong{"batch: 010",
              "p.yaml:3:8: batch '010' has a leading zero, which some readers take for octal; write it "
              "without"},
        Wrong{"batch_sizes: [1, [2]]",
              "p.yaml:3:18: a list where a whole number belongs, in the list 'batch_sizes'"},
        Wrong{"batch_sizes: one",
              "p.yaml:3:14: batch_sizes 'one' is not a whole number (from 1 to 1000000 samples)"},
        Wrong{"env: {X: \"a\\0b\"}",
              "p.yaml:3:10: env.X 'a\\x00b' holds a NUL character, at which the system would cut it"},
        Wrong{"batch_sizes: []", "p.yaml:3:14: 'batch_sizes' is an empty list"},
        Wrong{"batch_sizes: [8, 1, 8]", "p.yaml:3:21: '8' is listed twice in 'batch_sizes'"},
        Wrong{"timeout_s: ''", "p.yaml:3:12: timeout_s '' is empty; a number belongs here"},
        Wrong{"timeout_s:", "p.yaml:3:1: 'timeout_s' has no value"},
        Wrong{"timeout_s: .nan", "p.yaml:3:12: timeout_s '.nan' is not a number (from 0.1 to 604800 s)"},
        Wrong{"stop: 5",
              "p.yaml:3:7: a single value where a section belongs: 'stop' has n_min, n_max, t_min_s, "
              "t_max_s, "
              "quantiles, rel_halfwidth_p50, rel_halfwidth_p90, rel_halfwidth_p99, check_growth"},
        Wrong{"env: 3", "p.yaml:3:6: a single value where a map belongs: env: {NAME: value}"},
        Wrong{"env: {2X: 3}", "p.yaml:3:7: '2X' is no name of an environment variable (letters, digits, _)"},
        Wrong{"env: {X: {y: 1}}", "p.yaml:3:10: a map where text belongs, in 'env.X'"},
        Wrong{"env: {X: }", "p.yaml:3:7: 'env.X' has no value"},
        Wrong{"[a, b]: 3", "p.yaml:3:1: a list where a key belongs"},
        Wrong{"layout: channel_last",
              "p.yaml:3:9: layout 'channel_last' is none of contiguous, channels_last; did you mean "
              "'channels_last'?"},
        Wrong{"channels_last: 3", "p.yaml:3:16: channels_last '3' is neither true nor false"},
        Wrong{"stop: {n_min: 50, n_max: 10}", "p.yaml:3:26: stop.n_min (50) is larger than stop.n_max (10)"},
        Wrong{"stop: {t_max_s: 0.5}",
              "p.yaml:3:17: stop.t_min_s (1, the default) is larger than stop.t_max_s (0.5); "
              "add stop.t_min_s: 0.5"},
        Wrong{"baseline: {enginge: eager}",
              "p.yaml:3:12: baseline names the axis 'enginge', which this workload does not have (model, "
              "engine, precision, "
              "batch, threads, layout, …)"},
        Wrong{"baseline: {engine: torchscript}",
              "p.yaml:3:20: baseline engine 'torchscript' is not measured here; engines: eager"},
        Wrong{"shapes: input:1x3",
              "p.yaml:3:9: shapes are for model files; the built-in models have their own: use batch_sizes "
              "and sequence_lengths"},
        Wrong{"weights: missing.safetensors",
              "p.yaml:3:10: weights 'missing.safetensors' does not exist; check the path"},
        Wrong{"experiment_name: a/b",
              "p.yaml:3:18: experiment_name 'a/b' names a folder: letters, digits, '_', '-' and '.' only"}));

TEST(PlanErrors, GpusThatContradictEachOther) {
  EXPECT_EQ(mistake_of(with_line("gpus: [0]")), "p.yaml:3:8: gpus '0' is out of range: from 1 to 256");
  EXPECT_EQ(mistake_of(with_line("devices: [1, 1]")), "p.yaml:3:14: '1' is listed twice in 'devices'");
  EXPECT_EQ(mistake_of(with_line("gpus: 2\ndevice: cpu")),
            "p.yaml:3:7: 'gpus' is for several CUDA devices, and device is 'cpu'; leave one of the two out");
  EXPECT_EQ(
      mistake_of(with_line("devices: [1]\ndevice: cuda:1")),
      "p.yaml:3:11: 'devices' is for several CUDA devices, and device is 'cuda:1'; leave one of the two out");
  EXPECT_EQ(
      mistake_of(with_line("gpus: [1, 2]\ndevices: [0, 2, 3]")),
      "p.yaml:4:11: 'devices' names 3 devices, and 'gpus' asks for 2; name as many as the largest number");
  EXPECT_EQ(mistake_of(with_line("gpus: 2\nscenario: closed_loop\ninstances: 2")),
            "p.yaml:3:7: 'gpus' and 'instances' exclude each other; keep one");
  EXPECT_EQ(
      mistake_of(with_line("gpus: 2\nscenario: sync")),
      "p.yaml:3:7: 'gpus' is for the scenarios closed_loop, server and offline; add scenario: closed_loop");
  EXPECT_EQ(mistake_of(with_line("gpus: 2\ntiming: pipelined")),
            "p.yaml:4:9: 'timing' is for the scenario sync, and 'gpus' for those with a queue; leave one of "
            "the two out");
  EXPECT_EQ(mistakes_of(with_line("gpus: [1, 2]\ndevices: [3, 1]\ninstances_per_device: 2\n"
                                  "threads_per_instance: 2")),
            std::vector<std::string>());
}

TEST(PlanErrors, WhatBlocksOfInferencesCannotDo) {
  EXPECT_EQ(mistake_of(with_line("overlap: true")),
            "p.yaml:3:10: 'overlap' is for timing pipelined, add timing pipelined");
  EXPECT_EQ(mistake_of(with_line("timing: sync\noverlap: true")),
            "p.yaml:4:10: 'overlap' is for timing pipelined, not with timing sync");
  EXPECT_EQ(mistake_of(with_line("timing: pipelined\ncache_mode: cold")),
            "p.yaml:4:13: 'cache_mode' is for timing sync, not with timing pipelined");
  EXPECT_EQ(mistake_of(with_line("timing: pipelined\nfeedback: [y:x]")),
            "p.yaml:4:12: 'feedback' is for timing sync, not with timing pipelined");
  EXPECT_EQ(mistake_of(with_line(""), run_flags({"--cache-mode", "cold", "--timing", "pipelined"})),
            "--cache-mode cold: '--cache-mode' is for --timing sync, not with --timing pipelined");
  EXPECT_EQ(mistakes_of(with_line("timing: [sync, pipelined]\ncache_mode: cold\noverlap: true")),
            std::vector<std::string>());
}

TEST(PlanErrors, AProviderOfAGpuNeedsOne) {
  ::paceline::test::use_options_of_this_build();
  const std::string line = "engine: onnxruntime\nonnxruntime: {provider: cuda}\n";
  EXPECT_EQ(mistake_of(with_line(line)),
            "p.yaml:4:25: 'onnxruntime.provider cuda' runs on a GPU; add device: cuda");
  EXPECT_EQ(mistakes_of(with_line(line + "device: cuda")), std::vector<std::string>());
}

TEST(PlanErrors, BeyondAHundredTheRestIsNotRead) {
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += "zzzzzzzz" + std::to_string(i) + ": 1\n";
  const auto mistakes = mistakes_of(with_line(lines));
  ASSERT_EQ(mistakes.size(), 101U);
  EXPECT_EQ(mistakes.back(), "p.yaml:103:1: further mistakes are not shown: from here on nothing was read");
}

TEST(PlanErrors, TwoWaysToSetOneOption) {
  EXPECT_EQ(mistake_of(with_line("batch: 1\nbatch_sizes: [8]")),
            "p.yaml:4:1: 'batch_sizes' and 'batch' (line 3) set the same option; keep one");
  EXPECT_EQ(mistake_of(with_line("channels_last: true\nlayouts: [contiguous]")),
            "p.yaml:4:1: 'layouts' and 'channels_last' (line 3) set the same option; keep one");
  EXPECT_EQ(mistake_of(with_line("batch: 1\nbatch: 8")),
            "p.yaml:4:1: duplicate key 'batch', first on line 3; keep one");
  EXPECT_EQ(mistake_of(with_line("warmup: {mode: auto}\nwarmup_iterations: 5")),
            "p.yaml:4:20: warmup_iterations fixes the warm-up, and warmup.mode asks for auto; keep one");
  EXPECT_EQ(mistake_of(with_line("load_inputs: [/dev/null]\nimage_dir: d")),
            "p.yaml:3:15: 'load_inputs' and 'image_dir' exclude each other; keep one");
  EXPECT_EQ(mistake_of(with_line("accuracy: {max_rel_err: 0.1, quantile_err: 0.1}")),
            "p.yaml:3:25: 'accuracy.max_rel_err' and 'accuracy.quantile_err' exclude each other; keep one");
}

TEST(PlanErrors, AStateIsAnOutputAndAnInput) {
  for (const char* pair : {"state", "state:", ":state"})
    EXPECT_EQ(
        mistake_of(with_line("feedback: ['" + std::string(pair) + "']")),
        "p.yaml:3:12: feedback '" + std::string(pair) + "' is no OUTPUT:INPUT, e.g. state_out:state_in");
  EXPECT_TRUE(mistakes_of(with_line("feedback: ['out:0:in:0']")).empty());
}

TEST(PlanErrors, KindOfWorkload) {
  EXPECT_EQ(mistake_of("models: [resnet50]\n"),
            "p.yaml:1:1: what kind of workload is this? add 'kind: inference', 'kind: training' or 'kind: "
            "collective'");
  EXPECT_EQ(mistake_of("kind: inferense\nmodels: [resnet50]\n"),
            "p.yaml:1:7: kind 'inferense' is none of inference, training, collective; did you mean "
            "'inference'?");
}

TEST(PlanErrors, NoModel) {
  EXPECT_EQ(mistake_of("kind: inference\n"), "p.yaml:1:1: no model is named; add models: [resnet50]");
}

TEST(PlanErrors, NotAMap) {
  EXPECT_EQ(mistake_of("[1, 2]\n"), "p.yaml:1:1: a plan is a map of keys, and this is a list");
  EXPECT_EQ(mistake_of("hello\n"), "p.yaml:1:1: a plan is a map of keys, and this is a single value");
}

TEST(PlanErrors, ListOfWorkloads) {
  EXPECT_EQ(mistake_of("workloads: []\n"),
            "p.yaml:1:12: 'workloads' is a list with at least one workload: - kind: inference");
  EXPECT_EQ(mistake_of("workloads: 3\n"),
            "p.yaml:1:12: 'workloads' is a list with at least one workload: - kind: inference");
  EXPECT_EQ(mistake_of("workloads:\n  - 3\n"),
            "p.yaml:2:5: a single value where a workload (a map of keys) belongs");
  EXPECT_EQ(mistake_of("models: [gpt2]\nworkloads:\n  - {kind: inference, model: gpt2}\n"),
            "p.yaml:1:1: unknown key 'models' beside 'workloads'; it belongs to a workload of kind "
            "inference, training");
  EXPECT_EQ(mistake_of("workloads:\n  - {kind: inference, model: gpt2, expect: ['a < 1']}\n"),
            "p.yaml:2:36: unknown key 'expect' in an inference workload; it belongs to the top of the plan, "
            "beside 'workloads'");
}

TEST(PlanErrors, AllOfAFileAtOnceInReadingOrder) {
  const auto mistakes =
      mistakes_of("kind: inference\nmodels: [resnet5]\nbatch: 0\nstop: {n_min: x, t_max: 3}\ntimeout_s: ''\n",
                  run_flags({"--pin=maybe", "--bath", "3"}));
  ASSERT_EQ(mistakes.size(), 7U);
  EXPECT_EQ(mistakes[0].substr(0, 12), "p.yaml:2:10:");
  EXPECT_EQ(mistakes[1].substr(0, 11), "p.yaml:3:8:");
  EXPECT_EQ(mistakes[2].substr(0, 12), "p.yaml:4:15:");
  EXPECT_EQ(mistakes[3].substr(0, 12), "p.yaml:4:18:");
  EXPECT_EQ(mistakes[4].substr(0, 12), "p.yaml:5:12:");
  EXPECT_EQ(mistakes[5], "--bath: unknown option; did you mean '--batch'?");
  EXPECT_EQ(mistakes[6], "--pin=maybe: pin 'maybe' is neither true nor false");
}

TEST(PlanErrors, TextIsReadyToPrint) {
  try {
    plan_of(with_line("batch: 0\npin: 3"));
    FAIL() << "it loaded";
  } catch (const ConfigErrors& errors) {
    EXPECT_EQ(errors.code(), ErrorCode::kConfig);
    EXPECT_STREQ(errors.what(),
                 "p.yaml:3:8: batch '0' is out of range: from 1 to 1000000 samples\n"
                 "paceline: p.yaml:4:6: pin '3' is neither true nor false\n"
                 "2 errors, nothing was run");
  }
}

TEST(PlanErrors, MissingFile) {
  try {
    read_plan_text("no/such/plan.yaml");
    FAIL() << "it loaded";
  } catch (const ConfigErrors& errors) {
    EXPECT_NE(std::string(errors.what()).find("no/such/plan.yaml"), std::string::npos);
    EXPECT_NE(std::string(errors.what()).find("No such file"), std::string::npos);
  }
}

TEST(PlanErrors, OverridesReplaceAndAreCheckedAlike) {
  EXPECT_TRUE(mistakes_of(with_line("batch: 0"), run_flags({"--batch", "4"})).empty());
  EXPECT_EQ(mistake_of(with_line("batch: 4"), run_flags({"--batch", "0"})),
            "--batch 0: batch '0' is out of range: from 1 to 1000000 samples");
  EXPECT_EQ(mistake_of(with_line("batch: 4"), run_flags({"--stop.t_max_s=abc"})),
            "--stop.t_max_s=abc: stop.t_max_s 'abc' is not a number (from 0.001 to 86400 s)");
  EXPECT_EQ(mistake_of(with_line("batch: 4"), run_flags({"--epochs", "3"})),
            "--epochs 3: no workload of this plan takes 'training.epochs' (it is for kind training)");
  EXPECT_EQ(mistake_of(with_line("batch: 4"), run_flags({"--iters", "1,8"})),
            "--iters 1,8: iterations '1,8' is not a whole number (from 1 to 100000000)");
}

TEST(PlanErrors, AFlagThatSeveralWorkloadsTakeIsWrongOnce) {
  const auto* const twice =
      "workloads:\n  - {kind: inference, models: [resnet50]}\n  - {kind: inference, models: [vit_b_16]}\n";
  EXPECT_EQ(mistake_of(twice, run_flags({"--batch", "0"})),
            "--batch 0: batch '0' is out of range: from 1 to 1000000 samples");
}

TEST(PlanErrors, ModelFileNeedsShapes) {
  const TemporaryFile file("paceline_config_net.pt", "content"), empty("paceline_config_empty.pt");
  const auto mistake = [](const auto& model) {
    return mistake_of("kind: inference\nmodel: " + model.path() + "\n");
  };
  EXPECT_EQ(mistake(empty), "p.yaml:2:8: model '" + empty.path() + "' is empty; copy or download it again");
  EXPECT_EQ(mistake(file), "p.yaml:2:8: model '" + file.path() +
                               "' needs shapes for its inputs, e.g. shapes: 'input:1x3x224x224'");
  const TemporaryFile text("paceline_config_net.txt");
  EXPECT_EQ(mistake_of("kind: inference\nmodel: " + text.path() + "\nshapes: 'x:1x2'\n").substr(0, 12),
            "p.yaml:2:8: ");
}

}  // namespace
}  // namespace paceline::config
