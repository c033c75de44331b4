// SPDX-License-Identifier: MIT
#include "plugin/model_files/models.h"

#include <algorithm>

#include "base/half.h"
#include "base/random.h"
#include "onnx/graph.h"
#include "onnx/model_file.h"

namespace paceline::model_files_test {
namespace {

onnx::proto::ValueInfoProto value_info(const std::string& name, DType dtype, const Shape& shape) {
  auto info = onnx::make_value_info({name, dtype, shape});
  auto& dims = *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim();
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < 0) dims[static_cast<int>(i)].set_dim_param(shape[i] == -1 ? "N" : "S");
  return info;
}

}  // namespace

OnnxFile::OnnxFile() {
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  graph().set_name("test");
}

void OnnxFile::input(const std::string& name, DType dtype, const Shape& shape) {
  *graph().add_input() = value_info(name, dtype, shape);
}

void OnnxFile::output(const std::string& name, DType dtype, const Shape& shape) {
  *graph().add_output() = value_info(name, dtype, shape);
}

onnx::proto::NodeProto& OnnxFile::node(const std::string& op, const std::vector<std::string>& inputs,
                                       const std::vector<std::string>& outputs) {
  return onnx::add_node(graph(), op, op + "_" + std::to_string(graph().node_size()), inputs, outputs);
}

void OnnxFile::weights(const std::string& name, const Shape& shape, std::span<const float> data) {
  *graph().add_initializer() = onnx::make_tensor(name, shape, data);
}

void OnnxFile::weights(const std::string& name, const Shape& shape, std::span<const std::int64_t> data) {
  *graph().add_initializer() = onnx::make_tensor(name, shape, data);
}

void OnnxFile::save(const std::string& file) {
  onnx::write_model(model, file);
}

std::vector<float> values(std::int64_t count, std::uint64_t seed) {
  const CounterRng rng(seed, 0);
  std::vector<float> result(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<float>(static_cast<int>(rng.below(i, 2000)) - 1000) / 1000.0F;
  return result;
}

OnnxFile convolution() {
  OnnxFile file;
  file.input("x", DType::kFloat32, {-1, 3, 8, 8});
  file.output("y", DType::kFloat32, {-1, 4, 6, 6});
  file.weights("w", kConvolutionWeights, values(element_count(kConvolutionWeights), 1));
  file.node("Conv", {"x", "w"}, {"c"});
  file.node("Relu", {"c"}, {"y"});
  return file;
}

std::vector<float> convolution_output(const Tensor& x) {
  const auto w = values(element_count(kConvolutionWeights), 1);
  const auto in = [&](std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t v) {
    return x.as<float>()[((n * 3 + c) * 8 + h) * 8 + v];
  };
  std::vector<float> y;
  for (std::int64_t n = 0; n < x.spec().shape[0]; ++n)
    for (std::int64_t k = 0; k < 4; ++k)
      for (std::int64_t at = 0; at < 36; ++at) {
        double sum = 0;
        for (std::int64_t i = 0; i < 27; ++i)
          sum += static_cast<double>(in(n, i / 9, at / 6 + i % 9 / 3, at % 6 + i % 3)) *
                 w[static_cast<std::size_t>(k * 27 + i)];
        y.push_back(static_cast<float>(std::max(sum, 0.0)));
      }
  return y;
}

OnnxFile lookup() {
  OnnxFile file;
  file.input("ids", DType::kInt64, {-1, -2});
  file.input("scale", DType::kFloat32, {1});
  file.output("y", DType::kFloat32, {-1, -2, 4});
  file.weights("table", {10, 4}, values(40, 2));
  file.node("Gather", {"table", "ids"}, {"rows"});
  file.node("Mul", {"rows", "scale"}, {"y"});
  return file;
}

std::vector<float> lookup_output(const Tensor& ids, float scale) {
  const auto table = values(40, 2);
  std::vector<float> y;
  for (std::int64_t i = 0; i < element_count(ids.spec().shape); ++i)
    for (std::int64_t column = 0; column < 4; ++column)
      y.push_back(scale * table[static_cast<std::size_t>(ids.as<std::int64_t>()[i] * 4 + column)]);
  return y;
}

OnnxFile linear() {
  OnnxFile file;
  file.input("x", DType::kFloat32, {-1, 16});
  file.output("y", DType::kFloat32, {-1, 8});
  file.weights("w", {16, 8}, values(128, 3));
  file.weights("b", {8}, values(8, 4));
  file.node("MatMul", {"x", "w"}, {"p"});
  file.node("Add", {"p", "b"}, {"y"});
  return file;
}

OnnxFile grouped() {
  OnnxFile file;
  file.input("x", DType::kFloat32, {1, 8, 6, 6});
  file.output("y", DType::kFloat32, {1, 8, 6, 6});
  file.weights("w", {8, 4, 3, 3}, values(288, 1));
  auto& node = file.node("Conv", {"x", "w"}, {"y"});
  onnx::set_attribute(node, "group", std::int64_t{2});
  onnx::set_attribute(node, "pads", std::vector<std::int64_t>{1, 1, 1, 1});
  return file;
}

OnnxFile attention() {
  OnnxFile file;
  file.input("x", DType::kFloat32, {-1, 4, -2, 16});
  file.output("y", DType::kFloat32, {-1, 4, -2, 16});
  onnx::set_attribute(file.node("Transpose", {"x"}, {"k"}), "perm", std::vector<std::int64_t>{0, 1, 3, 2});
  file.node("MatMul", {"x", "k"}, {"scores"});
  onnx::set_attribute(file.node("Softmax", {"scores"}, {"p"}), "axis", std::int64_t{-1});
  file.node("MatMul", {"p", "x"}, {"y"});
  return file;
}

OnnxFile quantised_convolution() {
  OnnxFile file;
  file.input("x", DType::kFloat32, {-1, 3, 8, 8});
  file.output("y", DType::kFloat32, {-1, 4, 6, 6});
  const std::vector<std::int8_t> w = [] {
    std::vector<std::int8_t> bytes;
    for (const float value : values(element_count(kConvolutionWeights), 1))
      bytes.push_back(static_cast<std::int8_t>(value * 63));
    return bytes;
  }();
  *file.graph().add_initializer() = onnx::make_tensor("w", DType::kInt8, kConvolutionWeights, w.data());
  const std::uint8_t zero = 0, middle = 128;
  const std::int8_t weight_zero = 0;
  *file.graph().add_initializer() = onnx::make_tensor("zero", DType::kUInt8, {}, &zero);
  *file.graph().add_initializer() = onnx::make_tensor("middle", DType::kUInt8, {}, &middle);
  *file.graph().add_initializer() = onnx::make_tensor("weight_zero", DType::kInt8, {}, &weight_zero);
  for (const auto& [name, scale] :
       {std::pair{"x_scale", 1 / 127.0F}, {"w_scale", 1 / 63.0F}, {"y_scale", 0.05F}})
    file.weights(name, {}, std::vector<float>{scale});
  file.node("QuantizeLinear", {"x", "x_scale", "middle"}, {"xq"});
  file.node("DequantizeLinear", {"xq", "x_scale", "middle"}, {"xd"});
  file.node("DequantizeLinear", {"w", "w_scale", "weight_zero"}, {"wd"});
  file.node("Conv", {"xd", "wd"}, {"c"});
  file.node("Relu", {"c"}, {"r"});
  file.node("QuantizeLinear", {"r", "y_scale", "zero"}, {"rq"});
  file.node("DequantizeLinear", {"rq", "y_scale", "zero"}, {"y"});
  return file;
}

OnnxFile half_convolution() {
  OnnxFile file;
  file.input("x", DType::kFloat16, {-1, 3, 8, 8});
  file.output("y", DType::kFloat16, {-1, 4, 6, 6});
  std::vector<std::uint16_t> halves;
  for (const float value : values(element_count(kConvolutionWeights), 1))
    halves.push_back(float_to_half(value));
  *file.graph().add_initializer() =
      onnx::make_tensor("w", DType::kFloat16, kConvolutionWeights, halves.data());
  file.node("Conv", {"x", "w"}, {"c"});
  file.node("Relu", {"c"}, {"y"});
  return file;
}

OnnxFile places() {
  OnnxFile file;
  file.input("x", DType::kFloat32, {4});
  file.output("where", DType::kInt64, {1, -1});
  file.output("twice", DType::kFloat32, {4});
  file.node("NonZero", {"x"}, {"where"});
  file.node("Add", {"x", "x"}, {"twice"});
  return file;
}

}  // namespace paceline::model_files_test
