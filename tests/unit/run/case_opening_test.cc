// SPDX-License-Identifier: MIT
#include "run/case_opening.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "config/declared_options.h"
#include "host/machine/accelerators.h"
#include "result/stored/benchmark_params.h"
#include "support/declared_options.h"
#include "support/fake_executor.h"

namespace paceline::run {
namespace {

namespace fs = std::filesystem;

class CaseOpening : public ::testing::Test {
 protected:
  void TearDown() override {
    fs::remove_all(folder_);
    ::paceline::test::use_options_of_this_build();
  }
  CaseRun open(const std::string& device, const std::string& lines = {}) {
    const EngineDirectory engines(
        {{"torch", "torch.so", {{plugin::Role::kTrainer, "cpu", "cpu"}}, {}, "", ""},
         {"meter", "meter.so", {{plugin::Role::kSampler, "meter", "any"}}, {}, "", ""},
         {"scope", "", {{plugin::Role::kSampler, "scope", "cpu"}}, {}, "no library", "install it"},
         {"cuda", "cuda.so", {{plugin::Role::kTrainer, "cuda", "cuda"}}, {}, "", ""}});
    const auto cases = config::expand(config::load_plan_text(
        "kind: training\nmodel: tiny_cnn\nranks: 1\ndevice: " + device + "\n" + lines, "test.yaml"));
    const RunSetup setup{{}, cases, {}, false, true, engines, {}, {}, {}, {}, nullptr};
    const result::RunDirectory directory(folder_);
    testing::FakeExecutor executor;
    const std::atomic<bool> interrupt{false};
    RunObserver observer;
    const PassRunner runner(executor, {}, observer, interrupt);
    const Kinds kinds({setup, runner, observer, interrupt, folder_, folder_, folder_, {}});
    return open_case(setup, kinds, 0, "run", directory);
  }
  // One a test: several may run at the same time.
  fs::path folder_ =
      fs::path(::testing::TempDir()) /
      ("paceline_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(CaseOpening, TheIdentityHasTheDeviceThatTheRanksGet) {
  const bool gpu = host::no_visible_device_reason(host::SystemFiles()).empty();
  const auto found = open("auto");
  EXPECT_EQ(found.base.ranks.device, gpu ? "cuda" : "cpu");
  EXPECT_EQ(found.result.benchmark.device, gpu ? "cuda" : "");
  const auto named = open(found.base.ranks.device).result.benchmark;
  EXPECT_EQ(result::parameters_of(found.result.benchmark), result::parameters_of(named));
}

TEST_F(CaseOpening, RanksOnCudaHaveNoNumberInTheIdentity) {
  EXPECT_EQ(open("cuda").result.benchmark.device, "cuda");
  EXPECT_EQ(open("cpu").result.benchmark.device, "");
}

TEST_F(CaseOpening, ASamplerIsAPluginOfThePassWithItsOptions) {
  config::use_declared_options(
      {{.name = "meter.every_ms", .sampler = "meter", .fallback = "50", .help = "x"}}, {"meter", "scope"});
  const auto found = open("cpu", "sampler: [meter]\n");
  EXPECT_FALSE(found.ended) << found.result.reason;
  const auto& use = found.base.plugin(plugin::Role::kSampler);
  EXPECT_EQ(use.name + " " + use.file, "meter meter.so");
  EXPECT_EQ(use.options, (std::map<std::string, std::string>{{"every_ms", "50"}}));
  EXPECT_FALSE(open("cpu").base.uses(plugin::Role::kSampler));
}

TEST_F(CaseOpening, ASamplerThatIsNotBuiltSaysHowToGetIt) {
  config::use_declared_options({}, {"meter", "scope"});
  const auto found = open("cpu", "sampler: [meter, scope]\n");
  EXPECT_TRUE(found.ended);
  EXPECT_EQ(found.result.reason_code, "unavailable");
  EXPECT_NE(found.result.reason.find("sampler 'scope' needs the scope plug-in"), std::string::npos);
  EXPECT_NE(found.result.reason.find("to get it: install it"), std::string::npos);
}

}  // namespace
}  // namespace paceline::run
