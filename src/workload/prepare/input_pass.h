// SPDX-License-Identifier: MIT
#pragma once
#include "pass/pass.h"
#include "pass/records.h"

// Makes what cases and calibrations read, in a process of its own: a limit on memory or time, or an
// interrupt, ends it alone.
namespace paceline::workload {

// Makes the files of spec.inputs_to. Throws what make_inputs throws.
void make_input_files(const pass::PassSpec& spec, pass::RecordSink& sink);

// Makes the file of spec.expected_to for spec.samples samples. Throws what read_expected_outputs throws.
void make_expected_file(const pass::PassSpec& spec, pass::RecordSink& sink);

}  // namespace paceline::workload
