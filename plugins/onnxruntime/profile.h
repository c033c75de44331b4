// SPDX-License-Identifier: MIT
// Runs a session under ONNX Runtime's profiler and reads the JSON that it wrote.
#pragma once
#include <onnxruntime_cxx_api.h>

#include <functional>
#include <string>
#include <vector>

#include "onnxruntime/profile_events.h"

namespace paceline::ort_plugin {

// Calls `run` `times` times, after a first one that does not count, in a separate session under the profiler,
// and reads the profile. Nothing is left in the temporary folder.
std::vector<ProfiledRun> profile_session(Ort::Env& env, const std::string& file, Ort::SessionOptions options,
                                         int times, const std::function<void(Ort::Session&)>& run);

}  // namespace paceline::ort_plugin
