// SPDX-License-Identifier: MIT
#include "tensorrt/inspector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline::tensorrt_plugin {
namespace {

using testing::DoubleEq;
using testing::Optional;

// One layer with what a test changes.
std::string layers(const std::string& fields, const std::string& type = "Half") {
  return R"({"Layers": [{"Name": "l", )" + fields +
         R"(, "Inputs": [{"Name": "a", "Dimensions": [2, 8, 10, 10], )" + R"("Format/Datatype": ")" + type +
         R"("}], "Outputs": [{"Name": "b", "Dimensions": [2, 16, 5, 5]}]}]})";
}
constexpr const char* kConvolution =
    R"("LayerType": "CaskConvolution", "Kernel": [3, 3], "OutMaps": 16, "Groups": 1)";

plugin::Layer only_layer(const std::string& json) {
  const auto found = inspected_layers(json);
  EXPECT_EQ(found.size(), 1U);
  return found.at(0).layer;
}

TEST(Inspector, WorkOfAConvolution) {
  EXPECT_THAT(only_layer(layers(kConvolution)).flops, Optional(DoubleEq(2.0 * 2 * 16 * 25 * 8 * 9)));
  const auto grouped =
      layers(R"("LayerType": "CaskConvolution", "Kernel": [3, 3], "OutMaps": 16, "Groups": 4)");
  EXPECT_THAT(only_layer(grouped).flops, Optional(DoubleEq(2.0 * 2 * 16 * 25 * 2 * 9)));
}

TEST(Inspector, WorkOfATransposedConvolutionIsCountedFromItsInput) {
  const auto json =
      layers(R"("LayerType": "CaskDeconvolutionV2", "Kernel": [2, 2], "OutMaps": 16, "Groups": 1)");
  EXPECT_THAT(only_layer(json).flops, Optional(DoubleEq(2.0 * 2 * 8 * 100 * 16 * 4)));
}

TEST(Inspector, WorkOfAMatrixProduct) {
  const auto layer =
      only_layer(R"({"Layers": [{"Name": "fc", "LayerType": "gemm", "TacticName": "sm90_gemm_f16",
    "Inputs": [{"Dimensions": [32, 768], "Format/Datatype": "Half"}],
    "Outputs": [{"Dimensions": [32, 3072], "Format/Datatype": "Half"}]}]})");
  EXPECT_THAT(layer.flops, Optional(DoubleEq(2.0 * 32 * 768 * 3072)));
  EXPECT_EQ(layer.precision, "fp16");
}

TEST(Inspector, ParametersTellWhatAFusedLayerComputes) {
  const auto json =
      layers(R"("LayerType": "kgen", "ParameterType": "Convolution", "Kernel": [3, 3], "OutMaps": 16)");
  EXPECT_TRUE(only_layer(json).flops);
}

TEST(Inspector, OtherLayersHaveNoWork) {
  EXPECT_FALSE(only_layer(layers(R"("LayerType": "Reformat")")).flops);
  EXPECT_FALSE(
      only_layer(layers(R"("LayerType": "CaskConvolution", "OutMaps": 16)")).flops);  // no kernel said
}

TEST(Inspector, OpenShapesHaveNoWork) {
  EXPECT_FALSE(
      only_layer(R"({"Layers": [{"Name": "fc", "LayerType": "gemm", "Inputs": [{"Dimensions": [-1, 8]}],
    "Outputs": [{"Dimensions": [-1, 8]}]}]})")
          .flops);
}

TEST(Inspector, PrecisionIsWhatTheLayerReads) {
  const std::pair<const char*, const char*> kCases[] = {
      {"Half", "fp16"},
      {"Channel major FP16 format where channel % 8 == 0", "fp16"},
      {"Thirty-two wide channel vectorized row major Int8 format.", "int8"},
      {"BFloat16", "bf16"},
      {"FP8", "fp8"},
      {"Int64", ""},
      {"", ""},
  };
  for (const auto& [text, precision] : kCases)
    EXPECT_EQ(only_layer(layers(kConvolution, text)).precision, precision) << text;
}

TEST(Inspector, OnlyTheKernelTellsTf32) {
  const auto with = [](const std::string& kernel) {
    return only_layer(layers(std::string(kConvolution) + R"(, "TacticName": ")" + kernel + "\"",
                             "Row major linear FP32"))
        .precision;
  };
  EXPECT_EQ(with("sm80_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc"), "tf32");
  EXPECT_EQ(with("sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckrsc"), "fp32");
  EXPECT_EQ(with(""), "");
}

TEST(Inspector, NamesOfTheModelsNodes) {
  const auto metadata =
      R"("LayerType": "Reformat", "Metadata": "[ONNX Layer: layer1/Conv]\u001f[ONNX Layer: layer2/Relu]")";
  EXPECT_EQ(only_layer(layers(metadata)).model_layer, "layer1 layer2");
  EXPECT_EQ(only_layer(layers(R"("LayerType": "Reformat", "Metadata": "")")).model_layer, "");
  EXPECT_EQ(only_layer(R"({"Layers": [{"Name": "a/Conv + b/Relu"}]})").model_layer, "a b");
}

TEST(Inspector, RefusesInvalidText) {
  for (const char* text : {"", "{", "[]", "{}", R"({"Layers": 3})"})
    EXPECT_THROW(inspected_layers(text), Error) << text;
}

TEST(Inspector, APlanThatKeepsNamesOnly) {
  try {
    (void)inspected_layers(R"({"Layers": ["conv1 + relu1", "fc"]})");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(), testing::HasSubstr("detailed"));
  }
}

}  // namespace
}  // namespace paceline::tensorrt_plugin
