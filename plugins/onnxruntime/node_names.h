// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace paceline::ort_plugin {

// Names of a file's nodes and of the values they make. ONNX Runtime rewrites graphs and calls what it fused
// after one of them: "fused conv1/Conv", "conv1/Conv:0_nchwc".
class NodeNames {
 public:
  explicit NodeNames(const std::string& file);
  // The model's layer of a node that ran: that of the longest name it holds; empty where it holds none.
  [[nodiscard]] std::string layer_of(const std::string& executed) const;

 private:
  std::vector<std::pair<std::string, std::string>> names_;  // longest first
};

}  // namespace paceline::ort_plugin
