// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace paceline::ort_plugin {

// The nodes of a file and what they are called. ONNX Runtime rewrites graphs and calls what it fused after
// one of them or after a value it makes: "fused conv1/Conv", "Relu_3:0_nchwc".
class NodeNames {
 public:
  explicit NodeNames(const std::string& file);
  // The model's layer of a node that ran: that of the longest name it holds. For a convolution or a product
  // it is the one of these behind that name. Empty where it holds no name.
  [[nodiscard]] std::string layer_of(const std::string& executed, const std::string& type) const;

 private:
  struct Node {
    std::string name, op;
    std::vector<std::size_t> producers;  // of its inputs, in their order
  };
  [[nodiscard]] std::size_t work_behind(std::size_t node) const;

  std::vector<Node> nodes_;
  std::vector<std::pair<std::string, std::size_t>> names_;  // longest first
};

}  // namespace paceline::ort_plugin
