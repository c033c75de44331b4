// SPDX-License-Identifier: MIT
// Finds which of the file's nodes a node that ONNX Runtime rewrote came from.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor.h"

namespace paceline::ort_plugin {

// The nodes of a file and their names. ONNX Runtime rewrites graphs and names what it fused after one of the
// nodes or after a value: "fused conv1/Conv", "Relu_3:0_nchwc".
class NodeNames {
 public:
  explicit NodeNames(const std::string& file);
  // The model's layer for an executed node: that of the longest name which the node's name contains; for a
  // convolution or matrix product, that of the one behind this name. Empty where no name is contained.
  [[nodiscard]] std::string layer_of(const std::string& executed, const std::string& type) const;
  // The dimensions of the file's weights of an executed convolution or matrix product; empty: not found.
  [[nodiscard]] Shape weights_of(const std::string& executed, const std::string& type) const;

 private:
  struct Node {
    std::string name, op;
    std::vector<std::size_t> producers;  // of its inputs, in their order
    Shape weights;                       // its second input, where that is a tensor of the file
  };
  [[nodiscard]] const Node* node_of(const std::string& executed, const std::string& type) const;
  [[nodiscard]] std::size_t work_behind(std::size_t node) const;

  std::vector<Node> nodes_;
  std::vector<std::pair<std::string, std::size_t>> names_;  // longest first
};

}  // namespace paceline::ort_plugin
