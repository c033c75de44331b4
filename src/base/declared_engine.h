// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

namespace paceline {

// Declaration of an engine by its plug-in, without its options. Suffixes are ".onnx".
struct DeclaredEngine {
  std::string name;
  std::vector<std::string> reads;        // suffixes of model files
  std::vector<std::string> selected_by;  // those of them that select it where no engine is written
  std::vector<std::string> builds;       // suffixes of files that `paceline build` makes for it
  std::string cross_check;               // its tool (run/inference/engine_tools); empty: none
  std::string no_cross_check;            // why there is none
};

}  // namespace paceline
