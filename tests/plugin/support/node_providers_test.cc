// SPDX-License-Identifier: MIT
#include "onnxruntime/node_providers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline::ort_plugin {
namespace {

constexpr const char *kTensorRt = "TensorrtExecutionProvider", *kCuda = "CUDAExecutionProvider";

std::vector<ProfiledNode> ran_on(const std::vector<std::pair<std::string, std::string>>& nodes) {
  std::vector<ProfiledNode> all;
  for (const auto& [op, provider] : nodes) all.push_back({{}, op, provider, {}, {}});
  return all;
}

TEST(NodeProviders, NodesOfOthersAreCountedByProvider) {
  const auto nodes = ran_on({{"TRTKernel_graph", kTensorRt},
                             {"Shape", std::string(kCpuProvider)},
                             {"Gelu", kCuda},
                             {"NonZero", std::string(kCpuProvider)},
                             {"Gelu", kCuda}});
  EXPECT_EQ(nodes_elsewhere(kTensorRt, false, nodes),
            "2 of 5 nodes ran on the CPU: NonZero, Shape; 2 of 5 nodes ran on CUDA: Gelu");
  EXPECT_EQ(nodes_elsewhere(kCuda, false, ran_on({{"Gelu", kCuda}})), "");
}

TEST(NodeProviders, AProviderThatRunsNoNodeIsAnErrorUnlessAllowed) {
  const auto nodes = ran_on({{"Conv", kCuda}, {"Relu", kCuda}});
  try {
    (void)nodes_elsewhere(kTensorRt, false, nodes);
    FAIL() << "it is not seen";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(e.what(), ::testing::HasSubstr("TensorrtExecutionProvider ran no node of the model (2 of 2 "
                                               "nodes ran on CUDA: Conv, Relu)"));
    EXPECT_THAT(e.what(), ::testing::HasSubstr("--onnxruntime.allow_cpu_fallback true"));
  }
  EXPECT_EQ(nodes_elsewhere(kTensorRt, true, nodes), "2 of 2 nodes ran on CUDA: Conv, Relu");
}

}  // namespace
}  // namespace paceline::ort_plugin
