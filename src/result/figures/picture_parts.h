// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>
#include <vector>

#include "result/stored/case_result.h"

namespace paceline::result {

// Names of PicturePart.
inline constexpr std::string_view kDecode = "decode", kResize = "resize", kNormalise = "normalise";

// Times of each picture of image_dir, in the order of the files.
struct PictureTimes {
  std::vector<double> decode_ns;     // reading the file included
  std::vector<double> resize_ns;     // to the size that the middle is cut from
  std::vector<double> normalise_ns;  // cutting, scaling and writing as the model's input
};

// Medians and means over pictures; empty where no picture was read.
std::vector<PicturePart> picture_parts(const PictureTimes& times, double confidence);

}  // namespace paceline::result
