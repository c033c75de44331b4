// SPDX-License-Identifier: MIT
#include "torch/kineto_layers.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/host_times.h"

// Kineto as it is, on the CPU: what a GPU without CUPTI shows. Layers with kernels are in device_layers_test.
namespace paceline::torch_plugin {
namespace {

struct SmallNet {
  at::Tensor x = at::ones({1, 3, 8, 8}), first = at::ones({4, 3, 3, 3}), second = at::ones({2, 4, 3, 3});
  int ran = 0;

  void operator()() {
    ++ran;
    at::relu(at::conv2d(at::relu(at::conv2d(x, first)), second));
  }
  plugin::LayerTimes layers(c10::DeviceType device, int inferences) {
    return kineto_layers({{"conv1.weight", first}, {"conv2.weight", second}}, device, inferences,
                         [this] { (*this)(); });
  }
};

void expect_layers_of_the_host(const plugin::LayerTimes& times) {
  ASSERT_EQ(times.layers.size(), 4U);
  EXPECT_EQ(times.layers[0].name, "conv2d_0");
  EXPECT_EQ(times.layers[0].type, "aten::conv2d");
  EXPECT_EQ(times.layers[0].model_layer, "conv1");
  EXPECT_EQ(times.layers[0].precision, "fp32");
  EXPECT_EQ(times.layers[1].name, "relu_0");
  EXPECT_EQ(times.layers[2].model_layer, "conv2");
  for (const auto& layer : times.layers) EXPECT_GT(layer.time_ns.value_or(0), 0) << layer.name;
  EXPECT_NE(times.source.find(kHostTimes), std::string::npos) << times.source;
}

TEST(KinetoLayers, WithoutADeviceTimesAreSaidToBeTheHosts) {
  SmallNet net;
  expect_layers_of_the_host(net.layers(c10::kCPU, 3));
  EXPECT_EQ(net.ran, 5) << "two of which are not timed";
  expect_layers_of_the_host(net.layers(c10::kCPU, 2));
}

// CUDA's kernels are asked for, and none runs.
TEST(KinetoLayers, WithoutKernelsTimesAreSaidToBeTheHosts) {
  SmallNet net;
  expect_layers_of_the_host(net.layers(c10::kCUDA, 3));
}

TEST(KinetoLayers, AnInferenceThatFailsLeavesNoProfilerBehind) {
  SmallNet net;
  int runs = 0;
  const auto fails = [&] {
    if (++runs == 3) throw Error(ErrorCode::kData, "the model failed");
  };
  EXPECT_THROW(kineto_layers({}, c10::kCPU, 3, fails), Error);
  expect_layers_of_the_host(net.layers(c10::kCPU, 2));
}

}  // namespace
}  // namespace paceline::torch_plugin
