// SPDX-License-Identifier: MIT
#include "workload/inference/raw_input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "pass/input_layout.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 3> kRawEndings{".bin", ".raw", ".dat"};
constexpr std::array<std::string_view, 2> kArrayBeginnings{"\x93NUMPY", "PK\x03\x04"};

std::int64_t bytes_per_sample(const TensorSpec& spec, const Shape& shape, const std::string& origin) {
  if (std::ranges::any_of(shape, [](auto size) { return size < 0; }))
    throw Error(ErrorCode::kData, fmt::format("'{}' is a file of numbers, and input '{}' has no fixed shape; "
                                              "write --shapes {}:…",
                                              origin, spec.name, spec.name));
  return element_count(shape) * static_cast<std::int64_t>(dtype_size_bytes(spec.dtype));
}

}  // namespace

bool is_raw_file(const fs::path& file) {
  if (std::ranges::find(kRawEndings, file.extension().string()) == kRawEndings.end()) return false;
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return true;  // reading it says what is wrong
  std::string beginning(kArrayBeginnings[0].size(), '\0');
  std::ifstream(file, std::ios::binary).read(beginning.data(), std::ssize(beginning));
  return std::ranges::none_of(kArrayBeginnings, [&](auto word) { return beginning.starts_with(word); });
}

Tensor read_raw_input(const fs::path& file, const TensorSpec& spec, std::int64_t batch_dimension,
                      const std::string& origin) {
  std::error_code error;
  if (!fs::is_regular_file(file, error))
    throw Error(ErrorCode::kData, fmt::format("'{}' is no file", file.string()));
  const auto have = static_cast<std::int64_t>(fs::file_size(file, error));
  const Shape sample = pass::model_shape(spec.shape, batch_dimension, 1);
  const auto need = bytes_per_sample(spec, sample, origin);
  const bool whole = need > 0 && have > 0 && have % need == 0;
  if (error || !whole || (batch_dimension == pass::kNoBatch && have != need))
    throw Error(ErrorCode::kData,
                fmt::format("'{}' has {} bytes, and input '{}' takes {}{}: {} [{}]; the file contains the "
                            "numbers alone, in the model's type and layout",
                            origin, have, spec.name, need,
                            batch_dimension == pass::kNoBatch ? "" : " per sample, or a multiple of it",
                            dtype_name(spec.dtype), fmt::join(sample, ", ")));
  TensorSpec stored = spec;
  stored.shape = pass::model_shape(spec.shape, batch_dimension, have / need);
  Tensor tensor(stored);
  std::ifstream in(file, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(tensor.data()), have))
    throw Error(ErrorCode::kIo, fmt::format("cannot read '{}'", file.string()));
  return tensor;
}

}  // namespace paceline::workload
