// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

namespace paceline::run {

// The Python program of the same name: a user's loop around ONNX Runtime.
std::string_view onnxruntime_loop();

}  // namespace paceline::run
