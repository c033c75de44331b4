// SPDX-License-Identifier: MIT
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>

#include <array>
#include <atomic>
#include <barrier>
#include <exception>
#include <numeric>
#include <thread>
#include <tuple>
#include <vector>

#include "plugin/torch/driver.h"
#include "support/fake_store.h"
#include "torch/cuda/host_copies.h"
#include "torch/cuda/packed_version.h"
#include "torch/cuda/rank_device.h"
#include "torch/cuda/switches.h"
#include "torch/graph_switches.h"
#include "torch/threads.h"

// Parts of the plug-in that need no device; the CPU stands for one.
namespace paceline::cuda_plugin {
namespace {

using torch_test::error_of;

// A convolution in forward, one in another method, one in a submodule and its branch, one whose switch is
// computed, and a normalisation.
torch::jit::Module module_with_switches() {
  const auto convolution = [](const std::string& tf32) {
    return "torch._convolution(x, self.w, None, [1], [0], [1], False, [0], 1, True, False, True, " + tf32 +
           ")\n";
  };
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  torch::jit::Module inner("inner", unit), outer("outer", unit);
  for (auto* module : {&inner, &outer}) module->register_parameter("w", at::ones({2, 2, 1}), false);
  inner.define("def forward(self, x):\n    if bool(x.sum() > 0):\n        x = " + convolution("True") +
               "    return x\n");
  outer.register_module("inner", inner);
  outer.define("def other(self, x):\n    return " + convolution("True"));
  outer.define("def computed(self, x, flag: bool):\n    return " + convolution("flag"));
  outer.define("def forward(self, x):\n    x = " + convolution("False") +
               "    x = torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, True)\n"
               "    return self.other(self.inner.forward(x))\n");
  return outer;
}

TEST(GraphSwitches, AreReadAndSetInEveryMethodBranchAndSubmodule) {
  auto module = module_with_switches();
  EXPECT_EQ(torch_plugin::switches_text(torch_plugin::read_switches(module)),
            "allow_tf32 on in 3 of 4 calls, benchmark on in 4 of 4 calls, deterministic on in 0 of 4 calls, "
            "cudnn_enabled on in 5 of 5 calls");
  const auto before = module.forward({at::ones({1, 2, 3})}).toTensor();
  auto set = module_with_switches();
  torch_plugin::set_switches(set, {.deterministic = true, .cudnn_enabled = false});
  EXPECT_EQ(torch_plugin::switches_text(torch_plugin::read_switches(set)),
            "allow_tf32 on in 0 of 4 calls, benchmark on in 0 of 4 calls, deterministic on in 4 of 4 calls, "
            "cudnn_enabled on in 0 of 5 calls");
  EXPECT_TRUE(at::equal(set.forward({at::ones({1, 2, 3})}).toTensor(), before));
  torch_plugin::set_switches(set, {.allow_tf32 = true});
  EXPECT_EQ(torch_plugin::read_switches(set).allow_tf32.on, 4);
  EXPECT_EQ(torch_plugin::switches_text({}), "");
}

TEST(GraphSwitches, TheValueOfACallIsThatOfItsArgument) {
  const auto schema = [](const char* name) -> const c10::FunctionSchema& {
    return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").schema();
  };
  for (const bool on : {false, true}) {
    std::vector<c10::IValue> inputs(13);
    inputs.back() = on;
    EXPECT_EQ(torch_plugin::switch_of_call(schema("aten::_convolution"), inputs, "allow_tf32"), on);
    inputs.resize(9);
    inputs.back() = on;
    EXPECT_EQ(torch_plugin::switch_of_call(schema("aten::cudnn_convolution"), inputs, "allow_tf32"), on);
  }
  EXPECT_EQ(torch_plugin::switch_of_call(schema("aten::mm"), std::vector<c10::IValue>(2), "allow_tf32"),
            std::nullopt);
}

TEST(DeviceIndex, IsOneOfThoseThereAre) {
  EXPECT_EQ(device_index("cuda:0", 1), 0);
  EXPECT_EQ(device_index("cuda", 1), 0);
  EXPECT_EQ(device_index("cuda:3", 4), 3);
  EXPECT_EQ(error_of([] { device_index("cuda:1", 1); }).second,
            "there is no device cuda:1; the driver shows 1: cuda:0");
  EXPECT_EQ(error_of([] { device_index("cuda:4", 4); }).second,
            "there is no device cuda:4; the driver shows 4: cuda:0 to cuda:3");
  for (const char* word : {"cuda:-1", "cuda:", "cuda:1x", "cpu", "gpu"})
    EXPECT_EQ(error_of([&] { device_index(word, 4); }).first, ErrorCode::kUsage) << word;
}

TEST(RankDevice, IsTheLocalRankModuloWhatIsVisible) {
  EXPECT_EQ(device_of_rank(3, 4), 3);
  EXPECT_EQ(device_of_rank(3, 1), 0);  // srun --gpus-per-task=1
  EXPECT_EQ(device_of_rank(5, 4), 1);
}

// The ranks of a group, each with the device that it has; what each of them was told.
std::vector<std::string> told(const std::vector<std::string>& devices, int absent = -1) {
  test::FakeStore store;
  std::vector<std::string> words(devices.size());
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < static_cast<int>(devices.size()); ++rank)
    if (rank != absent)
      ranks.emplace_back([&, rank] {
        plugin::GroupSpec spec;
        spec.rank = rank, spec.world = static_cast<int>(devices.size());
        spec.timeout_s = absent < 0 ? 10 : 0.05;
        const auto at = static_cast<std::size_t>(rank);
        words[at] = error_of([&] { refuse_shared_devices(store, spec, devices[at]); }).second;
      });
  for (auto& rank : ranks) rank.join();
  return words;
}

TEST(RankDevice, NcclWantsOneForEachRank) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(told({"GPU-a", "GPU-b", "GPU-c"}), Words(3));
  EXPECT_EQ(
      told({"GPU-a", "GPU-b", "GPU-a"}),
      Words(3,
            "ranks 0 and 2 are on one device (GPU-a), and nccl wants a device for each rank; start as many "
            "ranks as there are devices, or use backend: gloo"));
  EXPECT_EQ(told({"GPU-a", "GPU-b"}, 1).at(0), "rank 1 does not say which device it has");
}

TEST(PackedVersion, OfEachLibraryIsRead) {
  EXPECT_EQ(runtime_version_text(13000), "13.0");
  EXPECT_EQ(runtime_version_text(12090), "12.9");
  EXPECT_EQ(cudnn_version_text(91900), "9.19.0");
  EXPECT_EQ(cudnn_version_text(8907), "8.9.7");
  EXPECT_EQ(library_version_text(22809), "2.28.9");    // NCCL
  EXPECT_EQ(library_version_text(130'100), "13.1.0");  // cuBLASLt
  EXPECT_EQ(runtime_version_text(0) + cudnn_version_text(0) + library_version_text(0), "");
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
            "LibTorch's engines on CUDA have no option 'speed'; they have: cudnn_benchmark, cuda_graph, "
            "overlap, io");
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
  const bool sends = GetParam() == Io::kPinned || GetParam() == Io::kPageable;
  EXPECT_EQ(copies_.inputs().at(0).sum().item<float>(), sends ? 276 : 0);
}

TEST_P(Copies, OutputsEndInTheSameMemoryEveryTime) {
  const std::vector<at::Tensor> first{at::ones({2, 5})}, second{at::full({2, 5}, 3.0F)},
      other{at::ones({1, 5})};
  const void* memory = copies_.fetch(first).at(0).data_ptr();
  EXPECT_EQ(copies_.fetch(second).at(0).data_ptr(), memory);
  EXPECT_EQ(copies_.fetch(second).at(0).sum().item<float>(), 30);
  EXPECT_EQ(copies_.fetch(other).at(0).sizes(), other[0].sizes());
}

INSTANTIATE_TEST_SUITE_P(Io, Copies, testing::Values(Io::kDevice, Io::kPinned, Io::kPageable, Io::kNone));

TEST(Io, EveryPolicySaysWhatItCopies) {
  for (const char* name : {"device", "pinned", "pageable", "none"}) ASSERT_TRUE(io_named(name)) << name;
  EXPECT_FALSE(io_named("fast"));
  EXPECT_EQ(io_in_words(*io_named("device")), "inputs on the device, outputs copied to pinned memory");
  EXPECT_EQ(io_in_words(*io_named("pageable")), "inputs and outputs copied from and to pageable memory");
  EXPECT_EQ(io_in_words(*io_named("none")), "inputs and outputs on the device, nothing is copied");
}

TEST(Outputs, InHalfPrecisionAreReadByTheTests) {
  std::array<std::uint16_t, 4> bits{0x3c00, 0xc000, 0x7bff, 0x0001};
  const TensorView view{"output", bits.data(), DType::kFloat16, {1, 4}, {}, {}};
  EXPECT_EQ(torch_test::as_floats(view), (std::vector<float>{1, -2, 65504, 0x1.0p-24F}));
}

// This program and the CPU plug-in have a copy of the function each, as two plug-ins in one process have;
// LibTorch takes the number of inter-op threads once.
TEST(Threads, AreSetByTwoPluginsOfOneProcess) {
  torch_plugin::set_threads(1);
  EXPECT_EQ(torch_test::setting(*torch_test::load({.model = "tiny_cnn", .threads = 2}), "threads"), "2");
  torch_plugin::set_threads(1);
  EXPECT_EQ(at::get_num_interop_threads(), 1);
}

// Ranks of one process load their models at the same time.
TEST(Threads, AreSetByManyThreadsAtOnce) {
  constexpr int kThreads = 16;
  std::barrier all_there(kThreads);
  std::atomic<int> refused = 0;
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < kThreads; ++rank)
    ranks.emplace_back([&] {
      all_there.arrive_and_wait();
      try {
        torch_plugin::set_threads(1);
      } catch (const std::exception&) {
        ++refused;
      }
    });
  ranks.clear();
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(at::get_num_interop_threads(), 1);
}

}  // namespace
}  // namespace paceline::cuda_plugin
