// SPDX-License-Identifier: MIT
#include "torch/torch_engine.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "support/engine_checks.h"
#include "torch/aoti_program.h"
#include "torch/errors.h"
#include "torch/layer_times.h"
#include "torch/onednn_verbose.h"
#include "torch/program_factory.h"
#include "torch/refused_run.h"
#include "torch/script_program.h"
#include "torch/threads.h"
#include "torch/versions.h"

namespace paceline::torch_plugin {
namespace {

// Counts convolutions from oneDNN's log where it has any, everything else from the dispatcher.
WorkByPrecision combine(const FlopCounter& counter, const std::string& onednn_log) {
  auto work = counter.total();
  const auto logged = convolutions_in(onednn_log);
  if (logged.empty()) return work;
  const auto add = [&](const WorkByPrecision& part, int sign) {
    for (const auto& [precision, amount] : part) {
      work[precision].flops += sign * amount.flops;
      work[precision].operators += sign * amount.operators;
    }
  };
  add(counter.onednn_convolutions(), -1);
  add(logged, +1);
  std::erase_if(work, [](const auto& item) { return item.second.operators == 0; });
  return work;
}

plugin::ReadBack as_read_back(const WorkByPrecision& work) {
  plugin::ReadBack result;
  double total = 0;
  for (const auto& [precision, amount] : work) total += amount.flops;
  for (const auto& [precision, amount] : work)
    result.precisions.push_back({precision, amount.flops / total, amount.operators});
  if (total > 0) result.flops = total;
  return result;
}

// oneDNN's log has convolutions with packed weights, and none of their bytes.
bool saw_all(const FlopCounter& counter, const plugin::ReadBack& result) {
  constexpr double kAll = 0.99;
  double seen = 0;
  for (const auto& [precision, amount] : counter.total()) seen += amount.flops;
  return result.flops && seen >= kAll * *result.flops;
}

constexpr const char* kChangedWeights = "changed_weights";
constexpr std::array<std::string_view, 3> kChanges{"ulp", "bf16", "fp64"};

// How weights are to be changed; empty: they stay.
std::string changed_weights(const std::string& engine, const std::map<std::string, std::string>& options) {
  if (options.empty()) return {};
  const auto& [name, value] = *options.begin();
  if (options.size() > 1 || name != kChangedWeights || std::ranges::find(kChanges, value) == kChanges.end())
    throw Error(ErrorCode::kUsage, fmt::format("engine {} has no option '{}'", engine, name));
  return value;
}

}  // namespace

plugin::EngineInfo TorchEngine::info() const {
  plugin::EngineInfo info{name_, library_versions(), {}};
  if (!program_) return info;
  info.settings = {{"precision", std::string(precision_->name)},
                   {"autocast", precision_->autocast ? "on" : "off"},
                   {"memory_format", form_.channels_last ? "channels_last" : "contiguous"},
                   {"threads", std::to_string(running_threads())},
                   {"interop_threads", std::to_string(at::get_num_interop_threads())},
                   {"inference_mode", "on"}};
  if (const auto count = program_->parameter_count(); count > 0)
    info.settings.emplace_back("parameters", std::to_string(count));
  for (auto& setting : settings_of(*program_)) info.settings.push_back(std::move(setting));
  return info;
}

std::vector<DeclaredInput> TorchEngine::file_inputs(const std::string& file) {
  if (compilation_ == Compilation::kAotInductor) return package_inputs(file);
  return script_file_inputs(file);
}

void TorchEngine::load(const plugin::ModelSpec& model, const plugin::EngineSettings& settings) {
  precision_ = &find_precision(settings.precision);
  form_ = {precision_->autocast ? at::kFloat : precision_->dtype, wants_channels_last(settings.layout)};
  const auto change = changed_weights(name_, settings.options);
  if (change == "fp64") form_.floating = at::kDouble;  // all arithmetic, not only weights
  set_threads(std::max(settings.threads, 1));
  inputs_ = model.inputs;
  slots_.clear();
  program_.reset();
  const MemoryMeter::Scope scope(meter_);
  const auto& what = model.name.empty() ? model.file : model.name;
  program_ = translate_errors(ErrorCode::kData, fmt::format("cannot prepare model '{}'", what),
                              [&] { return build(model, settings.threads); });
  if (!change.empty() && change != "fp64") change_weights(*program_, change);
}

std::unique_ptr<Program> TorchEngine::build(const plugin::ModelSpec& spec, int threads) {
  if (compilation_ == Compilation::kAotInductor) return load_package(spec, {std::string(precision_->name)});
  return build_program(spec, compilation_ == Compilation::kTorchScript, threads, *precision_, form_);
}

void TorchEngine::bind(plugin::Slot slot, std::span<const TensorView> inputs) {
  if (!program_) throw Error(ErrorCode::kInternal, "bind before load");
  slots_.bind(slot, inputs.size(), inputs_.size(), [&](SlotState& state) {
    state = {};
    const MemoryMeter::Scope scope(meter_);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      state.inputs.push_back(copy_input(inputs[i], inputs_[i], form_));
  });
}

void TorchEngine::enqueue(plugin::Slot slot) {
  auto& state = slots_.bound(slot);
  const c10::InferenceMode inference;
  try {
    program_->run(state.inputs, state.outputs);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    throw refused_run(e, *precision_);
  }
}

std::span<const TensorView> TorchEngine::synchronize(plugin::Slot slot) {
  auto& state = slots_.bound(slot);
  describe_outputs(state.outputs, state.views, program_->output_names);
  return state.views;
}

plugin::ReadBack TorchEngine::read_back(plugin::Slot slot) {
  auto& state = slots_.bound(slot);
  for (int settle = 0; settle < 2; ++settle)
    enqueue(slot);  // TorchScript observes one run and rewrites the graph in the next
  state.outputs.clear();
  const FlopCounter counter;
  OnednnLog log;
  meter_.reset_peak();
  {
    const MemoryMeter::Scope scope(meter_);
    enqueue(slot);
  }
  auto result = as_read_back(combine(counter, log.take()));
  result.source = "LibTorch's dispatcher (RecordFunction) and oneDNN's execution log";
  result.peak_tensor_bytes = meter_.peak_bytes();
  if (!program_->countable())
    result.flops.reset();
  else if (saw_all(counter, result))
    result.bytes = counter.bytes(), result.layers = counter.layers();
  result.note = program_->arithmetic_note();
  return result;
}

plugin::LayerTimes TorchEngine::profile(plugin::Slot slot, int inferences) {
  slots_.bound(slot);
  return layer_times(*program_, inferences, [&] { enqueue(slot); });
}

}  // namespace paceline::torch_plugin
