// SPDX-License-Identifier: MIT
#include "run/artefacts/quantised_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/npy.h"
#include "config/plan.h"
#include "onnx/graph.h"
#include "onnx/model_file.h"
#include "run/artefacts/input_requests.h"
#include "run/inference/pass_factory.h"

namespace paceline::run {
namespace {

namespace fs = std::filesystem;

config::Settings settings(const std::string& extra) {
  const auto plan = config::load_plan_text(
      "kind: inference\nmodels: [tiny_cnn]\nengines: [onnxruntime]\n" + extra, "test.yaml");
  return config::expand(plan).at(0).settings;
}

plugin::Manifest manifest(const std::string& engine, const std::string& file) {
  plugin::Manifest m;
  m.name = engine;
  m.capabilities = {{plugin::Role::kEngine, engine}};
  m.file = file;
  if (file.empty()) m.not_built_because = "no headers of " + engine;
  return m;
}

EngineDirectory engines(const std::string& ort, const std::string& openvino) {
  return EngineDirectory({manifest("onnxruntime", ort), manifest("openvino", openvino)});
}

pass::PassSpec base(const std::string& engine = "onnxruntime") {
  pass::PassSpec pass;
  pass.use(plugin::Role::kEngine, engine);
  pass.model.inputs = {{"input", DType::kFloat32, {8, 3, 32, 32}}};
  return pass;
}

TEST(QuantisedFiles, CalibratesInOnnxRuntimeElseInOpenVino) {
  const auto s = settings("precisions: [int8]\n");
  EXPECT_EQ(quantise_pass(s, base(), "m.onnx", engines("ort.so", "ov.so")).engine(), "onnxruntime");
  EXPECT_EQ(quantise_pass(s, base(), "m.onnx", engines("", "ov.so")).plugin(plugin::Role::kEngine).file,
            "ov.so");
  try {
    (void)quantise_pass(s, base(), "m.onnx", engines("", ""));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnavailable);
    EXPECT_NE(std::string(e.what()).find("no headers of openvino"), std::string::npos) << e.what();
  }
}

// On any machine: what a CPU with VNNI and one without do, and one whose VNNI oneDNN is told not to use.
TEST(QuantisedFiles, SumsSaturateWithoutVnni) {
  host::CpuInfo plain, vnni, arm;
  plain.isa = {"avx", "fma", "avx2"};
  vnni.isa = {"avx2", "avx512f", "avx512_vnni", "amx_int8"};
  arm.isa = {"asimd", "asimddp"};
  EXPECT_TRUE(products_saturate(plain));
  EXPECT_FALSE(products_saturate(vnni));
  EXPECT_FALSE(products_saturate(arm));
  for (const auto* limit : {"AVX2", "avx512_core"}) EXPECT_TRUE(products_saturate(vnni, limit)) << limit;
  for (const auto* limit : {"AVX2_VNNI", "AVX512_CORE_VNNI", "ALL", ""})
    EXPECT_FALSE(products_saturate(vnni, limit)) << limit;
}

TEST(QuantisedFiles, Float16NeedsNoEngine) {
  const auto pass = quantise_pass(settings("precisions: [fp16]\n"), base(), "m.onnx", engines("", ""));
  EXPECT_EQ(std::get<pass::QuantiseTo>(pass.task).precision, "fp16");
  EXPECT_TRUE(pass.plugins.empty());
}

TEST(QuantisedFiles, ActivationsAreThoseTheEngineRuns) {
  const auto s = settings("precisions: [int8]\n");
  const auto here = engines("ort.so", "");
  EXPECT_EQ(std::get<pass::QuantiseTo>(quantise_pass(s, base("openvino"), "m.onnx", here).task).activations,
            "uint8");
  EXPECT_EQ(std::get<pass::QuantiseTo>(quantise_pass(s, base("tensorrt"), "m.onnx", here).task).activations,
            "int8");
  const auto asked = settings("precisions: [int8]\nquantisation: {activations: int8}\n");
  EXPECT_EQ(
      std::get<pass::QuantiseTo>(quantise_pass(asked, base("openvino"), "m.onnx", here).task).activations,
      "int8");
}

TEST(QuantisedFiles, SettingsReachThePass) {
  const auto s = settings(
      "precisions: [int8]\nquantisation: {method: entropy, samples: 5, exclude: [first, 'fc*']}\n"
      "calib_data: [x.npy]\n");
  const auto pass = quantise_pass(s, base(), "m.onnx", engines("ort.so", ""));
  EXPECT_EQ(std::get<pass::QuantiseTo>(pass.task).method, "entropy");
  EXPECT_EQ(std::get<pass::QuantiseTo>(pass.task).exclude, (std::vector<std::string>{"first", "fc*"}));
  EXPECT_EQ(pass.inference.samples, 5);
  EXPECT_EQ(std::get<pass::QuantiseTo>(pass.task).data, "'x.npy'");
  const auto request = calibration_request(s, pass);
  EXPECT_EQ(request.specs.at(0).shape, (Shape{5, 3, 32, 32}));
  EXPECT_EQ(request.load_inputs, std::vector<std::string>{"x.npy"});
  EXPECT_FALSE(calibrates_with_random_inputs(s));
}

// A file that leaves its length open, with the batch in dimension 1.
TEST(QuantisedFiles, OpenSizesAreThoseOfTheCalibrationInputs) {
  onnx::proto::ModelProto model;
  auto* input = model.mutable_graph()->add_input();
  input->set_name("input");
  auto* type = input->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::proto::TensorProto::FLOAT);
  for (const auto* name : {"length", "batch"}) type->mutable_shape()->add_dim()->set_dim_param(name);
  type->mutable_shape()->add_dim()->set_dim_value(4);
  pass::PassSpec pass;
  pass.model.inputs = {{"input", DType::kFloat32, {9, 2, 4}}};
  pass.inference.batch_dimensions = {1};
  free_shapes(pass, model);
  EXPECT_EQ(pass.model.inputs.at(0).shape, (Shape{-1, 2, 4}));
  const auto file = (fs::path(::testing::TempDir()) / "calibration-0.npy").string();
  Tensor stored({"input", DType::kFloat32, {8, 6, 4}});
  write_npy(file, stored.view());
  pass.inference.input_files = {file};
  use_calibration_shapes(pass);
  EXPECT_EQ(pass.model.inputs.at(0).shape, (Shape{6, 2, 4}));
}

TEST(QuantisedFiles, RandomCalibrationDataAreNotTheChecksInputs) {
  const auto c = config::expand(config::load_plan_text(
      "kind: inference\nmodels: [tiny_cnn]\nengines: [onnxruntime]\nprecisions: [int8]\n", "test.yaml"));
  const auto pass = base_pass(c.at(0), 1);
  EXPECT_TRUE(calibrates_with_random_inputs(c.at(0).settings));
  EXPECT_NE(calibration_request(c.at(0).settings, pass).seed, input_request(c.at(0), pass).seed);
}

TEST(QuantisedFiles, ACacheIsAFileOrLiesInAFolder) {
  auto pass =
      quantise_pass(settings("precisions: [int8]\n"), base(), "/tmp/model-a.onnx", engines("ort.so", ""));
  const auto in_run = calibration_file(settings("precisions: [int8]\n"), pass, "/run");
  EXPECT_EQ(in_run.parent_path(), "/run");
  EXPECT_TRUE(in_run.filename().string().starts_with("calibration-model-a-"));
  const fs::path folder = fs::path(::testing::TempDir()) / "caches";
  fs::create_directories(folder);
  const auto with = [&](const fs::path& p) {
    return calibration_file(settings("precisions: [int8]\ncalib_cache: " + p.string() + "\n"), pass, "/run");
  };
  EXPECT_EQ(with(folder), folder / in_run.filename());
  EXPECT_EQ(with(folder / "mine.json"), folder / "mine.json");
  std::get<pass::QuantiseTo>(pass.task).method = "minmax";
  EXPECT_NE(with(folder), folder / in_run.filename()) << "another method has another file";
}

TEST(QuantisedFiles, AFileThatIsQuantisedRunsAsItIs) {
  const std::string file = (fs::path(::testing::TempDir()) / "given.onnx").string();
  const auto plan = [&](const std::string& precision) {
    auto s = settings("precisions: [" + precision + "]\n");
    s.set("model", file);
    return s;
  };
  onnx::proto::ModelProto model;
  onnx::add_node(*model.mutable_graph(), "Relu", "r", std::vector<std::string>{"x"},
                 std::vector<std::string>{"y"});
  *model.mutable_graph()->add_output() = onnx::make_value_info({"y", DType::kFloat32, {-1}});
  onnx::write_model(model, file);
  EXPECT_TRUE(needs_quantising(plan("int8"), file));
  EXPECT_TRUE(needs_quantising(plan("fp16"), file));
  EXPECT_FALSE(needs_quantising(plan("fp32"), file));
  onnx::add_node(*model.mutable_graph(), "DequantizeLinear", "d", std::vector<std::string>{"a", "b"},
                 std::vector<std::string>{"z"});
  const std::uint16_t half = 0x3c00;
  *model.mutable_graph()->add_initializer() = onnx::make_tensor("h", DType::kFloat16, Shape{1}, &half);
  onnx::write_model(model, file);
  EXPECT_FALSE(needs_quantising(plan("int8"), file));
  EXPECT_FALSE(needs_quantising(plan("fp16"), file));
  fs::remove(file);
}

}  // namespace
}  // namespace paceline::run
