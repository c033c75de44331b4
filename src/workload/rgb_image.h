// SPDX-License-Identifier: MIT
// Decodes pictures and turns them into planes of numbers.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace paceline::workload {

// torchvision's ImageNet constants for values from 0 to 1: red, green, blue.
inline constexpr std::array<float, 3> kImageNetMean{0.485F, 0.456F, 0.406F};
inline constexpr std::array<float, 3> kImageNetDeviation{0.229F, 0.224F, 0.225F};

struct RgbImage {
  int width = 0;
  int height = 0;
  std::vector<unsigned char> pixels;  // rows of red, green, blue
};

// Decodes JPEG or PNG; grey pictures become three equal channels. May be called from several threads. Throws
// Error(kIo, kData) naming the file.
RgbImage decode_rgb(const std::filesystem::path& file);

// width x height pixels that lie in rows of `stride_bytes`, as planes of (value / 255 - mean) / deviation
// with torchvision's ImageNet constants; mirrored left to right where asked for.
void write_planes(const unsigned char* pixels, std::int64_t stride_bytes, std::int64_t width,
                  std::int64_t height, bool mirrored, float* planes);

}  // namespace paceline::workload
