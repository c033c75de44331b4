// SPDX-License-Identifier: MIT
#pragma once
#include <onnxruntime_cxx_api.h>

#include <functional>
#include <string>
#include <vector>

#include "onnxruntime/node_work.h"

namespace paceline::ort_plugin {

// Nodes of the last run in a profile that ONNX Runtime wrote (JSON), in order; in a loop a node stands there
// once a pass. Error(kData) for what is no such profile.
std::vector<ProfiledNode> nodes_of_profile(const std::string& json);

// Runs `run` twice in a session of its own under the profiler and reads what it wrote. Nothing is left in the
// temporary folder.
std::vector<ProfiledNode> profile_session(Ort::Env& env, const std::string& file, Ort::SessionOptions options,
                                          const std::function<void(Ort::Session&)>& run);

}  // namespace paceline::ort_plugin
