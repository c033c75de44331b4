// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "host/machine/accelerators.h"
#include "plugin/cuda/cuda_plugin.h"

namespace paceline::cuda_test {
namespace {

using torch_test::error_of;

class WithoutADevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!loading_problem().empty()) GTEST_SKIP() << loading_problem();
    if (device_problem().empty()) GTEST_SKIP() << "this machine shows an NVIDIA device";
  }
};

TEST_F(WithoutADevice, EveryEngineSaysSoInOneLine) {
  for (const char* engine : {"eager", "torchscript"}) {
    const auto [code, message] = error_of([&] { load_on_device({.model = "tiny_cnn", .engine = engine}); });
    EXPECT_EQ(code, ErrorCode::kUnavailable) << engine;
    EXPECT_EQ(message.substr(0, 16), "no CUDA device: ") << engine;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(CudaPlugin, CannotBeLoadedOnlyForLackOfLibraries) {
  const auto problem = loading_problem();
  if (problem.empty()) GTEST_SKIP() << "it can";
  EXPECT_NE(problem.find("cannot open shared object file"), std::string::npos) << problem;
}

}  // namespace
}  // namespace paceline::cuda_test
