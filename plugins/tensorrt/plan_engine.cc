// SPDX-License-Identifier: MIT
#include "tensorrt/plan_engine.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "support/engine_checks.h"
#include "tensorrt/inspector.h"
#include "tensorrt/library.h"
#include "tensorrt/plan_file.h"

namespace paceline::tensorrt_plugin {
namespace {

constexpr const char* kDevice = "device";
constexpr std::array<std::string_view, 1> kOptions{kDevice};
constexpr std::array<std::string_view, 2> kSuffixes{".plan", ".engine"};
// The plan decides what is computed; which of these it was is read back.
constexpr std::array<std::string_view, 5> kPrecisions{"fp32", "tf32", "fp16", "bf16", "int8"};

std::string driver_version() {
  int version = 0;
  check(driver().version(&version), "cannot ask the driver");
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// Mean times of layers over the inferences it sees, by name.
class LayerTimes : public nvinfer1::IProfiler {
 public:
  void reportLayerTime(const char* name, float ms) noexcept override {
    try {
      auto& seen = seen_[name];
      seen.sum_ns += double{ms} * 1e6;
      ++seen.count;
    } catch (...) {  // a layer without a time
    }
  }
  [[nodiscard]] std::optional<double> time_ns(const std::string& name) const {
    const auto it = seen_.find(name);
    return it == seen_.end() ? std::nullopt : std::optional(it->second.sum_ns / it->second.count);
  }

 private:
  struct Seen {
    double sum_ns = 0;
    int count = 0;
  };
  std::map<std::string, Seen> seen_;
};

// "conv1/Conv + Relu_1" -> the file's nodes it was made of.
std::vector<std::string> nodes_of(const std::string& layer) {
  constexpr std::string_view kAnd = " + ";
  std::vector<std::string> nodes;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + kAnd.size()) {
    end = layer.find(kAnd, begin);
    nodes.push_back(layer.substr(begin, end - begin));
  }
  return nodes;
}

}  // namespace

plugin::EngineInfo PlanEngine::info() const {
  plugin::EngineInfo info{"tensorrt", library_versions(), {}};
  if (!engine_) return info;
  info.versions.emplace_back("CUDA driver", driver_version());
  info.settings = {
      {"library", library().title()},
      {"device", fmt::format("cuda:{}", gpu_->index())},
      {"device_name", gpu_->name()},
      {"compute_capability", gpu_->capability()},
      {"profile", fmt::format("{} of {}", profile_ + 1, profiles_.size())},
      {"activation_memory_bytes", std::to_string(engine_->getDeviceMemorySizeV2())},
      {"io", "inputs on the device, outputs copied to pinned memory"},
  };
  return info;
}

void PlanEngine::load(const plugin::ModelSpec& model, const plugin::EngineSettings& settings) {
  const auto file = plugin_support::model_file(model, "tensorrt", kSuffixes);
  plugin_support::check_settings(settings, "tensorrt", kPrecisions);
  plugin_support::check_options(settings.options, "tensorrt", kOptions);
  const auto bytes = read_file(file);
  check_plan(file, bytes, library());
  slots_.clear();
  engine_.reset();
  runtime_.reset();
  model_ = model;
  const auto device = settings.options.find(kDevice);
  gpu_.emplace(device == settings.options.end() ? "cuda:0" : device->second);
  open_plan(file, bytes);
  plugin_support::check_inputs(file, declared_inputs(*engine_), model_.inputs);
  profiles_ = plan_profiles(*engine_);
  profile_ = fitting_profile(profiles_, model_.inputs);
  outputs_ = plan_outputs(*engine_);
}

void PlanEngine::open_plan(const std::string& file, const std::string& bytes) {
  log_.reset();
  runtime_ = library().make_runtime(log_);
  if (!runtime_)
    throw Error(ErrorCode::kUnavailable,
                fmt::format("{} cannot start: {}", library().title(), log_.reason()));
  engine_.reset(runtime_->deserializeCudaEngine(bytes.data(), bytes.size()));
  if (!engine_)
    throw Error(ErrorCode::kData, fmt::format("{} cannot load '{}': {}; build it again with this version and "
                                              "for this GPU",
                                              library().title(), file, log_.reason()));
}

void PlanEngine::bind(plugin::Slot slot, std::span<const TensorView> inputs) {
  if (!engine_) throw Error(ErrorCode::kInternal, "bind before load");
  if (inputs.size() != model_.inputs.size())
    throw Error(ErrorCode::kUsage,
                fmt::format("the model takes {} inputs, {} given", model_.inputs.size(), inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) plugin_support::check_tensor(inputs[i], model_.inputs[i]);
  gpu_->use();
  const auto index = static_cast<std::size_t>(slot);
  if (slots_.size() <= index) slots_.resize(index + 1);
  if (!slots_[index])
    slots_[index] = std::make_unique<PlanSlot>(*engine_, profile_, model_.inputs, outputs_, log_);
  slots_[index]->set_inputs(inputs);
}

PlanSlot& PlanEngine::bound(plugin::Slot slot) {
  const auto index = static_cast<std::size_t>(slot);
  if (index >= slots_.size() || !slots_[index])
    throw Error(ErrorCode::kInternal, fmt::format("slot {} has no inputs: bind comes first", slot));
  gpu_->use();
  return *slots_[index];
}

void PlanEngine::enqueue(plugin::Slot slot) {
  bound(slot).start();
}

std::span<const TensorView> PlanEngine::synchronize(plugin::Slot slot) {
  return bound(slot).wait();
}

std::vector<plugin_support::LayerWork> PlanEngine::timed_layers(PlanSlot& state, int inferences) {
  const auto infer = [&] {
    state.start();
    (void)state.wait();
  };
  infer();  // may still load kernels
  LayerTimes times;
  state.context().setProfiler(&times);
  for (int i = 0; i < inferences; ++i) infer();
  state.context().setProfiler(nullptr);
  const std::unique_ptr<nvinfer1::IEngineInspector> inspector(engine_->createEngineInspector());
  inspector->setExecutionContext(&state.context());  // for the shapes of this case
  auto layers = inspected_layers(inspector->getEngineInformation(nvinfer1::LayerInformationFormat::kJSON));
  for (auto& work : layers) work.layer.time_ns = times.time_ns(work.layer.name);
  return layers;
}

plugin::ReadBack PlanEngine::read_back(plugin::Slot slot) {
  return plugin_support::read_back_of(timed_layers(bound(slot), 1),
                                      "TensorRT's engine inspector: type that a layer reads");
}

plugin::LayerTimes PlanEngine::profile(plugin::Slot slot, int inferences) {
  plugin::LayerTimes times{{}, "TensorRT's profiler (IProfiler) and engine inspector"};
  for (auto& work : timed_layers(bound(slot), inferences)) {
    times.layers.push_back(std::move(work.layer));
    times.layers.back().model_layer = plugin_support::layers_of_nodes(nodes_of(times.layers.back().name));
  }
  return times;
}

}  // namespace paceline::tensorrt_plugin
