// SPDX-License-Identifier: MIT
#include "run/inference/built_files.h"

#include "base/device.h"
#include "config/device.h"
#include "config/vocabulary.h"
#include "pass/input_layout.h"
#include "run/case/case_settings.h"
#include "run/case/short_hash.h"

namespace paceline::run {

std::vector<TensorSpec> loaded_inputs(const pass::PassSpec& base) {
  auto inputs = base.model.inputs;
  pass::multiply_batch(inputs, base.inference.batch_dimensions, base.inference.load.max_batch);
  return inputs;
}

BuildOrder build_order(const CaseRun& c, const std::filesystem::path& folder) {
  BuildOrder order;
  order.engine = c.base.engine();
  order.precision = c.base.settings.precision;
  order.threads = c.base.settings.threads;
  order.model = c.base.model.name;
  order.source = c.model_file;
  order.inputs = loaded_inputs(c.base);
  order.env = c.definition.env;
  const auto device = device_of(c.definition.settings);
  if (config::runs_on_cpu(order.engine, device) || device.kind != DeviceKind::kCpu)
    order.options["device"] = device_name(device);  // else the engine knows GPUs alone, and takes the first
  ShapeProfile profile;
  std::string shapes;
  for (const auto& input : order.inputs) {
    profile.push_back({input.name, input.shape, input.shape, input.shape});
    for (const auto extent : input.shape) shapes += std::to_string(extent) + ",";
  }
  order.profiles = {std::move(profile)};
  const auto* declared = config::find_declared_engine(order.engine);
  const std::string suffix = declared && !declared->builds.empty() ? declared->builds.front() : ".built";
  const auto key = short_hash({order.source.string(), order.engine, order.precision, shapes, order.options,
                               order.threads, order.env});
  order.file = model_file_in(folder, key, suffix.substr(1));
  order.log = c.dir / "build.log";
  return order;
}

std::filesystem::path model_file_in(const std::filesystem::path& folder, const std::string& key,
                                    const std::string& format) {
  return folder / ("model-" + key + "." + format);
}

}  // namespace paceline::run
