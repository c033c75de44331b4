// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "workload/inference/inputs.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wuseless-cast"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include <stb/stb_image.h>
#include <stb/stb_image_resize.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

constexpr std::array<float, 3> kMean{0.485F, 0.456F, 0.406F};  // torchvision's ImageNet constants
constexpr std::array<float, 3> kDeviation{0.229F, 0.224F, 0.225F};

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
  const std::string bytes = read_file(file);
  int w = 0, h = 0, channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()),
                            &w, &h, &channels, 3),
      stbi_image_free);
  if (!pixels)
    throw Error(ErrorCode::kData,
                fmt::format("'{}' is not a readable image: {}", file.string(), stbi_failure_reason()));
  const double scale = static_cast<double>(std::min(height, width)) * (256.0 / 224.0) / std::min(w, h);
  const int rw = std::max(static_cast<int>(width), static_cast<int>(std::lround(w * scale)));
  const int rh = std::max(static_cast<int>(height), static_cast<int>(std::lround(h * scale)));
  std::vector<unsigned char> resized(static_cast<std::size_t>(rw) * static_cast<std::size_t>(rh) * 3);
  stbir_resize_uint8(pixels.get(), w, h, 0, resized.data(), rw, rh, 0, 3);
  const std::int64_t left = (rw - width) / 2, top = (rh - height) / 2;
  for (std::int64_t c = 0; c < 3; ++c)
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        const auto at = static_cast<std::size_t>(((y + top) * rw + x + left) * 3 + c);
        const auto k = static_cast<std::size_t>(c);
        planes[(c * height + y) * width + x] =
            (static_cast<float>(resized[at]) / 255.0F - kMean[k]) / kDeviation[k];
      }
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
