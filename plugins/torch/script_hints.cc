// SPDX-License-Identifier: MIT
#include "torch/script_hints.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace paceline::torch_plugin {
namespace {

namespace jit = torch::jit;

constexpr std::int64_t kBatch = -1, kImage = 224, kLength = 128;

// Operators whose results are numbers of their first argument; the first ones keep its shape.
constexpr std::array<std::string_view, 17> kCarriers{
    "aten::to",      "aten::long",           "aten::int",   "aten::contiguous", "aten::clone",
    "aten::detach",  "prim::unchecked_cast", "aten::view",  "aten::reshape",    "aten::flatten",
    "aten::squeeze", "aten::unsqueeze",      "aten::slice", "aten::select",     "aten::expand",
    "aten::permute", "aten::transpose"};
constexpr std::ptrdiff_t kKeepShape = 7;

// The shape of an input that goes to an operator with weights of this shape.
Shape of_linear(const jit::Node&, const Shape& weights) {
  return {kBatch, weights.at(1)};
}
Shape of_product(const jit::Node&, const Shape& weights) {
  return {kBatch, weights.front()};
}
Shape of_embedding(const jit::Node&, const Shape&) {
  return {kBatch, kLength};
}
// Groups stand behind the dilation, which _convolution has two more arguments after.
Shape of_convolution(const jit::Node& node, const Shape& weights) {
  const std::size_t groups_at = node.inputs().size() > 8 ? 8 : 6;
  const auto groups = jit::constant_as<std::int64_t>(node.input(groups_at)).value_or(1);
  const bool transposed = groups_at == 8 && jit::constant_as<bool>(node.input(6)).value_or(false);
  Shape shape{kBatch, transposed ? weights.at(0) : weights.at(1) * groups};
  shape.resize(weights.size(), weights.size() == 4 ? kImage : kLength);
  return shape;
}

struct Layer {
  std::string_view op;
  std::size_t input, weights;
  bool indexes;  // the input's numbers are rows of the weights
  Shape (*shape)(const jit::Node&, const Shape&);
};
constexpr std::array kLayers{
    Layer{"aten::embedding", 1, 0, true, of_embedding},
    Layer{"aten::embedding_bag", 1, 0, true, of_embedding},
    Layer{"aten::index_select", 2, 0, true, nullptr},
    Layer{"aten::gather", 2, 0, true, nullptr},
    Layer{"aten::linear", 0, 1, false, of_linear},
    Layer{"aten::matmul", 0, 1, false, of_product},
    Layer{"aten::conv1d", 0, 1, false, of_convolution},
    Layer{"aten::conv2d", 0, 1, false, of_convolution},
    Layer{"aten::conv3d", 0, 1, false, of_convolution},
    Layer{"aten::_convolution", 0, 1, false, of_convolution},
};

class Search {
 public:
  Search(const jit::Module& module, const jit::Graph& graph, std::vector<DeclaredInput>& inputs)
      : module_(module), graph_(graph), inputs_(inputs) {}

  void read(const jit::Block* block) {
    for (const auto* node : block->nodes()) {
      const auto* const row =
          std::ranges::find(kLayers, std::string_view(node->kind().toQualString()), &Layer::op);
      if (row != kLayers.end() && std::max(row->input, row->weights) < node->inputs().size())
        take(*node, *row);
      if (node->kind() == c10::aten::index) take_indices(*node);
      for (const auto* inner : node->blocks()) read(inner);
    }
  }

 private:
  void take(const jit::Node& node, const Layer& layer) {
    const auto shape = constant_shape(node.input(layer.weights));
    const auto [input, same_shape] = source(node.input(layer.input));
    if (!input || !shape || input->dtype) return;
    if (layer.indexes) {
      const auto axis = layer.shape ? 0 : jit::constant_as<std::int64_t>(node.input(1)).value_or(0);
      limit(*input, *shape, axis < 0 ? axis + std::ssize(*shape) : axis);
    }
    if (layer.shape && shape->size() > 1 && (layer.indexes || same_shape) && !input->example)
      input->example = layer.shape(node, *shape);
  }

  // table[ids] and table[:, ids]: the k-th of the list indexes dimension k.
  void take_indices(const jit::Node& node) {
    const auto shape = constant_shape(node.input(0));
    const auto* list = node.input(1)->node();
    if (!shape || list->kind() != c10::prim::ListConstruct) return;
    for (std::size_t k = 0; k < list->inputs().size(); ++k)
      if (auto* input = source(list->input(k)).input; input && !input->dtype)
        limit(*input, *shape, static_cast<std::int64_t>(k));
  }

  static void limit(DeclaredInput& input, const Shape& table, std::int64_t axis) {
    if (axis < 0 || axis >= std::ssize(table)) return;
    const auto rows = table[static_cast<std::size_t>(axis)];
    input.id_limit = input.id_limit == 0 ? rows : std::min(input.id_limit, rows);
  }

  [[nodiscard]] std::optional<Shape> constant_shape(const jit::Value* value) const {
    const auto weights = constant(value);
    if (!weights || !weights->isTensor()) return std::nullopt;
    const auto sizes = weights->toTensor().sizes();
    return Shape(sizes.begin(), sizes.end());
  }

  // The input whose numbers a value has, and whether in the input's shape; null: none.
  struct Source {
    DeclaredInput* input = nullptr;
    bool same_shape = true;
  };
  Source source(const jit::Value* value) {
    Source found;
    for (int steps = 0; steps < 100; ++steps) {
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        if (value == graph_.inputs()[i + 1]) return found.input = &inputs_[i], found;
      const std::string_view kind = value->node()->kind().toQualString();
      const auto* const carrier = std::ranges::find(kCarriers, kind);
      if (carrier == kCarriers.end() || value->node()->inputs().empty()) break;
      found.same_shape = found.same_shape && carrier - kCarriers.begin() < kKeepShape;
      value = value->node()->input(0);
    }
    return {};
  }

  // A constant of the graph, or an attribute of the module.
  [[nodiscard]] std::optional<c10::IValue> constant(const jit::Value* value) const {
    if (value == graph_.inputs()[0]) return c10::IValue(module_._ivalue());
    if (value->node()->kind() != c10::prim::GetAttr) return jit::toIValue(value);
    const auto owner = constant(value->node()->input(0));
    const auto& name = value->node()->s(c10::attr::name);
    if (!owner || !owner->isObject() || !owner->toObjectRef().type()->hasAttribute(name)) return std::nullopt;
    return owner->toObjectRef().getAttr(name);
  }

  const jit::Module& module_;
  const jit::Graph& graph_;
  std::vector<DeclaredInput>& inputs_;
};

}  // namespace

void add_script_hints(const jit::Module& module, std::vector<DeclaredInput>& inputs) {
  const auto graph = module.get_method("forward").graph()->copy();
  jit::Inline(*graph);
  Search(module, *graph, inputs).read(graph->block());
  for (auto& input : inputs)
    if (input.id_limit > 0) input.dtype = DType::kInt64;
}

}  // namespace paceline::torch_plugin
