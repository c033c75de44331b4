// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "onnx/proto.h"

// Small ONNX models that the tests write themselves, with the outputs they must have.
namespace paceline::model_files_test {

struct OnnxFile {
  onnx::proto::ModelProto model;
  OnnxFile();
  onnx::proto::GraphProto& graph() { return *model.mutable_graph(); }
  // Dimensions below zero become symbols: -1 is N, -2 is S, …
  void input(const std::string& name, DType dtype, const Shape& shape);
  void output(const std::string& name, DType dtype, const Shape& shape);
  onnx::proto::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs);
  void weights(const std::string& name, const Shape& shape, std::span<const float> values);
  void weights(const std::string& name, const Shape& shape, std::span<const std::int64_t> values);
  void save(const std::string& file);
};

// Seeded values in [-1, 1).
std::vector<float> values(std::int64_t count, std::uint64_t seed);

// x float32 [N,3,8,8] -> Conv 3x3, 4 channels -> Relu -> y [N,4,6,6].
inline const Shape kConvolutionWeights{4, 3, 3, 3};
OnnxFile convolution();
std::vector<float> convolution_output(const Tensor& x);

// ids int64 [N,S] and scale float32 [1] -> row of a table 10x4, times scale -> y [N,S,4].
OnnxFile lookup();
std::vector<float> lookup_output(const Tensor& ids, float scale);

// x float32 [N,16] -> MatMul 16x8 -> Add -> y [N,8].
OnnxFile linear();

// x float32 [1,8,6,6] -> Conv 3x3 in two groups, 8 channels, padded -> y [1,8,6,6].
OnnxFile grouped();

// x float32 [N,4,S,16] -> softmax(x x^T) x -> y, with a transposed copy of x as keys.
OnnxFile attention();

// As convolution(), with QuantizeLinear and DequantizeLinear around input, weights and output.
OnnxFile quantised_convolution();

// As convolution(), all in float16.
OnnxFile half_convolution();

// x float32 [4] -> places that are not zero int64 [1,k], and x+x: one output whose shape depends on the data.
OnnxFile places();

}  // namespace paceline::model_files_test
