// SPDX-License-Identifier: MIT
#include "config/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/text.h"

namespace paceline::config {
namespace {

constexpr std::string_view kBatchMark = "{batch}", kScalarWord = "scalar", kNoInputs = "none";

[[noreturn]] void bad(std::string_view item, const std::string& why) {
  throw Error(ErrorCode::kConfig,
              fmt::format("shape '{}' {}; write NAME:DIMxDIM[:DTYPE], e.g. input:8x3x224x224,ids:8x128:int64",
                          item, why));
}

bool looks_like_dims(std::string_view text) {
  return text == kScalarWord || text.starts_with(kBatchMark) ||
         (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0);
}

std::int64_t parse_dimension(std::string_view part, std::string_view item) {
  if (part == kBatchMark) return kBatchSize;
  const auto size = parse_int(part);
  if (!size || *size < 0) bad(item, fmt::format("has the dimension '{}', which is no whole number", part));
  return *size;
}

Shape parse_dims(std::string_view dims, std::string_view item) {
  Shape shape;
  if (dims == kScalarWord) return shape;
  std::int64_t elements = 1;
  for (const auto& part : split(dims, 'x')) {
    shape.push_back(parse_dimension(part, item));
    const std::int64_t size = std::max<std::int64_t>(1, shape.back());
    if (size > kMaxElements / elements) bad(item, "has more than 2^34 elements");
    elements *= size;
  }
  if (std::count(shape.begin(), shape.end(), kBatchSize) > 1)
    bad(item, "marks two dimensions as {batch}, and an input has one");
  return shape;
}

InputShape parse_one(std::string_view item) {
  auto parts = split(item, ':');
  InputShape input;
  if (parts.size() > 2) {
    input.dtype = parse_dtype(parts.back());
    if (!input.dtype && !looks_like_dims(parts.back()) && looks_like_dims(parts[parts.size() - 2]))
      bad(item, fmt::format("has the unknown dtype '{}' (float32, int64, int32, float16, …)", parts.back()));
    if (input.dtype) parts.pop_back();
  }
  if (parts.size() < 2 || parts[0].empty()) bad(item, "is incomplete");
  input.shape = parse_dims(parts.back(), item);
  parts.pop_back();
  input.name = join(parts, ":");
  return input;
}

// Splits at commas. A part without a colon begins a name that has a comma.
std::vector<std::string> items_of(std::string_view text) {
  std::vector<std::string> items;
  bool open = false;
  for (const auto& part : split(text, ',')) {
    if (open)
      items.back() += "," + part;
    else
      items.push_back(part);
    open = items.back().find(':') == std::string::npos;
  }
  return items;
}

std::string shape_words(const Shape& shape) {
  std::vector<std::string> words;
  for (const auto size : shape)
    words.push_back(size == kBatchSize ? std::string(kBatchMark) : std::to_string(size));
  return words.empty() ? std::string(kScalarWord) : join(words, "x");
}

}  // namespace

// "none": the model takes no inputs.
std::vector<InputShape> parse_input_shapes(std::string_view text) {
  std::vector<InputShape> inputs;
  if (text == kNoInputs) return inputs;
  for (const auto& item : items_of(text)) {
    auto input = parse_one(trim(item));
    for (const auto& other : inputs)
      if (other.name == input.name) bad(item, "names an input twice");
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::string input_shapes_text(const std::vector<InputShape>& shapes) {
  if (shapes.empty()) return std::string(kNoInputs);
  std::vector<std::string> items;
  for (const auto& input : shapes) {
    const bool plain = !input.dtype || *input.dtype == DType::kFloat32;
    items.push_back(fmt::format("{}:{}{}", input.name, shape_words(input.shape),
                                plain ? "" : fmt::format(":{}", dtype_name(*input.dtype))));
  }
  return join(items, ",");
}

std::vector<TensorSpec> parse_shapes(std::string_view text) {
  std::vector<TensorSpec> specs;
  for (auto& input : parse_input_shapes(text)) {
    if (batch_dimension(input)) bad(input_shapes_text({input}), "has {batch}, and a size belongs here");
    specs.push_back({input.name, input.dtype.value_or(DType::kFloat32), input.shape});
  }
  return specs;
}

std::optional<std::size_t> batch_dimension(const InputShape& input) {
  const auto found = std::find(input.shape.begin(), input.shape.end(), kBatchSize);
  if (found == input.shape.end()) return std::nullopt;
  return static_cast<std::size_t>(found - input.shape.begin());
}

}  // namespace paceline::config
