// SPDX-License-Identifier: MIT
// The Python programs of this folder, which are part of the executable.
#pragma once
#include <string_view>

namespace paceline::run {

std::string_view onnxruntime_loop();   // a user's loop around ONNX Runtime
std::string_view aotinductor_build();  // compiles a TorchScript file into a package

}  // namespace paceline::run
