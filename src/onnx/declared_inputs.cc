// SPDX-License-Identifier: MIT
#include "onnx/declared_inputs.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/reading.h"
#include "onnx/graph.h"
#include "onnx/wire.h"

namespace paceline::onnx {
namespace {

using namespace wire;  // NOLINT(google-build-using-namespace): the fields of onnx.proto

// A declared 0 may stand for an open size or for an empty value: its symbol is "0".
void append_dimension(DeclaredInput& input, std::string_view dimension) {
  const auto size = first(dimension, kDimValue);
  const auto extent = size ? static_cast<std::int64_t>(size->number) : -1;
  input.shape->push_back(extent < 1 ? -1 : extent);
  input.symbols.emplace_back(extent == 0 ? "0" : extent < 1 ? first_bytes(dimension, kDimParam) : "");
}

// Reads an input or an output, which are declared alike.
DeclaredInput input_of(std::string_view value_info) {
  DeclaredInput input{std::string(first_bytes(value_info, kName)), {}, {}, {}};
  const auto tensor = first_bytes(first_bytes(value_info, kType), kTensorType);
  input.dtype = dtype_of(static_cast<std::int32_t>(first(tensor, kElemType).value_or(Field{}).number));
  const auto shape = first(tensor, kShape);
  if (!shape) return input;
  input.shape.emplace();
  Message dimensions(shape->bytes);
  while (const auto dimension = dimensions.next(kDim)) append_dimension(input, dimension->bytes);
  return input;
}

}  // namespace

std::vector<DeclaredInput> read_declared_inputs(const std::string& file) {
  if (no_regular_file(file)) return {};
  const ModelBytes mapped(file);
  const auto graph = first_bytes(mapped.bytes(), kGraph);
  std::set<std::string, std::less<>> initializers;
  Message tensors(graph), values(graph);
  while (const auto tensor = tensors.next(kInitializer))
    initializers.emplace(first_bytes(tensor->bytes, kTensorName));
  std::vector<DeclaredInput> inputs;
  while (const auto value = values.next(kInput)) {
    require_tensor(first_bytes(value->bytes, kName), first_bytes(value->bytes, kType));
    if (!initializers.contains(first_bytes(value->bytes, kName))) inputs.push_back(input_of(value->bytes));
  }
  return inputs;
}

std::map<std::string, std::int64_t> symbol_sizes(const std::string& file, std::span<const TensorSpec> inputs,
                                                 bool free_batch) {
  constexpr std::int64_t kAnySize = -1;
  std::map<std::string, std::set<std::int64_t>> sizes;
  for (const auto& declared : read_declared_inputs(file)) {
    const auto spec = std::find_if(inputs.begin(), inputs.end(),
                                   [&](const TensorSpec& s) { return s.name == declared.name; });
    if (spec == inputs.end() || spec->shape.size() != declared.symbols.size()) continue;
    for (std::size_t i = 0; i < declared.symbols.size(); ++i)
      if (!declared.symbols[i].empty()) sizes[declared.symbols[i]].insert(spec->shape[i]);
    if (free_batch && !declared.symbols.empty() && !declared.symbols[0].empty())
      sizes[declared.symbols[0]].insert(kAnySize);
  }
  std::map<std::string, std::int64_t> single;
  for (const auto& [symbol, values] : sizes)
    if (values.size() == 1) single[symbol] = *values.begin();
  return single;
}

void require_graph(const std::string& file) {
  const ModelBytes mapped(file);
  if (!first(first_bytes(mapped.bytes(), kGraph), kNode))
    throw Error(
        ErrorCode::kData,
        "it cannot be read as ONNX: it is damaged, cut short or something else; export or copy it again");
}

std::optional<Shape> read_first_output_shape(const std::string& file) {
  if (no_regular_file(file)) return std::nullopt;
  const ModelBytes mapped(file);
  return input_of(first_bytes(first_bytes(mapped.bytes(), kGraph), kOutput)).shape;
}

bool has_products(const std::string& file) {
  if (no_regular_file(file)) return false;
  const ModelBytes mapped(file);
  const auto among = [](std::string_view message, std::uint64_t number) {
    Message nodes(message);
    while (const auto node = nodes.next(number))
      for (const std::string_view op : {"Conv", "Gemm", "MatMul"})
        if (first_bytes(node->bytes, kOpType) == op) return true;
    return false;
  };
  if (among(first_bytes(mapped.bytes(), kGraph), kNode)) return true;
  Message functions(mapped.bytes());
  while (const auto function = functions.next(kFunctions))
    if (among(function->bytes, kFunctionNode)) return true;
  return false;
}

}  // namespace paceline::onnx
