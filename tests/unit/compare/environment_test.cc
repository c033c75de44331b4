// SPDX-License-Identifier: MIT
#include "compare/environment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "answer/answer.h"
#include "compare/comparison_answer.h"
#include "two_runs.h"

namespace paceline::compare {
namespace {

using namespace test;

nlohmann::json machine() {
  return nlohmann::json::parse(
      R"({"cpu": {"model": "Xeon", "cores_online": 8, "affinity": "0-7", "governor": null,
    "governor_reason": "no cpufreq"}, "os": {"kernel": "6.1", "host_sha256_16": "aa"},
    "nvidia": {"driver_version": "580.10.1", "gpus": [{"name": "H200"}]}, "variables": {"OMP_NUM_THREADS": "4"}})");
}

std::vector<SideRun> on(const nlohmann::json& a, const nlohmann::json& b) {
  auto sides = in_turns({.p50_ms = 10}, {.p50_ms = 12});
  sides[0].stored.run.environment = a, sides[1].stored.run.environment = b;
  return sides;
}

// Names with "!" for those that block.
std::vector<std::string> names_of(const Comparison& found) {
  std::vector<std::string> names;
  for (const auto& one : found.environment) names.push_back(one.name + (one.blocks ? "!" : ""));
  return names;
}

TEST(CompareEnvironment, OneMachineHasNoDifferences) {
  EXPECT_TRUE(compare_runs(on(machine(), machine()), {}).environment.empty());
}

TEST(CompareEnvironment, HardwareBlocksVariablesDoNot) {
  auto other = machine();
  other["cpu"]["model"] = "EPYC";
  other["variables"]["OMP_NUM_THREADS"] = "8";
  other["nvidia"]["driver_version"] = "580.20";
  other["os"]["host_sha256_16"] = "bb";
  const auto found = compare_runs(on(machine(), other), {});
  EXPECT_EQ(names_of(found),
            (std::vector<std::string>{"CPU model!", "NVIDIA driver", "variable OMP_NUM_THREADS",
                                      "name of the host (its digest)"}));
  EXPECT_EQ(found.environment[0].a, "Xeon");
  EXPECT_EQ(found.environment[0].b, "EPYC");
  EXPECT_EQ(deciding(found.cases[0])[0]->verdict, stats::Verdict::kInconclusive);
  EXPECT_EQ(answer::exit_code_of(checks_of(found)), ExitCode::kEnvironmentInvalid);
}

TEST(CompareEnvironment, AllowedDifferencesAreShownBesideTheVerdict) {
  auto other = machine();
  other["nvidia"]["driver_version"] = "590.1";
  other["os"]["kernel"] = "6.2";
  RunOptions allowed;
  allowed.allow_env_diff = true;
  const auto found = compare_runs(on(machine(), other), allowed);
  EXPECT_EQ(names_of(found), (std::vector<std::string>{"NVIDIA driver!", "kernel!"}));
  EXPECT_EQ(deciding(found.cases[0])[0]->verdict, stats::Verdict::kRegression);
  EXPECT_EQ(answer::exit_code_of(checks_of(found)), ExitCode::kGateFailed);
}

// Results without an environment, of tests and older versions, are no other machine.
TEST(CompareEnvironment, WhatOneRunDoesNotKnowIsNoDifference) {
  EXPECT_TRUE(compare_runs(on(machine(), nlohmann::json::object()), {}).environment.empty());
  auto little = nlohmann::json::parse(R"({"cpu": {"model": "Xeon"}})");
  EXPECT_TRUE(compare_runs(on(little, machine()), {}).environment.empty());
}

TEST(CompareEnvironment, LibrariesAndVersionsBlock) {
  auto sides = on(machine(), machine());
  sides[0].stored.run.cases[0].effective_settings["version.ONNX Runtime"] = "1.20";
  sides[1].stored.run.cases[0].effective_settings["version.ONNX Runtime"] = "1.22";
  sides[0].stored.run.suite = {"0.1.0", "abc", "", ""}, sides[1].stored.run.suite = {"0.2.0", "def", "", ""};
  EXPECT_EQ(names_of(compare_runs(sides, {})),
            (std::vector<std::string>{"Paceline!", "library ONNX Runtime!", "Paceline commit"}));
}

TEST(CompareEnvironment, EnginesThatDifferHaveOtherLibraries) {
  auto sides = on(machine(), machine());
  auto& b = sides[1].stored.run.cases[0];
  b.benchmark.engine = "openvino";
  sides[0].stored.run.cases[0].effective_settings["version.OpenMP"] = "1";
  b.effective_settings["version.OpenMP"] = "2";
  EXPECT_TRUE(compare_runs(sides, {}).environment.empty());
}

}  // namespace
}  // namespace paceline::compare
