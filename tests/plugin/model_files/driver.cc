// SPDX-License-Identifier: MIT
#include "plugin/model_files/driver.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace paceline::model_files_test {
namespace {

template <typename T>
Tensor filled(const TensorSpec& spec, const std::vector<T>& data) {
  Tensor result(spec);
  if (static_cast<std::size_t>(element_count(spec.shape)) != data.size())
    throw Error(ErrorCode::kInternal, "data and shape differ");
  std::copy(data.begin(), data.end(), result.as<T>());
  return result;
}

const plugin::LoadedPlugin& loaded_plugin() {
  static const plugin::LoadedPlugin loaded{PLUGIN_FILE};
  return loaded;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  auto pattern = (std::filesystem::temp_directory_path() / "paceline_files_XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw Error(ErrorCode::kIo, "cannot make a temporary folder");
  path_ = pattern;
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::unique_ptr<plugin::Engine> make_engine() {
  return loaded_plugin().make<plugin::Role::kEngine>(ENGINE);
}

std::unique_ptr<plugin::Engine> load(const std::string& file, const std::vector<TensorSpec>& inputs,
                                     const Settings& settings) {
  auto engine = make_engine();
  plugin::ModelSpec model;
  model.file = file;
  model.inputs = inputs;
  engine->load(model, {settings.precision, "contiguous", settings.threads, settings.options,
                       settings.precision_of_file});
  return engine;
}

Tensor tensor(const std::string& name, const Shape& shape, const std::vector<float>& data) {
  return filled({name, DType::kFloat32, shape}, data);
}
Tensor tensor(const std::string& name, const Shape& shape, const std::vector<std::int64_t>& data) {
  return filled({name, DType::kInt64, shape}, data);
}

std::vector<TensorSpec> specs_of(const std::vector<Tensor>& data) {
  std::vector<TensorSpec> specs;
  for (const auto& item : data) specs.push_back(item.spec());
  return specs;
}

void bind(plugin::Engine& engine, std::vector<Tensor>& data, plugin::Slot slot) {
  std::vector<TensorView> views;
  for (auto& item : data) views.push_back(item.view());
  engine.bind(slot, views);
}

std::vector<float> run(plugin::Engine& engine, std::size_t output, plugin::Slot slot) {
  engine.enqueue(slot);
  const auto& view = engine.synchronize(slot)[output];
  const auto count = static_cast<std::size_t>(element_count(view.shape));
  if (view.dtype == DType::kFloat32)
    return {static_cast<const float*>(view.data), static_cast<const float*>(view.data) + count};
  if (view.dtype != DType::kInt64) throw Error(ErrorCode::kInternal, "the tests read float32 and int64 only");
  const auto* integers = static_cast<const std::int64_t*>(view.data);
  std::vector<float> floats(count);
  std::transform(integers, integers + count, floats.begin(),
                 [](std::int64_t value) { return static_cast<float>(value); });
  return floats;
}

double relative_error(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - b[i]));
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
  }
  return difference / largest;
}

std::optional<std::string> setting(const plugin::Engine& engine, const std::string& name) {
  for (const auto& [key, value] : engine.info().settings)
    if (key == name) return value;
  return std::nullopt;
}

}  // namespace paceline::model_files_test
