// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "plugin/cuda/cuda_plugin.h"
#include "plugin/torch/script_files.h"

namespace paceline::cuda_test {
namespace {

using torch_test::Case;
using torch_test::error_of;
using torch_test::setting;

class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto problem = device_problem(); !problem.empty()) GTEST_SKIP() << problem;
  }
};

std::vector<float> output_of(plugin::Engine& engine, const Case& c) {
  auto data = torch_test::data_for(torch_test::inputs_of(c.model, c.batch, c.length));
  torch_test::bind(engine, data);
  return torch_test::run(engine);
}

// Against the same weights and inputs on the CPU.
double error_against_cpu(plugin::Engine& engine, const Case& c) {
  const auto on_device = output_of(engine, c);
  auto reference = torch_test::load({.model = c.model, .batch = c.batch, .seed = c.seed});
  return torch_test::relative_error(on_device, output_of(*reference, c));
}

TEST_F(OnDevice, BothEnginesAgreeWithTheCpuInFp32) {
  for (const char* engine : {"eager", "torchscript"}) {
    const Case c{.model = "resnet50", .engine = engine, .seed = 3};
    EXPECT_LT(error_against_cpu(*load_on_device(c), c), 1e-4) << engine;
  }
}

TEST_F(OnDevice, Tf32IsOffInFp32AndOnWhenAskedFor) {
  const auto switches = [](const char* precision) {
    const auto engine = load_on_device({.model = "tiny_cnn", .precision = precision});
    return std::pair{setting(*engine, "tf32_products"), setting(*engine, "tf32_convolutions")};
  };
  EXPECT_EQ(switches("fp32"),
            std::pair(std::optional<std::string>("off"), std::optional<std::string>("off")));
  EXPECT_EQ(switches("tf32"), std::pair(std::optional<std::string>("on"), std::optional<std::string>("on")));
}

TEST_F(OnDevice, ReadsBackTheExecutedPrecision) {
  for (const auto& [precision, dominant] : {std::pair{"fp32", "fp32"}, {"tf32", "tf32"}, {"fp16", "fp16"}}) {
    const Case c{.model = "tiny_cnn", .precision = precision};
    const auto engine = load_on_device(c);
    output_of(*engine, c);
    const auto read = engine->read_back(0);
    ASSERT_EQ(read.precisions.size(), 1U) << precision;
    EXPECT_EQ(read.precisions[0].precision, dominant);
    EXPECT_DOUBLE_EQ(read.precisions[0].flops_share, 1);
    EXPECT_GT(read.peak_tensor_bytes.value_or(0), 0);
    EXPECT_GE(read.peak_reserved_bytes.value_or(0), read.peak_tensor_bytes.value_or(0));
  }
}

TEST_F(OnDevice, ATracedFileRunsAsTheCaseAsksWhateverItsTracingBakedIn) {
  const torch_test::TemporaryFolder folder;
  torch_test::write_traced_script(folder.file("m.pt"), /*frozen=*/false, /*nested=*/true);
  const Shape shape{2, 3, 8, 8};
  auto data = torch_test::data_for({{"input", DType::kFloat32, shape}});
  const auto reference = torch_test::load_file(folder.file("m.pt"), shape, "eager");
  torch_test::bind(*reference, data);
  const auto expected = torch_test::run(*reference);
  for (const char* name : {"eager", "torchscript"})
    for (const auto& [precision, limit] : {std::pair{"fp32", 1e-5}, {"tf32", 1e-2}}) {
      const auto engine = load_file_on_device(folder.file("m.pt"), shape, name, precision);
      torch_test::bind(*engine, data);
      EXPECT_LT(torch_test::relative_error(torch_test::run(*engine), expected), limit) << name << precision;
      const auto read = engine->read_back(0);
      ASSERT_EQ(read.precisions.size(), 1U) << name << precision;
      EXPECT_EQ(read.precisions[0].precision, precision) << name;
      EXPECT_EQ(read.note.empty(), std::string(precision) == "tf32") << read.note;
    }
}

TEST_F(OnDevice, EveryInferenceHasATimeOnTheDevice) {
  const Case c{.model = "tiny_cnn"};
  const auto engine = load_on_device(c);
  EXPECT_TRUE(engine->info().device_clock);
  EXPECT_FALSE(engine->device_ns(0));  // nothing has run
  output_of(*engine, c);
  EXPECT_GT(engine->device_ns(0).value_or(0), 0);
}

TEST_F(OnDevice, LayersHaveTheTimesOfTheirKernels) {
  const Case c{.model = "tiny_cnn"};
  for (const char* graph : {"false", "true"}) {
    const auto engine = load_on_device(c, {{"cuda_graph", graph}});
    output_of(*engine, c);
    const auto times = engine->profile(0, 5);
    EXPECT_NE(times.source.find("on the device"), std::string::npos) << times.source;
    ASSERT_FALSE(times.layers.empty()) << graph;
    EXPECT_EQ(times.layers[0].model_layer.empty(), std::string(graph) == "true") << times.layers[0].name;
    double sum = 0;
    for (const auto& layer : times.layers) sum += layer.time_ns.value_or(0);
    EXPECT_GT(sum, 0);
    torch_test::run(*engine);
    EXPECT_LT(sum, 2 * engine->device_ns(0).value_or(0)) << "which has the gaps, and lacks the copy";
  }
}

TEST_F(OnDevice, EveryIoPolicyGivesTheSameOutputs) {
  const Case c{.model = "tiny_cnn", .seed = 5};
  const auto expected = output_of(*load_on_device(c), c);
  for (const char* io : {"pinned", "pageable"})
    EXPECT_LT(torch_test::relative_error(output_of(*load_on_device(c, {{"io", io}}), c), expected), 1e-6)
        << io;
}

TEST_F(OnDevice, OutputsThatStayAreBroughtOnRequest) {
  const Case c{.model = "tiny_cnn", .seed = 5};
  const auto expected = output_of(*load_on_device(c), c);
  for (const char* graph : {"false", "true"}) {
    const auto engine = load_on_device(c, {{"io", "none"}, {"cuda_graph", graph}});
    auto data = torch_test::data_for(torch_test::inputs_of(c.model, c.batch));
    torch_test::bind(*engine, data);
    engine->enqueue(0);
    EXPECT_TRUE(engine->synchronize(0).empty());
    EXPECT_GT(engine->device_ns(0).value_or(0), 0);
    EXPECT_LT(torch_test::relative_error(torch_test::as_floats(engine->fetch_outputs(0)[0]), expected), 1e-6);
  }
}

TEST_F(OnDevice, AGraphAnswersToNewInputs) {
  for (const char* engine : {"eager", "torchscript"}) {
    const Case c{.model = "tiny_cnn", .engine = engine, .seed = 5};
    const auto plain = load_on_device(c),
               graph = load_on_device(c, {{"cuda_graph", "true"}, {"io", "pinned"}});
    auto data = torch_test::data_for(torch_test::inputs_of(c.model, c.batch));
    for (float factor : {1.0F, -2.0F}) {
      for (std::int64_t i = 0; i < element_count(data[0].spec().shape); ++i) data[0].as<float>()[i] *= factor;
      torch_test::bind(*plain, data);
      torch_test::bind(*graph, data);
      const auto expected = torch_test::run(*plain);
      for (int replay = 0; replay < 2; ++replay)
        EXPECT_LT(torch_test::relative_error(torch_test::run(*graph), expected), 1e-6) << engine << factor;
    }
    EXPECT_EQ(graph->read_back(0).precisions.at(0).precision, "fp32");
  }
}

TEST_F(OnDevice, TheLibrariesOfCudaTellTheirVersions) {
  const auto versions = load_on_device({.model = "tiny_cnn"})->info().versions;
  for (const char* library : {"LibTorch", "CUDA runtime", "cuDNN", "cuBLASLt", "NCCL"})
    EXPECT_TRUE(std::any_of(versions.begin(), versions.end(), [&](const auto& row) {
      return row.first == library && row.second.find('.') != std::string::npos;
    })) << library;
}

TEST_F(OnDevice, EmptyingTheCacheChangesNoOutput) {
  const Case c{.model = "tiny_cnn"};
  const auto engine = load_on_device(c);
  const auto before = output_of(*engine, c);
  engine->flush_caches();
  EXPECT_EQ(torch_test::run(*engine), before);
}

// The fastest size of an operation, per second; 0: there is none.
double rate_of(const std::vector<plugin::ProbedOperation>& found, std::string_view operation,
               std::string_view variant) {
  double best = 0;
  for (const auto& one : found)
    if (one.operation == operation && one.variant == variant)
      for (const double ns : one.times_ns) best = std::max(best, one.amount / ns * 1e9);
  return best;
}

TEST_F(OnDevice, TheProbeFindsPlausiblePeaks) {
  const auto found = cuda_plugin().make<plugin::Role::kProbe>("cuda")->measure("cuda:0");
  for (const auto& one : found)
    EXPECT_TRUE(!one.times_ns.empty() || !one.detail.empty()) << one.operation << " " << one.variant;
  const double fp32 = rate_of(found, "product", "fp32");
  EXPECT_GT(fp32, 1e12);
  EXPECT_GT(rate_of(found, "convolution", "fp32"), 0);
  EXPECT_GT(rate_of(found, "product", "fp16"), fp32);
  EXPECT_LT(rate_of(found, "product", "fp16"), 1e16) << "no device does so much: it was not waited for";
  const double within = rate_of(found, "copy", "within_device");
  EXPECT_GT(within, rate_of(found, "copy", "pinned_to_device"));
  EXPECT_LT(within, 5e13);
  EXPECT_GT(rate_of(found, "copy", "pageable_to_host"), 0);
  EXPECT_GE(rate_of(found, "copy", "pinned_to_device"), rate_of(found, "copy", "pageable_to_device"));
}

TEST_F(OnDevice, ADeviceThatIsNotThereIsNamed) {
  const auto [code, message] = error_of([] {
    load_on_device({.model = "tiny_cnn"}, {{"device", "cuda:99"}});
  });
  EXPECT_EQ(code, ErrorCode::kUnavailable);
  EXPECT_NE(message.find("there is no device cuda:99; the driver shows "), std::string::npos) << message;
}

TEST_F(OnDevice, AnUnknownOptionIsNamed) {
  const auto [code, message] = error_of([] { load_on_device({.model = "tiny_cnn"}, {{"speed", "high"}}); });
  EXPECT_EQ(code, ErrorCode::kUsage);
  EXPECT_NE(message.find("no option 'speed'"), std::string::npos) << message;
}

}  // namespace
}  // namespace paceline::cuda_test
