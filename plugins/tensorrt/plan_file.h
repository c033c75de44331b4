// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

#include "tensorrt/library.h"

namespace paceline::tensorrt_plugin {

// Compares the head of a plan with the library's version, without a GPU or a driver. Throws Error(kData) for
// a file that is not a plan, Error(kUnsupported) for one of another version, and for TensorRT-RTX, which only
// builds here.
void check_plan(const std::string& file, std::string_view bytes, const Library& library);

}  // namespace paceline::tensorrt_plugin
