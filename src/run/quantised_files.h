// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <string>

#include "config/plan.h"
#include "run/plugin_choice.h"
#include "workload/inference/inputs.h"
#include "workload/pass.h"

// ONNX files in the precision a case asks for.
namespace paceline::run {

// Whether a case's engine needs its ONNX file written again: it asks for int8 or fp16 and the file has
// neither. `file` is the exported model or the user's own.
bool needs_quantising(const config::Case& c, const std::string& file);

// Calibration inputs of a case, other random ones than those of its check.
workload::InputRequest calibration_request(const config::Case& c, const workload::PassSpec& pass);

// The pass that writes the file. Calibrates in ONNX Runtime, else in OpenVINO; throws Error(kUnavailable)
// with both reasons when neither is here. Files are left to the caller.
workload::PassSpec quantise_pass(const config::Case& c, const workload::PassSpec& base,
                                 const std::string& source, const EngineDirectory& engines);

// What the file is made of, as a short name for it.
std::string quantised_file_key(const workload::PassSpec& quantise_pass);

// Where its calibration is kept: the file that calib_cache names, else a file in the folder it names or in
// `run_dir`, called after the model and how it was calibrated.
std::filesystem::path calibration_file(const config::Case& c, const workload::PassSpec& quantise_pass,
                                       const std::filesystem::path& run_dir);

}  // namespace paceline::run
