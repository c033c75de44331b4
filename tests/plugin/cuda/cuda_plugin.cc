// SPDX-License-Identifier: MIT
#include "plugin/cuda/cuda_plugin.h"

#include "host/machine/accelerators.h"
#include "plugin/torch/plugin_file.h"

namespace paceline::cuda_test {
namespace {

struct Attempt {
  std::optional<plugin::LoadedPlugin> plugin;
  std::string problem;
};

const Attempt& attempt() {
  static const Attempt made = [] {
    Attempt a;
    try {
      a.plugin.emplace(torch_test::plugin_file(CUDA_PLUGIN_FILE));
    } catch (const Error& e) {
      a.problem = e.what();
    }
    return a;
  }();
  return made;
}

}  // namespace

std::string loading_problem() {
  return attempt().problem;
}

std::string device_problem() {
  const auto absent = host::no_nvidia_device_reason(host::SystemFiles());
  return absent.empty() ? loading_problem() : absent;
}

const plugin::LoadedPlugin& cuda_plugin() {
  return attempt().plugin.value();
}

std::unique_ptr<plugin::Engine> load_on_device(const torch_test::Case& c, Options options) {
  options.try_emplace("device", "cuda:0");
  plugin::ModelSpec spec;
  spec.name = c.model;
  spec.inputs = torch_test::inputs_of(c.model, c.batch, c.length);
  spec.weights_seed = c.seed;
  auto engine = cuda_plugin().make<plugin::Role::kEngine>(c.engine);
  engine->load(spec, {c.precision, c.layout, c.threads, std::move(options)});
  return engine;
}

std::unique_ptr<plugin::Engine> load_file_on_device(const std::string& file, const Shape& shape,
                                                    const std::string& name, const std::string& precision) {
  plugin::ModelSpec spec;
  spec.file = file;
  spec.inputs = {{"input", DType::kFloat32, shape}};
  auto engine = cuda_plugin().make<plugin::Role::kEngine>(name);
  engine->load(spec, {precision, "contiguous", 1, {{"device", "cuda:0"}}});
  return engine;
}

}  // namespace paceline::cuda_test
