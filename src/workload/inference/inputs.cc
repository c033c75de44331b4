// SPDX-License-Identifier: MIT
#include "workload/inference/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/npy.h"
#include "base/random.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

std::string shape_text(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Tensor random_input(const TensorSpec& spec, std::int64_t id_limit, std::uint64_t seed) {
  Tensor tensor(spec);
  const CounterRng rng(seed, hash64(spec.name));
  const std::int64_t n = element_count(spec.shape);
  const auto fill = [&](auto* data, auto value) {
    for (std::int64_t i = 0; i < n; ++i)
      data[i] = static_cast<std::decay_t<decltype(*data)>>(value(static_cast<std::uint64_t>(i)));
  };
  const auto integer = [&](std::uint64_t i) {
    return id_limit > 0 ? static_cast<std::int64_t>(rng.below(i, static_cast<std::uint64_t>(id_limit))) : 1;
  };
  switch (spec.dtype) {
    case DType::kFloat32:
      fill(tensor.as<float>(), [&](std::uint64_t i) { return rng.normal(i); });
      break;
    case DType::kFloat64:
      fill(tensor.as<double>(), [&](std::uint64_t i) { return rng.normal(i); });
      break;
    case DType::kInt64:
      fill(tensor.as<std::int64_t>(), integer);
      break;
    case DType::kInt32:
      fill(tensor.as<std::int32_t>(), integer);
      break;
    case DType::kBool:
      fill(tensor.as<bool>(), [](std::uint64_t) { return true; });
      break;
    case DType::kUInt8:
      fill(tensor.as<std::uint8_t>(), [&](std::uint64_t i) { return rng.below(i, 256); });
      break;
    default:
      throw Error(ErrorCode::kConfig, fmt::format("input '{}' of type {}: random data is made for float32, "
                                                  "float64, int32, int64, uint8 and bool; "
                                                  "use --load-inputs",
                                                  spec.name, dtype_name(spec.dtype)));
  }
  return tensor;
}

// Cuts loaded samples to the number wanted, or repeats them to it, checking everything but dimension 0.
Tensor fit_samples(const Tensor& loaded, const TensorSpec& spec, const fs::path& origin) {
  const Shape& have = loaded.spec().shape;
  if (!have.empty() && have[0] < 1)
    throw Error(ErrorCode::kData, fmt::format("'{}' holds no samples for input '{}': its shape is {}",
                                              origin.string(), spec.name, shape_text(have)));
  const bool same_tail = have.size() == spec.shape.size() && !have.empty() &&
                         std::equal(have.begin() + 1, have.end(), spec.shape.begin() + 1);
  if (!same_tail || loaded.spec().dtype != spec.dtype)
    throw Error(ErrorCode::kData,
                fmt::format("'{}' holds {} {} for input '{}', the model needs {} {}", origin.string(),
                            dtype_name(loaded.spec().dtype), shape_text(have), spec.name,
                            dtype_name(spec.dtype), shape_text(spec.shape)));
  Tensor tensor(spec);
  const std::size_t sample_bytes = loaded.size_bytes() / static_cast<std::size_t>(have[0]);
  for (std::int64_t i = 0; i < spec.shape[0]; ++i)
    std::memcpy(tensor.data() + static_cast<std::size_t>(i) * sample_bytes,
                loaded.data() + static_cast<std::size_t>(i % have[0]) * sample_bytes, sample_bytes);
  return tensor;
}

// No more than are given, in whole batches.
std::int64_t samples_made(std::int64_t wanted, std::int64_t given, std::int64_t batch) {
  return std::min(wanted, (given + batch - 1) / batch * batch);
}

std::int64_t rows_of(const Tensor& tensor) {
  return tensor.spec().shape.empty() ? 0 : tensor.spec().shape[0];
}

// "x.npy", or "name:x.npy" which names the input whatever the file says.
std::vector<Tensor> read_arrays(const std::vector<std::string>& files) {
  std::vector<Tensor> arrays;
  for (const auto& text : files) {
    const auto colon = text.find(':');
    const bool named = colon != std::string::npos && !fs::exists(text);
    for (auto& array : read_npy_or_npz(named ? text.substr(colon + 1) : text)) {
      if (named) array.rename(text.substr(0, colon));
      arrays.push_back(std::move(array));
    }
  }
  return arrays;
}

std::vector<Tensor> load_files(const InputRequest& request) {
  const auto arrays = read_arrays(request.load_inputs);
  const auto origin = fmt::format("{}", fmt::join(request.load_inputs, ", "));
  std::int64_t given = 0;
  for (const auto& array : arrays) given = std::max(given, rows_of(array));
  std::vector<Tensor> inputs;
  for (TensorSpec spec : request.specs) {
    spec.shape.at(0) = samples_made(spec.shape.at(0), given, request.batch);
    const auto named = std::find_if(arrays.begin(), arrays.end(),
                                    [&](const Tensor& t) { return t.spec().name == spec.name; });
    const bool only_one = request.specs.size() == 1 && arrays.size() == 1;
    if (named == arrays.end() && !only_one)
      throw Error(ErrorCode::kData, fmt::format("'{}' has no array named '{}'; name the arrays of an .npz "
                                                "after the model's inputs, or write {}:FILE.npy",
                                                origin, spec.name, spec.name));
    inputs.push_back(fit_samples(named == arrays.end() ? arrays.front() : *named, spec, origin));
  }
  return inputs;
}

Tensor images_in_batches(const InputRequest& request, TensorSpec spec) {
  const Tensor images = load_images(request.image_dir, spec);
  spec.shape.at(0) = samples_made(spec.shape.at(0), rows_of(images), request.batch);
  return fit_samples(images, spec, request.image_dir);
}

}  // namespace

std::int64_t samples_given(const InputRequest& request) {
  if (!request.image_dir.empty()) return count_images(request.image_dir);
  std::int64_t given = 0;
  for (const auto& array : read_arrays(request.load_inputs)) given = std::max(given, rows_of(array));
  return given;
}

std::vector<Tensor> make_inputs(const InputRequest& request) {
  if (!request.load_inputs.empty()) return load_files(request);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < request.specs.size(); ++i) {
    const bool image = request.specs[i].shape.size() == 4 && request.specs[i].dtype == DType::kFloat32;
    if (!request.image_dir.empty() && request.specs.size() == 1 && image)
      inputs.push_back(images_in_batches(request, request.specs[i]));
    else if (!request.image_dir.empty())
      throw Error(ErrorCode::kConfig,
                  fmt::format("image_dir needs a model with one image input, this one has '{}'",
                              request.specs[i].name));
    else
      inputs.push_back(random_input(request.specs[i], i < request.id_limits.size() ? request.id_limits[i] : 0,
                                    request.seed));
  }
  return inputs;
}

}  // namespace paceline::workload
