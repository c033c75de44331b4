// SPDX-License-Identifier: MIT
#include "workload/inference/gate/compared_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/half.h"

namespace paceline::workload {
namespace {

constexpr std::int64_t kPositions = 16;
constexpr std::size_t kMapRank = 4;  // an output with this many dimensions, batch included, is a map

template <typename T>
T load(const std::byte* data, std::int64_t i) {
  T value;
  std::memcpy(&value, data + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

float element(const std::byte* data, DType dtype, std::int64_t i) {
  switch (dtype) {
    case DType::kFloat32:
      return load<float>(data, i);
    case DType::kFloat64:
      return static_cast<float>(load<double>(data, i));
    case DType::kBFloat16:
      return bfloat16_to_float(load<std::uint16_t>(data, i));
    case DType::kFloat16:
      return half_to_float(load<std::uint16_t>(data, i));
    case DType::kInt64:
      return static_cast<float>(load<std::int64_t>(data, i));
    case DType::kInt32:
      return static_cast<float>(load<std::int32_t>(data, i));
    case DType::kUInt8:
      return static_cast<float>(load<std::uint8_t>(data, i));
    case DType::kInt8:
      return static_cast<float>(load<std::int8_t>(data, i));
    case DType::kInt16:
      return load<std::int16_t>(data, i);
    case DType::kUInt16:
      return load<std::uint16_t>(data, i);
    case DType::kUInt32:
      return static_cast<float>(load<std::uint32_t>(data, i));
    case DType::kUInt64:
      return static_cast<float>(load<std::uint64_t>(data, i));
    case DType::kBool:
      return load<std::uint8_t>(data, i) ? 1.0F : 0.0F;
  }
  throw Error(ErrorCode::kInternal, "an output of a type nobody knows");
}

// How the elements of one sample lie in rows.
struct RowLayout {
  std::int64_t length, all, kept;
};

// A batch of one need not have a dimension of its own.
Shape sample_shape_of(const TensorView& out, std::int64_t batch) {
  const bool has_batch = !out.shape.empty() && out.shape[0] == batch;
  return {out.shape.begin() + (has_batch ? 1 : 0), out.shape.end()};
}

RowLayout layout_of(const ComparedRows& rows, const TensorView& out, std::int64_t batch) {
  const std::int64_t per_sample = element_count(out.shape) / batch;
  const std::int64_t length = sample_shape_of(out, batch).size() > 1 ? out.shape.back() : per_sample;
  const std::int64_t all = per_sample / length;
  const std::int64_t most =
      out.shape.size() >= kMapRank ? std::max(kPositions, kThinAbove / length) : kPositions;
  const std::int64_t thinned = per_sample > kThinAbove ? std::min(most, all) : all;
  const std::int64_t room = rows.room / (std::max(rows.samples_planned, batch) * length);
  return {length, all, std::max<std::int64_t>(1, std::min(thinned, room))};
}

// Called before any element is read.
void check_type(const ComparedRows& rows, const TensorView& out) {
  const bool known = std::any_of(std::begin(kDTypes), std::end(kDTypes),
                                 [&](const DTypeRow& row) { return row.dtype == out.dtype; });
  if (!known)
    throw Error(ErrorCode::kData,
                fmt::format("the output's element type is no type: number {}", static_cast<int>(out.dtype)));
  if (rows.dtype && *rows.dtype != out.dtype)
    throw Error(ErrorCode::kData,
                fmt::format("the output's element type changes from batch to batch: {}, then {}",
                            dtype_name(*rows.dtype), dtype_name(out.dtype)));
  if (out.data == nullptr) throw Error(ErrorCode::kData, "the engine returned an output without data");
  if (!is_contiguous(out))
    throw Error(ErrorCode::kData, "the engine returned an output that is not contiguous (strides)");
}

void set_shape(ComparedRows& rows, const TensorView& out, std::int64_t batch, const RowLayout& layout) {
  rows.name = out.name;
  rows.dtype = out.dtype;
  rows.sample_shape = sample_shape_of(out, batch);
  rows.length = layout.length;
  rows.positions = layout.kept;
  rows.all_positions = layout.all;
  rows.values.reserve(static_cast<std::size_t>(rows.samples_planned * layout.kept * layout.length));
}

void append_row(ComparedRows& rows, const TensorView& out, std::int64_t at) {
  const auto* data = static_cast<const std::byte*>(out.data);
  for (std::int64_t i = 0; i < rows.length; ++i) rows.values.push_back(element(data, out.dtype, at + i));
}

}  // namespace

std::int64_t first_not_finite(const TensorView& out) {
  const auto* data = static_cast<const std::byte*>(out.data);
  const std::int64_t n = element_count(out.shape);
  for (std::int64_t i = 0; i < n; ++i)
    if (!std::isfinite(element(data, out.dtype, i))) return i;
  return -1;
}

bool is_contiguous(const TensorView& out) {
  if (out.strides.empty()) return true;
  if (out.strides.size() != out.shape.size()) return false;
  std::int64_t expected = 1;
  for (std::size_t i = out.shape.size(); i-- > 0; expected *= out.shape[i])
    if (out.shape[i] != 1 && out.strides[i] != expected) return false;
  return true;
}

// With a batch of one the output is one sample, whatever its shape.
std::string shape_problem(const ComparedRows& rows, const TensorView& out, std::int64_t batch) {
  const bool follows = batch == 1 || (!out.shape.empty() && out.shape[0] == batch);
  if (follows && element_count(out.shape) <= 0)
    return fmt::format("the output has no elements: its shape is [{}]", fmt::join(out.shape, ", "));
  if (!follows)
    return fmt::format(
        "the output's first dimension is {}, the batch is {}: the model ignores the batch size asked for",
        out.shape.empty() ? 0 : out.shape[0], batch);
  const auto layout = layout_of(rows, out, batch);
  const bool same = rows.samples == 0 || (rows.length == layout.length && rows.positions == layout.kept);
  return same ? "" : "the output's shape changes from batch to batch";
}

void append_output(ComparedRows& rows, const TensorView& out, std::int64_t batch) {
  if (const auto problem = shape_problem(rows, out, batch); !problem.empty())
    throw Error(ErrorCode::kData, problem);
  check_type(rows, out);
  const auto layout = layout_of(rows, out, batch);
  set_shape(rows, out, batch, layout);
  rows.samples += batch;
  rows.finite = rows.finite && first_not_finite(out) < 0;  // also of elements that are not kept
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t p = 0; p < layout.kept; ++p)
      append_row(rows, out, (b * layout.all + (p + 1) * layout.all / layout.kept - 1) * layout.length);
}

void append_rows(ComparedRows& rows, std::span<const TensorView> outputs, std::int64_t batch) {
  if (outputs.empty()) throw Error(ErrorCode::kData, "the engine returned no output");
  append_output(rows, outputs.front(), batch);
}

namespace {

std::vector<bool> select_flips(const ComparedRows& rows, std::span<const std::int64_t> samples) {
  const auto& flips = rows.yardstick->flips;
  std::vector<bool> chosen;
  if (flips.empty()) return chosen;
  const std::int64_t width = rows.positions * rows.length;
  for (const std::int64_t index : samples)
    chosen.insert(chosen.end(), flips.begin() + index * width, flips.begin() + (index + 1) * width);
  return chosen;
}

}  // namespace

ComparedRows select_samples(const ComparedRows& rows, std::span<const std::int64_t> samples) {
  ComparedRows chosen{static_cast<std::int64_t>(samples.size()),
                      rows.positions,
                      rows.length,
                      {},
                      true,
                      0,
                      rows.all_positions,
                      rows.dtype,
                      rows.name,
                      rows.sample_shape};
  for (const std::int64_t index : samples) {
    const auto sample = rows.sample(index);
    chosen.values.insert(chosen.values.end(), sample.begin(), sample.end());
  }
  chosen.finite = rows.finite;
  chosen.yardstick = rows.yardstick;
  if (chosen.yardstick) chosen.yardstick->flips = select_flips(rows, samples);
  return chosen;
}

Tensor to_tensor(const ComparedRows& rows) {
  Tensor tensor({"reference", DType::kFloat32, {rows.samples, rows.positions, rows.length}});
  std::memcpy(tensor.data(), rows.values.data(), tensor.size_bytes());
  return tensor;
}

ComparedRows to_rows(const Tensor& tensor) {
  const Shape& shape = tensor.spec().shape;
  if (shape.size() != 3 || tensor.spec().dtype != DType::kFloat32)
    throw Error(ErrorCode::kInternal, "a reference file has the wrong shape");
  ComparedRows rows{
      shape[0], shape[1],
      shape[2], std::vector<float>(tensor.as<float>(), tensor.as<float>() + element_count(shape)),
      true,     0,
      shape[1], {}};
  rows.finite = std::all_of(rows.values.begin(), rows.values.end(), [](float v) { return std::isfinite(v); });
  return rows;
}

}  // namespace paceline::workload
