// SPDX-License-Identifier: MIT
#include "workload/inference/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace paceline::workload {
namespace {

constexpr std::int64_t kThinAbove = 1 << 20;  // elements a sample
constexpr std::int64_t kPositions = 16;

float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float from_fp16(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000U) << 16;
  const int exponent = (h >> 10) & 0x1f;
  const std::uint32_t fraction = h & 0x3ffU;
  if (exponent == 0)
    return std::bit_cast<float>(sign) + (sign ? -1.0F : 1.0F) * static_cast<float>(fraction) * 0x1.0p-24F;
  const std::uint32_t e = exponent == 31 ? 255U : static_cast<std::uint32_t>(exponent + 112);
  return std::bit_cast<float>(sign | e << 23 | fraction << 13);
}

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
      return from_bf16(load<std::uint16_t>(data, i));
    case DType::kFloat16:
      return from_fp16(load<std::uint16_t>(data, i));
    default:
      throw Error(ErrorCode::kData, fmt::format("outputs of type {} cannot be compared", dtype_name(dtype)));
  }
}

double largest_magnitude(const std::vector<float>& v) {
  double m = 0;
  for (float x : v) m = std::max(m, std::abs(static_cast<double>(x)));
  return m;
}

double max_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double m = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    m = std::max(m, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return m;
}

// Mean over samples of each element of a sample's output.
std::vector<double> batch_mean(const ComparedRows& rows) {
  const auto width = static_cast<std::size_t>(rows.positions * rows.length);
  std::vector<double> mean(width, 0.0);
  for (std::size_t i = 0; i < rows.values.size(); ++i) mean[i % width] += static_cast<double>(rows.values[i]);
  for (auto& m : mean) m /= static_cast<double>(rows.samples);
  return mean;
}

result::Number centred_cosine(const ComparedRows& a, const ComparedRows& b) {
  if (a.samples < 2) return result::Number::missing("needs two samples");
  const auto mean_a = batch_mean(a), mean_b = batch_mean(b);
  double worst = 1;
  for (std::size_t s = 0; s < static_cast<std::size_t>(a.samples); ++s) {
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t i = 0; i < mean_a.size(); ++i) {
      const double x = static_cast<double>(a.values[s * mean_a.size() + i]) - mean_a[i];
      const double y = static_cast<double>(b.values[s * mean_b.size() + i]) - mean_b[i];
      ab += x * y, aa += x * x, bb += y * y;
    }
    if (aa == 0 && bb == 0) continue;
    worst = std::min(worst, aa == 0 || bb == 0 ? 0.0 : ab / std::sqrt(aa * bb));
  }
  return worst;
}

double top1_agreement(const ComparedRows& a, const ComparedRows& b) {
  const std::int64_t rows = a.samples * a.positions;
  std::int64_t same = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto begin = r * a.length, end = begin + a.length;
    const auto top_a = std::max_element(a.values.begin() + begin, a.values.begin() + end) - a.values.begin();
    const auto top_b = std::max_element(b.values.begin() + begin, b.values.begin() + end) - b.values.begin();
    if (top_a == top_b) ++same;
  }
  return static_cast<double>(same) / static_cast<double>(rows);
}

}  // namespace

void append_rows(ComparedRows& rows, std::span<const TensorView> outputs, std::int64_t batch) {
  if (outputs.empty()) throw Error(ErrorCode::kData, "the engine returned no output");
  const TensorView& out = outputs.front();
  if (out.shape.empty() || out.shape[0] != batch)
    throw Error(
        ErrorCode::kData,
        fmt::format(
            "the output's first dimension is {}, the batch is {}: the model ignores the batch size asked for",
            out.shape.empty() ? 0 : out.shape[0], batch));
  const std::int64_t per_sample = element_count(out.shape) / batch;
  const std::int64_t length = out.shape.size() > 2 ? out.shape.back() : per_sample;
  const std::int64_t all_positions = per_sample / std::max<std::int64_t>(1, length);
  const std::int64_t positions =
      per_sample > kThinAbove ? std::min(kPositions, all_positions) : all_positions;
  if (rows.samples > 0 && (rows.length != length || rows.positions != positions))
    throw Error(ErrorCode::kData, "the output's shape changes from batch to batch");
  rows.length = length;
  rows.positions = positions;
  rows.samples += batch;
  const auto* data = static_cast<const std::byte*>(out.data);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t p = 0; p < positions; ++p) {
      const std::int64_t at = (b * all_positions + (p + 1) * all_positions / positions - 1) * length;
      for (std::int64_t i = 0; i < length; ++i) {
        const float value = element(data, out.dtype, at + i);
        rows.finite = rows.finite && std::isfinite(value);
        rows.values.push_back(value);
      }
    }
}

result::Correctness compare_outputs(const ComparedRows& a, const ComparedRows& b,
                                    const Tolerance& tolerance) {
  result::Correctness c;
  c.checked = true;
  c.samples = a.samples;
  c.max_rel_err_tolerance = tolerance.max_rel_err;
  c.centred_cosine_tolerance = tolerance.centred_cosine;
  if (a.samples != b.samples || a.positions != b.positions || a.length != b.length) {
    c.detail = fmt::format("output shape [{}, {}, {}] differs from the reference's [{}, {}, {}]", a.samples,
                           a.positions, a.length, b.samples, b.positions, b.length);
    return c;
  }
  if (!a.finite) {
    c.detail = "the output holds NaN or infinity";
    return c;
  }
  const double scale = largest_magnitude(b.values);
  c.max_rel_err = scale > 0 ? max_difference(a.values, b.values) / scale : max_difference(a.values, b.values);
  c.centred_cosine = centred_cosine(a, b);
  c.top1_agreement = top1_agreement(a, b);
  const bool error_ok = *c.max_rel_err <= tolerance.max_rel_err;
  const bool cosine_ok = !c.centred_cosine || *c.centred_cosine >= tolerance.centred_cosine;
  c.passed = error_ok && cosine_ok;
  if (!error_ok)
    c.detail = fmt::format("max error {:.3g} exceeds {:.3g}", *c.max_rel_err, tolerance.max_rel_err);
  if (!cosine_ok)
    c.detail += fmt::format("{}centred cosine {:.6f} is below {:.6f}", c.detail.empty() ? "" : "; ",
                            *c.centred_cosine, tolerance.centred_cosine);
  return c;
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
  ComparedRows rows{shape[0], shape[1], shape[2],
                    std::vector<float>(tensor.as<float>(), tensor.as<float>() + element_count(shape))};
  rows.finite = std::all_of(rows.values.begin(), rows.values.end(), [](float v) { return std::isfinite(v); });
  return rows;
}

}  // namespace paceline::workload
