// SPDX-License-Identifier: MIT
#include "openvino/openvino_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <openvino/core/model.hpp>
#include <openvino/core/version.hpp>

#include "base/error.h"
#include "base/model_content.h"
#include "openvino/compile_options.h"
#include "openvino/core_instance.h"
#include "openvino/errors.h"
#include "openvino/index_limits.h"
#include "openvino/layer_arithmetic.h"
#include "openvino/model_reader.h"
#include "openvino/runtime_layers.h"
#include "openvino/subnormals.h"
#include "openvino/tensors.h"
#include "support/engine_checks.h"
#include "support/layer_medians.h"
#include "support/rounding.h"

namespace paceline::openvino_plugin {
namespace {

constexpr std::array<std::string_view, 3> kSuffixes{".onnx", ".xml", ".blob"};
constexpr int kProfiledModels = 5;      // two of them may be disturbed
constexpr int kInferencesPerModel = 3;  // at least: compiling takes longer than most inferences

std::string type_name(const ov::element::Type& type) {
  const auto dtype = from_openvino(type);
  return dtype ? std::string(dtype_name(*dtype)) : type.get_type_name();
}

// A port has several names or none; returns one that was asked for, else any.
template <typename Port>
std::string name_of(const Port& port, std::span<const TensorSpec> asked) {
  const auto& names = port.get_names();
  for (const auto& spec : asked)
    if (names.count(spec.name)) return spec.name;
  return names.empty() ? port.get_node()->get_friendly_name() : port.get_any_name();
}

// The model's own name of an output: compiling adds those of operators that were removed behind it. A port
// without one is numbered: its operator's name says nothing about the output.
template <typename Port>
std::string output_name(const Port& port, std::size_t index) {
  constexpr std::string_view kResult = "/sink_port_0";  // the reader of ONNX appends it to the output's name
  std::string own = port.get_node()->get_friendly_name();
  if (own.ends_with(kResult)) own.resize(own.size() - kResult.size());
  const auto& names = port.get_names();
  if (names.count(own)) return own;
  return names.empty() ? fmt::format("output_{}", index) : port.get_any_name();
}

template <typename Model>
std::vector<std::string> names_of_outputs(const Model& model) {
  std::vector<std::string> names;
  for (const auto& port : model.outputs()) names.push_back(output_name(port, names.size()));
  return names;
}

template <typename Model>
std::vector<plugin_support::DeclaredInput> declared_inputs(const Model& model,
                                                           std::span<const TensorSpec> asked) {
  std::vector<plugin_support::DeclaredInput> inputs;
  for (const auto& port : model.inputs()) {
    auto& input = inputs.emplace_back();
    input.name = name_of(port, asked);
    input.type = type_name(port.get_element_type());
    const auto& shape = port.get_partial_shape();
    for (std::size_t i = 0; shape.rank().is_static() && i < shape.size(); ++i)
      input.shape.push_back(
          plugin_support::dimension_text(shape[i].is_static() ? shape[i].get_length() : -1, ""));
  }
  return inputs;
}

template <typename Model>
std::vector<DeclaredInput> inputs_of(const Model& model) {
  std::vector<DeclaredInput> inputs;
  for (const auto& port : model.inputs()) {
    DeclaredInput input{name_of(port, {}), from_openvino(port.get_element_type()), {}, {}};
    const auto& shape = port.get_partial_shape();
    if (shape.rank().is_static()) {
      input.shape.emplace();
      for (const auto& dimension : shape)
        input.shape->push_back(dimension.is_static() ? dimension.get_length() : -1);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

// For each input of the caller the index of the model's input.
std::vector<std::size_t> input_order(std::span<const plugin_support::DeclaredInput> declared,
                                     std::span<const TensorSpec> given) {
  std::vector<std::size_t> order;
  for (const auto& spec : given) {
    const auto it = std::find_if(declared.begin(), declared.end(),
                                 [&](const auto& input) { return input.name == spec.name; });
    order.push_back(static_cast<std::size_t>(it - declared.begin()));
  }
  return order;
}

// Sets the shapes asked for. With any_batch or any_shape, what the file leaves open stays open up to that
// size.
void fix_shapes(ov::Model& model, std::span<const std::size_t> order, const plugin::ModelSpec& asked) {
  std::map<std::size_t, ov::PartialShape> shapes;
  for (std::size_t i = 0; i < asked.inputs.size(); ++i) {
    const auto& given = asked.inputs[i].shape;
    auto& shape = shapes[order[i]] = ov::Shape(given.begin(), given.end());
    const auto& declared = model.input(order[i]).get_partial_shape();
    const auto open = asked.any_shape ? given.size() : asked.any_batch ? 1 : 0;
    for (std::size_t k = 0; declared.rank().is_static() && k < open; ++k)
      if (declared[k].is_dynamic()) shape[k] = ov::Dimension(std::min<std::int64_t>(1, given[k]), given[k]);
  }
  model.reshape(shapes);
}

// A free dimension of a compiled file has bounds, which OpenVINO itself does not check.
void check_bounds(const ov::CompiledModel& model, std::span<const TensorSpec> given) {
  for (const auto& spec : given) {
    const auto shape = model.input(spec.name).get_partial_shape();
    for (std::size_t i = 0; i < spec.shape.size(); ++i)
      if (!shape[i].compatible(spec.shape[i]))
        throw Error(ErrorCode::kUsage, fmt::format("input {} does not fit this file, which was built for {}",
                                                   plugin_support::describe(spec), shape.to_string()));
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> library_versions() {
  std::vector<std::pair<std::string, std::string>> versions{
      {"OpenVINO", ov::get_openvino_version().buildNumber}};
  for (const auto& [device, version] : core().get_versions(kDevice))
    versions.emplace_back("OpenVINO " + device, version.buildNumber);
  return versions;
}

plugin::EngineInfo OpenVinoEngine::info() const {
  plugin::EngineInfo info{"openvino", library_versions(), {}};
  if (compiled_) info.settings = effective_settings(compiled_);
  return info;
}

std::vector<DeclaredInput> OpenVinoEngine::file_inputs(const std::string& file) {
  return translate_errors(fmt::format("cannot read '{}'", file), [&] {
    if (model_suffix(file) != ".blob") {
      const auto read = read_model(file);
      auto inputs = inputs_of(*read.graph);
      add_index_limits(*read.graph, inputs);
      return inputs;
    }
    std::ifstream stream(file, std::ios::binary);
    return inputs_of(core().import_model(stream, kDevice, {}));
  });
}

void OpenVinoEngine::load(const plugin::ModelSpec& model, const plugin::EngineSettings& settings) {
  const auto file = plugin_support::model_file(model, "openvino", kSuffixes);
  slots_.clear();
  compiled_ = {};
  data_.clear();
  model_ = model;
  cannot_run_ = plugin_support::cannot_run(model.inputs);
  settings_ = settings;
  const std::string advice = cannot_run_ == plugin_support::kCannotRun ? "" : ": " + cannot_run_;
  translate_errors(fmt::format("cannot load model '{}'{}", file, advice), [&] {
    const auto options = compile_options(core(), settings_);
    compiled_ =
        is_compiled_file() ? read_compiled(options) : core().compile_model(read_graph(), kDevice, options);
  });
  const auto& outputs = compiled_.outputs();
  fixed_outputs_ = std::none_of(outputs.begin(), outputs.end(),
                                [](const auto& port) { return port.get_partial_shape().is_dynamic(); });
  plugin_support::check_outputs(file, outputs.size(),
                                std::any_of(outputs.begin(), outputs.end(), [](const auto& port) {
                                  return from_openvino(port.get_element_type()).has_value();
                                }));
}

bool OpenVinoEngine::is_compiled_file() const {
  return model_suffix(model_.file) == ".blob";
}

// Reads a compiled file, whose shapes were fixed or bounded when it was built.
ov::CompiledModel OpenVinoEngine::read_compiled(const ov::AnyMap& options) {
  std::ifstream stream(model_.file, std::ios::binary);
  auto compiled = core().import_model(stream, kDevice, options);
  const auto declared = declared_inputs(compiled, model_.inputs);
  plugin_support::check_inputs(model_.file, declared, model_.inputs);
  check_bounds(compiled, model_.inputs);
  input_order_ = input_order(declared, model_.inputs);
  output_names_ = names_of_outputs(compiled);
  return compiled;
}

// Reads the file and sets the shapes asked for.
std::shared_ptr<ov::Model> OpenVinoEngine::read_graph() {
  auto [graph, data] = read_model(model_.file);
  std::move(data.begin(), data.end(), std::back_inserter(data_));
  const auto declared = declared_inputs(*graph, model_.inputs);
  plugin_support::check_inputs(model_.file, declared, model_.inputs);
  input_order_ = input_order(declared, model_.inputs);
  output_names_ = names_of_outputs(*graph);
  fix_shapes(*graph, input_order_, model_);
  return graph;
}

void OpenVinoEngine::bind(plugin::Slot slot, std::span<const TensorView> inputs) {
  if (!compiled_) throw Error(ErrorCode::kInternal, "bind before load");
  slots_.bind(slot, inputs.size(), model_.inputs.size(), [&](SlotState& state) {
    translate_errors("cannot bind the inputs", [&] {
      if (!state.request) state.request = compiled_.create_infer_request();
      state.views.clear();
      state.outputs.clear();
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        plugin_support::check_tensor(inputs[i], model_.inputs[i], model_);
        state.request.set_input_tensor(input_order_[i], borrow(inputs[i]));
      }
    });
  });
}

void OpenVinoEngine::enqueue(plugin::Slot slot) {
  auto& state = slots_.bound(slot);
  translate_errors(
      cannot_run_, [&] { state.request.infer(); }, ErrorCode::kUsage);
}

std::span<const TensorView> OpenVinoEngine::synchronize(plugin::Slot slot) {
  auto& state = slots_.bound(slot);
  if (!state.views.empty() && fixed_outputs_) return state.views;
  state.outputs.clear();
  state.views.clear();
  for (std::size_t i = 0; i < compiled_.outputs().size(); ++i) {
    const auto& port = compiled_.output(i);
    if (!from_openvino(port.get_element_type())) continue;
    describe(state.outputs.emplace_back(state.request.get_tensor(port)), state.views.emplace_back());
    state.views.back().name = output_names_.at(i);
  }
  return state.views;
}

// Profiling costs time, so a separate model is compiled for it.
OpenVinoEngine::Profiled OpenVinoEngine::profiled(SlotState& state) {
  auto options = compile_options(core(), settings_);
  options.insert(ov::enable_profiling(true));
  return compiled_again(state, options);
}

OpenVinoEngine::Profiled OpenVinoEngine::compiled_again(SlotState& state, const ov::AnyMap& options) {
  Profiled p;
  if (!is_compiled_file()) p.graph = read_graph();
  p.compiled = p.graph ? core().compile_model(p.graph, kDevice, options) : read_compiled(options);
  p.request = p.compiled.create_infer_request();
  for (std::size_t i = 0; i < input_order_.size(); ++i)
    p.request.set_input_tensor(i, state.request.get_input_tensor(i));
  p.request.infer();  // the first inference allocates
  return p;
}

namespace {

std::vector<float> numbers_of(ov::CompiledModel& model, ov::InferRequest& request) {
  std::vector<TensorView> views;
  for (const auto& port : model.outputs())
    if (from_openvino(port.get_element_type())) describe(request.get_tensor(port), views.emplace_back());
  return plugin_support::float_numbers(views);
}

constexpr const char* kRounded =
    "activations of products with integer weights are rounded to 8 bits (DYNAMIC_QUANTIZATION_GROUP_SIZE): "
    "the outputs are others without that";

}  // namespace

// No layer says whether its activations were rounded, which depends on the CPU: a model without it answers.
bool OpenVinoEngine::rounds(SlotState& state, const std::vector<float>& outputs) {
  auto exact = compiled_again(state, without_rounding(compile_options(core(), settings_)));
  return plugin_support::differ_beyond_float(outputs, numbers_of(exact.compiled, exact.request));
}

plugin::ReadBack OpenVinoEngine::read_back(plugin::Slot slot) {
  auto& state = slots_.bound(slot);
  return translate_errors("cannot profile the model", [&] {
    std::vector<plugin_support::LayerWork> layers;
    std::vector<float> outputs;
    bool may_round = false;
    std::string subnormal;
    {
      auto p = profiled(state);
      p.request.infer();
      const auto runtime = p.compiled.get_runtime_model();
      layers = runtime_layers(*runtime, p.graph ? *p.graph : *runtime);
      may_round = has_rounding(p.compiled) && std::ranges::any_of(layers, may_round_activations);
      if (may_round) outputs = numbers_of(p.compiled, p.request);
      if (p.graph) subnormal = subnormal_note(*p.graph);
    }
    const bool rounded = may_round && rounds(state, outputs);
    if (rounded) set_rounded(layers);
    auto result = plugin_support::read_back_of(
        std::move(layers), "OpenVINO's runtime model: types of every layer's activations and weights");
    if (rounded) result.note = fmt::format("{}; --precision fp32 keeps them in float", kRounded);
    if (result.note.empty()) result.note = subnormal;
    return result;
  });
}

std::vector<plugin::Layer> OpenVinoEngine::mean_times(SlotState& state, int inferences) {
  auto p = profiled(state);
  const auto layers = [&] {
    const auto runtime = p.compiled.get_runtime_model();
    return runtime_layers(*runtime, p.graph ? *p.graph : *runtime);
  };
  const auto first = layers();
  for (int i = 0; i < inferences; ++i) p.request.infer();
  std::vector<plugin::Layer> means;
  for (auto& work : layers()) means.push_back(std::move(work.layer));
  const double n = inferences;
  for (std::size_t i = 0; i < std::min(first.size(), means.size()); ++i) {
    auto& time = means[i].time_ns;
    if (time && first[i].layer.time_ns) time = std::max(0.0, (*time * (n + 1) - *first[i].layer.time_ns) / n);
  }
  return means;
}

plugin::LayerTimes OpenVinoEngine::profile(plugin::Slot slot, int inferences) {
  auto& state = slots_.bound(slot);
  return translate_errors("cannot profile the model", [&] {
    const int models = std::clamp(inferences / kInferencesPerModel, 1, kProfiledModels);
    std::vector<std::vector<plugin::Layer>> runs;
    for (int i = 0; i < models; ++i)
      runs.push_back(mean_times(state, inferences / models + (i < inferences % models ? 1 : 0)));
    return plugin::LayerTimes{plugin_support::with_median_times(std::move(runs)),
                              fmt::format("OpenVINO's performance counters, which hold means: the inferences "
                                          "were split over {} compiled models; whole microseconds",
                                          models)};
  });
}

}  // namespace paceline::openvino_plugin
