// SPDX-License-Identifier: MIT
#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <gtest/gtest.h>
#include <nccl.h>
#include <torch/csrc/cuda/nccl.h>

#include "plugin/torch/driver.h"
#include "torch/cuda/cuda_training.h"
#include "torch/cuda/device.h"
#include "torch/cuda/peak_probe.h"
#include "torch/errors.h"

// Messages of LibTorch's part for CUDA before it has a device: the parts of the plug-in, with the toolkit's
// libraries.
namespace paceline::cuda_plugin {
namespace {

using torch_test::error_of;

std::string words_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& e) {
    return torch_plugin::reason_of(e);
  }
  return {};
}

// The order of this test matters: afterwards LibTorch has tried to initialise CUDA.
TEST(Start, TheAllocatorIsThereBeforeItIsAsked) {
  if (at::hasCUDA() && at::detail::getCUDAHooks().deviceCount() > 0)
    GTEST_SKIP() << "this machine has a device";
  const auto without = words_of([] { c10::cuda::CUDACachingAllocator::resetPeakStats(0); });
  EXPECT_NE(without.find("Invalid device argument"), std::string::npos)
      << "LibTorch initialises it itself: " << without;
  const auto with = words_of([] { reset_memory_peak(0); });
  EXPECT_EQ(with.find("Invalid device argument"), std::string::npos) << with;
  EXPECT_NE(with.find("NVIDIA"), std::string::npos) << "no word of a driver: " << with;
}

TEST(Start, ATrainerWithoutADeviceSaysSo) {
  if (at::detail::getCUDAHooks().deviceCount() > 0) GTEST_SKIP() << "this machine has a device";
  const auto [code, message] = error_of([] {
    plugin::ModelSpec model;
    model.name = "tiny_cnn";
    model.inputs = torch_test::inputs_of("tiny_cnn", 2);
    make_cuda_trainer()->load(model, {}, nullptr);
  });
  EXPECT_EQ(code, ErrorCode::kUnavailable);
  EXPECT_EQ(message.find("no CUDA device: "), 0U) << message;
}

TEST(Start, AProbeWithoutADeviceSaysSo) {
  if (at::detail::getCUDAHooks().deviceCount() > 0) GTEST_SKIP() << "this machine has a device";
  const auto [code, message] = error_of([] { (void)make_peak_probe()->measure("cuda:0"); });
  EXPECT_EQ(code, ErrorCode::kUnavailable);
  EXPECT_EQ(message.find("no CUDA device: "), 0U) << message;
}

// Options of NCCL are made here and read by LibTorch: both must know the same structure.
TEST(Start, TheHeaderOfNcclIsTheOneThatLibTorchWasBuiltWith) {
  const auto [code, message] = error_of([] {
    plugin::GroupSpec spec;
    spec.device = {DeviceKind::kCuda, 0};
    join_nccl(nullptr, spec);
  });
  if (message.find("built without NCCL") != std::string::npos) GTEST_SKIP() << message;
  const auto expected = std::uint64_t{NCCL_MAJOR} << 32U | std::uint64_t{NCCL_MINOR} << 16U | NCCL_PATCH;
  EXPECT_EQ(torch::cuda::nccl::version(), expected);
  EXPECT_EQ(message.find("this plug-in was built for NCCL"), std::string::npos) << message;
}

}  // namespace
}  // namespace paceline::cuda_plugin
