// SPDX-License-Identifier: MIT
#pragma once
#include "pass/pass.h"
#include "pass/records.h"

namespace paceline::workload {

// Compiles the ONNX file spec.model.file as spec.build_to says, with the builder of spec.engine; emits
// `loaded` and `prepared`. Throws Error.
void build_engine_file(const pass::PassSpec& spec, pass::RecordSink& sink);

}  // namespace paceline::workload
