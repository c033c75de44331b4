// SPDX-License-Identifier: MIT
// The interface of an exporter, which writes built-in models as files.
#pragma once
#include <cstdint>
#include <string>

#include "plugin/engine.h"

namespace paceline::plugin {

struct ExportSettings {
  std::int64_t opset = 17;
  bool dynamic_batch = true;  // dimension 0 of inputs and outputs is the symbol N
  // Weights above this many bytes go to FILE.data beside the model.
  std::int64_t external_data_above_bytes = 1'900'000'000;
};

// Writes a built-in model, with the weights that the plug-in's engines use, as a file for other engines.
class PACELINE_EXPORT Exporter {
 public:
  virtual ~Exporter() = default;
  // Writes `file`, with the shapes of `model.inputs`. Throws Error(kUnsupported) with an operator that it
  // cannot translate, and where the model uses it.
  virtual void write(const ModelSpec& model, const ExportSettings& settings, const std::string& file) = 0;
};

}  // namespace paceline::plugin
