// SPDX-License-Identifier: MIT
#pragma once
#include <onnxruntime_cxx_api.h>

#include <functional>
#include <string>
#include <vector>

#include "onnxruntime/node_work.h"

namespace paceline::ort_plugin {

using ProfiledRun = std::vector<ProfiledNode>;  // in order; in a loop a node stands there once a pass

// The runs in a profile that ONNX Runtime wrote (JSON). Error(kData) for what is no such profile.
std::vector<ProfiledRun> runs_of_profile(const std::string& json);

// Runs `run` so many times, after a first one that does not count, in a session of its own under the
// profiler, and reads what it wrote. Nothing is left in the temporary folder.
std::vector<ProfiledRun> profile_session(Ort::Env& env, const std::string& file, Ort::SessionOptions options,
                                         int times, const std::function<void(Ort::Session&)>& run);

}  // namespace paceline::ort_plugin
