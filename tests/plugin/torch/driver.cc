// SPDX-License-Identifier: MIT
#include "driver.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "base/random.h"
#include "plugin_file.h"

namespace paceline::torch_test {
namespace {

void fill(Tensor& tensor) {
  const CounterRng rng(1, hash64(tensor.spec().name));
  const auto count = static_cast<std::uint64_t>(element_count(tensor.spec().shape));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (tensor.spec().dtype == DType::kFloat32)
      tensor.as<float>()[i] = static_cast<float>(rng.normal(i));
    else
      tensor.as<std::int64_t>()[i] =
          tensor.spec().name == "attention_mask" ? 1 : static_cast<std::int64_t>(rng.below(i, 30000));
  }
}

void widen(const TensorView& view, float (*one)(std::uint16_t), std::vector<float>& values) {
  const auto* bits = static_cast<const std::uint16_t*>(view.data);
  std::transform(bits, bits + values.size(), values.begin(), one);
}

std::unique_ptr<plugin::Engine> load_spec(const std::string& engine, const plugin::ModelSpec& spec,
                                          const plugin::EngineSettings& settings) {
  auto made = torch_plugin().make<plugin::Role::kEngine>(engine);
  made->load(spec, settings);
  return made;
}

}  // namespace

const plugin::LoadedPlugin& torch_plugin() {
  static const plugin::LoadedPlugin loaded{plugin_file(TORCH_PLUGIN_FILE)};
  return loaded;
}

std::vector<TensorSpec> inputs_of(const std::string& model, std::int64_t batch, std::int64_t length) {
  if (model == "bert-large")
    return {{"input_ids", DType::kInt64, {batch, length}},
            {"attention_mask", DType::kInt64, {batch, length}}};
  if (model == "gpt2") return {{"input_ids", DType::kInt64, {batch, length}}};
  if (model == "peak_gemm") return {{"a", DType::kFloat32, {batch, 2048}}};
  if (model == "peak_conv") return {{"input", DType::kFloat32, {batch, 128, 56, 56}}};
  const std::int64_t side = model == "tiny_cnn" ? 32 : 224;
  return {{"input", DType::kFloat32, {batch, 3, side, side}}};
}

std::vector<Tensor> data_for(const std::vector<TensorSpec>& specs) {
  std::vector<Tensor> data;
  for (const auto& spec : specs) fill(data.emplace_back(spec));
  return data;
}

std::unique_ptr<plugin::Engine> load(const Case& c) {
  plugin::ModelSpec spec;
  spec.name = c.model;
  spec.inputs = inputs_of(c.model, c.batch, c.length);
  spec.weights_file = c.weights_file;
  spec.weights_seed = c.seed;
  return load_spec(c.engine, spec, {c.precision, c.layout, c.threads, {}});
}

std::unique_ptr<plugin::Engine> load_file(const std::string& file, const Shape& shape,
                                          const std::string& engine, const std::string& precision) {
  plugin::ModelSpec spec;
  spec.file = file;
  spec.inputs = {{"input", DType::kFloat32, shape}};
  return load_spec(engine, spec, {precision, "contiguous", 1, {}});
}

void bind(plugin::Engine& engine, std::vector<Tensor>& data) {
  std::vector<TensorView> views;
  for (auto& tensor : data) views.push_back(tensor.view());
  engine.bind(0, views);
}

std::vector<float> run(plugin::Engine& engine, plugin::Slot slot) {
  engine.enqueue(slot);
  return as_floats(engine.synchronize(slot)[0]);
}

std::vector<float> as_floats(const TensorView& view) {
  std::vector<float> values(static_cast<std::size_t>(element_count(view.shape)));
  if (view.dtype == DType::kFloat32)
    std::copy_n(static_cast<const float*>(view.data), values.size(), values.begin());
  else if (view.dtype == DType::kBFloat16)
    widen(view, bfloat16_to_float, values);
  else if (view.dtype == DType::kFloat16)
    widen(view, half_to_float, values);
  else
    throw Error(ErrorCode::kInternal, "the tests read float32, bfloat16 and float16 only");
  return values;
}

std::optional<std::string> setting(const plugin::Engine& engine, const std::string& name) {
  for (const auto& [key, value] : engine.info().settings)
    if (key == name) return value;
  return std::nullopt;
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

TemporaryFolder::TemporaryFolder() {
  auto pattern = (std::filesystem::temp_directory_path() / "paceline_torch_XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw Error(ErrorCode::kIo, "cannot make a temporary folder");
  path_ = pattern;
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace paceline::torch_test
