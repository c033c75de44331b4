// SPDX-License-Identifier: MIT
#include "run/artefacts/input_requests.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/model_content.h"
#include "config/inference/input_values.h"
#include "config/vocabulary.h"
#include "onnx/declared_inputs.h"
#include "onnx/index_limits.h"
#include "pass/input_layout.h"
#include "run/case/case_settings.h"
#include "run/case/short_hash.h"

namespace paceline::run {
namespace {

using ValuesByName = std::map<std::string, config::InputValues, std::less<>>;

// Reads a file whose inputs were not settled: a command only calibrates with it, or with arrays.
void add_declared(const pass::PassSpec& pass, ValuesByName& values) {
  std::vector<config::InputShape> inputs;
  for (const auto& input : pass.model.inputs) inputs.push_back({input.name, input.shape, input.dtype});
  auto declared = onnx::read_declared_inputs(pass.model.file);
  onnx::add_index_limits(pass.model.file, declared);
  for (const auto& input : declared)
    if (const auto found = config::declared_values(input, inputs)) values[input.name] = *found;
}

// A scalar that the file compares with a number is that number. Its engine says what is wrong with a file.
void add_compared(const pass::PassSpec& pass, ValuesByName& values) try {
  for (const auto& [name, number] : onnx::compared_numbers(pass.model.file)) {
    const auto found = std::ranges::find(pass.model.inputs, name, &TensorSpec::name);
    if (found == pass.model.inputs.end() || !found->shape.empty()) continue;
    const auto value = static_cast<double>(number);
    values.try_emplace(name, config::InputValues{name, value, value});
  }
} catch (const Error&) {
}

ValuesByName values_of(const config::Settings& s, const pass::PassSpec& pass, Beside beside) {
  ValuesByName values;
  const auto* model = config::find_model(s.text("model"));
  if (model)
    for (const auto& input : model->inputs)
      if (input.id_limit > 0)
        values[std::string(input.name)] = {"", 0, static_cast<double>(input.id_limit - 1)};
  if (!model && beside == Beside::kNothing && model_suffix(pass.model.file) == ".onnx")
    add_declared(pass, values);
  if (!model && model_suffix(pass.model.file) == ".onnx") add_compared(pass, values);
  if (s.has("input_values"))
    for (const auto& text : s.texts("input_values")) {
      const auto written = config::parse_input_values(text);
      values[written.name] = written;
    }
  return values;
}

// All that the user gave run once, as far as their arrays stay below this.
constexpr double kKeptBytes = 64.0 * 1024 * 1024;

std::int64_t kept_samples(const pass::PassSpec& pass) {
  double bytes = 0;
  for (const auto& spec : stored_specs(pass, 1))
    bytes +=
        static_cast<double>(element_count(spec.shape)) * static_cast<double>(dtype_size_bytes(spec.dtype));
  return static_cast<std::int64_t>(kKeptBytes / std::max(1.0, bytes)) / pass.batch * pass.batch;
}

}  // namespace

std::vector<TensorSpec> stored_specs(const pass::PassSpec& pass, std::int64_t samples) {
  auto specs = pass.model.inputs;
  for (std::size_t i = 0; i < specs.size(); ++i)
    specs[i].shape = pass::stored_shape(
        specs[i].shape, pass::batch_dimension_of(pass.inference.batch_dimensions, i), samples);
  return specs;
}

pass::ImageFormat image_format(const config::Settings& s) {
  pass::ImageFormat format;
  if (s.has("image_mean")) format.mean = s.numbers("image_mean");
  if (s.has("image_scale")) format.scale = s.numbers("image_scale");
  format.reverse_channels = s.has("image_reverse_channels") && s.flag("image_reverse_channels");
  return format;
}

std::vector<pass::ValueRange> value_ranges(const config::Settings& s, const pass::PassSpec& pass,
                                           Beside beside) {
  const auto batch = s.has("batch") ? std::min(pass.batch, s.integer("batch")) : pass.batch;
  const auto values = values_of(s, pass, beside);
  std::vector<pass::ValueRange> ranges;
  for (const auto& input : pass.model.inputs) {
    const auto found = values.find(input.name);
    auto& range = ranges.emplace_back();
    if (found == values.end()) continue;
    const auto& [name, from, to, below_batch] = found->second;
    range = {true, from, below_batch ? static_cast<double>(batch - 1) : to};
  }
  return ranges;
}

pass::InputRequest input_request(const config::Case& c, const pass::PassSpec& pass) {
  pass::InputRequest request;
  const bool given = !c.settings.texts("load_inputs").empty() || c.settings.has("image_dir");
  request.specs = stored_specs(
      pass, given ? std::max(pass.inference.samples, kept_samples(pass)) : pass.inference.samples);
  request.batch_dimensions = pass.inference.batch_dimensions;
  request.seed = static_cast<std::uint64_t>(c.settings.integer("input_seed"));
  request.load_inputs = c.settings.texts("load_inputs");
  request.ranges =
      value_ranges(c.settings, pass, request.load_inputs.empty() ? Beside::kNothing : Beside::kArrays);
  request.image_dir = optional_text(c.settings, "image_dir");
  request.image_format = image_format(c.settings);
  request.batch = pass.batch;
  return request;
}

std::string input_key(const config::Case& c, const pass::PassSpec& pass) {
  return request_key(input_request(c, pass));
}

std::string request_key(const pass::InputRequest& request) {
  nlohmann::json key = {request.seed, request.load_inputs, request.image_dir.string(),
                        request.batch_dimensions};
  for (const auto& range : request.ranges) key.push_back({range.given, range.from, range.to});
  const auto& format = request.image_format;
  key.push_back({format.mean, format.scale, format.reverse_channels});
  key.push_back(request.load_inputs.empty() && request.image_dir.empty() ? 0 : request.batch);
  for (const auto& spec : request.specs)
    key.push_back({spec.name, std::string(dtype_name(spec.dtype)), spec.shape});
  return short_hash(key);
}

}  // namespace paceline::run
