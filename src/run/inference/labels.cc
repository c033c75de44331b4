// SPDX-License-Identifier: MIT
#include "run/inference/labels.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/npy.h"
#include "base/text.h"
#include "host/memory_budget.h"

namespace paceline::run {
namespace {

template <typename T>
std::vector<std::int64_t> to_integers(const Tensor& tensor) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < element_count(tensor.spec().shape); ++i)
    values.push_back(static_cast<std::int64_t>(tensor.as<T>()[i]));
  return values;
}

std::vector<std::int64_t> integers_of(const Tensor& tensor, const std::string& file) {
  const bool flat = tensor.spec().shape.size() == 1;
  if (flat && tensor.spec().dtype == DType::kInt64) return to_integers<std::int64_t>(tensor);
  if (flat && tensor.spec().dtype == DType::kInt32) return to_integers<std::int32_t>(tensor);
  if (flat && tensor.spec().dtype == DType::kUInt8) return to_integers<std::uint8_t>(tensor);
  throw Error(ErrorCode::kData,
              fmt::format("labels '{}' hold {} [{}]; one dimension of int64, int32 or uint8 is needed", file,
                          dtype_name(tensor.spec().dtype), fmt::join(tensor.spec().shape, ", ")));
}

std::vector<std::int64_t> read_lines(const std::string& file) {
  std::vector<std::int64_t> labels;
  std::size_t line = 0;
  for (const auto& text : split(read_file(file), '\n')) {
    ++line;
    if (trim(text).empty()) continue;
    const auto label = parse_int(trim(text));
    if (!label)
      throw Error(ErrorCode::kData,
                  fmt::format("labels '{}', line {}: '{}' is no integer; write one class index a line", file,
                              line, std::string(trim(text)).substr(0, 40)));
    labels.push_back(*label);
  }
  return labels;
}

}  // namespace

std::vector<std::int64_t> read_labels(const std::string& file) {
  constexpr double kLine = 48;  // bytes of memory per line, its text and its number
  const bool array = file.ends_with(".npy");
  std::error_code pipe;  // a pipe has no size, and is read up to a limit
  const auto size = std::filesystem::file_size(file, pipe);
  if (!pipe)
    host::require_memory(
        array ? 2 * static_cast<double>(npy_or_npz_bytes(file)) : kLine / 2 * static_cast<double>(size),
        fmt::format("the labels of '{}'", file));
  auto labels = array ? integers_of(read_npy(file), file) : read_lines(file);
  if (labels.empty()) throw Error(ErrorCode::kData, fmt::format("labels '{}' is empty", file));
  return labels;
}

}  // namespace paceline::run
