// SPDX-License-Identifier: MIT
#pragma once
#include "onnx/quantise.h"
#include "pass/sensitivity.h"
#include "workload/prepare/model_runner.h"

// Measures what 8 bits cost layer by layer, and which layers to leave in float.
namespace paceline::workload {

// Quantises each layer alone and compares the output with the float model's. `model` must be simplified.
// Costs one load and `samples` inferences per layer.
pass::Sensitivity measure_sensitivity(onnx::proto::ModelProto& model, const onnx::Ranges& ranges,
                                      const onnx::QuantiseOptions& options, double target,
                                      ModelRunner& runner);

}  // namespace paceline::workload
