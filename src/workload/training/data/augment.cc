// SPDX-License-Identifier: MIT
#include "workload/training/data/augment.h"

#include <stb/stb_image_resize.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "workload/rgb_image.h"

namespace paceline::workload {
namespace {

constexpr double kSmallestArea = 0.08;
constexpr double kFlattest = 3.0 / 4.0, kWidest = 4.0 / 3.0;
constexpr int kTries = 10;
constexpr double kResizedTo = 256.0 / 224.0;  // of the shorter side, before the centre is cropped

Crop middle(int width, int height, int crop_width, int crop_height) {
  return {(width - crop_width) / 2, (height - crop_height) / 2, crop_width, crop_height};
}

int rounded(double value) {
  return static_cast<int>(std::lround(value));
}

Crop middle_of_allowed_shape(int width, int height) {
  const double shape = static_cast<double>(width) / height;
  if (shape < kFlattest) return middle(width, height, width, std::min(height, rounded(width / kFlattest)));
  if (shape > kWidest) return middle(width, height, std::min(width, rounded(height * kWidest)), height);
  return {0, 0, width, height};
}

}  // namespace

Crop random_crop(int width, int height, Draws& draws) {
  for (int i = 0; i < kTries; ++i) {
    const double area = static_cast<double>(width) * height * draws.uniform(kSmallestArea, 1);
    const double shape = std::exp(draws.uniform(std::log(kFlattest), std::log(kWidest)));
    const int w = rounded(std::sqrt(area * shape)), h = rounded(std::sqrt(area / shape));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    return {draws.below(width - w + 1), draws.below(height - h + 1), w, h};
  }
  return middle_of_allowed_shape(width, height);
}

Crop centre_crop(int width, int height, const SampleShape& target) {
  const double target_short = static_cast<double>(std::min(target.width, target.height));
  const double pixel =
      std::min(width, height) / (target_short * kResizedTo);  // size of the target within the picture
  const auto side = [&](std::int64_t of_target, int limit) {
    return std::clamp(rounded(static_cast<double>(of_target) * pixel), 1, limit);
  };
  return middle(width, height, side(target.width, width), side(target.height, height));
}

void write_sample(const PixelView& picture, const Crop& crop, bool mirrored, const SampleShape& target,
                  float* planes) {
  const std::ptrdiff_t row = std::ptrdiff_t{picture.width} * 3;
  const unsigned char* corner = picture.pixels + crop.top * row + std::ptrdiff_t{crop.left} * 3;
  if (crop.width == target.width && crop.height == target.height)
    return write_planes(corner, row, target.width, target.height, mirrored, planes);
  std::vector<unsigned char> resized(static_cast<std::size_t>(target.width * target.height * 3));
  stbir_resize_uint8_generic(corner, crop.width, crop.height, static_cast<int>(row), resized.data(),
                             static_cast<int>(target.width), static_cast<int>(target.height), 0, 3,
                             STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP, STBIR_FILTER_TRIANGLE,
                             STBIR_COLORSPACE_LINEAR, nullptr);
  write_planes(resized.data(), target.width * 3, target.width, target.height, mirrored, planes);
}

}  // namespace paceline::workload
