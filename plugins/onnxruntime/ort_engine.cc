// SPDX-License-Identifier: MIT
#include "onnxruntime/ort_engine.h"

#include <fmt/format.h>
#include <onnxruntime_session_options_config_keys.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/model_content.h"
#include "onnx/few_bits.h"
#include "onnx/model_file.h"
#include "onnxruntime/errors.h"
#include "onnxruntime/few_bits.h"
#include "onnxruntime/library.h"
#include "onnxruntime/node_layers.h"
#include "onnxruntime/node_names.h"
#include "onnxruntime/session_options.h"
#include "onnxruntime/tensors.h"
#include "support/layer_medians.h"
#include "support/rounding.h"

namespace paceline::ort_plugin {
namespace {

constexpr std::array<std::string_view, 2> kSuffixes{".onnx", ".ort"};
// The file determines the precision; the one that ran is read back.
constexpr std::array<std::string_view, 4> kPrecisions{"fp32", "tf32", "fp16", "int8"};

int threads_of_this_process() {
  namespace fs = std::filesystem;
  return static_cast<int>(std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator()));
}

bool same_memory(std::span<const TensorView> bound, std::span<const TensorView> given) {
  return std::equal(bound.begin(), bound.end(), given.begin(), given.end(),
                    [](const TensorView& a, const TensorView& b) {
                      return a.data == b.data && a.shape == b.shape && a.name == b.name;
                    });
}

void describe(const Ort::Value& value, TensorView& view) {
  const auto info = value.GetTensorTypeAndShapeInfo();
  view.data = const_cast<void*>(value.GetTensorRawData());
  view.dtype = *from_onnx(info.GetElementType());
  view.shape = info.GetShape();
}

}  // namespace

plugin::EngineInfo OrtEngine::info() const {
  plugin::EngineInfo info{"onnxruntime", library_versions(), {}};
  if (!session_) return info;
  info.settings = option_texts(settings_);
  for (auto& text : provider_texts(provider_)) info.settings.push_back(std::move(text));
  // The library cannot be asked: its pool consists of the session's threads and the calling one.
  info.settings.emplace_back("threads", std::to_string(threads_));
  for (const auto& output : outputs_)
    if (!output.dtype) info.settings.emplace_back("output_not_compared." + output.name, "no plain tensor");
  return info;
}

void OrtEngine::load(const plugin::ModelSpec& model, const plugin::EngineSettings& settings) {
  const auto file = plugin_support::model_file(model, "onnxruntime", kSuffixes);
  if (model_suffix(file) == ".onnx") onnx::check_data_files(file);
  plugin_support::check_settings(settings, "onnxruntime", kPrecisions);
  slots_.clear();
  session_.reset();
  auto& env = environment();
  model_ = model;
  cannot_run_ = plugin_support::cannot_run(model.inputs);
  settings_ = settings;
  settings_.threads = std::max(settings.threads, 1);
  const int inter_op = plugin_support::count_option(settings.options, "inter_op_threads", 1);
  const int before = threads_of_this_process();
  const std::string advice = cannot_run_ == plugin_support::kCannotRun ? "" : ": " + cannot_run_;
  translate_errors(fmt::format("cannot load model '{}'{}", file, advice), [&] {
    session_.emplace(open_session(env, file, session_options(file, model_, settings_)));
  });
  provider_ = choose_provider(settings_);
  threads_ = threads_of_this_process() - before + 1 - (inter_op > 1 ? inter_op - 1 : 0);
  const auto declared = declared_inputs(*session_);
  plugin_support::check_inputs(file, declared, model_.inputs);
  outputs_ = model_outputs(*session_);
  plugin_support::check_outputs(
      file, outputs_.size(),
      std::any_of(outputs_.begin(), outputs_.end(), [](const auto& o) { return o.dtype.has_value(); }));
}

std::vector<DeclaredInput> OrtEngine::file_inputs(const std::string& file) {
  auto& env = environment();  // opens the library
  return translate_errors(fmt::format("cannot read '{}'", file), [&] {
    auto options = session_options(file, {}, {});
    options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
    return inputs_of(Ort::Session(env, file.c_str(), options));
  });
}

void OrtEngine::bind(plugin::Slot slot, std::span<const TensorView> inputs) {
  if (!session_) throw Error(ErrorCode::kInternal, "bind before load");
  slots_.bind(slot, inputs.size(), model_.inputs.size(), [&](SlotState& state) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      plugin_support::check_tensor(inputs[i], model_.inputs[i], model_);
    bind_inputs(state, inputs);
  });
}

void OrtEngine::bind_inputs(SlotState& state, std::span<const TensorView> inputs) {
  const bool fixed_outputs =
      std::all_of(outputs_.begin(), outputs_.end(), [](const auto& output) { return output.allocatable(); });
  if (state.binding && fixed_outputs && same_memory(state.inputs, inputs)) return;  // read at every inference
  state = {};
  translate_errors("cannot bind the inputs", [&] {
    state.inputs.assign(inputs.begin(), inputs.end());
    state.binding.emplace(*session_);
    for (const auto& input : inputs) state.binding->BindInput(input.name.c_str(), borrow(input));
    bind_outputs(state);
  });
}

// Binds memory for outputs of known shape; the others are allocated in the first inference and kept.
void OrtEngine::bind_outputs(SlotState& state) {
  Ort::AllocatorWithDefaultOptions allocator;
  for (const auto& output : outputs_) {
    auto& value = state.outputs.emplace_back(nullptr);
    if (output.allocatable()) {
      value = Ort::Value::CreateTensor(allocator, output.shape.data(), output.shape.size(),
                                       to_onnx(*output.dtype));
      state.binding->BindOutput(output.name.c_str(), value);
    } else {
      state.binding->BindOutput(output.name.c_str(), allocator.GetInfo());
    }
  }
}

void OrtEngine::enqueue(plugin::Slot slot) {
  auto& state = slots_.bound(slot);
  translate_errors(
      cannot_run_, [&] { session_->Run(Ort::RunOptions(nullptr), *state.binding); }, ErrorCode::kUsage);
}

// Equal inputs give outputs of equal shapes, so memory from the first inference serves later ones. An output
// that is an input of the model lies where the input does: the library leaves bound memory unwritten.
void OrtEngine::keep_outputs(SlotState& state) const {
  auto values = state.binding->GetOutputValues();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i].dtype) continue;
    auto& view = state.views.emplace_back();
    view.name = outputs_[i].name;
    describe(values[i], view);
    if (state.outputs[i]) continue;
    state.outputs[i] = std::move(values[i]);
    state.binding->BindOutput(outputs_[i].name.c_str(), state.outputs[i]);
  }
}

std::span<const TensorView> OrtEngine::synchronize(plugin::Slot slot) {
  auto& state = slots_.bound(slot);
  if (state.views.empty()) translate_errors("cannot read the outputs", [&] { keep_outputs(state); });
  return state.views;
}

std::vector<ProfiledRun> OrtEngine::profiled(const SlotState& state, Ort::SessionOptions options,
                                             int times) const {
  return profile_session(environment(), model_.file, std::move(options), times, [&](Ort::Session& session) {
    Ort::AllocatorWithDefaultOptions allocator;
    Ort::IoBinding binding(session);
    for (const auto& input : state.inputs) binding.BindInput(input.name.c_str(), borrow(input));
    for (const auto& output : outputs_) binding.BindOutput(output.name.c_str(), allocator.GetInfo());
    session.Run(Ort::RunOptions(nullptr), binding);
  });
}

std::vector<ProfiledNode> OrtEngine::profiled_once(const SlotState& state,
                                                   Ort::SessionOptions options) const {
  auto runs = profiled(state, std::move(options), 0);
  return runs.empty() ? std::vector<ProfiledNode>{} : std::move(runs.back().nodes);
}

plugin_support::LayerWork OrtEngine::described(const ProfiledNode& node) const {
  auto work = work_of(node);
  work.layer.time_ns.reset();
  if (provider_.precision == "tf32" && work.layer.flops && work.layer.precision == "fp32")
    work.layer.precision = "tf32";
  return work;
}

// Names the model's layers where some ran in 8 bits and others did not: the names cost reading the file.
void OrtEngine::name_float_layers(std::vector<plugin_support::LayerWork>& layers) const {
  const auto in_float = [](const auto& work) { return work.layer.flops && work.layer.precision != "int8"; };
  const bool integers = std::any_of(layers.begin(), layers.end(),
                                    [](const auto& work) { return work.layer.precision == "int8"; });
  if (!integers || std::none_of(layers.begin(), layers.end(), in_float)) return;
  const NodeNames names(model_.file);
  for (auto& work : layers)
    if (in_float(work)) work.layer.model_layer = names.layer_of(work.layer.name, work.layer.type);
}

// A node's inputs lack prepacked weights, so this session packs none.
OrtEngine::Executed OrtEngine::executed_layers(const SlotState& state) const {
  auto unpacked = session_options(model_.file, model_, settings_);
  unpacked.AddConfigEntry(kOrtSessionOptionsConfigDisablePrepacking, "1");
  auto nodes = profiled_once(state, std::move(unpacked));
  std::vector<plugin_support::LayerWork> layers;
  for (const auto& node : nodes) layers.push_back(described(node));
  name_float_layers(layers);
  auto elsewhere =
      provider_.on_device() ? nodes_elsewhere(provider_.name, provider_.allow_cpu, nodes) : std::string();
  return {std::move(layers), std::move(elsewhere), std::move(nodes)};
}

// The model's own operations: with blocks of channels ("nchwc") every convolution is padded to whole blocks.
// Where names do not lead to the file's weights, a session without blocks tells.
std::optional<double> OrtEngine::unpadded_flops(const SlotState& state,
                                                const std::vector<ProfiledNode>& nodes) const {
  const NodeNames names(model_.file);
  std::vector<plugin_support::LayerWork> own;
  for (const auto& node : nodes) {
    const auto as_in_file = is_convolution(node) ? without_padding(node, names.weights_of(node.name, node.op))
                                                 : std::optional(node);
    if (!as_in_file) break;
    own.push_back(work_of(*as_in_file));
  }
  if (own.size() == nodes.size()) return plugin_support::read_back_of(std::move(own), "").flops;
  auto options = session_options(model_.file, model_, settings_);
  options.SetGraphOptimizationLevel(ORT_ENABLE_EXTENDED);
  options.AddConfigEntry(kOrtSessionOptionsConfigDisablePrepacking, "1");
  std::vector<plugin_support::LayerWork> layers;
  for (const auto& node : profiled_once(state, std::move(options))) layers.push_back(work_of(node));
  return plugin_support::read_back_of(std::move(layers), "").flops;
}

namespace {

// Names of layers that may round activations to 8 bits: the file asks for it, or ONNX Runtime made them
// itself.
std::set<std::string> layers_that_may_round(std::span<const plugin_support::LayerWork> layers,
                                            const std::string& file) {
  std::set<std::string> names;
  for (const auto& work : layers)
    if (work.layer.type == onnx::kFewBits) names.insert(work.layer.name);
  if (names.empty() || model_suffix(file) != ".onnx") return names;
  auto model = onnx::read_without_data(file);
  for (const auto& [name, level] : onnx::few_bits_levels(model))
    if (level != onnx::kRoundingLevel) names.erase(name);
  return names;
}

constexpr const char* kRounded =
    "MatMulNBits rounds activations to 8 bits (accuracy_level 4, which ONNX Runtime also chooses where it "
    "fuses products of dequantised weights); --precision fp32 keeps them in float";

}  // namespace

// Runs one inference in a separate session and returns the numbers of its outputs.
std::vector<float> OrtEngine::numbers(const SlotState& state, const Ort::SessionOptions& options) const {
  auto session = open_session(environment(), model_.file, options.Clone());
  Ort::AllocatorWithDefaultOptions allocator;
  Ort::IoBinding binding(session);
  for (const auto& input : state.inputs) binding.BindInput(input.name.c_str(), borrow(input));
  for (const auto& output : outputs_) binding.BindOutput(output.name.c_str(), allocator.GetInfo());
  session.Run(Ort::RunOptions(nullptr), binding);
  const auto values = binding.GetOutputValues();
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i].dtype) describe(values[i], views.emplace_back());
  return plugin_support::float_numbers(views);
}

// Whether layers round depends on the CPU, too: a session that keeps activations answers.
bool OrtEngine::set_rounded(const SlotState& state, std::vector<plugin_support::LayerWork>& layers) const {
  const auto names = layers_that_may_round(layers, model_.file);
  if (names.empty() || keeps_activations(settings_)) return false;
  const auto options = session_options(model_.file, model_, settings_);
  auto exact = options.Clone();
  keep_activations(exact);
  if (!plugin_support::differ_beyond_float(numbers(state, options), numbers(state, exact))) return false;
  for (auto& work : layers)
    if (names.contains(work.layer.name)) work.layer.precision = "int8";
  return true;
}

plugin::ReadBack OrtEngine::read_back(plugin::Slot slot) {
  const auto& state = slots_.bound(slot);
  return translate_errors("cannot profile the model", [&] {
    auto [layers, elsewhere, nodes] = executed_layers(state);
    const bool rounds = set_rounded(state, layers);
    auto result = plugin_support::read_back_of(
        std::move(layers), "ONNX Runtime's profiler: types and shapes of every node's inputs");
    if (!elsewhere.empty()) result.source += "; " + elsewhere;
    const bool blocked = std::any_of(result.layers.begin(), result.layers.end(), [](const plugin::Layer& l) {
      return l.type == "ReorderInput" || l.type == "ReorderOutput";
    });
    if (rounds) result.note = kRounded;
    if (blocked) result.flops = unpadded_flops(state, nodes);
    return result;
  });
}

plugin::LayerTimes OrtEngine::profile(plugin::Slot slot, int inferences) {
  const auto& state = slots_.bound(slot);
  return translate_errors("cannot profile the model", [&] {
    const NodeNames names(model_.file);
    const auto layer_of = [&](const ProfiledNode& node) {
      auto layer = described(node).layer;
      layer.model_layer = names.layer_of(node.name, node.op);
      return layer;
    };
    const auto profiles = profiled(state, session_options(model_.file, model_, settings_), inferences);
    if (provider_.on_device()) return layers_on_device(profiles, layer_of);
    std::vector<std::vector<plugin::Layer>> runs;
    for (const auto& run : profiles) {
      auto& layers = runs.emplace_back();
      for (const auto& node : run.nodes) layers.emplace_back(layer_of(node)).time_ns = node.time_ns;
    }
    return plugin::LayerTimes{plugin_support::with_median_times(std::move(runs)),
                              "ONNX Runtime's profiler, in a separate session"};
  });
}

}  // namespace paceline::ort_plugin
