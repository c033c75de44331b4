// SPDX-License-Identifier: MIT
#include "run/inference/built_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "config/plan.h"

namespace paceline::run {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

CaseRun case_with(const std::map<std::string, std::string>& env) {
  CaseRun c;
  c.definition =
      config::expand(config::load_plan_text("kind: inference\nmodel: tiny_cnn\ndevice: cpu\n", "t")).at(0);
  c.definition.env = env;
  c.base.use(plugin::Role::kEngine, "aotinductor");
  c.base.settings.precision = "fp32";
  c.base.model.name = "tiny_cnn";
  c.base.model.inputs = {{"input", DType::kFloat32, {8, 3, 32, 32}}};
  c.model_file = "tiny_cnn.pt";
  return c;
}

TEST(BuiltFiles, AreSharedByCasesWithEqualVariables) {
  const auto file = [](const std::map<std::string, std::string>& env) {
    return build_order(case_with(env), "artefacts").file;
  };
  EXPECT_EQ(file({{"A", "1"}}), file({{"A", "1"}}));
  EXPECT_NE(file({{"A", "1"}}), file({{"A", "2"}}));
  EXPECT_NE(file({{"A", "1"}}), file({}));
}

// The program in place of Python says what it sees.
TEST(BuiltFiles, AreBuiltWithTheVariablesOfTheCase) {
  const auto scratch = ScratchFolder::below_temp("paceline-built-files");
  const auto python = scratch.path() / "python";
  replace_file(python, "#!/bin/sh\necho \"compiled with $PACELINE_TEST_FLAG\"\nexit 1\n");
  fs::permissions(python, fs::perms::owner_all);
  ::setenv("PACELINE_PYTHON", python.c_str(), 1);
  plugin::Manifest torch;
  torch.name = "torch", torch.file = "torch.so";
  torch.capabilities = {{plugin::Role::kEngine, "aotinductor", "cpu"}};
  torch.built_for = {{"LibTorch", "2.11.0"}};
  auto c = case_with({{"PACELINE_TEST_FLAG", "O3"}});
  c.dir = scratch.path();
  const std::atomic<bool> interrupt{false};
  try {
    (void)build_engine(EngineDirectory({torch}), build_order(c, scratch.path()), interrupt);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("exit code 1: compiled with O3"));
  }
  ::unsetenv("PACELINE_PYTHON");
}

}  // namespace
}  // namespace paceline::run
