// SPDX-License-Identifier: MIT
// Runs a session under ONNX Runtime's profiler and reads the JSON that it wrote.
#pragma once
#include <onnxruntime_cxx_api.h>

#include <functional>
#include <string>
#include <vector>

#include "onnxruntime/node_work.h"

namespace paceline::ort_plugin {

using ProfiledRun = std::vector<ProfiledNode>;  // in order; a node in a loop occurs once per iteration

// The runs in a JSON profile of ONNX Runtime. Error(kData) for text that is not one.
std::vector<ProfiledRun> runs_of_profile(const std::string& json);

// Calls `run` `times` times, after a first one that does not count, in a separate session under the profiler,
// and reads the profile. Nothing is left in the temporary folder.
std::vector<ProfiledRun> profile_session(Ort::Env& env, const std::string& file, Ort::SessionOptions options,
                                         int times, const std::function<void(Ort::Session&)>& run);

}  // namespace paceline::ort_plugin
