// SPDX-License-Identifier: MIT
// Names by which a trainer is asked for weights that other programs load.
#pragma once
#include <string_view>

namespace paceline {

// Name of the effective setting of a trainer whose save writes such files.
inline constexpr std::string_view kWeightsSetting = "weights_format";
// Ending of a file into which such a trainer writes the weights alone, in safetensors' format, instead of its
// whole state.
inline constexpr std::string_view kWeightsEnding = ".safetensors";

}  // namespace paceline
