// SPDX-License-Identifier: MIT
#include "config/plan_code.h"

#include <gmock/gmock.h>

namespace paceline::config {
namespace {

using testing::ElementsAre;

std::vector<std::string> found(const std::string& yaml) {
  std::vector<std::string> texts;
  for (const auto& one : code_in_plan({yaml, "plan"})) texts.push_back(one.key + "=" + one.value);
  return texts;
}

TEST(PlanCode, PlugInsLibrariesAndProgramsAreFoundUnderEverySpelling) {
  EXPECT_THAT(found("plugins: [a.so, b.so]"), ElementsAre("plugin=a.so", "plugin=b.so"));
  EXPECT_THAT(found("load_library: /x/ops.so"), ElementsAre("load_libraries=/x/ops.so"));
  EXPECT_THAT(found("cross_check_python: ./python3"), ElementsAre("cross_check_python=./python3"));
  EXPECT_THAT(found("cross_check_python: python3.12"), ElementsAre());
}

TEST(PlanCode, TheyAreFoundInEveryWorkloadWithTheirPlace) {
  const auto code =
      code_in_plan({"workloads:\n- kind: inference\n  models: [x.onnx]\n- env:\n    LD_AUDIT: a.so\n", "p"});
  ASSERT_EQ(code.size(), 1U);
  EXPECT_EQ(code[0].key, "env.LD_AUDIT");
  EXPECT_EQ(code[0].place.line, 5);
}

TEST(PlanCode, ModelFilesThatAreProgramsCount) {
  EXPECT_THAT(found("models: [resnet50, a.onnx, b.PT2, c.ts]"), ElementsAre("models=b.PT2", "models=c.ts"));
  EXPECT_THAT(found("models: [absent.bin, script, n.ORT, ir.xml, gpt2]"), ElementsAre());
  EXPECT_THAT(found("accuracy: {reference: onnxruntime}"), ElementsAre());
  EXPECT_THAT(found("engine: made.plan"), ElementsAre("engines=made.plan"));
  EXPECT_THAT(found("accuracy: {reference: other.pt, samples: 4}"),
              ElementsAre("accuracy.reference=other.pt"));
}

TEST(PlanCode, VariablesThatCanLoadCodeCountAndFiguresDoNot) {
  EXPECT_THAT(found("env: {OMP_NUM_THREADS: 4, KMP_BLOCKTIME: infinite, NCCL_ALGO: Ring}"), ElementsAre());
  EXPECT_THAT(found("env: {PATH: bin, GCONV_PATH: 1, PYTHONPATH: on}"),
              ElementsAre("env.PATH=bin", "env.GCONV_PATH=1", "env.PYTHONPATH=on"));
  EXPECT_THAT(found("env: {NCCL_CONF_FILE: evil, UCX_MODULE_DIR: ., OMP_TOOL_LIBRARIES: t.so}"),
              ElementsAre("env.NCCL_CONF_FILE=evil", "env.UCX_MODULE_DIR=.", "env.OMP_TOOL_LIBRARIES=t.so"));
  EXPECT_THAT(found("env: {LD_PRELOAD: [x.so, y.so]}"),
              ElementsAre("env.LD_PRELOAD=x.so", "env.LD_PRELOAD=y.so"));
  EXPECT_THAT(found("env: {NCCL_NET_PLUGIN: mine, OMP_TOOL_LIBRARIES: /t.so}"),
              ElementsAre("env.NCCL_NET_PLUGIN=mine", "env.OMP_TOOL_LIBRARIES=/t.so"));
}

TEST(PlanCode, UnparsableTextNamesNothing) {
  EXPECT_THAT(found("plugin: ["), ElementsAre());
  EXPECT_THAT(found("[plugin]"), ElementsAre());
}

}  // namespace
}  // namespace paceline::config
