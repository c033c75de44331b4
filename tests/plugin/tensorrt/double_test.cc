// SPDX-License-Identifier: MIT
#include "plugin/tensorrt/double_test.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"

namespace paceline::tensorrt_test {

// A library that is loaded already is found by its name wherever it lies.
Double::Double() {
  ::setenv("TENSORRT_ROOT", DOUBLE_ROOT, 1);
  if (!::dlopen(DOUBLE_ROOT "/lib/libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) ADD_FAILURE() << ::dlerror();
}

std::string Double::write(const std::string& name, const std::string& text) {
  write_file_atomic(folder_.file(name), text);
  return folder_.file(name);
}

std::string Double::read(const std::string& name) {
  return std::filesystem::exists(folder_.file(name)) ? read_file(folder_.file(name)) : "";
}

plugin::BuildSettings Double::settings() {
  plugin::BuildSettings settings;
  settings.profiles = {{{"x", {1, 4}, {2, 4}, {8, 4}}}};
  return settings;
}

plugin::BuildReport Double::build(const std::string& lines, const plugin::BuildSettings& settings) {
  static const plugin::LoadedPlugin loaded{PLUGIN_FILE};
  return loaded.make_builder(ENGINE)->build(write("m.onnx", lines), settings, folder_.file("m.plan"));
}

std::unique_ptr<plugin::Engine> Double::load(const Shape& shape, const model_files_test::Settings& settings) {
  return model_files_test::load(folder_.file("m.plan"), {{"x", DType::kFloat32, shape}}, settings);
}

std::string value_of(const std::vector<std::pair<std::string, std::string>>& settings,
                     const std::string& name) {
  for (const auto& [key, value] : settings)
    if (key == name) return value;
  return "(no setting)";
}

}  // namespace paceline::tensorrt_test
