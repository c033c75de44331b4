// SPDX-License-Identifier: MIT
// Turns JPEG and PNG files into input tensors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/picture_files.h"
#include "host/machine/memory_budget.h"
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
  auto [files, left_out] = pictures_in(folder, false, error);
  if (error)
    throw Error(ErrorCode::kIo,
                fmt::format("cannot read the folder of images '{}': {}", folder.string(), error.message()));
  const auto others = left_out.words();
  if (files.empty())
    throw Error(ErrorCode::kData,
                fmt::format("the folder of images '{}' contains no .jpg, .jpeg or .png file{}",
                            folder.string(), others.empty() ? "" : fmt::format(" (but {})", others)));
  return files;
}

// Where the values of a picture go, and how they are scaled.
struct Target {
  std::int64_t height = 0, width = 0;
  bool channels_last = false;
  std::array<double, 3> mean{}, scale{1, 1, 1};  // red, green, blue
  bool reverse = false;
};

std::array<double, 3> three(const std::vector<double>& values) {
  return values.size() == 3 ? std::array{values[0], values[1], values[2]}
                            : std::array{values.front(), values.front(), values.front()};
}

Target target_of(const TensorSpec& spec, const pass::ImageFormat& format) {
  const Shape& shape = spec.shape;
  const bool planes = shape.size() == 4 && shape[1] == 3, last = shape.size() == 4 && shape[3] == 3;
  if ((!planes && !last) || (spec.dtype != DType::kFloat32 && spec.dtype != DType::kUInt8))
    throw Error(ErrorCode::kConfig, fmt::format("images need a model with one image input, [N, 3, H, W] or "
                                                "[N, H, W, 3] of float32 or uint8; this one has '{}' {} [{}]",
                                                spec.name, dtype_name(spec.dtype), fmt::join(shape, ", ")));
  Target target;
  target.channels_last = !planes;
  target.height = shape[planes ? 2 : 1], target.width = shape[planes ? 3 : 2];
  target.reverse = format.reverse_channels;
  const bool usual = format.mean.empty() && format.scale.empty() && spec.dtype == DType::kFloat32;
  for (std::size_t c = 0; c < 3 && usual; ++c) {
    target.mean[c] = 255.0 * static_cast<double>(kImageNetMean[c]);
    target.scale[c] = 255.0 * static_cast<double>(kImageNetDeviation[c]);
  }
  if (!format.mean.empty()) target.mean = three(format.mean);
  if (!format.scale.empty()) target.scale = three(format.scale);
  return target;
}

// `pixels` are red, green, blue in rows of `stride` bytes; `put` takes an index and the value there.
template <typename Put>
void write_pixels(const Target& target, const unsigned char* pixels, std::int64_t stride, Put put) {
  for (std::int64_t y = 0; y < target.height; ++y)
    for (std::int64_t x = 0; x < target.width; ++x)
      for (std::size_t c = 0; c < 3; ++c) {
        const auto channel = static_cast<std::int64_t>(target.reverse ? 2 - c : c);
        const double value =
            (pixels[y * stride + 3 * x + static_cast<std::int64_t>(c)] - target.mean[c]) / target.scale[c];
        const std::int64_t pixel = y * target.width + x;
        put(target.channels_last ? 3 * pixel + channel : channel * target.height * target.width + pixel,
            value);
      }
}

struct Resized {
  std::vector<unsigned char> pixels;
  int width = 0, height = 0;
};

Resized resized(const RgbImage& image, const fs::path& file, const Target& target) {
  const double scale = static_cast<double>(std::min(target.height, target.width)) * (256.0 / 224.0) /
                       std::min(image.width, image.height);
  Resized out;
  out.width = std::max(static_cast<int>(target.width), static_cast<int>(std::lround(image.width * scale)));
  out.height = std::max(static_cast<int>(target.height), static_cast<int>(std::lround(image.height * scale)));
  host::require_memory(3.0 * out.width * out.height, fmt::format("the resized image '{}'", file.string()));
  out.pixels.resize(static_cast<std::size_t>(out.width) * static_cast<std::size_t>(out.height) * 3);
  stbir_resize_uint8(image.pixels.data(), image.width, image.height, 0, out.pixels.data(), out.width,
                     out.height, 0, 3);
  return out;
}

void normalise(const Resized& image, const Target& target, Tensor& tensor, std::int64_t at) {
  const std::int64_t left = (image.width - target.width) / 2, top = (image.height - target.height) / 2;
  const unsigned char* pixels = image.pixels.data() + (top * image.width + left) * 3;
  const std::int64_t stride = std::int64_t{image.width} * 3;
  if (tensor.spec().dtype == DType::kFloat32)
    write_pixels(target, pixels, stride, [out = tensor.as<float>() + at](std::int64_t i, double value) {
      out[i] = static_cast<float>(value);
    });
  else
    write_pixels(target, pixels, stride,
                 [out = tensor.as<std::uint8_t>() + at](std::int64_t i, double value) {
                   out[i] = static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
                 });
}

// Gives the time since it was made or asked last.
class Lap {
 public:
  double ns() {
    const auto before = std::exchange(at_, SteadyClock{}.now_ns());
    return static_cast<double>(at_ - before);
  }

 private:
  std::int64_t at_ = SteadyClock{}.now_ns();
};

void load_one(const fs::path& file, const Target& target, Tensor& tensor, std::int64_t at,
              result::PictureTimes& times) {
  Lap lap;
  const RgbImage picture = decode_rgb(file);
  times.decode_ns.push_back(lap.ns());
  const Resized image = resized(picture, file, target);
  times.resize_ns.push_back(lap.ns());
  normalise(image, target, tensor, at);
  times.normalise_ns.push_back(lap.ns());
}

}  // namespace

std::string images_left_out(const fs::path& folder) {
  std::error_code error;
  return pictures_in(folder, false, error).left_out.words();
}

std::int64_t count_images(const fs::path& folder) {
  return static_cast<std::int64_t>(image_files(folder).size());
}

Tensor load_images(const fs::path& folder, const TensorSpec& spec, const pass::ImageFormat& format,
                   result::PictureTimes* times) {
  const Target target = target_of(spec, format);
  auto files = image_files(folder);
  if (static_cast<std::int64_t>(files.size()) > spec.shape[0])
    files.resize(static_cast<std::size_t>(spec.shape[0]));
  TensorSpec loaded = spec;
  loaded.shape[0] = static_cast<std::int64_t>(files.size());
  // The pictures are held once as read and once in whole batches.
  const double bytes = 3.0 * static_cast<double>(target.width * target.height) *
                       static_cast<double>(dtype_size_bytes(spec.dtype));
  host::require_memory(bytes * 2 * static_cast<double>(loaded.shape[0]), "the images");
  Tensor tensor(loaded);
  result::PictureTimes measured;
  for (std::size_t i = 0; i < files.size(); ++i)
    load_one(files[i], target, tensor, static_cast<std::int64_t>(i) * 3 * target.height * target.width,
             measured);
  if (times) *times = std::move(measured);
  return tensor;
}

}  // namespace paceline::workload
