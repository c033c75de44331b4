// SPDX-License-Identifier: MIT
#pragma once
#include "pass/pass.h"
#include "pass/records.h"

namespace paceline::workload {

// Exports a built-in model to a file: writes spec.model as spec.export_to says; emits `loaded` and
// `prepared`. Throws Error.
void export_model(const pass::PassSpec& spec, pass::RecordSink& sink);

}  // namespace paceline::workload
