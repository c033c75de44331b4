// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>

#include "plugin/engine.h"

namespace paceline::plugin {

struct ExportSettings {
  std::int64_t opset = 17;
  bool dynamic_batch = true;  // dimension 0 of inputs and outputs is the symbol N
  // More weight bytes than this go to FILE.data beside the model.
  std::int64_t external_data_above_bytes = 1'900'000'000;
};

// Writes a built-in model, with the weights that the engines of the same plug-in run, as a file that other
// engines read.
class PACELINE_EXPORT Exporter {
 public:
  virtual ~Exporter() = default;
  // `model.inputs` give the shapes to write. Throws Error(kUnsupported) naming an operator it cannot
  // translate and where the model uses it.
  virtual void write(const ModelSpec& model, const ExportSettings& settings, const std::string& file) = 0;
};

}  // namespace paceline::plugin
