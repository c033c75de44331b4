// SPDX-License-Identifier: MIT
#include "onnx/model_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/display_text.h"
#include "base/error.h"
#include "onnx/graph.h"

namespace paceline::onnx {
namespace {

using Tensor = proto::TensorProto;

// How many numbers of a type are there: by bits in raw_data, else in the field that holds them.
struct Storage {
  Tensor::DataType type;
  std::int64_t bits;
  int (Tensor::*count)() const;
};
constexpr std::array kStorage{
    Storage{Tensor::FLOAT, 32, &Tensor::float_data_size},
    Storage{Tensor::DOUBLE, 64, &Tensor::double_data_size},
    Storage{Tensor::INT64, 64, &Tensor::int64_data_size},
    Storage{Tensor::UINT64, 64, &Tensor::uint64_data_size},
    Storage{Tensor::UINT32, 32, &Tensor::uint64_data_size},
    Storage{Tensor::INT32, 32, &Tensor::int32_data_size},
    Storage{Tensor::INT16, 16, &Tensor::int32_data_size},
    Storage{Tensor::UINT16, 16, &Tensor::int32_data_size},
    Storage{Tensor::FLOAT16, 16, &Tensor::int32_data_size},
    Storage{Tensor::BFLOAT16, 16, &Tensor::int32_data_size},
    Storage{Tensor::INT8, 8, &Tensor::int32_data_size},
    Storage{Tensor::UINT8, 8, &Tensor::int32_data_size},
    Storage{Tensor::BOOL, 8, &Tensor::int32_data_size},
};

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw Error(ErrorCode::kData,
              fmt::format("'{}' {}; it is damaged, export it again", shown_path(file), why));
}

// None: a size is negative, or there are more elements than 64 bits count.
std::optional<std::int64_t> elements_of(const Tensor& tensor) {
  std::int64_t elements = 1;
  for (const auto size : tensor.dims())
    if (size < 0 || __builtin_mul_overflow(elements, size, &elements)) return std::nullopt;
  return elements;
}

void check_tensor(const Tensor& tensor, const std::string& file) {
  const auto name =
      fmt::format("tensor '{}' [{}]", shown_value(tensor.name()), fmt::join(tensor.dims(), ","));
  const auto elements = elements_of(tensor);
  if (!elements) refuse(file, fmt::format("has {}, which is no possible shape", name));
  const auto row = std::find_if(kStorage.begin(), kStorage.end(),
                                [&](const Storage& s) { return s.type == tensor.data_type(); });
  if (row == kStorage.end()) return;
  const auto have = tensor.has_raw_data()
                        ? static_cast<std::int64_t>(tensor.raw_data().size()) / (row->bits / 8)
                        : std::int64_t{(tensor.*row->count)()};
  if (have != *elements)
    refuse(file, fmt::format("contains {} numbers for {}, which has {}", have, name, *elements));
}

// Follows nodes in the order in which their inputs are there; what is left over needs itself.
class Order {
 public:
  explicit Order(const proto::GraphProto& graph)
      : graph_(graph), missing_(static_cast<std::size_t>(graph.node_size()), 0) {
    std::map<std::string_view, int> producers;
    for (int n = 0; n < graph.node_size(); ++n)
      for (const auto& output : graph.node(n).output())
        if (!output.empty()) producers[output] = n;
    readers_.resize(missing_.size());
    for (int n = 0; n < graph.node_size(); ++n)
      for (const auto& input : graph.node(n).input())
        if (const auto made = producers.find(input); made != producers.end()) {
          readers_[static_cast<std::size_t>(made->second)].push_back(n);
          ++missing_[static_cast<std::size_t>(n)];
        }
  }

  // A node that can never run; null: there is none.
  const proto::NodeProto* stuck() {
    std::vector<int> ready;
    for (int n = 0; n < graph_.node_size(); ++n)
      if (missing_[static_cast<std::size_t>(n)] == 0) ready.push_back(n);
    std::size_t done = 0;
    for (; !ready.empty(); ++done) {
      const auto node = static_cast<std::size_t>(ready.back());
      ready.pop_back();
      for (const int reader : readers_[node])
        if (--missing_[static_cast<std::size_t>(reader)] == 0) ready.push_back(reader);
    }
    const auto left = std::find_if(missing_.begin(), missing_.end(), [](int count) { return count > 0; });
    return left == missing_.end() ? nullptr : &graph_.node(static_cast<int>(left - missing_.begin()));
  }

 private:
  const proto::GraphProto& graph_;
  std::vector<int> missing_;               // inputs of each node that no node has made yet
  std::vector<std::vector<int>> readers_;  // of each node's outputs
};

}  // namespace

void check_graph(const proto::GraphProto& graph, const std::string& file) {
  for (const auto& tensor : graph.initializer()) check_tensor(tensor, file);
  for (const auto& node : graph.node())
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_t()) check_tensor(attribute.t(), file);
      for (const auto& tensor : attribute.tensors()) check_tensor(tensor, file);
      if (attribute.has_g()) check_graph(attribute.g(), file);
      for (const auto& inner : attribute.graphs()) check_graph(inner, file);
    }
  if (const auto* node = Order(graph).stuck())
    refuse(file, fmt::format("has a cycle: node '{}' ({}) needs its own result",
                             shown_value(layer_name(*node)), node->op_type()));
}

}  // namespace paceline::onnx
