// SPDX-License-Identifier: MIT
#include "config/new_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "config/open_sizes.h"

namespace paceline::config {
namespace {

[[noreturn]] void bad(const std::string& item, const std::string& why) {
  throw Error(ErrorCode::kConfig, fmt::format("new shape '{}' {}", shown_value(item), why));
}

std::string text_of(const InputShape& input) {
  return input_shapes_text({{input.name, input.shape, std::nullopt}});
}

bool names(const NewShape& shape, const std::string& input) {
  return std::ranges::count(shape.inputs, input, &InputShape::name) > 0;
}

void add_input(std::vector<NewShape>& shapes, InputShape input) {
  input.dtype.reset();
  const bool next = shapes.empty() || shapes.back().batch > 0 || names(shapes.back(), input.name);
  if (next) shapes.emplace_back();
  shapes.back().inputs.push_back(std::move(input));
}

// Sizes of symbols that written inputs share with others.
SymbolSizes written_sizes(const NewShape& written, const std::vector<DeclaredInput>& declared) {
  SymbolSizes sizes;
  for (const auto& input : written.inputs) {
    const auto own = std::ranges::find(declared, input.name, &DeclaredInput::name);
    for (std::size_t i = 0; own != declared.end() && i < input.shape.size(); ++i)
      if (const auto symbol = symbol_of(*own, i); !symbol.empty()) sizes[symbol] = input.shape[i];
  }
  return sizes;
}

InputShape completed(const InputShape& loaded, const NewShape& written,
                     const std::vector<DeclaredInput>& declared, const SymbolSizes& sizes) {
  const auto own = std::ranges::find(written.inputs, loaded.name, &InputShape::name);
  if (own != written.inputs.end()) return *own;
  InputShape input{loaded.name, loaded.shape, std::nullopt};
  const auto known = std::ranges::find(declared, loaded.name, &DeclaredInput::name);
  for (std::size_t i = 0; known != declared.end() && i < input.shape.size(); ++i)
    if (const auto size = sizes.find(symbol_of(*known, i)); size != sizes.end())
      input.shape[i] = size->second;
  return input;
}

void check_inside(const InputShape& input, const InputShape& loaded, std::int64_t batch) {
  if (input.shape.size() != loaded.shape.size())
    bad(text_of(input),
        fmt::format("has another number of dimensions than '{}', which is loaded", text_of(loaded)));
  const auto size = [&](std::int64_t s) { return s == kBatchSize ? batch : s; };
  for (std::size_t i = 0; i < input.shape.size(); ++i)
    if (size(input.shape[i]) < 1 || size(input.shape[i]) > size(loaded.shape[i]))
      bad(text_of(input), fmt::format("does not fit into '{}', for which the model is loaded; load a larger "
                                      "one with shapes or batch",
                                      text_of(loaded)));
}

bool is_loaded(const NewShape& shape, const std::vector<InputShape>& loaded, std::int64_t batch) {
  for (std::size_t i = 0; i < loaded.size(); ++i)
    for (std::size_t k = 0; k < loaded[i].shape.size(); ++k) {
      const auto mine = shape.inputs[i].shape[k], its = loaded[i].shape[k];
      if ((mine == kBatchSize ? batch : mine) != (its == kBatchSize ? batch : its)) return false;
    }
  return true;
}

// Names the inputs that change; their shape alone where it is one.
std::string name_of(const std::vector<Shape>& sizes, const std::vector<TensorSpec>& loaded) {
  std::vector<std::string> texts;
  std::set<Shape> shapes;
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    if (sizes[i] == loaded[i].shape) continue;
    shapes.insert(sizes[i]);
    texts.push_back(text_of({loaded[i].name, sizes[i], std::nullopt}));
  }
  return shapes.size() == 1 ? fmt::format("{}", fmt::join(*shapes.begin(), "x")) : join(texts, ", ");
}

}  // namespace

std::vector<NewShape> parse_new_shapes(const std::vector<std::string>& texts) {
  constexpr std::int64_t kLargest = 1'000'000;
  std::vector<NewShape> shapes;
  for (const auto& text : texts) {
    if (const auto batch = parse_int(text)) {
      if (*batch < 1 || *batch > kLargest) bad(text, fmt::format("is no batch from 1 to {}", kLargest));
      shapes.push_back({*batch, {}});
      continue;
    }
    for (auto& input : parse_input_shapes(text)) add_input(shapes, std::move(input));
  }
  return shapes;
}

std::vector<std::string> new_shape_texts(const std::vector<NewShape>& shapes) {
  std::vector<std::string> texts;
  for (const auto& shape : shapes) {
    if (shape.batch > 0) texts.push_back(std::to_string(shape.batch));
    for (const auto& input : shape.inputs) texts.push_back(text_of(input));
  }
  return texts;
}

NewShape complete_new_shape(const NewShape& written, const std::vector<InputShape>& loaded,
                            const std::vector<DeclaredInput>& declared, std::int64_t batch) {
  if (written.batch > 0) return written;
  for (const auto& input : written.inputs)
    if (std::ranges::count(loaded, input.name, &InputShape::name) == 0)
      bad(text_of(input),
          fmt::format("is of no input of the model, which has {}", input_shapes_text(loaded)));
  const auto sizes = written_sizes(written, declared);
  NewShape shape;
  for (const auto& input : loaded) {
    shape.inputs.push_back(completed(input, written, declared, sizes));
    check_inside(shape.inputs.back(), input, batch);
  }
  if (is_loaded(shape, loaded, batch)) bad(text_of(written.inputs.front()), "is the one that is loaded");
  return shape;
}

SizedShape sized(const NewShape& shape, const std::vector<TensorSpec>& loaded,
                 const std::vector<std::int64_t>& batch_dimensions, std::int64_t batch) {
  SizedShape found;
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    auto& size = found.sizes.emplace_back(shape.batch > 0 ? loaded[i].shape : shape.inputs.at(i).shape);
    std::replace(size.begin(), size.end(), kBatchSize, batch);
    if (shape.batch > 0 && batch_dimensions.at(i) >= 0)
      size.at(static_cast<std::size_t>(batch_dimensions[i])) = shape.batch;
  }
  found.name = shape.batch > 0 ? fmt::format("batch {}", shape.batch) : name_of(found.sizes, loaded);
  return found;
}

}  // namespace paceline::config
