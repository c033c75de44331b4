// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>

#include "driver.h"

namespace paceline::torch_test {
namespace {

// Loads, or skips the test where this CPU lacks the precision.
#define LOAD_OR_SKIP(name, ...)                                                     \
  std::unique_ptr<plugin::Engine> name;                                             \
  {                                                                                 \
    const auto [code, message] = error_of([&] { name = load(Case{__VA_ARGS__}); }); \
    if (code == ErrorCode::kUnsupported) GTEST_SKIP() << message;                   \
    ASSERT_FALSE(code) << message;                                                  \
  }

TEST(TorchPlugin, NamesItsEnginesAndLibraries) {
  const auto& description = torch_plugin().description();
  ASSERT_EQ(description.engines.size(), 3u);
  EXPECT_STREQ(description.engines[0].name, "eager");
  EXPECT_STREQ(description.engines[1].name, "torchscript");
  EXPECT_STREQ(description.engines[2].name, "aotinductor");
  ASSERT_EQ(description.exporters.size(), 2u);
  EXPECT_STREQ(description.exporters[0].format, "onnx");
  const auto versions = description.versions();
  std::vector<std::string> names;
  for (const auto& [name, version] : versions) {
    names.push_back(name);
    EXPECT_FALSE(version.empty()) << name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"LibTorch", "BLAS", "oneDNN", "OpenMP", "cpu_capability"}));
  EXPECT_EQ(versions[0].second.substr(0, 2), "2.");
}

TEST(Engine, ReportsItsEffectiveSettings) {
  const auto engine =
      load({.model = "tiny_cnn", .engine = "torchscript", .layout = "channels_last", .threads = 1});
  EXPECT_EQ(engine->info().name, "torchscript");
  EXPECT_EQ(setting(*engine, "threads"), "1");
  EXPECT_EQ(setting(*engine, "memory_format"), "channels_last");
  EXPECT_EQ(setting(*engine, "precision"), "fp32");
  EXPECT_EQ(setting(*engine, "inference_mode"), "on");
  EXPECT_EQ(setting(*engine, "torchscript_passes"), "trace, freeze, optimize_for_inference");
}

TEST(Engine, TorchScriptHandsEveryConvolutionToOnednn) {
  const auto packed = [](const std::string& model) {
    return setting(*load({.model = model, .engine = "torchscript", .batch = 1}),
                   "torchscript_onednn_weights");
  };
  EXPECT_EQ(packed("resnet50"), "106");  // 53 convolutions with a weight and a folded bias each
  EXPECT_NE(packed("tiny_cnn"), "0");
}

// Written down once: the same seed must give the same network in every process, version and machine.
TEST(Weights, AreTheSameInEveryProcess) {
  const auto engine = load({.model = "tiny_cnn", .batch = 1, .seed = 7});
  auto data = data_for(inputs_of("tiny_cnn", 1));
  std::fill_n(data[0].as<float>(), 3 * 32 * 32, 0.5F);
  bind(*engine, data);
  const auto y = run(*engine);
  const std::vector<float> golden = {-0.0501479F, -0.384307F, -0.0286846F, 0.105956F, 0.313082F,
                                     -0.0330168F, 0.198237F,  -0.373848F,  0.207332F, -0.0570277F};
  EXPECT_LE(relative_error(y, golden), 1e-5) << testing::PrintToString(y);
}

TEST(Weights, DependOnTheSeedAndNotOnTheThreads) {
  auto data = data_for(inputs_of("peak_gemm", 1));
  const auto output = [&](std::uint64_t seed, int threads) {
    const auto engine = load({.model = "peak_gemm", .batch = 1, .threads = threads, .seed = seed});
    bind(*engine, data);
    return run(*engine);
  };
  const auto one = output(1, 1);
  EXPECT_LE(relative_error(output(1, 3), one), 1e-6);
  EXPECT_GT(relative_error(output(2, 1), one), 0.1);
}

TEST(Engine, AnswersASampleTheSameInAnyBatch) {
  for (const std::string name : {"eager", "torchscript"}) {
    const auto engine = load({.model = "tiny_cnn", .engine = name, .batch = 8});
    auto eight = data_for(inputs_of("tiny_cnn", 8));
    bind(*engine, eight);
    auto together = run(*engine);
    together.resize(10);
    auto one = data_for(inputs_of("tiny_cnn", 1));
    bind(*engine, one);
    EXPECT_LE(relative_error(run(*engine), together), 1e-5) << name;
  }
}

TEST(Engine, ChannelsLastChangesNoAnswer) {
  auto data = data_for(inputs_of("tiny_cnn", 2));
  const auto plain = load({.model = "tiny_cnn"});
  bind(*plain, data);
  const auto expected = run(*plain);
  for (const std::string name : {"eager", "torchscript"}) {
    const auto engine = load({.model = "tiny_cnn", .engine = name, .layout = "channels_last"});
    bind(*engine, data);
    EXPECT_LE(relative_error(run(*engine), expected), 1e-5) << name;
  }
}

TEST(Engine, KeepsSlotsApart) {
  const auto engine = load({.model = "tiny_cnn", .batch = 1});
  auto first = data_for(inputs_of("tiny_cnn", 1));
  auto second = data_for(inputs_of("tiny_cnn", 1));
  std::fill_n(second[0].as<float>(), 3 * 32 * 32, 1.0F);
  engine->bind(0, std::vector{first[0].view()});
  engine->bind(1, std::vector{second[0].view()});
  const auto alone = run(*engine, 0);
  engine->enqueue(0);
  engine->enqueue(1);
  const auto y0 = as_floats(engine->synchronize(0)[0]), y1 = as_floats(engine->synchronize(1)[0]);
  EXPECT_EQ(y0, alone);
  EXPECT_GT(relative_error(y1, y0), 0.01);
}

TEST(Engine, LeavesTheCallersDataAlone) {
  const auto engine = load({.model = "tiny_cnn", .batch = 1});
  auto data = data_for(inputs_of("tiny_cnn", 1));
  const auto before = as_floats(data[0].view());
  bind(*engine, data);
  run(*engine);
  EXPECT_EQ(as_floats(data[0].view()), before);
}

TEST(ReadBack, SeesBf16UnderAutocastAndPure) {
  auto data = data_for(inputs_of("resnet50", 1));
  const auto fp32 = load({.model = "resnet50", .batch = 1});
  bind(*fp32, data);
  const auto expected = run(*fp32);
  for (const std::string name : {"eager", "torchscript"})
    for (const std::string precision : {"amp_bf16", "bf16"}) {
      LOAD_OR_SKIP(engine, .model = "resnet50", .engine = name, .precision = precision, .batch = 1);
      bind(*engine, data);
      const auto y = run(*engine);
      EXPECT_LE(relative_error(y, expected), 0.1);
      EXPECT_GT(relative_error(y, expected), 1e-5);  // it did not quietly run in float32
      EXPECT_EQ(engine->synchronize(0)[0].dtype, DType::kBFloat16);
      const auto shares = engine->read_back(0).precisions;
      const auto bf16 =
          std::find_if(shares.begin(), shares.end(), [](auto& s) { return s.precision == "bf16"; });
      ASSERT_NE(bf16, shares.end()) << name << " " << precision;
      EXPECT_GT(bf16->flops_share, 0.99) << name << " " << precision;
      EXPECT_EQ(bf16->operators, 54) << name << " " << precision;
    }
}

TEST(ReadBack, PrintsNothing) {
  const auto engine = load({.model = "tiny_cnn", .engine = "torchscript"});
  auto data = data_for(inputs_of("tiny_cnn", 2));
  bind(*engine, data);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(engine->read_back(0).precisions.size(), 1u);
  run(*engine);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

std::vector<plugin::Layer> layers_of(const Case& c) {
  const auto engine = load(c);
  auto data = data_for(inputs_of(c.model, c.batch));
  bind(*engine, data);
  run(*engine);
  return engine->profile(0, 3).layers;
}

TEST(Profile, OperatorsOfEagerCarryTheModelsLayers) {
  const auto layers = layers_of({.model = "resnet50", .batch = 1});
  const auto convolutions =
      std::count_if(layers.begin(), layers.end(), [](auto& l) { return l.type == "aten::conv2d"; });
  EXPECT_EQ(convolutions, 53);
  EXPECT_EQ(layers.at(0).name, "conv2d_0");
  EXPECT_EQ(layers.at(0).model_layer, "conv1");
  EXPECT_EQ(layers.at(0).precision, "fp32");
  EXPECT_EQ(layers.back().model_layer, "fc");
  double sum = 0;
  for (const auto& layer : layers) sum += layer.time_ns.value();
  EXPECT_GT(sum, 0);
}

TEST(Profile, AutocastsArithmeticIsThatOfTheInnermostOperator) {
  LOAD_OR_SKIP(engine, .model = "tiny_cnn", .precision = "amp_bf16");
  auto data = data_for(inputs_of("tiny_cnn", 2));
  bind(*engine, data);
  run(*engine);
  EXPECT_EQ(engine->profile(0, 2).layers.at(0).precision, "bf16");
}

// They pass the dispatcher unseen.
TEST(Profile, ConvolutionsOfTorchScriptComeFromOnednn) {
  const auto layers = layers_of({.model = "resnet50", .engine = "torchscript", .batch = 1});
  const auto convolutions =
      std::count_if(layers.begin(), layers.end(), [](auto& l) { return l.type == "oneDNN convolution"; });
  EXPECT_EQ(convolutions, 53);
  EXPECT_GT(layers.back().time_ns.value(), 0);
}

TEST(Profile, PrintsNothing) {
  testing::internal::CaptureStdout();
  EXPECT_FALSE(layers_of({.model = "tiny_cnn", .engine = "torchscript"}).empty());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(ReadBack, PeakMemoryHoldsWeightsInputsAndActivations) {
  const auto peak = [](std::int64_t batch) {
    const auto engine = load({.model = "tiny_cnn", .batch = batch});
    auto data = data_for(inputs_of("tiny_cnn", batch));
    bind(*engine, data);
    return engine->read_back(0).peak_tensor_bytes.value();
  };
  const std::int64_t input = 3 * 32 * 32 * 4, widest = 16 * 32 * 32 * 4, weights = 25'626 * 4;
  EXPECT_GE(peak(4), weights + 4 * (input + widest));
  EXPECT_GE(peak(64) - peak(4), 60 * (input + widest));
  EXPECT_LE(peak(64), weights + 64 * (input + 4 * widest) + (1 << 20));
}

struct BadRequest {
  const char* what;
  Case c;
  ErrorCode code;
  const char* message_part;
};
void PrintTo(const BadRequest& bad, std::ostream* out) {
  *out << bad.what;
}
class BadRequests : public testing::TestWithParam<BadRequest> {};
TEST_P(BadRequests, AreRefusedInWords) {
  const auto [code, message] = error_of([&] { load(GetParam().c); });
  ASSERT_TRUE(code);
  EXPECT_EQ(*code, GetParam().code) << message;
  EXPECT_NE(message.find(GetParam().message_part), std::string::npos) << message;
}
INSTANTIATE_TEST_SUITE_P(
    All, BadRequests,
    testing::Values(
        BadRequest{"model", {.model = "resnet5"}, ErrorCode::kUsage, "did you mean 'resnet50'?"},
        BadRequest{"precision", {.model = "tiny_cnn", .precision = "fp8"}, ErrorCode::kUsage, "fp8"},
        BadRequest{"tf32", {.model = "tiny_cnn", .precision = "tf32"}, ErrorCode::kUnsupported, "NVIDIA"},
        BadRequest{"int8", {.model = "tiny_cnn", .precision = "int8"}, ErrorCode::kUnsupported, "quantised"},
        BadRequest{"layout", {.model = "tiny_cnn", .layout = "nhwc"}, ErrorCode::kUsage, "channels_last"},
        BadRequest{"length", {.model = "gpt2", .length = 1025}, ErrorCode::kUsage, "1..1024"}),
    [](const auto& p) { return std::string(p.param.what); });

TEST(BadInputs, AreRefusedInWords) {
  plugin::ModelSpec spec;
  spec.name = "tiny_cnn";
  spec.inputs = {{"input", DType::kFloat32, {1, 3, 31, 32}}};
  const auto engine = torch_plugin().make<plugin::Role::kEngine>("eager");
  auto [code, message] = error_of([&] { engine->load(spec, {}); });
  EXPECT_EQ(code, ErrorCode::kUsage);
  EXPECT_EQ(message,
            "model tiny_cnn takes input:Nx3x32x32:float32 (N is the batch), got input:1x3x31x32:float32");
  spec.inputs = inputs_of("tiny_cnn", 1);
  engine->load(spec, {});
  auto wrong = data_for(inputs_of("resnet50", 1));
  std::tie(code, message) = error_of([&] { engine->bind(0, std::vector{wrong[0].view()}); });
  EXPECT_EQ(code, ErrorCode::kUsage);
  EXPECT_NE(message.find("only the batch may differ"), std::string::npos) << message;
  EXPECT_EQ(error_of([&] { engine->enqueue(0); }).first, ErrorCode::kInternal);
}

TEST(BadInputs, UnknownOptionsAreRefused) {
  plugin::ModelSpec spec;
  spec.name = "tiny_cnn";
  spec.inputs = inputs_of("tiny_cnn", 1);
  plugin::EngineSettings settings;
  settings.options["fuse"] = "1";
  const auto [code, message] =
      error_of([&] { torch_plugin().make<plugin::Role::kEngine>("eager")->load(spec, settings); });
  EXPECT_EQ(code, ErrorCode::kUsage);
  EXPECT_NE(message.find("'fuse'"), std::string::npos) << message;
}

}  // namespace
}  // namespace paceline::torch_test
