// SPDX-License-Identifier: MIT
#include "config/new_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "config/open_sizes.h"
#include "config/vocabulary.h"

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

const DeclaredInput* declaration(const InputShape& input, const std::vector<DeclaredInput>& declared) {
  const auto found = std::ranges::find(declared, input.name, &DeclaredInput::name);
  return found == declared.end() ? nullptr : &*found;
}

// By which a size of an input follows those of others; "": nothing is known.
std::string tie_of(const InputShape& loaded, const DeclaredInput* own, std::size_t dimension) {
  if (loaded.shape[dimension] == kBatchSize) return "{batch}";
  return own ? symbol_of(*own, dimension) : std::string();
}

// The written input of that name; none: it is left out.
const InputShape* written_input(const NewShape& written, const InputShape& loaded) {
  const auto own = std::ranges::find(written.inputs, loaded.name, &InputShape::name);
  return own == written.inputs.end() ? nullptr : &*own;
}

// Sizes of written inputs by what ties them to others.
SymbolSizes written_sizes(const NewShape& written, const std::vector<InputShape>& loaded,
                          const std::vector<DeclaredInput>& declared) {
  SymbolSizes sizes;
  for (const auto& input : loaded)
    if (const auto* own = written_input(written, input))
      for (std::size_t i = 0; i < std::min(own->shape.size(), input.shape.size()); ++i)
        if (const auto tie = tie_of(input, declaration(input, declared), i); !tie.empty())
          sizes[tie] = own->shape[i];
  return sizes;
}

InputShape completed(const InputShape& loaded, const NewShape& written,
                     const std::vector<DeclaredInput>& declared, const SymbolSizes& sizes) {
  if (const auto* own = written_input(written, loaded)) return *own;
  InputShape input{loaded.name, loaded.shape, std::nullopt};
  for (std::size_t i = 0; i < input.shape.size(); ++i)
    if (const auto size = sizes.find(tie_of(loaded, declaration(loaded, declared), i)); size != sizes.end())
      input.shape[i] = size->second;
  return input;
}

// Whether each size is fixed by the file, or tied to others.
bool is_known(const InputShape& loaded, const DeclaredInput* own) {
  for (std::size_t i = 0; i < loaded.shape.size(); ++i) {
    const bool fixed = own && own->shape && i < own->shape->size() && (*own->shape)[i] >= 0;
    if (!fixed && tie_of(loaded, own, i).empty()) return false;
  }
  return true;
}

bool changes_untied(const InputShape& written, const InputShape& loaded, const DeclaredInput* own) {
  for (std::size_t i = 0; i < std::min(written.shape.size(), loaded.shape.size()); ++i)
    if (written.shape[i] != loaded.shape[i] && tie_of(loaded, own, i).empty()) return true;
  return false;
}

// Refuses a shape that leaves out inputs whose sizes may, or may not, follow the written ones.
void check_left_out(const NewShape& written, const std::vector<InputShape>& loaded,
                    const std::vector<DeclaredInput>& declared) {
  bool untied = false;
  std::vector<std::string> missing;
  for (const auto& input : loaded) {
    const auto* own = declaration(input, declared);
    if (const auto* mine = written_input(written, input))
      untied = untied || changes_untied(*mine, input, own);
    else if (!is_known(input, own))
      missing.push_back(input.name);
  }
  if (untied && !missing.empty())
    bad(input_shapes_text(written.inputs),
        fmt::format("leaves out inputs whose sizes the model does not tie to it; write a shape of each: {}",
                    join(missing, ", ")));
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

// The shape of every input of `loaded`.
NewShape complete(const NewShape& written, const std::vector<InputShape>& loaded,
                  const std::vector<DeclaredInput>& declared, std::int64_t batch) {
  if (written.batch > 0) return written;
  for (const auto& input : written.inputs)
    if (std::ranges::count(loaded, input.name, &InputShape::name) == 0)
      bad(text_of(input),
          fmt::format("is of no input of the model, which has {}", input_shapes_text(loaded)));
  check_left_out(written, loaded, declared);
  const auto sizes = written_sizes(written, loaded, declared);
  NewShape shape;
  for (const auto& input : loaded) {
    shape.inputs.push_back(completed(input, written, declared, sizes));
    check_inside(shape.inputs.back(), input, batch);
  }
  return shape;
}

std::vector<Shape> full_sizes(const NewShape& shape, const std::vector<InputShape>& loaded,
                              std::int64_t batch) {
  std::vector<Shape> sizes;
  for (const auto& input : shape.batch > 0 ? loaded : shape.inputs) {
    auto& size = sizes.emplace_back(input.shape);
    std::replace(size.begin(), size.end(), kBatchSize, shape.batch > 0 ? shape.batch : batch);
  }
  return sizes;
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

std::vector<NewShape> complete_new_shapes(const std::vector<NewShape>& written,
                                          const std::vector<InputShape>& loaded,
                                          const std::vector<DeclaredInput>& declared, std::int64_t batch) {
  std::vector<NewShape> shapes;
  std::map<std::vector<Shape>, std::string> before{{full_sizes({batch, {}}, loaded, batch), ""}};
  for (const auto& one : written) {
    shapes.push_back(complete(one, loaded, declared, batch));
    if (one.batch >= batch) continue;  // refused with the batches of the plan
    const auto text = one.batch > 0 ? std::to_string(one.batch) : input_shapes_text(one.inputs);
    const auto known = before.try_emplace(full_sizes(shapes.back(), loaded, batch), text);
    if (known.second) continue;
    const auto& same = known.first->second;
    bad(text,
        same.empty() ? "is the one that is loaded" : fmt::format("has the sizes of '{}'; keep one", same));
  }
  return shapes;
}

std::vector<NewShape> complete_new_shapes(const std::vector<NewShape>& written, const Model& model,
                                          std::int64_t sequence_length, std::int64_t batch) {
  std::vector<InputShape> loaded;
  std::vector<DeclaredInput> declared;
  for (const auto& spec : model_inputs(model, kBatchSize, sequence_length))
    loaded.push_back({spec.name, spec.shape, std::nullopt});
  for (const auto& spec : model_inputs(model, kBatchSize, kSequence)) {
    DeclaredInput input{spec.name, spec.dtype, spec.shape};
    for (const auto size : spec.shape) input.symbols.emplace_back(size == kSequence ? "sequence" : "");
    declared.push_back(std::move(input));
  }
  return complete_new_shapes(written, loaded, declared, batch);
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
