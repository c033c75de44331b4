// SPDX-License-Identifier: MIT
#include "onnx/index_limits.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/reading.h"
#include "onnx/declared_inputs.h"
#include "onnx/graph.h"
#include "onnx/wire.h"

namespace paceline::onnx {
namespace {

using namespace wire;  // NOLINT(google-build-using-namespace): the fields of onnx.proto
using Text = std::string_view;

constexpr Text kStandard = "ai.onnx", kContrib = "com.microsoft";

// Operators that index `data` with the integers in `index`, along the attribute `axis` (0 unless it is set).
struct Indexing {
  Text op;
  std::size_t index, data;
  Text axis;      // "": always the first dimension; "*": every dimension
  Text domain{};  // "": any
};
constexpr std::array kIndexing{
    Indexing{"Gather", 1, 0, "axis"},
    Indexing{"GatherElements", 1, 0, "axis"},
    Indexing{"ScatterElements", 1, 0, "axis"},
    Indexing{"Scatter", 1, 0, "axis"},
    Indexing{"GatherND", 1, 0, "*"},
    Indexing{"ScatterND", 1, 0, "*"},
    Indexing{"GatherBlockQuantized", 1, 0, "gather_axis"},
    Indexing{"EmbedLayerNormalization", 0, 2, ""},
    Indexing{"EmbedLayerNormalization", 1, 4, ""},
    Indexing{"EmbedLayerNormalization", 8, 3, ""},
    Indexing{"QEmbedLayerNormalization", 0, 2, ""},
    Indexing{"QEmbedLayerNormalization", 1, 4, ""},
    Indexing{"RotaryEmbedding", 1, 2, "", kContrib},
    Indexing{"RotaryEmbedding", 3, 1, "", kStandard},
    Indexing{"RoiAlign", 2, 0, ""},
};
// Operators whose results are numbers of `count` inputs from `first` on.
struct Carrier {
  Text op;
  std::size_t first = 0, count = 1;
};
constexpr std::size_t kAll = SIZE_MAX;
constexpr std::array kCarriers{Carrier{"Cast"},      Carrier{"Identity"},        Carrier{"Reshape"},
                               Carrier{"Squeeze"},   Carrier{"Unsqueeze"},       Carrier{"Flatten"},
                               Carrier{"Transpose"}, Carrier{"Slice"},           Carrier{"Expand"},
                               Carrier{"Tile"},      Carrier{"Split"},           Carrier{"Clip"},
                               Carrier{"Gather"},    Carrier{"Concat", 0, kAll}, Carrier{"Where", 1, 2}};
constexpr std::array<Text, 4> kSameShape{"Cast", "Identity", "DequantizeLinear", "QuantizeLinear"};

struct Node {
  Text op, domain;
  std::vector<Text> inputs, outputs;
  Text message;
};

std::vector<Text> texts(Text message, std::uint64_t number) {
  std::vector<Text> all;
  Message fields(message);
  while (const auto field = fields.next(number)) all.push_back(field->bytes);
  return all;
}

Text attribute(Text node, Text name) {
  for (const auto one : texts(node, kAttribute))
    if (first_bytes(one, kAttributeName) == name) return one;
  return {};
}

// A dimension: its size, or -1 with the symbol that it has.
struct Dimension {
  std::int64_t size = -1;
  Text symbol{};
};
using Dimensions = std::vector<Dimension>;

Dimensions tensor_dimensions(Text tensor) {
  Dimensions dimensions;
  for (const auto size : integers(tensor, kDims)) dimensions.push_back({size});
  return dimensions;
}

std::optional<Dimensions> declared_dimensions(Text value) {
  const auto shape = first(first_bytes(first_bytes(value, kType), kTensorType), kShape);
  if (!shape) return std::nullopt;
  Dimensions dimensions;
  for (const auto dimension : texts(shape->bytes, kDim)) {
    const auto size = first(dimension, kDimValue);
    const auto extent = size ? static_cast<std::int64_t>(size->number) : -1;
    dimensions.push_back({extent < 1 ? -1 : extent, first_bytes(dimension, kDimParam)});
  }
  return dimensions;
}

template <typename T>
std::optional<std::int64_t> raw_number(Text bytes) {
  T value{};
  if (bytes.size() != sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data(), sizeof value);
  constexpr T kMost = 1 << 30;
  return value >= 0 && value < kMost ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
}

// A whole number in a tensor of one element, also where its type is a float.
std::optional<std::int64_t> number_in(Text tensor) {
  for (const auto field : {kInt64Data, kInt32Data})
    if (const auto values = integers(tensor, field); values.size() == 1) return values.front();
  const auto type = dtype_of(static_cast<std::int32_t>(first(tensor, kDataType).value_or(Field{}).number));
  const auto raw = first_bytes(tensor, kRawData), floats = first_bytes(tensor, kFloatData);
  if (type == DType::kInt64) return raw_number<std::int64_t>(raw);
  if (type == DType::kInt32) return raw_number<std::int32_t>(raw);
  if (type == DType::kFloat32) return raw_number<float>(raw.empty() ? floats : raw);
  return std::nullopt;
}

class Search {
 public:
  [[nodiscard]] const std::map<std::string, std::int64_t>& compared() const { return compared_; }

  explicit Search(std::vector<DeclaredInput>& inputs) : inputs_(inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto& input = inputs[i];
      carried_[input.name].insert(i);
      for (std::size_t d = 0; d < input.symbols.size(); ++d)
        if (!input.symbols[d].empty()) symbols_.emplace(input.symbols[d], IndexedInput{input.name, d});
    }
  }

  void read(Text graph, int depth = 0) {
    constexpr int kMostNested = 100;
    if (depth > kMostNested) return;
    for (const auto tensor : texts(graph, kInitializer)) add_tensor(first_bytes(tensor, kTensorName), tensor);
    for (const auto field : {kInput, kOutput, kValueInfo})
      for (const auto value : texts(graph, field))
        if (auto dimensions = declared_dimensions(value))
          shapes_.emplace(first_bytes(value, kName), std::move(*dimensions));
    for (const auto message : texts(graph, kNode)) {
      const auto domain = first_bytes(message, kDomain);
      const Node node{first_bytes(message, kOpType), domain.empty() ? kStandard : domain,
                      texts(message, kNodeInput), texts(message, kNodeOutput), message};
      follow(node);
      for (const auto one : texts(message, kAttribute))
        for (const auto field : {kOneGraph, kGraphs})
          for (const auto inner : texts(one, field)) {
            enter(node, inner);
            read(inner, depth + 1);
          }
    }
  }

 private:
  void compare(Text value, Text with) {
    const auto sources = carried_.find(value);
    const auto tensor = tensors_.find(with);
    const auto number = tensor == tensors_.end() ? std::nullopt : number_in(tensor->second);
    if (sources == carried_.end() || !number) return;
    for (const auto i : sources->second) compared_.emplace(inputs_[i].name, *number);
  }

  void add_tensor(Text name, Text tensor) {
    shapes_[name] = tensor_dimensions(tensor);
    tensors_[name] = tensor;
  }

  // The inputs of a loop's body are the node's, under other names.
  void enter(const Node& node, Text body) {
    if (node.op != "Loop" && node.op != "Scan") return;
    const auto values = texts(body, kInput);
    for (std::size_t i = 0; i < std::min(values.size(), node.inputs.size()); ++i)
      carry(node.inputs[i], first_bytes(values[i], kName));
  }

  void carry(Text from, Text to) {
    if (const auto found = carried_.find(from); found != carried_.end()) {
      const auto sources = found->second;
      carried_[std::string(to)].insert(sources.begin(), sources.end());
    }
  }

  void follow(const Node& node) {
    if (node.op == "Constant" && !node.outputs.empty())
      if (const auto tensor = first(attribute(node.message, "value"), kOneTensor))
        add_tensor(node.outputs.front(), tensor->bytes);
    for (const auto& row : kIndexing)
      if (row.op == node.op && (row.domain.empty() || row.domain == node.domain) &&
          std::max(row.index, row.data) < node.inputs.size())
        limit(node, row);
    if (node.op == "OneHot" && node.inputs.size() > 1)
      if (const auto depth = tensors_.find(node.inputs[1]); depth != tensors_.end())
        limit(node.inputs[0], {number_in(depth->second).value_or(-1)}, {});
    if (node.op == "Equal" && node.inputs.size() == 2) {
      compare(node.inputs[0], node.inputs[1]);
      compare(node.inputs[1], node.inputs[0]);
    }
    pass_on(node);
  }

  void pass_on(const Node& node) {
    if (node.inputs.empty()) return;
    const auto* const row = std::ranges::find(kCarriers, node.op, &Carrier::op);
    if (row != kCarriers.end() && !makes_truth(node))
      for (std::size_t i = row->first; i < node.inputs.size() && i - row->first < row->count; ++i)
        for (const auto output : node.outputs) carry(node.inputs[i], output);
    const auto shape = shapes_.find(node.inputs.front());
    if (shape != shapes_.end() && !node.outputs.empty() && std::ranges::count(kSameShape, node.op) != 0)
      shapes_[node.outputs.front()] = shape->second;
  }

  // Whether it makes 0 and 1 of any numbers.
  static bool makes_truth(const Node& node) {
    const auto to =
        static_cast<std::int32_t>(first(attribute(node.message, "to"), kInt).value_or(Field{}).number);
    return node.op == "Cast" && dtype_of(to) == DType::kBool;
  }

  void limit(const Node& node, const Indexing& row) {
    const auto shape = shapes_.find(node.inputs[row.data]);
    if (shape == shapes_.end() || !carried_.contains(node.inputs[row.index])) return;
    const auto& dimensions = shape->second;
    const auto rank = static_cast<std::int64_t>(dimensions.size());
    auto axis =
        static_cast<std::int64_t>(first(attribute(node.message, row.axis), kInt).value_or(Field{}).number);
    if (axis < 0) axis += rank;
    for (std::int64_t d = 0; d < rank; ++d)
      if (row.axis == "*" || d == axis)
        limit(node.inputs[row.index], dimensions[static_cast<std::size_t>(d)],
              IndexedInput{std::string(node.inputs[row.data]), static_cast<std::size_t>(d)});
  }

  // The inputs in `index` are below `dimension`, which is that of `place` where it is an input's.
  void limit(Text index, const Dimension& dimension, const IndexedInput& place) {
    const auto sources = carried_.find(index);
    if (sources == carried_.end()) return;
    const auto open = open_dimension(dimension, place);
    for (const auto i : sources->second) {
      auto& input = inputs_[i];
      if (dimension.size > 0)
        input.id_limit = input.id_limit == 0 ? dimension.size : std::min(input.id_limit, dimension.size);
      else if (open && std::ranges::count(input.indexes, *open) == 0)
        input.indexes.push_back(*open);
    }
  }

  [[nodiscard]] std::optional<IndexedInput> open_dimension(const Dimension& dimension,
                                                           const IndexedInput& place) const {
    if (const auto known = symbols_.find(dimension.symbol); known != symbols_.end()) return known->second;
    const bool input = std::ranges::count(inputs_, place.name, &DeclaredInput::name) != 0;
    return input ? std::optional(place) : std::nullopt;
  }

  std::vector<DeclaredInput>& inputs_;
  std::map<std::string, std::int64_t> compared_;  // the first number with which each input is compared
  std::map<std::string, IndexedInput, std::less<>> symbols_;           // the first input that has each
  std::map<Text, Dimensions> shapes_;                                  // of values, where they are known
  std::map<Text, Text> tensors_;                                       // by name
  std::map<std::string, std::set<std::size_t>, std::less<>> carried_;  // the inputs whose numbers a value has
};

}  // namespace

void add_index_limits(const std::string& file, std::vector<DeclaredInput>& inputs) {
  if (no_regular_file(file)) return;
  const ModelBytes mapped(file);
  Search(inputs).read(first_bytes(mapped.bytes(), kGraph));
}

std::map<std::string, std::int64_t> compared_numbers(const std::string& file) {
  auto inputs = read_declared_inputs(file);
  const ModelBytes mapped(file);
  Search search(inputs);
  search.read(first_bytes(mapped.bytes(), kGraph));
  return search.compared();
}

}  // namespace paceline::onnx
