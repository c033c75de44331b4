// SPDX-License-Identifier: MIT
// The data source of an .npz file.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stb/stb_image_resize.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/npy.h"
#include "workload/training/data/sources.h"

namespace paceline::workload {
namespace {

template <typename To, typename From>
std::vector<To> converted(const Tensor& tensor) {
  const From* from = tensor.as<From>();
  std::vector<To> to(static_cast<std::size_t>(element_count(tensor.spec().shape)));
  std::transform(from, from + to.size(), to.begin(), [](From value) { return static_cast<To>(value); });
  return to;
}

template <typename To>
struct Conversion {
  DType from;
  std::vector<To> (*convert)(const Tensor&);
};
constexpr Conversion<float> kPixels[] = {{DType::kFloat32, converted<float, float>},
                                         {DType::kFloat64, converted<float, double>},
                                         {DType::kUInt8, converted<float, std::uint8_t>}};
constexpr Conversion<std::int64_t> kLabels[] = {{DType::kInt64, converted<std::int64_t, std::int64_t>},
                                                {DType::kInt32, converted<std::int64_t, std::int32_t>},
                                                {DType::kUInt8, converted<std::int64_t, std::uint8_t>}};

template <typename To, std::size_t n>
std::vector<To> convert(const Tensor& tensor, const Conversion<To> (&conversions)[n], std::string_view wanted,
                        const std::string& path) {
  for (const auto& row : conversions)
    if (row.from == tensor.spec().dtype) return row.convert(tensor);
  throw Error(ErrorCode::kData, fmt::format("array '{}' of '{}' is {}, it should be {}", tensor.spec().name,
                                            path, dtype_name(tensor.spec().dtype), wanted));
}

const Tensor& find_array(const std::vector<Tensor>& arrays, std::string_view name, const std::string& path) {
  std::vector<std::string> names;
  for (const auto& array : arrays) {
    if (array.spec().name == name) return array;
    names.push_back(array.spec().name);
  }
  throw Error(ErrorCode::kData,
              fmt::format("'{}' has no array '{}' (x: images, y: labels), {}", path, name,
                          names.empty() ? "it is empty" : fmt::format("only: {}", fmt::join(names, ", "))));
}

// Accepts [N, C, H, W] with C of 1 or 3, [N, H, W], or [N, F] of grey pictures where F is a square number.
Shape as_planes(const Shape& shape, const std::string& path) {
  if (element_count(shape) == 0)
    throw Error(ErrorCode::kData,
                fmt::format("array 'x' of '{}' is empty: its shape is [{}]", path, fmt::join(shape, ", ")));
  if (shape.size() == 4 && (shape[1] == 1 || shape[1] == 3)) return shape;
  if (shape.size() == 3) return {shape[0], 1, shape[1], shape[2]};
  const auto side = shape.size() == 2 ? std::lround(std::sqrt(static_cast<double>(shape[1]))) : 0;
  if (shape.size() == 2 && side * side == shape[1]) return {shape[0], 1, side, side};
  throw Error(ErrorCode::kData, fmt::format("array 'x' of '{}' has shape [{}]; it should be [N, 3, H, W], "
                                            "[N, 1, H, W], [N, H, W], or [N, F] with F a square number",
                                            path, fmt::join(shape, ", ")));
}

// With such a value the mean over the set would not be finite either.
void check_finite(const std::vector<float>& values, std::int64_t rows, const std::string& path) {
  const auto bad =
      std::find_if_not(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
  if (bad == values.end()) return;
  const auto each = static_cast<std::int64_t>(values.size()) / rows;
  throw Error(
      ErrorCode::kData,
      fmt::format(
          "row {} of array 'x' of '{}' contains {}, which is no number to train on; leave the row out",
          (bad - values.begin()) / each, path, std::isnan(*bad) ? "NaN" : "an infinity"));
}

// Scales to mean 0 and standard deviation 1 over the whole set.
void standardise(std::vector<float>& values) {
  double sum = 0, squares = 0;
  for (const float value : values) sum += value, squares += static_cast<double>(value) * value;
  const double n = static_cast<double>(std::max<std::size_t>(values.size(), 1));
  const double mean = sum / n;
  const double deviation = std::sqrt(std::max(squares / n - mean * mean, 0.0));
  const double scale = deviation > 0 ? 1 / deviation : 1;
  for (float& value : values) value = static_cast<float>((value - mean) * scale);
}

class NpzSource : public Source {
 public:
  explicit NpzSource(const SourceSetup& setup) : path_(setup.data.path), target_(setup.shape) {
    const auto arrays = read_npy_or_npz(path_);
    const Tensor& x = find_array(arrays, "x", path_);
    pixels_ = convert(x, kPixels, "float32, float64 or uint8", path_);
    labels_ = convert(find_array(arrays, "y", path_), kLabels, "int64, int32 or uint8", path_);
    shape_ = as_planes(x.spec().shape, path_);
    check(setup.classes);
    check_finite(pixels_, shape_[0], path_);
    standardise(pixels_);
  }

  [[nodiscard]] std::int64_t samples() const override { return shape_[0]; }

  [[nodiscard]] std::string remark() const override {
    const bool one =
        std::all_of(labels_.begin(), labels_.end(), [&](auto label) { return label == labels_[0]; });
    return one ? fmt::format("every label in '{}' is {}, so there is nothing to learn", path_, labels_[0])
               : "";
  }

  void read(std::int64_t index, Draws, const SampleMemory& sample) const override {
    const std::int64_t plane = shape_[2] * shape_[3];
    for (std::int64_t c = 0; c < target_.channels; ++c) {
      const float* from = pixels_.data() + (index * shape_[1] + std::min(c, shape_[1] - 1)) * plane;
      resize(from, sample.image + c * target_.height * target_.width);
    }
    if (sample.label) *sample.label = labels_[static_cast<std::size_t>(index)];
  }

 private:
  void check(std::int64_t classes) const {
    if (static_cast<std::int64_t>(labels_.size()) != shape_[0])
      throw Error(ErrorCode::kData,
                  fmt::format("'{}' contains {} images and {} labels", path_, shape_[0], labels_.size()));
    for (const std::int64_t label : labels_)
      if (label < 0 || (classes > 0 && label >= classes))
        throw Error(ErrorCode::kData,
                    fmt::format("'{}' contains the label {}; labels start at 0{}", path_, label,
                                classes > 0 ? fmt::format(", and the model has {} classes", classes) : ""));
  }

  void resize(const float* from, float* to) const {
    if (shape_[2] == target_.height && shape_[3] == target_.width)
      return void(std::copy_n(from, shape_[2] * shape_[3], to));
    stbir_resize_float_generic(from, static_cast<int>(shape_[3]), static_cast<int>(shape_[2]), 0, to,
                               static_cast<int>(target_.width), static_cast<int>(target_.height), 0, 1,
                               STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP, STBIR_FILTER_TRIANGLE,
                               STBIR_COLORSPACE_LINEAR, nullptr);
  }

  std::string path_;
  SampleShape target_;
  Shape shape_;                // [N, C, H, W] of pixels_
  std::vector<float> pixels_;  // standardised
  std::vector<std::int64_t> labels_;
};

}  // namespace

std::unique_ptr<Source> make_npz(const SourceSetup& setup) {
  if (setup.data.path.empty())
    throw Error(ErrorCode::kConfig, "data.source npz needs data.path: an .npz file with arrays x and y");
  return std::make_unique<NpzSource>(setup);
}

}  // namespace paceline::workload
