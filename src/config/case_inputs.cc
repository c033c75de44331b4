// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "base/error.h"
#include "config/plan.h"
#include "config/vocabulary.h"

namespace paceline::config {

std::vector<TensorSpec> case_inputs(const Case& item) {
  const std::int64_t batch = item.settings.integer("batch");
  if (const Model* model = find_model(item.settings.text("model")))
    return model_inputs(*model, batch,
                        item.settings.has("sequence_length") ? item.settings.integer("sequence_length") : 0);
  if (!item.settings.has("shapes"))
    throw Error(ErrorCode::kConfig,
                fmt::format("model '{}' needs shapes for its inputs, e.g. --shapes input:1x3x224x224",
                            item.settings.text("model")));
  auto specs = parse_shapes(item.settings.text("shapes"));
  for (auto& spec : specs) spec.shape.front() = batch;
  return specs;
}

}  // namespace paceline::config
