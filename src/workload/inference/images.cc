// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/error.h"
#include "workload/inference/inputs.h"
#include "workload/rgb_image.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wuseless-cast"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include <stb/stb_image_resize.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> image_files(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::string suffix = entry.path().extension().string();
    std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (suffix == ".jpg" || suffix == ".jpeg" || suffix == ".png") files.push_back(entry.path());
  }
  if (error)
    throw Error(ErrorCode::kIo,
                fmt::format("cannot read image_dir '{}': {}", folder.string(), error.message()));
  if (files.empty())
    throw Error(ErrorCode::kData,
                fmt::format("image_dir '{}' holds no .jpg, .jpeg or .png file", folder.string()));
  std::sort(files.begin(), files.end());
  return files;
}

// Writes one image as normalised planes of size height x width.
void load_one(const fs::path& file, std::int64_t height, std::int64_t width, float* planes) {
  const RgbImage image = decode_rgb(file);
  const double scale =
      static_cast<double>(std::min(height, width)) * (256.0 / 224.0) / std::min(image.width, image.height);
  const int rw = std::max(static_cast<int>(width), static_cast<int>(std::lround(image.width * scale)));
  const int rh = std::max(static_cast<int>(height), static_cast<int>(std::lround(image.height * scale)));
  std::vector<unsigned char> resized(static_cast<std::size_t>(rw) * static_cast<std::size_t>(rh) * 3);
  stbir_resize_uint8(image.pixels.data(), image.width, image.height, 0, resized.data(), rw, rh, 0, 3);
  const std::int64_t left = (rw - width) / 2, top = (rh - height) / 2;
  write_planes(resized.data() + (top * rw + left) * 3, std::int64_t{rw} * 3, width, height, false, planes);
}

}  // namespace

std::int64_t count_images(const fs::path& folder) {
  return static_cast<std::int64_t>(image_files(folder).size());
}

Tensor load_images(const fs::path& folder, const TensorSpec& spec) {
  if (spec.shape.size() != 4 || spec.shape[1] != 3)
    throw Error(ErrorCode::kConfig,
                fmt::format("image_dir needs an input of 3 colour planes, '{}' has shape [{}]", spec.name,
                            fmt::join(spec.shape, ", ")));
  auto files = image_files(folder);
  if (static_cast<std::int64_t>(files.size()) > spec.shape[0])
    files.resize(static_cast<std::size_t>(spec.shape[0]));
  TensorSpec loaded = spec;
  loaded.shape[0] = static_cast<std::int64_t>(files.size());
  Tensor tensor(loaded);
  const std::int64_t plane_set = 3 * spec.shape[2] * spec.shape[3];
  for (std::size_t i = 0; i < files.size(); ++i)
    load_one(files[i], spec.shape[2], spec.shape[3],
             tensor.as<float>() + static_cast<std::int64_t>(i) * plane_set);
  return tensor;
}

}  // namespace paceline::workload
