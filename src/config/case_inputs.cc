// SPDX-License-Identifier: MIT
// Works out the input tensors of a case.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "config/plan.h"
#include "config/shapes.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

std::vector<InputShape> shapes_of(const Case& item) {
  if (!item.settings.has("shapes"))
    throw Error(ErrorCode::kConfig,
                fmt::format("model '{}' needs shapes for its inputs, e.g. --shapes input:1x3x224x224",
                            item.settings.text("model")));
  return parse_input_shapes(item.settings.text("shapes"));
}

std::int64_t sequence_length_of(const Case& item) {
  return item.settings.has("sequence_length") ? item.settings.integer("sequence_length") : 0;
}

}  // namespace

std::vector<TensorSpec> case_inputs(const Case& item) {
  const std::int64_t batch = item.settings.integer("batch");
  if (const Model* model = find_model(item.settings.text("model")))
    return model_inputs(*model, batch, sequence_length_of(item));
  std::vector<TensorSpec> specs;
  for (auto& input : shapes_of(item)) {
    std::replace(input.shape.begin(), input.shape.end(), kBatchSize, batch);
    specs.push_back({input.name, input.dtype.value_or(DType::kFloat32), input.shape});
  }
  return specs;
}

std::vector<std::int64_t> case_batch_dimensions(const Case& item) {
  if (const Model* model = find_model(item.settings.text("model")))
    return std::vector<std::int64_t>(model->inputs.size(), 0);
  std::vector<std::int64_t> dimensions;
  for (const auto& input : shapes_of(item)) {
    const auto dimension = batch_dimension(input);
    dimensions.push_back(dimension ? static_cast<std::int64_t>(*dimension) : -1);
  }
  return dimensions;
}

std::vector<SizedShape> case_new_shapes(const Case& item) {
  const std::int64_t batch = item.settings.integer("batch");
  auto shapes = parse_new_shapes(item.settings.texts("new_shapes"));
  if (const Model* model = find_model(item.settings.text("model")))
    shapes = complete_new_shapes(shapes, *model, sequence_length_of(item), batch);
  std::vector<SizedShape> found;
  for (const auto& shape : shapes)
    found.push_back(sized(shape, case_inputs(item), case_batch_dimensions(item), batch));
  return found;
}

}  // namespace paceline::config
