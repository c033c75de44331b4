// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <string>

namespace paceline {

// "; did you mean 'net.onnx'?": the file of the same folder whose name is most like that of `path`, with the
// same suffix if there is one; empty where nothing is close.
std::string near_file(const std::filesystem::path& path);

}  // namespace paceline
