// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "pass/pass.h"
#include "pass/records.h"

namespace paceline::workload {

// Quantises: writes the ONNX file spec.model.file again as spec.quantise_to says, in int8 or fp16. For int8,
// ranges come from the calibration cache where it fits, else from running the float model in the spec's
// engine on the spec's inputs; the cache is then written anew. Emits `loaded`, `progress` and `prepared`.
// Throws Error.
void quantise_model(const pass::PassSpec& spec, pass::RecordSink& sink, const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
