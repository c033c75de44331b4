// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

// Pictures of three bytes a pixel, and the numbers models take instead.
namespace paceline::workload {

struct RgbImage {
  int width = 0;
  int height = 0;
  std::vector<unsigned char> pixels;  // rows of red, green, blue
};

// JPEG or PNG; grey ones become three equal channels. May be called from several threads. Throws Error(kIo,
// kData) naming the file.
RgbImage decode_rgb(const std::filesystem::path& file);

// width x height pixels that lie in rows of `stride_bytes`, as planes of (value / 255 - mean) / deviation
// with torchvision's ImageNet constants; mirrored left to right where asked for.
void write_planes(const unsigned char* pixels, std::int64_t stride_bytes, std::int64_t width,
                  std::int64_t height, bool mirrored, float* planes);

}  // namespace paceline::workload
