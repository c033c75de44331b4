// SPDX-License-Identifier: MIT
#pragma once
#include "workload/pass.h"
#include "workload/records.h"

namespace paceline::workload {

// Compiles the ONNX file spec.model.file as spec.build_to says, with the builder of spec.engine; emits
// `loaded` and `prepared`. Throws Error.
void build_engine_file(const PassSpec& spec, RecordSink& sink);

}  // namespace paceline::workload
