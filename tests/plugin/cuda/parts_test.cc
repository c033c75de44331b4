// SPDX-License-Identifier: MIT
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <numeric>
#include <tuple>

#include "plugin/torch/driver.h"
#include "torch/cuda/host_copies.h"
#include "torch/cuda/switches.h"

// What needs no device of the plug-in's parts; the CPU stands for one.
namespace paceline::cuda_plugin {
namespace {

using torch_test::error_of;

TEST(DeviceIndex, IsOneOfThoseThereAre) {
  EXPECT_EQ(device_index("cuda:0", 1), 0);
  EXPECT_EQ(device_index("cuda:3", 4), 3);
  EXPECT_EQ(error_of([] { device_index("cuda:1", 1); }).second,
            "there is no device cuda:1; the driver shows 1: cuda:0");
  EXPECT_EQ(error_of([] { device_index("cuda:4", 4); }).second,
            "there is no device cuda:4; the driver shows 4: cuda:0 to cuda:3");
  for (const char* word : {"cuda:-1", "cuda:", "cuda", "gpu"})
    EXPECT_EQ(error_of([&] { device_index(word, 4); }).first, ErrorCode::kUsage) << word;
}

TEST(Switches, AreExplicitInEveryPrecision) {
  EXPECT_FALSE(choose_switches("fp32", {}, 90).tf32);
  EXPECT_TRUE(choose_switches("tf32", {}, 90).tf32);
  EXPECT_EQ(choose_switches("tf32", {}, 90).precision.dtype, at::kFloat);
  EXPECT_EQ(choose_switches("fp16", {}, 75).precision.dtype, at::kHalf);
  EXPECT_TRUE(choose_switches("amp_bf16", {}, 80).precision.autocast);
  EXPECT_EQ(choose_switches("amp_bf16", {}, 80).precision.device, at::kCUDA);
}

TEST(Switches, OldDevicesAndOtherPrecisionsAreRefused) {
  const auto [code, message] = error_of([] { choose_switches("bf16", {}, 75); });
  EXPECT_EQ(code, ErrorCode::kUnsupported);
  EXPECT_EQ(message, "bf16 needs compute capability 8.0; this device has 7.5; use fp32");
  EXPECT_EQ(error_of([] { choose_switches("int8", {}, 90); }).first, ErrorCode::kUnsupported);
}

TEST(Switches, FollowTheOptions) {
  const auto plain = choose_switches("fp32", {}, 90);
  EXPECT_EQ(std::tuple(plain.cudnn_benchmark, plain.cuda_graph, plain.io),
            std::tuple(false, false, Io::kDevice));
  const auto set =
      choose_switches("fp32", {{"cudnn_benchmark", "true"}, {"cuda_graph", "true"}, {"io", "pinned"}}, 90);
  EXPECT_EQ(std::tuple(set.cudnn_benchmark, set.cuda_graph, set.io), std::tuple(true, true, Io::kPinned));
  EXPECT_EQ(error_of([] { choose_switches("fp32", {{"io", "fast"}}, 90); }).first, ErrorCode::kUsage);
  EXPECT_EQ(error_of([] {
              choose_switches("fp32", {{"speed", "1"}}, 90);
            }).second,
            "LibTorch's engines on CUDA have no option 'speed'; they have: cudnn_benchmark, cuda_graph, io");
}

class Copies : public testing::TestWithParam<Io> {
 protected:
  bool bind(float first, const Shape& shape) {
    data_ = Tensor({"input", DType::kFloat32, shape});
    std::iota(data_.as<float>(), data_.as<float>() + element_count(shape), first);
    const TensorView view = data_.view();
    return copies_.bind({&view, 1}, {{"input", DType::kFloat32, {2, 3, 2, 2}}}, {}, GetParam());
  }
  Tensor data_;
  HostCopies copies_;
};

TEST_P(Copies, TheSameTensorTakesOtherData) {
  EXPECT_FALSE(bind(0, {2, 3, 2, 2}));
  const auto tensor = copies_.inputs().at(0);
  EXPECT_EQ(tensor.sum().item<float>(), 276);
  EXPECT_TRUE(bind(1, {2, 3, 2, 2}));
  EXPECT_TRUE(copies_.inputs().at(0).is_same(tensor));
  EXPECT_EQ(tensor.sum().item<float>(), 300);
  EXPECT_FALSE(bind(1, {4, 3, 2, 2}));
  EXPECT_EQ(copies_.inputs().at(0).size(0), 4);
}

TEST_P(Copies, InputsAreSentAgainUnlessTheyStay) {
  bind(0, {2, 3, 2, 2});
  const auto input = copies_.inputs().at(0);
  input.zero_();  // as if an inference had overwritten them
  copies_.send();
  EXPECT_EQ(copies_.inputs().at(0).sum().item<float>(), GetParam() == Io::kDevice ? 0 : 276);
}

TEST_P(Copies, OutputsEndInTheSameMemoryEveryTime) {
  const std::vector<at::Tensor> first{at::ones({2, 5})}, second{at::full({2, 5}, 3.0F)},
      other{at::ones({1, 5})};
  const void* memory = copies_.fetch(first).at(0).data_ptr();
  EXPECT_EQ(copies_.fetch(second).at(0).data_ptr(), memory);
  EXPECT_EQ(copies_.fetch(second).at(0).sum().item<float>(), 30);
  EXPECT_EQ(copies_.fetch(other).at(0).sizes(), other[0].sizes());
}

INSTANTIATE_TEST_SUITE_P(Io, Copies, testing::Values(Io::kDevice, Io::kPageable));  // pinning needs a driver

}  // namespace
}  // namespace paceline::cuda_plugin
