// SPDX-License-Identifier: MIT
// Reads the JSON of ONNX Runtime's profiler.
#pragma once
#include <string>
#include <vector>

#include "onnxruntime/node_work.h"

namespace paceline::ort_plugin {

// The runs in a JSON profile of ONNX Runtime. A library whose CUDA profiler was built in also lists kernels,
// each behind the node that started it. Error(kData) for text that is no profile.
std::vector<ProfiledRun> runs_of_profile(const std::string& json);

}  // namespace paceline::ort_plugin
