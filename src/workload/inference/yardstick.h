// SPDX-License-Identifier: MIT
#pragma once
#include "pass/pass.h"
#include "plugin/engine.h"
#include "workload/inference/compared_outputs.h"

// Measures, beside the reference, what little changes do to its outputs. Errors are judged in that unit
// (docs/methodology.md, "Accuracy").
namespace paceline::workload {

// Adds the yardstick of every output that can be compared. The inputs are moved by one unit in the last
// place, and one layer of an ONNX file on the way to the output, else the inputs, is rounded to bfloat16.
// Integers cannot be moved: where no input is a float, the first layer's weights are. `took_ns` is what the
// outputs took; a slow model is moved for its first batches only.
// Outputs of a model whose changed copies cannot run have none.
void add_yardsticks(ComparedOutputs& outputs, const pass::PassSpec& spec, plugin::Engine& engine,
                    double took_ns);

}  // namespace paceline::workload
