// SPDX-License-Identifier: MIT
#include "onnxruntime/node_names.h"

#include <algorithm>
#include <cctype>

#include "onnx/graph.h"
#include "onnx/model_file.h"
#include "support/layer_work.h"

namespace paceline::ort_plugin {
namespace {

// "conv1" is no part of "conv10".
bool holds(const std::string& text, const std::string& name) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    const bool begins = at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]));
    if (begins && (end == text.size() || !std::isalnum(static_cast<unsigned char>(text[end])))) return true;
  }
  return false;
}

}  // namespace

NodeNames::NodeNames(const std::string& file) {
  const auto model = onnx::read_model(file);
  for (const auto& node : model.graph().node()) {
    const auto name = onnx::layer_name(node);
    names_.emplace_back(name, name);
    for (const auto& output : node.output())
      if (!output.empty()) names_.emplace_back(output, name);
  }
  std::stable_sort(names_.begin(), names_.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

std::string NodeNames::layer_of(const std::string& executed) const {
  for (const auto& [name, node] : names_)
    if (holds(executed, name)) return plugin_support::layer_of_node(node);
  return {};
}

}  // namespace paceline::ort_plugin
