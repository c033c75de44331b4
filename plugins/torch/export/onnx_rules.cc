// SPDX-License-Identifier: MIT
#include "torch/export/onnx_rules.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <cmath>
#include <limits>

#include "onnx/graph.h"
#include "torch/tensors.h"

// Operators of the default ONNX domain: https://onnx.ai/onnx/operators/
namespace paceline::torch_plugin {
namespace {

using I64s = std::vector<std::int64_t>;
using Node = torch::jit::Node;
using Value = torch::jit::Value;

constexpr char kRelu[] = "Relu", kTanh[] = "Tanh", kAdd[] = "Add", kMul[] = "Mul", kMatMul[] = "MatMul",
               kEqual[] = "Equal";

std::int64_t from_start(std::int64_t axis, std::int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

std::string scalar(OnnxGraph& g, double value) {
  return g.store(fmt::format("scalar_{:.9g}", value), at::scalar_tensor(value, at::kFloat));
}

template <const char* kOp>
void same(OnnxGraph& g, const Node* n) {
  g.add(kOp, {g.name(n->input(0))}, n->output());
}

void identity(OnnxGraph& g, const Node* n) {
  g.set_name(n->output(), g.name(n->input(0)));
}

// The name of a tensor, or of a number as a constant of the first operand's type.
std::string second_operand(OnnxGraph& g, const Node* n) {
  const auto number = torch::jit::toIValue(n->input(1));
  if (!number || !number->isScalar()) return g.name(n->input(1));
  const auto type = n->input(0)->type()->expect<c10::TensorType>()->scalarType().value();
  return g.store(fmt::format("{}_{:.9g}", c10::toString(type), number->toScalar().toDouble()),
                 at::scalar_tensor(number->toScalar(), type));
}

template <const char* kOp>
void binary(OnnxGraph& g, const Node* n) {
  g.add(kOp, {g.name(n->input(0)), second_operand(g, n)}, n->output());
}

void add(OnnxGraph& g, const Node* n) {
  if (OnnxGraph::constant(n->input(2)).toScalar().toDouble() != 1) g.unsupported("alpha must be 1");
  binary<kAdd>(g, n);
}

I64s both_sides(const I64s& padding) {
  I64s pads = padding;
  pads.insert(pads.end(), padding.begin(), padding.end());
  return pads;
}

I64s twice(I64s values) {
  if (values.size() == 1) values.push_back(values[0]);
  return values;
}

struct ConvInputs {
  int stride, padding, dilation, groups;
};

void write_convolution(OnnxGraph& g, const Node* n, const ConvInputs& at) {
  const auto inputs = [&](int i) { return n->input(static_cast<std::size_t>(i)); };
  Names names{g.name(inputs(0)), g.name(inputs(1))};
  if (!OnnxGraph::is_none(inputs(2))) names.push_back(g.name(inputs(2)));
  const auto stored = g.weight(inputs(1));
  if (!stored) g.unsupported("its weight is computed in the model");
  const auto kernel = stored->sizes().slice(2);
  auto& node = g.add("Conv", names, n->output());
  onnx::set_attribute(node, "kernel_shape", kernel.vec());
  onnx::set_attribute(node, "strides", twice(OnnxGraph::integers(inputs(at.stride))));
  onnx::set_attribute(node, "pads", both_sides(twice(OnnxGraph::integers(inputs(at.padding)))));
  onnx::set_attribute(node, "dilations", twice(OnnxGraph::integers(inputs(at.dilation))));
  onnx::set_attribute(node, "group", OnnxGraph::integer(inputs(at.groups)));
}

void convolution(OnnxGraph& g, const Node* n) {
  if (OnnxGraph::constant(n->input(6)).toBool()) g.unsupported("transposed convolutions are not translated");
  write_convolution(g, n, {3, 4, 5, 8});
}

void conv2d(OnnxGraph& g, const Node* n) {
  write_convolution(g, n, {3, 4, 5, 6});
}

void batch_norm(OnnxGraph& g, const Node* n) {
  if (OnnxGraph::constant(n->input(5)).toBool()) g.unsupported("it is in training mode");
  Names names;
  for (std::size_t i = 0; i < 5; ++i) names.push_back(g.name(n->input(i)));
  auto& node = g.add("BatchNormalization", names, n->output());
  onnx::set_attribute(node, "epsilon", static_cast<float>(OnnxGraph::constant(n->input(7)).toDouble()));
}

void layer_norm(OnnxGraph& g, const Node* n) {
  g.require_opset(17, "LayerNormalization");
  const auto axes = static_cast<std::int64_t>(OnnxGraph::integers(n->input(1)).size());
  Names names{g.name(n->input(0)), g.name(n->input(2))};
  if (!OnnxGraph::is_none(n->input(3))) names.push_back(g.name(n->input(3)));
  auto& node = g.add("LayerNormalization", names, n->output());
  onnx::set_attribute(node, "axis", -axes);
  onnx::set_attribute(node, "epsilon", static_cast<float>(OnnxGraph::constant(n->input(4)).toDouble()));
}

void max_pool2d(OnnxGraph& g, const Node* n) {
  const auto kernel = twice(OnnxGraph::integers(n->input(1)));
  auto stride = twice(OnnxGraph::integers(n->input(2)));
  if (stride.empty()) stride = kernel;
  auto& node = g.add("MaxPool", {g.name(n->input(0))}, n->output());
  onnx::set_attribute(node, "kernel_shape", kernel);
  onnx::set_attribute(node, "strides", stride);
  onnx::set_attribute(node, "pads", both_sides(twice(OnnxGraph::integers(n->input(3)))));
  onnx::set_attribute(node, "dilations", twice(OnnxGraph::integers(n->input(4))));
  onnx::set_attribute(node, "ceil_mode", std::int64_t{OnnxGraph::constant(n->input(5)).toBool()});
}

void adaptive_avg_pool2d(OnnxGraph& g, const Node* n) {
  if (OnnxGraph::integers(n->input(1)) != I64s{1, 1}) g.unsupported("only an output of 1x1 is translated");
  g.add("GlobalAveragePool", {g.name(n->input(0))}, n->output());
}

void reshape_to(OnnxGraph& g, const Node* n, const I64s& sizes) {
  g.add("Reshape", {g.name(n->input(0)), g.store(sizes)}, n->output());
}

void reshape(OnnxGraph& g, const Node* n) {
  reshape_to(g, n, OnnxGraph::integers(n->input(1)));
}

void flatten(OnnxGraph& g, const Node* n) {
  const auto rank = OnnxGraph::rank(n->input(0));
  const auto first = from_start(OnnxGraph::integer(n->input(1)), rank);
  if (from_start(OnnxGraph::integer(n->input(2)), rank) != rank - 1)
    g.unsupported("only to the last dimension");
  I64s sizes(static_cast<std::size_t>(first), 0);  // 0: as in the input
  sizes.push_back(-1);
  if (first == 1) {
    g.add("Flatten", {g.name(n->input(0))}, n->output());
    return;
  }
  reshape_to(g, n, sizes);
}

void transpose(OnnxGraph& g, const Node* n) {
  const auto rank = OnnxGraph::rank(n->input(0));
  I64s perm(static_cast<std::size_t>(rank));
  for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<std::int64_t>(i);
  const auto at = [&](std::size_t i) {
    return static_cast<std::size_t>(from_start(OnnxGraph::integer(n->input(i)), rank));
  };
  std::swap(perm[at(1)], perm[at(2)]);
  onnx::set_attribute(g.add("Transpose", {g.name(n->input(0))}, n->output()), "perm", perm);
}

void unsqueeze(OnnxGraph& g, const Node* n) {
  const auto axis = from_start(OnnxGraph::integer(n->input(1)), OnnxGraph::rank(n->input(0)) + 1);
  g.add("Unsqueeze", {g.name(n->input(0)), g.store(I64s{axis})}, n->output());
}

void narrow(OnnxGraph& g, const Node* n) {
  const auto axis = OnnxGraph::integer(n->input(1)), start = OnnxGraph::integer(n->input(2)),
             length = OnnxGraph::integer(n->input(3));
  g.add("Slice",
        {g.name(n->input(0)), g.store(I64s{start}), g.store(I64s{start + length}), g.store(I64s{axis})},
        n->output());
}

void select(OnnxGraph& g, const Node* n) {
  const auto index = g.store(fmt::format("index_{}", OnnxGraph::integer(n->input(2))),
                             at::scalar_tensor(OnnxGraph::integer(n->input(2)), at::kLong));
  auto& node = g.add("Gather", {g.name(n->input(0)), index}, n->output());
  onnx::set_attribute(node, "axis", OnnxGraph::integer(n->input(1)));
}

void chunk(OnnxGraph& g, const Node* n) {
  const auto* uses = n->output()->uses().size() == 1 ? n->output()->uses()[0].user : nullptr;
  if (!uses || uses->kind() != c10::prim::ListUnpack) g.unsupported("its parts are not taken apart at once");
  const auto axis = from_start(OnnxGraph::integer(n->input(2)), OnnxGraph::rank(n->input(0)));
  I64s sizes;
  for (const auto* part : uses->outputs())
    sizes.push_back(OnnxGraph::shape(part)[static_cast<std::size_t>(axis)]);
  auto& node = g.add("Split", {g.name(n->input(0)), g.store(sizes)});
  onnx::set_attribute(node, "axis", axis);
  const std::string base = node.name();
  node.clear_output();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    node.add_output(fmt::format("{}:{}", base, i));
    g.set_name(uses->output(i), node.output(static_cast<int>(i)));
  }
}

void cat(OnnxGraph& g, const Node* n) {
  Names names;
  for (const auto* part : n->input(0)->node()->inputs()) names.push_back(g.name(part));
  auto& node = g.add("Concat", names, n->output());
  onnx::set_attribute(node, "axis",
                      from_start(OnnxGraph::integer(n->input(1)), OnnxGraph::rank(n->output())));
}

void expand_as(OnnxGraph& g, const Node* n) {
  const auto shape = g.output_of(g.add("Shape", {g.name(n->input(1))}));
  g.add("Expand", {g.name(n->input(0)), shape}, n->output());
}

void gemm(OnnxGraph& g, const Names& inputs, bool transpose_weight, const Value* output) {
  auto& node = g.add("Gemm", inputs, output);
  if (transpose_weight) onnx::set_attribute(node, "transB", std::int64_t{1});
}

// A 2-d input gives a Gemm with the weight as it is; more dimensions give a MatMul with it transposed.
void linear(OnnxGraph& g, const Node* n) {
  const bool bias = !OnnxGraph::is_none(n->input(2));
  if (OnnxGraph::rank(n->input(0)) == 2) {
    Names names{g.name(n->input(0)), g.name(n->input(1))};
    if (bias) names.push_back(g.name(n->input(2)));
    return gemm(g, names, true, n->output());
  }
  const Names product{g.name(n->input(0)), g.transposed_name(n->input(1))};
  if (!bias) {
    g.add("MatMul", product, n->output());
    return;
  }
  const auto raw = g.output_of(g.add("MatMul", product));
  g.add("Add", {raw, g.name(n->input(2))}, n->output());
}

void addmm(OnnxGraph& g, const Node* n) {
  for (const std::size_t factor : {3U, 4U})
    if (OnnxGraph::constant(n->input(factor)).toScalar().toDouble() != 1)
      g.unsupported("beta and alpha must be 1");
  gemm(g, {g.name(n->input(1)), g.name(n->input(2)), g.name(n->input(0))}, false, n->output());
}

void embedding(OnnxGraph& g, const Node* n) {
  g.add("Gather", {g.name(n->input(0)), g.name(n->input(1))}, n->output());
}

// x/2 (1 + erf(x / sqrt 2)), or its approximation x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
void gelu(OnnxGraph& g, const Node* n) {
  const auto x = g.name(n->input(0));
  const auto node = [&](const char* op, const Names& inputs) { return g.output_of(g.add(op, inputs)); };
  std::string curve;
  if (OnnxGraph::constant(n->input(1)).toStringRef() == "tanh") {
    const auto cube = node("Mul", {node("Mul", {x, x}), x});
    const auto inner = node("Add", {x, node("Mul", {cube, scalar(g, 0.044715)})});
    curve = node("Tanh", {node("Mul", {inner, scalar(g, std::sqrt(2 / M_PI))})});
  } else {
    curve = node("Erf", {node("Div", {x, scalar(g, std::sqrt(2.0))})});
  }
  const auto gate = node("Mul", {x, node("Add", {curve, scalar(g, 1)})});
  g.add("Mul", {gate, scalar(g, 0.5)}, n->output());
}

// 0 where a position may attend, and a score that softmax turns into 0 elsewhere.
std::string causal_mask(OnnxGraph& g, std::int64_t queries, std::int64_t keys) {
  constexpr double kHidden = -1e4;
  const auto mask = at::triu(at::full({queries, keys}, kHidden, at::kFloat), 1);
  return g.store(fmt::format("causal_mask_{}x{}", queries, keys), mask);
}

// softmax(q k^T scale + mask) v, https://arxiv.org/abs/1706.03762 equation 1.
void attention(OnnxGraph& g, const Node* n) {
  const auto queries = OnnxGraph::shape(n->input(0)), keys = OnnxGraph::shape(n->input(1));
  if (queries.size() != 4 || keys[1] != queries[1])
    g.unsupported("only [N, heads, S, width] with equal heads");
  const double scale = OnnxGraph::is_none(n->input(6)) ? 1 / std::sqrt(static_cast<double>(queries[3]))
                                                       : OnnxGraph::constant(n->input(6)).toDouble();
  auto& turned = g.add("Transpose", {g.name(n->input(1))});
  onnx::set_attribute(turned, "perm", I64s{0, 1, 3, 2});
  const auto scaled = g.output_of(g.add("Mul", {g.name(n->input(0)), scalar(g, scale)}));
  auto scores = g.output_of(g.add("MatMul", {scaled, g.output_of(turned)}));
  if (!OnnxGraph::is_none(n->input(3))) scores = g.output_of(g.add("Add", {scores, g.name(n->input(3))}));
  if (OnnxGraph::constant(n->input(5)).toBool())
    scores = g.output_of(g.add("Add", {scores, causal_mask(g, queries[2], keys[2])}));
  auto& softmax = g.add("Softmax", {scores});
  onnx::set_attribute(softmax, "axis", std::int64_t{-1});
  g.add("MatMul", {g.output_of(softmax), g.name(n->input(2))}, n->output());
}

void softmax(OnnxGraph& g, const Node* n) {
  onnx::set_attribute(g.add("Softmax", {g.name(n->input(0))}, n->output()), "axis",
                      OnnxGraph::integer(n->input(1)));
}

void cast(OnnxGraph& g, const Node* n) {
  const auto type = n->output()->type()->expect<c10::TensorType>()->scalarType().value();
  auto& node = g.add("Cast", {g.name(n->input(0))}, n->output());
  onnx::set_attribute(node, "to", std::int64_t{onnx::onnx_type(from_torch(type))});
}

struct Row {
  std::string_view kind;
  OnnxRule rule;
};
constexpr Row kRules[] = {
    {"aten::_convolution", convolution},
    {"aten::conv2d", conv2d},
    {"aten::batch_norm", batch_norm},
    {"aten::layer_norm", layer_norm},
    {"aten::relu", same<kRelu>},
    {"aten::tanh", same<kTanh>},
    {"aten::gelu", gelu},
    {"aten::softmax", softmax},
    {"aten::add", add},
    {"aten::mul", binary<kMul>},
    {"aten::matmul", binary<kMatMul>},
    {"aten::linear", linear},
    {"aten::addmm", addmm},
    {"aten::embedding", embedding},
    {"aten::scaled_dot_product_attention", attention},
    {"aten::max_pool2d", max_pool2d},
    {"aten::adaptive_avg_pool2d", adaptive_avg_pool2d},
    {"aten::view", reshape},
    {"aten::reshape", reshape},
    {"aten::flatten", flatten},
    {"aten::transpose", transpose},
    {"aten::unsqueeze", unsqueeze},
    {"aten::narrow", narrow},
    {"aten::select", select},
    {"aten::chunk", chunk},
    {"aten::cat", cat},
    {"aten::expand_as", expand_as},
    {"aten::eq", binary<kEqual>},
    {"aten::to", cast},
    {"aten::contiguous", identity},
    {"aten::detach", identity},
};

}  // namespace

OnnxRule find_rule(const std::string& kind) {
  const std::string_view pure =
      kind.ends_with('_') ? std::string_view(kind).substr(0, kind.size() - 1) : std::string_view(kind);
  for (const auto& row : kRules)
    if (row.kind == pure) return row.rule;
  return nullptr;
}

}  // namespace paceline::torch_plugin
