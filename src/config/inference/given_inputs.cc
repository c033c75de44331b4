// SPDX-License-Identifier: MIT
#include "config/inference/given_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/display_text.h"
#include "base/error.h"
#include "base/near_file.h"
#include "base/npy.h"
#include "base/reading.h"
#include "base/text.h"

namespace paceline::config {
namespace {

// "[N, 4]"; N: any size.
std::string sizes_text(const Shape& shape) {
  std::vector<std::string> sizes;
  for (const auto size : shape) sizes.push_back(size < 0 ? "N" : fmt::format("{}", size));
  return fmt::format("[{}]", join(sizes, ", "));
}

bool fits(const TensorSpec& array, const InputShape& input) {
  if (input.dtype && array.dtype != *input.dtype) return false;
  const bool fixed = std::ranges::none_of(input.shape, [](auto size) { return size < 0; });
  if (fixed && element_count(input.shape) == 1) return element_count(array.shape) == 1;  // one number
  return std::ranges::equal(array.shape, input.shape,
                            [](auto size, auto want) { return want < 0 ? size > 0 : size == want; });
}

// The input that an array of a file is for; null: its name tells of none.
const InputShape* input_for(const std::string& name, const std::vector<TensorSpec>& arrays,
                            const TensorSpec& array, const std::vector<InputShape>& inputs) {
  const auto named = [&](const std::string& wanted) {
    const auto found = std::ranges::find(inputs, wanted, &InputShape::name);
    return found == inputs.end() ? nullptr : &*found;
  };
  if (!name.empty()) return arrays.size() == 1 || array.name == name ? named(name) : nullptr;
  if (const auto* found = named(array.name)) return found;
  return arrays.size() == 1 && inputs.size() == 1 ? &inputs.front() : nullptr;
}

std::string names_of_inputs(const std::vector<InputShape>& inputs) {
  std::vector<std::string> names;
  for (const auto& input : inputs) names.push_back(input.name);
  return join(names, ", ");
}

std::string unfit_file(const std::string& text, const std::vector<InputShape>& inputs) try {
  const auto [name, file] = name_and_file(text);
  if (is_missing(file))
    return fmt::format("'{}' {}{}", shown_path(file), no_regular_file(file).value_or("does not exist"),
                       near_file(file));
  if (!name.empty() && !inputs.empty() && std::ranges::find(inputs, name, &InputShape::name) == inputs.end())
    return fmt::format(
        "'{}' names the input '{}', and the model has no such input; its inputs are {}: write "
        "{}:{}",
        shown_value(text), name, names_of_inputs(inputs), inputs.front().name, shown_path(file));
  if (!file.ends_with(".npy") && !file.ends_with(".npz")) return {};
  const auto arrays = read_npy_or_npz_specs(file);
  for (const auto& array : arrays) {
    const auto* input = input_for(name, arrays, array, inputs);
    if (!input || fits(array, *input)) continue;
    return fmt::format("'{}' contains {} {} for input '{}', the model needs {} {}", shown_path(file),
                       dtype_name(array.dtype), sizes_text(array.shape), input->name,
                       dtype_name(input->dtype.value_or(array.dtype)), sizes_text(input->shape));
  }
  return {};
} catch (const Error& error) {
  return error.what();
}

}  // namespace

std::string unfit_inputs(const std::vector<std::string>& load_inputs, const std::vector<InputShape>& inputs) {
  for (const auto& text : load_inputs)
    if (auto why = unfit_file(text, inputs); !why.empty()) return why;
  return {};
}

std::vector<InputShape> inputs_of(const Model& model) {
  std::vector<InputShape> inputs;
  for (const auto& input : model.inputs) {
    Shape shape{kBatchSize};
    for (const auto size : input.shape) shape.push_back(size == kSequence ? kBatchSize : size);
    inputs.push_back({std::string(input.name), std::move(shape), input.dtype});
  }
  return inputs;
}

}  // namespace paceline::config
