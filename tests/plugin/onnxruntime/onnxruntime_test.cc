// SPDX-License-Identifier: MIT
// Properties of ONNX Runtime alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "plugin/model_files/driver.h"

namespace paceline::model_files_test {
namespace {

using testing::HasSubstr;

struct OptionCase {
  const char* name;
  const char* value;
  const char* reported;
};
class OrtOption : public testing::TestWithParam<OptionCase> {};

TEST_P(OrtOption, IsTakenAndReported) {
  const TemporaryFolder folder;
  linear().save(folder.file("m.onnx"));
  std::vector<Tensor> data;
  data.push_back(tensor("x", {2, 16}, values(32, 5)));
  const auto plain = load(folder.file("m.onnx"), specs_of(data));
  const auto engine =
      load(folder.file("m.onnx"), specs_of(data), {"fp32", 2, {{GetParam().name, GetParam().value}}});
  EXPECT_EQ(setting(*engine, GetParam().reported), GetParam().value);
  EXPECT_NE(setting(*plain, GetParam().reported), GetParam().value);
  EXPECT_EQ(setting(*engine, "threads"), "2");
  bind(*plain, data);
  bind(*engine, data);
  EXPECT_LE(relative_error(run(*engine), run(*plain)), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(All, OrtOption,
                         testing::Values(OptionCase{"graph_optimization", "disabled", "graph_optimization"},
                                         OptionCase{"graph_optimization", "basic", "graph_optimization"},
                                         OptionCase{"inter_op_threads", "2", "inter_op_threads"},
                                         OptionCase{"allow_spinning", "false", "allow_spinning"},
                                         OptionCase{"arena", "false", "arena"}),
                         [](const auto& p) { return std::string(p.param.name) + "_" + p.param.value; });

TEST(OrtOptions, RefusesInvalidValues) {
  const TemporaryFolder folder;
  linear().save(folder.file("m.onnx"));
  for (const auto& [name, value] : {std::pair{"graph_optimization", "most"},
                                    {"inter_op_threads", "0"},
                                    {"inter_op_threads", "2x"},
                                    {"arena", "yes"}}) {
    const auto [code, text] = error_of([&, name = name, value = value] {
      load(folder.file("m.onnx"), {{"x", DType::kFloat32, {2, 16}}}, {"fp32", 1, {{name, value}}});
    });
    EXPECT_EQ(code, ErrorCode::kUsage) << text;
    EXPECT_THAT(text, testing::AllOf(HasSubstr(name), HasSubstr(value)));
  }
}

// The library of the tests has the CPU's provider alone.
TEST(OrtProviders, ThatTheLibraryLacksOrThatContradictTheDevice) {
  const TemporaryFolder folder;
  linear().save(folder.file("m.onnx"));
  struct Refusal {
    std::map<std::string, std::string> options;
    ErrorCode code;
    const char* words;
    const char* precision = "fp32";
  };
  for (const auto& [options, code, words, precision] : {
           Refusal{{{"device", "cuda:0"}}, ErrorCode::kUnsupported, "has no CUDAExecutionProvider (it has "},
           Refusal{
               {{"device", "cuda:0"}, {"io", "pageable"}}, ErrorCode::kUnsupported, "set ONNXRUNTIME_ROOT"},
           Refusal{{{"device", "cuda:1"}, {"provider", "tensorrt"}},
                   ErrorCode::kUnsupported,
                   "has no TensorrtExecutionProvider"},
           Refusal{{{"device", "cuda:0"}, {"io", "none"}}, ErrorCode::kUnsupported, "use --io pageable"},
           Refusal{{{"device", "cuda:0"}, {"provider", "cpu"}},
                   ErrorCode::kUsage,
                   "runs on the CPU, and this case on cuda:0; use --device cpu"},
           Refusal{{{"device", "cuda:0"}, {"cuda_graph", "true"}}, ErrorCode::kUsage, "cuda_graph"},
           Refusal{
               {{"provider", "cuda"}}, ErrorCode::kUsage, "onnxruntime.provider cuda needs --device cuda"},
           Refusal{{{"provider", "rocm"}}, ErrorCode::kUsage, "it takes cuda, tensorrt or cpu"},
           Refusal{{}, ErrorCode::kUnsupported, "tf32 is a mode of NVIDIA GPUs", "tf32"},
       }) {
    const auto [said_code, text] = error_of([&, options = options, precision = precision] {
      load(folder.file("m.onnx"), {{"x", DType::kFloat32, {2, 16}}}, {precision, 1, options});
    });
    EXPECT_EQ(said_code, code) << text;
    EXPECT_THAT(text, HasSubstr(words));
  }
}

TEST(OrtProviders, TheCpuIsReported) {
  const TemporaryFolder folder;
  linear().save(folder.file("m.onnx"));
  const std::vector<TensorSpec> inputs{{"x", DType::kFloat32, {2, 16}}};
  for (const std::map<std::string, std::string>& options :
       {std::map<std::string, std::string>{}, {{"provider", "cpu"}}}) {
    const auto engine = load(folder.file("m.onnx"), inputs, {"fp32", 1, options});
    EXPECT_EQ(setting(*engine, "provider"), "CPUExecutionProvider");
    EXPECT_EQ(setting(*engine, "io"), std::nullopt);
  }
}

// Some exporters call every open dimension "?".
TEST(OrtDimensions, OneSymbolMayStandForSeveralSizes) {
  const TemporaryFolder folder;
  OnnxFile file;
  file.input("x", DType::kFloat32, {-1, -1});
  file.output("y", DType::kFloat32, {-1, -1});
  file.node("Relu", {"x"}, {"y"});
  file.save(folder.file("m.onnx"));
  std::vector<Tensor> data;
  data.push_back(tensor("x", {2, 3}, std::vector<float>{1, -1, 2, -2, 3, -3}));
  const auto engine = load(folder.file("m.onnx"), specs_of(data));
  bind(*engine, data);
  EXPECT_EQ(run(*engine), (std::vector<float>{1, 0, 2, 0, 3, 0}));
}

TEST(OrtDimensions, InputsThatDoNotFitEachOther) {
  const TemporaryFolder folder;
  OnnxFile file;
  file.input("a", DType::kFloat32, {-1, 4});
  file.input("b", DType::kFloat32, {-1, 4});
  file.output("y", DType::kFloat32, {-1, 4});
  file.node("Add", {"a", "b"}, {"y"});
  file.save(folder.file("m.onnx"));
  std::vector<Tensor> data;
  data.push_back(tensor("a", {2, 4}, values(8, 1)));
  data.push_back(tensor("b", {3, 4}, values(12, 1)));
  const auto [code, text] = error_of([&] {
    const auto engine = load(folder.file("m.onnx"), specs_of(data));
    bind(*engine, data);
    engine->enqueue(0);
  });
  EXPECT_EQ(code, ErrorCode::kUsage) << text;
  EXPECT_NE(text, "");
}

// Its CPU provider has no kernels for float16: it puts casts around float32 ones and says nothing.
TEST(OrtFiles, OfHalfPrecisionRunInSinglePrecision) {
  const TemporaryFolder folder;
  half_convolution().save(folder.file("m.onnx"));
  std::vector<Tensor> data;
  data.emplace_back(TensorSpec{"x", DType::kFloat16, {1, 3, 8, 8}});
  const auto engine = load(folder.file("m.onnx"), specs_of(data), {"fp16"});
  bind(*engine, data);
  const auto shares = engine->read_back(0).precisions;
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].precision, "fp32");
}

TEST(OrtFiles, OfAnOperatorSetToCome) {
  const TemporaryFolder folder;
  auto file = linear();
  file.model.mutable_opset_import(0)->set_version(99);
  file.save(folder.file("m.onnx"));
  const auto [code, text] = error_of([&] { load(folder.file("m.onnx"), {{"x", DType::kFloat32, {2, 16}}}); });
  EXPECT_EQ(code, ErrorCode::kUnsupported);
  EXPECT_THAT(text, HasSubstr("Opset 99"));
}

// The library is opened once in a process: each in a process of its own.
void describe_with_root(const char* root) {
  ::setenv("ONNXRUNTIME_ROOT", root, 1);
  try {
    plugin::LoadedPlugin(PLUGIN_FILE).description().versions();
    std::fputs("it loaded", stderr);
  } catch (const Error& e) {
    std::fputs(e.what(), stderr);
    std::_Exit(e.code() == ErrorCode::kUnavailable ? 7 : 8);
  }
  std::_Exit(0);
}

TEST(OrtLibraryDeathTest, MissingOrOfAnotherKind) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::filesystem::path folder =
      testing::TempDir() + "root";  // one for the processes, which run all this again
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "lib");
  EXPECT_EXIT(describe_with_root(folder.c_str()), testing::ExitedWithCode(7),
              "contains no lib/libonnxruntime.so.1; correct or unset it");
  std::filesystem::copy_file(PLUGIN_FILE, folder / "lib/libonnxruntime.so.1");
  EXPECT_EXIT(describe_with_root(folder.c_str()), testing::ExitedWithCode(7),
              "is no ONNX Runtime; run scripts/setup.sh, or set ONNXRUNTIME_ROOT");
  std::filesystem::resize_file(folder / "lib/libonnxruntime.so.1", 100);
  EXPECT_EXIT(describe_with_root(folder.c_str()), testing::ExitedWithCode(7), "cannot load ONNX Runtime: ");
  EXPECT_EXIT(describe_with_root(""), testing::ExitedWithCode(0), "it loaded");
}

}  // namespace
}  // namespace paceline::model_files_test
