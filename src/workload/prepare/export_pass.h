// SPDX-License-Identifier: MIT
#pragma once
#include "workload/pass.h"
#include "workload/records.h"

namespace paceline::workload {

// Writes spec.model as spec.export_to says; emits `loaded` and `prepared`. Throws Error.
void export_model(const PassSpec& spec, RecordSink& sink);

}  // namespace paceline::workload
