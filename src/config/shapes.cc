// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 34;

[[noreturn]] void bad(std::string_view item, const std::string& why) {
  throw Error(ErrorCode::kConfig,
              fmt::format("shape '{}' {}; write NAME:DIMxDIM[:DTYPE], e.g. input:8x3x224x224,ids:8x128:int64",
                          item, why));
}

Shape parse_dims(std::string_view dims, std::string_view item) {
  Shape shape;
  std::int64_t elements = 1;
  for (const auto& part : split(dims, 'x')) {
    const auto size = parse_int(part);
    if (!size || *size < 1)
      bad(item, fmt::format("has the dimension '{}', which is no positive whole number", part));
    if (*size > kMaxElements / elements) bad(item, "has more than 2^34 elements");
    elements *= *size;
    shape.push_back(*size);
  }
  return shape;
}

TensorSpec parse_one(std::string_view item) {
  const auto parts = split(item, ':');
  if (parts.size() < 2 || parts.size() > 3 || parts[0].empty()) bad(item, "is incomplete");
  const auto dtype = parse_dtype(parts.size() == 3 ? parts[2] : "float32");
  if (!dtype)
    bad(item, fmt::format("has the unknown dtype '{}' (float32, int64, int32, float16, …)", parts[2]));
  return {parts[0], *dtype, parse_dims(parts[1], item)};
}

}  // namespace

std::vector<TensorSpec> parse_shapes(std::string_view text) {
  std::vector<TensorSpec> specs;
  for (const auto& item : split(text, ',')) {
    auto spec = parse_one(trim(item));
    for (const auto& other : specs)
      if (other.name == spec.name) bad(item, "names an input twice");
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace paceline::config
