// SPDX-License-Identifier: MIT
#include "workload/inference/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <thread>

#include "base/error.h"
#include "base/half.h"
#include "base/npy.h"
#include "base/random.h"
#include "host/machine/cpu_choice.h"
#include "host/machine/memory_budget.h"
#include "pass/input_layout.h"
#include "workload/inference/raw_input.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

// "N": any size.
std::string shape_text(const Shape& shape) {
  std::vector<std::string> sizes;
  for (const auto size : shape) sizes.push_back(size < 0 ? "N" : fmt::format("{}", size));
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

// Range of integers, unless values are given.
pass::ValueRange default_range(DType dtype) {
  if (dtype == DType::kUInt8) return {true, 0, 255};
  if (dtype == DType::kInt8) return {true, -128, 127};
  return {true, 1, 1};
}

// Every value is a function of its place, so threads share the work.
void in_parts(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& work) {
  constexpr std::int64_t kPart = 500'000;
  const auto cpus = static_cast<std::int64_t>(host::allowed_cpus().size());
  const auto threads = std::clamp(count / kPart, std::int64_t{1}, std::max(cpus, std::int64_t{1}));
  std::vector<std::jthread> others;
  for (std::int64_t t = 1; t < threads; ++t)
    others.emplace_back(
        [&work, from = count * t / threads, to = count * (t + 1) / threads] { work(from, to); });
  work(0, count / threads);
}

Tensor random_input(const TensorSpec& spec, const pass::ValueRange& range, std::uint64_t seed) {
  Tensor tensor(spec);
  const CounterRng rng(seed, hash64(spec.name));
  const std::int64_t n = element_count(spec.shape);
  const auto fill = [&](auto* data, auto value) {
    in_parts(n, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i)
        data[i] = static_cast<std::decay_t<decltype(*data)>>(value(static_cast<std::uint64_t>(i)));
    });
  };
  const auto whole = range.given ? range : default_range(spec.dtype);
  const auto integer = [&rng, least = static_cast<std::int64_t>(whole.from),
                        count = static_cast<std::uint64_t>(whole.to - whole.from) + 1](std::uint64_t i) {
    return least + static_cast<std::int64_t>(rng.below(i, count));
  };
  const auto real = [&rng, &range](std::uint64_t i) {
    return range.given ? range.from + (range.to - range.from) * rng.uniform(i) : rng.normal(i);
  };
  switch (spec.dtype) {
    case DType::kFloat32:
      fill(tensor.as<float>(), real);
      break;
    case DType::kFloat64:
      fill(tensor.as<double>(), real);
      break;
    case DType::kFloat16:
      fill(tensor.as<std::uint16_t>(),
           [&](std::uint64_t i) { return float_to_half(static_cast<float>(real(i))); });
      break;
    case DType::kBFloat16:  // the upper half of a float32
      fill(tensor.as<std::uint16_t>(),
           [&](std::uint64_t i) { return std::bit_cast<std::uint32_t>(static_cast<float>(real(i))) >> 16; });
      break;
    case DType::kBool:
      fill(tensor.as<bool>(), [&](std::uint64_t i) { return integer(i) != 0; });
      break;
    case DType::kInt64:
      fill(tensor.as<std::int64_t>(), integer);
      break;
    case DType::kInt32:
      fill(tensor.as<std::int32_t>(), integer);
      break;
    case DType::kInt16:
      fill(tensor.as<std::int16_t>(), integer);
      break;
    case DType::kInt8:
      fill(tensor.as<std::int8_t>(), integer);
      break;
    case DType::kUInt64:
      fill(tensor.as<std::uint64_t>(), integer);
      break;
    case DType::kUInt32:
      fill(tensor.as<std::uint32_t>(), integer);
      break;
    case DType::kUInt16:
      fill(tensor.as<std::uint16_t>(), integer);
      break;
    case DType::kUInt8:
      fill(tensor.as<std::uint8_t>(), integer);
      break;
  }
  return tensor;
}

pass::ValueRange range_of(const pass::InputRequest& request, std::size_t i) {
  return i < request.ranges.size() ? request.ranges[i] : pass::ValueRange{};
}

// A size below 0 is any.
bool fits(const Shape& shape, const Shape& wanted) {
  return std::equal(shape.begin(), shape.end(), wanted.begin(), wanted.end(),
                    [](auto size, auto want) { return want < 0 || size == want; });
}

std::int64_t rows_of(const Tensor& tensor) {
  return tensor.spec().shape.empty() ? 0 : tensor.spec().shape[0];
}

// An array of a file for an input, as it is stored. `spec` is the input's, with any number of samples.
Tensor as_input(Tensor loaded, const TensorSpec& spec, std::int64_t batch_dimension,
                const std::string& origin) {
  const Shape have = loaded.spec().shape;
  const auto needs = [&](std::int64_t samples) {
    return pass::model_shape(spec.shape, batch_dimension, samples);
  };
  const bool batched = batch_dimension != pass::kNoBatch;
  const bool deep_enough = static_cast<std::int64_t>(have.size()) > batch_dimension;
  const std::int64_t rows = batched && deep_enough ? have[static_cast<std::size_t>(batch_dimension)] : 1;
  if (batched && deep_enough && rows < 1)
    throw Error(ErrorCode::kData,
                fmt::format("'{}' contains no samples for input '{}': its shape is {}{}", origin, spec.name,
                            shape_text(have),
                            have.size() > 1
                                ? ""
                                : fmt::format("; where the model takes it empty, write --shapes '{}:0:{}'",
                                              spec.name, dtype_name(spec.dtype))));
  const bool one_number = !batched && element_count(have) == 1 && element_count(needs(1)) == 1;
  if (loaded.spec().dtype != spec.dtype || (!fits(have, needs(rows)) && !one_number))
    throw Error(ErrorCode::kData, fmt::format("'{}' contains {} {} for input '{}', the model needs {} {}",
                                              origin, dtype_name(loaded.spec().dtype), shape_text(have),
                                              spec.name, dtype_name(spec.dtype), shape_text(needs(rows))));
  return pass::to_stored(std::move(loaded), batch_dimension);
}

// Cuts stored samples to the number wanted, or repeats them to it.
Tensor fit_samples(const Tensor& stored, TensorSpec spec, std::int64_t samples) {
  spec.shape = stored.spec().shape;
  spec.shape.at(0) = samples;
  Tensor tensor(spec);
  const auto have = static_cast<std::size_t>(rows_of(stored));
  const std::size_t sample_bytes = stored.size_bytes() / have;
  for (std::size_t i = 0; i < static_cast<std::size_t>(samples); ++i)
    std::memcpy(tensor.data() + i * sample_bytes, stored.data() + i % have * sample_bytes, sample_bytes);
  return tensor;
}

// The number of samples: at most those that are given, in whole batches.
std::int64_t samples_made(std::int64_t wanted, std::int64_t given, std::int64_t batch) {
  return std::min(wanted, (given + batch - 1) / batch * batch);
}

struct GivenArray {
  Tensor tensor;
  std::string origin;  // the array as the user wrote it
  bool named = false;  // whether the user named the input
};

// A name picks the array of that name out of an .npz, or names the only array of a file.
GivenArray named_array(std::vector<Tensor> arrays, const std::string& name, const std::string& text) {
  const auto same = [&](const Tensor& array) { return array.spec().name == name; };
  auto found = std::find_if(arrays.begin(), arrays.end(), same);
  if (found == arrays.end() && arrays.size() == 1) found = arrays.begin();
  if (found == arrays.end()) {
    std::vector<std::string> names;
    for (const auto& array : arrays) names.push_back(array.spec().name);
    throw Error(ErrorCode::kData,
                fmt::format("'{}' names '{}', and the file contains several other arrays: {}", text, name,
                            fmt::join(names, ", ")));
  }
  found->rename(name);
  return {std::move(*found), text, true};
}

std::uintmax_t bytes_in(const std::string& file) {
  std::error_code ignored;
  if (!is_raw_file(file)) return npy_or_npz_bytes(file);
  return fs::is_regular_file(file, ignored) ? fs::file_size(file, ignored) : 0;
}

// A small .npz can hold huge arrays, and memory holds each twice: as the file has it, and as inputs.
void require_room_for(const std::vector<std::string>& files) {
  double bytes = 0;
  for (const auto& text : files) bytes += 2 * static_cast<double>(bytes_in(name_and_file(text).second));
  host::require_memory(bytes, fmt::format("the arrays of '{}'", fmt::join(files, "', '")));
}

std::string input_names(const pass::InputRequest& request) {
  std::vector<std::string> names;
  for (const auto& spec : request.specs) names.push_back(spec.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// A file of numbers has the type and shape of the input that it is for: the one named, else the only one.
GivenArray raw_array(const pass::InputRequest& request, const std::string& name, const std::string& file,
                     const std::string& text) {
  const auto same = [&](const TensorSpec& spec) { return spec.name == name; };
  const auto found = name.empty() && request.specs.size() == 1
                         ? request.specs.begin()
                         : std::find_if(request.specs.begin(), request.specs.end(), same);
  if (found == request.specs.end())
    throw Error(ErrorCode::kData, fmt::format("'{}' {}; the model's inputs are {}: write {}:FILE.bin", text,
                                              name.empty() ? "does not say which input it is for"
                                                           : "names no input of the model",
                                              input_names(request), request.specs.front().name));
  const auto place = static_cast<std::size_t>(found - request.specs.begin());
  const auto batch = pass::batch_dimension_of(request.batch_dimensions, place);
  return {read_raw_input(file, *found, batch, text), text, true};
}

std::vector<GivenArray> read_arrays(const pass::InputRequest& request) {
  require_room_for(request.load_inputs);
  std::vector<GivenArray> given;
  for (const auto& text : request.load_inputs) {
    const auto [name, file] = name_and_file(text);
    if (is_raw_file(file)) {
      given.push_back(raw_array(request, name, file, text));
      continue;
    }
    auto arrays = read_npy_or_npz(file);
    if (!name.empty())
      given.push_back(named_array(std::move(arrays), name, text));
    else
      for (auto& array : arrays) given.push_back({std::move(array), text, false});
  }
  return given;
}

// Every given array must belong to an input: what is given is used, or an error.
void check_names(const pass::InputRequest& request, const std::vector<GivenArray>& given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto& name = given[i].tensor.spec().name;
    const auto same = [&](const auto& spec) { return spec.name == name; };
    if (std::none_of(request.specs.begin(), request.specs.end(), same))
      throw Error(ErrorCode::kData,
                  fmt::format("'{}' brings an array '{}', and the model has no such input; its inputs are "
                              "{}: write {}:FILE.npy",
                              given[i].origin, name, input_names(request), request.specs.front().name));
    for (std::size_t j = 0; j < i; ++j)
      if (given[j].tensor.spec().name == name)
        throw Error(ErrorCode::kData, fmt::format("'{}' and '{}' both bring the input '{}'; keep one",
                                                  given[j].origin, given[i].origin, name));
  }
}

// An input that no array brings: made where its values are given and it has no batch.
Tensor missing_input(const pass::InputRequest& request, std::size_t i) {
  const auto& spec = request.specs[i];
  const bool same_for_all = pass::batch_dimension_of(request.batch_dimensions, i) == pass::kNoBatch;
  if (same_for_all && range_of(request, i).given)
    return random_input(spec, range_of(request, i), request.seed);
  throw Error(
      ErrorCode::kData,
      fmt::format("'{}' has no array named '{}'; name the arrays of an .npz after the model's inputs, or "
                  "write {}:FILE.npy{}",
                  fmt::join(request.load_inputs, ", "), spec.name, spec.name,
                  same_for_all ? fmt::format(", or --input-values {}:VALUE", spec.name) : ""));
}

// One array for each input, as stored, in the order of the inputs.
std::vector<Tensor> given_inputs(const pass::InputRequest& request) {
  auto given = read_arrays(request);
  if (request.specs.size() == 1 && given.size() == 1 && !given.front().named)
    given.front().tensor.rename(request.specs.front().name);
  check_names(request, given);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < request.specs.size(); ++i) {
    const auto& spec = request.specs[i];
    const auto found = std::find_if(given.begin(), given.end(),
                                    [&](const auto& array) { return array.tensor.spec().name == spec.name; });
    if (found == given.end()) {
      inputs.push_back(missing_input(request, i));
      continue;
    }
    inputs.push_back(as_input(std::move(found->tensor), spec,
                              pass::batch_dimension_of(request.batch_dimensions, i), found->origin));
  }
  return inputs;
}

// Number of samples of those inputs that have any; one sample stands for all.
std::int64_t samples_of(const pass::InputRequest& request, const std::vector<Tensor>& inputs) {
  std::int64_t most = 1;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (pass::batch_dimension_of(request.batch_dimensions, i) != pass::kNoBatch)
      most = std::max(most, rows_of(inputs[i]));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const auto rows = rows_of(inputs[i]); rows != 1 && rows != most)
      throw Error(ErrorCode::kData,
                  fmt::format("the arrays contain {} samples of '{}' and {} of another input", rows,
                              request.specs[i].name, most));
  return most;
}

std::vector<Tensor> load_files(const pass::InputRequest& request) {
  const auto given = given_inputs(request);
  const auto samples = samples_of(request, given);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < request.specs.size(); ++i) {
    const auto& spec = request.specs[i];
    const bool same_for_all = pass::batch_dimension_of(request.batch_dimensions, i) == pass::kNoBatch;
    inputs.push_back(fit_samples(given[i], spec,
                                 same_for_all ? 1 : samples_made(spec.shape.at(0), samples, request.batch)));
  }
  return inputs;
}

Tensor images_in_batches(const pass::InputRequest& request, TensorSpec spec, result::PictureTimes* times) {
  const Tensor images = load_images(request.image_dir, spec, request.image_format, times);
  return fit_samples(images, spec, samples_made(spec.shape.at(0), rows_of(images), request.batch));
}

// Memory for all of them, and for the largest once more while it is written.
double bytes_of(const std::vector<TensorSpec>& specs) {
  double sum = 0, largest = 0;
  for (const auto& spec : specs) {
    double bytes = static_cast<double>(dtype_size_bytes(spec.dtype));
    for (const auto size : spec.shape) bytes *= static_cast<double>(size);
    sum += bytes;
    largest = std::max(largest, bytes);
  }
  return sum + largest;
}

}  // namespace

std::int64_t samples_given(const pass::InputRequest& request) {
  if (!request.image_dir.empty()) return count_images(request.image_dir);
  return request.load_inputs.empty() ? 0 : samples_of(request, given_inputs(request));
}

std::vector<Tensor> make_inputs(const pass::InputRequest& request, result::PictureTimes* times) {
  if (!request.load_inputs.empty()) return load_files(request);
  if (request.image_dir.empty()) host::require_memory(bytes_of(request.specs), "the inputs");
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < request.specs.size(); ++i) {
    if (!request.image_dir.empty() && request.specs.size() == 1)
      inputs.push_back(images_in_batches(request, request.specs[i], times));
    else if (!request.image_dir.empty())
      throw Error(ErrorCode::kConfig,
                  fmt::format("the images of '{}' need a model with one image input, this one has '{}'",
                              request.image_dir.string(), request.specs[i].name));
    else
      inputs.push_back(random_input(request.specs[i], range_of(request, i), request.seed));
  }
  return inputs;
}

}  // namespace paceline::workload
