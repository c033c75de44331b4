// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "workload/pass.h"
#include "workload/records.h"

namespace paceline::workload {

// Writes the ONNX file spec.model.file again as spec.quantise_to says. int8: ranges come from the calibration
// cache where it fits, else from running the float model in the spec's engine on the spec's inputs; the cache
// is then written anew. Emits `loaded`, `progress` and `prepared`. Throws Error.
void quantise_model(const PassSpec& spec, RecordSink& sink, const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
