// SPDX-License-Identifier: MIT
// Properties of OpenVINO alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnx/graph.h"
#include "plugin/model_files/driver.h"

namespace paceline::model_files_test {
namespace {

using testing::HasSubstr;

// x float32 [N,64] times dequantised int8 weights [64,32].
OnnxFile integer_weights() {
  OnnxFile file;
  file.input("x", DType::kFloat32, {-1, 64});
  file.output("y", DType::kFloat32, {-1, 32});
  std::vector<std::int8_t> bytes;
  for (const auto value : values(std::int64_t{64} * 32, 9))
    bytes.push_back(static_cast<std::int8_t>(127 * value));
  *file.graph().add_initializer() = onnx::make_tensor("w", DType::kInt8, {64, 32}, bytes.data());
  file.weights("s", {}, std::vector<float>{0.01F});
  file.node("DequantizeLinear", {"w", "s"}, {"f"});
  file.node("MatMul", {"x", "f"}, {"y"});
  return file;
}

class OpenVino : public testing::Test {
 protected:
  OpenVino() {
    linear().save(file_);
    data_.push_back(tensor("x", {2, 16}, values(32, 5)));
  }
  [[nodiscard]] std::unique_ptr<plugin::Engine> loaded(const Settings& settings) const {
    return load(file_, specs_of(data_), settings);
  }
  TemporaryFolder folder_;
  std::string file_ = folder_.file("m.onnx");
  std::vector<Tensor> data_;
};

TEST_F(OpenVino, PrecisionIsNeverLeftToIt) {
  EXPECT_EQ(setting(*loaded({"fp32"}), "inference_precision"), "f32");
  EXPECT_EQ(setting(*loaded({"int8"}), "inference_precision"), "f32");
}

// Without half precision in the CPU, OpenVINO takes another without a word.
TEST_F(OpenVino, HalfPrecisionIsReadBackAsWhatRan) {
  for (const std::string asked : {"fp16", "bf16"}) {
    std::unique_ptr<plugin::Engine> engine;
    const auto [code, text] = error_of([&] { engine = loaded({asked}); });
    if (code == ErrorCode::kUnsupported) continue;  // bf16 on a CPU without it
    ASSERT_TRUE(engine) << text;
    bind(*engine, data_);
    const auto ran = setting(*engine, "inference_precision");
    const auto shares = engine->read_back(0).precisions;
    ASSERT_EQ(shares.size(), 1U);
    EXPECT_EQ(shares[0].precision, ran == "f32" ? "fp32" : ran == "f16" ? "fp16" : "bf16");
    EXPECT_TRUE(asked == "fp16" || shares[0].precision == "bf16") << shares[0].precision;
  }
}

TEST_F(OpenVino, SubnormalWeightsAreNamed) {
  OnnxFile file;
  file.input("x", DType::kFloat32, {2});
  file.output("y", DType::kFloat32, {2});
  file.weights("tiny", {2}, std::vector<float>{1e-39F, 1});
  file.node("Add", {"x", "tiny"}, {"y"});
  file.save(file_);
  data_.clear();
  data_.push_back(tensor("x", {2}, std::vector<float>{0, 0}));
  const auto engine = loaded({});
  bind(*engine, data_);
  EXPECT_THAT(engine->read_back(0).note,
              HasSubstr("1 subnormal weights (below 1.2e-38), the first in 'tiny'"));
}

TEST_F(OpenVino, OptionsAreReportedByTheCompiledModel) {
  EXPECT_EQ(setting(*loaded({"fp32", 2}), "num_streams"), "1");
  EXPECT_EQ(setting(*loaded({"fp32", 2, {{"num_streams", "2"}}}), "num_streams"), "2");
  EXPECT_EQ(setting(*loaded({"fp32", 2, {{"cpu_pinning", "false"}}}), "cpu_pinning"), "NO");
}

// The type of the weights is one fact, the arithmetic another, which depends on the CPU where nobody asks for
// fp32: products of integer weights may round activations to 8 bits.
TEST_F(OpenVino, IntegerWeightsAreMultipliedInFloatWhereFp32IsAskedFor) {
  data_.clear();
  data_.push_back(tensor("x", {4, 64}, values(256, 5)));
  integer_weights().save(file_);
  const auto measured = [&](bool of_file) {
    const auto engine = loaded({"fp32", 1, {}, of_file});
    bind(*engine, data_);
    const auto shares = engine->read_back(0).precisions;
    EXPECT_EQ(shares.size(), 1U);
    EXPECT_EQ(shares.at(0).weights, "int8");
    EXPECT_EQ(setting(*engine, "dynamic_quantization_group_size") == "0", !of_file);
    return std::pair(shares.at(0).precision, run(*engine));
  };
  const auto [exact, numbers] = measured(false);
  EXPECT_EQ(exact, "fp32");
  const auto [own, own_numbers] = measured(true);
  EXPECT_EQ(own, relative_error(own_numbers, numbers) > 1e-4 ? "int8" : "fp32");
}

TEST_F(OpenVino, OutputsHaveTheModelsOwnNames) {
  OnnxFile file;
  file.input("x", DType::kFloat32, {-1, 16});
  file.node("Relu", {"x"}, {"an_embedding"});
  file.node("Identity", {"an_embedding"}, {"scores"});
  file.node("Identity", {"an_embedding"}, {"again"});
  for (const auto* name : {"scores", "again"}) file.output(name, DType::kFloat32, {-1, 16});
  file.save(file_);
  const auto engine = loaded({"fp32"});
  bind(*engine, data_);
  engine->enqueue(0);
  std::vector<std::string> names;
  for (const auto& output : engine->synchronize(0)) names.push_back(output.name);
  EXPECT_THAT(names, testing::ElementsAre("scores", "again"));
}

TEST_F(OpenVino, RefusesInvalidValues) {
  const auto [code, text] = error_of([&] { (void)loaded({"fp32", 1, {{"num_streams", "many"}}}); });
  EXPECT_EQ(code, ErrorCode::kUsage);
  EXPECT_THAT(text, testing::AllOf(HasSubstr("num_streams"), HasSubstr("many")));
}

}  // namespace
}  // namespace paceline::model_files_test
