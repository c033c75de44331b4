// SPDX-License-Identifier: MIT
#include "onnxruntime/node_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>

#include "onnx/few_bits.h"

namespace paceline::ort_plugin {
namespace {

using plugin_support::convolution_flops;
using plugin_support::matrix_product_flops;
using plugin_support::transposed_convolution_flops;

double count(const Shape& shape) {
  return static_cast<double>(element_count(shape));
}

// Projections of queries, keys and values by one matrix [h, 3h'], then both products of attention.
double attention_flops(const Shape& input, const Shape& weights) {
  if (input.size() != 3 || weights.size() != 2) return 0;
  const auto tokens = static_cast<double>(input[0] * input[1]), length = static_cast<double>(input[1]);
  return 2 * tokens * count(weights) + 4 * tokens * length * static_cast<double>(weights[1]) / 3;
}

// Queries [b, s, h] against keys [b, t, h], and the weights against the values.
double attention_products_flops(const Shape& queries, const Shape& keys) {
  return keys.size() < 2 ? 0 : 4 * count(queries) * static_cast<double>(keys[1]);
}

enum class Work { kConvolution, kTransposed, kMatrix, kAttention, kAttentionProducts, kRecurrent };

// Which inputs of a node are its data and weights, and which of them determines the precision.
struct OperatorRow {
  std::string_view op;
  Work work;
  std::size_t data = 0, weights = 1, arithmetic = 0;
  int operators = 1;
};
constexpr std::array kOperators{
    OperatorRow{"Conv", Work::kConvolution},
    OperatorRow{"FusedConv", Work::kConvolution},
    OperatorRow{"NhwcFusedConv", Work::kConvolution},
    OperatorRow{"ConvInteger", Work::kConvolution},
    OperatorRow{"QLinearConv", Work::kConvolution, 0, 3},
    OperatorRow{"ConvTranspose", Work::kTransposed},
    OperatorRow{"MatMul", Work::kMatrix},
    OperatorRow{"Gemm", Work::kMatrix},
    OperatorRow{"FusedMatMul", Work::kMatrix},
    OperatorRow{"FusedGemm", Work::kMatrix},
    OperatorRow{"MatMulInteger", Work::kMatrix},
    OperatorRow{"MatMulIntegerToFloat", Work::kMatrix},
    OperatorRow{"QLinearMatMul", Work::kMatrix, 0, 3},
    OperatorRow{"QGemm", Work::kMatrix, 0, 3},
    OperatorRow{"DynamicQuantizeMatMul", Work::kMatrix, 0, 1, 1},
    OperatorRow{"MatMulNBits", Work::kMatrix},
    OperatorRow{"Attention", Work::kAttention, 0, 1, 0, 3},
    OperatorRow{"QAttention", Work::kAttention, 0, 1, 0, 3},
    OperatorRow{"MultiHeadAttention", Work::kAttentionProducts, 0, 1, 0, 2},
    OperatorRow{"LSTM", Work::kRecurrent, 0, 1, 0, 2},
    OperatorRow{"GRU", Work::kRecurrent, 0, 1, 0, 2},
    OperatorRow{"RNN", Work::kRecurrent, 0, 1, 0, 2},
};

// X [s, b, i] is multiplied with W and R in every step.
double recurrent_flops(const ProfiledNode& node) {
  if (node.inputs.size() < 3 || node.inputs[0].shape.size() != 3) return 0;
  const auto& x = node.inputs[0].shape;
  return 2 * static_cast<double>(x[0] * x[1]) * (count(node.inputs[1].shape) + count(node.inputs[2].shape));
}

double flops_of(const OperatorRow& row, const ProfiledNode& node) {
  const auto& data = node.inputs[row.data].shape;
  const auto& weights = node.inputs[row.weights].shape;
  const auto& output = node.outputs.front().shape;
  switch (row.work) {
    case Work::kConvolution:
      return convolution_flops(output, weights);
    case Work::kTransposed:
      return transposed_convolution_flops(data, weights);
    case Work::kMatrix:
      return matrix_product_flops(data, output);
    case Work::kAttention:
      return attention_flops(data, weights);
    case Work::kAttentionProducts:
      return attention_products_flops(data, weights);
    case Work::kRecurrent:
      return recurrent_flops(node);
  }
  return 0;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kPrecisionNames{{
    {"float", "fp32"},
    {"float16", "fp16"},
    {"bfloat16", "bf16"},
    {"double", "fp64"},
    {"int8", "int8"},
    {"uint8", "int8"},
}};

std::string precision_name(const std::string& type) {
  const auto row = std::find_if(kPrecisionNames.begin(), kPrecisionNames.end(),
                                [&](const auto& pair) { return pair.first == type; });
  return row == kPrecisionNames.end() ? type : std::string(row->second);
}

// The type of weights in blocks [n, blocks, bytes], each packed to whole bytes, for rows of `data`.
std::string packed_weights(const Shape& data, const Shape& weights) {
  constexpr std::array<std::int64_t, 5> kBits{8, 4, 3, 2, 1};
  if (data.empty() || weights.size() < 2 || data.back() <= 0) return {};
  const auto bits = 8 * element_count(weights) / weights.front() / data.back();
  for (const auto known : kBits)
    if (bits >= known) return fmt::format("int{}", known);
  return {};
}

constexpr std::int64_t kLargestBlock = 16;  // of channels

// Whether `padded` is `size`, or the next multiple of a block.
bool fills_up(std::int64_t size, std::int64_t padded) {
  return size <= padded && padded - size < kLargestBlock;
}

}  // namespace

bool is_convolution(const ProfiledNode& node) {
  return node.op == "Conv" || node.op == "FusedConv";
}

std::optional<ProfiledNode> without_padding(ProfiledNode node, const Shape& weights) {
  if (node.inputs.size() < 2 || node.outputs.empty() || weights.size() < 3) return std::nullopt;
  auto& given = node.inputs[1].shape;
  auto& output = node.outputs.front().shape;
  const bool same = given.size() == weights.size() && output.size() == weights.size() &&
                    std::equal(weights.begin() + 2, weights.end(), given.begin() + 2) &&
                    fills_up(weights[0], given[0]) && fills_up(weights[1], given[1]) &&
                    fills_up(weights[0], output[1]);
  if (!same) return std::nullopt;
  given = weights;
  output[1] = weights[0];
  return node;
}

plugin_support::LayerWork work_of(const ProfiledNode& node) {
  const auto type = node.inputs.empty() ? std::string() : node.inputs.front().type;
  plugin_support::LayerWork work{{node.name, node.op, precision_name(type), node.time_ns, {}}, 0};
  const auto row = std::find_if(kOperators.begin(), kOperators.end(),
                                [&](const OperatorRow& r) { return r.op == node.op; });
  if (row == kOperators.end() || node.outputs.empty()) return work;
  if (node.inputs.size() <= std::max({row->data, row->weights, row->arithmetic})) return work;
  work.layer.precision = precision_name(node.inputs[row->arithmetic].type);
  work.layer.flops = flops_of(*row, node);
  work.operators = row->operators;
  if (node.op == onnx::kFewBits)
    work.layer.weights = packed_weights(node.inputs[row->data].shape, node.inputs[row->weights].shape);
  return work;
}

}  // namespace paceline::ort_plugin
