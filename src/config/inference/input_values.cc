// SPDX-License-Identifier: MIT
#include "config/inference/input_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace paceline::config {
namespace {

constexpr std::string_view kBelowBatch = "{batch}-1", kTo = "..";
constexpr double kLargestWhole = 9e15;  // a double holds every whole number up to there

[[noreturn]] void bad_values(std::string_view item, const std::string& why) {
  throw Error(ErrorCode::kConfig,
              fmt::format("input_values '{}' {}; write NAME:VALUE or NAME:FROM..TO, e.g. sr:16000,ids:0..999",
                          item, why));
}

double number(std::string_view text, std::string_view item) {
  const auto value = parse_double(std::string(text));
  if (!value || !std::isfinite(*value)) bad_values(item, fmt::format("has '{}', which is no number", text));
  return *value;
}

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

struct Bounds {
  double least, most;
};

Bounds bounds_of(DType dtype) {
  if (dtype == DType::kBool) return {0, 1};
  const bool is_unsigned = dtype_name(dtype).starts_with('u');
  const auto bits = static_cast<int>(8 * dtype_size_bytes(dtype));
  const double above = std::ldexp(1.0, is_unsigned ? bits : bits - 1);
  return {is_unsigned ? 0 : -std::min(above, kLargestWhole), std::min(above - 1, kLargestWhole)};
}

}  // namespace

InputValues parse_input_values(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) bad_values(text, "names no input");
  InputValues values{std::string(text.substr(0, colon))};
  const auto range = text.substr(colon + 1);
  const auto dots = range.find(kTo);
  values.from = number(range.substr(0, dots), text);
  const auto to = dots == std::string_view::npos ? range : range.substr(dots + kTo.size());
  values.below_batch = to == kBelowBatch;
  values.to = values.below_batch ? values.from : number(to, text);
  if (values.to < values.from) bad_values(text, "has an upper end below its lower end");
  return values;
}

std::string input_values_text(const InputValues& values) {
  if (values.below_batch) return fmt::format("{}:{}{}{}", values.name, values.from, kTo, kBelowBatch);
  if (values.from == values.to) return fmt::format("{}:{}", values.name, values.from);
  return fmt::format("{}:{}{}{}", values.name, values.from, kTo, values.to);
}

bool needs_values(DType dtype) {
  return !is_float(dtype) && dtype != DType::kBool;
}

void check_values(const InputValues& values, DType dtype) {
  if (is_float(dtype)) return;
  const auto bounds = bounds_of(dtype);
  for (const auto value : {values.from, values.to})
    if (value != std::floor(value) || value < bounds.least || value > bounds.most)
      bad_values(input_values_text(values),
                 fmt::format("has {}, and '{}' is {}", value, values.name, dtype_name(dtype)));
}

std::optional<InputValues> declared_values(const DeclaredInput& input, std::span<const InputShape> inputs) {
  auto limit = input.id_limit;
  bool below_batch = false;
  for (const auto& [name, dimension] : input.indexes) {
    const auto found = std::ranges::find(inputs, name, &InputShape::name);
    if (found == inputs.end() || dimension >= found->shape.size()) continue;
    const auto size = found->shape[dimension];
    if (size == kBatchSize) below_batch = true;
    if (size > 0) limit = limit == 0 ? size : std::min(limit, size);
  }
  if (below_batch) return InputValues{input.name, 0, 0, true};
  if (limit == 0) return std::nullopt;
  if (input.dtype) limit = std::min(limit, static_cast<std::int64_t>(bounds_of(*input.dtype).most) + 1);
  return InputValues{input.name, 0, static_cast<double>(limit - 1)};
}

}  // namespace paceline::config
