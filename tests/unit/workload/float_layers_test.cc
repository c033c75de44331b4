// SPDX-License-Identifier: MIT
#include "workload/inference/float_layers.h"

#include <gtest/gtest.h>

#include "onnx/graph.h"

namespace paceline::workload {
namespace {

using Names = std::vector<std::string>;

plugin::Layer layer(const std::string& type, const std::string& precision, const std::string& name,
                    double flops = 10) {
  plugin::Layer made{name, type, precision, {}, flops};
  made.model_layer = name;
  return made;
}

class Graph {
 public:
  Graph& node(const std::string& op, const Names& inputs, const std::string& output) {
    onnx::add_node(*model.mutable_graph(), op, output, inputs, Names{output});
    return *this;
  }
  Graph& zero(const std::string& name, DType dtype) {
    const std::uint8_t number = 0;
    *model.mutable_graph()->add_initializer() = onnx::make_tensor(name, dtype, Shape{}, &number);
    return *this;
  }
  // name = a pair of QuantizeLinear and DequantizeLinear after a value.
  Graph& pair(const std::string& value, const std::string& name, const std::string& zero = "u8") {
    return node("QuantizeLinear", {value, "scale", zero}, name + "/q")
        .node("DequantizeLinear", {name + "/q", "scale", zero}, name);
  }
  onnx::proto::ModelProto model;
};

Graph quantised() {
  Graph g;
  g.zero("u8", DType::kUInt8)
      .zero("s8", DType::kInt8)
      .zero("scale", DType::kUInt8)
      .zero("integers", DType::kInt8);
  g.node("DequantizeLinear", {"integers", "scale", "s8"}, "w").pair("x", "x8").pair("x", "x8s", "s8");
  g.node("MatMul", {"x8", "w"}, "whole")
      .node("MatMul", {"x8s", "w"}, "signed")
      .node("MatMul", {"x", "w"}, "float_in");
  g.node("MatMul", {"x", "x8"}, "both")
      .node("MatMul", {"w", "x8"}, "left")
      .node("Relu", {"x"}, "r")
      .node("Gemm", {"x8", "r"}, "computed");
  g.node("Conv", {"x8", "w"}, "closed").node("Relu", {"closed"}, "closed_r").pair("closed_r", "c8");
  g.node("Conv", {"x8", "w"}, "open").node("Clip", {"open"}, "open_r").node("Sigmoid", {"open_r"}, "y");
  return g;
}

std::string reason(const std::string& name, const std::string& engine = "onnxruntime") {
  auto g = quantised();
  const plugin::ReadBack read{{}, "", {}, {}, {layer("QGemm", "int8", "x"), layer("Conv", "fp32", name)}};
  const auto found = float_layers(read, "int8", &g.model, engine);
  return found.size() == 1 ? found[0].reason : "";
}

TEST(FloatLayers, TheGraphGivesTheReason) {
  EXPECT_EQ(reason("both"), "both sides are activations, which stay in float because 8 bits lose a softmax");
  EXPECT_EQ(reason("left"), "the weights are the left factor of the product");
  EXPECT_EQ(reason("computed"), "the weights are computed in the model");
  EXPECT_EQ(reason("float_in"), "the file does not quantise them");
  EXPECT_EQ(reason("signed"), "the activations are int8, which ONNX Runtime multiplies in float on x86");
  EXPECT_EQ(reason("open"), "their output is not quantised, which ONNX Runtime requires for a convolution");
  for (const char* name : {"whole", "closed"})
    EXPECT_EQ(reason(name), "the engine has no 8-bit form for them here");
  for (const char* name : {"signed", "open"})
    EXPECT_EQ(reason(name, "openvino"), "the engine has no 8-bit form for them here")
        << "OpenVINO needs neither";
  EXPECT_EQ(reason("unknown"), "");
}

TEST(FloatLayers, LayersAreCountedByKindAndReason) {
  auto g = quantised();
  plugin::ReadBack read;
  read.layers = {layer("QGemm", "int8", "whole", 50),    layer("Conv", "fp32", "open", 10),
                 layer("FusedConv", "fp32", "open", 10), layer("QLinearConv", "int8", "closed", 20),
                 layer("MatMul", "fp32", "both", 10),    layer("Softmax", "fp32", "s", 0)};
  const auto found = float_layers(read, "int8", &g.model, "onnxruntime");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(std::tuple(found[0].kind, found[0].layers, found[0].of, found[0].first),
            std::tuple("convolution", 2, 3, "open"));
  EXPECT_DOUBLE_EQ(found[0].flops_share, 0.2);
  EXPECT_EQ(std::tuple(found[1].kind, found[1].layers, found[1].of), std::tuple("matrix product", 1, 2));
  EXPECT_NE(found[1].advice, "");
}

TEST(FloatLayers, AnEngineThatOnlyCountsGivesNumbers) {
  plugin::ReadBack read;
  read.precisions = {{"bf16", 0.9, 50}, {"fp32", 0.1, 5}};
  const auto found = float_layers(read, "amp_bf16", nullptr, "eager");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(std::tuple(found[0].kind, found[0].precision, found[0].layers, found[0].of),
            std::tuple("operator", "fp32", 5, 55));
  EXPECT_TRUE(float_layers(read, "fp32", nullptr, "eager").empty()) << "float was asked for";
  read.layers = {layer("aten::linear", "bf16", "", 90), layer("aten::mm", "fp32", "", 10)};
  const auto nameless = float_layers(read, "amp_bf16", nullptr, "eager");
  ASSERT_EQ(nameless.size(), 1U);
  EXPECT_EQ(nameless[0].kind, "operator") << "layers without names are counted, too";
}

TEST(FloatLayers, ConvolutionsHaveTheirShareOfTheWork) {
  plugin::ReadBack read;
  EXPECT_FALSE(convolution_share(read));
  read.layers = {layer("aten::_convolution", "fp16", "", 60), layer("Softmax", "fp32", "", 0),
                 layer("FusedConv", "int8", "c", 20), layer("aten::addmm", "fp16", "", 20)};
  EXPECT_DOUBLE_EQ(*convolution_share(read), 0.8);
  read.layers.erase(read.layers.begin(), read.layers.begin() + 3);
  EXPECT_EQ(convolution_share(read), Number(0.0));
}

}  // namespace
}  // namespace paceline::workload
