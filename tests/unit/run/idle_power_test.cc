// SPDX-License-Identifier: MIT
#include "run/case/idle_power.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/scratch_folder.h"
#include "config/plan.h"
#include "support/fake_executor.h"

namespace paceline::run {
namespace {

using testing::Played;

result::SampledWindow window_of(std::string_view sampler, const std::string& device) {
  result::SampledWindow window;
  window.sampler = sampler;
  window.series = {{device, "power", "W", {0, 0.5}, {70, 72}, {}}};
  return window;
}

CaseRun case_with(const std::map<std::string, std::string>& env, const ScratchFolder& scratch) {
  CaseRun c;
  c.definition = config::expand(config::load_plan_text("kind: inference\nmodel: tiny_cnn\n", "t")).at(0);
  c.definition.env = env;
  c.dir = scratch.path();
  c.base.plugins.push_back({plugin::Role::kSampler, std::string(result::kDeviceSampler), "nvml.so"});
  return c;
}

TEST(IdlePower, OfADamagedFileIsReadAgain) {
  const auto scratch = ScratchFolder::below_temp("paceline-idle");
  replace_file(
      scratch.path() / "idle.json",
      R"([{"sampler": "rapl", "series": [{"device": "package-0", "metric": "energy", "numbers": [1, 2]}]}])");
  EXPECT_TRUE(kept_idle_power(scratch.path()).empty());
}

TEST(IdlePower, IsReadWithoutTheVariablesOfACase) {
  const auto scratch = ScratchFolder::below_temp("paceline-idle");
  CaseRuns cases;
  cases.push_back(case_with({{"CUDA_VISIBLE_DEVICES", "1"}}, scratch));
  cases.push_back(case_with({{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}, scratch));
  cases.push_back(case_with({{"OMP_NUM_THREADS", "1"}}, scratch));
  testing::FakeExecutor fake([](const process::WorkerRequest&) {
    const auto text =
        pass::sampled_text({window_of(result::kDeviceSampler, "cuda:0"), window_of("rapl", "package-0")});
    return std::optional<Played>({{pass::sampled_record({text})}, {}});
  });
  RunObserver observer;
  const std::atomic<bool> interrupt{false};
  read_idle_power(cases, PassRunner(fake, scratch.path(), observer, interrupt), scratch.path());
  ASSERT_EQ(fake.requests.size(), 1U);
  EXPECT_FALSE(fake.requests[0].env.contains("CUDA_VISIBLE_DEVICES"));
  EXPECT_TRUE(cases[0].idle.at(0).series.empty());
  EXPECT_EQ(cases[0].idle.at(0).problem,
            "the case sets CUDA_VISIBLE_DEVICES, and idle power is read without it");
  EXPECT_EQ(cases[1].idle.at(0).problem,
            "the case sets CUDA_DEVICE_ORDER, and idle power is read without it");
  EXPECT_EQ(cases[1].idle.at(1).series.size(), 1U) << "CPUs have no such numbers";
  EXPECT_EQ(cases[2].idle.at(0).series.size(), 1U);
  EXPECT_EQ(kept_idle_power(scratch.path()).at(0).series.size(), 1U);
}

}  // namespace
}  // namespace paceline::run
