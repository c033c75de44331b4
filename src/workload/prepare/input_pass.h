// SPDX-License-Identifier: MIT
#pragma once
#include "workload/pass.h"
#include "workload/records.h"

// What cases and calibrations read, made in a process of its own: a limit on memory or time, or an interrupt,
// ends it alone.
namespace paceline::workload {

// Of spec.inputs_to. Throws what make_inputs throws.
void make_input_files(const PassSpec& spec, RecordSink& sink);

// Of spec.expected_to, for spec.samples samples. Throws what read_expected_outputs throws.
void make_expected_file(const PassSpec& spec, RecordSink& sink);

}  // namespace paceline::workload
