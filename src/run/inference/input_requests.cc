// SPDX-License-Identifier: MIT
#include "run/inference/input_requests.h"

#include "config/vocabulary.h"
#include "run/case/case_settings.h"
#include "run/case/short_hash.h"
#include "workload/inference/input_layout.h"

namespace paceline::run {

std::vector<TensorSpec> stored_specs(const pass::PassSpec& pass, std::int64_t samples) {
  auto specs = pass.model.inputs;
  for (std::size_t i = 0; i < specs.size(); ++i)
    specs[i].shape = workload::stored_shape(specs[i].shape,
                                            workload::batch_dimension_of(pass.batch_dimensions, i), samples);
  return specs;
}

pass::ImageFormat image_format(const config::Settings& s) {
  pass::ImageFormat format;
  if (s.has("image_mean")) format.mean = s.numbers("image_mean");
  if (s.has("image_scale")) format.scale = s.numbers("image_scale");
  format.reverse_channels = s.has("image_reverse_channels") && s.flag("image_reverse_channels");
  return format;
}

pass::InputRequest input_request(const config::Case& c, const pass::PassSpec& pass) {
  pass::InputRequest request;
  request.specs = stored_specs(pass, pass.samples);
  request.batch_dimensions = pass.batch_dimensions;
  if (const auto* model = config::find_model(c.settings.text("model")))
    for (const auto& input : model->inputs) request.id_limits.push_back(input.id_limit);
  request.seed = static_cast<std::uint64_t>(c.settings.integer("input_seed"));
  request.load_inputs = c.settings.texts("load_inputs");
  request.image_dir = optional_text(c.settings, "image_dir");
  request.image_format = image_format(c.settings);
  request.batch = pass.batch;
  return request;
}

std::string input_key(const config::Case& c, const pass::PassSpec& pass) {
  return request_key(input_request(c, pass));
}

std::string request_key(const pass::InputRequest& request) {
  nlohmann::json key = {request.seed, request.load_inputs, request.image_dir.string(), request.id_limits,
                        request.batch_dimensions};
  const auto& format = request.image_format;
  key.push_back({format.mean, format.scale, format.reverse_channels});
  key.push_back(request.load_inputs.empty() && request.image_dir.empty() ? 0 : request.batch);
  for (const auto& spec : request.specs)
    key.push_back({spec.name, std::string(dtype_name(spec.dtype)), spec.shape});
  return short_hash(key);
}

}  // namespace paceline::run
