// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"
#include "config/plan_text.h"
#include "plan_helpers.h"

// The plans that ship, and those in the documentation.
namespace paceline::config {
namespace {

const std::filesystem::path kSource = PACELINE_SOURCE_DIR;

Plan load_plan(const std::filesystem::path& file) {
  const PlanText plan = read_plan_text(file);
  return load_plan_text(plan.text, plan.source);
}

Plan example(const std::string& name) {
  return load_plan(kSource / "examples/plans" / name);
}

TEST(ExamplePlans, AllLoadExpandAndRoundTrip) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "examples/plans")) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path().string());
    const Plan plan = load_plan(entry.path());
    EXPECT_FALSE(expand(plan).empty());
    EXPECT_TRUE(same_plan(plan, load_plan_text(effective_yaml(plan), "effective.yaml")));
    ++found;
  }
  EXPECT_GE(found, 6);
}

TEST(ExamplePlans, ScalingMatrix) {
  const Plan plan = example("scaling_matrix.yaml");
  EXPECT_EQ(plan.experiment_name, "resnet50_scaling");
  const auto& workload = plan.workloads.at(0);
  EXPECT_EQ(workload.kind, WorkloadKind::kTraining);
  EXPECT_EQ(workload.settings.texts("gpu_counts"), (std::vector<std::string>{"1", "2", "4", "8"}));
  EXPECT_TRUE(workload.settings.flag("profiling.enabled"));
  EXPECT_EQ(workload.settings.text("profiling.tool"), "nsys");
  EXPECT_EQ(workload.settings.text("profiling.trigger"), "sync_stall_detection");
  EXPECT_EQ(expand(plan).size(), 2U * 3 * 4);
  for (const auto& item : expand(plan)) EXPECT_EQ(item.not_available, "");
}

TEST(ExamplePlans, TrainingRun) {
  const Plan plan = example("training_run.yaml");
  EXPECT_EQ(plan.experiment_name, "training_run");
  const auto& s = plan.workloads.at(0).settings;
  EXPECT_EQ(plan.workloads[0].kind, WorkloadKind::kTraining);
  EXPECT_EQ(s.texts("models"), (std::vector<std::string>{"resnet50"}));
  EXPECT_EQ(s.texts("precisions"), (std::vector<std::string>{"bf16"}));
  EXPECT_EQ(s.texts("batch_sizes"), (std::vector<std::string>{"128"}));
  EXPECT_EQ(s.texts("layouts"), (std::vector<std::string>{"channels_last"}));
  EXPECT_EQ(s.integer("training.epochs"), 5);
  EXPECT_DOUBLE_EQ(s.number("training.lr"), 0.1);
  EXPECT_EQ(s.text("data.source"), "synthetic");
  EXPECT_EQ(s.integer("benchmark.measure_steps"), 100);
  EXPECT_FALSE(s.flag("benchmark.sync_cuda"));
  EXPECT_DOUBLE_EQ(s.number("ddp.bucket_cap_mb"), 25);
  EXPECT_TRUE(s.flag("ddp.gradient_as_bucket_view"));
  EXPECT_EQ(s.text("ddp.comm_hook"), "none");
  const auto cases = expand(plan);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].label, "resnet50 train bf16 b128 r1 channels_last");
  EXPECT_EQ(cases[0].not_available, "");
}

TEST(ExamplePlans, InferenceMatrix) {
  const auto cases = expand(example("inference_matrix.yaml"));
  ASSERT_EQ(cases.size(), 2U * 5 * 5 * 4);
  for (const auto& item : cases) {
    EXPECT_EQ(item.not_available, "");
    EXPECT_EQ(item.settings.integer("iterations"), 100);
    EXPECT_EQ(item.settings.integer("warmup_iterations"), 10);
    ASSERT_TRUE(item.baseline_id);
    EXPECT_NE(item.baseline_id->find("-eager-fp32-"), std::string::npos);
  }
}

TEST(ExamplePlans, QuickstartComparesTheEnginesOfTheCpu) {
  const auto cases = expand(example("quickstart.yaml"));
  std::set<std::string> engines;
  for (const auto& item : cases) {
    engines.insert(item.settings.text("engine"));
    EXPECT_EQ(item.settings.integer("repetitions"), 6);
    EXPECT_LE(item.settings.number("stop.t_max_s"), 1);
    EXPECT_LE(item.settings.integer("warmup_iterations"), 5);
    EXPECT_EQ(item.not_available, "");
    EXPECT_TRUE(item.baseline_id);
  }
  EXPECT_EQ(engines, (std::set<std::string>{"eager", "torchscript", "onnxruntime", "openvino"}));
  EXPECT_EQ(cases.size(), engines.size());
}

TEST(ExamplePlans, GpuStudyHasAColumnOfItsTableForEachWayToRun) {
  const auto cases = expand(example("gpu_study.yaml"));
  ASSERT_EQ(cases.size(), 2U * 2 * 2 * 4);
  std::map<std::string, int> columns;
  for (const auto& item : cases) {
    EXPECT_EQ(item.not_available, "");
    EXPECT_EQ(item.settings.text("device"), "cuda");
    ++columns[item.settings.text("engine") + " " + item.settings.text("precision")];
    ASSERT_TRUE(item.baseline_id);
    EXPECT_NE(item.baseline_id->find("-eager-fp32-"), std::string::npos);
  }
  for (const char* column : {"eager fp32", "eager amp_fp16", "torchscript fp32", "torchscript amp_fp16"})
    EXPECT_EQ(columns[column], 2 * 4) << column;
}

TEST(ExamplePlans, CpuBaselineHoldsEveryModel) {
  const auto cases = expand(example("cpu_baseline.yaml"));
  for (const char* model : {"resnet50", "vit_b_16", "bert-large", "gpt2", "tiny_cnn"})
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const Case& c) {
      return c.settings.text("model") == model;
    })) << model;
  for (const auto& item : cases) EXPECT_EQ(item.not_available, "") << item.id;
}

// Blocks of ```yaml in docs/plans.md are plans.
TEST(Documentation, PlansInItLoad) {
  const std::string text = read_file(kSource / "docs/plans.md");
  int blocks = 0;
  for (std::size_t at = text.find("```yaml\n"); at != std::string::npos; at = text.find("```yaml\n", at)) {
    const std::size_t begin = at + 8, end = text.find("```", begin);
    ASSERT_NE(end, std::string::npos);
    const std::string block = text.substr(begin, end - begin);
    SCOPED_TRACE(block);
    EXPECT_FALSE(expand(load_plan_text(block, "docs/plans.md")).empty());
    ++blocks;
    at = end;
  }
  EXPECT_GE(blocks, 5);
}

}  // namespace
}  // namespace paceline::config
