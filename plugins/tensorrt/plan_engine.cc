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
constexpr const char* kIo = "io";
constexpr std::array<std::string_view, 2> kOptions{kDevice, kIo};
constexpr std::array<std::string_view, 2> kSuffixes{".plan", ".engine"};
// The plan decides what is computed; which of these it was is read back.
constexpr std::array<std::string_view, 5> kPrecisions{"fp32", "tf32", "fp16", "bf16", "int8"};

std::string driver_version() {
  int version = 0;
  check(driver().version(&version), "cannot ask the driver");
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

InputsFrom inputs_from(const std::map<std::string, std::string>& options) {
  const auto it = options.find(kIo);
  if (it == options.end() || it->second == "device") return InputsFrom::kDevice;
  if (it->second == "pinned") return InputsFrom::kPinned;
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("io '{}': TensorRT's inputs are on the device or in pinned memory here", it->second));
}

// Times of layers by name, summed over inferences.
class SummedTimes : public nvinfer1::IProfiler {
 public:
  void reportLayerTime(const char* name, float ms) noexcept override {
    try {
      sums_ns_[name] += double{ms} * 1e6;
    } catch (...) {  // a layer without a time
    }
  }
  void clear() { sums_ns_.clear(); }
  [[nodiscard]] std::optional<double> mean_ns(const std::string& name, int inferences) const {
    const auto it = sums_ns_.find(name);
    return it == sums_ns_.end() ? std::nullopt : std::optional(it->second / inferences);
  }

 private:
  std::map<std::string, double> sums_ns_;
};

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
      {"io", from_ == InputsFrom::kPinned ? "inputs and outputs copied, pinned memory"
                                          : "inputs on the device, outputs copied to pinned memory"},
  };
  info.device_clock = true;
  return info;
}

void PlanEngine::load(const plugin::ModelSpec& model, const plugin::EngineSettings& settings) {
  const auto file = plugin_support::model_file(model, "tensorrt", kSuffixes);
  plugin_support::check_settings(settings, "tensorrt", kPrecisions);
  plugin_support::check_options(settings.options, "tensorrt", kOptions);
  from_ = inputs_from(settings.options);
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
    slots_[index] = std::make_unique<PlanSlot>(*engine_, profile_, model_.inputs, outputs_, from_, log_);
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

// With the shapes of this case.
std::vector<plugin_support::LayerWork> PlanEngine::layers(PlanSlot& slot) const {
  const std::unique_ptr<nvinfer1::IEngineInspector> inspector(engine_->createEngineInspector());
  inspector->setExecutionContext(&slot.context());
  return inspected_layers(inspector->getEngineInformation(nvinfer1::LayerInformationFormat::kJSON));
}

plugin::ReadBack PlanEngine::read_back(plugin::Slot slot) {
  auto& state = bound(slot);
  state.start();
  (void)state.wait();
  return plugin_support::read_back_of(layers(state), "TensorRT's engine inspector: type that a layer reads");
}

plugin::LayerTimes PlanEngine::profile(plugin::Slot slot, int inferences) {
  auto& state = bound(slot);
  SummedTimes sums;
  state.context().setProfiler(&sums);
  for (int i = -1; i < inferences; ++i) {
    if (i == 0) sums.clear();  // the first one may still load kernels
    state.start();
    (void)state.wait();
  }
  state.context().setProfiler(nullptr);
  plugin::LayerTimes times{{}, "TensorRT's profiler, which waits for every layer"};
  for (auto& work : layers(state)) {
    work.layer.time_ns = sums.mean_ns(work.layer.name, inferences);
    times.layers.push_back(std::move(work.layer));
  }
  return times;
}

std::optional<double> PlanEngine::device_ns(plugin::Slot slot) const {
  const auto index = static_cast<std::size_t>(slot);
  if (index >= slots_.size() || !slots_[index]) return std::nullopt;
  return slots_[index]->device_ns();
}

}  // namespace paceline::tensorrt_plugin
