// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "onnx/quantise.h"
#include "result/maybe.h"
#include "workload/prepare/model_runner.h"

// Measures what 8 bits cost layer by layer, and which layers to leave in float.
namespace paceline::workload {

struct OutputError {
  result::Number centred_cosine, max_rel_err;
};

struct LayerSensitivity {
  std::string name, op;
  OutputError error;  // with this layer alone in 8 bits
};

struct Sensitivity {
  std::string engine, method, data;
  std::int64_t samples = 0;
  double target = 0;                     // centred cosine the whole model should reach
  std::vector<LayerSensitivity> layers;  // the worst first
  OutputError all;                       // with every layer in 8 bits
  std::vector<std::string> exclude;      // the fewest of the worst, doubled until the target was reached
  OutputError after_exclusion;           // missing when there is nothing to exclude or nothing reaches it
};

// Quantises each layer alone and compares the output with the float model's. `model` must be simplified.
// Costs one load and `samples` inferences per layer.
Sensitivity measure_sensitivity(onnx::proto::ModelProto& model, const onnx::Ranges& ranges,
                                const onnx::QuantiseOptions& options, double target, ModelRunner& runner);

std::string sensitivity_json(const Sensitivity& sensitivity);
// The same as a table for people, from the file's text.
std::string sensitivity_table(const std::string& json_text);

}  // namespace paceline::workload
