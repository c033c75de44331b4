// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "config/settings.h"
#include "host/machine/cpu.h"
#include "onnx/proto.h"
#include "pass/pass.h"
#include "pass/records.h"
#include "run/artefacts/stages.h"
#include "run/case/plugin_choice.h"

// ONNX files in the precision a case asks for.
namespace paceline::run {

// Whether an ONNX file must be written again for these settings: they ask for int8 or fp16 and it has
// neither. `file` is the exported model or the user's own.
bool needs_quantising(const config::Settings& s, const std::string& file);

// Calibration inputs for a model with these inputs; random ones are others than those of the check.
pass::InputRequest calibration_request(const config::Settings& s, const pass::PassSpec& pass);

// The pass that writes the file. Calibrates in ONNX Runtime, else in OpenVINO; throws Error(kUnavailable)
// with both reasons when neither is here. Files are left to the caller.
pass::PassSpec quantise_pass(const config::Settings& s, const pass::PassSpec& base, const std::string& source,
                             const EngineDirectory& engines);

// Gives up the sizes that the model's file leaves free, but for the batch: calibration data have their own.
void free_shapes(pass::PassSpec& quantise_pass, const onnx::proto::ModelProto& model);
// Takes those sizes from the calibration inputs that were made.
void use_calibration_shapes(pass::PassSpec& quantise_pass);

// Names the calibration inputs of a pass to int8, in `folder`, and returns how they are made.
std::vector<Target> add_calibration(const config::Settings& s, pass::PassSpec& quantise_pass,
                                    const std::filesystem::path& folder, const PreparePass& run);
// The file that such a pass writes, in the shapes of its calibration inputs.
Target quantised_file(const pass::PassSpec& quantise_pass, const PreparePass& run,
                      std::vector<Target> calibration);

// Short name for everything that the file depends on.
std::string quantised_file_key(const pass::PassSpec& quantise_pass);

// Where its calibration is kept: the file that calib_cache names, else a file in the folder it names or in
// `run_dir`, called after the model and how it was calibrated.
std::filesystem::path calibration_file(const config::Settings& s, const pass::PassSpec& quantise_pass,
                                       const std::filesystem::path& run_dir);

// Whether an ONNX file runs in int8 in the precision asked for; `auto` takes the file as it is, and is false
// for one that cannot be read.
bool runs_int8(const std::string& precision, const std::string& file);

// Whether sums of two 8-bit products saturate: x86 without VNNI adds them in 16 bits.
// `onednn_limit`: ONEDNN_MAX_CPU_ISA, which takes VNNI from engines that obey it; empty: none.
bool products_saturate(const host::CpuInfo& cpu, const std::string& onednn_limit = {});

// Whether calibration data are made up: fine for speed, not for accuracy.
bool calibrates_with_random_inputs(const config::Settings& s);
extern const char* const kRandomCalibration;  // what to tell the user then

}  // namespace paceline::run
