// SPDX-License-Identifier: MIT
// The passes that make files for others. Each is a process of its own, so that a limit on memory or time, or
// an interrupt, ends it alone.
#pragma once
#include <atomic>

#include "pass/pass.h"
#include "pass/records.h"

namespace paceline::workload {

// Makes the files of InputsTo. Throws what make_inputs throws.
void make_input_files(const pass::PassSpec& spec, pass::RecordSink& sink);
// Makes the file of ExpectedTo for spec.inference.samples samples. Throws what read_expected_outputs throws.
void make_expected_file(const pass::PassSpec& spec, pass::RecordSink& sink);

// The others emit `loaded` and `prepared`, or `peaks`, and throw Error.
// Writes the built-in model spec.model as ExportTo says.
void export_model(const pass::PassSpec& spec, pass::RecordSink& sink);
// Compiles the ONNX file spec.model.file as BuildTo says, with the builder of the pass.
void build_engine_file(const pass::PassSpec& spec, pass::RecordSink& sink);
// Measures with the probe of the pass what the device `device` of spec.settings.options does at best.
void measure_peaks(const pass::PassSpec& spec, pass::RecordSink& sink);
// Reads the samplers of the pass for half a second in which nothing else is done; emits `sampled`.
void measure_idle(const pass::PassSpec& spec, pass::RecordSink& sink);
// Writes the ONNX file spec.model.file again as QuantiseTo says, in int8 or fp16. For int8, ranges come
// from the calibration cache where it fits, else from running the float model in the spec's engine on the
// spec's inputs; the cache is then written again. Emits `progress` too.
void quantise_model(const pass::PassSpec& spec, pass::RecordSink& sink, const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
