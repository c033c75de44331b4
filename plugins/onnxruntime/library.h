// SPDX-License-Identifier: MIT
#pragma once
#include <onnxruntime_cxx_api.h>

#include <string>
#include <utility>
#include <vector>

namespace paceline::ort_plugin {

// Opens ONNX Runtime once per process and returns its environment; must be called before any other part of
// it. The library is the one below $ONNXRUNTIME_ROOT, else the one this plug-in was built with. Throws
// Error(kUnavailable) when there is none, or when it is older than the headers.
Ort::Env& environment();

std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace paceline::ort_plugin
